/* Tests of src/job/member_lines.c: the words of the lines that TRACKER_DEBUG=members writes. */
#include "job_processes.h"

#include "job/member_lines.h"

static struct process_memory memory;
static struct memory_family family;
static struct memory_reading reading;
static struct member *member;

/* A member of 2 MiB in a family of its own that has used 2.5 s of CPU time. */
static int begin_lines(void **state)
{
	struct member new_member = {
		.pid = PIDS + 100,
		.files = {-1, -1, -1, -1, -1},
		.cpu = NEW_MEMBER_CPU,
		.memory = NEW_MEMBER_MEMORY,
		.program = {.comm = "tool"},
	};

	setenv("TRACKER_DEBUG", "members", 1);
	if (begin_job(state) < 0 || process_tree_reserve(tree) < 0)
		return -1;
	new_member.memory.resident_pages = 512;
	new_member.memory.share = 1536;
	new_member.memory.family = 7;
	new_member.cpu.account.own.of[USAGE_CPU_NS] = 2500 * NSEC_PER_MSEC;
	process_tree_append(tree, &new_member);
	member = member_of(100);
	family = (struct memory_family){.id = 7, .count = 1};
	memory = (struct process_memory){.families = {.at = &family, .count = 1}};
	reading = (struct memory_reading){.kind = READING_ROLLUP, .taken_ns = clock_ns, .has_anon = true};
	return 0;
}

static int end_lines(void **state)
{
	member->memory.reading = NULL;
	return end_job(state);
}

/* The lines that are written to standard error. */
static const char *said(void)
{
	static char text[4000];
	int ends[2], before = dup(STDERR_FILENO);
	ssize_t length;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	dup2(ends[1], STDERR_FILENO);
	member_lines_say(tree, &memory);
	dup2(before, STDERR_FILENO);
	close(before);
	close(ends[1]);
	length = read(ends[0], text, sizeof text - 1);
	close(ends[0]);
	text[length > 0 ? length : 0] = '\0';
	return text;
}

static void assert_says(const char *wanted)
{
	const char *text = said();

	if (!strstr(text, wanted))
		fail_msg("\"%s\" is not in \"%s\"", wanted, text);
}

static void a_line_has_all_parts_of_a_members_time(void **state)
{
	struct account *account = &member->cpu.account;

	(void)state;
	assert_says(
		" member: 7000100 tool: cpu 2.500 s = 2.500 own + 0.000 waited for + 0.000 carried + 0.000 "
		"settled - 0.000 before (ran and was read); memory 1.5 MiB of 2.0 resident, by resident "
		"set alone (readings are off); family of 1, smaps_rollup takes 0.05 ms of 1.00 at most\n");
	account->waited.of[USAGE_CPU_NS] = NSEC_PER_SEC;
	account->settled.of[USAGE_CPU_NS] = 250 * NSEC_PER_MSEC;
	account->before.of[USAGE_CPU_NS] = 500 * NSEC_PER_MSEC;
	account->carried.of[USAGE_CPU_NS] = 750 * NSEC_PER_MSEC;
	account->carries = true;
	assert_says("cpu 4.000 s = 2.500 own + 1.000 waited for + 0.750 carried + 0.250 settled - 0.500 "
		    "before (");
}

static void a_line_tells_when_its_time_is_from(void **state)
{
	(void)state;
	member->quiet_ticks = 1;
	assert_says("before (has not run since it was read)");
	member->is_behind = true;
	assert_says("before (ran, read in a later pass: many members ran)");
	member->is_zombie = true;
	assert_says("before (ended, not waited for yet)");
	assert_says("by none, it has ended ()");
}

static void a_line_names_the_source_of_the_memory(void **state)
{
	(void)state;
	member->memory.resident_pages = 0;
	assert_says("of 0.0 resident, by none, it has ended (); family of 1");
	member->memory.resident_pages = 1;
	assert_says("of 0.0 resident, by resident set alone (");
	member->memory.resident_pages = 512;
	family.count = 0;
	assert_says("by none, another shares its memory (); family of 0");
	family.count = 2;
	assert_says("by resident set alone (readings are off); family of 2");
	member->memory.is_forked = true;
	assert_says("by page faults alone (");
	family.read = 1;
	assert_says("by page faults, as those of siblings that were read (");
	member->memory.reading = &reading;
	assert_says("by smaps_rollup (");
	reading.kind = READING_SAMPLED;
	/* Its family needs a reading of the other kind. */
	assert_says("by page faults, as those of siblings that were read (");
	family.sampled = true;
	assert_says("by sampled pages (");
	family.count = 1;
	reading.taken_ns = clock_ns - 10 * NSEC_PER_SEC - 1;
	assert_says("by resident set alone (");
	member->memory.family = 8;
	assert_says("by none, another shares its memory (); family of 0");
}

/* A child that shares its parent's address space is counted there. */
static void a_line_of_a_shared_address_space(void **state)
{
	struct member parent = {.pid = PIDS + 50, .files = {-1, -1, -1, -1, -1}, .cpu = NEW_MEMBER_CPU};

	(void)state;
	process_tree_append(tree, &parent);
	member = member_of(100);
	member->parent_pid = PIDS + 50;
	assert_says("by resident set alone (readings are off); family of 1");
	member->memory.shared_with = PIDS + 50;
	assert_says("by none, another shares its memory (); family of 1");
	assert_says(" member: 7000050 : cpu 0.000 s = ");
}

static void a_line_tells_why_a_member_was_read_or_not(void **state)
{
	static const struct {
		enum reading_choice choice;
		const char *words;
	} CHOICES[] = {
		{READING_OFF, "(readings are off)"},
		{READING_STILL_RIGHT, "(its reading is still right after 1.5 s)"},
		{READING_LIKE_SIBLINGS, "(enough siblings were read)"},
		{READING_REFUSED, "(the kernel refuses a reading)"},
		{READING_LATE, "(no time left for a reading: 0.5 MiB in doubt)"},
		{READING_GIVES_BACK, "(frees memory now, so its earlier reading stays)"},
		{READING_TAKEN, "(read now: 0.5 MiB in doubt)"},
	};

	(void)state;
	member->memory.uncertain_kib = 512;
	member->memory.reading = &reading;
	reading.taken_ns -= 1500 * NSEC_PER_MSEC;
	for (size_t i = 0; i < sizeof CHOICES / sizeof *CHOICES; i++) {
		member->memory.choice = CHOICES[i].choice;
		assert_says(CHOICES[i].words);
	}
	member->memory.reading = NULL;
	member->memory.choice = READING_STILL_RIGHT;
	assert_says("(its reading is still right after 0.0 s)");
}

/* 20 us, and 13 ms for each GiB; once it was measured, as much for each page. */
static void a_line_tells_how_long_a_reading_takes(void **state)
{
	(void)state;
	member->memory.resident_pages = 262144;
	assert_says("of 1024.0 resident");
	assert_says("smaps_rollup takes 13.02 ms of 1.00 at most\n");
	member->memory.rollup_ns = 300000;
	member->memory.rollup_pages = 131072;
	assert_says("smaps_rollup takes 0.60 ms of 1.50 at most\n");
	member->memory.rollup_ns = 0;
	assert_says("smaps_rollup takes 0.00 ms of 1.50 at most\n");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin_lines, end_lines)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(a_line_has_all_parts_of_a_members_time),    TEST(a_line_tells_when_its_time_is_from),
		TEST(a_line_names_the_source_of_the_memory),     TEST(a_line_of_a_shared_address_space),
		TEST(a_line_tells_why_a_member_was_read_or_not), TEST(a_line_tells_how_long_a_reading_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
