/* Tests of src/regions/regions.c: phases of a recording with its marks, and of files of gpu_tracker. */
#include "scratch.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>

#include "base/cleanup.h"
#include "regions/regions.h"

static rt_regions *regions;
static struct rt_problem problem;

static int leave(void **state)
{
	rt_regions_free(regions);
	regions = NULL;
	return scratch_leave(state);
}

/* Four samples, a second each, after another run in the same file. */
static void put_recording(void)
{
	FILE *file = fopen("r.jsonl", "w");

	for (int run = 0; run < 2; run++)
		for (int i = 0; i < 4; i++)
			fprintf(file,
				"{\"timestamp\":%d.0,\"elapsed_secs\":%d.0,\"sample\":%d,\"host\":\"h\","
				"\"tracked_pid\":7,"
				"\"actual_interval_ms\":1000.0%s,\"cpu\":{\"process_cores_used\":%d.0,"
				"\"process_memory_mib\":%d.0,\"process_disk_read_bytes\":%d}}\n",
				1000 + 100 * run + i, i + 1, i,
				i == 0 ? ",\"run_start\":{\"interval_secs\":1.0}" : "", run ? i + 1 : 50,
				run ? 10 * (i + 1) : 7000, run ? 100 * (i + 1) : 9);
	fclose(file);
}

static void add_mark(FILE *file, double secs, const char *event, const char *name)
{
	fprintf(file,
		"{\"timestamp_ns\":%lld,\"monotonic_ns\":1,\"event\":\"%s\",\"name\":\"%s\",\"id\":null,"
		"\"pid\":7,"
		"\"host\":\"h\"}\n",
		(long long)(secs * 1e9), event, name);
}

static void put_marks(const char *path)
{
	FILE *file = fopen(path, "w");

	add_mark(file, 1100.5, "start", "load");
	add_mark(file, 1101.5, "stop", "load");
	add_mark(file, 1102, "start", "fit");
	add_mark(file, 1102.25, "stop", "other");
	fputs("{damage\n", file);
	fclose(file);
}

static int read_regions(const char *marks, const char *const *columns, size_t count)
{
	const char *const paths[] = {"r.jsonl"};

	rt_regions_free(regions);
	regions = NULL;
	problem.text[0] = '\0';
	return rt_regions_read(paths, 1, marks, columns, count, &regions, &problem);
}

static const char *const COLUMNS[] = {"process_memory_mib", "process_cpu_usage", "process_disk_read_bytes"};

static int64_t fact(const char *name)
{
	return rt_table_get(regions->facts, (size_t)rt_table_find(regions->facts, name), 0).count;
}

static void phases_have_their_part_of_the_last_run(void **state)
{
	struct rt_phase phase = {.size = sizeof phase};
	double start, stop;

	(void)state;
	put_recording();
	put_marks("r.jsonl.marks");
	assert_int_equal(read_regions(NULL, COLUMNS, 3), 0);
	assert_true(regions->marked && regions->recorded && !regions->of_machine);
	/* "other" has no call, because its only mark is a stop. */
	assert_int_equal(regions->count, 3);
	assert_true(isinf(regions->list[2].began) && regions->list[2].calls == 0);
	assert_int_equal(regions->samples, 4);
	assert_int_equal(rt_table_row_count(regions->facts), 1);
	assert_int_equal(fact("samples"), 4);
	assert_int_equal(fact("open_calls"), 1);
	assert_int_equal(fact("unmatched_stops"), 1);
	assert_int_equal(fact("bad_marks"), 1);
	assert_true(regions->sampled_mib == 40);
	assert_true(regions->earliest < 1101 && regions->latest == 1103);
	/* Memory holds for a moment, cores for an interval, and bytes are an amount of it. */
	assert_int_equal(regions->holds[0], HOLDS_MOMENT);
	assert_int_equal(regions->holds[1], HOLDS_LEVEL);
	assert_int_equal(regions->holds[2], HOLDS_AMOUNT);
	assert_true(regions->overall[0][REGION_MEAN] == 25);
	assert_true(regions->overall[2][REGION_TOTAL] == 1000);
	assert_string_equal(regions->list[1].name, "load");
	assert_int_equal(regions->list[1].timepoints, 1);
	assert_true(regions->list[1].began == 1100.5);
	assert_true(regions->list[1].seconds[REGION_TOTAL] == 1);
	assert_true(regions->list[1].measures[0][REGION_MAX] == 20);
	assert_true(regions->list[1].measures[1][REGION_TOTAL] == 2.5);
	assert_true(regions->list[1].measures[2][REGION_TOTAL] == 250);
	/* It was never stopped. */
	assert_int_equal(rt_regions_phase(regions, 0, &phase), 0);
	assert_string_equal(phase.name, "fit");
	assert_int_equal(phase.calls, 1);
	assert_true(phase.total_secs == 1);
	assert_int_equal(rt_regions_call(regions, 0, 0, &start, &stop), 0);
	assert_true(start == 1102 && stop == 1103);
	assert_int_equal(rt_regions_phase(regions, 3, &phase), -ENOENT);
	assert_int_equal(rt_regions_call(regions, 0, 1, &start, &stop), -ENOENT);
}

/* A call of 0.5 s and one of 1.5 s. */
static void a_phase_has_the_statistics_of_its_calls(void **state)
{
	static const double WANTED[REGION_STATISTICS] = {0.5, 1.5, 1, 0.5, 2};
	struct rt_phase no_size = {0};
	double start, stop;
	FILE *marks;

	(void)state;
	put_recording();
	marks = fopen("r.jsonl.marks", "w");
	add_mark(marks, 1100, "start", "load");
	add_mark(marks, 1100.5, "stop", "load");
	add_mark(marks, 1101.25, "start", "load");
	add_mark(marks, 1102.75, "stop", "load");
	fclose(marks);
	assert_int_equal(read_regions(NULL, COLUMNS, 3), 0);
	assert_int_equal(regions->count, 1);
	assert_int_equal(regions->list[0].calls, 2);
	assert_int_equal(regions->list[0].non_empty_calls, 2);
	for (size_t i = 0; i < REGION_STATISTICS; i++)
		assert_true(regions->list[0].seconds[i] == WANTED[i]);
	/* The bytes of each call: half of those at 1101, and three quarters of those at 1102 and 1103. */
	assert_true(regions->list[0].each[2][0] == 100 && regions->list[0].each[2][1] == 525);
	assert_true(regions->list[0].each[0][0] == 10 && regions->list[0].each[0][1] == 30);
	assert_true(regions->peak_mib == 40);
	assert_int_equal(rt_regions_call(regions, 0, 1, &start, &stop), 0);
	assert_true(start == 1101.25 && stop == 1102.75);
	assert_int_equal(rt_regions_call(regions, 0, 2, &start, &stop), -ENOENT);
	assert_int_equal(rt_regions_call(regions, 1, 0, &start, &stop), -ENOENT);
	assert_int_equal(rt_regions_phase(regions, 0, &no_size), -EINVAL);
}

static void without_a_job_the_memory_is_that_of_the_machine(void **state)
{
	static const char *const MACHINE[] = {"system_memory_used_mib", "system_cpu_usage"};

	(void)state;
	put_text("r.jsonl",
		 "{\"timestamp\":10,\"elapsed_secs\":1,\"sample\":0,\"actual_interval_ms\":1000,"
		 "\"cpu\":{\"utilization_pct\":1},\"memory\":{\"used_mib\":70,\"total_mib\":100}}\n"
		 "{\"timestamp\":11,\"elapsed_secs\":2,\"sample\":1,\"actual_interval_ms\":1000,"
		 "\"cpu\":{\"utilization_pct\":3},\"memory\":{\"used_mib\":60,\"total_mib\":100}}\n");
	assert_int_equal(read_regions(NULL, MACHINE, 2), 0);
	assert_true(regions->of_machine);
	assert_true(regions->sampled_mib == 70 && regions->peak_mib == 70);
	assert_true(regions->overall[0][REGION_MAX] == 70 && regions->overall[1][REGION_TOTAL] == 4);
}

static void without_columns_there_are_those_of_a_job_and_its_machine(void **state)
{
	(void)state;
	put_recording();
	put_marks("mine");
	assert_int_equal(read_regions("mine", NULL, 0), 0);
	assert_int_equal(regions->count, 3);
	assert_int_equal(regions->measure_count, 12);
	assert_string_equal(regions->measures[1], "process_memory_mib");
	assert_string_equal(regions->measures[11], "system_net_sent_bytes");
	assert_true(regions->overall[1][REGION_MEAN] == 25);
	/* The driver's mean over the interval, and the memory in use at the moment. */
	assert_string_equal(regions->measures[4], "process_gpu_usage");
	assert_int_equal(regions->holds[4], HOLDS_LEVEL);
	assert_string_equal(regions->measures[5], "process_gpu_vram_mib");
	assert_int_equal(regions->holds[5], HOLDS_MOMENT);
}

static void a_file_of_marks_is_needed_only_if_it_is_named(void **state)
{
	const char *const twice[] = {"process_memory_mib", "process_cpu_usage", "process_memory_mib"};
	const char *const unknown[] = {"process_memory_mib", "mine"};

	(void)state;
	put_recording();
	assert_int_equal(read_regions(NULL, COLUMNS, 3), 0);
	assert_int_equal(regions->count, 0);
	assert_false(regions->marked);
	assert_int_equal(read_regions("none", COLUMNS, 3), -ENOENT);
	assert_non_null(strstr(problem.text, "none"));
	assert_int_equal(read_regions(NULL, twice, 3), -EINVAL);
	assert_string_equal(problem.text, "a column was named twice");
	assert_int_equal(read_regions(NULL, unknown, 2), -ENOENT);
	put_text("r.jsonl", "");
	assert_true(read_regions(NULL, COLUMNS, 3) < 0);
	assert_null(regions);
}

/* Root alone can stand for another user. */
static void marks_of_another_user_beside_the_recording_do_not_count(void **state)
{
	(void)state;
	put_recording();
	put_marks("r.jsonl.marks");
	if (chmod(".", 01777) < 0 || chown("r.jsonl.marks", 12345, 12345) < 0)
		SKIP("this user may not give a file away");
	assert_int_equal(read_regions(NULL, COLUMNS, 3), 0);
	assert_int_equal(regions->count, 0);
	assert_false(regions->marked);
	/* Those that the user names do. */
	assert_int_equal(read_regions("r.jsonl.marks", COLUMNS, 3), 0);
	assert_int_equal(regions->count, 3);
}

#define FACTS "host,cores\nbox,8\n"

static int read_tracking_files(const char *samples, const char *phases)
{
	rt_regions_free(regions);
	regions = NULL;
	problem.text[0] = '\0';
	if (samples)
		put_text("tracking.csv", samples);
	if (phases)
		put_text("sub.csv", phases);
	return rt_regions_read_gpu_tracker(samples ? "tracking.csv" : NULL, phases ? "sub.csv" : NULL,
					   &regions, &problem);
}

#define PHASES \
	"process_id,code_block_name,position,timestamp\n7,load,0,10.5\n7,load,1,12\n7,fit,0,20\n7,fit,1," \
	"21\n"

static void files_of_gpu_tracker_have_moments_alone(void **state)
{
	(void)state;
	/* Not in order; the last line is torn. */
	assert_int_equal(
		read_tracking_files(FACTS "ram,timestamp,name\n7,12,a\n5,10,b\n6,11,c\n\n9,1", PHASES), 0);
	assert_false(regions->recorded);
	assert_int_equal(rt_table_get(regions->facts, 1, 0).count, 8);
	assert_string_equal(rt_table_get(regions->facts, 0, 0).text, "box");
	assert_int_equal(regions->samples, 3);
	assert_int_equal(regions->measure_count, 2);
	assert_string_equal(regions->measures[0], "ram");
	assert_true(regions->earliest == 10 && regions->latest == 12);
	assert_int_equal(regions->count, 2);
	assert_string_equal(regions->list[1].name, "load");
	assert_int_equal(regions->list[1].timepoints, 2);
	assert_true(regions->list[1].measures[0][REGION_MEAN] == 6.5);
	assert_true(isnan(regions->list[1].measures[0][REGION_TOTAL]));
	assert_true(isnan(regions->list[1].measures[1][REGION_MEAN]));
	assert_int_equal(regions->list[0].timepoints, 0);
}

static void a_database_of_gpu_tracker_has_two_tables(void **state)
{
	sqlite3 *database = NULL;

	(void)state;
	assert_int_equal(sqlite3_open("tracking.sqlite", &database), SQLITE_OK);
	assert_int_equal(sqlite3_exec(database,
				      "CREATE TABLE static_data(host TEXT, cores INT);"
				      "INSERT INTO static_data VALUES('box', 8);"
				      "CREATE TABLE data(ram REAL, timestamp REAL);"
				      "INSERT INTO data VALUES(7.5, 11), (NULL, 10)",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_close(database), SQLITE_OK);
	assert_int_equal(rt_regions_read_gpu_tracker("tracking.sqlite", NULL, &regions, &problem), 0);
	assert_int_equal(rt_table_get(regions->facts, 1, 0).count, 8);
	assert_int_equal(regions->samples, 2);
	assert_true(regions->overall[0][REGION_MEAN] == 7.5);
	assert_true(regions->earliest == 10 && regions->latest == 11);
}

static void either_file_of_gpu_tracker_may_be_missing(void **state)
{
	(void)state;
	assert_int_equal(read_tracking_files(NULL, PHASES), 0);
	assert_int_equal(regions->count, 2);
	assert_true(regions->list[1].seconds[REGION_TOTAL] == 1.5);
	assert_int_equal(regions->measure_count, 0);
	assert_true(regions->earliest == 0 && regions->latest == 0);
	assert_int_equal(read_tracking_files(FACTS "timestamp,ram\n1,2\n", NULL), 0);
	assert_int_equal(regions->count, 0);
	assert_true(regions->overall[0][REGION_MAX] == 2);
	assert_int_equal(read_tracking_files(FACTS "ram\n1\n", NULL), -EBADMSG);
	assert_non_null(strstr(problem.text, "there is no column timestamp"));
	assert_int_equal(read_tracking_files(FACTS "timestamp,ram\n1,2,3\n", NULL), -EBADMSG);
	assert_non_null(strstr(problem.text, "tracking.csv: no tracking file of gpu_tracker"));
	assert_int_equal(read_tracking_files("a,a\n1,2\n", NULL), -EBADMSG);
	assert_null(regions);
}

static void a_file_of_gpu_tracker_may_have_no_sample(void **state)
{
	(void)state;
	/* Its headings may be all that is written so far. */
	assert_int_equal(read_tracking_files(FACTS "ram,timestamp", NULL), 0);
	assert_int_equal(regions->samples, 0);
	assert_int_equal(regions->measure_count, 1);
	assert_true(isnan(regions->overall[0][REGION_MAX]));
	assert_true(regions->earliest == 0 && regions->latest == 0);
	/* A time that is none comes before the others, and is in no phase. */
	assert_int_equal(read_tracking_files(FACTS "ram,timestamp\n2,11\n4,x\n", PHASES), 0);
	assert_int_equal(regions->samples, 2);
	assert_true(isinf(regions->earliest) && regions->latest == 11);
	assert_int_equal(regions->list[1].timepoints, 1);
	/* A row may be shorter than the headings. */
	assert_int_equal(read_tracking_files(FACTS "timestamp,ram\n11\n12,6\n", NULL), 0);
	assert_int_equal(regions->samples, 2);
	assert_true(regions->overall[0][REGION_MEAN] == 6);
}

static void assert_refused(const char *tracking, const char *phases, int error, const char *text)
{
	rt_regions_free(regions);
	regions = NULL;
	problem.text[0] = '\0';
	assert_int_equal(rt_regions_read_gpu_tracker(tracking, phases, &regions, &problem), error);
	if (!strstr(problem.text, text))
		fail_msg("'%s' lacks '%s'", problem.text, text);
	assert_null(regions);
}

static void a_file_that_gpu_tracker_did_not_write_is_refused(void **state)
{
	sqlite3 *database = NULL;

	(void)state;
	put_text("sub.csv", PHASES);
	put_text("tracking.csv", FACTS "timestamp,ram\n1,2\n");
	assert_refused("absent", "sub.csv", -ENOENT, "absent: No such file or directory");
	assert_refused("absent", NULL, -ENOENT, "absent: No such file or directory");
	assert_refused("tracking.csv", "absent", -ENOENT, "absent: No such file or directory");
	assert_refused("tracking.csv", "tracking.csv", -EBADMSG, "tracking.csv");
	put_text("tracking.csv", FACTS "ram\n1\n");
	assert_refused("tracking.csv", "sub.csv", -EBADMSG, "there is no column timestamp");
	put_text("tracking.csv", "");
	assert_refused("tracking.csv", NULL, -EBADMSG, "there is no column timestamp");
	/* Each table of a database has to be there. */
	assert_int_equal(sqlite3_open("tracking.sqlite", &database), SQLITE_OK);
	assert_int_equal(sqlite3_exec(database, "CREATE TABLE data(timestamp REAL)", NULL, NULL, NULL),
			 SQLITE_OK);
	assert_refused("tracking.sqlite", "sub.csv", -EBADMSG, "no such table: static_data");
	assert_int_equal(sqlite3_exec(database, "ALTER TABLE data RENAME TO static_data", NULL, NULL, NULL),
			 SQLITE_OK);
	assert_refused("tracking.sqlite", NULL, -EBADMSG, "no such table: data");
	assert_int_equal(sqlite3_close(database), SQLITE_OK);
}

#define unit_test_of_regions(test) cmocka_unit_test_setup_teardown(test, scratch_enter, leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_regions(phases_have_their_part_of_the_last_run),
		unit_test_of_regions(a_phase_has_the_statistics_of_its_calls),
		unit_test_of_regions(without_a_job_the_memory_is_that_of_the_machine),
		unit_test_of_regions(without_columns_there_are_those_of_a_job_and_its_machine),
		unit_test_of_regions(a_file_of_marks_is_needed_only_if_it_is_named),
		unit_test_of_regions(marks_of_another_user_beside_the_recording_do_not_count),
		unit_test_of_regions(files_of_gpu_tracker_have_moments_alone),
		unit_test_of_regions(a_database_of_gpu_tracker_has_two_tables),
		unit_test_of_regions(either_file_of_gpu_tracker_may_be_missing),
		unit_test_of_regions(a_file_of_gpu_tracker_may_have_no_sample),
		unit_test_of_regions(a_file_that_gpu_tracker_did_not_write_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
