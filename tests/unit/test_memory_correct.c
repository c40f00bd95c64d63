/* Tests of src/job/memory/memory_correct.c: estimates beside the proportional shares of a folder made by the test. */
#include "job/memory/memory_correct.h"
#include "job/memory/process_memory.h"
#include "scratch.h"

enum { MIB_PAGES = 256, MIB_KIB = 1024, MEMBERS = 2, FIRST_PID = 100 };
#define NOW_NS INT64_C(50000000000)

static struct root root;
static struct member members[MEMBERS];
static struct memory_reading readings[MEMBERS];
static uint32_t order[MEMBERS] = {0, 1};
static struct process_tree tree;
static struct process_memory memory;
static struct memory_family family;
static struct family_memory found;

/* No time passes while shares are read, so that a busy machine spends none of the allowance. */
static int64_t stand_still(void *context)
{
	(void)context;
	return NOW_NS;
}

static const struct clocks CLOCKS = {.monotonic_ns = stand_still, .realtime_ns = stand_still};

static void write_shares(int mib_each)
{
	for (int i = 0; i < MEMBERS; i++) {
		char path[64], text[96];

		snprintf(path, sizeof path, "proc/%d/smaps_rollup", FIRST_PID + i);
		snprintf(text, sizeof text, "Rss: %d kB\nPss: %d kB\nPss_Anon: %d kB\n", 200 * MIB_KIB,
			 mib_each * MIB_KIB, mib_each * MIB_KIB);
		put_text(path, text);
	}
}

/* The resident set of a member while its shares are read. */
static void write_size(int index, int mib)
{
	char path[64], text[64];

	snprintf(path, sizeof path, "proc/%d/statm", FIRST_PID + index);
	snprintf(text, sizeof text, "%d %d 0 1 0 0 0\n", mib * MIB_PAGES, mib * MIB_PAGES);
	put_text(path, text);
}

static int set_up(void **state)
{
	char path[32];

	if (scratch_enter(state) || mkdir("proc", 0755))
		return -1;
	for (int i = 0; i < MEMBERS; i++) {
		snprintf(path, sizeof path, "proc/%d", FIRST_PID + i);
		assert_int_equal(mkdir(path, 0755), 0);
		write_size(i, 200);
		readings[i] = (struct memory_reading){0};
		members[i] = (struct member){.pid = FIRST_PID + i,
					     .memory.resident_pages = INT64_C(200) * MIB_PAGES,
					     .memory.reading = &readings[i]};
	}
	assert_int_equal(root_open(&root, scratch_folder, &CLOCKS), 0);
	root.page_bytes = 4096;
	tree = (struct process_tree){.root = &root, .members = members, .count = MEMBERS};
	process_memory_open(&memory, &root);
	memory.families.order = order;
	memory.frames = FRAMES_HIDDEN;
	memory.correction_ns = 10e6;
	memory.corrected_ns = NOW_NS;
	family = (struct memory_family){
		.count = MEMBERS, .sampled = true, .is_ambiguous = true, .union_spread_kib = 100 * MIB_KIB};
	write_shares(150);
	return 0;
}

static int tear_down(void **state)
{
	root_close(&root);
	memory.families = (struct memory_families){0};
	process_memory_close(&memory);
	return scratch_leave(state);
}

/* The memory of a family that is estimated at `mib`, after so many seconds. */
static int64_t corrected_mib(int64_t mib, int secs)
{
	found = (struct family_memory){.anon_kib = mib * MIB_KIB, .doubt_kib = 90 * MIB_KIB};
	memory_correct(&memory, &tree, &family, NOW_NS + secs * NSEC_PER_SEC, &found);
	assert_int_equal(found.anon_kib % MIB_KIB, 0);
	return found.anon_kib / MIB_KIB;
}

static void shares_replace_an_estimate_in_doubt(void **unused)
{
	(void)unused;
	assert_int_equal(corrected_mib(220, 0), 300);
	assert_int_equal(found.doubt_kib, 0);
	/* Later estimates keep the difference, without another look. */
	write_shares(170);
	assert_int_equal(corrected_mib(220, 1), 300);
	assert_int_equal(corrected_mib(225, 2), 305);
	assert_int_equal(found.doubt_kib, 5 * MIB_KIB);
	/* Until it is old. */
	assert_int_equal(corrected_mib(225, 9), 340);
}

static void shares_are_read_again_once_the_estimate_has_changed(void **unused)
{
	(void)unused;
	assert_int_equal(corrected_mib(220, 0), 300);
	write_shares(170);
	assert_int_equal(corrected_mib(250, 1), 340);
	family.count = 1;
	assert_int_equal(corrected_mib(250, 2), 170);
}

static void shares_of_a_moment_of_writing_count_once(void **unused)
{
	(void)unused;
	assert_int_equal(corrected_mib(220, 0), 300);
	members[1].memory.faults += INT64_C(20) * MIB_PAGES;
	memory.correction_ns = 0;
	assert_int_equal(corrected_mib(240, 1), 240);
	assert_int_equal(found.doubt_kib, 90 * MIB_KIB);
	/* The readings behind the estimate are older than the pages that it has faulted in. */
	memory.correction_ns = 10e6;
	assert_int_equal(corrected_mib(240, 2), 300);
	memory.correction_ns = 0;
	assert_int_equal(corrected_mib(240, 3), 240);
	readings[1].faults = members[1].memory.faults;
	memory.correction_ns = 10e6;
	assert_int_equal(corrected_mib(240, 4), 300);
	memory.correction_ns = 0;
	assert_int_equal(corrected_mib(240, 5), 300);
}

static void shares_do_not_count_while_a_member_exits(void **unused)
{
	(void)unused;
	write_size(0, 0);
	assert_int_equal(corrected_mib(220, 0), 220);
	assert_int_equal(found.doubt_kib, 90 * MIB_KIB);
	write_size(0, 200);
	assert_int_equal(corrected_mib(220, 1), 300);
	assert_int_equal(remove("proc/101/smaps_rollup"), 0);
	assert_int_equal(corrected_mib(250, 2), 330);
}

static void members_that_exit_take_their_part_of_the_difference(void **unused)
{
	(void)unused;
	assert_int_equal(corrected_mib(220, 0), 300);
	memory.correction_ns = 0;
	family.count = 1;
	assert_int_equal(corrected_mib(120, 1), 160);
	assert_int_equal(found.doubt_kib, 90 * MIB_KIB);
}

static void large_members_and_other_families_are_not_read(void **unused)
{
	(void)unused;
	members[1].memory.resident_pages = INT64_C(400) * MIB_PAGES;
	assert_int_equal(corrected_mib(220, 0), 220);
	assert_int_equal(found.doubt_kib, 90 * MIB_KIB);
	members[1].memory.resident_pages = INT64_C(200) * MIB_PAGES;
	family.is_ambiguous = false;
	assert_int_equal(corrected_mib(220, 0), 220);
	family.is_ambiguous = true;
	memory.frames = FRAMES_SEEN;
	assert_int_equal(corrected_mib(220, 0), 220);
	family.union_apart_kib = MIB_KIB;
	assert_int_equal(corrected_mib(220, 0), 220);
	memory.frames = FRAMES_HIDDEN;
	family.union_spread_kib = MIB_KIB;
	assert_int_equal(corrected_mib(220, 0), 220);
	family.union_spread_kib = 100 * MIB_KIB;
	memory.correction_ns = 1e6;
	assert_int_equal(corrected_mib(220, 0), 220);
	memory.correction_ns = 10e6;
	assert_int_equal(corrected_mib(220, 0), 300);
}

static void pages_at_addresses_of_their_own_are_in_doubt_for_every_user(void **unused)
{
	(void)unused;
	family.is_ambiguous = false;
	memory.frames = FRAMES_SEEN;
	family.union_apart_kib = 20 * MIB_KIB;
	assert_int_equal(corrected_mib(220, 0), 300);
}

/* A thousandth of the time, and 25 ms at most, with which the first one begins. */
static void time_for_corrections_is_earned(void **unused)
{
	(void)unused;
	/* The members are too large to be read, so that nothing is spent. */
	members[0].memory.resident_pages = INT64_C(4000) * MIB_PAGES;
	memory.correction_ns = 1e6;
	assert_int_equal(corrected_mib(220, 3), 220);
	assert_true(memory.correction_ns > 3.999e6 && memory.correction_ns < 4.001e6);
	assert_int_equal(corrected_mib(220, 50), 220);
	assert_true(memory.correction_ns == 25e6);
	memory.correction_ns = 0;
	memory.corrected_ns = 0;
	assert_int_equal(corrected_mib(220, 51), 220);
	assert_true(memory.correction_ns == 25e6);
	assert_int_equal(memory.corrected_ns, NOW_NS + 51 * NSEC_PER_SEC);
}

/* A doubt of a 32nd part of the estimate is not worth a reading, nor is an estimate without samples. */
static void a_small_doubt_is_left_alone(void **unused)
{
	(void)unused;
	family.is_ambiguous = false;
	family.union_apart_kib = 224 / 32 * MIB_KIB;
	assert_int_equal(corrected_mib(224, 0), 224);
	family.union_apart_kib++;
	assert_int_equal(corrected_mib(224, 0), 300);
	family.sampled = false;
	assert_int_equal(corrected_mib(224, 0), 224);
	assert_int_equal(family.correction.taken_ns, 0);
}

/* Before Linux 5.4 the kernel does not tell the part that is anonymous. */
static void shares_without_the_anonymous_part_do_not_count(void **unused)
{
	(void)unused;
	put_text("proc/101/smaps_rollup", "Rss: 204800 kB\nPss: 204800 kB\n");
	assert_int_equal(corrected_mib(220, 0), 220);
	put_text("proc/101/smaps_rollup", "Rss: 0 kB\nPss: 0 kB\nPss_Anon: 0 kB\n");
	assert_int_equal(corrected_mib(220, 1), 150);
}

static void a_correction_holds_for_eight_seconds(void **unused)
{
	(void)unused;
	assert_int_equal(corrected_mib(220, 0), 300);
	write_shares(170);
	memory.correction_ns = 10e6;
	assert_int_equal(corrected_mib(220, 7), 300);
	assert_int_equal(corrected_mib(220, 8), 340);
}

#define CORRECT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* Each doubt alone begins above a 32nd of the estimate. */
static void a_doubt_begins_above_a_32nd(void **unused)
{
	(void)unused;
	/* 7,040 KiB of 220 MiB. */
	family.union_spread_kib = 7040;
	assert_int_equal(corrected_mib(220, 0), 220);
	family.union_spread_kib++;
	assert_int_equal(corrected_mib(220, 0), 300);
	family.union_spread_kib--;
	family.union_apart_kib = 7040;
	assert_int_equal(corrected_mib(220, 1), 220);
	family.union_apart_kib++;
	assert_int_equal(corrected_mib(220, 1), 300);
	family.is_ambiguous = false;
	assert_int_equal(corrected_mib(220, 2), 300);
	family.sampled = false;
	assert_int_equal(corrected_mib(220, 3), 220);
	family.sampled = true;
	family.union_apart_kib = 0;
	assert_int_equal(corrected_mib(220, 4), 220);
	found = (struct family_memory){.anon_kib = 220 * MIB_KIB, .over_kib = 7040};
	memory_correct(&memory, &tree, &family, NOW_NS, &found);
	assert_int_equal(found.anon_kib, 220 * MIB_KIB);
	found.over_kib++;
	memory_correct(&memory, &tree, &family, NOW_NS, &found);
	assert_int_equal(found.anon_kib, 300 * MIB_KIB);
}

/* A 64th of 220 MiB is 880 pages: with as many faults since the shares were read, they are still of one moment. */
static void a_correction_settles_with_few_faults(void **unused)
{
	for (int64_t more = 0; more < 2; more++) {
		(void)unused;
		family.correction = (struct memory_correction){0};
		memory.correction_ns = 10e6;
		members[1].memory.faults = readings[1].faults = 0;
		assert_int_equal(corrected_mib(220, 0), 300);
		members[1].memory.faults = 880 + more;
		memory.correction_ns = 0;
		assert_int_equal(corrected_mib(220, 1), more ? 220 : 300);
		/* Once it has settled, later faults change nothing. */
		members[1].memory.faults = 100000;
		assert_int_equal(corrected_mib(220, 2), more ? 220 : 300);
	}
}

/* Either of the members may have changed meanwhile, by more than 64 pages and a 64th of its own. */
static void each_member_has_to_stay_as_it_is(void **unused)
{
	static const struct {
		int pages;
		bool stays;
	} CASES[] = {{51200 + 64 + 800, true},
		     {51200 + 65 + 800, false},
		     {51200 - 64 - 800, true},
		     {51200 - 65 - 800, false}};

	(void)unused;
	for (int i = 0; i < MEMBERS; i++) {
		char path[64], text[64];

		for (size_t j = 0; j < sizeof CASES / sizeof CASES[0]; j++) {
			snprintf(path, sizeof path, "proc/%d/statm", FIRST_PID + i);
			snprintf(text, sizeof text, "%d %d 0 1 0 0 0\n", CASES[j].pages, CASES[j].pages);
			put_text(path, text);
			family.correction = (struct memory_correction){0};
			memory.correction_ns = 10e6;
			assert_int_equal(corrected_mib(220, 0), CASES[j].stays ? 300 : 220);
		}
		write_size(i, 200);
	}
}

/* Page faults since the readings, of members that were read. */
static void readings_behind_the_estimate_are_of_the_same_moment(void **unused)
{
	(void)unused;
	members[1].memory.reading = NULL;
	readings[0].faults = members[0].memory.faults = 5000;
	members[1].memory.faults = 880;
	assert_int_equal(corrected_mib(220, 0), 300);
	assert_true(family.correction.taken_ns != 0);
	assert_int_equal(family.correction.faults, 5880);
	family.correction = (struct memory_correction){0};
	memory.correction_ns = 10e6;
	members[1].memory.faults++;
	assert_int_equal(corrected_mib(220, 0), 300);
	assert_int_equal(family.correction.taken_ns, 0);
	/* A member of which the shares are not told has none. */
	write_shares(150);
	put_text("proc/101/smaps_rollup", "Rss: 5 kB\nPss: 5 kB\n");
	memory.correction_ns = 10e6;
	assert_int_equal(corrected_mib(220, 1), 220);
	write_shares(0);
	memory.correction_ns = 10e6;
	assert_int_equal(corrected_mib(220, 1), 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		CORRECT_TEST(shares_replace_an_estimate_in_doubt),
		CORRECT_TEST(shares_are_read_again_once_the_estimate_has_changed),
		CORRECT_TEST(shares_of_a_moment_of_writing_count_once),
		CORRECT_TEST(shares_do_not_count_while_a_member_exits),
		CORRECT_TEST(members_that_exit_take_their_part_of_the_difference),
		CORRECT_TEST(large_members_and_other_families_are_not_read),
		CORRECT_TEST(time_for_corrections_is_earned),
		CORRECT_TEST(a_small_doubt_is_left_alone),
		CORRECT_TEST(shares_without_the_anonymous_part_do_not_count),
		CORRECT_TEST(a_correction_holds_for_eight_seconds),
		CORRECT_TEST(pages_at_addresses_of_their_own_are_in_doubt_for_every_user),
		cmocka_unit_test_setup_teardown(a_doubt_begins_above_a_32nd, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_correction_settles_with_few_faults, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_member_has_to_stay_as_it_is, set_up, tear_down),
		cmocka_unit_test_setup_teardown(readings_behind_the_estimate_are_of_the_same_moment, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
