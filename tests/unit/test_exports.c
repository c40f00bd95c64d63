/*
 * Tests of src/export/: the output of each format for a small recording with two GPUs, two programs, a phase and an earlier run in its file.
 * The files of tests/golden/exports have the whole outputs. UPDATE_GOLDEN=1 writes them anew: review the difference.
 */
#include "scratch.h"
#include "terminal.h"

#include <errno.h>
#include <sqlite3.h>
#include <zlib.h>

#include "export/export.h"
#include "export/sqlite_file.h"
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

/* Its rows have no line of JSON that could be damaged. */
static void a_recording_of_csv_becomes_json(void **state)
{
	static const char *const PATHS[] = {"a.csv"};
	const struct rt_export_options options = {.size = sizeof options, .format = "jsonl"};

	(void)state;
	assert_int_equal(export_with("csv", "a.csv", NULL), 0);
	problem.text[0] = '\0';
	assert_int_equal(rt_export(PATHS, 1, "out", &options, &problem), 0);
	assert_string_equal(problem.text, "");
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

/* ---- small recordings -------------------------------------------------------------------------------------- */

/* A sample of 10 s that takes place in the second 100 and has further members. */
#define SAMPLE(more) \
	"{\"timestamp\":100.5,\"elapsed_secs\":10,\"actual_interval_ms\":10000,\"sample\":0,\"host\":" \
	"\"node1\"" more "}\n"

#define MEMORY_SAMPLE SAMPLE(",\"cpu\":{\"process_memory_mib\":4}")

/* Exports one small recording and looks for a text in the output, which may be packed. */
static void output_has(const char *format, const char *recording, const char *wanted, bool has)
{
	char *text;

	put_text("a.jsonl", recording);
	unlink("a.jsonl.marks");
	if (export_with(format, "out", NULL) != 0)
		fail_msg("%s: %s", format, problem.text);
	assert_string_equal(problem.text, "");
	text = strcmp(format, "jobstats") == 0       ? unpack_jobstats("out")
	       : strncmp(format, "snapshot", 8) == 0 ? unpack_file("out")
						     : get_file("out", NULL);
	if (!strstr(text, wanted) == has)
		fail_msg("%s %s in %s", has ? "no" : "still", wanted, text);
	free(text);
}

#define assert_output_has(format, recording, wanted) output_has(format, recording, wanted, true)
#define assert_output_lacks(format, recording, unwanted) output_has(format, recording, unwanted, false)

/* Slurm's numbers come first, then limits, then the machine. A limit of 0 is none. */
static void jobstats_knows_the_share_of_the_job(void **state)
{
#define START_OF(members) SAMPLE(",\"run_start\":{\"cpu_count\":8,\"memory_total_mib\":16" members "}")

	(void)state;
	assert_output_has("jobstats", START_OF(""), "\"total_memory\":16777216,");
	assert_output_has("jobstats", START_OF(""), "\"cpus\":8");
	assert_output_has("jobstats", START_OF(",\"cpu_limit_cores\":0,\"memory_limit_mib\":0"),
			  "\"cpus\":8");
	assert_output_has("jobstats", START_OF(",\"cpu_limit_cores\":0,\"memory_limit_mib\":0"),
			  "\"total_memory\":16777216,");
	assert_output_has("jobstats", START_OF(",\"cpu_limit_cores\":0.5,\"memory_limit_mib\":0.5"),
			  "\"total_memory\":524288,\"cpus\":0.5");
	assert_output_has("jobstats", START_OF(",\"cpu_limit_cores\":0.333"), "\"cpus\":0.33}");
	assert_output_has(
		"jobstats",
		START_OF(",\"cpu_limit_cores\":2,\"memory_limit_mib\":4,"
			 "\"scheduler\":{\"SLURM_CPUS_ON_NODE\":\"3\",\"SLURM_MEM_PER_NODE\":\"5\"}"),
		"\"total_memory\":5242880,\"cpus\":3");
	assert_output_lacks("jobstats", SAMPLE(""), "\"cpus\"");
	assert_output_lacks("jobstats", SAMPLE(""), "\"total_memory\"");
	assert_output_lacks("jobstats", SAMPLE(",\"run_start\":{}"), "\"cpus\"");
	/* Neither recording names a job, or one alone. */
	put_text("b.jsonl", START_OF(",\"scheduler\":{\"SLURM_JOB_ID\":\"77\"}"));
	put_text("c.jsonl", SAMPLE(""));
	assert_int_equal(rt_export((const char *const[]){"b.jsonl", "c.jsonl"}, 2, "out",
				   &(struct rt_export_options){.size = sizeof(struct rt_export_options),
							       .format = "jobstats"},
				   &problem),
			 0);
}

static void jobstats_has_the_time_of_short_jobs_and_the_devices_of_the_job(void **state)
{
#define GPU_OF(members) \
	"{\"timestamp\":100.5,\"elapsed_secs\":0.5,\"actual_interval_ms\":500,\"gpu\":[{\"uuid\":" \
	"\"G\"," members "}]}\n"

	(void)state;
	assert_output_has("jobstats", GPU_OF("\"index\":0,\"utilization_pct\":40"), "\"total_time\":0.5,");
	assert_output_has("jobstats", GPU_OF("\"index\":0,\"utilization_pct\":40"),
			  "\"localhost\":{\"gpu_total_memory\":{},\"gpu_used_memory\":{},"
			  "\"gpu_utilization\":{\"0\":40.0}}");
	assert_output_has("jobstats", GPU_OF("\"index\":3,\"visible\":true,\"vram_used_bytes\":7"),
			  "\"gpu_used_memory\":{\"3\":7},\"gpu_utilization\":{}");
	assert_output_has("jobstats", GPU_OF("\"index\":3"), "\"gpus\":1}");
	assert_output_has("jobstats", GPU_OF("\"index\":3,\"visible\":false"), "\"gpus\":0}");
	assert_output_has("jobstats", GPU_OF("\"index\":null"), "\"gpus\":0}");
	assert_output_has("jobstats", GPU_OF("\"index\":3,\"mig_parent\":\"P\""), "\"gpus\":0}");
	/* Some samples may lack it. */
	assert_output_has("jobstats",
			  GPU_OF("\"index\":0,\"utilization_pct\":40")
				  GPU_OF("\"index\":0,\"utilization_pct\":null"),
			  "\"gpu_utilization\":{\"0\":40.0}");
	/* A sample that took no time says nothing of the utilization. */
	assert_output_has("jobstats",
			  "{\"timestamp\":100.5,\"elapsed_secs\":0,\"actual_interval_ms\":0,"
			  "\"gpu\":[{\"uuid\":\"G\",\"index\":0,\"utilization_pct\":40}]}\n",
			  "\"gpu_utilization\":{}");
}

/* 32 of a node are kept. */
static void jobstats_has_a_limit_of_devices(void **state)
{
	char text[4096] = "{\"timestamp\":100.5,\"elapsed_secs\":1,\"gpu\":[";

	(void)state;
	for (int i = 0; i < 33; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s{\"uuid\":\"G%d\",\"index\":%d}",
			 i ? "," : "", i, i);
	strcat(text, "]}\n");
	assert_output_has("jobstats", text, "\"gpus\":32}");
}

/* Shared pages count once where the recording knows them: 50, 70 and 100 MiB, or 150 of resident sets. */
static void gpu_tracker_gets_the_memory_of_descendants(void **state)
{
#define TREE_OF(members) \
	SAMPLE(",\"cpu\":{\"process_memory_mib\":100,\"process_main_rss_mib\":50,\"process_rss_mib\":" \
	       "200" members "}")
#define PSS ",\"process_memory_source\":\"pss\""

	(void)state;
	assert_output_has("gpu_tracker",
			  TREE_OF(PSS ",\"process_child_count\":1,\"process_main_private_mib\":30"),
			  ",0.07340032,0.1048576");
	assert_output_has("gpu_tracker",
			  TREE_OF(PSS ",\"process_child_count\":1,\"process_main_private_mib\":130"),
			  ",0.0,0.1048576");
	assert_output_has("gpu_tracker", TREE_OF(PSS ",\"process_child_count\":1"), ",0.1572864");
	assert_output_has("gpu_tracker",
			  TREE_OF(PSS ",\"process_child_count\":0,\"process_main_private_mib\":30"),
			  ",0.1572864");
	assert_output_has("gpu_tracker",
			  TREE_OF(",\"process_memory_source\":\"rss\",\"process_child_count\":1,"
				  "\"process_main_private_mib\":30"),
			  ",0.1572864");
}

/* Nextflow cannot read a figure that is infinite or negative. */
static void nextflow_gets_numbers_alone(void **state)
{
	static const char NONE[] =
		SAMPLE(",\"cpu\":{\"process_memory_mib\":4},\"run_start\":{\"memory_total_mib\":0}");

	(void)state;
	assert_output_has("nextflow", NONE, "peak_rss=4096\n");
	assert_output_lacks("nextflow", NONE, "%mem");
	assert_output_lacks("nextflow", NONE, "rchar");
	assert_output_has("nextflow",
			  SAMPLE(",\"run_start\":{\"memory_total_mib\":8},\"cpu\":{\"process_memory_mib\":4,"
				 "\"process_read_chars\":0}"),
			  "%mem=500\n");
	assert_output_has("nextflow", SAMPLE(",\"cpu\":{\"process_read_chars\":0}"), "rchar=0\n");
}

static void snapshots_have_unknown_facts_in_the_form_of_the_package(void **state)
{
	(void)state;
	assert_output_has("snapshot", SAMPLE(",\"run_start\":{\"children\":false}"), "\"children\": false,");
	assert_output_has("snapshot", SAMPLE(",\"run_start\":{\"children\":true}"), "\"children\": true,");
	assert_output_has("snapshot", SAMPLE(",\"run_start\":{\"children\":null}"), "\"children\": true,");
	assert_output_has("snapshot", SAMPLE(""), "\"children\": true,");
	assert_output_has("snapshot", SAMPLE(""), "\"server_info\": null,");
	assert_output_has("snapshot", SAMPLE(",\"run_start\":{}"), "\"vcpus\": null, \"memory_mib\": null,");
	assert_output_has("snapshot", SAMPLE(",\"run_start\":{}"), "\"gpu_memory_mib\": 0.0, ");
	assert_output_has("snapshot-0.4", SAMPLE(",\"run_start\":{}"), "\"gpu_memory_mb\": 0.0, ");
	assert_output_has("snapshot", SAMPLE(",\"run_start\":{\"interval_secs\":0.25}"),
			  "\"interval\": 0.25,");
	assert_output_has("snapshot", SAMPLE(",\"run_start\":{\"interval_secs\":3}"), "\"interval\": 3,");
	assert_output_has("snapshot", SAMPLE(",\"run_start\":{\"gpu_names\":[\"A\",null,\"B \\\"x\\\"\"]}"),
			  "\"gpu_names\": [\"A\", \"B \\\"x\\\"\"], \"gpu_name\": \"B \\\"x\\\"\",");
	assert_output_has(
		"snapshot", SAMPLE(",\"cloud\":{\"vendor_id\":\"aws\",\"region_id\":\"eu\"}"),
		"\"cloud_info\": {\"vendor\":\"aws\",\"instance_type\":\"unknown\",\"region\":\"eu\","
		"\"discovery_time\":null}, ");
}

/* A tracker of which nothing was recorded has no rows. */
static void snapshots_leave_out_a_tracker_without_values(void **state)
{
	(void)state;
	assert_output_has("snapshot", SAMPLE(""), "\"process_metrics\": [], \"system_metrics\": []}");
	assert_output_has("snapshot", MEMORY_SAMPLE, "\"process_metrics\": [{");
	assert_output_has("snapshot", MEMORY_SAMPLE, ", \"system_metrics\": []}");
	assert_output_has("snapshot", SAMPLE(",\"memory\":{\"used_mib\":4}"),
			  "\"process_metrics\": [], \"system_metrics\": [{");
}

static void a_snapshot_may_stay_in_memory(void **state)
{
	static const char *const PATHS[] = {"a.jsonl"}, *const NONE[] = {"none"};
	char *text = NULL, *file;

	(void)state;
	assert_int_equal(rt_package_dump(PATHS, 1, "out", &problem), 0);
	assert_int_equal(rt_package_dumps(PATHS, 1, &text, &problem), 0);
	assert_non_null(text);
	file = unpack_file("out");
	assert_string_equal(text, file);
	free(file);
	free(text);
	assert_int_equal(rt_package_dumps(NONE, 1, &text, &problem), -ENOENT);
}

static void times_and_memory_have_three_decimals(void **state)
{
	(void)state;
	assert_output_has(
		"perfetto",
		SAMPLE(",\"programs\":[{\"name\":\"cc\",\"cpu_secs\":0.12345,\"memory_mib\":1.23456,"
		       "\"process_count\":1}]"),
		"\"dur\":10000000,\"args\":{\"cpu_secs\":0.1235,\"memory_peak_mib\":1.235}}");
	assert_output_has("ro-crate", SAMPLE(",\"cpu\":{\"process_read_chars\":5}"), "\"value\":\"5\"");
	assert_output_has("ro-crate", SAMPLE(",\"cpu\":{\"process_memory_mib\":1.23456}"),
			  "\"value\":\"1.235\"");
}

/* Letters and digits stay in names, and all else becomes an underscore. */
static void names_of_attributes_are_plain(void **state)
{
	static const char TAGGED[] = SAMPLE(",\"cpu\":{\"process_memory_mib\":1},\"run_start\":{\"tags\":"
					    "{\"azAZ09`{@[/:\":\"a,b =c\\\\\\\"\\n\"}}");

	(void)state;
	assert_output_has("influx", TAGGED, ",azAZ09______=a\\,b\\ \\=c\\\\\"? ");
	assert_output_has("openmetrics", TAGGED, ",azAZ09______=\"a,b =c\\\\\\\"?\"} 1 ");
	assert_output_has("openmetrics", TAGGED,
			  "{job=\"resource-tracker\",instance=\"a.jsonl-1\",host_name=");
}

/* ---- what every writer does -------------------------------------------------------------------------------- */

/* No file is left behind, and a recording with a damaged line between others is exported without it. */
static void each_format_tells_of_recordings_that_lack_samples(void **state)
{
	static const char *const FORMATS[] = {"json",     "jsonl",       "csv",     "sqlite",   "gpu_tracker",
					      "otlp",     "openmetrics", "influx",  "nextflow", "perfetto",
					      "ro-crate", "snapshot",    "jobstats"};

	(void)state;
	for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0]; i++) {
		int result;

		put_text("a.jsonl", "{\"timestamp\":1");
		result = export_with(FORMATS[i], "out", NULL);
		if (result != -ENODATA || !strstr(problem.text, "no whole sample has been written yet"))
			fail_msg("%s: %d, %s", FORMATS[i], result, problem.text);
		unlink("a.jsonl");
		result = export_with(FORMATS[i], "out", NULL);
		if (result != -ENOENT || !strstr(problem.text, "a.jsonl"))
			fail_msg("%s: %d, %s", FORMATS[i], result, problem.text);
		assert_int_equal(access("out", F_OK), -1);
		put_text("a.jsonl", MEMORY_SAMPLE "damage\n" MEMORY_SAMPLE);
		result = export_with(FORMATS[i], "none/out", NULL);
		if (result != -ENOENT || !strstr(problem.text, "none/out"))
			fail_msg("%s: %d, %s", FORMATS[i], result, problem.text);
		result = export_with(FORMATS[i], "/dev/full", NULL);
		if (result != (strcmp(FORMATS[i], "sqlite") == 0 ? -EINVAL : -ENOSPC))
			fail_msg("%s: %d, %s", FORMATS[i], result, problem.text);
		result = export_with(FORMATS[i], "out", NULL);
		if (strcmp(FORMATS[i], "jobstats") != 0 &&
		    (result != 1 ||
		     !strstr(problem.text,
			     ": damaged lines: 0 repaired from their known values, 1 left out")))
			fail_msg("%s: %d, %s", FORMATS[i], result, problem.text);
		assert_int_equal(unlink("out"), 0);
	}
}

static void formats_that_read_twice_refuse_standard_input(void **state)
{
	static const char *const FORMATS[] = {"openmetrics", "perfetto", "snapshot"};
	static const char *const PATHS[] = {"a.jsonl", "-"};

	(void)state;
	for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0]; i++) {
		const struct rt_export_options options = {.size = sizeof options, .format = FORMATS[i]};

		problem.text[0] = '\0';
		if (rt_export(PATHS + 1, 1, "out", &options, &problem) != -ESPIPE ||
		    strcmp(problem.text, "standard input cannot be read twice; name a file instead") != 0)
			fail_msg("%s: %s", FORMATS[i], problem.text);
		assert_int_equal(access("out", F_OK), -1);
	}
}

/* The first error of SQLite is told at the end, and the old file stays. */
static void an_error_of_sqlite_leaves_the_old_file(void **state)
{
	struct sqlite_file file;

	(void)state;
	put_text("f.db", "old");
	assert_int_equal(sqlite_file_open(&file, "f.db", &problem), 0);
	sqlite_file_run(&file, "CREATE TABLE t (a NOT NULL)");
	assert_int_equal(file.error, SQLITE_OK);
	sqlite_file_run(&file, "INSERT INTO t VALUES (NULL)");
	assert_int_equal(file.error, SQLITE_CONSTRAINT);
	sqlite_file_run(&file, "no statement");
	assert_null(sqlite_file_prepare(&file, "SELECT 1"));
	assert_int_equal(sqlite_file_finish(&file, &problem), -EIO);
	assert_string_equal(problem.text, "f.db: constraint failed");
	sqlite_file_close(&file);
	assert_file_text("f.db", "old");
	assert_int_equal(sqlite_file_open(&file, "none/f.db", &problem), -ENOENT);
}

static void an_open_statement_keeps_a_file_of_sqlite_from_its_end(void **state)
{
	struct sqlite_file file;
	sqlite3_stmt *open;

	(void)state;
	assert_int_equal(sqlite_file_open(&file, "f.db", &problem), 0);
	open = sqlite_file_prepare(&file, "SELECT 1");
	assert_non_null(open);
	assert_int_equal(sqlite_file_finish(&file, &problem), -EIO);
	assert_string_equal(problem.text, "f.db: Input/output error");
	sqlite3_finalize(open);
	sqlite_file_close(&file);
	assert_int_equal(access("f.db", F_OK), -1);
}

/* The cores of a sample have a number in their table. */
static void rows_of_a_list_are_numbered(void **state)
{
	char *text;

	(void)state;
	put_text("a.jsonl", SAMPLE(",\"cpu\":{\"per_core_pct\":[10,20.5]}"));
	assert_int_equal(export_with("sqlite", "out.db", NULL), 0);
	text = dump_tables("out.db");
	assert_non_null(strstr(text, "\n1|0|0|10.0\n1|0|1|20.5\n"));
	free(text);
}

/* Requests of OTLP are not text. */
static void otlp_is_not_written_to_a_terminal(void **state)
{
	struct terminal terminal = open_terminal();
	int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10), otlp, influx, file, piped, ends[2];

	(void)state;
	put_text("a.jsonl", MEMORY_SAMPLE);
	assert_int_equal(pipe(ends), 0);
	dup2(terminal.slave, STDOUT_FILENO);
	otlp = export_with("otlp", "-", NULL);
	influx = export_with("influx", "-", NULL);
	file = export_with("otlp", "out", NULL);
	dup2(ends[1], STDOUT_FILENO);
	piped = export_with("otlp", "-", NULL);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	close(ends[0]), close(ends[1]);
	close_terminal(&terminal);
	assert_int_equal(otlp, -EINVAL);
	assert_int_equal(influx | file | piped, 0);
}

static void only_the_end_of_a_name_is_its_extension(void **state)
{
	static const char NAME[] = ".csv";

	(void)state;
	assert_true(is_gzip_name("a.gz") && is_gzip_name("/.gz"));
	assert_false(is_gzip_name(".gz") || is_gzip_name("gz") || is_gzip_name("agz") ||
		     is_gzip_name("a.gz2"));
	assert_true(has_extension(NAME, "csv") && has_extension("a.csv", "json csv") &&
		    has_extension("a.csv.gz", "csv"));
	assert_false(has_extension(NAME + 1, "csv") || has_extension("acsv", "csv") ||
		     has_extension("a.csv", "cs sv json") || has_extension("a.csv", ""));
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
		unit_test_of_export(a_recording_of_csv_becomes_json),
		unit_test_of_export(chosen_gpus_and_units_change_the_tracking),
		unit_test_of_export(tables_are_as_before),
		unit_test_of_export(snapshots_of_the_package_are_as_before),
		unit_test_of_export(jobstats_adds_up_the_tasks_of_a_node),
		unit_test_of_export(jobstats_knows_the_share_of_the_job),
		unit_test_of_export(jobstats_has_the_time_of_short_jobs_and_the_devices_of_the_job),
		unit_test_of_export(jobstats_has_a_limit_of_devices),
		unit_test_of_export(gpu_tracker_gets_the_memory_of_descendants),
		unit_test_of_export(nextflow_gets_numbers_alone),
		unit_test_of_export(snapshots_have_unknown_facts_in_the_form_of_the_package),
		unit_test_of_export(snapshots_leave_out_a_tracker_without_values),
		unit_test_of_export(a_snapshot_may_stay_in_memory),
		unit_test_of_export(times_and_memory_have_three_decimals),
		unit_test_of_export(names_of_attributes_are_plain),
		unit_test_of_export(each_format_tells_of_recordings_that_lack_samples),
		unit_test_of_export(formats_that_read_twice_refuse_standard_input),
		unit_test_in_scratch(an_error_of_sqlite_leaves_the_old_file),
		unit_test_in_scratch(an_open_statement_keeps_a_file_of_sqlite_from_its_end),
		unit_test_in_scratch(rows_of_a_list_are_numbered),
		unit_test_in_scratch(otlp_is_not_written_to_a_terminal),
		cmocka_unit_test(only_the_end_of_a_name_is_its_extension),
		unit_test_of_export(a_format_is_found_by_its_name_or_that_of_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
