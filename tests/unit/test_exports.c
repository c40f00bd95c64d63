/*
 * Tests of src/export/: the output of each format for a small recording with two GPUs, two programs, a phase and an earlier run in its file.
 * The files of tests/golden/exports have the whole outputs. UPDATE_GOLDEN=1 writes them anew: review the difference.
 */
#include "scratch.h"

#include <errno.h>
#include <sqlite3.h>
#include <zlib.h>

#include "export/combine.h"
#include "resource_tracker_internal.h"

static struct rt_problem problem;

/* ---- recordings -------------------------------------------------------------------------------------------- */

/* Copies a recording of tests/golden/exports. `rank`: the digit for the one in "node1". */
static void copy_recording(const char *name, const char *copy, char rank)
{
	char path[4096], *text, *at;
	size_t length;

	snprintf(path, sizeof path, "%s/exports/%s", getenv("TEST_GOLDEN"), name);
	text = get_file(path, &length);
	for (at = text; (at = strstr(at, "node1")); at++)
		at[4] = rank;
	put_file(copy, text, length);
	free(text);
}

static int begin_recording(void **state)
{
	int error = scratch_enter(state);

	setenv("TZ", "UTC", 1);
	copy_recording("run.jsonl", "a.jsonl", '1');
	copy_recording("run.jsonl.marks", "a.jsonl.marks", '1');
	return error;
}

static int export_with(const char *format, const char *output,
		       const struct rt_gpu_tracker_options *gpu_tracker)
{
	static const char *const PATHS[] = {"a.jsonl"};
	const struct rt_export_options options = {
		.size = sizeof options, .format = format, .gpu_tracker = gpu_tracker};

	problem.text[0] = '\0';
	return rt_export(PATHS, 1, output, &options, &problem);
}

/* Compares a file of the scratch folder with tests/golden/exports/NAME. */
static void expect_golden(const char *name, const char *text, size_t length)
{
	char path[4096], *golden;
	size_t golden_length;

	snprintf(path, sizeof path, "%s/exports/%s", getenv("TEST_GOLDEN"), name);
	if (getenv("UPDATE_GOLDEN"))
		put_file(path, text, length);
	golden = get_file(path, &golden_length);
	if (golden_length != length || memcmp(golden, text, length) != 0)
		fail_msg("%s differs: UPDATE_GOLDEN=1 writes it anew", path);
	free(golden);
}

static void expect_golden_file(const char *name, const char *path)
{
	size_t length;
	char *text = get_file(path, &length);

	expect_golden(name, text, length);
	free(text);
}

static void export_is_golden(const char *format, const char *name)
{
	char *text, *today;
	size_t length;

	if (export_with(format, "out", NULL) != 0)
		fail_msg("%s: %s", format, problem.text);
	text = get_file("out", &length);
	today = strstr(text, "\"datePublished\":\"");
	if (today)
		memset(today + strlen("\"datePublished\":\""), 'x', strlen("2026-11-21T12:00:00.000"));
	expect_golden(name, text, length);
	free(text);
}

/* ---- formats of text --------------------------------------------------------------------------------------- */

static void each_text_is_as_before(void **state)
{
	static const char *const FORMATS[] = {"csv",      "otlp",     "openmetrics", "influx",
					      "nextflow", "perfetto", "ro-crate",    "gpu_tracker"};

	(void)state;
	for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0]; i++)
		export_is_golden(FORMATS[i], FORMATS[i]);
}

static void json_has_the_lines_of_all_runs(void **state)
{
	char *lines = get_file("a.jsonl", NULL), *list, *at = lines;
	size_t size;
	FILE *out = open_memstream(&list, &size);

	(void)state;
	assert_int_equal(export_with("jsonl", "out", NULL), 0);
	assert_file_text("out", lines);
	for (size_t length; (length = strcspn(at, "\n")); at += length + 1)
		fprintf(out, "%s%.*s", at == lines ? "[\n" : ",\n", (int)length, at);
	fprintf(out, "\n]\n");
	fclose(out);
	assert_int_equal(export_with(NULL, "out.json", NULL), 0);
	assert_file_text("out.json", list);
	free(list);
	free(lines);
}

static void a_damaged_line_is_told(void **state)
{
	(void)state;
	put_text("a.jsonl",
		 "{\"timestamp\":1,\"sample\":0,\"x\":01}\nnothing\n{\"timestamp\":2,\"sample\":1}\n");
	assert_int_equal(export_with("jsonl", "out", NULL), 1);
	assert_string_equal(problem.text,
			    "a.jsonl: damaged lines: 1 repaired from their known values, 1 left out");
	put_text("a.jsonl", "");
	assert_int_equal(export_with("jsonl", "out", NULL), -ENODATA);
}

/* ---- gpu_tracker ------------------------------------------------------------------------------------------- */

static void chosen_gpus_and_units_change_the_tracking(void **state)
{
	const char *const uuids[] = {"GPU-1"};
	const struct rt_gpu_tracker_options options = {.size = sizeof options,
						       .ram_unit = "megabytes",
						       .gpu_ram_unit = "bytes",
						       .time_unit = "minutes",
						       .expected_cores = 2,
						       .gpu_uuids = uuids,
						       .gpu_uuid_count = 1};

	(void)state;
	assert_int_equal(export_with("gpu-tracker", "out", &options), 0);
	expect_golden_file("gpu_tracker-chosen", "out");
}

/* All tables of a file of SQLite, as text. */
static char *dump_tables(const char *path)
{
	sqlite3_stmt *tables, *rows;
	sqlite3 *file;
	size_t size;
	char *text, query[200];
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(sqlite3_open_v2(path, &file, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	sqlite3_prepare_v2(file, "SELECT name, sql FROM sqlite_master ORDER BY name", -1, &tables, NULL);
	while (sqlite3_step(tables) == SQLITE_ROW) {
		fprintf(out, "%s\n", (const char *)sqlite3_column_text(tables, 1));
		snprintf(query, sizeof query, "SELECT * FROM \"%s\"",
			 (const char *)sqlite3_column_text(tables, 0));
		if (sqlite3_prepare_v2(file, query, -1, &rows, NULL) != SQLITE_OK)
			continue;
		while (sqlite3_step(rows) == SQLITE_ROW) {
			for (int i = 0; i < sqlite3_column_count(rows); i++) {
				const unsigned char *cell = sqlite3_column_text(rows, i);

				fprintf(out, "%s%s", i ? "|" : "", cell ? (const char *)cell : "");
			}
			fputc('\n', out);
		}
		sqlite3_finalize(rows);
	}
	sqlite3_finalize(tables);
	sqlite3_close(file);
	fclose(out);
	return text;
}

static void tables_are_as_before(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(export_with("gpu_tracker", "out.sqlite", NULL), 0);
	text = dump_tables("out.sqlite");
	assert_non_null(strstr(text, "static_data (ram_unit VARCHAR, "));
	assert_non_null(strstr(text, ", ram_system_capacity FLOAT, "));
	assert_non_null(strstr(text, ", system_core_count INTEGER, "));
	assert_non_null(strstr(text, "data (main_ram FLOAT, "));
	assert_non_null(strstr(text, ", main_n_threads INTEGER, "));
	assert_non_null(strstr(text, "|2|4|6|350.0|43.75|"));
	expect_golden("gpu_tracker.sqlite", text, strlen(text));
	free(text);
	assert_int_equal(export_with("sqlite", "all.db", NULL), 0);
	text = dump_tables("all.db");
	expect_golden("sqlite", text, strlen(text));
	free(text);
}

/* ---- compressed formats ------------------------------------------------------------------------------------ */

static char *unpack_file(const char *path)
{
	gzFile file = gzopen(path, "r");
	char *text = calloc(1, 1 << 20);

	assert_non_null(file);
	assert_true(gzread(file, text, (1 << 20) - 1) > 0);
	gzclose(file);
	return text;
}

static void snapshots_of_the_package_are_as_before(void **state)
{
	static const char *const FORMATS[] = {"snapshot", "snapshot-0.4"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char *text;

		assert_int_equal(export_with(FORMATS[i], "out", NULL), 0);
		text = unpack_file("out");
		expect_golden(FORMATS[i], text, strlen(text));
		free(text);
	}
}

/* A record is "JS1:" and base64. */
static char *unpack_jobstats(const char *path)
{
	static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = get_file(path, NULL);
	unsigned char bytes[8192];
	size_t length = 0;
	unsigned word = 0, bits = 0;

	assert_int_equal(strncmp(text, "JS1:", 4), 0);
	for (const char *at = text + 4; *at && strchr(DIGITS, *at); at++) {
		word = word << 6 | (unsigned)(strchr(DIGITS, *at) - DIGITS);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			bytes[length++] = (unsigned char)(word >> bits);
		}
	}
	free(text);
	put_file("unpacked.gz", bytes, length);
	return unpack_file("unpacked.gz");
}

/* Two tasks of one node see the same device. Their memory adds up only while both run. */
static void jobstats_adds_up_the_tasks_of_a_node(void **state)
{
	static const char *const PATHS[] = {"a.jsonl", "b.jsonl", "c.jsonl"};
	const struct rt_export_options options = {.size = sizeof options, .format = "jobstats"};
	char *text, *at;

	(void)state;
	/* Without the earlier run. */
	text = get_file("a.jsonl", NULL);
	put_text("a.jsonl", strchr(text, '\n') + 1);
	free(text);
	copy_recording("task.jsonl", "b.jsonl", '1');
	copy_recording("task.jsonl", "c.jsonl", '2');
	if (rt_export(PATHS, 3, "out", &options, &problem) != 0)
		fail_msg("%s", problem.text);
	text = unpack_jobstats("out");
	expect_golden("jobstats", text, strlen(text));
	free(text);
	/* Tasks of different jobs are not one job. */
	text = get_file("c.jsonl", NULL);
	for (at = text; (at = strstr(at, "\"77\"")); at++)
		at[1] = '8';
	put_text("c.jsonl", text);
	free(text);
	assert_int_equal(rt_export(PATHS, 3, "out", &options, &problem), -EINVAL);
	assert_string_equal(problem.text,
			    "c.jsonl is of job 87, and an earlier file of job 77; name the files of one job");
	/* One that was killed before its first sample is left out. */
	put_text("c.jsonl", "");
	assert_int_equal(rt_export(PATHS, 3, "out", &options, &problem), 0);
	assert_int_equal(rt_export(PATHS + 2, 1, "out", &options, &problem), -ENODATA);
}

/* ---- parts of a job ------------------------------------------------------------------------------------ */

/* The least exact of two ways to count is that of their sum. */
static void a_sum_of_counts_is_as_exact_as_the_worst(void **state)
{
	static const struct {
		const char *one, *other, *sum;
	} CASES[] = {
		{NULL, "sockets", "sockets"},      {"sockets", "sockets", "sockets"},
		{"cgroup", "cgroup", "cgroup"},    {"sockets", "bound", "bound"},
		{"bound", "sockets", "bound"},     {"bound", "bound", "bound"},
		{"sockets", "namespace", "mixed"}, {"bound", "namespace", "mixed"},
		{"namespace", "sockets", "mixed"}, {"namespace", "bound", "mixed"},
		{"mixed", "bound", "mixed"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
		assert_string_equal(combined_net_source(CASES[i].one, CASES[i].other), CASES[i].sum);
}

/* ---- names ------------------------------------------------------------------------------------------------- */

static void a_format_is_found_by_its_name_or_that_of_the_file(void **state)
{
	static const struct {
		const char *format, *output;
		char begin;
	} CASES[] = {
		{NULL, "a.json", '['},       {NULL, "b.jsonl", '{'},    {NULL, "c.ndjson", '{'},
		{NULL, "d.csv", 't'},        {NULL, "e.json.gz", 0x1f}, {NULL, "f.db", 'S'},
		{"json", "g.csv", '['},      {"ro-crate", "h", '{'},    {"gpu-tracker", "i", 'r'},
		{"snapshot-0.4", "j", 0x1f},
	};
	const struct rt_export_options options = {.size = sizeof options, .layout = "none"};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		char *text;

		if (export_with(CASES[i].format, CASES[i].output, NULL) != 0)
			fail_msg("%s: %s", CASES[i].output, problem.text);
		text = get_file(CASES[i].output, NULL);
		if (*text != CASES[i].begin)
			fail_msg("%s begins with %c", CASES[i].output, *text);
		free(text);
	}
	assert_int_equal(export_with(NULL, "a.odd", NULL), -EINVAL);
	assert_string_equal(problem.text,
			    "a.odd: name a format, or end it in .json, .jsonl, .csv or .sqlite");
	assert_int_equal(export_with(NULL, "json", NULL), -EINVAL);
	assert_int_equal(export_with(NULL, ".gz", NULL), -EINVAL);
	assert_int_equal(export_with("jso", "x", NULL), -EINVAL);
	assert_int_equal(strncmp(problem.text, "'jso' is not a format; use json, jsonl, csv, ", 44), 0);
	assert_int_equal(export_with("jsonll", "x", NULL), -EINVAL);
	assert_int_equal(export_with("gpu-Tracker", "x", NULL), -EINVAL);
	assert_int_equal(rt_export((const char *const[]){"a.jsonl"}, 1, "x.csv", &options, &problem),
			 -EINVAL);
	assert_string_equal(problem.text, "'none' is not a CSV layout");
	assert_int_equal(export_with("jsonl", "a.jsonl", NULL), -EINVAL);
}

#define unit_test_of_export(test) cmocka_unit_test_setup_teardown(test, begin_recording, scratch_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_export(each_text_is_as_before),
		unit_test_of_export(json_has_the_lines_of_all_runs),
		unit_test_of_export(a_damaged_line_is_told),
		unit_test_of_export(chosen_gpus_and_units_change_the_tracking),
		unit_test_of_export(tables_are_as_before),
		unit_test_of_export(snapshots_of_the_package_are_as_before),
		unit_test_of_export(jobstats_adds_up_the_tasks_of_a_node),
		cmocka_unit_test(a_sum_of_counts_is_as_exact_as_the_worst),
		unit_test_of_export(a_format_is_found_by_its_name_or_that_of_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
