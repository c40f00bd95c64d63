/* Tests of src/job/pass.c: passes over processes that the test writes. */
#include "job/cpu/job_cpu.h"

#include "job_processes.h"

#include <errno.h>
#include <math.h>

enum { SIGCHLD_IGNORED = 1 << 16, EXITING = 4 };

static int64_t published_ms(void)
{
	return tree->cpu.account.published.of[USAGE_CPU_NS] / NSEC_PER_MSEC;
}

/* A job of 100, its child 200, and 300, the child of that. */
static void put_chain(void)
{
	put_process((struct written){.pid = 100, .parent = -1, .start = 10, .user_ticks = 200});
	put_process((struct written){.pid = 200, .parent = 100, .start = 11, .user_ticks = 30});
	put_process((struct written){.pid = 300, .parent = 200, .start = 12, .user_ticks = 4});
	put_children(100, 100, "7000200 ");
	put_children(200, 200, "7000300 ");
	put_children(300, 300, "");
}

static void earlier_use_counts_if_the_caller_has_started_the_job(void **state)
{
	(void)state;
	put_chain();
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	assert_members("100");
	assert_int_equal(published_ms(), 0);
	process_tree_touch(tree);
	assert_members("100 200 300");
	assert_int_equal(published_ms(), 2340);
	assert_int_equal(tree->passes, 1);
}

static void earlier_use_of_an_attached_job_does_not_count(void **state)
{
	(void)state;
	put_chain();
	assert_int_equal(process_tree_seed(tree, PIDS + 100, false), 0);
	assert_members("100 200 300");
	assert_int_equal(published_ms(), 0);
	assert_int_equal(tree->passes, 2);
	put_process((struct written){.pid = 200, .parent = 100, .start = 11, .user_ticks = 80});
	process_tree_touch(tree);
	assert_int_equal(published_ms(), 500);
}

static void a_job_that_is_missing_is_told(void **state)
{
	(void)state;
	assert_int_equal(process_tree_seed(tree, PIDS + 100, false), -ESRCH);
	assert_int_equal(tree->count, 0);
	/* One that is being reaped at this moment goes before the first pass ends. */
	put_process((struct written){.pid = 100, .parent = -1, .start = 10, .state = 'X'});
	assert_int_equal(process_tree_seed(tree, PIDS + 100, false), -ESRCH);
}

static void a_process_has_gone_with_its_file_or_its_start(void **state)
{
	(void)state;
	put_chain();
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	process_tree_touch(tree);
	/* Its number belongs to another process now. */
	put_process((struct written){.pid = 300, .parent = -1, .start = 13, .user_ticks = 900});
	put_children(200, 200, "");
	process_tree_touch(tree);
	assert_members("100 200");
	assert_int_equal(tree->exited_count, 1);
	assert_int_equal(published_ms(), 2340);
	put_process((struct written){.pid = 200, .parent = 100, .start = 11, .user_ticks = 30, .state = 'x'});
	process_tree_touch(tree);
	assert_members("100");
	assert_int_equal(tree->exited_count, 2);
	assert_non_null(process_tree_root(tree));
	assert_false(tree->root_gone);
	/* A parent that has waited for them has their time, which counts once. */
	put_children(100, 100, "");
	put_process((struct written){
		.pid = 100, .parent = -1, .start = 10, .user_ticks = 200, .waited_ticks = 34});
	process_tree_touch(tree);
	assert_int_equal(published_ms(), 2340);
	remove_process(100);
	process_tree_touch(tree);
	assert_int_equal(tree->count, 0);
	assert_int_equal(tree->exited_count, 3);
	assert_true(tree->root_gone);
	assert_null(process_tree_root(tree));
	assert_int_equal(published_ms(), 2340);
}

static void a_member_shows_its_state(void **state)
{
	(void)state;
	put_chain();
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	put_process((struct written){.pid = 200, .parent = 100, .start = 11, .state = 'Z', .flags = EXITING});
	put_process((struct written){.pid = 300, .parent = 200, .start = 12, .threads = 3});
	process_tree_touch(tree);
	/* A zombie has no list of children. */
	assert_members("100 200");
	assert_true(member_of(200)->is_zombie && member_of(200)->is_ending);
	assert_false(member_of(100)->is_zombie || member_of(100)->is_ending);
	/* Only its main thread has ended. */
	put_process((struct written){
		.pid = 200, .parent = 100, .start = 11, .state = 'Z', .flags = EXITING, .threads = 2});
	process_tree_touch(tree);
	assert_false(member_of(200)->is_zombie || member_of(200)->is_ending);
	assert_int_equal(member_of(200)->thread_count, 2);
	assert_int_equal(process_tree_find(tree, PIDS + 300)->thread_count, 3);
	put_process((struct written){.pid = 300, .parent = 200, .start = 12, .flags = 3 | 8});
	process_tree_touch(tree);
	assert_false(member_of(300)->is_ending);
}

static void a_new_parent_is_noted(void **state)
{
	(void)state;
	put_chain();
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	process_tree_touch(tree);
	member_of(300)->parent_reaped = member_of(200)->parent_reaped = true;
	put_process((struct written){.pid = 300, .parent = 100, .start = 12, .user_ticks = 4});
	process_tree_touch(tree);
	assert_int_equal(member_of(300)->parent_pid, PIDS + 100);
	assert_false(member_of(300)->parent_reaped);
	assert_true(member_of(200)->parent_reaped);
}

/* A list of children may lack one for a while. */
static void a_member_that_is_older_than_the_tracking_is_forgiven_its_use(void **state)
{
	(void)state;
	put_process((struct written){.pid = 100, .parent = -1, .start = 10});
	put_children(100, 100, "");
	assert_int_equal(process_tree_seed(tree, PIDS + 100, false), 0);
	tree->seeded_ticks = 50;
	put_process((struct written){.pid = 200, .parent = 100, .start = 49, .user_ticks = 70});
	put_process((struct written){.pid = 300, .parent = 100, .start = 50, .user_ticks = 3});
	put_children(100, 100, "7000200 7000300 ");
	process_tree_touch(tree);
	assert_members("100 200 300");
	assert_int_equal(published_ms(), 30);
	put_process((struct written){.pid = 200, .parent = 100, .start = 49, .user_ticks = 75});
	process_tree_touch(tree);
	assert_int_equal(published_ms(), 80);
}

/* Its file is there, but the kernel lets not even root read it. */
static void a_member_that_may_not_be_read_stays(void **state)
{
	static const char WRITE_ONLY[] = "/proc/sys/vm/compact_memory";
	char path[60];
	int fd = open(WRITE_ONLY, O_RDONLY | O_CLOEXEC);

	(void)state;
	if (fd >= 0 || errno != EACCES)
		SKIP("the kernel has no file that only can be written");
	put_chain();
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	process_tree_touch(tree);
	snprintf(path, sizeof path, "proc/%d/stat", PIDS + 200);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(WRITE_ONLY, path), 0);
	process_tree_touch(tree);
	assert_members("100 200 300");
	assert_true(member_of(200)->unreadable);
	assert_int_equal(published_ms(), 2340);
	assert_int_equal(unlink(path), 0);
	put_process((struct written){.pid = 200, .parent = 100, .start = 11, .user_ticks = 31});
	process_tree_touch(tree);
	assert_false(member_of(200)->unreadable);
	assert_int_equal(published_ms(), 2350);
}

/* A file that the kernel does not have is not one that may not be read. */
static void a_member_without_its_io_is_unreadable(void **state)
{
	(void)state;
	put_chain();
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	put_below_proc(PIDS + 200, "io",
		       "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 0\nwrite_bytes: 0\n"
		       "cancelled_write_bytes: 0\n");
	put_below_proc(PIDS + 300, "io", "damaged\n");
	process_tree_touch(tree);
	assert_false(member_of(100)->unreadable);
	assert_false(member_of(200)->unreadable);
	assert_true(member_of(300)->unreadable);
}

/* The counters of a program that tracks itself include the tracker's threads. */
static void the_threads_of_the_tracker_are_none_of_the_job(void **state)
{
	static const struct own_cost cost = {.threads = 2};

	(void)state;
	put_process((struct written){.pid = 100, .parent = -1, .start = 10, .threads = 5});
	put_process((struct written){.pid = 200, .parent = 100, .start = 11, .threads = 3});
	put_children(100, 100, "7000200 ");
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	cpu_set_own_cost(tree, &cost);
	process_tree_touch(tree);
	assert_int_equal(member_of(100)->thread_count, 3);
	assert_int_equal(member_of(200)->thread_count, 3);
	put_process((struct written){.pid = 100, .parent = -1, .start = 10, .threads = 1});
	process_tree_touch(tree);
	assert_int_equal(member_of(100)->thread_count, 0);
}

/* Pages that the machine allocates from now on may be those of a job that begins now. */
static void the_memory_of_a_started_job_begins_with_the_tracking(void **state)
{
	(void)state;
	put_process((struct written){.pid = 100, .parent = -1, .start = 10});
	put_text("proc/vmstat", "nr_free_pages 7\npgalloc_normal 1000\n");
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	assert_int_equal(tree->memory.between.base_kib, -4000);
	process_tree_free(tree);
	assert_int_equal(process_tree_new(&job_root, true, &tree), 0);
	assert_int_equal(process_tree_seed(tree, PIDS + 100, false), 0);
	assert_int_equal(tree->memory.between.base_kib, 0);
}

static void all_is_read_every_ten_seconds(void **state)
{
	(void)state;
	put_chain();
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	clock_ns += 10 * NSEC_PER_SEC - 1;
	process_tree_touch(tree);
	assert_false(tree->reads_all);
	assert_int_equal(tree->last_full_ns, 100 * NSEC_PER_SEC);
	clock_ns++;
	process_tree_touch(tree);
	assert_true(tree->reads_all);
	assert_int_equal(tree->last_full_ns, 110 * NSEC_PER_SEC);
	assert_int_equal(tree->changed_ns, 110 * NSEC_PER_SEC);
	assert_int_equal(tree->pass_ns, 110 * NSEC_PER_SEC);
	assert_int_equal(tree->pass_before_ns, 110 * NSEC_PER_SEC - 1);
	clock_ns += NSEC_PER_SEC;
	process_tree_touch(tree);
	assert_false(tree->reads_all);
}

/* Without clocks of processes, a look is a pass. */
static void a_look_without_clocks_is_a_pass(void **state)
{
	(void)state;
	put_chain();
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	assert_true(process_tree_look(tree));
	assert_int_equal(tree->passes, 1);
	assert_members("100 200 300");
}

/* ---- signals of children ------------------------------------------------------------------------------------- */

/* 200 is read again with these columns. `ids` is the line of its status, or NULL. */
static const struct member *read_with(long long flags, long long ignored, const char *ids)
{
	char text[100];

	snprintf(text, sizeof text, "Name:\tjob\nTgid:\t200\n%s", ids ? ids : "");
	put_below_proc(PIDS + 200, "status", text);
	put_process(
		(struct written){.pid = 200, .parent = 100, .start = 11, .flags = flags, .ignored = ignored});
	process_tree_touch(tree);
	return member_of(200);
}

static void begin_chain(void)
{
	put_chain();
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	process_tree_touch(tree);
	assert_false(tree->sigchld_ignored);
}

static void a_process_that_ignores_its_children_is_noted(void **state)
{
	(void)state;
	begin_chain();
	assert_false(read_with(0, SIGCHLD_IGNORED << 1 | SIGCHLD_IGNORED >> 1, NULL)->ignores_sigchld);
	assert_false(tree->sigchld_ignored);
	assert_true(read_with(0, SIGCHLD_IGNORED, NULL)->ignores_sigchld);
	assert_true(tree->sigchld_ignored);
	/* It was so before it began to exit. */
	assert_false(read_with(EXITING, SIGCHLD_IGNORED, "NSpid:\t200\t1\n")->tears_down);
	assert_true(member_of(200)->ignores_sigchld);
	assert_false(read_with(0, 0, NULL)->ignores_sigchld);
	assert_true(tree->sigchld_ignored);
}

static void the_first_process_of_a_namespace_tears_it_down(void **state)
{
	(void)state;
	begin_chain();
	assert_true(read_with(EXITING, SIGCHLD_IGNORED, "NSpid:\t200\t1\n")->tears_down);
	assert_false(member_of(200)->ignores_sigchld);
	assert_false(tree->sigchld_ignored);
	/* That stays so. */
	assert_true(read_with(0, SIGCHLD_IGNORED, "NSpid:\t200\n")->tears_down);
	assert_false(member_of(200)->ignores_sigchld);
}

static void other_processes_tear_nothing_down(void **state)
{
	static const char *const OTHERS[] = {"NSpid:\t200\n", "NSpid:\t1\n", "NSpid:\t200\t1\t2\n",
					     "NSpid:\t200\t2\n"};

	(void)state;
	begin_chain();
	for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
		assert_false(read_with(EXITING, SIGCHLD_IGNORED, OTHERS[i])->tears_down);
		assert_true(member_of(200)->ignores_sigchld);
		assert_false(read_with(0, 0, NULL)->ignores_sigchld);
	}
	/* Without its status, it is like any other. */
	put_process((struct written){
		.pid = 200, .parent = 100, .start = 11, .flags = EXITING, .ignored = SIGCHLD_IGNORED});
	put_below_proc(PIDS + 200, "status", "");
	process_tree_touch(tree);
	assert_false(member_of(200)->tears_down);
	assert_false(read_with(0, 0, NULL)->ignores_sigchld);
	/* Linux before 4.1 does not tell. One whose children were listed did not ignore them before. */
	assert_true(read_with(EXITING, SIGCHLD_IGNORED, NULL)->tears_down);
}

/* ---- what the caller reaps ------------------------------------------------------------------------------------- */

static struct rusage used_ms(int ms)
{
	return (struct rusage){.ru_utime = {.tv_usec = 1000 * ms}};
}

static void reap(int pid, int ms)
{
	struct rusage usage = used_ms(ms);

	process_tree_before_reap(tree, PIDS + pid);
	remove_process(pid);
	process_tree_add_exited(tree, PIDS + pid, &usage);
}

static void a_reaped_process_counts_once(void **state)
{
	(void)state;
	put_process((struct written){.pid = 100, .parent = -1, .start = 10, .user_ticks = 20});
	put_children(100, 100, "");
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	process_tree_touch(tree);
	assert_int_equal(published_ms(), 200);
	put_process((struct written){.pid = 100, .parent = -1, .start = 10, .user_ticks = 25, .state = 'Z'});
	process_tree_before_reap(tree, PIDS + 100);
	assert_int_equal(tree->count, 1);
	assert_true(member_of(100)->is_zombie);
	reap(100, 255);
	assert_int_equal(tree->count, 0);
	assert_int_equal(tree->exited_count, 1);
	process_tree_touch(tree);
	assert_int_equal(published_ms(), 255);
}

static void unknown_and_excluded_processes_that_are_reaped(void **state)
{
	struct rusage usage = used_ms(100);

	(void)state;
	begin_chain();
	process_tree_exclude(tree, PIDS + 800);
	process_tree_before_reap(tree, PIDS + 800);
	process_tree_add_exited(tree, PIDS + 800, &usage);
	assert_int_equal(tree->exited_count, 0);
	process_tree_add_exited(tree, PIDS + 900, &usage);
	assert_int_equal(tree->exited_count, 1);
	process_tree_touch(tree);
	assert_int_equal(published_ms(), 2340 + 100);
	/* The root went in a pass, which has counted it. */
	for (int i = 0; i < 4; i++) {
		tree->cpu.root_vanished = i & 1;
		tree->root_pid = PIDS + (i & 2 ? 900 : 100);
		process_tree_add_exited(tree, PIDS + 900, &usage);
		assert_int_equal(tree->exited_count, i < 3 ? 2 + i : 4);
	}
}

/* A damaged file tells fewer threads than none. */
static void a_process_has_no_fewer_threads_than_none(void **state)
{
	(void)state;
	put_process((struct written){.pid = 100, .parent = -1, .start = 10, .threads = -3});
	put_children(100, 100, "");
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	assert_int_equal(member_of(100)->thread_count, 0);
	process_tree_touch(tree);
	assert_int_equal(member_of(100)->thread_count, 0);
}

/* A child that has gone as well is in its sum. One that lives has a new parent. */
static void children_of_a_reaped_process_have_their_figures_in_its_own(void **state)
{
	(void)state;
	begin_chain();
	put_process((struct written){.pid = 400, .parent = 200, .start = 12});
	assert_int_equal(discover_process(tree, PIDS + 400), 0);
	put_process((struct written){.pid = 400, .parent = 100, .start = 12});
	remove_process(300);
	reap(200, 300);
	assert_members("100 300 400");
	assert_true(member_of(300)->parent_reaped);
	assert_int_equal(member_of(300)->parent_pid, PIDS + 100);
	assert_false(member_of(400)->parent_reaped || member_of(100)->parent_reaped);
	assert_int_equal(tree->exited_count, 1);
}

/* SA_NOCLDWAIT does not show below /proc: the faults of a child that has gone are not among those that wait4(2) tells. */
static void children_that_a_reaped_process_discarded_make_the_time_a_bound(void **state)
{
	(void)state;
	for (int discards = 0; discards <= 1; discards++) {
		struct rusage usage = used_ms(100);

		begin_chain();
		member_of(100)->cpu.account.own.of[USAGE_MINOR_FAULTS] = 50;
		member_of(200)->cpu.account.own.of[USAGE_MINOR_FAULTS] = 20;
		usage.ru_minflt = discards ? 50 : 70;
		remove_process(200);
		remove_process(300);
		process_tree_add_exited(tree, PIDS + 100, &usage);
		remove_process(100);
		assert_true(member_of(200)->parent_reaped == !discards);
		assert_false(cpu_may_lack_children(tree));
		process_tree_touch(tree);
		assert_members("");
		assert_true(cpu_may_lack_children(tree) == discards);
		/* The job's own group counts them. */
		tree->cgroup_folder = 7;
		assert_false(cpu_may_lack_children(tree));
		tree->cgroup_folder = -1;
		process_tree_free(tree);
		assert_int_equal(process_tree_new(&job_root, true, &tree), 0);
	}
}

/* The kernel has discarded what was below it, but 400 is beside it. */
static void descendants_of_one_that_ignores_its_children_go_along(void **state)
{
	(void)state;
	put_chain();
	put_children(100, 100, "7000200 7000400 ");
	put_process((struct written){.pid = 400, .parent = 100, .start = 12});
	put_children(300, 300, "7000500 ");
	put_process((struct written){.pid = 500, .parent = 300, .start = 13});
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	process_tree_touch(tree);
	assert_members("100 200 400 300 500");
	put_process((struct written){
		.pid = 200, .parent = 100, .start = 11, .user_ticks = 30, .ignored = SIGCHLD_IGNORED});
	reap(200, 300);
	assert_members("100 400");
	assert_int_equal(tree->exited_count, 3);
}

/* The tracker's own bytes are read before it reaps, so that those of the child can be told from them. */
static void nothing_is_read_for_a_child_that_is_not_the_jobs(void **state)
{
	(void)state;
	begin_chain();
	assert_int_equal(mkdir("proc/self", 0700), 0);
	put_text("proc/self/io", "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 0\nwrite_bytes: 0\n"
				 "cancelled_write_bytes: 0\n");
	process_tree_exclude(tree, PIDS + 800);
	job_root.live = true;
	process_tree_before_reap(tree, PIDS + 800);
	assert_false(tree->cpu.account.has_self_io_before);
	process_tree_before_reap(tree, PIDS + 900);
	assert_true(tree->cpu.account.has_self_io_before);
	job_root.live = false;
}

/* The time of 300 is in the figures of 200 if that has waited for it. Otherwise the kernel has discarded it. */
static void a_namespace_that_was_torn_down_may_have_lost_children(void **state)
{
	(void)state;
	for (int lost = 0; lost <= 1; lost++) {
		struct rusage usage = used_ms(lost ? 300 : 340);

		begin_chain();
		member_of(200)->tears_down = true;
		remove_process(300);
		process_tree_add_exited(tree, PIDS + 200, &usage);
		assert_members("100");
		assert_int_equal(tree->exited_count, 2);
		assert_int_equal(tree->sigchld_ignored, lost);
		process_tree_free(tree);
		assert_int_equal(process_tree_new(&job_root, true, &tree), 0);
	}
}

/* It waited for no child, so that wait4(2) tells the largest memory of itself. */
static void the_largest_memory_of_a_process_alone_is_that_of_wait4(void **state)
{
	struct rusage usage = used_ms(300);

	(void)state;
	for (int faults = 0; faults <= 1; faults++) {
		begin_chain();
		member_of(200)->memory.was_counted = true;
		usage.ru_maxrss = 5000;
		usage.ru_minflt = faults;
		process_tree_add_exited(tree, PIDS + 200, &usage);
		assert_int_equal(tree->memory.between.seen_kib, faults ? 0 : 5000);
		process_tree_free(tree);
		assert_int_equal(process_tree_new(&job_root, true, &tree), 0);
	}
}

static void one_process_alone_has_no_children(void **state)
{
	(void)state;
	process_tree_free(tree);
	assert_int_equal(process_tree_new(&job_root, false, &tree), 0);
	put_chain();
	put_process((struct written){
		.pid = 100, .parent = -1, .start = 10, .user_ticks = 200, .waited_ticks = 70});
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	process_tree_touch(tree);
	assert_members("100");
	assert_int_equal(published_ms(), 2000);
	assert_int_equal(tree->cgroup_folder, -1);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		JOB_TEST(earlier_use_counts_if_the_caller_has_started_the_job),
		JOB_TEST(earlier_use_of_an_attached_job_does_not_count),
		JOB_TEST(a_job_that_is_missing_is_told),
		JOB_TEST(a_process_has_gone_with_its_file_or_its_start),
		JOB_TEST(a_member_shows_its_state),
		JOB_TEST(a_new_parent_is_noted),
		JOB_TEST(a_member_that_is_older_than_the_tracking_is_forgiven_its_use),
		JOB_TEST(a_member_that_may_not_be_read_stays),
		JOB_TEST(a_member_without_its_io_is_unreadable),
		JOB_TEST(the_threads_of_the_tracker_are_none_of_the_job),
		JOB_TEST(the_memory_of_a_started_job_begins_with_the_tracking),
		JOB_TEST(all_is_read_every_ten_seconds),
		JOB_TEST(a_look_without_clocks_is_a_pass),
		JOB_TEST(a_process_that_ignores_its_children_is_noted),
		JOB_TEST(the_first_process_of_a_namespace_tears_it_down),
		JOB_TEST(other_processes_tear_nothing_down),
		JOB_TEST(a_reaped_process_counts_once),
		JOB_TEST(unknown_and_excluded_processes_that_are_reaped),
		JOB_TEST(a_process_has_no_fewer_threads_than_none),
		JOB_TEST(children_of_a_reaped_process_have_their_figures_in_its_own),
		JOB_TEST(children_that_a_reaped_process_discarded_make_the_time_a_bound),
		JOB_TEST(descendants_of_one_that_ignores_its_children_go_along),
		JOB_TEST(nothing_is_read_for_a_child_that_is_not_the_jobs),
		JOB_TEST(a_namespace_that_was_torn_down_may_have_lost_children),
		JOB_TEST(the_largest_memory_of_a_process_alone_is_that_of_wait4),
		JOB_TEST(one_process_alone_has_no_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
