/* Tests of src/collect/oom_watch.c: which kills for lack of memory were of the job. */
#include "scratch.h"

#include <math.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "collect/oom_watch.h"
#include "metric/typed_rows.h"

enum { JOB = 100 };

static int64_t now_ns;
static struct root root;
static struct process_tree tree;
static struct run_ending ending;
static struct collect_context context;
static struct oom_watch watch;

static int64_t fixed_ns(void *unused)
{
	(void)unused;
	return now_ns;
}

static int begin(void **state)
{
	if (scratch_enter(state) < 0 || mkdir("proc", 0755) < 0 ||
	    root_open(&root, ".", &(struct clocks){fixed_ns, fixed_ns, NULL}) < 0)
		return -1;
	tree = (struct process_tree){.root = &root, .root_pid = JOB};
	ending = (struct run_ending){.reason = NULL};
	context = (struct collect_context){
		.root = &root,
		.tree = &tree,
		.ending = &ending,
		.memory_cgroup = {.id = 1, .only_tree = true, .kills_when_left = -1}};
	now_ns = 0;
	oom_watch_open(&watch);
	return 0;
}

static int end(void **state)
{
	oom_watch_close(&watch);
	assert_int_equal(watch.log_fd, -1);
	root_close(&root);
	return scratch_leave(state);
}

/* Shows a frame with the counter of the job's cgroup, -1: it has none. */
static void see(double secs, int64_t kills, bool is_baseline)
{
	struct frame frame = {0};

	now_ns = (int64_t)(secs * 1e9);
	frame_begin(&frame, now_ns, 0);
	frame.sample->elapsed_secs = secs;
	if (kills >= 0) {
		struct cgroup_row *cgroup = SINGLE_ROW(&frame, cgroup);

		cgroup->oom_kills = kills;
		cgroup->memory_peak_mib = 10 * secs;
		SINGLE_ROW(&frame, limits)->memory_limit_mib = 100 * secs;
	}
	if (is_baseline)
		oom_watch_baseline(&watch, &context, &frame);
	else
		oom_watch_follow(&watch, &context, &frame);
	frame_done(&frame);
}

static struct oom_findings end_at(double secs)
{
	return oom_watch_end(&watch, &context, (int64_t)(secs * 1e9), true);
}

static void without_counters_nothing_is_known(void **state)
{
	struct oom_findings found;

	(void)state;
	see(0, -1, true);
	see(1, -1, false);
	found = end_at(1);
	assert_int_equal(found.job, OOM_NOT_THE_JOB);
	assert_int_equal(found.in_cgroup, -1);
	assert_int_equal(found.on_machine, -1);
	assert_true(found.by_machine && isnan(found.secs_before_end));
	assert_int_equal(real_absent(watch.limit_mib), ABSENT_NOT_THIS_END);
}

/* Two kills are of an earlier run. The third lies between the seconds 1 and 2. */
static void a_kill_counts_as_the_jobs_for_three_seconds(void **state)
{
	static const struct {
		double ended;
		enum oom_of_job job;
		double before_end;
		bool by_machine;
	} CASES[] = {{2, OOM_JOB_COUNTED, NAN, false},       {3, OOM_JOB_COUNTED, NAN, false},
		     {3.5, OOM_JOB_COUNTED, 1.5, false},     {4, OOM_JOB_COUNTED, 2, false},
		     {4.25, OOM_JOB_SUSPECTED, 2.25, false}, {5, OOM_JOB_SUSPECTED, 3, false},
		     {5.25, OOM_NOT_THE_JOB, 3.25, true}};

	(void)state;
	see(0, 2, true);
	see(1, 2, false);
	see(2, 3, false);
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct oom_findings found = end_at(CASES[i].ended);

		assert_int_equal(found.job, CASES[i].job);
		assert_int_equal(found.in_cgroup, 1);
		assert_int_equal(found.by_machine, CASES[i].by_machine);
		assert_true(found.secs_before_end == CASES[i].before_end ||
			    (isnan(found.secs_before_end) && isnan(CASES[i].before_end)));
	}
	/* The circumstances are those of the sample that saw it. */
	see(3, 3, false);
	assert_true(watch.elapsed_secs == 2 && watch.limit_mib == 200 && watch.peak_mib == 20);
	assert_int_equal(oom_watch_end(&watch, &context, 2 * NSEC_PER_SEC, false).job, OOM_NOT_THE_JOB);
	context.memory_cgroup.only_tree = false;
	assert_int_equal(end_at(2).job, OOM_JOB_SUSPECTED);
	assert_false(end_at(2).only_tree);
	context.tree = NULL;
	assert_int_equal(end_at(2).job, OOM_NOT_THE_JOB);
}

/* The sample after the end sees a rise since one that is long past: the kill may have been at any time. */
static void a_late_reading_makes_it_suspected(void **state)
{
	(void)state;
	see(0, 0, true);
	see(10, 1, false);
	assert_int_equal(end_at(9.5).job, OOM_JOB_SUSPECTED);
	assert_int_equal(end_at(10).job, OOM_JOB_SUSPECTED);
	assert_int_equal(end_at(10.5).job, OOM_NOT_THE_JOB);
}

static void a_counter_that_went_back_begins_anew(void **state)
{
	(void)state;
	see(0, 5, true);
	see(1, 3, false);
	assert_int_equal(end_at(1).in_cgroup, 0);
	see(2, 4, false);
	assert_int_equal(end_at(2).in_cgroup, 1);
	/* A sample without the counter changes nothing. */
	see(3, -1, false);
	assert_int_equal(end_at(3).in_cgroup, 1);
}

static void put_kills(const char *text)
{
	put_text("proc/vmstat", text);
}

static void the_machine_is_asked_once_a_second(void **state)
{
	struct oom_findings found;

	(void)state;
	put_kills("pgfault 9\npgalloc_dma32 7\npgalloc_normal 90\noom_kill 5\n");
	see(0, -1, true);
	see(0.5, -1, false);
	assert_int_equal(watch.machine.now, -1);
	now_ns = 0;
	oom_watch_prepare(&watch, &root);
	assert_int_equal(watch.machine.now, 5);
	assert_int_equal(root.allocated_pages, 97);
	put_kills("pgfault 9\noom_kill 6\n");
	see(0.8, -1, false);
	assert_int_equal(end_at(0.8).on_machine, 0);
	see(0.9, -1, false);
	found = end_at(1);
	assert_int_equal(found.on_machine, 1);
	assert_int_equal(found.in_cgroup, -1);
	assert_int_equal(found.job, OOM_JOB_SUSPECTED);
	assert_true(found.by_machine);
	assert_int_equal(end_at(4.5).job, OOM_NOT_THE_JOB);
	put_kills("pgfault 9\noom_kill 7\n");
	see(1.7, -1, false);
	assert_int_equal(watch.machine.now, 6);
	see(1.8, -1, false);
	assert_int_equal(watch.machine.now, 7);
	/* The last sample asks at any time. */
	put_kills("pgfault 9\noom_kill 8\n");
	ending.reason = "exit";
	see(2, -1, false);
	assert_int_equal(end_at(2).on_machine, 3);
}

static void kills_in_a_group_that_was_left_are_the_jobs(void **state)
{
	struct oom_findings found;

	(void)state;
	put_kills("oom_kill 0\n");
	oom_watch_prepare(&watch, &root);
	see(0, 1, true);
	see(1, 2, false);
	/* It counted a third one before the job left. The new group had seven. */
	context.memory_cgroup.id = 2;
	context.memory_cgroup.kills_when_left = 3;
	see(2, 7, false);
	context.memory_cgroup.kills_when_left = -1;
	assert_int_equal(end_at(2).in_cgroup, 2);
	see(3, 8, false);
	assert_int_equal(end_at(3).in_cgroup, 3);
	see(20, 8, false);
	assert_int_equal(end_at(20).job, OOM_NOT_THE_JOB);
	/* One of the seven may have been the job's process, if the machine had any. */
	put_kills("oom_kill 1\n");
	see(21, 8, false);
	found = end_at(90);
	assert_int_equal(found.on_machine, 1);
	assert_int_equal(found.job, OOM_JOB_SUSPECTED);
	/* A group without kills hides none. */
	context.memory_cgroup.id = 3;
	see(90, 0, false);
	assert_int_equal(end_at(95).job, OOM_NOT_THE_JOB);
}

static void a_first_group_begins_with_its_kills(void **state)
{
	(void)state;
	put_kills("oom_kill 0\n");
	oom_watch_prepare(&watch, &root);
	context.memory_cgroup.id = 0;
	see(0, -1, true);
	context.memory_cgroup.id = 2;
	see(1, 7, false);
	put_kills("oom_kill 1\n");
	see(2, 7, false);
	assert_int_equal(end_at(90).in_cgroup, 0);
	assert_int_equal(end_at(90).job, OOM_NOT_THE_JOB);
	/* A sample without a group ends nothing. */
	context.memory_cgroup.id = 0;
	see(3, 8, false);
	assert_int_equal(end_at(90).in_cgroup, 1);
}

/* All of its kills are the job's, from the start on. */
static void a_group_made_for_the_job_begins_with_0(void **state)
{
	(void)state;
	see(0, 9, true);
	context.own_cgroup = true;
	context.memory_cgroup.id = 5;
	context.progress.started_ns = 1500 * NSEC_PER_MSEC;
	see(2, 1, false);
	assert_int_equal(end_at(4.5).in_cgroup, 1);
	assert_int_equal(end_at(4.5).job, OOM_JOB_COUNTED);
	assert_int_equal(end_at(4.75).job, OOM_JOB_SUSPECTED);
	see(3, 2, false);
	assert_int_equal(end_at(4.5).in_cgroup, 2);
}

static void log_kill(int fd, int pid)
{
	char record[100];
	int length = snprintf(record, sizeof record, "3,1,2,-;Out of memory: Killed process %d (x)\n", pid);

	assert_int_equal(write(fd, record, (size_t)length), length);
}

static void the_kernels_log_decides(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
	watch.log_fd = ends[0];
	put_kills("oom_kill 0\n");
	oom_watch_prepare(&watch, &root);
	assert_int_equal(watch.log_fd, ends[0]);
	see(0, 0, true);
	put_kills("oom_kill 2\n");
	see(1, 1, false);
	/* The kernel reports each kill twice. The log may lack one of the machine's two. */
	log_kill(ends[1], 7);
	log_kill(ends[1], 7);
	assert_int_equal(end_at(1).job, OOM_JOB_COUNTED);
	/* It has both, and the job is neither. */
	log_kill(ends[1], 7);
	log_kill(ends[1], 8);
	assert_int_equal(end_at(1).job, OOM_NOT_THE_JOB);
	log_kill(ends[1], 7);
	log_kill(ends[1], JOB);
	log_kill(ends[1], 8);
	assert_int_equal(end_at(60).job, OOM_JOB_NAMED);
	assert_int_equal(end_at(1).job, OOM_JOB_COUNTED);
	close(ends[1]);
}

#define unit_test_of_watch(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_watch(without_counters_nothing_is_known),
		unit_test_of_watch(a_kill_counts_as_the_jobs_for_three_seconds),
		unit_test_of_watch(a_late_reading_makes_it_suspected),
		unit_test_of_watch(a_counter_that_went_back_begins_anew),
		unit_test_of_watch(the_machine_is_asked_once_a_second),
		unit_test_of_watch(kills_in_a_group_that_was_left_are_the_jobs),
		unit_test_of_watch(a_first_group_begins_with_its_kills),
		unit_test_of_watch(a_group_made_for_the_job_begins_with_0),
		unit_test_of_watch(the_kernels_log_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
