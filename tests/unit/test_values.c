/* Tests of src/tracker/values.c: numbers of metrics, values of a sample that the test has filled, and their reasons. */
#include "scratch.h"

#include <errno.h>

#include "metric/typed_rows.h"
#include "tracker/tracker.h"
#include "tracker/values.h"

static rt_tracker *tracker;

/* An empty machine, and one sample with two disks. */
static int begin_sample(void **state)
{
	rt_config *config;
	int error = scratch_enter(state) | mkdir("machine", 0755) | rt_config_new(&config) |
		    rt_config_set(config, "root", "machine") | rt_open(config, &tracker);
	struct frame *frame;
	struct disk_row *disk;

	rt_config_free(config);
	if (error || rt_sample(tracker) < 0)
		return -1;
	frame = tracker->previous;
	frame_begin(frame, frame->monotonic_ns, frame->realtime_ns);
	frame->sample->sample = 3;
	for (int i = 0; i < 2; i++) {
		disk = ADD_ROW(frame, disk, NULL);
		disk->device = i ? "sdb" : "sda";
		disk->read_bytes_total = 100 + i;
		disk->row.number = i;
	}
	frame_set_missing(frame, ROW_gpu, EACCES);
	return 0;
}

static int end_sample(void **state)
{
	rt_close(tracker);
	return scratch_leave(state);
}

static void only_numbers_of_metrics_are_metrics(void **state)
{
	rt_metric first = rt_metric_next(0), last = 0, read = rt_metric_find("disk.read_bytes_total");
	enum row_kind kind = ROW_KINDS;
	size_t index = 77;
	size_t known = 0, all = 0;

	(void)state;
	for (rt_metric metric = first; metric; metric = rt_metric_next(metric)) {
		assert_true(metric > last);
		assert_true(metric_of_number(metric, &kind, &index));
		assert_int_equal(metric_number(kind, index), metric);
		last = metric;
		known++;
	}
	for (enum row_kind i = 0; i < ROW_KINDS; i++)
		for (size_t j = 0; j < ROW_DESCRIPTIONS[i].metric_count; j++)
			all += ROW_DESCRIPTIONS[i].metrics[j].nature != RAW;
	assert_int_equal(known, all);
	kind = ROW_gpu;
	index = 77;
	assert_false(metric_of_number(0, &kind, &index));
	assert_false(metric_of_number(1, &kind, &index));
	assert_false(metric_of_number((rt_metric)ROW_KINDS << 16 | 0xffff, &kind, &index));
	assert_false(metric_of_number((rt_metric)(ROW_KINDS + 1) << 16 | 1, &kind, &index));
	assert_false(metric_of_number(first & ~(rt_metric)0xffff, &kind, &index));
	assert_false(metric_of_number(metric_number(ROW_disk, ROW_DESCRIPTIONS[ROW_disk].metric_count), &kind,
				      &index));
	/* Behind the last metric of any kind there is none, whatever lies there in memory. */
	for (enum row_kind i = 0; i < ROW_KINDS; i++)
		assert_false(
			metric_of_number(metric_number(i, ROW_DESCRIPTIONS[i].metric_count), &kind, &index));
	assert_true(kind == ROW_gpu && index == 77);
	assert_true(metric_of_number(read, &kind, &index) && kind == ROW_disk);
	assert_int_equal(rt_metric_next(last), 0);
	assert_int_equal(rt_metric_next((rt_metric)(ROW_KINDS + 1) << 16), 0);
}

/* Counters behind a rate are not metrics themselves. */
static void raw_counters_have_no_number(void **state)
{
	enum row_kind kind;
	size_t index, raw = 0;
	char name[200];

	(void)state;
	for (enum row_kind i = 0; i < ROW_KINDS; i++) {
		for (size_t j = 0; j < ROW_DESCRIPTIONS[i].metric_count; j++) {
			if (ROW_DESCRIPTIONS[i].metrics[j].nature != RAW)
				continue;
			raw++;
			assert_false(metric_of_number(metric_number(i, j), &kind, &index));
			if (metric_full_name(i, j, name, sizeof name) > 0)
				assert_int_not_equal(rt_metric_find(name), metric_number(i, j));
		}
	}
	assert_true(raw > 0);
}

static void each_metric_is_described(void **state)
{
	static const struct {
		const char *name, *group, *key, *unit, *kind;
		enum rt_type type;
		int decimals;
		bool many;
	} CASES[] = {
		{"sample", "", "sample", "", "gauge", RT_TYPE_COUNT, 0, false},
		{"memory.used_mib", "memory", "used_mib", "MiB", "gauge", RT_TYPE_REAL, 3, false},
		{"disk.device", "disk", "device", "", "identity", RT_TYPE_TEXT, 0, true},
		{"disk.read_bytes_total", "disk", "read_bytes_total", "bytes", "counter", RT_TYPE_COUNT, 0,
		 true},
		{"disk.read_bytes_per_sec", "disk", "read_bytes_per_sec", "bytes/s", "rate", RT_TYPE_REAL, 1,
		 true},
		{"disk.mounts.used_pct", "disk.mounts", "used_pct", "%", "gauge", RT_TYPE_REAL, 2, true},
		{"run_start.children", "run_start", "children", "", "identity", RT_TYPE_FLAG, 0, false},
		{"cpu.process_utime_secs", "cpu", "process_utime_secs", "s", "delta", RT_TYPE_REAL, 4, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct rt_metric_info info = {.size = sizeof info};

		if (rt_metric_get_info(rt_metric_find(CASES[i].name), &info) != 0)
			fail_msg("%s is unknown", CASES[i].name);
		assert_string_equal(info.name, CASES[i].name);
		assert_string_equal(info.group, CASES[i].group);
		assert_string_equal(info.key, CASES[i].key);
		assert_string_equal(info.unit, CASES[i].unit);
		if (strcmp(info.kind, CASES[i].kind) != 0)
			fail_msg("%s is a %s", info.name, info.kind);
		assert_int_equal(info.type, CASES[i].type);
		assert_int_equal(info.decimals, CASES[i].decimals);
		assert_int_equal(info.many, CASES[i].many);
	}
	assert_int_equal(
		rt_metric_get_info(0, &(struct rt_metric_info){.size = sizeof(struct rt_metric_info)}),
		-ENOENT);
}

static void rows_have_positions(void **state)
{
	rt_metric device = rt_metric_find("disk.device"), total = rt_metric_find("memory.total_mib");
	struct rt_value value = {.count = 7};

	(void)state;
	assert_int_equal(rt_instance_count(tracker, device), 2);
	assert_int_equal(rt_instance_count(tracker, total), 0);
	assert_int_equal(rt_instance_count(tracker, rt_metric_find("sample")), 1);
	assert_int_equal(rt_instance_count(tracker, 0), 0);
	assert_int_equal(rt_get(tracker, device, 2, &value), -ENOENT);
	assert_int_equal(rt_get(tracker, total, 1, &value), -ENOENT);
	assert_int_equal(value.count, 7);
	assert_int_equal(rt_get(tracker, device, 1, &value), 0);
	assert_string_equal(value.text, "sdb");
	assert_int_equal(value.type, RT_TYPE_TEXT);
	assert_int_equal(rt_get(tracker, rt_metric_find("disk.read_bytes_total"), 1, &value), 0);
	assert_true(value.type == RT_TYPE_COUNT && value.count == 101);
	assert_int_equal(rt_get(tracker, rt_metric_find("disk.model"), 0, &value), 0);
	assert_true(value.type == RT_TYPE_NONE && value.reason == ABSENT_NOT_COLLECTED);
	/* A single row that is not there is absent. */
	assert_int_equal(rt_get(tracker, total, 0, &value), 0);
	assert_true(value.type == RT_TYPE_NONE && value.reason == ABSENT_NOT_COLLECTED);
}

/* A call for values fails, and leaves its result as it was. */
static void values_are_absent_before_the_first_sample(void **state)
{
	rt_metric sample = rt_metric_find("sample");
	rt_snapshot *snapshot = NULL;
	struct rt_value value = {.count = 7};
	char *text = NULL;

	(void)state;
	rt_close(tracker);
	assert_int_equal(rt_open(NULL, &tracker), 0);
	assert_int_equal(rt_get(tracker, sample, 0, &value), -ENODATA);
	assert_int_equal(rt_get_named(tracker, "sample", &value), -ENODATA);
	assert_int_equal(rt_sample_json(tracker, &text), -ENODATA);
	assert_int_equal(rt_explain_absent(tracker, &text), -ENODATA);
	assert_int_equal(rt_snapshot_take(tracker, &snapshot), -ENODATA);
	assert_int_equal(rt_instance_count(tracker, sample), 0);
	assert_int_equal(value.count, 7);
	assert_null(text);
	assert_null(snapshot);
}

static void a_name_that_is_not_a_metric_has_an_error(void **state)
{
	static const struct {
		const char *name;
		int error;
	} CASES[] = {
		{NULL, -ENOENT},
		{"", -EINVAL},
		{"disk", -ENOENT},
		{"disk.none", -ENOENT},
		{"samples", -ENOENT},
		{"disk[0.device", -EINVAL},
		{"disk.device", -EINVAL},
		{"memory[0].total_mib", -EINVAL},
		{"disk[mean].device", -EINVAL},
		{"disk[sdx].device", -ENOENT},
	};
	struct rt_value value = {.count = 7};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		int error = rt_get_named(tracker, CASES[i].name, &value);

		if (error != CASES[i].error)
			fail_msg("%s: %d", CASES[i].name ? CASES[i].name : "NULL", error);
	}
	assert_int_equal(value.count, 7);
	assert_int_equal(rt_metric_find(NULL), 0);
	assert_int_equal(rt_metric_find("disk"), 0);
	assert_int_equal(rt_metric_find("disk.devic"), 0);
}

static void sums_over_rows_are_numbers(void **state)
{
	struct rt_value value;

	(void)state;
	assert_int_equal(rt_get_named(tracker, "disk[sum].read_bytes_total", &value), 0);
	assert_true(value.type == RT_TYPE_REAL && value.real == 201);
	assert_int_equal(rt_get_named(tracker, "disk[mean].read_bytes_total", &value), 0);
	assert_true(value.real == 100.5);
	assert_int_equal(rt_get_named(tracker, "disk[max].read_bytes_total", &value), 0);
	assert_true(value.real == 101);
	/* All of the values are absent. */
	assert_int_equal(rt_get_named(tracker, "disk[sum].capacity_bytes", &value), 0);
	assert_true(value.type == RT_TYPE_NONE && value.reason == ABSENT_NOT_COLLECTED);
	assert_int_equal(rt_get_named(tracker, "disk[max].model", &value), -EINVAL);
	assert_int_equal(rt_get_named(tracker, "disk[1].device", &value), 0);
	assert_string_equal(value.text, "sdb");
	assert_int_equal(rt_get_named(tracker, "disk[sdc].device", &value), -ENOENT);
	assert_int_equal(rt_get_named(tracker, "memory.total_mib", &value), 0);
	assert_true(value.type == RT_TYPE_NONE && value.reason == ABSENT_NOT_COLLECTED);
}

/* Another sample overwrites the frame's text. */
static void a_text_that_was_given_stays(void **state)
{
	struct rt_value by_number, by_name;
	char name[] = "sdx";

	(void)state;
	((struct disk_row *)(void *)tracker->previous->first[ROW_disk])->device = name;
	assert_int_equal(rt_get(tracker, rt_metric_find("disk.device"), 0, &by_number), 0);
	assert_int_equal(rt_get_named(tracker, "disk[0].device", &by_name), 0);
	name[0] = 'X';
	assert_string_equal(by_number.text, "sdx");
	assert_ptr_equal(by_name.text, by_number.text);
}

static void absent_values_are_explained_with_their_row(void **state)
{
	char *text = NULL;

	(void)state;
	assert_int_equal(rt_explain_absent(tracker, &text), 0);
	assert_int_equal(strncmp(text, "run_start.figures_from is no-sys+no-proc-stat, so some figures",
				 strlen("run_start.figures_from is no-sys+no-proc-stat, so some figures")),
			 0);
	assert_non_null(strstr(text, "\ndisk.model (sda): "));
	assert_non_null(strstr(text, "\ndisk.model (sdb): "));
	assert_null(strstr(text, "disk.device ("));
	assert_null(strstr(text, "disk.read_bytes_total ("));
	assert_null(strstr(text, "read_bytes_counter"));
	assert_non_null(strstr(text, "\ngpu: "));
	assert_null(strstr(text, "\nmemory: "));
	rt_free(text);
	/* Rows that are there are explained value by value. */
	ADD_ROW(tracker->previous, gpu, NULL);
	assert_int_equal(rt_explain_absent(tracker, &text), 0);
	assert_null(strstr(text, "\ngpu: "));
	assert_non_null(strstr(text, "\ngpu."));
	rt_free(text);
}

static void figures_of_a_kernel_need_no_word(void **state)
{
	char *text = NULL;

	(void)state;
	put_below("machine/sys/class/x", "");
	put_below("machine/proc/stat", "cpu  5 0 5 100 0 0 0 0 0 0\n");
	assert_int_equal(rt_explain_absent(tracker, &text), 0);
	assert_null(strstr(text, "figures_from is"));
	rt_free(text);
}

static void warnings_are_taken_one_by_one(void **state)
{
	char text[8] = "before";

	(void)state;
	assert_int_equal(rt_next_warning(tracker, text, sizeof text), -ENOENT);
	assert_string_equal(text, "before");
	tracker_warn(tracker, "one");
	tracker_warn(tracker, "");
	tracker_warn(tracker, "the third one");
	assert_int_equal(rt_next_warning(tracker, text, sizeof text), 0);
	assert_string_equal(text, "one");
	assert_int_equal(rt_next_warning(tracker, text, sizeof text), 0);
	assert_string_equal(text, "");
	assert_int_equal(rt_next_warning(tracker, text, sizeof text), 0);
	assert_string_equal(text, "the thi");
	assert_int_equal(rt_next_warning(tracker, text, sizeof text), -ENOENT);
}

/* A caller that never takes them does not fill the memory. */
static void warnings_have_an_end(void **state)
{
	static char long_text[WARNINGS_CEILING + 1];
	char text[8];

	(void)state;
	memset(long_text, 'x', WARNINGS_CEILING - 2);
	tracker_warn(tracker, long_text);
	tracker_warn(tracker, "");
	tracker_warn(tracker, "");
	assert_int_equal(tracker->warnings.length, WARNINGS_CEILING);
	assert_int_equal(rt_next_warning(tracker, text, sizeof text), 0);
	assert_int_equal(rt_next_warning(tracker, text, sizeof text), 0);
	assert_int_equal(rt_next_warning(tracker, text, sizeof text), -ENOENT);
	memset(long_text, 'x', WARNINGS_CEILING);
	tracker_warn(tracker, long_text);
	assert_int_equal(rt_next_warning(tracker, text, sizeof text), -ENOENT);
}

/* Every call says so in a process that has a copy of the tracker. */
static void a_copy_in_another_process_is_refused(void **state)
{
	rt_metric metric = rt_metric_find("sample");
	rt_snapshot *snapshot = NULL;
	struct rt_value value;
	struct rusage usage = {0};
	char *text = NULL;
	double number;

	(void)state;
	tracker->owner++;
	assert_int_equal(rt_get(tracker, metric, 0, &value), -ECHILD);
	assert_int_equal(rt_get_named(tracker, "sample", &value), -ECHILD);
	assert_int_equal(rt_instance_count(tracker, metric), 0);
	assert_int_equal(rt_sample_json(tracker, &text), -ECHILD);
	assert_int_equal(rt_explain_absent(tracker, &text), -ECHILD);
	assert_int_equal(rt_next_warning(tracker, (char[8]){0}, 8), -ECHILD);
	assert_int_equal(rt_snapshot_take(tracker, &snapshot), -ECHILD);
	assert_int_equal(rt_history_count(tracker, NULL, NULL), -ECHILD);
	assert_int_equal(rt_history_read(tracker, NULL, "sample", 0, 1, &number), -ECHILD);
	assert_int_equal(rt_sample_count(tracker), -ECHILD);
	assert_int_equal(rt_wait_for_samples(tracker, 0, 0), -ECHILD);
	assert_int_equal(rt_start(tracker), -ECHILD);
	assert_int_equal(rt_stop(tracker), -ECHILD);
	assert_int_equal(rt_sample(tracker), -ECHILD);
	assert_int_equal(rt_sample_due(tracker), -ECHILD);
	assert_int_equal(rt_finish(tracker, RT_END_EXIT, 0), -ECHILD);
	assert_int_equal(rt_track(tracker, 1, false), -ECHILD);
	assert_int_equal(rt_track_in_cgroup(tracker, 1), -ECHILD);
	assert_int_equal(rt_job_cgroup(tracker), -ECHILD);
	assert_int_equal(rt_set_job_start(tracker, 1), -ECHILD);
	assert_int_equal(rt_before_reap(tracker, 1), -ECHILD);
	assert_int_equal(rt_add_exited(tracker, 1, 0, &usage), -ECHILD);
	assert_int_equal(rt_exclude(tracker, 1), -ECHILD);
	assert_int_equal(rt_add_signal(tracker, 1, 1), -ECHILD);
	assert_int_equal(rt_wait_for_upload(tracker, 0), -ECHILD);
	assert_int_equal(rt_upload_answer(tracker, &text), -ECHILD);
	assert_int_equal(rt_next_sample_ns(tracker), INT64_MAX);
	assert_int_equal(rt_get_state(tracker), RT_STATE_STOPPED);
	assert_true(rt_over(tracker, NULL));
	tracker->owner--;
	assert_null(text);
	assert_int_equal(rt_get_state(tracker), RT_STATE_READY);
	assert_int_equal(rt_get(tracker, metric, 0, &value), 0);
	assert_int_equal(value.count, 3);
}

#define unit_test_of_values(test) cmocka_unit_test_setup_teardown(test, begin_sample, end_sample)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_numbers_of_metrics_are_metrics),
		cmocka_unit_test(raw_counters_have_no_number),
		cmocka_unit_test(each_metric_is_described),
		unit_test_of_values(rows_have_positions),
		unit_test_of_values(values_are_absent_before_the_first_sample),
		unit_test_of_values(a_name_that_is_not_a_metric_has_an_error),
		unit_test_of_values(sums_over_rows_are_numbers),
		unit_test_of_values(a_text_that_was_given_stays),
		unit_test_of_values(absent_values_are_explained_with_their_row),
		unit_test_of_values(figures_of_a_kernel_need_no_word),
		unit_test_of_values(warnings_are_taken_one_by_one),
		unit_test_of_values(warnings_have_an_end),
		unit_test_of_values(a_copy_in_another_process_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
