/* Tests of src/job/cpu/job_cpu.c and own_cost.c: the sums of a job, from members and a control group that this test makes. */
#include "scratch.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "job/cpu/cpu_tuning.h"
#include "job/cpu/job_cpu.h"
#include "job/cpu/own_cost.h"

enum { JOB = 100, MOST = 3 };

static struct root root;
static struct process_tree tree;
static struct member members[MOST];

static int begin(void **state)
{
	if (scratch_enter(state) < 0 || root_open(&root, ".", NULL) < 0)
		return -1;
	memset(members, 0, sizeof members);
	tree = (struct process_tree){.root = &root,
				     .root_pid = JOB,
				     .with_children = true,
				     .cgroup_folder = -1,
				     .members = members};
	cpu_open(&tree);
	return 0;
}

static int end(void **state)
{
	cpu_done(&tree);
	if (tree.cgroup_folder >= 0)
		close(tree.cgroup_folder);
	root_close(&root);
	return scratch_leave(state);
}

static int64_t msec(int64_t count)
{
	return count * NSEC_PER_MSEC;
}

/* A member with its CPU time, half of it in user mode, and its faults. */
static struct member *add(pid_t pid, int64_t cpu_ns, int64_t faults)
{
	struct member *member = &members[tree.count++];

	member->pid = pid;
	member->cpu.account.own.of[USAGE_CPU_NS] = cpu_ns;
	member->cpu.account.own.of[USAGE_UTIME_NS] = cpu_ns / 2;
	member->cpu.account.own.of[USAGE_MINOR_FAULTS] = faults;
	return member;
}

static void put_group(const char *cpu_stat)
{
	put_text("cpu.stat", cpu_stat);
	if (tree.cgroup_folder < 0)
		tree.cgroup_folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int64_t published(enum usage usage)
{
	return cpu_published(&tree)->of[usage];
}

static void members_and_reaped_processes_are_added_up(void **state)
{
	(void)state;
	add(JOB, msec(300), 5);
	add(101, msec(200), 7);
	tree.cpu.account.reaped.of[USAGE_CPU_NS] = msec(50);
	tree.cpu.account.retired.of[USAGE_CPU_NS] = msec(4);
	cpu_end_pass(&tree);
	assert_int_equal(published(USAGE_CPU_NS), msec(554));
	assert_int_equal(published(USAGE_UTIME_NS), msec(250));
	assert_int_equal(published(USAGE_MINOR_FAULTS), 12);
	assert_int_equal(tree.cpu.unseen_faults, 0);
	assert_string_equal(cpu_source(&tree), "stat");
	tree.uses_clock = true;
	assert_string_equal(cpu_source(&tree), "clock");
}

/* A group counts what no process was told: 100 ms more, of which it divides a quarter to user mode. */
static void a_group_of_its_own_has_all_time(void **state)
{
	(void)state;
	add(JOB, msec(300), 0);
	tree.cpu.account.reaped.of[USAGE_CPU_NS] = msec(100);
	put_group("usage_usec 500000\nuser_usec 125000\n");
	cpu_end_pass(&tree);
	assert_int_equal(published(USAGE_CPU_NS), msec(500));
	assert_int_equal(published(USAGE_UTIME_NS), msec(150) + msec(25));
	assert_int_equal(tree.cpu.in_nobody_ns, msec(100));
	assert_string_equal(cpu_source(&tree), "cgroup");
}

/* Processes that left it are not in it. */
static void a_certain_sum_is_not_lowered_by_a_group(void **state)
{
	(void)state;
	add(JOB, msec(300), 0);
	tree.cpu.account.reaped.of[USAGE_CPU_NS] = msec(100);
	put_group("usage_usec 350000\nuser_usec 350000\n");
	cpu_end_pass(&tree);
	assert_int_equal(published(USAGE_CPU_NS), msec(400));
	assert_int_equal(published(USAGE_UTIME_NS), msec(150));
	assert_int_equal(tree.cpu.in_nobody_ns, -msec(50));
}

/* Carried and settled time is an estimate: no sum that is right has it. */
static void an_estimate_is_not_taken_above_a_group(void **state)
{
	struct member *member = add(JOB, msec(300), 0);

	(void)state;
	member->cpu.account.settled.of[USAGE_CPU_NS] = msec(40);
	put_group("usage_usec 320000\nuser_usec 160000\n");
	cpu_end_pass(&tree);
	assert_int_equal(published(USAGE_CPU_NS), msec(320));
	assert_int_equal(published(USAGE_UTIME_NS), msec(150));
}

static void a_group_that_has_counted_nothing_yet_is_read(void **state)
{
	struct member *member = add(JOB, msec(300), 0);

	(void)state;
	member->cpu.account.settled.of[USAGE_CPU_NS] = msec(40);
	put_group("usage_usec 0\nuser_usec 0\n");
	cpu_end_pass(&tree);
	assert_int_equal(published(USAGE_CPU_NS), msec(300));
	assert_int_equal(tree.cpu.in_nobody_ns, -msec(340));
}

static void a_group_that_does_not_count_is_left_out(void **state)
{
	(void)state;
	add(JOB, msec(300), 0);
	put_group("user_usec 900000\n");
	cpu_end_pass(&tree);
	assert_int_equal(published(USAGE_CPU_NS), msec(300));
	/* It has descendants, which are not wanted. */
	tree.with_children = false;
	put_group("usage_usec 900000\nuser_usec 0\n");
	cpu_end_pass(&tree);
	assert_int_equal(published(USAGE_CPU_NS), msec(300));
	tree.with_children = true;
	put_group("usage_usec 900000\n");
	cpu_end_pass(&tree);
	assert_int_equal(published(USAGE_CPU_NS), msec(900));
	assert_int_equal(published(USAGE_UTIME_NS), msec(150));
}

/* After the end, 20 ms and a twentieth of what was told are not taken for lost. */
static void time_that_no_process_was_told_is_lost(void **state)
{
	(void)state;
	add(JOB, msec(1000), 0)->is_zombie = true;
	put_group("usage_usec 1070000\nuser_usec 0\n");
	cpu_end_pass(&tree);
	assert_false(cpu_has_lost_usage(&tree));
	put_group("usage_usec 1070001\nuser_usec 0\n");
	cpu_end_pass(&tree);
	assert_true(cpu_has_lost_usage(&tree));
	members[0].is_zombie = false;
	assert_false(cpu_has_lost_usage(&tree));
}

/* ---- unseen processes -------------------------------------------------------------------------------------- */

static void faults_that_no_member_explains_are_unseen_processes(void **state)
{
	struct member *member = add(JOB, 0, 100);

	(void)state;
	member->cpu.account.own_before.of[USAGE_MINOR_FAULTS] = 40;
	member->cpu.account.before.of[USAGE_MINOR_FAULTS] = 40;
	member->cpu.account.waited.of[USAGE_MINOR_FAULTS] = 3;
	cpu_end_pass(&tree);
	assert_int_equal(tree.cpu.unseen_faults, 3);
	assert_false(tree.cpu.exits_missed);
	member->cpu.account.waited.of[USAGE_MINOR_FAULTS] = 4;
	cpu_end_pass(&tree);
	assert_true(tree.cpu.exits_missed);
	/* One that has left explains its own. */
	tree.cpu.exits_missed = false;
	cpu_member_left(&tree, &(struct member){.pid = 7, .cpu.account.own.of[USAGE_MINOR_FAULTS] = 2});
	cpu_end_pass(&tree);
	assert_int_equal(tree.cpu.unseen_faults, 2);
	assert_false(tree.cpu.exits_missed);
	tree.sigchld_ignored = true;
	cpu_end_pass(&tree);
	assert_true(tree.cpu.exits_missed);
	cpu_forgive(&tree);
	assert_false(tree.cpu.exits_missed);
	assert_int_equal(tree.cpu.exited_faults, 0);
	tree.sigchld_ignored = false;
	cpu_end_pass(&tree);
	assert_int_equal(published(USAGE_MINOR_FAULTS), 0);
	assert_int_equal(published(USAGE_CPU_NS), 0);
}

/* ---- the root ---------------------------------------------------------------------------------------------- */

static struct rusage usage_of(int64_t user_ms, int64_t system_ms)
{
	return (struct rusage){.ru_utime = {.tv_usec = user_ms * 1000},
			       .ru_stime = {.tv_usec = system_ms * 1000}};
}

static void let_root_vanish(int64_t own_ms, int64_t waited_ms)
{
	struct member gone = {.pid = JOB};

	gone.cpu.account.own.of[USAGE_CPU_NS] = msec(own_ms);
	gone.cpu.account.waited.of[USAGE_CPU_NS] = msec(waited_ms);
	tree.cpu.account.retired.of[USAGE_CPU_NS] = msec(own_ms + waited_ms);
	cpu_member_left(&tree, &gone);
	cpu_end_pass(&tree);
}

/* Less than a tick may be due to rounding. More is the use after the last reading. */
static void its_parent_tells_the_rest_of_the_root(void **state)
{
	(void)state;
	let_root_vanish(300, 100);
	assert_true(tree.cpu.root_vanished);
	cpu_root_was_waited_for(&tree, &(struct rusage){.ru_utime = {.tv_usec = 409999}});
	assert_int_equal(published(USAGE_CPU_NS), msec(400));
	assert_false(tree.cpu.root_vanished);
	tree.cpu.root_vanished = true;
	cpu_root_was_waited_for(&tree, &(struct rusage){.ru_utime = {.tv_usec = 410000}});
	assert_int_equal(published(USAGE_CPU_NS), msec(410));
	assert_false(tree.cpu.root_vanished);
}

/* A parent that ignores SIGCHLD is told nothing. */
static void a_parent_that_was_told_less_is_not_believed(void **state)
{
	struct rusage usage = usage_of(200, 180);

	(void)state;
	let_root_vanish(300, 100);
	cpu_root_was_waited_for(&tree, &usage);
	assert_false(tree.cpu.root_vanished);
	let_root_vanish(300, 100);
	usage = usage_of(200, 179);
	cpu_root_was_waited_for(&tree, &usage);
	assert_true(tree.cpu.root_vanished);
	assert_int_equal(published(USAGE_CPU_NS), msec(400));
}

/* Its figures have those of its last children, if it has waited for them: up to two ticks are the kernel's rounding. */
static void children_of_the_root_are_dropped_once_its_figures_have_them(void **state)
{
	(void)state;
	for (int lacks_ms = 20; lacks_ms < 22; lacks_ms++) {
		struct rusage usage = usage_of(200, 250 - lacks_ms);
		struct usages told;

		let_root_vanish(300, 100);
		tree.cpu.root_children =
			(struct account){.carries = true, .carried.of = {[USAGE_CPU_NS] = msec(50)}};
		assert_true(cpu_add_reaped(&tree, JOB, NULL, &usage, &told));
		assert_int_equal(tree.cpu.root_children.carried.of[USAGE_CPU_NS],
				 lacks_ms > 20 ? msec(50) : 0);
	}
}

static void a_root_that_was_reaped_has_not_vanished(void **state)
{
	(void)state;
	cpu_member_left(&tree, &(struct member){.pid = JOB, .cpu.is_reaped = true});
	assert_false(tree.cpu.root_vanished);
	cpu_member_left(&tree, &(struct member){.pid = 101});
	assert_false(tree.cpu.root_vanished);
	cpu_member_left(&tree, &(struct member){.pid = JOB});
	assert_true(tree.cpu.root_vanished);
}

/* It may have waited for further children after its last reading. */
static void a_root_that_has_waited_may_lack_children(void **state)
{
	struct member gone = {.pid = JOB};

	(void)state;
	cpu_member_left(&tree, &gone);
	assert_false(cpu_may_lack_children(&tree));
	gone.cpu.account.waited.of[USAGE_MINOR_FAULTS] = 5;
	cpu_member_left(&tree, &gone);
	assert_true(cpu_may_lack_children(&tree));
	tree.cgroup_folder = 0;
	assert_false(cpu_may_lack_children(&tree));
	assert_string_equal(cpu_source(&tree), "cgroup");
	tree.cgroup_folder = -1;
	/* All of it was before the recording. */
	gone.cpu.account.own_before.of[USAGE_MINOR_FAULTS] = 2;
	gone.cpu.account.before.of[USAGE_MINOR_FAULTS] = 7;
	cpu_member_left(&tree, &gone);
	assert_false(cpu_may_lack_children(&tree));
	gone.cpu.account.carries = true;
	cpu_member_left(&tree, &gone);
	assert_true(cpu_may_lack_children(&tree));
	tree.cpu.root_vanished = false;
	assert_false(cpu_may_lack_children(&tree));
}

/* ---- processes that were reaped ---------------------------------------------------------------------------- */

static void a_reaped_process_counts_with_its_children(void **state)
{
	struct rusage usage = usage_of(200, 180);
	struct usages told;

	(void)state;
	assert_true(cpu_add_reaped(&tree, 101, NULL, &usage, &told));
	assert_int_equal(told.of[USAGE_CPU_NS], msec(380));
	assert_int_equal(told.of[USAGE_UTIME_NS], msec(200));
	assert_int_equal(tree.cpu.account.reaped.of[USAGE_CPU_NS], msec(380));
	/* With the root alone, only its own use counts, as it was read. */
	tree.with_children = false;
	assert_false(cpu_add_reaped(&tree, 101, NULL, &usage, &told));
	assert_true(cpu_add_reaped(&tree, JOB, add(JOB, msec(70), 0), &usage, &told));
	assert_int_equal(told.of[USAGE_CPU_NS], msec(70));
	assert_int_equal(tree.cpu.account.reaped.of[USAGE_CPU_NS], msec(450));
	assert_true(cpu_add_reaped(&tree, JOB, NULL, &usage, &told));
	assert_int_equal(told.of[USAGE_CPU_NS], msec(380));
}

static void faults_tell_whether_a_process_waited_for_another(void **state)
{
	struct member *member = add(JOB, 0, 9);
	struct usages told = {.of = {[USAGE_MINOR_FAULTS] = 9, [USAGE_MAJOR_FAULTS] = 1}};

	(void)state;
	member->cpu.account.own.of[USAGE_MAJOR_FAULTS] = 1;
	assert_true(cpu_has_waited_for_none(member, &told));
	told.of[USAGE_MAJOR_FAULTS] = 2;
	assert_false(cpu_has_waited_for_none(member, &told));
	told.of[USAGE_MAJOR_FAULTS] = 1, told.of[USAGE_MINOR_FAULTS] = 10;
	assert_false(cpu_has_waited_for_none(member, &told));
}

static void a_retired_member_leaves_the_time_that_no_process_waited_for(void **state)
{
	struct member *member = add(JOB, msec(100), 6);
	struct usages told = {.of = {[USAGE_CPU_NS] = msec(100)}};

	(void)state;
	assert_false(cpu_retire(&tree, member, &told));
	assert_true(member->cpu.is_reaped);
	assert_int_equal(tree.cpu.exited_faults, 6);
	assert_true(account_is_empty(&member->cpu.account));
	member = add(101, msec(100), 0);
	account_carry(&member->cpu.account,
		      &(struct account){.own.of[USAGE_CPU_NS] = msec(500), .own.of[USAGE_MINOR_FAULTS] = 3});
	assert_true(cpu_retire(&tree, member, &told));
}

/* ---- the cost of a tracker in its own program -------------------------------------------------------------- */

static volatile double burnt;

static void burn(void)
{
	for (int64_t begun_ns = thread_cpu_now_ns(); thread_cpu_now_ns() - begun_ns < 3 * NSEC_PER_MSEC;)
		burnt += 1;
}

static void the_cost_is_the_time_between_begin_and_end(void **state)
{
	struct own_cost cost = {.with_io = false};
	int64_t begun_ns, spent_ns;

	(void)state;
	assert_int_equal(own_cost_cpu_ns(&cost), 0);
	begun_ns = thread_cpu_now_ns();
	own_cost_begin(&cost, &root);
	burn();
	/* To begin twice is to begin once. */
	own_cost_begin(&cost, &root);
	assert_true(own_cost_cpu_ns(&cost) >= 3 * NSEC_PER_MSEC);
	own_cost_end(&cost, &root);
	spent_ns = own_cost_cpu_ns(&cost);
	assert_true(spent_ns >= 3 * NSEC_PER_MSEC && spent_ns <= thread_cpu_now_ns() - begun_ns);
	burn();
	assert_int_equal(own_cost_cpu_ns(&cost), spent_ns);
	own_cost_end(&cost, &root);
	assert_int_equal(own_cost_cpu_ns(&cost), spent_ns);
	own_cost_begin(&cost, &root);
	burn();
	own_cost_end(&cost, &root);
	assert_true(own_cost_cpu_ns(&cost) >= spent_ns + 3 * NSEC_PER_MSEC);
	assert_true(own_cost_cpu_ns(&cost) <= thread_cpu_now_ns() - begun_ns);
}

/* Pages that are touched for the first time are faults. */
static void the_rest_has_faults_and_no_time(void **state)
{
	enum { PAGES = 40, PAGE = 4096 };
	struct own_cost cost = {.with_io = false};
	volatile char *memory =
		mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct usages rest;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_true(memory != MAP_FAILED);
	own_cost_begin(&cost, &root);
	for (int i = 0; i < PAGES; i++)
		memory[i * PAGE] = 1;
	rest = own_cost_rest(&cost, &root);
	assert_int_equal(rest.of[USAGE_CPU_NS], 0);
	assert_true(rest.of[USAGE_MINOR_FAULTS] >= 1 && rest.of[USAGE_MINOR_FAULTS] < 100 * PAGES);
	own_cost_end(&cost, &root);
	rest = own_cost_rest(&cost, &root);
	assert_int_equal(rest.of[USAGE_CPU_NS], 0);
	assert_int_equal(rest.of[USAGE_MINOR_FAULTS], cost.spent.of[USAGE_MINOR_FAULTS]);
	munmap((void *)(uintptr_t)memory, PAGES * PAGE);
}

/* The kernel adds the I/O of a child to this process when it is reaped. Without one, nothing is added. */
static void a_child_without_bytes_adds_none(void **state)
{
	const struct rusage usage = {0};
	struct root live;
	struct usages told;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(root_open(&live, NULL, NULL), 0);
	tree.root = &live;
	cpu_before_reap(&tree, NULL);
	if (tree.cpu.account.has_self_io_before) {
		tree.cpu.io_error = EACCES;
		assert_true(cpu_add_reaped(&tree, 101, NULL, &usage, &told));
		assert_int_equal(told.of[USAGE_READ_CHARS], 0);
		assert_int_equal(told.of[USAGE_WRITTEN_CHARS], 0);
		assert_int_equal(tree.cpu.io_error, EACCES);
		/* Bytes in between are those of the child. */
		cpu_before_reap(&tree, NULL);
		put_text("some", "12345");
		assert_true(cpu_add_reaped(&tree, JOB, NULL, &usage, &told));
		assert_int_equal(told.of[USAGE_WRITTEN_CHARS], 5);
		assert_int_equal(told.of[USAGE_READ_CHARS], 0);
		assert_true(tree.cpu.io_known);
		assert_int_equal(tree.cpu.io_error, 0);
	}
	kept_file_close(&tree.cpu.self_io_file);
	tree.root = &root;
	root_close(&live);
}

#define IO(chars, bytes) \
	"rchar: " #chars "\nwchar: 7\nsyscr: 1\nsyscw: 1\nread_bytes: " #bytes \
	"\nwrite_bytes: 0\ncancelled_write_bytes: 0\n"

/* The files of a live system are those of this test. */
static void the_bytes_of_the_recording_thread_are_its_cost(void **state)
{
	struct own_cost cost = {.with_io = true};
	struct kept_file file = KEPT_FILE("proc/self/io");
	struct usages io, rest;
	char path[60];

	(void)state;
	snprintf(path, sizeof path, "proc/self/task/%d", (int)syscall(SYS_gettid));
	assert_int_equal(mkdir("proc", 0755) | mkdir("proc/self", 0755) | mkdir("proc/self/task", 0755) |
				 mkdir(path, 0755),
			 0);
	snprintf(path, sizeof path, "proc/self/task/%d/io", (int)syscall(SYS_gettid));
	put_text(path, IO(100, 4096));
	put_text("proc/self/io", IO(1000, 8192));
	root.live = true;
	own_cost_begin(&cost, &root);
	put_text(path, IO(150, 4096));
	rest = own_cost_rest(&cost, &root);
	assert_int_equal(rest.of[USAGE_READ_CHARS], 50);
	assert_int_equal(rest.of[USAGE_READ_BYTES], 0);
	own_cost_end(&cost, &root);
	put_text(path, IO(990, 9999));
	own_cost_begin(&cost, &root);
	put_text(path, IO(991, 10000));
	own_cost_end(&cost, &root);
	assert_int_equal(cost.spent.of[USAGE_READ_CHARS], 51);
	assert_int_equal(cost.spent.of[USAGE_READ_BYTES], 1);
	/* Not asked for. */
	cost = (struct own_cost){.with_io = false};
	own_cost_begin(&cost, &root);
	put_text(path, IO(9999, 99999));
	own_cost_end(&cost, &root);
	assert_int_equal(cost.spent.of[USAGE_READ_CHARS], 0);
	assert_int_equal(own_cost_read_io(&root, &file, &io), sizeof IO(1000, 8192) - 1);
	assert_int_equal(io.of[USAGE_READ_CHARS], 1000);
	assert_int_equal(io.of[USAGE_READ_BYTES], 8192);
	assert_int_equal(io.of[USAGE_CPU_NS], 0);
	put_text("proc/self/io", "");
	assert_int_equal(own_cost_read_io(&root, &file, &io), -EBADMSG);
	root.live = false;
	assert_int_equal(own_cost_read_io(&root, &file, &io), -ENOENT);
	kept_file_close(&file);
}

/* Lays the counters of this process out as those of a live system. */
static void put_own_io(int64_t read_chars, int64_t read_bytes)
{
	char text[256];

	root.live = true;
	(void)mkdir("proc", 0755);
	(void)mkdir("proc/self", 0755);
	snprintf(text, sizeof text,
		 "rchar: %lld\nwchar: 7\nsyscr: 1\nsyscw: 1\nread_bytes: %lld\nwrite_bytes: 0\n"
		 "cancelled_write_bytes: 0\n",
		 (long long)read_chars, (long long)read_bytes);
	put_text("proc/self/io", text);
}

/* They are added to those of its reaper, beside the bytes of the reading before. */
static void the_bytes_of_a_reaped_child_are_its_own(void **state)
{
	const struct rusage usage = {0};
	struct usages told;
	struct stat reading;

	(void)state;
	/* Without a reading before, the bytes of this process are not those of a child. */
	put_own_io(5000, 4096);
	assert_true(cpu_add_reaped(&tree, 101, NULL, &usage, &told));
	assert_int_equal(told.of[USAGE_READ_CHARS], 0);
	cpu_before_reap(&tree, NULL);
	assert_int_equal(stat("proc/self/io", &reading), 0);
	put_own_io(5000 + reading.st_size + 50, 4096 + 1);
	assert_true(cpu_add_reaped(&tree, 101, NULL, &usage, &told));
	assert_int_equal(told.of[USAGE_READ_CHARS], 50);
	assert_int_equal(told.of[USAGE_READ_BYTES], 1);
	assert_int_equal(told.of[USAGE_WRITTEN_CHARS], 0);
	/* One reading counts for one child. */
	put_own_io(9000, 9000);
	assert_true(cpu_add_reaped(&tree, 101, NULL, &usage, &told));
	assert_int_equal(told.of[USAGE_READ_CHARS], 0);
	/* Counters that went back tell nothing. */
	cpu_before_reap(&tree, NULL);
	put_own_io(100, 100);
	assert_true(cpu_add_reaped(&tree, 101, NULL, &usage, &told));
	assert_int_equal(told.of[USAGE_READ_CHARS], 0);
	assert_int_equal(told.of[USAGE_READ_BYTES], 0);
}

/* How often this thread has slept. */
static long sleeps(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_nvcsw;
}

/* Threads whose files were looked at get a moment before their process is waited for. */
static void only_threads_of_a_live_system_get_time_to_vanish(void **state)
{
	struct member_threads threads = {0};
	struct member member = {.pid = JOB};
	int64_t begun_ns;
	long before;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	root.live = true;
	before = sleeps();
	cpu_before_reap(&tree, &member);
	assert_int_equal(sleeps(), before);
	member.cpu.threads = &threads;
	begun_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);
	cpu_before_reap(&tree, &member);
	assert_true(SYSTEM_CLOCKS.monotonic_ns(NULL) - begun_ns >= THREADS_VANISH_NS);
	root.live = false;
	before = sleeps();
	cpu_before_reap(&tree, &member);
	assert_int_equal(sleeps(), before);
}

/* A file of this machine says nothing of a captured one. */
static void the_bytes_of_this_process_are_read_on_a_live_system(void **state)
{
	struct kept_file file = KEPT_FILE("proc/self/io");
	struct root live;
	struct usages io, later;
	int length;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(own_cost_read_io(&root, &file, &io), -ENOENT);
	assert_int_equal(root_open(&live, NULL, NULL), 0);
	length = own_cost_read_io(&live, &file, &io);
	if (length < 0) {
		kept_file_close(&file);
		root_close(&live);
		SKIP("the kernel does not tell the bytes of this process");
	}
	/* The reading itself is in the next one. */
	assert_true(own_cost_read_io(&live, &file, &later) > 0);
	assert_int_equal(later.of[USAGE_READ_CHARS], io.of[USAGE_READ_CHARS] + length);
	kept_file_close(&file);
	root_close(&live);
}

#define cpu_test(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cpu_test(members_and_reaped_processes_are_added_up),
		cpu_test(a_group_of_its_own_has_all_time),
		cpu_test(a_certain_sum_is_not_lowered_by_a_group),
		cpu_test(an_estimate_is_not_taken_above_a_group),
		cpu_test(a_group_that_has_counted_nothing_yet_is_read),
		cpu_test(a_group_that_does_not_count_is_left_out),
		cpu_test(time_that_no_process_was_told_is_lost),
		cpu_test(faults_that_no_member_explains_are_unseen_processes),
		cpu_test(its_parent_tells_the_rest_of_the_root),
		cpu_test(a_parent_that_was_told_less_is_not_believed),
		cpu_test(children_of_the_root_are_dropped_once_its_figures_have_them),
		cpu_test(a_root_that_was_reaped_has_not_vanished),
		cpu_test(a_root_that_has_waited_may_lack_children),
		cpu_test(a_reaped_process_counts_with_its_children),
		cpu_test(faults_tell_whether_a_process_waited_for_another),
		cpu_test(a_retired_member_leaves_the_time_that_no_process_waited_for),
		cpu_test(the_cost_is_the_time_between_begin_and_end),
		cpu_test(the_rest_has_faults_and_no_time),
		cpu_test(the_bytes_of_the_recording_thread_are_its_cost),
		cpu_test(a_child_without_bytes_adds_none),
		cpu_test(the_bytes_of_a_reaped_child_are_its_own),
		cpu_test(only_threads_of_a_live_system_get_time_to_vanish),
		cpu_test(the_bytes_of_this_process_are_read_on_a_live_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
