/* Tests of src/export/: long and odd recordings, by what each format makes of a few lines. */
#include "scratch.h"

#include <zlib.h>

#include "export/export.h"
#include "resource_tracker_internal.h"

static struct rt_problem problem;

/* Exports recordings to "out" and returns its text, unpacked. */
static char *exported(const char *format, const char *const *paths, size_t count)
{
	const struct rt_export_options options = {.size = sizeof options, .format = format};
	static char text[1 << 20];
	gzFile file;
	int length;

	problem.text[0] = '\0';
	if (rt_export(paths, count, "out", &options, &problem) != 0)
		fail_msg("%s: %s", format, problem.text);
	file = gzopen("out", "r");
	length = gzread(file, text, sizeof text - 1);
	assert_true(length >= 0);
	text[length] = '\0';
	gzclose(file);
	return text;
}

static char *exported_text(const char *format, const char *recording)
{
	static const char *const PATHS[] = {"a.jsonl"};

	put_text("a.jsonl", recording);
	return exported(format, PATHS, 1);
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		count++;
	return count;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no %s in %s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("%s in %s", part, text);
}

/* A recording of as many seconds, each with members of its own. */
static void put_seconds(const char *path, int count, const char *host, const char *members)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	for (int i = 1; i <= count; i++)
		fprintf(file,
			"{\"timestamp\":%d.5,\"elapsed_secs\":%d,\"actual_interval_ms\":1000,\"sample\":%d,"
			"\"host\":\"%s\",\"tracked_pid\":7,%s}\n",
			1700000000 + i, i, i - 1, host, members);
	fclose(file);
}

/* ---- series ------------------------------------------------------------------------------------------------ */

/* More samples than one batch of points has. */
static void series_of_long_runs_have_all_points(void **state)
{
	static const char *const PATHS[] = {"a.jsonl"};
	char *text;

	(void)state;
	put_seconds("a.jsonl", 500, "h", "\"cpu\":{\"process_utime_secs\":0.5,\"process_memory_mib\":2}");
	text = exported("influx", PATHS, 1);
	assert_int_equal(count_of(text, "process_memory_usage_bytes,"), 500);
	/* Its start has a point, too. */
	assert_int_equal(count_of(text, "process_cpu_time_seconds_total,"), 501);
	assert_has(text, "cpu_mode=user value=0.0 1700000000500000000\n");
	assert_has(text, "cpu_mode=user value=0.5 1700000001500000000\n");
	assert_has(text, "cpu_mode=user value=250.0 1700000500500000000\n");
	text = exported("openmetrics", PATHS, 1);
	assert_int_equal(count_of(text, "\nprocess_memory_usage_bytes{"), 500);
	assert_has(text,
		   "\n# TYPE process_memory_usage_bytes gauge\n# UNIT process_memory_usage_bytes bytes\n");
	assert_has(text,
		   "\n# TYPE process_cpu_time_seconds counter\n# UNIT process_cpu_time_seconds seconds\n");
	assert_has(text, ",cpu_mode=\"user\"} 250.0 1700000500.500\n");
	assert_has(text,
		   "\ntarget_info{job=\"resource-tracker\",instance=\"a.jsonl-1\",host_name=\"h\",os_type=");
	assert_has(text, "} 1 1700000000.500\ntarget_info{");
	assert_has(text, "} 1 1700000500.500\n# TYPE ");
	assert_int_equal(count_of(text, "target_info{"), 2);
	assert_int_equal(count_of(text, "# EOF\n"), 1);
}

static void a_job_of_series_has_its_project(void **state)
{
	char *text;

	(void)state;
	text = exported_text(
		"openmetrics",
		"{\"timestamp\":100.5,\"elapsed_secs\":1,\"cpu\":{\"process_memory_mib\":2},"
		"\"run_start\":{\"project_name\":\"p\",\"run_id\":\"id\",\"executable\":\"x\"}}\n");
	assert_has(text, "\nprocess_memory_usage_bytes{job=\"p/x\",instance=\"id\"} 2097152.0 100.500\n");
	assert_has(text, "process_executable_name=\"x\"");
	assert_lacks(text, "service_");
	/* A ratio, and a unit without a word. */
	assert_has(text, "\n# TYPE hw_gpu_utilization_ratio gauge\n# UNIT hw_gpu_utilization_ratio ratio\n");
	assert_has(text, "\n# TYPE process_thread_count gauge\n# TYPE ");
}

/* ---- perfetto ------------------------------------------------------------------------------------------------ */

static void each_program_of_a_trace_has_a_track(void **state)
{
	char recording[8192] =
		"{\"timestamp\":100.5,\"elapsed_secs\":1,\"actual_interval_ms\":1000,\"programs\":[",
	     *text;

	(void)state;
	for (int i = 0; i < 40; i++)
		snprintf(recording + strlen(recording), sizeof recording - strlen(recording),
			 "%s{\"name\":\"p%d\",\"cpu_secs\":0.5,\"process_count\":1}", i ? "," : "", i);
	strcat(recording, "]}\n");
	text = exported_text("perfetto", recording);
	assert_int_equal(count_of(text, "\"ph\":\"X\",\"name\":\"p"), 40);
	assert_has(
		text,
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":41,\"args\":{\"name\":\"p39\"}}");
	assert_has(text,
		   "{\"ph\":\"X\",\"name\":\"p39\",\"pid\":1,\"tid\":41,\"ts\":99500000,\"dur\":1000000,"
		   "\"args\":{\"cpu_secs\":0.5,\"memory_peak_mib\":null}}");
}

#define AT(timestamp, members) \
	"{\"timestamp\":" #timestamp ",\"elapsed_secs\":" #timestamp \
	",\"actual_interval_ms\":1000,\"programs\":[" members "]}\n"
#define PROGRAM(cpu, memory, count) \
	"{\"name\":\"cc\",\"cpu_secs\":" #cpu ",\"memory_mib\":" #memory ",\"process_count\":" #count "}"

/* A program without processes and without CPU time is not there. When it comes back, it has another slice. */
static void a_slice_lasts_as_long_as_its_program(void **state)
{
	char *text = exported_text("perfetto", AT(1, PROGRAM(0.5, 2, 1)) AT(2, PROGRAM(0.25, 3, null))
						       AT(3, PROGRAM(0, 9, 0)) AT(4, PROGRAM(null, 5, 2))
							       AT(5, PROGRAM(0.125, 4, 0)) AT(6, ""));

	(void)state;
	assert_int_equal(count_of(text, "\"ph\":\"X\",\"name\":\"cc\""), 2);
	assert_has(text, "\"ts\":0,\"dur\":2000000,\"args\":{\"cpu_secs\":0.75,\"memory_peak_mib\":3.0}}");
	assert_has(text,
		   "\"ts\":3000000,\"dur\":2000000,\"args\":{\"cpu_secs\":0.125,\"memory_peak_mib\":5.0}}");
	/* One that comes later has no slice before. */
	text = exported_text("perfetto", AT(1, "") AT(2, PROGRAM(0.5, 2, 1)) AT(3, PROGRAM(0.5, 2, 1)));
	assert_int_equal(count_of(text, "\"ph\":\"X\",\"name\":\"cc\""), 1);
	assert_has(text, "\"ts\":1000000,\"dur\":2000000,");
	text = exported_text("perfetto", AT(1, PROGRAM(0, 9, null)) AT(2, "{\"name\":null,\"cpu_secs\":1}"));
	assert_int_equal(count_of(text, "\"ph\":\"X\""), 1); /* the run itself */
}

static void counters_of_a_trace_are_rates(void **state)
{
#define DISK_SAMPLE(timestamp, ms, end) \
	"{\"timestamp\":" #timestamp ",\"elapsed_secs\":" #timestamp ",\"actual_interval_ms\":" #ms \
	",\"cpu\":{\"process_cores_used\":0.5,\"process_memory_mib\":7," \
	"\"process_disk_read_bytes\":1048576,\"process_disk_write_bytes\":2097152}" end "}\n"
	char *text;

	(void)state;
	text = exported_text("perfetto", DISK_SAMPLE(2, 2000, ""));
	assert_has(text, "\"name\":\"disk read MiB/s\",\"pid\":1,\"tid\":1,\"ts\":0,\"args\":{\"disk read "
			 "MiB/s\":0.5}");
	assert_has(text, "\"ts\":0,\"args\":{\"disk write MiB/s\":1.0}");
	assert_has(text, "\"ts\":2000000,\"args\":{\"memory MiB\":7.0}");
	assert_has(text, "\"ts\":0,\"args\":{\"cores\":0.5}");
	/* Without an end, nothing is known to be used no more. */
	assert_lacks(text, "\"args\":{\"cores\":0.0}");
	text = exported_text("perfetto",
			     DISK_SAMPLE(2, 0, ",\"run_end\":{\"reason\":\"exit\",\"exit_code\":0}"));
	assert_lacks(text, "MiB/s");
	assert_has(text, "\"ts\":2000000,\"args\":{\"cores\":0.0}}");
	assert_has(text, "\"ts\":2000000,\"args\":{\"memory MiB\":0.0}}");
	/* No sample begins before its run. */
	text = exported_text("perfetto", "{\"timestamp\":10,\"elapsed_secs\":1,\"actual_interval_ms\":5000,"
					 "\"cpu\":{\"process_cores_used\":0.5}}\n");
	assert_has(text, "\"ts\":9000000,\"args\":{\"cores\":0.5}");
	assert_has(text, "\"ts\":9000000,\"dur\":1000000,\"args\":{\"end\":");
}

/* Each recording is a process of its own. */
static void recordings_of_a_trace_are_processes(void **state)
{
	static const char *const PATHS[] = {"a.jsonl", "b.jsonl"};
	char *text;

	(void)state;
	put_text("a.jsonl", AT(1, PROGRAM(0.5, 2, 1)));
	put_text("b.jsonl", AT(3, PROGRAM(0.5, 2, 1)));
	text = exported("perfetto", PATHS, 2);
	assert_has(text, "{\"ph\":\"X\",\"name\":\"cc\",\"pid\":1,\"tid\":2,\"ts\":0,");
	assert_has(text, "{\"ph\":\"X\",\"name\":\"cc\",\"pid\":2,\"tid\":2,\"ts\":2000000,");
	assert_int_equal(count_of(text, "\"name\":\"process_name\""), 2);
}

/* ---- RO-Crate ------------------------------------------------------------------------------------------------ */

static void runs_of_one_tool_share_it(void **state)
{
	static const char *const PATHS[] = {"a.jsonl", "b.jsonl", "c.jsonl"};
	char *text;

	(void)state;
	put_seconds("a.jsonl", 2, "h", "\"job_name\":\"one\"");
	put_seconds("b.jsonl", 2, "h", "\"job_name\":\"two\"");
	put_seconds("c.jsonl", 2, "h", "\"job_name\":\"one\"");
	text = exported("ro-crate", PATHS, 3);
	assert_int_equal(count_of(text, "\"instrument\":{\"@id\":\"#tool-1\"}"), 2);
	assert_int_equal(count_of(text, "\"instrument\":{\"@id\":\"#tool-2\"}"), 1);
	assert_int_equal(count_of(text, "\"@type\":\"SoftwareApplication\""), 2);
	assert_has(text, "{\"@id\":\"#tool-2\",\"@type\":\"SoftwareApplication\",\"name\":\"two\"}");
	assert_has(text, "\"mentions\":[{\"@id\":\"#run-1\"},{\"@id\":\"#run-2\"},{\"@id\":\"#run-3\"}]");
	assert_has(text, "\"startTime\":\"2023-11-14T22:13:20.500+00:00\","
			 "\"endTime\":\"2023-11-14T22:13:22.500+00:00\"");
	assert_has(text, "http://schema.org/ActiveActionStatus");
	assert_lacks(text, "\"error\"");
}

static void the_end_of_a_run_is_the_status_of_its_action(void **state)
{
#define ENDED(end) \
	"{\"timestamp\":100,\"elapsed_secs\":1,\"run_start\":{\"task_name\":\"t\",\"run_id\":\"id\"," \
	"\"executable\":\"x\",\"command\":\"[\\\"a b\\\",\\\"c\\\"]\"},\"run_end\":{" end "}}\n"
	char *text;

	(void)state;
	text = exported_text("ro-crate", ENDED("\"reason\":\"exit\",\"exit_code\":0"));
	assert_has(text, "http://schema.org/CompletedActionStatus");
	assert_has(text, "\"name\":\"a b c (t)\",\"description\":\"a b c\",\"identifier\":\"id\"");
	text = exported_text("ro-crate", ENDED("\"reason\":\"exit\",\"exit_code\":2"));
	assert_has(text, "http://schema.org/FailedActionStatus\",\"error\":\"exit status 2\"");
}

/* Times of a calendar, and others that are left out. */
static void times_of_an_action_are_those_of_a_calendar(void **state)
{
#define TIMED(timestamp) "{\"timestamp\":" #timestamp ",\"elapsed_secs\":1}\n"
	char *text;

	(void)state;
	text = exported_text("ro-crate", TIMED(1700000001.25));
	assert_has(text, "\"startTime\":\"2023-11-14T22:13:20.250+00:00\",\"endTime\":\"2023-11-14T22:13:21."
			 "250+00:00\"");
	text = exported_text("ro-crate", TIMED(0));
	assert_has(text, "\"startTime\":\"1969-12-31T23:59:59.000+00:00\"");
	text = exported_text("ro-crate", TIMED(90000000000));
	assert_has(text, "\"startTime\":\"4821-");
	text = exported_text("ro-crate", TIMED(100000000001));
	assert_lacks(text, "Time\"");
	text = exported_text("ro-crate", TIMED(150000000000));
	assert_lacks(text, "Time\"");
}

/* ---- snapshots of the package ---------------------------------------------------------------------------------- */

/* The package cannot read a column with an absent number. */
static void snapshots_have_no_gaps(void **state)
{
#define PROCESS(timestamp, memory, utime, read) \
	"{\"timestamp\":" #timestamp ",\"elapsed_secs\":1,\"tracked_pid\":7,\"cpu\":{\"process_child_" \
	"count\":1,\"process_memory_mib\":" #memory ",\"process_utime_secs\":" #utime \
	",\"process_disk_read_bytes\":" #read "}}\n"
	char *text;

	(void)state;
	text = exported_text("snapshot", PROCESS(100, null, null, null) PROCESS(101, 2.5, 1.5, 7)
						 PROCESS(102, null, null, null) PROCESS(103, 3, 0, 8));
	assert_has(text, "\"timestamp\": 101.0, \"pid\": 7, \"children\": 1, \"utime\": 1.5, ");
	/* A level goes on, and a change that is unknown is none. */
	assert_has(text, "\"process_metrics\": [{\"timestamp\": 100.0, \"pid\": 7, \"children\": 1, "
			 "\"utime\": null, \"stime\": null, \"cpu_usage\": null, \"memory_mib\": null, "
			 "\"disk_read_bytes\": null, ");
	assert_has(text,
		   "{\"timestamp\": 102.0, \"pid\": 7, \"children\": 1, \"utime\": 0.0, "
		   "\"stime\": null, \"cpu_usage\": null, \"memory_mib\": 2.5, \"disk_read_bytes\": 0, ");
	text = exported_text("snapshot-0.4", PROCESS(101, 2.5, 1.5, 7));
	assert_has(text, "\"memory\": 2560.0, \"read_bytes\": 7, ");
}

static void facts_of_a_snapshot_have_two_decimals(void **state)
{
#define FACTS(members) "{\"timestamp\":101.5,\"elapsed_secs\":1.2345,\"run_start\":{" members "}}\n"
	char *text = exported_text(
		"snapshot", FACTS("\"interval_secs\":0.5,\"memory_total_mib\":16.12945,\"cpu_count\":3"));

	(void)state;
	assert_has(text, "\"vcpus\": 3, \"memory_mib\": 16.13, ");
	assert_has(text, "\"interval\": 0.5, ");
	assert_has(text, "\"start_time\": 100.266, \"stop_time\": 101.5, \"duration\": 1.73}");
	text = exported_text("snapshot", FACTS("\"interval_secs\":999999999"));
	assert_has(text, "\"interval\": 999999999, ");
	text = exported_text("snapshot", FACTS("\"interval_secs\":1000000000"));
	assert_has(text, "\"interval\": 1000000000.0, ");
}

/* ---- gpu_tracker ----------------------------------------------------------------------------------------------- */

static void parts_of_the_tree_are_never_negative(void **state)
{
#define TREE(ms, members) \
	"{\"timestamp\":100.5,\"elapsed_secs\":1,\"actual_interval_ms\":" #ms ",\"cpu\":{" members \
	"},\"run_start\":{\"cpu_count\":4}}\n"
	char *text;

	(void)state;
	text = exported_text(
		"gpu_tracker",
		TREE(500, "\"utilization_pct\":2,\"process_cores_used\":1.5,\"process_thread_count\":5,"
			  "\"process_main_thread_count\":2,\"process_main_utime_secs\":0.25,"
			  "\"process_main_stime_secs\":0.125,\"process_gpu_vram_mib\":2048,"
			  "\"process_main_gpu_vram_mib\":1024"));
	assert_has(text, ",1.073741824,1.073741824,2.147483648,");
	assert_has(text, ",2,3,5,200.0,50.0,75.0,18.75,75.0,18.75,150.0,37.5,100.5\r\n");
	text = exported_text("gpu_tracker",
			     TREE(500, "\"process_cores_used\":0.5,\"process_thread_count\":2,"
				       "\"process_main_thread_count\":3,\"process_main_utime_secs\":0.25,"
				       "\"process_main_stime_secs\":0.125,\"process_gpu_vram_mib\":1024,"
				       "\"process_main_gpu_vram_mib\":2048"));
	assert_has(text, ",2.147483648,0.0,1.073741824,");
	assert_has(text, ",3,0,2,,,75.0,18.75,0.0,0.0,50.0,12.5,100.5\r\n");
	/* A sample that took no time has no rate of its own. */
	text = exported_text("gpu_tracker",
			     TREE(0, "\"process_cores_used\":0.5,\"process_main_utime_secs\":0.25,"
				     "\"process_main_stime_secs\":0.125"));
	assert_has(text, ",,,,,,,,50.0,12.5,100.5\r\n");
	/* Nothing has no percentage of the hardware that is not there. */
	assert_has(text, ",0.0,0.0,,,,");
}

/* Returns the fields of a job's machine that say how many cores and GPUs are expected. */
static const char *expected_of(double cores, double gpus)
{
	static const char *const PATHS[] = {"a.jsonl"};
	const struct rt_gpu_tracker_options of_tracking = {
		.size = sizeof of_tracking, .expected_cores = cores, .expected_gpus = gpus};
	const struct rt_export_options options = {
		.size = sizeof options, .format = "gpu_tracker", .gpu_tracker = &of_tracking};
	static char fields[200];
	char *text, *at;

	put_text("a.jsonl", TREE(500, "\"process_cores_used\":1"));
	assert_int_equal(rt_export(PATHS, 1, "out", &options, &problem), 0);
	text = get_file("out", NULL);
	at = strchr(text, '\n') + 1;
	snprintf(fields, sizeof fields, "%.*s", (int)strcspn(at, "\r"), at);
	free(text);
	return fields;
}

static void expected_cores_and_gpus_are_counts(void **state)
{
	(void)state;
	assert_string_equal(expected_of(0, 0), "gigabytes,gigabytes,hours,,0.0,4,4,0,0");
	assert_string_equal(expected_of(0.5, 1), "gigabytes,gigabytes,hours,,0.0,4,0,0,1");
	assert_string_equal(expected_of(2, 3), "gigabytes,gigabytes,hours,,0.0,4,2,0,3");
	assert_string_equal(expected_of(8e18, -1),
			    "gigabytes,gigabytes,hours,,0.0,4,8000000000000000000,0,0");
	assert_string_equal(expected_of(9e18, 0), "gigabytes,gigabytes,hours,,0.0,4,,0,0");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(series_of_long_runs_have_all_points),
		unit_test_in_scratch(a_job_of_series_has_its_project),
		unit_test_in_scratch(each_program_of_a_trace_has_a_track),
		unit_test_in_scratch(a_slice_lasts_as_long_as_its_program),
		unit_test_in_scratch(counters_of_a_trace_are_rates),
		unit_test_in_scratch(recordings_of_a_trace_are_processes),
		unit_test_in_scratch(runs_of_one_tool_share_it),
		unit_test_in_scratch(the_end_of_a_run_is_the_status_of_its_action),
		unit_test_in_scratch(times_of_an_action_are_those_of_a_calendar),
		unit_test_in_scratch(snapshots_have_no_gaps),
		unit_test_in_scratch(facts_of_a_snapshot_have_two_decimals),
		unit_test_in_scratch(parts_of_the_tree_are_never_negative),
		unit_test_in_scratch(expected_cores_and_gpus_are_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
