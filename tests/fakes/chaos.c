/*
 * A random tree of processes whose CPU time is hard to account for. They know the truth.
 *
 *   chaos TRUTH SEED COUNT [KINDS]   KINDS: letters of the table below
 *   chaos TRUTH wild SEED            a tree in which each process acts at random, as act_wild() lists
 *   chaos TRUTH chain COUNT          each process waits in vfork(2) for the next one; all are there for a second
 *   chaos TRUTH storm MS             5,000 processes a second, by vfork(2), which end at once; exit status 7
 *   chaos TRUTH rename COUNT         gives itself the name "renamed", and forks that burn 4 ms and end
 *   chaos TRUTH burn MS              the program that children call by exec
 *
 * TRUTH is the file of workload.c: CPU ns of all processes, their number, and the part of the first that is
 * in no rusage (children that were discarded unreaped). A parent reads the process clock of its zombie child
 * before it reaps it. A process that no parent of ours reaps reports its time itself while it burns it,
 * because it may be killed at any moment.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

enum { LONGEST_BURN_US = 12000, MOST_IN_FLIGHT = 4 };

static int64_t some_ns(void)
{
	return (int64_t)below(LONGEST_BURN_US) * NSEC_PER_USEC;
}

static void pause_some(void)
{
	sleep_ns(below(25000) * NSEC_PER_USEC);
}

/* ---- the truth --------------------------------------------------------------------------------------- */

/* The part of its own time that this process has reported. A child starts with 0. */
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
	int64_t cpu_ns = reap_cpu_ns(pid, &info);

	if (info.si_code == CLD_EXITED && info.si_status == FAILED)
		_exit(FAILED);
	atomic_fetch_add(&truth->cpu_ns, cpu_ns);
	atomic_fetch_add(&truth->processes, 1);
}

/* ---- starting ---------------------------------------------------------------------------------------- */

static pid_t start_with(unsigned long flags, void (*act)(void))
{
	uint64_t of_child = seed_of_child();
	pid_t pid = (pid_t)syscall(SYS_clone, flags, 0, 0, 0, 0);

	if (pid < 0 && errno == EPERM && flags & CLONE_NEWPID)
		pid = (pid_t)syscall(SYS_clone, flags | CLONE_NEWUSER, 0, 0, 0, 0);
	/* If this user may not create namespaces, an ordinary child does the same. */
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

/* ---- lives that our own parent reaps ------------------------------------------------------------------- */

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

/* The parent kills it at any moment. */
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

/* A grandchild becomes a child when the process between them ends. */
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

static void live_long(void)
{
	/* More than the kernel's rounding of waited-for time can hide. */
	burn(50000 * NSEC_PER_USEC);
}

/* Ends right after its child, for which it does not wait. */
static void live_beside_an_end(void)
{
	pid_t pid = start(live_long);
	siginfo_t info;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		continue;
}

static void live_above_an_end(void)
{
	reap(start(live_beside_an_end));
	pause_some();
}

/* A process and its parent end at once. The process has a new parent by then: not the next ancestor, but this one. */
static void live_inheriting_from_afar(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)start(live_above_an_end);
	reap(-1);
	reap(-1);
}

/* ---- lives that report their own time ------------------------------------------------------------------ */

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

/* Its child becomes a child of its parent, without the parent's knowledge. */
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

/* As bubblewrap does: the init outlives its creator. */
static void live_leaving_a_namespace(void)
{
	(void)start_with(CLONE_NEWPID | SIGCHLD, init_on_its_own);
	burn(some_ns());
}

/* When the init ends, the kernel kills the others and discards them. */
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

/* ---- wild trees ------------------------------------------------------------------------------------------ */

enum { WILD_DEPTH = 5, WILD_MOST = 40 };

static int wild_depth;
static pthread_mutex_t wild_lock = PTHREAD_MUTEX_INITIALIZER;

/* Any thread may report for its process. */
static void tell_wild(void)
{
	pthread_mutex_lock(&wild_lock);
	tell_so_far(true);
	pthread_mutex_unlock(&wild_lock);
}

static void burn_wild(int64_t ns)
{
	while (ns > 0) {
		burn(ns < NSEC_PER_MSEC ? ns : NSEC_PER_MSEC);
		tell_wild();
		ns -= NSEC_PER_MSEC;
	}
}

/* Its random numbers are not those of the process: threads run at the same time. */
static void *wild_thread(void *argument)
{
	uint64_t of_thread = *(uint64_t *)argument;

	for (int i = 0; i < 3; i++) {
		burn_wild((int64_t)(of_thread >> 16 * i & 0x3f) * 500 * NSEC_PER_USEC);
		sleep_ns((int64_t)(of_thread >> (16 * i + 8) & 0x7f) * NSEC_PER_MSEC);
	}
	tell_wild();
	return NULL;
}

static void live_wild(void);

static void start_wild(void)
{
	static const unsigned long FLAGS[] = {SIGCHLD, SIGCHLD, SIGCHLD, CLONE_PARENT | SIGCHLD, 0};

	if (wild_depth < WILD_DEPTH && truth->processes < WILD_MOST)
		(void)start_with(FLAGS[below(5)], live_wild);
}

static void pause_wild(void)
{
	sleep_ns(below(120) * NSEC_PER_MSEC);
}

static void act_wild(void)
{
	switch (below(8)) {
	case 0:
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		return;
	case 1:
		signal(SIGCHLD, below(2) ? SIG_IGN : SIG_DFL);
		return;
	case 2:
	case 3:
		burn_wild((int64_t)below(60) * NSEC_PER_MSEC);
		return;
	case 4:
		pause_wild();
		return;
	case 5:
		(void)waitpid(-1, NULL, __WALL | (below(2) ? WNOHANG : 0));
		return;
	default:
		start_wild();
	}
}

static void live_wild(void)
{
	enum { WILD_THREADS = 2 };
	static uint64_t seeds[WILD_THREADS];
	pthread_t thread;
	bool leaves_threads;

	wild_depth++;
	/* A thread of the parent may have held it during the fork. */
	wild_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	begin_to_tell();
	for (unsigned acts = 3 + below(8); acts > 0; acts--)
		act_wild();
	leaves_threads = below(3) == 0;
	for (int i = 0; i < WILD_THREADS && leaves_threads; i++) {
		seeds[i] = seed_of_child();
		if (pthread_create(&thread, NULL, wild_thread, &seeds[i]))
			die("pthread_create");
	}
	for (unsigned acts = below(6); acts > 0; acts--)
		act_wild();
	tell_wild();
	/* The main thread may end before the others. */
	if (leaves_threads && below(2))
		pthread_exit(NULL);
	_exit(0);
}

/* ---- a chain ------------------------------------------------------------------------------------------------ */

/* The child shares the memory of its parent, so that all count down the same number. */
static void live_in_a_chain(volatile int *left)
{
	pid_t pid;

	while (--*left > 0) {
		pid = vfork();
		if (pid < 0)
			break;
		if (pid > 0) {
			(void)waitpid(pid, NULL, 0);
			_exit(0);
		}
	}
	sleep_ns(1000 * NSEC_PER_MSEC);
	_exit(0);
}

/* ---- a storm ------------------------------------------------------------------------------------------------ */

static void live_in_a_storm(int64_t length_ns)
{
	const int64_t step_ns = 1000 * NSEC_PER_MSEC / 5000;

	for (int64_t begin_ns = clock_ns(CLOCK_MONOTONIC), next_ns = begin_ns; next_ns < begin_ns + length_ns;
	     next_ns += step_ns) {
		pid_t pid = vfork();

		if (pid == 0)
			_exit(0);
		(void)waitpid(pid, NULL, 0);
		if (next_ns + step_ns > clock_ns(CLOCK_MONOTONIC))
			sleep_ns(next_ns + step_ns - clock_ns(CLOCK_MONOTONIC));
	}
	_exit(7);
}

/* ---- a new name --------------------------------------------------------------------------------------------- */

/* As servers do: the arguments are overwritten, and the name is set. */
static void live_renamed(char **argv, int argc, int count)
{
	size_t bytes = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) - argv[0]);
	pid_t pid;

	memset(argv[0], 0, bytes);
	snprintf(argv[0], bytes, "renamed");
	prctl(PR_SET_NAME, "renamed");
	for (int i = 0; i < count; i++) {
		pid = fork();
		if (pid == 0) {
			burn(4 * NSEC_PER_MSEC);
			_exit(0);
		}
		(void)waitpid(pid, NULL, 0);
	}
	_exit(0);
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
	{'o', live_inheriting_from_afar},
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

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: chaos TRUTH SEED COUNT [KINDS]\n");
		return FAILED;
	}
	truth_open(argv[1]);
	if (strcmp(argv[2], "burn") == 0) {
		burn(number_argument(argv[3]) * NSEC_PER_MSEC);
		return 0;
	}
	if (strcmp(argv[2], "rename") == 0)
		live_renamed(argv, argc, number_argument(argv[3]));
	if (strcmp(argv[2], "storm") == 0)
		live_in_a_storm(number_argument(argv[3]) * NSEC_PER_MSEC);
	if (strcmp(argv[2], "chain") == 0) {
		int left = number_argument(argv[3]);

		live_in_a_chain(&left);
	}
	if (strcmp(argv[2], "wild") == 0) {
		seed = (uint64_t)number_argument(argv[3]) * UINT64_C(0x9e3779b97f4a7c15) + 1;
		live_wild();
	}
	seed = (uint64_t)number_argument(argv[2]) * UINT64_C(0x9e3779b97f4a7c15) + 1;
	run_schedule(number_argument(argv[3]), argc > 4 ? argv[4] : "betvzk0socdinlm");
	begin_to_tell();
	tell_so_far(false);
	return 0;
}
