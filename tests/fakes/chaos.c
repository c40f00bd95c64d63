/*
 * A random tree of processes that live and end in ways which make CPU time hard to account for, and that know the truth.
 *
 *   chaos TRUTH SEED COUNT [KINDS]   KINDS: letters of the table below
 *   chaos TRUTH burn MS              the program that children call by exec
 *
 * TRUTH is the file of workload.c: CPU ns of all processes, how many there were, and the part of the first that is in no
 * rusage (children that were discarded unreaped). A parent reads the process clock of its zombie child before it reaps
 * it. A process that no parent of ours reaps tells its time itself, while it burns it: it may be killed at any moment.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/scan.h"

enum { LONGEST_BURN_US = 12000, MOST_IN_FLIGHT = 4, FAILED = 111 };
#define NSEC_PER_USEC INT64_C(1000)

struct truth {
	_Atomic int64_t cpu_ns;
	_Atomic int64_t processes;
	_Atomic int64_t unwaited_ns;
};

static struct truth *truth;
static const char *truth_path;
static uint64_t seed;

static _Noreturn void die(const char *what)
{
	perror(what);
	_exit(FAILED);
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) < 0)
		die("clock_gettime");
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static unsigned below(unsigned limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 16) % limit;
}

static int64_t some_ns(void)
{
	return (int64_t)below(LONGEST_BURN_US) * NSEC_PER_USEC;
}

static void burn(int64_t ns)
{
	int64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		continue;
}

static void pause_some(void)
{
	struct timespec time = {.tv_nsec = (long)below(25000) * NSEC_PER_USEC};

	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		continue;
}

/* ---- the truth --------------------------------------------------------------------------------------- */

/* How much of its own time this process has told; a child begins with nothing. */
static int64_t told_ns;

static void tell_so_far(bool unwaited)
{
	int64_t now_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID), more_ns = now_ns - told_ns;

	told_ns = now_ns;
	atomic_fetch_add(&truth->cpu_ns, more_ns);
	if (unwaited)
		atomic_fetch_add(&truth->unwaited_ns, more_ns);
}

static void burn_and_tell(int64_t ns, bool unwaited)
{
	int64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	do
		tell_so_far(unwaited);
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns);
	tell_so_far(unwaited);
}

static void begin_to_tell(void)
{
	told_ns = 0;
	atomic_fetch_add(&truth->processes, 1);
}

/* `pid` may be -1: any child. */
static void reap(pid_t pid)
{
	siginfo_t info;
	int64_t cpu_ns;

	while (waitid(pid < 0 ? P_ALL : P_PID, pid < 0 ? 0 : (id_t)pid, &info, WEXITED | WNOWAIT | __WALL) <
	       0)
		if (errno != EINTR)
			die("waitid");
	cpu_ns = clock_ns((clockid_t)(~(unsigned)info.si_pid << 3 | 2));
	if (waitpid(info.si_pid, NULL, __WALL) != info.si_pid)
		die("waitpid");
	if (info.si_code == CLD_EXITED && info.si_status == FAILED)
		_exit(FAILED);
	atomic_fetch_add(&truth->cpu_ns, cpu_ns);
	atomic_fetch_add(&truth->processes, 1);
}

/* ---- starting ---------------------------------------------------------------------------------------- */

static pid_t start_with(unsigned long flags, void (*act)(void))
{
	uint64_t of_child = seed ^ ((uint64_t)below(1u << 30) << 20 | 1);
	pid_t pid = (pid_t)syscall(SYS_clone, flags, 0, 0, 0, 0);

	if (pid < 0 && errno == EPERM && flags & CLONE_NEWPID)
		pid = (pid_t)syscall(SYS_clone, flags | CLONE_NEWUSER, 0, 0, 0, 0);
	/* Where namespaces are closed to this user, an ordinary child does the same. */
	if (pid < 0 && flags & CLONE_NEWPID)
		pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid < 0)
		die("clone");
	if (pid > 0)
		return pid;
	seed = of_child;
	act();
	_exit(0);
}

static pid_t start(void (*act)(void))
{
	return start_with(SIGCHLD, act);
}

static void become_burner(void)
{
	char ms[16];

	snprintf(ms, sizeof ms, "%u", below(LONGEST_BURN_US / 1000) + 1);
	execl("/proc/self/exe", "chaos", truth_path, "burn", ms, (char *)NULL);
	_exit(FAILED);
}

/* ---- lives that a parent of ours reaps ----------------------------------------------------------------- */

static void live_burning(void)
{
	burn(some_ns());
}

static void live_by_exec(void)
{
	burn(some_ns());
	become_burner();
}

static void *burn_in_thread(void *argument)
{
	(void)argument;
	burn(2000 * NSEC_PER_USEC);
	return NULL;
}

static void *exec_in_thread(void *argument)
{
	burn_in_thread(argument);
	become_burner();
	return NULL;
}

static void live_in_threads(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, i == 2 && below(2) ? exec_in_thread : burn_in_thread,
				   NULL))
			die("pthread_create");
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static void live_with_vfork(void)
{
	volatile pid_t pid;

	for (int i = 0; i < 2; i++) {
		pid = vfork();
		if (pid == 0) {
			execl("/proc/self/exe", "chaos", truth_path, "burn", "3", (char *)NULL);
			_exit(FAILED);
		}
		if (pid < 0)
			die("vfork");
		reap(pid);
	}
}

static void live_with_zombies(void)
{
	pid_t pids[3];

	for (int i = 0; i < 3; i++)
		pids[i] = start(live_burning);
	pause_some();
	for (int i = 0; i < 3; i++)
		reap(pids[i]);
}

/* The parent kills it, at any moment of its life. */
static void live_until_killed(void)
{
	burn(INT64_C(1) << 40);
}

static void live_as_killer(void)
{
	pid_t pid = start(live_until_killed);

	burn(some_ns());
	pause_some();
	kill(pid, SIGKILL);
	reap(pid);
}

static void live_with_silent_children(void)
{
	pid_t pid = start_with(0, live_burning);

	burn(some_ns());
	reap(pid);
}

/* A grandchild becomes a child by the end of the one between. */
static void live_leaving_a_child(void)
{
	(void)start(live_burning);
	burn(some_ns());
}

static void live_as_subreaper(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)start(live_leaving_a_child);
	pause_some();
	reap(-1);
	reap(-1);
}

/* ---- lives that tell of themselves -------------------------------------------------------------------- */

static void tell_burning(void)
{
	begin_to_tell();
	burn_and_tell(some_ns(), false);
}

static void tell_burning_unwaited(void)
{
	begin_to_tell();
	burn_and_tell(some_ns(), true);
}

static void tell_until_killed(void)
{
	begin_to_tell();
	burn_and_tell(INT64_C(1) << 40, true);
}

/* Its child is a child of its parent, which knows nothing of it. */
static void live_beside_a_brother(void)
{
	(void)start_with(CLONE_PARENT | SIGCHLD, tell_burning);
	burn(some_ns());
}

static void live_as_daemons_parent(void)
{
	(void)start(tell_burning);
	(void)start_with(0, tell_burning);
	burn(some_ns());
}

static void live_ignoring_children(void)
{
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 2; i++)
		(void)start(tell_burning_unwaited);
	while (wait(NULL) > 0 || errno == EINTR)
		continue;
}

/* ---- namespaces ------------------------------------------------------------------------------------------ */

static void init_that_reaps(void)
{
	int count = 1 + (int)below(3);

	for (int i = 0; i < count; i++)
		(void)start(i == 1 ? live_as_killer : live_burning);
	for (int i = 0; i < count; i++)
		reap(-1);
}

static void init_of_orphans(void)
{
	(void)start(live_leaving_a_child);
	reap(-1);
	reap(-1);
}

static void live_around_a_namespace(void)
{
	pid_t pid = start_with(CLONE_NEWPID | SIGCHLD, below(2) ? init_that_reaps : init_of_orphans);

	burn(some_ns());
	reap(pid);
}

static void init_on_its_own(void)
{
	begin_to_tell();
	init_that_reaps();
	burn_and_tell(some_ns(), false);
}

/* As bubblewrap does: the init outlives the process that made it. */
static void live_leaving_a_namespace(void)
{
	(void)start_with(CLONE_NEWPID | SIGCHLD, init_on_its_own);
	burn(some_ns());
}

/* The kernel kills the others with the init and discards them. */
static void init_that_kills(void)
{
	(void)start(tell_until_killed);
	burn(some_ns());
	pause_some();
}

static void live_around_a_massacre(void)
{
	reap(start_with(CLONE_NEWPID | SIGCHLD, init_that_kills));
}

static const struct kind {
	char letter;
	void (*act)(void);
} KINDS[] = {
	{'b', live_burning},
	{'e', live_by_exec},
	{'t', live_in_threads},
	{'v', live_with_vfork},
	{'z', live_with_zombies},
	{'k', live_as_killer},
	{'0', live_with_silent_children},
	{'s', live_as_subreaper},
	{'c', live_beside_a_brother},
	{'d', live_as_daemons_parent},
	{'i', live_ignoring_children},
	{'n', live_around_a_namespace},
	{'l', live_leaving_a_namespace},
	{'m', live_around_a_massacre},
};

static void (*act_of(char letter))(void)
{
	for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
		if (KINDS[i].letter == letter)
			return KINDS[i].act;
	fprintf(stderr, "chaos: no kind %c\n", letter);
	_exit(FAILED);
}

static void run_schedule(int count, const char *kinds)
{
	pid_t in_flight[MOST_IN_FLIGHT];
	int flying = 0;

	for (int i = 0; i < count; i++) {
		if (flying == MOST_IN_FLIGHT) {
			reap(in_flight[0]);
			memmove(in_flight, in_flight + 1, (size_t)--flying * sizeof *in_flight);
		}
		in_flight[flying++] = start(act_of(kinds[below((unsigned)strlen(kinds))]));
		if (below(4) == 0)
			burn(some_ns());
		if (below(4) == 0)
			pause_some();
	}
	for (int i = 0; i < flying; i++)
		reap(in_flight[i]);
}

static uint64_t number(const char *text)
{
	struct scan scan = scan_bytes(text, strlen(text));
	uint64_t value;

	if (!scan_u64(&scan, &value) || scan_left(&scan) || value > UINT32_MAX) {
		fprintf(stderr, "chaos: not a number: %s\n", text);
		_exit(FAILED);
	}
	return value;
}

int main(int argc, char **argv)
{
	int fd = argc < 4 ? -1 : open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0 || ftruncate(fd, sizeof *truth) < 0)
		die("usage: chaos TRUTH SEED COUNT [KINDS]");
	truth = mmap(NULL, sizeof *truth, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (truth == MAP_FAILED)
		die("mmap");
	close(fd);
	truth_path = argv[1];
	if (strcmp(argv[2], "burn") == 0) {
		burn((int64_t)number(argv[3]) * 1000 * NSEC_PER_USEC);
		return 0;
	}
	seed = number(argv[2]) * UINT64_C(0x9e3779b97f4a7c15) + 1;
	run_schedule((int)number(argv[3]), argc > 4 ? argv[4] : "betvzk0scdinlm");
	begin_to_tell();
	tell_so_far(false);
	return 0;
}
