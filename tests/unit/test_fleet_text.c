/* Tests of src/history/fleet_text.c: the table of groups, by the width of the screen, and the lines below a row. */
#include "made_fleet.h"

static struct buffer out;
static struct fleet_group groups[4];
static char key[200], no_reason[] = "", reason_memory[] = "out of memory", reason_exit[] = "exit 2";

/* One group with all figures. */
static int begin(void **state)
{
	int result = fleet_begin(state);

	out = BUFFER(1 << 20);
	strcpy(key, "\001train");
	for (size_t i = 0; i < 4; i++)
		groups[i] = (struct fleet_group){
			.key = key,
			.runs = 12,
			.ends = {[FLEET_OK] = 9, [FLEET_FAILED] = 2, [FLEET_CUT] = 1},
			.wall_secs = {10, 20, 30},
			.cpu_secs = {40, 50, 60},
			.cores = {1, 2.5, 3},
			.memory_mib = {100, 200, 300},
			.oom_had_mib = NAN,
			.cores_asked = NAN,
			.memory_asked_mib = NAN,
			.unused_core_hours = 5.25,
			.unused_gib_hours = 7.5,
			.core_runs = 3,
			.memory_runs = 4,
			.wall_drift.change = NAN,
			.memory_drift.change = NAN,
		};
	fleet.groups = groups;
	fleet.group_count = 1;
	fleet.by[0].part = FLEET_JOB;
	fleet.by_count = 1;
	fleet.reasons[0] = no_reason;
	fleet.reasons[1] = reason_memory;
	fleet.reasons[2] = reason_exit;
	fleet.reason_count = 3;
	return result;
}

static int end(void **state)
{
	fleet = (struct fleet){0};
	buffer_done(&out);
	return fleet_end(state);
}

static const char *text_of(size_t most, size_t columns)
{
	const struct screen screen = {.columns = columns};

	buffer_clear(&out);
	fleet_add_text(&out, &fleet, most, &screen);
	return out.data;
}

#define HEADING "JOB    RUNS  FAILED  WALL P50  WALL P95  CPU P95  MEM P95  MEM MAX  CORE H  GIB H\n"
#define ROW "train    12       2    10.0 s    20.0 s   50.0 s  200 MiB  300 MiB    5.25   7.50\n"

static void a_row_has_the_figures_of_its_group(void **state)
{
	(void)state;
	assert_string_equal(text_of(0, 200), HEADING ROW);
	/* It just fits. */
	assert_string_equal(text_of(0, strlen(ROW) - 1), HEADING ROW);
}

static void unknown_figures_are_dashes(void **state)
{
	(void)state;
	groups[0].wall_secs = groups[0].cpu_secs = groups[0].memory_mib = (struct fleet_range){NAN, NAN, NAN};
	groups[0].core_runs = groups[0].memory_runs = 0;
	assert_string_equal(
		text_of(0, 200), HEADING
		"train    12       2         -         -        -        -        -       -      -\n");
	groups[0].at_limit = 2;
	groups[0].memory_mib.most = 300;
	assert_non_null(strstr(text_of(0, 200), "  >=300 MiB "));
}

static const char *core_hours(double hours)
{
	static char cell[32];
	const char *row;

	groups[0].unused_core_hours = hours;
	groups[0].memory_runs = 0;
	row = strchr(text_of(0, 200), '\n') + 1;
	assert_int_equal(sscanf(row, "train 12 2 10.0 s 20.0 s 50.0 s 200 MiB 300 MiB %31s", cell), 1);
	return cell;
}

static void many_hours_are_written_in_full(void **state)
{
	(void)state;
	assert_string_equal(core_hours(0), "0");
	assert_string_equal(core_hours(0.0099), "<0.01");
	assert_string_equal(core_hours(0.01), "0.010");
	assert_string_equal(core_hours(999), "999");
	assert_string_equal(core_hours(1000), "1000");
	assert_string_equal(core_hours(1234567.4), "1234567");
}

/* ---- width --------------------------------------------------------------------------------------------------- */

static void a_narrow_screen_loses_columns_in_their_order(void **state)
{
	static const struct {
		size_t columns;
		const char *heading;
	} CASES[] = {
		{81, HEADING},
		{80, "JOB    RUNS  FAILED  WALL P50  WALL P95  MEM P95  MEM MAX  CORE H  GIB H\n"},
		{72, "JOB    RUNS  FAILED  WALL P50  WALL P95  MEM P95  MEM MAX  CORE H  GIB H\n"},
		{71, "JOB    RUNS  FAILED  WALL P95  MEM P95  MEM MAX  CORE H  GIB H\n"},
		{62, "JOB    RUNS  FAILED  WALL P95  MEM P95  MEM MAX  CORE H  GIB H\n"},
		{61, "JOB    RUNS  FAILED  WALL P95  MEM P95  CORE H  GIB H\n"},
		{53, "JOB    RUNS  FAILED  WALL P95  MEM P95  CORE H  GIB H\n"},
		{52, "JOB    RUNS  FAILED  MEM P95  CORE H  GIB H\n"},
		{1, "JOB    RUNS  FAILED  MEM P95  CORE H  GIB H\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		const char *text = text_of(0, CASES[i].columns);

		if (strncmp(text, CASES[i].heading, strlen(CASES[i].heading)) != 0)
			fail_msg("%zu columns: %s", CASES[i].columns, text);
	}
}

/* Returns the first cell of the row, without its blanks. */
static const char *name_in(size_t columns)
{
	static char name[200];
	const char *row = strchr(text_of(0, columns), '\n') + 1;

	snprintf(name, sizeof name, "%.*s", (int)(strstr(row, "  ") - row), row);
	return name;
}

/* To 24 columns before the table loses a column, and to 16 after that. */
static void a_long_name_is_cut(void **state)
{
	(void)state;
	strcpy(key, "\001ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
	assert_string_equal(name_in(200), "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
	assert_string_equal(name_in(112), "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
	assert_string_equal(name_in(111), "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345...");
	assert_string_equal(name_in(100), "ABCDEFGHIJKLMNOPQRSTU...");
	/* A column goes instead. */
	assert_string_equal(name_in(99), "ABCDEFGHIJKLMNOPQRSTU...");
	assert_string_equal(name_in(62), "ABCDEFGHIJKLMNOPQRSTU...");
	assert_string_equal(name_in(61), "ABCDEFGHIJKLMNOPQRST...");
	assert_string_equal(name_in(54), "ABCDEFGHIJKLM...");
	assert_string_equal(name_in(10), "ABCDEFGHIJKLM...");
	/* By characters. */
	strcpy(key, "\001äöüäöüäöüäöüäöüäöü");
	assert_string_equal(name_in(10), "äöüäöüäöüäöüä...");
	strcpy(key, "\001äöüäöüäöüäöüäöüä");
	assert_string_equal(name_in(10), "äöüäöüäöüäöüäöüä");
}

/* ---- names --------------------------------------------------------------------------------------------------- */

static void a_name_has_the_parts_that_are_known(void **state)
{
	static const struct {
		const char *key, *name;
	} CASES[] = {
		{"\001train\001load\001n7", "train (load, n7)"},
		{"\001train\002\001n7", "train (n7)"},
		{"\001train\001\002", "train"},
		{"\002\002\002", "-"},
		{"\002\001load\002", "load"},
		{"\001a\003\133b\002\002", "a?b"},
	};

	(void)state;
	fleet.by[1].part = FLEET_TASK;
	fleet.by[2] = (struct fleet_by){FLEET_TAG, "team"};
	fleet.by_count = 3;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		strcpy(key, CASES[i].key);
		assert_string_equal(name_in(200), CASES[i].name);
	}
	assert_int_equal(strncmp(out.data, "JOB (TASK, team)  RUNS", 22), 0);
	fleet.by[1].part = FLEET_HOST;
	fleet.by[2].part = FLEET_USER;
	assert_int_equal(strncmp(text_of(0, 200), "JOB (HOST, USER)  RUNS", 22), 0);
}

static void rows_that_are_left_out_are_told(void **state)
{
	(void)state;
	fleet.group_count = 4;
	assert_string_equal(text_of(1, 200), HEADING ROW "3 more rows: resource-tracker history -n 0\n");
	assert_string_equal(text_of(4, 200), HEADING ROW ROW ROW ROW);
	assert_string_equal(text_of(9, 200), HEADING ROW ROW ROW ROW);
	assert_string_equal(text_of(0, 200), HEADING ROW ROW ROW ROW);
}

/* ---- lines below a row --------------------------------------------------------------------------------------- */

static void assert_note(const char *wanted)
{
	const char *text = text_of(0, 200);

	if (strncmp(text, HEADING ROW, strlen(HEADING ROW)) == 0)
		assert_string_equal(text + strlen(HEADING ROW), wanted);
	else
		fail_msg("%s", text);
}

static void reasons_follow_each_other(void **state)
{
	(void)state;
	groups[0].reasons[0] = 9;
	assert_note("");
	groups[0].reasons[1] = 3;
	assert_note("    3 out of memory\n");
	groups[0].reasons[2] = 1;
	assert_note("    3 out of memory, 1 exit 2\n");
	groups[0].reasons[1] = 0;
	assert_note("    1 exit 2\n");
}

static void a_request_stands_beside_the_use(void **state)
{
	(void)state;
	groups[0].cores_asked = 4;
	groups[0].memory_asked_mib = 1024;
	assert_note(
		"    asked for 4 cores and 1.00 GiB; 95 % of the runs used at most 2.50 cores and 200 MiB\n");
	groups[0].memory_asked_mib = NAN;
	assert_note("    asked for 4 cores; 95 % of the runs used at most 2.50 cores\n");
	groups[0].cores_asked = 1;
	assert_note("    asked for 1 core; 95 % of the runs used at most 2.50 cores\n");
	groups[0].memory_asked_mib = 1024;
	groups[0].cores.p95 = NAN;
	assert_note("    asked for 1.00 GiB; 95 % of the runs used at most 200 MiB\n");
	groups[0].memory_asked_mib = NAN;
	assert_note("");
	groups[0].cores_asked = NAN;
	groups[0].cores.p95 = 3;
	assert_note("");
}

static void limits_that_were_reached_are_told(void **state)
{
	(void)state;
	groups[0].oom_had_mib = 512;
	assert_note("    out of memory with 512 MiB\n");
	groups[0].at_limit = 1;
	assert_non_null(strstr(text_of(0, 200),
			       "\n    out of memory with 512 MiB; 1 run reached the memory limit\n"));
	groups[0].at_limit = 2;
	groups[0].oom_had_mib = 0;
	assert_non_null(strstr(text_of(0, 200), "\n    2 runs reached the memory limit\n"));
}

static void idle_gpus_and_unused_memory_have_an_amount(void **state)
{
	(void)state;
	groups[0].unused_gpu_hours = 2.5;
	groups[0].gpu_runs = 1;
	assert_note("    GPUs had no work for 2.50 GPU hours of 1 run\n");
	groups[0].gpu_runs = 2;
	assert_note("    GPUs had no work for 2.50 GPU hours of 2 runs\n");
	groups[0].unused_gpu_hours = 0;
	assert_note("");
	fleet.usd_per_gib_hour = 0.01;
	assert_note("    unused memory: 0.075 USD\n");
	groups[0].unused_gib_hours = 0;
	assert_non_null(text_of(0, 200));
	assert_null(strstr(out.data, "USD"));
	groups[0].unused_gib_hours = 7.5;
	groups[0].memory_runs = 0;
	assert_null(strstr(text_of(0, 200), "USD"));
}

static void only_a_clear_drift_is_told(void **state)
{
	(void)state;
	groups[0].wall_drift = (struct fleet_drift){0.25, 5, 20, true};
	groups[0].memory_drift = (struct fleet_drift){-0.5, 6, 21, true};
	assert_note("    memory -50 %: the last 6 runs against 21 before them\n"
		    "    wall time +25 %: the last 5 runs against 20 before them\n");
	groups[0].memory_drift.is_clear = groups[0].wall_drift.is_clear = false;
	assert_note("");
}

/* Its rest is indented by two more columns. */
static void a_long_note_is_folded(void **state)
{
	(void)state;
	groups[0].cores_asked = 4;
	groups[0].memory_asked_mib = 1024;
	assert_non_null(strstr(text_of(0, 59), "\n    asked for 4 cores and 1.00 GiB; 95 % of the runs used\n"
					       "      at most 2.50 cores and 200 MiB\n"));
}

#define TEXT_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEXT_TEST(a_row_has_the_figures_of_its_group),
		TEXT_TEST(unknown_figures_are_dashes),
		TEXT_TEST(many_hours_are_written_in_full),
		TEXT_TEST(a_narrow_screen_loses_columns_in_their_order),
		TEXT_TEST(a_long_name_is_cut),
		TEXT_TEST(a_name_has_the_parts_that_are_known),
		TEXT_TEST(rows_that_are_left_out_are_told),
		TEXT_TEST(reasons_follow_each_other),
		TEXT_TEST(a_request_stands_beside_the_use),
		TEXT_TEST(limits_that_were_reached_are_told),
		TEXT_TEST(idle_gpus_and_unused_memory_have_an_amount),
		TEXT_TEST(only_a_clear_drift_is_told),
		TEXT_TEST(a_long_note_is_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
