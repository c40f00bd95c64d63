/* Tests of src/wrap/witness.c: each count that the tracker sees has its time. */
#include "wrap_children.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/wait_child.h"
#include "wrap/witness.h"

enum { SIGNALS = 1000 };

/* The tracker looks while the witness counts, on another processor. It once dropped one count of a hundred beside a load. */
static void a_signal_that_was_counted_has_its_time(void **state)
{
	const int signo = SIGRTMIN + 1;
	struct shared_page *page =
		mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct wrap wrap = {.own_pid = getpid(), .page = page};
	struct sighting *sighting;
	int old = 0;

	(void)state;
	assert_true(page != MAP_FAILED);
	if (is_emulated())
		skip();
	sighting = &page->sightings[signo];
	witness_start(&wrap);
	assert_true(wrap.witness > 0);
	while (!witness_has_answered(&wrap, witness_ask(&wrap)))
		usleep(1000);
	for (uint32_t i = 0; i < SIGNALS; i++) {
		int64_t sent_ns = monotonic_now_ns();

		assert_int_equal(kill(wrap.witness, signo), 0);
		while (atomic_load(&sighting->sent) == i)
			;
		old += atomic_load(&sighting->last_ns) < sent_ns;
	}
	witness_kill(&wrap);
	(void)wait_child(wrap.witness, NULL, 0, NULL);
	munmap(page, sizeof *page);
	assert_int_equal(old, 0);
}

static void assert_own_name(char **argv, size_t length)
{
	static struct shared_page page;
	char path[40], bytes[4096] = "", own[4096] = "";
	struct wrap wrap = {.own_pid = getpid(), .page = &page, .main_argv = argv};
	FILE *file = fopen("/proc/self/cmdline", "r");

	size_t own_length, told_length = 0;

	assert_non_null(file);
	own_length = fread(own, 1, sizeof own - 1, file);
	assert_true(own_length >= length);
	fclose(file);
	/* The arguments stand behind each other. */
	if (memcmp(own, argv[0], length) != 0 || length < strlen("rt-witness"))
		skip();
	witness_start(&wrap);
	assert_true(wrap.witness > 0);
	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)wrap.witness);
	while (strcmp(bytes, "rt-witness") != 0) {
		file = fopen(path, "r");
		assert_non_null(file);
		memset(bytes, 0, sizeof bytes);
		told_length = fread(bytes, 1, sizeof bytes - 1, file);
		fclose(file);
		usleep(1000);
	}
	for (size_t i = strlen(bytes); i < length; i++)
		assert_int_equal(bytes[i], 0);
	/* The kernel tells the first text alone where the last byte is overwritten. */
	assert_int_equal(told_length, own_length);
	assert_memory_equal(own, argv[0], length);
	witness_kill(&wrap);
	witness_reap(&wrap);
	assert_int_equal(wrap.witness, 0);
}

/* A search for the command line of the tracker does not find it. The tracker keeps its own. */
static void the_witness_has_a_name_of_its_own(void **state)
{
	char *first = program_invocation_name, *second = first + strlen(first) + 1;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_own_name((char *[]){first, NULL}, strlen(first));
	assert_own_name((char *[]){first, second, NULL}, strlen(first) + 1 + strlen(second));
}

/* A descriptor would keep a pipe of the tracker open. */
static void the_witness_sleeps_and_has_no_descriptor(void **state)
{
	struct shared_page *page =
		mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct wrap wrap = {.own_pid = getpid(), .page = page};
	struct dirent *entry;
	char path[40];
	DIR *folder;
	int count = 0;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_true(page != MAP_FAILED);
	witness_start(&wrap);
	while (!witness_has_answered(&wrap, witness_ask(&wrap)))
		usleep(1000);
	wait_for_state(wrap.witness, 'S');
	snprintf(path, sizeof path, "/proc/%d/fd", (int)wrap.witness);
	folder = opendir(path);
	assert_non_null(folder);
	while ((entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	closedir(folder);
	assert_int_equal(count, 0);
	witness_kill(&wrap);
	witness_reap(&wrap);
	munmap(page, sizeof *page);
}

static int starts_no_witness(void)
{
	struct wrap wrap = {.own_pid = getpid()};

#ifdef SYS_fork
	if (!refuse_call(SYS_fork))
		return 0;
#endif
	if (!refuse_call(SYS_clone))
		return 0;
	witness_start(&wrap);
	if (wrap.witness)
		return 1;
	/* There is none to wake, to kill or to wait for. */
	witness_wake(&wrap);
	witness_kill(&wrap);
	witness_reap(&wrap);
	return 0;
}

static void a_witness_that_the_kernel_refuses_is_done_without(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(in_child(starts_no_witness), 0);
}

/* One that does not end in 20 ms is left to the first process. */
static void a_witness_that_does_not_end_is_left_alone(void **state)
{
	struct wrap wrap = {.own_pid = getpid()};
	int64_t begun_ns = monotonic_now_ns();
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		pause();
		_exit(0);
	}
	wrap.witness = pid;
	witness_reap(&wrap);
	assert_int_equal(wrap.witness, 0);
	assert_true(monotonic_now_ns() >= begun_ns + 20 * NSEC_PER_MSEC);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(wait_child(pid, NULL, 0, NULL), pid);
}

/* The tracker has ended before the witness could ask the kernel to end with it. */
static void a_witness_without_its_tracker_ends(void **state)
{
	static struct shared_page page;
	struct wrap wrap = {.own_pid = getpid() + 1, .page = &page};
	int status;

	(void)state;
	if (is_emulated())
		skip();
	witness_start(&wrap);
	assert_true(wrap.witness > 0);
	assert_int_equal(waitpid(wrap.witness, &status, 0), wrap.witness);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int started_count;
static pid_t last_started;

static void note_started(void *context, pid_t pid)
{
	(void)context;
	started_count++;
	last_started = pid;
}

/* Another process has killed it. That is done sixteen times at most. */
static void a_witness_that_was_lost_is_started_again(void **state)
{
	static struct shared_page page;
	static const struct wrap_hooks HOOKS = {.own_child = note_started};
	struct wrap wrap = {
		.own_pid = getpid(), .page = &page, .job = 1 << 22, .hooks = &(struct wrap_hooks){0}};

	(void)state;
	if (is_emulated())
		skip();
	/* A hook for it may be left out. */
	witness_lost(&wrap);
	assert_true(wrap.witness > 0);
	end_sleeper(wrap.witness);
	wrap.hooks = &HOOKS;
	wrap.witnesses_lost = 0;
	for (int i = 1; i <= 16; i++) {
		witness_lost(&wrap);
		assert_int_equal(started_count, i);
		assert_true(wrap.witness > 0 && wrap.witness == last_started);
		end_sleeper(wrap.witness);
	}
	witness_lost(&wrap);
	assert_int_equal(wrap.witness, 0);
	/* Nor is it for a job that has ended, or once the tracker has killed it. */
	wrap.witnesses_lost = 0;
	wrap.job = 0;
	witness_lost(&wrap);
	wrap.job = 1 << 22;
	wrap.witness_killed = true;
	witness_lost(&wrap);
	assert_int_equal(wrap.witness, 0);
	assert_int_equal(started_count, 16);
	/* Nothing is left to kill or to wake. */
	witness_kill(&wrap);
	witness_wake(&wrap);
	witness_reap(&wrap);
}

/* Those with a value are counted apart, and a SIGCONT of the tracker not at all. */
static void the_witness_counts_by_kind(void **state)
{
	const int signo = SIGRTMIN + 1;
	struct shared_page *page =
		mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct wrap wrap = {.own_pid = getpid(), .page = page};
	signal_set before;
	uint32_t question;
	siginfo_t info;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_true(page != MAP_FAILED);
	mask_signals(SIG_BLOCK, SIGNAL_BIT(SIGCONT), &before);
	witness_start(&wrap);
	while (!witness_has_answered(&wrap, witness_ask(&wrap)))
		usleep(1000);
	assert_int_equal(kill(wrap.witness, signo), 0);
	assert_int_equal(kill(wrap.witness, signo), 0);
	assert_int_equal(sigqueue(wrap.witness, signo, (union sigval){0}), 0);
	assert_int_equal(kill(wrap.witness, SIGCONT), 0);
	question = witness_ask(&wrap);
	assert_int_equal(question, page->asked);
	while (!witness_has_answered(&wrap, question))
		usleep(100);
	assert_int_equal(page->sightings[signo].sent, 2);
	assert_int_equal(page->sightings[signo].queued, 1);
	assert_int_equal(page->sightings[SIGCONT].sent + page->sightings[SIGCONT].queued, 0);
	assert_false(witness_has_answered(&wrap, question + 1));
	/* The tracker is not stopped, so nothing continues it. */
	assert_int_equal(take_signal(SIGNAL_BIT(SIGCONT), &info, 0), 0);
	mask_signals(SIG_SETMASK, before, NULL);
	/* The numbers go round. */
	page->answered = 1;
	assert_true(witness_has_answered(&wrap, UINT32_MAX));
	assert_false(witness_has_answered(&wrap, 2));
	witness_kill(&wrap);
	witness_reap(&wrap);
	munmap(page, sizeof *page);
}

/* While the tracker is stopped with its job, the witness continues it once the job runs. */
static void the_witness_continues_the_tracker_once_its_job_runs(void **state)
{
	struct shared_page *page =
		mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct wrap wrap = {.own_pid = getpid(), .page = page};
	signal_set before;
	siginfo_t info;
	pid_t job;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_true(page != MAP_FAILED);
	mask_signals(SIG_BLOCK, SIGNAL_BIT(SIGCONT), &before);
	job = start_sleeper();
	stop_child(job);
	page->stopped_job = job;
	witness_start(&wrap);
	while (!witness_has_answered(&wrap, witness_ask(&wrap)))
		usleep(1000);
	assert_int_equal(take_signal(SIGNAL_BIT(SIGCONT), &info, 50 * NSEC_PER_MSEC), 0);
	assert_int_equal(kill(job, SIGCONT), 0);
	assert_int_equal(take_signal(SIGNAL_BIT(SIGCONT), &info, 60 * NSEC_PER_SEC), SIGCONT);
	assert_int_equal(info.si_pid, wrap.witness);
	page->stopped_job = 0;
	witness_kill(&wrap);
	witness_reap(&wrap);
	while (take_signal(SIGNAL_BIT(SIGCONT), &info, 0))
		continue;
	mask_signals(SIG_SETMASK, before, NULL);
	end_sleeper(job);
	munmap(page, sizeof *page);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_that_was_counted_has_its_time),
		cmocka_unit_test(the_witness_has_a_name_of_its_own),
		cmocka_unit_test(the_witness_sleeps_and_has_no_descriptor),
		cmocka_unit_test(a_witness_that_the_kernel_refuses_is_done_without),
		cmocka_unit_test(a_witness_that_does_not_end_is_left_alone),
		cmocka_unit_test(a_witness_that_was_lost_is_started_again),
		cmocka_unit_test(a_witness_without_its_tracker_ends),
		cmocka_unit_test(the_witness_counts_by_kind),
		cmocka_unit_test(the_witness_continues_the_tracker_once_its_job_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
