/*
 * A job that knows what it used: a tree of processes that burn CPU time in every way that is hard to account for.
 *
 *   workload TRUTH random SEED COUNT [KINDS]   a random schedule; KINDS: letters of the table below
 *   workload TRUTH burn MS                     the work of an exec'd child
 *   workload TRUTH storm COUNT MS              one child after the other
 *   workload TRUTH daemons COUNT MS            all at once, in sessions of their own, without a waiting parent
 *   workload TRUTH unwaited COUNT MS           one after the other, SIGCHLD ignored
 *   workload TRUTH io MIB COUNT FILE           COUNT children, one after the other, write and read that much each; the third
 *                                              number of TRUTH is then the sum of /proc/self/io after the last is reaped
 *   workload TRUTH spike MIB MS                touches that much memory for that long
 *   workload TRUTH shared MIB COUNT MS         COUNT children and their parent map and touch the same memory
 *   workload TRUTH vfork MIB MS                touches memory, then waits in vfork(2) for that long
 *   workload TRUTH zombies COUNT MS            keeps children unreaped for that long
 *
 * TRUTH is a file of three 64-bit numbers: CPU ns of all processes, how many there were, and the part of the first that
 * is in no rusage (children of a parent that ignores SIGCHLD). A parent reads the process clock of its zombie child
 * before it reaps it, so that even the child's exit is counted; a process without a waiting parent reports its own time.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scan.h"
#include "truth.h"

enum { MOST_IN_FLIGHT = 3, LONGEST_BURN_MS = 12, DEEPEST = 2 };

static int64_t some_ns(void)
{
	return (int64_t)below(LONGEST_BURN_MS * 1000) * 1000;
}

static void tell(int64_t cpu_ns, bool unwaited)
{
	atomic_fetch_add(&truth->cpu_ns, cpu_ns);
	atomic_fetch_add(&truth->processes, 1);
	if (unwaited)
		atomic_fetch_add(&truth->unwaited_ns, cpu_ns);
}

/* Without a waiting parent in the job, the microseconds of the exit are missing. */
static _Noreturn void tell_and_exit(bool unwaited)
{
	tell(clock_ns(CLOCK_PROCESS_CPUTIME_ID), unwaited);
	_exit(0);
}

static void reap(pid_t pid)
{
	siginfo_t info;
	int64_t cpu_ns = reap_cpu_ns(pid, &info);

	if (info.si_code != CLD_EXITED || info.si_status != 0) {
		fprintf(stderr, "workload: child ended with code %d, status %d\n", info.si_code,
			info.si_status);
		_exit(FAILED);
	}
	tell(cpu_ns, false);
}

static pid_t start(void (*act)(void))
{
	uint64_t of_child = seed_of_child();
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid > 0)
		return pid;
	seed = of_child;
	act();
	_exit(0);
}

static void exec_burn(void)
{
	char ms[16];

	snprintf(ms, sizeof ms, "%u", below(LONGEST_BURN_MS) + 1);
	execl("/proc/self/exe", "workload", truth_path, "burn", ms, (char *)NULL);
	_exit(FAILED);
}

/* ---- acts of a child --------------------------------------------------------------------------------- */

static void act_burn(void)
{
	burn(some_ns());
}

static void act_nothing(void)
{
}

static void act_exec(void)
{
	exec_burn();
}

/* Time before and after execve(2) belongs to one process. */
static void act_burn_then_exec(void)
{
	burn(some_ns());
	exec_burn();
}

static void act_vfork(void)
{
	volatile pid_t pid = 0;

	for (int i = 0; i < 3; i++) {
		pid = vfork();
		if (pid == 0) {
			execl("/proc/self/exe", "workload", truth_path, "burn", "2", (char *)NULL);
			_exit(FAILED);
		}
		if (pid < 0)
			die("vfork");
		reap(pid);
	}
}

/* It is reparented to the tracker, in its own session, and waits for a child. */
static void daemon_life(void)
{
	pid_t pid;

	setsid();
	burn(some_ns());
	pid = start(act_burn);
	sleep_ns(below(30) * NSEC_PER_MSEC);
	reap(pid);
	burn(some_ns());
	tell_and_exit(false);
}

static void act_double_fork(void)
{
	(void)start(daemon_life);
}

static void *fork_in_thread(void *argument)
{
	pid_t pid = start(act_burn);

	(void)argument;
	burn(2 * NSEC_PER_MSEC);
	reap(pid);
	return NULL;
}

static void act_threads_that_fork(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, fork_in_thread, NULL))
			die("pthread_create");
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static void *outlive_leader(void *argument)
{
	(void)argument;
	sleep_ns(20 * NSEC_PER_MSEC);
	burn(5 * NSEC_PER_MSEC);
	_exit(0);
}

static void act_leader_leaves(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, outlive_leader, NULL))
		die("pthread_create");
	pthread_exit(NULL);
}

static void burn_unwaited(void)
{
	burn(some_ns());
	tell_and_exit(true);
}

static void act_ignore_sigchld(void)
{
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 3; i++)
		(void)start(burn_unwaited);
	while (wait(NULL) > 0 || errno == EINTR)
		continue;
	signal(SIGCHLD, SIG_DFL);
}

static void act_zombies(void)
{
	pid_t pids[3];

	for (int i = 0; i < 3; i++)
		pids[i] = start(act_burn);
	sleep_ns(60 * NSEC_PER_MSEC);
	for (int i = 0; i < 3; i++)
		reap(pids[i]);
}

struct clone3_arguments {
	_Alignas(8) uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack,
		stack_size, tls, set_tid, set_tid_size;
};

/*
 * The next process gets the pid of the last one. Only the superuser may ask for that; otherwise a child with
 * any pid burns.
 */
static void act_same_pid(void)
{
	for (int i = 0; i < 3; i++) {
		pid_t pid = start(act_burn), again;
		struct clone3_arguments arguments = {
			.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&pid, .set_tid_size = 1};

		reap(pid);
		again = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
		if (again == 0) {
			burn(3 * NSEC_PER_MSEC);
			_exit(0);
		}
		if (again > 0)
			reap(again);
	}
}

static void run_schedule(int count, const char *kinds, int depth);
static const char *wanted_kinds;
static int depth_now;

static void act_subtree(void)
{
	run_schedule(4, wanted_kinds, depth_now + 1);
}

static const struct kind {
	char letter;
	void (*act)(void);
} KINDS[] = {
	{'b', act_burn},
	{'n', act_nothing},
	{'e', act_exec},
	{'r', act_burn_then_exec},
	{'v', act_vfork},
	{'d', act_double_fork},
	{'t', act_threads_that_fork},
	{'l', act_leader_leaves},
	{'z', act_zombies},
	{'p', act_same_pid},
	{'s', act_subtree},
	{'i', act_ignore_sigchld},
};

static void (*act_of(char letter))(void)
{
	for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
		if (KINDS[i].letter == letter)
			return KINDS[i].act;
	fprintf(stderr, "workload: no kind %c\n", letter);
	_exit(FAILED);
}

static void run_schedule(int count, const char *kinds, int depth)
{
	pid_t in_flight[MOST_IN_FLIGHT];
	int flying = 0;

	wanted_kinds = kinds;
	depth_now = depth;
	for (int i = 0; i < count; i++) {
		void (*act)(void) = act_of(kinds[below((unsigned)strlen(kinds))]);

		if (act == act_subtree && depth >= DEEPEST)
			act = act_burn;
		if (flying == MOST_IN_FLIGHT) {
			reap(in_flight[0]);
			memmove(in_flight, in_flight + 1, (size_t)--flying * sizeof *in_flight);
		}
		in_flight[flying++] = start(act);
		if (below(4) == 0)
			burn(some_ns());
		if (below(4) == 0)
			sleep_ns(below(20) * NSEC_PER_MSEC);
	}
	for (int i = 0; i < flying; i++)
		reap(in_flight[i]);
}

/* ---- many of one kind -------------------------------------------------------------------------------- */

static void storm(int count, int ms)
{
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid == 0) {
			burn(ms * NSEC_PER_MSEC);
			_exit(0);
		}
		reap(pid);
	}
}

static void start_daemons(int count, int ms)
{
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid > 0)
			continue;
		setsid();
		burn(ms * NSEC_PER_MSEC);
		tell_and_exit(false);
	}
}

static void ignore_children(int count, int ms)
{
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < count; i++) {
		if (fork() == 0) {
			burn(ms * NSEC_PER_MSEC);
			tell_and_exit(true);
		}
		while (wait(NULL) > 0 || errno == EINTR)
			continue;
	}
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static char *touch_memory(int mib, int flags)
{
	size_t size = (size_t)mib << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		die("mmap");
	memset(memory, 1, size);
	return memory;
}

static void spike(int mib, int ms)
{
	char *memory = touch_memory(mib, MAP_PRIVATE);

	sleep_ns(ms * NSEC_PER_MSEC);
	munmap(memory, (size_t)mib << 20);
}

static void shared(int mib, int count, int ms)
{
	char *memory = touch_memory(mib, MAP_SHARED);

	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid == 0) {
			memset(memory, 2, (size_t)mib << 20);
			sleep_ns(ms * NSEC_PER_MSEC);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		continue;
}

/* ---- input and output ---------------------------------------------------------------------------------- */

static void write_and_read(int mib, const char *path)
{
	static char block[1 << 20];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		die(path);
	for (int i = 0; i < mib; i++)
		if (write(fd, block, sizeof block) != sizeof block)
			die("write");
	for (int i = 0; i < mib; i++)
		if (pread(fd, block, sizeof block, (off_t)i * (off_t)sizeof block) != sizeof block)
			die("read");
	close(fd);
}

/*
 * Returns the sum of the first two numbers of /proc/self/io: bytes read and written by calls, including
 * reaped children.
 */
static int64_t own_io_bytes(void)
{
	int fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
	char text[512];
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	struct scan scan = scan_bytes(text, length > 0 ? (size_t)length : 0);
	uint64_t read_bytes, written_bytes;

	if (!scan_literal(&scan, "rchar: ") || !scan_u64(&scan, &read_bytes) ||
	    !scan_literal(&scan, "\nwchar: ") || !scan_u64(&scan, &written_bytes))
		die("/proc/self/io");
	close(fd);
	return (int64_t)(read_bytes + written_bytes);
}

static void do_io(int mib, int count, const char *path)
{
	int64_t before = own_io_bytes();

	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid == 0) {
			write_and_read(mib, path);
			_exit(0);
		}
		reap(pid);
	}
	unlink(path);
	atomic_store(&truth->unwaited_ns, own_io_bytes() - before);
}

static void wait_in_vfork(int mib, int ms)
{
	pid_t pid;

	(void)touch_memory(mib, MAP_PRIVATE);
	pid = vfork();
	if (pid == 0) {
		sleep_ns(ms * NSEC_PER_MSEC);
		_exit(0);
	}
	if (pid < 0)
		die("vfork");
	waitpid(pid, NULL, 0);
}

static void keep_zombies(int count, int ms)
{
	for (int i = 0; i < count; i++)
		(void)start(act_burn);
	sleep_ns(ms * NSEC_PER_MSEC);
	while (wait(NULL) > 0)
		continue;
}

static bool is_call(int argc, char **argv, const char *name, int numbers)
{
	return strcmp(argv[2], name) == 0 && argc >= 3 + numbers;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: workload TRUTH MODE NUMBER...\n");
		return FAILED;
	}
	truth_open(argv[1]);
	if (is_call(argc, argv, "burn", 1)) {
		burn(number_argument(argv[3]) * NSEC_PER_MSEC);
		return 0;
	}
	if (is_call(argc, argv, "random", 2)) {
		seed = (uint64_t)number_argument(argv[3]) * UINT64_C(0x9e3779b97f4a7c15) + 1;
		run_schedule(number_argument(argv[4]), argc > 5 ? argv[5] : "bbnervdtlzps", 0);
	} else if (is_call(argc, argv, "storm", 2)) {
		storm(number_argument(argv[3]), number_argument(argv[4]));
	} else if (is_call(argc, argv, "daemons", 2)) {
		start_daemons(number_argument(argv[3]), number_argument(argv[4]));
	} else if (is_call(argc, argv, "unwaited", 2)) {
		ignore_children(number_argument(argv[3]), number_argument(argv[4]));
	} else if (is_call(argc, argv, "io", 3)) {
		do_io(number_argument(argv[3]), number_argument(argv[4]), argv[5]);
	} else if (is_call(argc, argv, "spike", 2)) {
		spike(number_argument(argv[3]), number_argument(argv[4]));
	} else if (is_call(argc, argv, "shared", 3)) {
		shared(number_argument(argv[3]), number_argument(argv[4]), number_argument(argv[5]));
	} else if (is_call(argc, argv, "vfork", 2)) {
		wait_in_vfork(number_argument(argv[3]), number_argument(argv[4]));
	} else if (is_call(argc, argv, "zombies", 2)) {
		keep_zombies(number_argument(argv[3]), number_argument(argv[4]));
	} else {
		fprintf(stderr, "workload: no such mode: %s\n", argv[2]);
		return FAILED;
	}
	tell(clock_ns(CLOCK_PROCESS_CPUTIME_ID), false);
	return 0;
}
