/*
 * A SPANK plugin for Slurm (2.5 or later): records each task of each step of unmodified jobs, as the user of the job.
 *
 *	optional resource_tracker.so [default=on] [recorder=PATH] [output=TEMPLATE] [runs=FILE] [interval=SECS]     in plugstack.conf
 *	#SBATCH --track                                                                                in a job
 *
 * slurmstepd calls post_fork while the new task still waits for its start. The plugin then starts a recorder that attaches to the
 * task (--pid), and waits until it has. The recorder is a child of init, outside the control groups of the job: it survives an
 * OOM kill, and Slurm neither waits for it nor kills it. A socket pair joins both: the recorder sends one byte (0) when it is ready,
 * or a line that says why it is not, since the socket is its stderr as well. Then
 * the plugin sends the wait status and the CPU time of the task, which only the parent of a task learns: slurmstepd calls task_exit
 * after each wait3(2), so that its times of waited-for children have grown by those of the task (getrusage(2)).
 *
 * No failure of the plugin or the recorder stops a job. Between fork() and execve() the child of a program with threads may only
 * make system calls, so all texts are made before.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/told_end.h"
#include "launch/install_paths.h"
#include "slurm/recorder_group.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* Slurm finds these names in the plugin. */
#define HOOK __attribute__((visibility("default")))
HOOK int slurm_spank_init(spank_t spank, int argc, char **argv);
HOOK int slurm_spank_task_post_fork(spank_t spank, int argc, char **argv);
HOOK int slurm_spank_task_exit(spank_t spank, int argc, char **argv);
HOOK int slurm_spank_exit(spank_t spank, int argc, char **argv);
extern HOOK const char plugin_name[], plugin_type[];
extern HOOK const unsigned int plugin_version, spank_plugin_version;

SPANK_PLUGIN(resource_tracker, 1)

enum {
	READY_WITHIN_MS = 5000,
	READY_LATER_MS = 100, /* after a recorder of the step was not ready in that time */
	VARIABLES_MOST = 4096,
	GROUPS_MOST = 65536,
	REASON_BYTES = 500,
	STATUS_FD = 3,
	DESCRIPTORS_MOST = 1048576
};
#define BATCH_STEP UINT32_C(0xfffffffb)
#define EXTERN_STEP UINT32_C(0xfffffffc)
#define INTERACTIVE_STEP UINT32_C(0xfffffffa)

struct tracked {
	pid_t pid;
	int fd;
};

static struct {
	bool enabled;
	const char *recorder;
	const char *output;
	const char *runs; /* TRACKER_RUNS of jobs that have none, NULL for none */
	const char *
		interval; /* the shortest that a job may choose: the recorder runs outside the job's limit of CPU time */
	int patience_ms; /* a recorder has this time to start */
	struct tracked *tasks;
	size_t count;
	struct rusage waited; /* of slurmstepd's children, before the next task ends */
} the_plugin = {.recorder = BIN_DIR "/resource-tracker",
		.output = "slurm-%j.%s.%r.jsonl",
		.interval = "0.1",
		.patience_ms = READY_WITHIN_MS};

/* --track, --track=on, --track=off; Slurm passes it on from sbatch to the steps of the job. Another word stops no job. */
static int on_track(int value, const char *argument, int remote)
{
	(void)value;
	if (!remote && argument && *argument && strcmp(argument, "on") != 0 && strcmp(argument, "off") != 0)
		slurm_error("resource_tracker: --track=%s is neither on nor off, and is taken as on",
			    argument);
	the_plugin.enabled = !argument || strcmp(argument, "off") != 0;
	return 0;
}

static struct spank_option track_option = {
	.name = (char[]){"track"},
	.arginfo = (char[]){"on|off"},
	.usage = (char[]){"record the resource use of each task (resource-tracker)"},
	.has_arg = 2,
	.cb = on_track,
};

static void read_settings(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (strncmp(argv[i], "recorder=", 9) == 0)
			the_plugin.recorder = argv[i] + 9;
		else if (strncmp(argv[i], "output=", 7) == 0)
			the_plugin.output = argv[i] + 7;
		else if (strncmp(argv[i], "runs=", 5) == 0)
			the_plugin.runs = argv[i] + 5;
		else if (strncmp(argv[i], "interval=", 9) == 0)
			the_plugin.interval = argv[i] + 9;
		else if (strcmp(argv[i], "default=on") == 0)
			the_plugin.enabled = true;
		else if (strcmp(argv[i], "default=off") != 0)
			slurm_error("resource_tracker: %s in plugstack.conf is unknown", argv[i]);
	}
}

int slurm_spank_init(spank_t spank, int argc, char **argv)
{
	read_settings(argc, argv);
	if (spank_option_register(spank, &track_option) != ESPANK_SUCCESS)
		slurm_error("resource_tracker: --track cannot be offered");
	return 0;
}

/* ---- texts for the recorder ------------------------------------------------------------------------ */

struct task {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int group_count;
	uint32_t job, step, rank, node, total;
	int local;
	uint16_t cpus; /* of the step on this node, 0 if unknown */
	char **job_environment;
	char output[PATH_MAX], pid_text[16];
	char *environment[VARIABLES_MOST];
	size_t variable_count;
	const char *folder;
	int group_fd; /* of the recorder's group (recorder_group.h); negative: it stays in that of slurmstepd */
};

static bool describe_task(spank_t spank, struct task *task)
{
	bool known = spank_get_item(spank, S_TASK_PID, &task->pid) == ESPANK_SUCCESS &&
		     spank_get_item(spank, S_JOB_UID, &task->uid) == ESPANK_SUCCESS &&
		     spank_get_item(spank, S_JOB_GID, &task->gid) == ESPANK_SUCCESS &&
		     spank_get_item(spank, S_JOB_ID, &task->job) == ESPANK_SUCCESS &&
		     spank_get_item(spank, S_JOB_STEPID, &task->step) == ESPANK_SUCCESS &&
		     spank_get_item(spank, S_TASK_GLOBAL_ID, &task->rank) == ESPANK_SUCCESS &&
		     spank_get_item(spank, S_TASK_ID, &task->local) == ESPANK_SUCCESS &&
		     spank_get_item(spank, S_JOB_ENV, &task->job_environment) == ESPANK_SUCCESS &&
		     spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &task->groups, &task->group_count) ==
			     ESPANK_SUCCESS;

	if (spank_get_item(spank, S_JOB_NODEID, &task->node) != ESPANK_SUCCESS)
		task->node = 0;
	if (spank_get_item(spank, S_JOB_TOTAL_TASK_COUNT, &task->total) != ESPANK_SUCCESS)
		task->total = 1;
	if (spank_get_item(spank, S_JOB_NCPUS, &task->cpus) != ESPANK_SUCCESS)
		task->cpus = 0;
	return known;
}

static bool is_special(uint32_t step)
{
	return step >= INTERACTIVE_STEP;
}

/* Fills in %j (job) and %s (step, or batch). The recorder fills in the rest. */
static bool fill_output(struct task *task)
{
	char job[16], step[16] = "batch", *end = task->output;
	const char *const last = task->output + sizeof task->output - sizeof step;

	snprintf(job, sizeof job, "%u", task->job);
	if (!is_special(task->step))
		snprintf(step, sizeof step, "%u", task->step);
	for (const char *at = the_plugin.output; *at && end < last; at++) {
		bool is_sign = at[0] == '%' && at[1];
		const char text[] = {at[0], is_sign ? at[1] : '\0', '\0'};

		end = stpcpy(end, strcmp(text, "%j") == 0 ? job : strcmp(text, "%s") == 0 ? step : text);
		at += is_sign;
	}
	return end < last;
}

static const char *task_variable(const struct task *task, const char *name)
{
	size_t length = strlen(name);

	for (char **one = task->job_environment; one && *one; one++)
		if (strncmp(*one, name, length) == 0 && (*one)[length] == '=')
			return *one + length + 1;
	return NULL;
}

/* Each text is freed by forget_task(). Those of the job leave room for all of these. */
static void add_variable(struct task *task, const char *name, const char *value)
{
	char *text;

	if (asprintf(&text, "%s=%s", name, value) >= 0)
		task->environment[task->variable_count++] = text;
}

static void add_option_number(struct task *task, const char *name, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof text, "%u", number);
	add_variable(task, name, text);
}

static void forget_task(struct task *task)
{
	for (size_t i = 0; i < task->variable_count; i++)
		free(task->environment[i]);
	if (task->group_fd >= 0)
		close(task->group_fd);
	free(task);
}

/* The recorder runs outside the limits of the job (memory, devices), so the job chooses no program or library that runs in it. */
static bool chooses_code(const char *variable)
{
	static const char *const CODE[] = {"TRACKER_HELPER=", "TRACKER_NET=", "TRACKER_NVML_LIBRARY="};
	bool chooses = false;

	for (size_t i = 0; i < sizeof CODE / sizeof *CODE; i++)
		chooses = chooses || strncmp(variable, CODE[i], strlen(CODE[i])) == 0;
	return chooses;
}

/* The scheduler's variables and the user's settings of the recorder. Those of the task are not in the job's environment yet. */
static void fill_environment(struct task *task)
{
	static const char *const OF_TASK[] = {
		"SLURM_JOB_ID=", "SLURM_STEP_ID=", "SLURM_PROCID=",      "SLURM_LOCALID=",
		"SLURM_NODEID=", "SLURM_NTASKS=",  "SLURM_CPUS_ON_NODE="};
	static const char *const TAKEN[] = {"SLURM_", "TRACKER_", "OTEL_",   "SENTINEL_",
					    "HOME=",  "PATH=",    "TMPDIR=", "XDG_STATE_HOME="};

	for (char **one = task->job_environment; one && *one; one++) {
		bool taken = false;

		for (size_t i = 0; i < sizeof TAKEN / sizeof *TAKEN; i++)
			taken = taken || strncmp(*one, TAKEN[i], strlen(TAKEN[i])) == 0;
		for (size_t i = 0; i < sizeof OF_TASK / sizeof *OF_TASK; i++)
			taken = taken && strncmp(*one, OF_TASK[i], strlen(OF_TASK[i])) != 0;
		if (taken && !chooses_code(*one) && task->variable_count < VARIABLES_MOST - 16) {
			char *copy = strdup(*one);

			if (copy)
				task->environment[task->variable_count++] = copy;
		}
	}
	if (the_plugin.runs && !task_variable(task, "TRACKER_RUNS"))
		add_variable(task, "TRACKER_RUNS", the_plugin.runs);
	add_variable(task, "RESOURCE_TRACKER_LEAST_INTERVAL", the_plugin.interval);
	add_option_number(task, "SLURM_JOB_ID", task->job);
	add_option_number(task, "SLURM_PROCID", task->rank);
	add_option_number(task, "SLURM_LOCALID", (uint32_t)task->local);
	add_option_number(task, "SLURM_NODEID", task->node);
	if (task->cpus)
		add_option_number(task, "SLURM_CPUS_ON_NODE", task->cpus);
	if (!is_special(task->step)) {
		add_option_number(task, "SLURM_STEP_ID", task->step);
		add_option_number(task, "SLURM_NTASKS", task->total);
	}
	add_option_number(task, "RESOURCE_TRACKER_STATUS_FD", STATUS_FD);
	task->environment[task->variable_count] = NULL;
	task->folder = task_variable(task, "SLURM_SUBMIT_DIR");
	if (!is_special(task->step) && task_variable(task, "PWD"))
		task->folder = task_variable(task, "PWD");
}

/* ---- the recorder ---------------------------------------------------------------------------------- */

/* slurmstepd has files of root open, and more than 1024 of them with many tasks. */
static void close_other_files(void)
{
	struct rlimit files = {DESCRIPTORS_MOST, DESCRIPTORS_MOST};

	if (syscall(SYS_close_range, STATUS_FD + 1, UINT_MAX, 0) == 0)
		return;
	/* Before Linux 5.9. */
	getrlimit(RLIMIT_NOFILE, &files);
	for (int fd = STATUS_FD + 1; fd < DESCRIPTORS_MOST && (rlim_t)fd < files.rlim_cur; fd++)
		close(fd);
}

static void write_zero(int fd)
{
	if (fd >= 0)
		(void)!write(fd, "0", 1);
}

/* In the child, by system calls alone. Returns if the recorder cannot start. */
static void become_recorder(const struct task *task, int socket)
{
	char *const words[] = {(char *)(uintptr_t) "resource-tracker",
			       (char *)(uintptr_t) "-q",
			       (char *)(uintptr_t) "--no-summary",
			       (char *)(uintptr_t) "--no-warnings",
			       (char *)(uintptr_t) "-o",
			       (char *)(uintptr_t)task->output,
			       (char *)(uintptr_t) "--pid",
			       (char *)(uintptr_t)task->pid_text,
			       NULL};
	const struct rlimit no_core = {0, 0};
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	write_zero(task->group_fd);
	setsid();
	/* slurmstepd has the job's umask by now. Its other limits do no harm: the recorder asks the kernel for those of the job. */
	setrlimit(RLIMIT_CORE, &no_core);
	if (dup2(null, 0) != 0 || dup2(null, 1) != 1 || dup2(socket, 2) != 2 ||
	    (socket != STATUS_FD ? dup2(socket, STATUS_FD) : fcntl(socket, F_SETFD, 0)) < 0)
		return;
	close_other_files();
	/* slurmstepd protects itself alone from a lack of memory (-1000), and a process of a user must not be spared by that. */
	write_zero(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (setgroups((size_t)task->group_count, task->groups) < 0 || setgid(task->gid) < 0 ||
	    setuid(task->uid) < 0 || (task->uid && setuid(0) == 0))
		return;
	if (!task->folder || chdir(task->folder) < 0)
		(void)!chdir("/");
	execve(the_plugin.recorder, words, task->environment);
}

/* The recorder becomes a child of init, so that slurmstepd, which waits for any child, does not meet it. */
static bool start_recorder(const struct task *task, int socket)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		pid_t recorder = fork();

		if (recorder == 0)
			become_recorder(task, socket);
		_exit(recorder <= 0);
	}
	if (child < 0)
		return false;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/*
 * Waits for the byte of the recorder. False: it has ended. ret_reason is its line, or the folder of the job hangs, say. That is
 * waited for once, and hardly for the other tasks of the step.
 */
static bool is_ready(int fd, char ret_reason[static REASON_BYTES])
{
	int64_t until_ms = now_ms() + the_plugin.patience_ms, left_ms = the_plugin.patience_ms;
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	int r;

	memset(ret_reason, 0, REASON_BYTES);
	/* slurmstepd takes signals. */
	while ((r = poll(&ready, 1, (int)left_ms)) < 0 && errno == EINTR)
		left_ms = until_ms > now_ms() ? until_ms - now_ms() : 0;
	if (r <= 0)
		the_plugin.patience_ms = READY_LATER_MS;
	return r > 0 && recv(fd, ret_reason, REASON_BYTES - 1, MSG_DONTWAIT) > 0 && !*ret_reason;
}

/* Closes it if memory is refused. The recorder then notices the task's end by itself. */
static void keep_descriptor(pid_t pid, int fd)
{
	struct tracked *more = realloc(the_plugin.tasks, (the_plugin.count + 1) * sizeof *more);

	if (!more) {
		close(fd);
		return;
	}
	the_plugin.tasks = more;
	the_plugin.tasks[the_plugin.count++] = (struct tracked){pid, fd};
}

static void track_task(struct task *task)
{
	char reason[REASON_BYTES];
	int pair[2];

	task->group_fd = open_recorder_group("/proc/self");
	if (task->group_fd < 0 && task->group_fd != -ENOENT)
		slurm_error(
			"resource_tracker: Slurm may kill the recorder of task %u of job %u before it has "
			"recorded the end, because it is in the control group of the step: %s",
			task->rank, task->job, strerror(-task->group_fd));
	fill_environment(task);
	snprintf(task->pid_text, sizeof task->pid_text, "%d", (int)task->pid);
	if (!fill_output(task) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		slurm_error("resource_tracker: task %u of job %u is not recorded", task->rank, task->job);
		return;
	}
	if (!start_recorder(task, pair[1]))
		slurm_error("resource_tracker: %s cannot be started", the_plugin.recorder);
	close(pair[1]);
	if (is_ready(pair[0], reason)) {
		keep_descriptor(task->pid, pair[0]);
		return;
	}
	slurm_error("resource_tracker: the recorder of task %u of job %u did not start%s%.*s", task->rank,
		    task->job, *reason ? ": " : "", (int)strcspn(reason, "\n"), reason);
	close(pair[0]);
}

int slurm_spank_task_post_fork(spank_t spank, int argc, char **argv)
{
	struct task *task;

	(void)argc;
	(void)argv;
	if (!the_plugin.enabled || !spank_remote(spank))
		return 0;
	task = calloc(1, sizeof *task);
	if (task) {
		task->group_fd = -1;
		if (describe_task(spank, task) && task->step != EXTERN_STEP &&
		    task->group_count <= GROUPS_MOST)
			track_task(task);
		forget_task(task);
	}
	getrusage(RUSAGE_CHILDREN, &the_plugin.waited);
	return 0;
}

static int64_t usec_between(const struct timeval *before, const struct timeval *after)
{
	return (int64_t)(after->tv_sec - before->tv_sec) * 1000000 + (after->tv_usec - before->tv_usec);
}

static struct told_end end_of_task(int status)
{
	struct rusage before = the_plugin.waited;

	getrusage(RUSAGE_CHILDREN, &the_plugin.waited);
	return (struct told_end){
		.status = status,
		.utime_usec = usec_between(&before.ru_utime, &the_plugin.waited.ru_utime),
		.stime_usec = usec_between(&before.ru_stime, &the_plugin.waited.ru_stime),
	};
}

int slurm_spank_task_exit(spank_t spank, int argc, char **argv)
{
	struct told_end end;
	int status;
	pid_t pid;

	(void)argc;
	(void)argv;
	if (!the_plugin.count || spank_get_item(spank, S_TASK_PID, &pid) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_TASK_EXIT_STATUS, &status) != ESPANK_SUCCESS)
		return 0;
	end = end_of_task(status);
	for (size_t i = 0; i < the_plugin.count; i++) {
		struct tracked *one = &the_plugin.tasks[i];

		if (one->pid != pid)
			continue;
		(void)!send(one->fd, &end, sizeof end, MSG_NOSIGNAL | MSG_DONTWAIT);
		close(one->fd);
		*one = the_plugin.tasks[--the_plugin.count];
		break;
	}
	return 0;
}

int slurm_spank_exit(spank_t spank, int argc, char **argv)
{
	(void)spank;
	(void)argc;
	(void)argv;
	for (size_t i = 0; i < the_plugin.count; i++)
		close(the_plugin.tasks[i].fd);
	free(the_plugin.tasks);
	the_plugin.tasks = NULL;
	the_plugin.count = 0;
	return 0;
}
