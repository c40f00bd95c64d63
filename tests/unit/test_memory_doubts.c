/* Tests of src/job/memory/memory_schedule.c: how much of a member's figures may be wrong, and what a reading notes. */
#include "laid_members.h"

/* How many KiB of a member's figures may be wrong, in a tick without time for readings. 0: it is not worth one. */
static int64_t doubt_of(int i)
{
	memory.members_most = MEMBERS;
	memory.last_ns = now_ns;
	memory.allowance_ns = -ALLOWANCE_MOST_NS;
	members[i].memory.uncertain_kib = 0;
	tick(0);
	return choice_of(i) == READING_LATE ? members[i].memory.uncertain_kib : 0;
}

static void test_doubts_about_a_process_alone(void **state)
{
	struct memory_reading *reading;
	struct member *one;

	(void)state;
	one = add(1, false, 1000);
	one->memory.shared_pages = 5;
	assert_int_equal(doubt_of(0), 5 * PAGE_KIB + WORTH_READING_KIB);
	one->memory.shared_pages = 0;
	memory.allowance_ns = ALLOWANCE_MOST_NS;
	memory.last_ns = now_ns;
	tick(0);
	assert_int_equal(choice_of(0), READING_TAKEN);
	reading = one->memory.reading;
	assert_int_equal(doubt_of(0), 0);
	/* A twentieth of 4,348 KiB and 32 KiB are tolerated. */
	one->memory.shared_pages = 252 / PAGE_KIB;
	one->memory.resident_pages = PAGES + 252 / PAGE_KIB;
	reading->statm_shared_kib = 3;
	assert_int_equal(doubt_of(0), 0);
	reading->statm_shared_kib = 2;
	assert_int_equal(doubt_of(0), 250);
	reading->statm_shared_kib = 252;
	/* It grows, and each page that it writes may be a copy of a page of shared memory. */
	one->memory.resident_pages += 100;
	assert_int_equal(doubt_of(0), 0);
	reading->has_copies = true;
	assert_int_equal(doubt_of(0), 0);
	memory.objects.map_files_refused = true;
	assert_int_equal(doubt_of(0), 400);
	reading->has_copies = false;
	assert_int_equal(doubt_of(0), 0);
	/* The reading is of other circumstances. */
	reading->family_size = 2;
	assert_int_equal(doubt_of(0), 252 + WORTH_READING_KIB);
	reading->family_size = 1;
	reading->kind = READING_SAMPLED;
	assert_int_equal(doubt_of(0), 252 + WORTH_READING_KIB);
	reading->kind = READING_ROLLUP;
	reading->is_settled = false;
	assert_int_equal(doubt_of(0), 252 + (PAGES + 100) * PAGE_KIB + WORTH_READING_KIB);
	reading->is_settled = true;
	/* It is old from eight seconds on, and does not count from ten on. */
	reading->taken_ns = now_ns - REFRESH_NS + 1;
	assert_int_equal(doubt_of(0), 0);
	reading->taken_ns--;
	assert_int_equal(doubt_of(0), 1);
	reading->taken_ns = now_ns - READING_AGE_NS;
	assert_int_equal(doubt_of(0), 1);
	reading->taken_ns--;
	assert_int_equal(doubt_of(0), 252 + WORTH_READING_KIB);
}

/* Faults tell that of a fork, and of a parent that has not forked since. 48 KiB are tolerated here. */
static void test_doubts_about_members_of_a_family(void **state)
{
	static const struct {
		int faults, grown_pages, common_kib;
		int64_t huge_kib;
		int64_t doubt_kib;
	} CASES[] = {
		{0, 0, 1000, 0, 0},       {12, 0, 1000, 0, 0},     {13, 0, 1000, 0, 52},
		{100, 0, 1000, 0, 400},   {100, 0, 100, 0, 100},   {100, 100, 1000, 0, 0},
		{100, 50, 1000, 0, 200},  {100, 50, 60, 0, 60},    {100, 101, 1000, 0, 804},
		{100, 100, 1000, 1, 800}, {0, -100, 1000, 0, 400}, {-5, 0, 1000, 0, 0},
	};
	struct memory_reading *of_parent, *of_fork;

	(void)state;
	add(1, false, 1000);
	add(1, true, 1000)->memory.faults = 50;
	members[1].memory.parent_faults = PAGES;
	assert_int_equal(doubt_of(0), PAGES * PAGE_KIB);
	assert_int_equal(doubt_of(1), 50 * PAGE_KIB + WORTH_READING_KIB);
	memory.allowance_ns = ALLOWANCE_MOST_NS;
	tick(0);
	of_parent = members[0].memory.reading;
	of_fork = members[1].memory.reading;
	assert_true(of_parent && of_fork);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		tree.memory.huge_kib = CASES[i].huge_kib;
		of_fork->faults = 50;
		of_fork->common_kib = CASES[i].common_kib;
		members[1].memory.faults = 50 + CASES[i].faults;
		members[1].memory.resident_pages = PAGES + CASES[i].grown_pages;
		assert_int_equal(doubt_of(1), CASES[i].doubt_kib);
		assert_true(of_fork->faults <= members[1].memory.faults);
	}
	tree.memory.huge_kib = 0;
	members[0].memory.resident_pages = PAGES + 100;
	members[0].memory.faults = of_parent->faults + 100;
	of_parent->common_kib = 1000;
	assert_int_equal(doubt_of(0), 800);
	members[0].memory.forks.is_known = true;
	members[0].memory.forks.faults_last = of_parent->faults;
	assert_int_equal(doubt_of(0), 0);
	members[0].memory.forks.faults_last++;
	assert_int_equal(doubt_of(0), 800);
	members[0].memory.resident_pages = PAGES;
	members[0].memory.faults = of_parent->faults;
	/* A member has come or gone, whose part of the common pages was divided. */
	of_parent->family_size = 3;
	assert_int_equal(doubt_of(0), 1000 / 2);
	of_parent->family_size = 2;
	/* Its largest fork was larger. */
	of_parent->forks_anon_kib = PAGES * PAGE_KIB + 100;
	members[1].memory.resident_pages = PAGES;
	assert_int_equal(doubt_of(0), 100);
	of_parent->forks_anon_kib = 0;
	/* Others map more, and the files that it has alone may be theirs as well. */
	members[1].memory.shared_pages = 25;
	of_parent->file_kib = 200;
	assert_int_equal(doubt_of(0), 100);
	of_parent->file_kib = 60;
	assert_int_equal(doubt_of(0), 60);
	of_parent->others_shared_kib = 200;
	of_parent->file_kib = 1000;
	assert_int_equal(doubt_of(0), 100);
	/* A process that shares its address space maps nothing more. */
	members[1].memory.shared_with = members[0].pid;
	of_parent->others_shared_kib = 0;
	of_parent->family_size = 1;
	assert_int_equal(doubt_of(0), 0);
}

/* Each look at the clock makes it larger: one between its sizes before and after a reading. */
static void test_a_reading_of_a_process_that_grows_meanwhile(void **state)
{
	static const struct {
		int anon_before, anon_step, shared_step;
		bool is_settled;
	} CASES[] = {
		{0, 0, 0, true},   {0, 8, 0, true},     {0, 100, 0, false}, {0, 26, 0, false},
		{0, -8, 0, true},  {0, -9, 0, false},   {0, 0, 8, true},    {0, 0, 9, false},
		{40, 25, 0, true}, {-60, 25, 0, false},
	};

	(void)state;
	add(1, false, 1000);
	add(1, true, 1000);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct memory_reading *reading;
		int64_t anon_kib, shared_kib;

		memory_reading_free(members[0].memory.reading);
		members[0].memory.reading = NULL;
		anon_more = CASES[i].anon_before;
		shared_more = 0;
		lay_size(FIRST_PID, PAGES + anon_more, 0);
		lay_rollup(FIRST_PID, 4000, 100);
		memory.allowance_ns = ALLOWANCE_MOST_NS;
		anon_step = CASES[i].anon_step;
		shared_step = CASES[i].shared_step;
		tick(1);
		anon_step = shared_step = 0;
		assert_int_equal(choice_of(0), READING_TAKEN);
		reading = members[0].memory.reading;
		assert_int_equal(reading->is_settled, CASES[i].is_settled);
		anon_kib = member_anon_kib(&tree, &members[0]);
		shared_kib = member_shared_kib(&tree, &members[0]);
		assert_int_equal(reading->statm_anon_kib,
				 abs(CASES[i].anon_step) <= 8 ? anon_kib : reading->anon_kib);
		assert_int_equal(reading->statm_shared_kib, CASES[i].shared_step <= 8 ? shared_kib : 100);
	}
}

/* Exactly 32 KiB and a 64th of the size before. */
static void test_growth_that_a_reading_tolerates(void **state)
{
	int step = 25, looks = 0;

	(void)state;
	add(1, false, 1000);
	add(1, true, 1000);
	for (int more = 0; more < 2; more++) {
		int64_t grown_kib, tolerated_kib;

		for (int before = 0; before < 50; before++) {
			anon_more = before;
			memory_reading_free(members[0].memory.reading);
			members[0].memory.reading = NULL;
			lay_size(FIRST_PID, PAGES + anon_more, 0);
			memory.allowance_ns = ALLOWANCE_MOST_NS;
			memory.last_ns = now_ns;
			anon_step = step + more;
			tick(0);
			anon_step = 0;
			grown_kib = (step + more) * PAGE_KIB;
			tolerated_kib = WORTH_READING_KIB +
					(member_anon_kib(&tree, &members[0]) - grown_kib) / GROWN_PART;
			looks += grown_kib == tolerated_kib;
			assert_int_equal(members[0].memory.reading->is_settled, grown_kib <= tolerated_kib);
		}
	}
	assert_true(looks > 0);
}

/* When a member of a sampled family is read again, its file pages may be those of the reading before. */
static void test_pages_of_files_are_kept_for_eight_seconds(void **state)
{
	static const struct {
		int64_t later_ns;
		int more_pages;
		int64_t file_kib, others_kib;
		bool had_files, is_kept;
	} CASES[] = {
		{NSEC_PER_SEC, 0, 0, 0, true, true},   {REFRESH_NS - 1, 0, 0, 0, true, true},
		{REFRESH_NS, 0, 0, 0, true, false},    {NSEC_PER_SEC, 8, 0, 0, true, true},
		{NSEC_PER_SEC, 9, 0, 0, true, false},  {NSEC_PER_SEC, 0, 0, 0, false, false},
		{NSEC_PER_SEC, 0, 32, 99, true, true}, {NSEC_PER_SEC, 0, 33, 99, true, false},
	};

	(void)state;
	add_family(2);
	tick(0);
	assert_true(members[0].memory.reading->has_files);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct memory_reading *reading = members[0].memory.reading;
		int64_t before_ns = now_ns;

		now_ns += CASES[i].later_ns;
		members[0].memory.shared_pages += CASES[i].more_pages;
		members[0].memory.resident_pages += CASES[i].more_pages;
		lay_size(FIRST_PID, members[0].memory.resident_pages, members[0].memory.shared_pages);
		reading->is_settled = false;
		reading->has_files = CASES[i].had_files;
		reading->file_kib = CASES[i].file_kib;
		reading->others_shared_kib = CASES[i].others_kib;
		reading->files_taken_ns = before_ns;
		memory.allowance_ns = ALLOWANCE_MOST_NS;
		tick(0);
		assert_int_equal(choice_of(0), READING_TAKEN);
		reading = members[0].memory.reading;
		assert_true(reading->has_files);
		assert_int_equal(reading->files_taken_ns, CASES[i].is_kept ? before_ns : now_ns);
		assert_int_equal(reading->taken_ns, now_ns);
		assert_int_equal(reading->file_kib, CASES[i].is_kept ? CASES[i].file_kib : 0);
	}
}

/* A 40th of the largest member: its parent's file pages stand for them. */
static void test_a_fork_with_few_files_is_read_without_them(void **state)
{
	static const struct {
		const char *status;
		bool has_files;
	} CASES[] = {{"Name: x\nRssFile: 102 kB\n", false},
		     {"Name: x\nRssFile: 103 kB\n", true},
		     {"Name: x\nRssFile: 0 kB\n", false},
		     {"Name: x\n", true}};

	(void)state;
	add_family(2);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		memory_reading_free(members[1].memory.reading);
		members[1].memory.reading = NULL;
		lay(FIRST_PID + 1, "status", CASES[i].status);
		memory.allowance_ns = ALLOWANCE_MOST_NS;
		tick(0);
		assert_int_equal(members[1].memory.reading->has_files, CASES[i].has_files);
		assert_true(members[0].memory.reading->has_files);
	}
	/* Its parent runs another program, or has gone. */
	lay(FIRST_PID + 1, "status", CASES[0].status);
	for (int gone = 0; gone < 2; gone++) {
		members[1].memory.reading->is_settled = false;
		members[1].memory.reading->has_files = false;
		members[0].memory.family = 2;
		members[1].parent_pid = gone ? 1 : FIRST_PID;
		members[1].memory.rollup_ns = NSEC_PER_SEC;
		memory.allowance_ns = ALLOWANCE_MOST_NS;
		tick(1);
		assert_true(members[1].memory.reading->has_files);
	}
}

static void test_which_members_their_siblings_stand_for(void **state)
{
	(void)state;
	add_family(MEMBERS);
	for (int i = 1; i < MEMBERS; i++) {
		members[i].memory.faults = 10;
		members[i].memory.parent_faults = PAGES;
	}
	tick(0);
	assert_int_equal(count_choices(READING_LIKE_SIBLINGS), MEMBERS - SIBLINGS_READ - 1);
	/* Twice the mean of the others and 32 KiB. */
	members[MEMBERS - 1].memory.faults = 28;
	members[MEMBERS - 2].memory.faults = 29;
	tick(0);
	assert_int_equal(choice_of(MEMBERS - 1), READING_LIKE_SIBLINGS);
	assert_int_equal(choice_of(MEMBERS - 2), READING_TAKEN);
	/* A fork that has forked in turn is unlike them. */
	members[MEMBERS - 1].parent_pid = members[MEMBERS - 3].pid;
	tick(0);
	assert_int_equal(choice_of(MEMBERS - 3), READING_TAKEN);
	assert_int_equal(choice_of(MEMBERS - 1), READING_LIKE_SIBLINGS);
	memory.families.at[0].has_own_objects = true;
	tick(0);
	assert_int_equal(count_choices(READING_LIKE_SIBLINGS), 0);
}

/* Each look at the clock takes 0.3 ms, and so does a reading: the most uncertain ones come first. */
static void test_the_most_uncertain_members_are_read_first(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		add((uint64_t)i + 1, false, 1000)->memory.shared_pages = i == 3 ? 10 : 20 * i;
	memory.members_most = MEMBERS;
	memory.last_ns = now_ns;
	memory.allowance_ns = 500e3;
	time_step = 300000;
	tick(0);
	assert_int_equal(choice_of(2), READING_TAKEN);
	assert_int_equal(choice_of(1), READING_TAKEN);
	assert_int_equal(choice_of(3), READING_LATE);
	assert_int_equal(choice_of(0), READING_LATE);
	assert_int_equal(memory.late_kib, 10 * PAGE_KIB + 2 * WORTH_READING_KIB);
	/* If two members are equally uncertain, the first one is read. */
	members[3].memory.shared_pages = 0;
	memory.last_ns = now_ns;
	memory.allowance_ns = 100e3;
	tick(0);
	assert_int_equal(choice_of(0), READING_TAKEN);
	assert_int_equal(choice_of(3), READING_LATE);
	/* --pss always reads all of them, and --pss off none. */
	memory.allowance_ns = -ALLOWANCE_MOST_NS;
	memory_schedule(&memory, &tree, PSS_MODE_ALWAYS);
	assert_int_equal(count_choices(READING_TAKEN), 4);
	assert_int_equal(memory.late_kib, 0);
	for (int i = 0; i < 4; i++)
		members[i].memory.choice = READING_OFF;
	memory_schedule(&memory, &tree, PSS_MODE_OFF);
	assert_int_equal(count_choices(READING_OFF), 4);
}

/* By a rollup that took longer than expected, the process was interrupted: a quarter more counts at most. */
static void test_the_time_that_a_rollup_takes(void **state)
{
	static const struct {
		int64_t before_ns, took_ns, noted_ns;
	} CASES[] = {{1000000, 900000, 900000},
		     {1000000, 1200000, 1200000},
		     {1000000, 1300000, 1250000},
		     {-1, 60000, 60000},
		     {-1, 1000000, 88476}};

	(void)state;
	add(1, false, 1000);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		memory_reading_free(members[0].memory.reading);
		members[0].memory.reading = NULL;
		members[0].memory.rollup_ns = CASES[i].before_ns;
		members[0].memory.rollup_pages = PAGES;
		memory.allowance_ns = ALLOWANCE_MOST_NS;
		time_step = CASES[i].took_ns;
		tick(0);
		time_step = 0;
		assert_true(llabs(members[0].memory.rollup_ns - CASES[i].noted_ns) < 100);
		assert_int_equal(members[0].memory.rollup_pages, PAGES);
	}
	/* In proportion to its size now. */
	members[0].memory.rollup_ns = 1000;
	members[0].memory.resident_pages = PAGES * 3;
	assert_true(member_rollup_ns(&tree, &members[0]) == 3000);
	members[0].memory.rollup_pages = 0;
	assert_true(fabs(member_rollup_ns(&tree, &members[0]) - (20e3 + 12 / 1024.0 * 13e6)) < 1);
}

/* A fork begins: 2 ms would be too long for a rollup, and so would 1.2 ms that were never measured. */
static void test_how_long_a_rollup_may_take(void **state)
{
	static const struct {
		int64_t rollup_ns;
		int resident_mib;
		bool was_sampled, is_sampled;
	} CASES[] = {
		{1500000, 4, false, false}, {1500001, 4, false, true}, {900001, 4, true, true},
		{900000, 4, true, false},   {-1, 77, false, false},    {-1, 78, false, true},
		{-1, 45, true, false},      {-1, 47, true, true},
	};

	(void)state;
	add(1, false, 1000);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		members[0].memory.rollup_ns = CASES[i].rollup_ns;
		members[0].memory.resident_pages = members[0].memory.rollup_pages =
			CASES[i].resident_mib * 256;
		assert_int_equal(memory_families_build(&memory.families, &tree), 0);
		memory.families.at[0].sampled = CASES[i].was_sampled;
		memory_schedule(&memory, &tree, PSS_MODE_OFF);
		assert_false(memory.families.at[0].sampled);
		memory.families.at[0].sampled = CASES[i].was_sampled;
		memory.members_most = MEMBERS;
		memory.last_ns = now_ns;
		memory.allowance_ns = -1;
		memory_schedule(&memory, &tree, PSS_MODE_AUTO);
		assert_int_equal(memory.families.at[0].sampled, CASES[i].is_sampled);
	}
}

static void test_why_the_root_could_not_be_read(void **state)
{
	(void)state;
	add(1, false, 1000);
	add(2, false, 1000);
	tree.root_pid = FIRST_PID + 1;
	assert_int_equal(unlink("proc/100/smaps_rollup") + unlink("proc/100/maps"), 0);
	tick(0);
	assert_int_equal(choice_of(0), READING_REFUSED);
	assert_int_equal(memory.ruled_out, 0);
	assert_int_equal(members[0].memory.reading_failed_ns, now_ns);
	assert_int_equal(members[1].memory.reading_failed_ns, 0);
	tree.root_pid = FIRST_PID;
	tick(10);
	assert_int_equal(memory.ruled_out, -ENOENT);
	assert_false(members[0].memory.is_refused);
	lay_rollup(FIRST_PID, 4000, 0);
	tick(9);
	assert_int_equal(memory.ruled_out, -ENOENT);
	tick(1);
	assert_int_equal(memory.ruled_out, 0);
	assert_int_equal(members[0].memory.reading_failed_ns, 0);
}

/* Its size is later than its page faults: it has faulted in what it has grown by. */
static void test_faults_of_the_moment_of_a_reading(void **state)
{
	(void)state;
	add(1, false, 1000);
	for (int huge = 0; huge < 2; huge++) {
		memory_reading_free(members[0].memory.reading);
		members[0].memory.reading = NULL;
		tree.memory.huge_kib = huge;
		members[0].memory.anon_at_faults = PAGES - 100;
		memory.allowance_ns = ALLOWANCE_MOST_NS;
		tick(1);
		assert_int_equal(members[0].memory.reading->faults, PAGES + (huge ? 0 : 100));
		assert_int_equal(members[0].memory.reading->family_size, 1);
	}
	tree.memory.huge_kib = 0;
	memory_reading_free(members[0].memory.reading);
	members[0].memory.reading = NULL;
	members[0].memory.anon_at_faults = PAGES + 100;
	tick(1);
	assert_int_equal(members[0].memory.reading->faults, PAGES);
}

/* Between two sampled readings the fork faulted in 2 MiB, of which 1 MiB had been common. Less than 1 MiB tells nothing. */
static void test_how_many_faults_replace_common_pages(void **state)
{
	struct memory_family *family;

	(void)state;
	add_family(2);
	tick(0);
	family = &memory.families.at[0];
	assert_true(family->faulted_kib == 0);
	members[1].memory.faults += 512;
	lay_pages(FIRST_PID + 1, 256);
	memory.allowance_ns = ALLOWANCE_MOST_NS;
	tick(1);
	assert_int_equal(choice_of(1), READING_TAKEN);
	family = &memory.families.at[0];
	assert_true(family->faulted_kib == 2048 && family->replaced_kib == 1024);
	/* Earlier ones count half, and no more were replaced than were faulted in. */
	members[1].memory.faults += 256;
	lay_pages(FIRST_PID + 1, PAGES);
	tick(1);
	family = &memory.families.at[0];
	assert_true(family->faulted_kib == 1024 + 1024 && family->replaced_kib == 512 + 1024);
	members[1].memory.faults += 255;
	members[1].memory.reading->is_settled = false;
	tick(1);
	family = &memory.families.at[0];
	assert_true(family->faulted_kib == 2048 && family->replaced_kib == 1536);
	/* It has more common pages than before. */
	members[1].memory.faults += 512;
	members[1].memory.reading->is_settled = false;
	lay_pages(FIRST_PID + 1, 0);
	tick(1);
	family = &memory.families.at[0];
	assert_true(family->faulted_kib == 1024 + 2048 && family->replaced_kib == 768);
}

/* All files of a job of one process count, so that a sample of 192 places is enough. */
static void test_files_of_a_process_alone_are_looked_at_less(void **state)
{
	(void)state;
	add(1, false, NSEC_PER_SEC);
	lay(FIRST_PID, "maps", "4000000-40c1000 r--p 00000000 08:01 7 /data\n");
	for (int others = 0; others < 2; others++) {
		memory_reading_free(members[0].memory.reading);
		members[0].memory.reading = NULL;
		memory.allowance_ns = ALLOWANCE_MOST_NS;
		tick(0);
		assert_int_equal(members[0].memory.reading->files.level, !others);
		add(2, false, 1000);
	}
}

/* The machine holds more, so that common pages may have become copies. */
static void test_doubts_about_copies_without_page_faults(void **state)
{
	struct memory_reading *reading;

	(void)state;
	add(1, false, 1000);
	add(1, true, 1000);
	tick(0);
	reading = members[1].memory.reading;
	tree.memory.suspect_ns = reading->taken_ns;
	assert_int_equal(doubt_of(1), 0);
	tree.memory.suspect_ns++;
	assert_int_equal(doubt_of(1), 1);
	reading->is_settled = false;
	assert_int_equal(doubt_of(1), PAGES * PAGE_KIB + WORTH_READING_KIB);
}

/* All programs have 40 MiB in huge pages, which are in no resident set. With pages of several sizes, the machine does not tell how much is in use. */
static void test_doubts_about_huge_pages(void **state)
{
	struct memory_reading *reading;

	(void)state;
	add(1, false, 1000);
	memory.huge_kib = 40 * 1024;
	lay(FIRST_PID, "status", "HugetlbPages: 4096 kB\n");
	tick(0);
	reading = members[0].memory.reading;
	assert_int_equal(reading->huge_mapped_kib, 4096);
	lay(FIRST_PID, "status", "HugetlbPages: 8192 kB\n");
	assert_int_equal(doubt_of(0), 0);
	memory.huge_kib += 2048;
	assert_int_equal(doubt_of(0), 4096);
	assert_int_equal(doubt_of(0), 4096);
	lay(FIRST_PID, "status", "HugetlbPages: 2048 kB\n");
	assert_int_equal(doubt_of(0), 2048);
	/* One of 64 KiB: none is tolerated. */
	lay(FIRST_PID, "status", "HugetlbPages: 4160 kB\n");
	assert_int_equal(doubt_of(0), 64);
	/* The other programs have them. */
	lay(FIRST_PID, "status", "HugetlbPages: 4096 kB\n");
	assert_int_equal(doubt_of(0), 0);
	lay(FIRST_PID, "status", "HugetlbPages: 8192 kB\n");
	assert_int_equal(doubt_of(0), 0);
	memory.huge_kib = -1;
	assert_int_equal(doubt_of(0), 4096);
	lay(FIRST_PID, "status", "HugetlbPages: 4096 kB\n");
	assert_int_equal(doubt_of(0), 0);
	lay(FIRST_PID, "status", "HugetlbPages: 8192 kB\n");
	assert_int_equal(doubt_of(0), 4096);
	/* Kernels before 4.4 do not tell it. */
	lay(FIRST_PID, "status", "VmRSS: 4096 kB\n");
	assert_int_equal(doubt_of(0), 0);
}

static void test_a_reading_keeps_the_exclusive_pages_of_the_one_before(void **state)
{
	(void)state;
	add_family(2);
	for (int own = 256; own <= 1024; own *= 2) {
		lay_pages(FIRST_PID + 1, own);
		tree.memory.suspect_ns = now_ns + 1;
		memory.allowance_ns = ALLOWANCE_MOST_NS;
		tick(1);
		assert_int_equal(members[1].memory.reading->exclusive_kib, own * PAGE_KIB);
		assert_int_equal(members[1].memory.reading->exclusive_before_kib,
				 own > 256 ? own / 2 * PAGE_KIB : 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(test_doubts_about_a_process_alone),
		TEST(test_doubts_about_members_of_a_family),
		TEST(test_a_reading_of_a_process_that_grows_meanwhile),
		TEST(test_growth_that_a_reading_tolerates),
		TEST(test_pages_of_files_are_kept_for_eight_seconds),
		TEST(test_a_fork_with_few_files_is_read_without_them),
		TEST(test_which_members_their_siblings_stand_for),
		TEST(test_the_most_uncertain_members_are_read_first),
		TEST(test_the_time_that_a_rollup_takes),
		TEST(test_how_long_a_rollup_may_take),
		TEST(test_why_the_root_could_not_be_read),
		TEST(test_faults_of_the_moment_of_a_reading),
		TEST(test_how_many_faults_replace_common_pages),
		TEST(test_files_of_a_process_alone_are_looked_at_less),
		TEST(test_doubts_about_copies_without_page_faults),
		TEST(test_doubts_about_huge_pages),
		TEST(test_a_reading_keeps_the_exclusive_pages_of_the_one_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
