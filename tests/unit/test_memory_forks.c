/* Tests of src/job/memory/memory_size.c: the size of a member by the files that a test lays, its forks and its family. */
#include "scratch.h"

#include "job/memory/memory_size.h"
#include "job/tree/process_tree.h"

enum { MEMBERS = 4, SLOTS = 16, PAGE_KIB = 4, FORKED = 0x40, EXITING = 4, CODE = 1000, STACK = 5000 };

static struct root root;
static struct member members[MEMBERS];
static uint32_t slots[SLOTS];
static struct process_tree tree;

static int begin(void **state)
{
	memset(members, 0, sizeof members);
	memset(slots, 0, sizeof slots);
	if (scratch_enter(state) < 0 || mkdir("proc", 0755) < 0 || root_open(&root, ".", NULL) < 0)
		return -1;
	root.page_bytes = PAGE_KIB * 1024;
	tree = (struct process_tree){.root = &root,
				     .members = members,
				     .slots = slots,
				     .slot_count = SLOTS,
				     .passes = 5,
				     .touched_ns = 7};
	memory_open(&tree);
	return 0;
}

static int end(void **state)
{
	root_close(&root);
	return scratch_leave(state);
}

static struct member *add(pid_t parent_pid)
{
	struct member *member = &members[tree.count];
	pid_t pid = (pid_t)++tree.count;
	size_t slot = (size_t)((uint32_t)pid * UINT32_C(2654435769)) & (SLOTS - 1);

	*member = (struct member){.pid = pid,
				  .parent_pid = parent_pid,
				  .state = 'S',
				  .memory = NEW_MEMBER_MEMORY,
				  .files = {-1, -1, -1, -1, -1}};
	while (slots[slot])
		slot = (slot + 1) & (SLOTS - 1);
	slots[slot] = (uint32_t)tree.count;
	return member;
}

static void lay_statm(const struct member *member, const char *text)
{
	char path[64];

	snprintf(path, sizeof path, "proc/%d/statm", (int)member->pid);
	put_below(path, text);
}

static void lay_mark(const struct member *member, int64_t kib)
{
	char path[64], text[64];

	snprintf(path, sizeof path, "proc/%d/status", (int)member->pid);
	snprintf(text, sizeof text, "VmHWM: %lld kB\nVmRSS: 1 kB\n", (long long)kib);
	put_below(path, text);
}

/* The next reading of a member: anonymous and shared pages, and page faults. */
static void read_next(struct member *member, int64_t anon, int64_t shared, int64_t faults, int64_t flags)
{
	const struct proc_pid_stat stat = {.pid = member->pid,
					   .state = 'S',
					   .flags = flags,
					   .minor_faults = faults,
					   .virtual_bytes = 900 * 4096,
					   .resident_pages = anon + shared,
					   .code_start = CODE,
					   .stack_start = STACK};
	char text[100];

	snprintf(text, sizeof text, "900 %lld %lld 0 0 0 0\n", (long long)(anon + shared), (long long)shared);
	lay_statm(member, text);
	memory_read_member(&tree, member, &stat, false);
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static void a_size_that_changes_is_a_change_of_the_tree(void **state)
{
	struct member *one = add(0);

	(void)state;
	lay_statm(one, "900 100 30 0 0 0 0\n");
	memory_read_size(&tree, one);
	assert_int_equal(one->memory.virtual_pages, 900);
	assert_int_equal(one->memory.resident_pages, 100);
	assert_int_equal(one->memory.shared_pages, 30);
	assert_int_equal(tree.changed_ns, 7);
	tree.changed_ns = 0;
	lay_statm(one, "901 100 30 0 0 0 0\n");
	memory_read_size(&tree, one);
	assert_int_equal(one->memory.virtual_pages, 901);
	assert_int_equal(tree.changed_ns, 0);
	lay_statm(one, "901 100 31 0 0 0 0\n");
	memory_read_size(&tree, one);
	assert_int_equal(tree.changed_ns, 7);
	tree.changed_ns = 0;
	lay_statm(one, "901 101 31 0 0 0 0\n");
	memory_read_size(&tree, one);
	assert_int_equal(tree.changed_ns, 7);
	/* Numbers that are damaged count as 0. */
	lay_statm(one, "901 x y 0 0 0 0\n");
	memory_read_size(&tree, one);
	assert_int_equal(one->memory.resident_pages, 0);
	assert_int_equal(one->memory.shared_pages, 0);
}

static void a_file_that_cannot_be_read_changes_nothing(void **state)
{
	struct member *one = add(0);

	(void)state;
	lay_statm(one, "900 100 30 0 0 0 0\n");
	memory_read_size(&tree, one);
	tree.changed_ns = 0;
	lay_statm(one, "x\n");
	memory_read_size(&tree, one);
	lay_statm(one, "");
	memory_read_size(&tree, one);
	assert_int_equal(unlink("proc/1/statm"), 0);
	memory_read_size(&tree, one);
	assert_int_equal(one->memory.resident_pages, 100);
	assert_int_equal(one->memory.shared_pages, 30);
	assert_int_equal(one->memory.virtual_pages, 900);
	assert_int_equal(tree.changed_ns, 0);
	assert_false(one->memory.is_being_freed);
}

/* A process that exits gives up its address space first, and then its pages. */
static void memory_without_an_address_space_is_being_freed(void **state)
{
	struct proc_pid_stat stat = {.pid = 1, .state = 'S', .flags = 0};
	struct member *one = add(0);

	(void)state;
	lay_statm(one, "0 0 0 0 0 0 0\n");
	memory_read_size(&tree, one);
	assert_false(one->memory.is_being_freed);
	lay_statm(one, "9 1 0 0 0 0 0\n");
	memory_read_size(&tree, one);
	assert_false(one->memory.is_being_freed);
	lay_statm(one, "0 1 0 0 0 0 0\n");
	memory_read_size(&tree, one);
	assert_true(one->memory.is_being_freed);
	memory_read_size(&tree, one);
	assert_true(one->memory.is_being_freed);
	lay_statm(one, "9 1 0 0 0 0 0\n");
	memory_read_size(&tree, one);
	assert_false(one->memory.is_being_freed);
	/* The same by stat, for a process that was never seen with one: a thread of the kernel has none. */
	one = add(0);
	stat.pid = 2;
	stat.resident_pages = 1;
	lay_statm(one, "0 1 0 0 0 0 0\n");
	memory_read_member(&tree, one, &stat, false);
	assert_false(one->memory.is_being_freed);
	stat.virtual_bytes = 1;
	memory_read_member(&tree, one, &stat, false);
	assert_true(one->memory.is_being_freed);
	one->memory.is_being_freed = false;
	stat.virtual_bytes = 0;
	stat.flags = EXITING;
	memory_read_member(&tree, one, &stat, false);
	assert_true(one->memory.is_being_freed);
	/* An address space is there. */
	one->memory.is_being_freed = false;
	lay_statm(one, "9 1 0 0 0 0 0\n");
	stat.virtual_bytes = 9 * 4096;
	memory_read_member(&tree, one, &stat, false);
	assert_false(one->memory.is_being_freed);
}

/* Whether the size is read again, if stat is this one. */
static bool reads_again(struct member *member, const struct proc_pid_stat *stat)
{
	member->memory.resident_pages = -77;
	memory_read_member(&tree, member, stat, false);
	return member->memory.resident_pages != -77;
}

static void a_member_of_which_nothing_changed_keeps_its_size(void **state)
{
	const struct proc_pid_stat same = {.pid = 1,
					   .state = 'S',
					   .minor_faults = 5,
					   .major_faults = 6,
					   .virtual_bytes = 900,
					   .resident_pages = 100,
					   .code_start = CODE,
					   .stack_start = STACK};
	struct proc_pid_stat stat = same;
	struct member *one = add(0);

	(void)state;
	lay_statm(one, "900 100 30 0 0 0 0\n");
	assert_true(reads_again(one, &same));
	assert_int_equal(one->memory.faults, 11);
	assert_int_equal(one->memory.anon_at_faults, 70);
	assert_int_equal(one->memory.stat_pages, 100);
	assert_int_equal(one->memory.stat_bytes, 900);
	assert_false(reads_again(one, &same));
	stat.major_faults++;
	assert_true(reads_again(one, &stat) && !reads_again(one, &stat));
	assert_int_equal(one->memory.faults_before, 12);
	stat.minor_faults++;
	assert_true(reads_again(one, &stat) && !reads_again(one, &stat));
	stat.resident_pages++;
	assert_true(reads_again(one, &stat) && !reads_again(one, &stat));
	stat.virtual_bytes++;
	assert_true(reads_again(one, &stat) && !reads_again(one, &stat));
	tree.reads_all = true;
	assert_true(reads_again(one, &stat));
	tree.reads_all = false;
	/* A main thread that has ended shows no sizes, while the others go on. */
	one->state = 'Z';
	assert_true(reads_again(one, &stat));
	one->state = 'S';
	assert_false(reads_again(one, &stat));
	/* Without statm it is read at the next time. */
	assert_int_equal(unlink("proc/1/statm"), 0);
	stat.minor_faults++;
	assert_false(reads_again(one, &stat));
	assert_int_equal(one->memory.stat_pages, -1);
	lay_statm(one, "900 100 30 0 0 0 0\n");
	assert_true(reads_again(one, &stat));
	/* Counts that no process has are damage. */
	stat.minor_faults = (INT64_C(1) << 44) + 1;
	stat.major_faults = 9;
	assert_true(reads_again(one, &stat));
	assert_int_equal(one->memory.faults, 9);
}

static void a_member_that_has_ended_has_no_memory(void **state)
{
	struct member *one = add(0);

	(void)state;
	read_next(one, 70, 30, 5, 0);
	one->memory.is_refused = true;
	one->is_zombie = true;
	read_next(one, 70, 30, 6, 0);
	assert_int_equal(one->memory.resident_pages, 0);
	assert_int_equal(one->memory.shared_pages, 0);
	assert_int_equal(one->memory.virtual_pages, 0);
	assert_int_equal(one->memory.faults, 5);
	assert_false(one->memory.is_refused);
}

/* ---- forks and families ------------------------------------------------------------------------------------------ */

static void a_process_that_called_exec_is_a_family_of_its_own(void **state)
{
	struct member *one = add(0), *other = add(0);

	(void)state;
	read_next(one, 70, 30, 50, 0);
	read_next(other, 70, 30, 50, 0);
	assert_true(one->memory.family && other->memory.family && one->memory.family != other->memory.family);
	assert_int_equal(one->memory.layout, other->memory.layout);
	assert_int_equal(one->memory.forked_by, 0);
	assert_int_equal(one->memory.inherited_pages, 0);
	assert_int_equal(one->memory.parent_faults_before, -1);
	assert_int_equal(one->memory.parent_anon_before, -1);
	assert_false(one->memory.is_forked || one->memory.passes_on);
}

/* The parent had 90 anonymous pages and 500 faults at the tick before, and has 100 and 600 now. */
static struct member *lay_parent(void)
{
	struct member *parent = add(0);

	read_next(parent, 90, 30, 500, 0);
	tree.passes++;
	read_next(parent, 100, 30, 600, 0);
	return parent;
}

static void a_fork_has_its_parents_family_and_pages(void **state)
{
	struct member *parent = lay_parent(), *fork = add(1);

	(void)state;
	read_next(fork, 80, 20, 7, FORKED);
	assert_true(fork->memory.is_forked);
	assert_true(fork->memory.family == parent->memory.family &&
		    fork->memory.layout == parent->memory.layout);
	assert_int_equal(fork->memory.forked_by, 1);
	assert_int_equal(fork->memory.parent_faults, 600);
	assert_int_equal(fork->memory.inherited_pages, 80);
	assert_int_equal(fork->memory.inherited_least, 80 - 7);
	assert_int_equal(fork->memory.parent_faults_before, 500);
	assert_int_equal(fork->memory.parent_anon_before, 90);
	assert_true(parent->memory.forks.is_known);
	assert_int_equal(parent->memory.forks.faults_first, 500);
	assert_int_equal(parent->memory.forks.anon_first, 90);
	assert_int_equal(parent->memory.forks.faults_last, 600);
	assert_int_equal(parent->memory.forks.anon_last, 100);
	assert_int_equal(parent->memory.forks.pass, tree.passes);
	/* Later forks move the end of the window, and not its beginning. */
	tree.passes++;
	read_next(parent, 150, 30, 900, 0);
	read_next(add(1), 200, 20, 7, FORKED);
	assert_int_equal(parent->memory.forks.faults_first, 500);
	assert_int_equal(parent->memory.forks.faults_last, 900);
	assert_int_equal(parent->memory.forks.anon_last, 150);
	assert_int_equal(members[2].memory.inherited_pages, 150);
	assert_int_equal(members[2].memory.parent_faults_before, 600);
	/* The fork goes on: its lineage stays, until it calls exec. */
	read_next(fork, 90, 20, 9, FORKED);
	assert_int_equal(fork->memory.inherited_pages, 80);
	assert_int_equal(fork->memory.faults_before, 7);
	assert_int_equal(fork->memory.anon_before, 80);
	fork->memory.forks.is_known = true;
	fork->memory.passes_on = true;
	read_next(fork, 10, 5, 11, 0);
	assert_true(fork->memory.family != parent->memory.family && !fork->memory.is_forked);
	assert_int_equal(fork->memory.forked_by, 0);
	assert_int_equal(fork->memory.inherited_pages, 0);
	assert_int_equal(fork->memory.parent_faults_before, -1);
	assert_int_equal(fork->memory.parent_anon_before, -1);
	assert_false(fork->memory.forks.is_known || fork->memory.passes_on);
}

/* Its parent has gone, but another member has the same layout. */
static void an_orphan_belongs_to_a_member_of_its_layout(void **state)
{
	struct member *sibling = lay_parent(), *orphan = add(77), *stranger;

	(void)state;
	read_next(orphan, 80, 20, 7, FORKED);
	assert_true(orphan->memory.family == sibling->memory.family);
	assert_int_equal(orphan->memory.forked_by, 0);
	assert_int_equal(orphan->memory.parent_faults, 0);
	assert_int_equal(orphan->memory.parent_faults_before, -1);
	assert_int_equal(orphan->memory.inherited_pages, 80);
	assert_false(sibling->memory.forks.is_known);
	/* Its parent is a member of another layout: that has called exec since. */
	stranger = add(2);
	orphan->memory.layout++;
	read_next(stranger, 80, 20, 7, FORKED);
	assert_true(stranger->memory.family == sibling->memory.family);
	assert_int_equal(stranger->memory.forked_by, 2);
	assert_int_equal(stranger->memory.parent_faults, 0);
	assert_false(orphan->memory.forks.is_known);
}

static void without_addresses_a_fork_has_no_relatives_but_its_parent(void **state)
{
	const struct proc_pid_stat stat = {.pid = 2, .state = 'S', .flags = FORKED, .virtual_bytes = 1};
	struct member *parent = lay_parent(), *fork = add(77);
	uint64_t family, layout;

	(void)state;
	memory_read_member(&tree, fork, &stat, false);
	assert_int_equal(fork->memory.layout, 0);
	assert_true(fork->memory.family && fork->memory.family != parent->memory.family);
	/* A main thread that has exited shows none either, and its process stays in its family. */
	family = parent->memory.family;
	layout = parent->memory.layout;
	parent->memory.inherited_pages = 5;
	memory_read_member(&tree, parent, &(struct proc_pid_stat){.pid = 1, .state = 'Z', .flags = EXITING},
			   false);
	assert_true(parent->memory.family == family && parent->memory.layout == layout);
	assert_int_equal(parent->memory.inherited_pages, 5);
	memory_read_member(&tree, parent, &(struct proc_pid_stat){.pid = 1, .state = 'S'}, false);
	assert_true(parent->memory.family != family && parent->memory.layout == 0);
}

/* How many pages a process replaced before tracking began is unknown. */
static void the_window_of_an_older_parent_is_unknown(void **state)
{
	struct member *parent = lay_parent();

	(void)state;
	tree.seeded_ticks = 10;
	read_next(add(1), 80, 20, 7, FORKED);
	assert_false(parent->memory.forks.is_known);
	assert_int_equal(parent->memory.forks.faults_last, 600);
	/* Its children were listed before. */
	parent->listed = true;
	read_next(add(1), 80, 20, 7, FORKED);
	assert_true(parent->memory.forks.is_known);
	assert_int_equal(parent->memory.forks.faults_first, 500);
}

/* The parent was forked itself, and hardly has pages of its own: a sixteenth of its anonymous memory. */
static void a_fork_of_a_fork_without_pages_passes_them_on(void **state)
{
	static const struct {
		int faults, inherited;
		bool is_forked, passes_on;
	} CASES[] = {{9, 160, true, true},  {10, 160, true, false}, {9, 151, true, true},
		     {9, 150, true, false}, {9, 160, false, false}, {0, 200, true, true}};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct member *parent, *fork;

		tree.count = 0;
		memset(slots, 0, sizeof slots);
		parent = add(0);
		fork = add(1);
		read_next(parent, 160, 30, 5, 0);
		parent->memory.faults = CASES[i].faults;
		parent->memory.inherited_pages = CASES[i].inherited;
		parent->memory.is_forked = CASES[i].is_forked;
		read_next(fork, 160, 30, 1, FORKED);
		if (fork->memory.passes_on != CASES[i].passes_on)
			fail_msg("case %zu", i);
	}
}

/* 250 pages more than at the last reading passed through the parent, by its mark. */
static void pages_that_a_parent_freed_before_it_forked_have_passed(void **state)
{
	struct member *parent = lay_parent(), *fork;

	(void)state;
	lay_mark(parent, 380 * PAGE_KIB);
	parent->memory.mark_before_kib = 379 * PAGE_KIB;
	fork = add(1);
	read_next(fork, 80, 20, 7, FORKED);
	assert_int_equal(parent->memory.forks.passing_last, 380 - 130);
	assert_int_equal(parent->memory.forks.passing_before, 0);
	assert_int_equal(fork->memory.parent_passing_before, 0);
	/* Another fork of the same pass does not count it again. */
	fork = add(1);
	read_next(fork, 80, 20, 7, FORKED);
	assert_int_equal(parent->memory.forks.passing_last, 250);
	tree.passes++;
	fork = add(1);
	parent->memory.mark_before_kib = 380 * PAGE_KIB;
	lay_mark(parent, 381 * PAGE_KIB);
	read_next(fork, 80, 20, 7, FORKED);
	assert_int_equal(parent->memory.forks.passing_before, 250);
	assert_int_equal(parent->memory.forks.passing_last, 250 + 251);
	assert_int_equal(fork->memory.parent_passing_before, 250);
}

/* The pages that have passed through a parent with this mark and these figures of the tick before. */
static int64_t passed(int64_t mark_kib, int64_t before_kib, int64_t huge_kib)
{
	struct member *parent;

	tree.count = 0;
	memset(slots, 0, sizeof slots);
	parent = lay_parent();
	tree.memory.huge_kib = huge_kib;
	parent->memory.mark_before_kib = before_kib;
	lay_mark(parent, mark_kib);
	read_next(add(1), 80, 20, 7, FORKED);
	return parent->memory.forks.passing_last;
}

static void a_mark_that_was_not_read_was_at_most_the_faults(void **state)
{
	(void)state;
	assert_int_equal(passed(1000, 1000, 0), 0);
	assert_int_equal(passed(1004, 1000, 0), 251 - 130);
	/* It is smaller than its size now, which has changed since. */
	assert_int_equal(passed(500, 400, 0), 0);
	/* 500 faults, and 30 pages that it shares. */
	assert_int_equal(passed(530 * PAGE_KIB, 0, 0), 0);
	assert_int_equal(passed(530 * PAGE_KIB + 1, 0, 0), 400);
	assert_int_equal(passed(530 * PAGE_KIB + 100, 0, 100), 0);
	assert_int_equal(passed(530 * PAGE_KIB + 101, 0, 100), 530 + 25 - 130);
	tree.seeded_ticks = 10;
	assert_int_equal(passed(1004, 1000, 0), 0);
	tree.seeded_ticks = 0;
	assert_int_equal(unlink("proc/1/status"), 0);
	tree.passes++;
	read_next(add(1), 80, 20, 7, FORKED);
	assert_int_equal(members[0].memory.forks.passing_last, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* stat of process 1: its page faults, its resident set and when it began. */
static void lay_stat(int64_t faults, int64_t resident, int64_t start_ticks)
{
	char text[300];

	snprintf(text, sizeof text,
		 "1 (x) S 0 1 1 0 -1 0 %lld 0 0 0 0 0 0 0 20 0 1 0 %lld 3686400 %lld 0 1000 0 5000\n",
		 (long long)faults, (long long)start_ticks, (long long)resident);
	put_below("proc/1/stat", text);
}

/* The faults that are noted if stat showed 5 faults and 100 pages, and statm and stat show these now. */
static int64_t faults_beside(int64_t statm_pages, int64_t faults, int64_t start_ticks,
			     int64_t *ret_stat_pages)
{
	const struct proc_pid_stat stat = {.pid = 1,
					   .state = 'S',
					   .minor_faults = 5,
					   .virtual_bytes = 900 * 4096,
					   .resident_pages = 100,
					   .code_start = CODE,
					   .stack_start = STACK};
	struct member *one;
	char text[100];

	tree.count = 0;
	memset(slots, 0, sizeof slots);
	one = add(0);
	one->start_ticks = 77;
	snprintf(text, sizeof text, "900 %lld 0 0 0 0 0\n", (long long)statm_pages);
	lay_statm(one, text);
	lay_stat(faults, statm_pages, start_ticks);
	memory_read_member(&tree, one, &stat, false);
	*ret_stat_pages = one->memory.stat_pages;
	return one->memory.faults;
}

/* Both files are read again if the sizes differ by more than 128 pages, and until fewer than 129 faults come between. */
static void faults_are_those_of_the_size(void **state)
{
	static const struct {
		int64_t statm_pages, faults, start_ticks, noted, stat_pages;
	} CASES[] = {{228, 1005, 77, 5, 100},
		     {229, 1005, 77, 1005, 229},
		     {229, 133, 77, 5, 100},
		     {229, 134, 77, 134, 229},
		     {229, 1005, 78, 5, 100}};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		int64_t stat_pages;

		assert_int_equal(faults_beside(CASES[i].statm_pages, CASES[i].faults, CASES[i].start_ticks,
					       &stat_pages),
				 CASES[i].noted);
		assert_int_equal(stat_pages, CASES[i].stat_pages);
	}
	/* A smaller size differs as well. Without stat, nothing is known to have come between. */
	assert_int_equal(unlink("proc/1/stat"), 0);
	members[0].memory.stat_pages = -1;
	read_next(&members[0], 400, 0, 7, 0);
	assert_int_equal(members[0].memory.faults, 7);
}

static void a_size_of_one_page_is_an_address_space(void **state)
{
	struct member *one = add(0);

	(void)state;
	assert_int_equal(tree.memory.between.before_kib, -1);
	one->memory.is_being_freed = true;
	lay_statm(one, "1 1 0 0 0 0 0\n");
	memory_read_size(&tree, one);
	assert_false(one->memory.is_being_freed);
	lay_statm(one, "0 0 0 0 0 0 0\n");
	memory_read_size(&tree, one);
	assert_true(one->memory.is_being_freed);
}

/* An empty file, and one that is damaged, are read again in the next pass. */
static void a_size_that_is_not_known_is_read_again(void **state)
{
	static const char *const TEXTS[] = {"", "x", "-1 5 5"};
	struct proc_pid_stat stat = {.pid = 1, .state = 'S', .resident_pages = 100, .virtual_bytes = 5};
	struct member *one = add(0);

	(void)state;
	for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
		stat.minor_faults++;
		lay_statm(one, "9 100 0 0 0 0 0\n");
		memory_read_member(&tree, one, &stat, false);
		assert_int_equal(one->memory.stat_pages, 100);
		stat.minor_faults++;
		lay_statm(one, TEXTS[i]);
		memory_read_member(&tree, one, &stat, false);
		assert_int_equal(one->memory.stat_pages, -1);
		assert_int_equal(one->memory.resident_pages, 100);
	}
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(a_size_that_changes_is_a_change_of_the_tree),
		TEST(a_file_that_cannot_be_read_changes_nothing),
		TEST(memory_without_an_address_space_is_being_freed),
		TEST(a_member_of_which_nothing_changed_keeps_its_size),
		TEST(a_member_that_has_ended_has_no_memory),
		TEST(a_process_that_called_exec_is_a_family_of_its_own),
		TEST(a_fork_has_its_parents_family_and_pages),
		TEST(an_orphan_belongs_to_a_member_of_its_layout),
		TEST(without_addresses_a_fork_has_no_relatives_but_its_parent),
		TEST(the_window_of_an_older_parent_is_unknown),
		TEST(a_fork_of_a_fork_without_pages_passes_them_on),
		TEST(pages_that_a_parent_freed_before_it_forked_have_passed),
		TEST(a_mark_that_was_not_read_was_at_most_the_faults),
		TEST(faults_are_those_of_the_size),
		TEST(a_size_of_one_page_is_an_address_space),
		TEST(a_size_that_is_not_known_is_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
