/* Tests of src/job/memory/memory_family.c: forks that come, go and fork in turn, and what limits their sum. */
#include "made_families.h"

static int64_t private_mib(const struct member *member)
{
	assert_int_equal(memory_families_build(&families, &tree), 0);
	return member_private_kib(&tree, family_of(member), member, NOW_NS) / MIB_KIB;
}

static void private_memory_of_a_process_without_relatives(void **unused)
{
	struct member *one = add(1, 100);
	struct memory_reading *reading;

	(void)unused;
	assert_int_equal(private_mib(one), 100);
	reading = read_as(one, READING_ROLLUP, 60, 1, BEFORE_NS);
	one->memory.resident_pages += 10 * MIB_PAGES;
	assert_int_equal(private_mib(one), 70);
	/* The reading is of a family that has gone. */
	reading->family_size = 2;
	assert_int_equal(private_mib(one), 110);
	assert_int_equal(told_mib(one, false), 110);
	reading->family_size = 1;
	reading->is_settled = false;
	assert_int_equal(told_mib(one, false), 110);
	reading->is_settled = true;
	assert_int_equal(told_mib(one, false), 60 + 40 + 10);
	one->memory.resident_pages = 30 * MIB_PAGES;
	assert_int_equal(private_mib(one), 0);
	reading->exclusive_kib = 50 * MIB_KIB;
	reading->common_share_kib = 0;
	assert_int_equal(told_mib(one, false), 0);
}

/* Pages that a parent replaced between its oldest living fork and its last one, as its page faults tell. */
static void pages_that_a_parent_left_to_its_forks(void **unused)
{
	static const struct {
		int faults_last, faults_before, shared, anon_last, anon_before, passing_last, passing_before,
			left;
	} CASES[] = {
		{180, 100, 0, 100, 100, 0, 0, 80},  {180, 130, 0, 100, 100, 0, 0, 50},
		{180, 100, 10, 100, 100, 0, 0, 70}, {180, 100, 0, 120, 100, 0, 0, 60},
		{180, 130, 0, 120, 110, 0, 0, 40},  {180, 100, 0, 90, 100, 0, 0, 80},
		{180, 100, 0, 100, 100, 5, 2, 77},  {180, 99, 0, 100, 50, 5, 2, 75},
		{100, 100, 0, 100, 100, 0, 0, 0},   {110, 100, 20, 100, 100, 0, 0, 0},
	};
	struct member *parent = add(1, 100), *fork = add_fork(parent, 100, 0);

	(void)unused;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		parent->memory.resident_pages = (100 + CASES[i].shared) * MIB_PAGES;
		parent->memory.shared_pages = CASES[i].shared * MIB_PAGES;
		parent->memory.forks =
			(struct fork_window){.is_known = true,
					     .faults_first = 100 * MIB_PAGES,
					     .anon_first = 100 * MIB_PAGES,
					     .faults_last = CASES[i].faults_last * MIB_PAGES,
					     .anon_last = CASES[i].anon_last * MIB_PAGES,
					     .passing_last = CASES[i].passing_last * MIB_PAGES};
		fork->memory.parent_faults_before = CASES[i].faults_before * MIB_PAGES;
		fork->memory.parent_anon_before = CASES[i].anon_before * MIB_PAGES;
		fork->memory.parent_passing_before = CASES[i].passing_before * MIB_PAGES;
		assert_int_equal(told_mib(parent, true), 100 + CASES[i].left);
		/* How much it had replaced before one of them is unknown. */
		if (i == 1) {
			add_fork(parent, 100, 0)->memory.parent_faults_before = -1;
			assert_int_equal(told_mib(parent, true), 100 + 80);
			assert_true(family_of(parent)->has_orphans);
			members[2].is_zombie = true;
			memory_families_done(&families);
		}
		parent->memory.forks.is_known = false;
		assert_int_equal(told_mib(parent, true), 100);
	}
}

/* A 32nd of 100 MiB is 800 pages: the fork has forked in turn, after it had replaced as many. */
static void a_fork_that_replaced_pages_makes_its_family_ambiguous(void **unused)
{
	static const struct {
		int faults_last, shared, anon_beyond;
		bool is_ambiguous;
	} CASES[] = {{800, 0, 0, false}, {801, 0, 0, true},  {810, 10, 0, false},
		     {811, 10, 0, true}, {0, 0, 800, false}, {0, 0, 801, true}};
	struct member *first = add(1, 100), *middle = add_fork(first, 100, 0),
		      *last = add_fork(middle, 100, 0);

	(void)unused;
	first->memory.forks.is_known = true;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		memory_families_done(&families);
		middle->memory.forks = (struct fork_window){.is_known = true,
							    .faults_last = CASES[i].faults_last,
							    .anon_last = CASES[i].anon_beyond +
									 middle->memory.inherited_pages};
		middle->memory.shared_pages = CASES[i].shared;
		assert_int_equal(memory_families_build(&families, &tree), 0);
		assert_int_equal(family_of(first)->is_ambiguous, CASES[i].is_ambiguous);
	}
	/* Without a fork none has them. If the time is unknown, all may be left. */
	last->is_zombie = true;
	memory_families_done(&families);
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_false(family_of(first)->is_ambiguous);
	first->memory.forks.is_known = false;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_true(family_of(first)->is_ambiguous);
	middle->is_zombie = true;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_false(family_of(first)->is_ambiguous);
}

static void many_families_come_and_go(void **unused)
{
	(void)unused;
	for (int i = 0; i < MEMBERS; i++)
		add(1, i + 1);
	for (int i = 0; i < MEMBERS; i++)
		assert_int_equal(told_mib(&members[i], false), i + 1);
	assert_int_equal(families.count, MEMBERS);
	for (int i = 0; i < MEMBERS; i += 2)
		members[i].is_zombie = true;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_int_equal(families.count, MEMBERS); /* those that have ended are dropped in the next tick */
	family_of(&members[1])->own_part = 0.25;
	family_of(&members[1])->has_own_objects = true;
	for (int i = 1; i < MEMBERS; i += 2)
		assert_int_equal(told_mib(&members[i], false), i + 1);
	assert_int_equal(families.count, MEMBERS / 2);
	assert_true(family_of(&members[1])->own_part == 0.25);
	assert_true(family_of(&members[1])->has_own_objects);
	assert_true(family_of(&members[3])->own_part == 1);
	assert_int_equal(family_of(&members[1])->largest_kib, 2 * MIB_KIB);
}

static void changes_in_a_family_are_noted(void **unused)
{
	struct member *parent = add(1, 100), *one = add_fork(parent, 60, 0), *other = add_fork(parent, 80, 0);

	(void)unused;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_int_equal(family_of(parent)->count, 3);
	assert_int_equal(parent->memory.fork_count, 2);
	assert_int_equal(parent->memory.forks_anon_kib, 80 * MIB_KIB);
	assert_false(family_of(parent)->is_changing);
	assert_false(family_of(parent)->has_orphans);
	/* One begins. */
	one->seen_pass = tree.passes;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_true(family_of(parent)->is_changing);
	tree.passes++;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_false(family_of(parent)->is_changing);
	/* Another one ends: first the kernel frees its memory, and then it is a zombie. */
	other->memory.resident_pages = 0;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_true(family_of(parent)->is_changing);
	assert_false(family_of(parent)->has_leaving);
	other->memory.is_being_freed = true;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_true(family_of(parent)->has_leaving);
	assert_false(family_of(parent)->is_changing);
	assert_int_equal(parent->memory.forks_anon_kib, 60 * MIB_KIB);
	other->is_zombie = true;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_false(family_of(parent)->has_leaving);
	parent->is_zombie = true;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_true(family_of(parent)->has_orphans);
	assert_int_equal(parent->memory.fork_count, 0);
}

/* Its shared pages at `mib` from the address 0 on, in one page frame for each. */
static void sample_frames(struct member *member, int64_t mib, int64_t other_from_mib)
{
	struct memory_reading *reading = read_as(member, READING_SAMPLED, 0, 1, BEFORE_NS);

	reading->common.level = PAGES_LEVEL;
	for (int64_t page = 0; page < mib * MIB_PAGES; page += 1 << PAGES_LEVEL)
		assert_true(page_places_add(&reading->common, page < other_from_mib * MIB_PAGES ? 1 : 2,
					    page_sample_at(PAGES_LEVEL, (uint64_t)page >> PAGES_LEVEL)));
}

/* Each page frame counts once, and page faults change nothing. Pages that the largest member lacks were only sampled. */
static void page_frames_distinguish_pages_at_one_address(void **unused)
{
	struct member *parent = add(1, 200), *fork = add_fork(parent, 200, 200);
	const double kib = 16 * 4;

	(void)unused;
	sample_frames(parent, 200, 200);
	sample_frames(fork, 200, 100);
	assert_int_equal(told_mib(parent, true), 300);
	assert_int_equal(family_of(parent)->union_doubt_kib, 0);
	assert_int_equal(family_of(parent)->union_spread_kib, 0);
	assert_int_equal(family_of(parent)->union_apart_kib, 0);
	assert_true(family_of(parent)->union_variance == 1600 * kib * kib);
	sample_frames(fork, 200, 200);
	readings[1].taken_ns--;
	assert_int_equal(told_mib(parent, true), 200);
	assert_true(family_of(parent)->union_variance == 0);
	/* The union stays that of the readings behind it. */
	readings[1].common.count = 0;
	readings[0].common.count = 0;
	assert_int_equal(told_mib(parent, true), 200);
	readings[1].taken_ns--;
	assert_int_equal(told_mib(parent, true), 0);
}

/* The share of a common page is that of the users at the time of the reading: two of four have ended. */
static void shares_are_divided_by_the_present_users(void **unused)
{
	struct member *parent = add(1, 300), *fork = add_fork(parent, 300, 10);

	(void)unused;
	read_as(parent, READING_ROLLUP, 10, 4, BEFORE_NS);
	read_as(fork, READING_ROLLUP, 10, 4, BEFORE_NS);
	assert_int_equal(told_mib(parent, false), 10 + 10 + 290);
	/* It was alone, so that its share is of others outside the job. */
	read_as(parent, READING_ROLLUP, 10, 1, BEFORE_NS)->common_share_kib = 100 * MIB_KIB;
	fork->memory.reading->common_share_kib = 0;
	assert_int_equal(told_mib(parent, false), 10 + 10 + 100);
}

static void unread_members_add_pages_that_others_lack(void **unused)
{
	struct member *parent = add(1, 200), *one = add_fork(parent, 200, 20);
	struct family_memory found;

	(void)unused;
	/* The first process was not read: all that it has beyond the common pages is its own. */
	sample(one, 20, 20, 150, BEFORE_NS);
	readings[1].common_kib = 150 * MIB_KIB;
	found = measure_way(parent, true);
	assert_int_equal(found.anon_kib / MIB_KIB, 20 + 150 + 50);
	assert_int_equal(found.private_kib / MIB_KIB, 20 + 50);
	assert_true(found.extrapolated);
	parent->memory.resident_pages = 140 * MIB_PAGES;
	assert_int_equal(told_mib(parent, true), 20 + 150);
	/* A fork that was not read has its mean share of the pages that the rollups divided. One leaf tells no error. */
	parent->memory.resident_pages = 300 * MIB_PAGES;
	one->memory.resident_pages = 300 * MIB_PAGES;
	one->memory.inherited_pages = 300 * MIB_PAGES;
	one->memory.faults = 10 * MIB_PAGES;
	add_fork(parent, 300, 10);
	members[2].memory.parent_faults = one->memory.parent_faults = parent->memory.faults;
	read_as(parent, READING_ROLLUP, 10, 3, BEFORE_NS);
	read_as(one, READING_ROLLUP, 10, 3, BEFORE_NS);
	found = measure_way(parent, false);
	assert_int_equal((found.anon_kib + 4) / MIB_KIB, 3 * 10 + 290);
	assert_true(found.variance == 0);
	assert_true(found.extrapolated);
	/* In another way, or without its anonymous pages, a reading says nothing. */
	assert_int_equal(measure_way(parent, true).unread_kib / MIB_KIB, 300 + 20);
	readings[0].has_anon = readings[1].has_anon = false;
	assert_int_equal(measure_way(parent, false).unread_kib / MIB_KIB, 300 + 20);
}

/* While members are read, a page may be exclusive for one and common for another: their faults limit the sum. */
static void up_to_sixteen_origins_limit_the_sum(void **unused)
{
	struct member *first = add(1, 10);

	(void)unused;
	first->memory.forks = (struct fork_window){
		.is_known = true, .faults_first = 10 * MIB_PAGES, .anon_first = 10 * MIB_PAGES};
	first->memory.forks.faults_last = first->memory.forks.anon_last = 10 * MIB_PAGES;
	read_as(first, READING_SAMPLED, 10, 1, NOW_NS);
	for (int i = 0; i < 17; i++) {
		read_as(orphan_of(first, 900 + i, 20), READING_SAMPLED, 30, 1, NOW_NS)->common_kib = 0;
		if (i == 15)
			assert_int_equal(told_mib(first, true), 10 + 16 * 20);
	}
	assert_int_equal(told_mib(first, true), 10 + 17 * 30);
	/* Two of one parent have one memory from it. */
	members[17].memory.forked_by = 915;
	assert_int_equal(told_mib(first, true), 10 + 16 * 20);
	members[17].memory.resident_pages = 25 * MIB_PAGES;
	members[17].memory.inherited_pages = 25 * MIB_PAGES;
	assert_int_equal(told_mib(first, true), 10 + 16 * 20 + 5);
	/* Nothing moves: what the parents replaced before they left is unknown. */
	for (int i = 0; i <= 17; i++)
		readings[i].taken_ns = NOW_NS - 1;
	assert_true(told_mib(first, true) > 10 + 17 * 29);
}

/* A process with 100 MiB that it had before its first fork. */
static struct member *add_parent(void)
{
	struct member *parent = add(1, 100);

	parent->memory.forks = (struct fork_window){.is_known = true,
						    .faults_first = 100 * MIB_PAGES,
						    .anon_first = 100 * MIB_PAGES,
						    .faults_last = 100 * MIB_PAGES,
						    .anon_last = 100 * MIB_PAGES};
	return parent;
}

static struct member *add_known_fork(const struct member *parent, int64_t mib, int64_t own_mib)
{
	struct member *fork = add_fork(parent, mib, own_mib);

	fork->memory.parent_faults_before = 100 * MIB_PAGES;
	fork->memory.parent_anon_before = 100 * MIB_PAGES;
	return fork;
}

/* The limit of forks with a living parent: its memory, and what each has faulted in. */
static void faults_limit_the_memory_of_forks(void **unused)
{
	struct member *parent = add_parent(), *fork = add_known_fork(parent, 100, 10);

	(void)unused;
	sample(parent, 100, 0, 0, BEFORE_NS);
	sample(fork, 60, 0, 0, NOW_NS);
	readings[1].common_kib = 0;
	assert_int_equal(told_mib(parent, true), 110);
	/* More than it inherited and faulted in is of huge pages, which limit nothing. */
	fork->memory.inherited_pages = 70 * MIB_PAGES;
	assert_int_equal(told_mib(parent, true), 160);
	fork->memory.inherited_pages = 100 * MIB_PAGES;
	/* It has faulted in more pages than it has: it freed some of them, which may live on in a fork of its own. */
	fork->memory.faults = 130 * MIB_PAGES;
	readings[1].faults = fork->memory.faults;
	readings[1].exclusive_kib = 150 * MIB_KIB;
	assert_int_equal(told_mib(parent, true), 200);
	add_fork(fork, 100, 0)->memory.parent_faults_before = 0;
	fork->memory.forks.is_known = true;
	sample(&members[2], 0, 0, 0, BEFORE_NS);
	readings[2].common_kib = 0;
	assert_int_equal(told_mib(parent, true), 230);
	/* The parent has grown since its first fork. */
	parent->memory.resident_pages += 7 * MIB_PAGES;
	parent->memory.faults += 7 * MIB_PAGES;
	assert_int_equal(told_mib(parent, true), 237);
}

/*
 * Another process writes them, or the kernel copies them into huge pages. In a reading of this tick, a fork may have them because
 * another member exited meanwhile.
 */
static void pages_without_faults_are_those_of_a_fork_that_had_them_before(void **unused)
{
	struct member *parent = add_parent(), *fork = add_known_fork(parent, 100, 10);
	struct family_memory found;
	static const struct {
		int64_t taken_ns;
		int before_mib, told_mib, doubt_mib;
	} CASES[] = {
		{BEFORE_NS, 0, 160, 0}, {NOW_NS, 0, 110, 50}, {NOW_NS, 30, 130, 30}, {NOW_NS, 90, 160, 0}};

	(void)unused;
	sample(parent, 100, 0, 0, BEFORE_NS);
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		sample(fork, 60, 0, 0, CASES[i].taken_ns);
		readings[1].common_kib = 0;
		readings[1].exclusive_before_kib = CASES[i].before_mib * MIB_KIB;
		found = measure_way(parent, true);
		assert_int_equal(found.anon_kib, CASES[i].told_mib * MIB_KIB);
		assert_int_equal(found.over_kib, CASES[i].doubt_mib * MIB_KIB);
		assert_int_equal(found.doubt_kib, CASES[i].doubt_mib * MIB_KIB);
	}
	/* The machine tells of such pages, and no member has come or gone. */
	tree.memory.suspect_ns = BEFORE_NS;
	sample(fork, 60, 0, 0, NOW_NS);
	readings[1].common_kib = 0;
	assert_int_equal(told_mib(parent, true), 160);
	fork->seen_pass = tree.passes;
	assert_int_equal(told_mib(parent, true), 110);
	fork->seen_pass = 0;
	tree.memory.suspect_ns = 0;
	/* Common pages that it has moved count twice: those are certainly too many. */
	sample(fork, 60, 200, 50, BEFORE_NS);
	readings[1].common_kib = 50 * MIB_KIB;
	found = measure_way(parent, true);
	assert_int_equal(found.anon_kib / MIB_KIB, 160);
	assert_int_equal(found.doubt_kib, 0);
	/* Since its last reading, a fork of its own may share them. */
	sample(fork, 60, 0, 0, BEFORE_NS);
	readings[1].common_kib = 0;
	add_known_fork(fork, 100, 0)->memory.parent_faults_before = 0;
	fork->memory.forks.is_known = true;
	sample(&members[2], 0, 0, 0, BEFORE_NS);
	readings[2].common_kib = 0;
	found = measure_way(parent, true);
	assert_int_equal(found.anon_kib / MIB_KIB, 110);
	assert_int_equal(found.doubt_kib / MIB_KIB, 50);
}

/* Two of 14 were read: 40 MiB of each have no page faults of its own. */
static void unread_forks_may_have_as_many_pages_without_faults(void **unused)
{
	struct member *parent = add_parent();
	struct family_memory found;

	(void)unused;
	for (int i = 0; i < 14; i++)
		add_known_fork(parent, 100, 0);
	sample(parent, 0, 0, 100, BEFORE_NS);
	for (int i = 1; i < 3; i++)
		sample(&members[i], 40, 0, 60, BEFORE_NS);
	found = measure_way(parent, true);
	assert_int_equal(found.anon_kib / MIB_KIB, 100 + 2 * 40);
	assert_int_equal(found.doubt_kib, 12 * 40 * MIB_KIB);
	/* The parent had them: it has written into its forks, or freed and taken as much. */
	parent->memory.faults += INT64_C(14) * 50 * MIB_PAGES;
	found = measure_way(parent, true);
	assert_int_equal(found.anon_kib / MIB_KIB, 100 + 100 + 2 * 40);
	assert_int_equal(found.doubt_kib, 12 * 40 * MIB_KIB - 100 * MIB_KIB);
}

#define FAMILY_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

static void private_memory_in_a_family_is_what_was_read_and_its_growth(void **unused)
{
	struct member *parent = add(1, 100), *fork = add_fork(parent, 100, 0);
	struct memory_reading *reading = read_as(parent, READING_ROLLUP, 20, 2, BEFORE_NS);

	(void)unused;
	read_as(fork, READING_ROLLUP, 0, 2, BEFORE_NS);
	reading->private_kib = 30 * MIB_KIB;
	assert_int_equal(private_mib(parent), 30);
	assert_int_equal(measure_way(parent, false).private_kib, 30 * MIB_KIB);
	parent->memory.resident_pages += 5 * MIB_PAGES;
	assert_int_equal(private_mib(parent), 35);
	/* It gives memory back: half of all, and of its own. */
	parent->memory.resident_pages = 50 * MIB_PAGES;
	assert_int_equal(private_mib(parent), 20);
}

/* Both have written all that they have. */
static void members_without_common_pages_add_up(void **unused)
{
	struct member *parent = add(1, 100), *fork = add_fork(parent, 60, 60);

	(void)unused;
	read_as(parent, READING_ROLLUP, 100, 2, BEFORE_NS);
	read_as(fork, READING_ROLLUP, 60, 2, BEFORE_NS);
	assert_int_equal(told_mib(parent, false), 160);
	assert_int_equal(measure_way(parent, false).variance, 0);
	assert_false(measure_way(parent, false).extrapolated);
}

/* A process without relatives has all of its memory: its reading tells nothing about forks. */
static void a_fork_alone_says_nothing_about_its_siblings(void **unused)
{
	struct member *parent = add(1, 200), *one = add_fork(parent, 200, 20);

	(void)unused;
	parent->is_zombie = true;
	sample(one, 5, 5, 195, BEFORE_NS);
	assert_int_equal(told_mib(one, true), 200);
	assert_true(family_of(one)->own_part == 1);
	assert_int_equal(family_of(one)->read, 1);
}

/* Faults of a family of two count as in a larger one, and those of a process alone do not. */
static void faults_since_a_reading_replace_common_pages(void **unused)
{
	struct member *parent = add(1, 200), *one = add_fork(parent, 200, 0);

	(void)unused;
	sample(parent, 0, 0, 200, BEFORE_NS);
	sample(one, 0, 0, 200, BEFORE_NS);
	readings[0].faults = parent->memory.faults;
	assert_int_equal(told_mib(parent, true), 200);
	one->memory.faults = 50 * MIB_PAGES;
	family_of(parent)->faulted_kib = 100 * MIB_KIB;
	family_of(parent)->replaced_kib = 80 * MIB_KIB;
	assert_int_equal(member_exclusive_kib(&tree, family_of(parent), one), 40 * MIB_KIB);
	assert_int_equal(told_mib(parent, true), 240);
	family_of(parent)->count = 1;
	assert_int_equal(member_exclusive_kib(&tree, family_of(parent), one), 0);
	family_of(parent)->count = 2;
	readings[1].kind = READING_ROLLUP;
	assert_int_equal(member_exclusive_kib(&tree, family_of(parent), one), 0);
}

/* One that has called exec, and was not read, has its own memory beside the common pages, and no less than none. */
static void an_unread_process_is_smaller_than_the_common_pages(void **unused)
{
	struct member *parent = add(1, 50), *one, *two;

	(void)unused;
	one = add_fork(parent, 200, 0);
	two = add_fork(parent, 200, 0);
	one->memory.inherited_pages = two->memory.inherited_pages = 200 * MIB_PAGES;
	sample(one, 0, 0, 200, BEFORE_NS);
	sample(two, 0, 0, 200, BEFORE_NS);
	assert_int_equal(told_mib(parent, true), 200);
	parent->memory.resident_pages = 230 * MIB_PAGES;
	parent->memory.faults = 230 * MIB_PAGES;
	assert_int_equal(told_mib(parent, true), 230);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		FAMILY_TEST(private_memory_of_a_process_without_relatives),
		FAMILY_TEST(pages_that_a_parent_left_to_its_forks),
		FAMILY_TEST(a_fork_that_replaced_pages_makes_its_family_ambiguous),
		FAMILY_TEST(many_families_come_and_go),
		FAMILY_TEST(changes_in_a_family_are_noted),
		FAMILY_TEST(page_frames_distinguish_pages_at_one_address),
		FAMILY_TEST(shares_are_divided_by_the_present_users),
		FAMILY_TEST(unread_members_add_pages_that_others_lack),
		FAMILY_TEST(up_to_sixteen_origins_limit_the_sum),
		FAMILY_TEST(faults_limit_the_memory_of_forks),
		FAMILY_TEST(pages_without_faults_are_those_of_a_fork_that_had_them_before),
		FAMILY_TEST(unread_forks_may_have_as_many_pages_without_faults),
		cmocka_unit_test_setup_teardown(private_memory_in_a_family_is_what_was_read_and_its_growth,
						begin, end),
		cmocka_unit_test_setup_teardown(members_without_common_pages_add_up, begin, end),
		cmocka_unit_test_setup_teardown(a_fork_alone_says_nothing_about_its_siblings, begin, end),
		cmocka_unit_test_setup_teardown(faults_since_a_reading_replace_common_pages, begin, end),
		cmocka_unit_test_setup_teardown(an_unread_process_is_smaller_than_the_common_pages, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
