/*
 * Runs a command and writes what each program in it has used, from its first fork to its last exit: an independent meter of
 * the tracker's programs.
 *
 *   exit-meter FILE COMMAND [ARG...]
 *
 * It traces the processes, so that each one stays a zombie until the meter has read its CPU clock and its bytes; its parent
 * waits for it only then. So the time includes that of freeing the memory. An exec ends what counts for the earlier program; the
 * time between a fork and the first exec counts for the new one.
 * Each line of FILE is: NAME (comm), CPU nanoseconds, processes that ended with this name, and the bytes read from and written
 * to storage, and read and written by calls. Bytes count for the name at the end. Exit status 99: it could not trace.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CANNOT = 99, PIDS = 1 << 22, NAMES = 512, IO = 4 };

static const char *const IO_NAMES[IO] = {"read_bytes: ", "write_bytes: ", "rchar: ", "wchar: "};

static struct program {
	char name[32];
	int64_t ns, ended, io[IO];
} programs[NAMES];
static size_t program_count;

static struct process {
	size_t program;
	pid_t parent;
	int64_t counted_ns;
	int64_t children_io[IO];
	bool is_known;
	bool is_told;     /* its parent's fork was seen; also of threads */
	bool has_program; /* it has called exec */
	bool is_held;     /* until then it waits */
} * processes;

static size_t find_program(const char *name)
{
	for (size_t i = 0; i < program_count; i++)
		if (strcmp(programs[i].name, name) == 0)
			return i;
	if (program_count == NAMES)
		exit(CANNOT);
	snprintf(programs[program_count].name, sizeof programs->name, "%s", name);
	return program_count++;
}

static FILE *open_file(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return fopen(path, "r");
}

static size_t program_of(pid_t pid)
{
	FILE *file = open_file(pid, "comm");
	char name[32] = "?";

	if (file && fgets(name, sizeof name, file))
		name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
	return find_program(name);
}

static void count_time(pid_t pid)
{
	struct process *process = &processes[pid];
	struct timespec time;
	int64_t ns;

	if (clock_gettime((clockid_t)(~(unsigned)pid << 3 | 2), &time) < 0)
		return;
	ns = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
	programs[process->program].ns += ns - process->counted_ns;
	process->counted_ns = ns;
}

/* The kernel has added the bytes of the children that it has waited for to its own. */
static void count_io(pid_t pid)
{
	struct process *process = &processes[pid], *parent = &processes[process->parent];
	FILE *file = open_file(pid, "io");
	char line[64];

	while (file && fgets(line, sizeof line, file))
		for (int i = 0; i < IO; i++) {
			int64_t bytes;

			if (strncmp(line, IO_NAMES[i], strlen(IO_NAMES[i])) != 0)
				continue;
			bytes = strtoll(line + strlen(IO_NAMES[i]), NULL, 10);
			programs[process->program].io[i] += bytes - process->children_io[i];
			if (parent->is_known)
				parent->children_io[i] += bytes;
		}
	if (file)
		fclose(file);
}

/* The kernel may report the first stop of a child before the fork of its parent. */
static void note_fork(pid_t parent, pid_t child, bool is_thread)
{
	bool is_held = processes[child].is_held;

	processes[child] = (struct process){.program = processes[parent].program,
					    .parent = parent,
					    .is_known = !is_thread,
					    .is_told = true};
	if (is_held)
		ptrace(PTRACE_CONT, child, NULL, NULL);
}

static void note_end(pid_t pid)
{
	if (processes[pid].is_known) {
		count_time(pid);
		count_io(pid);
		programs[processes[pid].program].ended++;
	}
	processes[pid] = (struct process){0};
}

static void note_stop(pid_t pid, int status)
{
	unsigned long message = 0;
	int event = status >> 16, signo = 0;

	ptrace(PTRACE_GETEVENTMSG, pid, NULL, &message);
	if (event == PTRACE_EVENT_STOP && !processes[pid].is_told) {
		processes[pid].is_held = true;
		return;
	}
	if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) {
		note_fork(pid, (pid_t)message, event == PTRACE_EVENT_CLONE);
	} else if (event == PTRACE_EVENT_EXEC && processes[pid].is_known) {
		if (processes[pid].has_program)
			count_time(pid);
		processes[pid].has_program = true;
		processes[pid].program = program_of(pid);
	} else if (event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP) {
		ptrace(PTRACE_LISTEN, pid, NULL, NULL);
		return;
	} else if (!event) {
		signo = WSTOPSIG(status);
	}
	ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)signo);
}

static int follow(pid_t job)
{
	siginfo_t info;
	int result = CANNOT;

	while (memset(&info, 0, sizeof info),
	       waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL) == 0) {
		int status;

		if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)
			note_end(info.si_pid);
		if (waitpid(info.si_pid, &status, __WALL) != info.si_pid)
			continue;
		if (WIFSTOPPED(status))
			note_stop(info.si_pid, status);
		else if (info.si_pid == job)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	return result;
}

static pid_t start(char **command)
{
	const long options =
		PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
	int gate[2];
	char byte = 0;
	pid_t pid;

	if (pipe(gate) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		close(gate[1]);
		if (read(gate[0], &byte, 1) == 1) {
			close(gate[0]);
			execvp(command[0], command);
		}
		_exit(127);
	}
	close(gate[0]);
	if (pid < 0 || ptrace(PTRACE_SEIZE, pid, NULL, (void *)options) < 0)
		return -1;
	processes[pid] = (struct process){
		.program = program_of(pid), .parent = getpid(), .is_known = true, .is_told = true};
	if (write(gate[1], &byte, 1) != 1)
		return -1;
	close(gate[1]);
	return pid;
}

int main(int argc, char **argv)
{
	FILE *file = argc > 2 ? fopen(argv[1], "we") : NULL;
	pid_t job;
	int result;

	processes = calloc(PIDS, sizeof *processes);
	if (!file || !processes)
		return CANNOT;
	job = start(argv + 2);
	if (job < 0)
		return CANNOT;
	result = follow(job);
	for (size_t i = 0; i < program_count; i++) {
		const struct program *program = &programs[i];

		fprintf(file,
			"%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n",
			program->name, program->ns, program->ended, program->io[0], program->io[1],
			program->io[2], program->io[3]);
	}
	return fclose(file) == 0 ? result : CANNOT;
}
