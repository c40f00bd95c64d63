/*
 * Tests of src/tracker/kept_samples.c: reading by column returns the values of the record, even while another
 * thread samples.
 */
#include "scratch.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>

#include "base/scan.h"
#include "metric/typed_rows.h"
#include "tracker/int_columns.h"
#include "tracker/kept_samples.h"
#include "resource_tracker.h"

enum { PAGE_ROWS = INT_COLUMNS_PAGE_ROWS };

static rt_tracker *open_tracker(int64_t samples, const char *metrics, const char *const *settings)
{
	rt_config *config;
	rt_tracker *tracker = NULL;

	assert_int_equal(rt_config_new(&config), 0);
	for (; *settings; settings += 2)
		assert_int_equal(rt_config_set(config, settings[0], settings[1]), 0);
	assert_int_equal(rt_config_set_history(config, samples, metrics), 0);
	if (rt_open(config, &tracker) < 0)
		fail_msg("%s", rt_config_message(config));
	rt_config_free(config);
	return tracker;
}

#define OPEN(samples, metrics, ...) \
	open_tracker(samples, metrics, (const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static const char *own_pid(void)
{
	static char text[24];

	snprintf(text, sizeof text, "%d", (int)getpid());
	return text;
}

/* The cells of a column of a CSV text without quoted commas, NaN where empty. */
static size_t csv_cells(const char *text, size_t column, double *ret_cells, size_t most)
{
	struct scan lines = scan_bytes(text, strlen(text)), line;
	size_t rows = 0;

	for (bool header = true; scan_line(&lines, &line); header = false) {
		const char *at = line.at;

		if (header)
			continue;
		for (size_t i = 0; i < column; i++)
			at = strchr(at, ',') + 1;
		assert_true(rows < most);
		ret_cells[rows++] = strchr("\",\r\n", *at) ? (double)NAN : strtod(at, NULL);
	}
	return rows;
}

static bool same(double one, double other)
{
	return (isnan(one) && isnan(other)) || one == other;
}

/* Compares all columns of a layout, with more samples than fit in a page, with the written file. */
static void layout_is_what_its_file_says(const char *layout)
{
	enum { ROWS = PAGE_ROWS + 9 };
	rt_tracker *tracker =
		OPEN(INT64_MAX, NULL, "pid", own_pid(), "csv-layout", layout, "output", "all.csv");
	double cells[ROWS], values[ROWS + 1];
	char *text;

	for (int i = 0; i < ROWS - 1; i++)
		assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
	text = get_file("all.csv", NULL);
	for (size_t column = 0; rt_csv_heading(layout, column); column++) {
		const char *heading = rt_csv_heading(layout, column);

		assert_int_equal(csv_cells(text, column, cells, ROWS), ROWS);
		assert_int_equal(rt_history_read(tracker, layout, heading, 0, ROWS + 1, values), ROWS);
		for (size_t row = 0; row < ROWS; row++)
			if (!same(cells[row], values[row]))
				fail_msg("%s %s, row %zu: the file says %.9g, the history %.9g", layout,
					 heading, row, cells[row], values[row]);
	}
	free(text);
	rt_close(tracker);
	unlink("all.csv");
}

static void cells_are_those_of_every_csv_layout(void **state)
{
	(void)state;
	for (size_t i = 0; rt_csv_layout_name(i); i++)
		layout_is_what_its_file_says(rt_csv_layout_name(i));
	assert_null(rt_csv_heading("no such layout", 0));
	assert_null(rt_csv_heading("combined", 32));
	assert_string_equal(rt_csv_heading("combined", 31), "process_gpu_utilized");
}

static double rounded(double value, int decimals)
{
	double scale = pow(10, decimals);

	return floor(value * scale + 0.5) / scale;
}

/* Each metric, by its name, equals the result of rt_get() when its sample was the newest. */
static void metrics_are_those_of_each_sample(void **state)
{
	rt_tracker *tracker = OPEN(INT64_MAX, "cpu,memory cgroup.*\npressure,totals", "pid", own_pid());
	size_t kept = 0;

	(void)state;
	for (int64_t row = 0; row < PAGE_ROWS + 3; row++) {
		assert_int_equal(rt_sample(tracker), 0);
		for (rt_metric metric = rt_metric_next(0); metric; metric = rt_metric_next(metric)) {
			struct rt_metric_info info = {.size = sizeof info};
			struct rt_value value;
			ssize_t got;
			double read;

			assert_int_equal(rt_metric_get_info(metric, &info), 0);
			got = rt_history_read(tracker, NULL, info.name, row, 2, &read);
			if (got == -ENOENT)
				continue;
			kept++;
			assert_int_equal(got, 1);
			assert_int_equal(rt_get(tracker, metric, 0, &value), 0);
			if (value.type == RT_TYPE_NONE)
				assert_true(isnan(read));
			else if (info.type != RT_TYPE_REAL)
				assert_true(read == (double)value.count);
			else if (strcmp(info.unit, "MiB") == 0)
				assert_true(fabs(read - value.real) <= 0.5 / 1024);
			else
				assert_true(read == rounded(value.real, info.decimals));
		}
	}
	assert_true(kept > (size_t)50 * PAGE_ROWS);
	rt_close(tracker);
}

static void history_keeps_only_the_requested_columns(void **state)
{
	rt_tracker *tracker = OPEN(10, "memory.used_mib", "no-process", "1");
	size_t bytes = 0;
	double value;

	(void)state;
	assert_int_equal(rt_history_count(tracker, NULL, NULL), 0);
	assert_int_equal(rt_history_read(tracker, NULL, "memory.used_mib", 0, 1, &value), 0);
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(rt_history_read(tracker, NULL, "memory.used_mib", 0, 1, &value), 1);
	assert_true(value > 0);
	assert_int_equal(rt_history_read(tracker, "system", "memory_used_mib", 0, 1, &value), 1);
	assert_int_equal(rt_history_read(tracker, NULL, "timestamp", 0, 1, &value), 1);
	assert_true(value > 1.6e9);
	assert_int_equal(rt_history_read(tracker, NULL, "memory.free_mib", 0, 1, &value), -ENOENT);
	assert_int_equal(rt_history_read(tracker, "system", "memory_free_mib", 0, 1, &value), -ENOENT);
	assert_int_equal(rt_history_read(tracker, "system", "no such heading", 0, 1, &value), -ENOENT);
	assert_int_equal(rt_history_read(tracker, "no such layout", "timestamp", 0, 1, &value), -ENOENT);
	assert_int_equal(rt_history_count(tracker, NULL, &bytes), 1);
	assert_true(bytes > 0 && bytes < 20 * 2048);
	rt_close(tracker);
}

/* Those of the CSV layouts, if the caller names none. */
static void history_without_a_list_keeps_the_columns_of_csv(void **state)
{
	rt_tracker *tracker = OPEN(10, NULL, "pid", own_pid());
	double value;

	(void)state;
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(rt_history_read(tracker, NULL, "memory.used_mib", 0, 1, &value), 1);
	assert_int_equal(rt_history_read(tracker, NULL, "cpu.process_utime_secs", 0, 1, &value), 1);
	assert_int_equal(rt_history_read(tracker, NULL, "memory.total_mib", 0, 1, &value), -ENOENT);
	assert_int_equal(rt_history_read(tracker, NULL, "pressure.cpu_some_secs", 0, 1, &value), -ENOENT);
	assert_int_equal(rt_history_read(tracker, NULL, "cgroup.throttled_secs", 0, 1, &value), -ENOENT);
	assert_int_equal(rt_history_read(tracker, NULL, "job_name", 0, 1, &value), -ENOENT);
	assert_int_equal(rt_history_read(tracker, NULL, "disk.read_bytes_total", 0, 1, &value), -ENOENT);
	rt_close(tracker);
}

/* A glob before a name of a single number does not make that name a glob. */
static void names_of_single_numbers_may_follow_globs(void **state)
{
	rt_tracker *tracker = OPEN(10, "\n, memory.used_mib,cpu.per_core_pct[sum] \tcpu.load_1m,sample ,",
				   "no-process", "1");
	double value;

	(void)state;
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(rt_history_read(tracker, NULL, "cpu.per_core_pct[sum]", 0, 1, &value), 1);
	assert_int_equal(rt_history_read(tracker, NULL, "cpu.load_1m", 0, 1, &value), 1);
	assert_int_equal(rt_history_read(tracker, NULL, "memory.used_mib", 0, 1, &value), 1);
	rt_close(tracker);
}

/* In steps of KiB, rounded to the nearest one, also below 0. The mean of counts has three decimals. */
static void values_are_kept_in_steps(void **state)
{
	static const struct {
		double mib;
		int64_t kib;
	} CASES[] = {{1, 1024},
		     {0.0006, 1},
		     {0.0004, 0},
		     {-1, -1024},
		     {-0.0006, -1},
		     {-0.0004, 0},
		     {0.0005, 1},
		     {-0.0005, -1},
		     /* With a half added, the next odd number would become an even one. */
		     {4503599627370497.0 / 1024, 4503599627370497},
		     {8789062499999.0, 8999999999998976},
		     {8789062500000.0, INT_COLUMNS_ABSENT},
		     {1e14, INT_COLUMNS_ABSENT},
		     {-1e14, INT_COLUMNS_ABSENT},
		     {NAN, INT_COLUMNS_ABSENT}};
	struct kept_samples kept = {0};
	struct kept_names names = {.count = 2};
	struct frame frame = {0};
	ssize_t used;
	int64_t got;

	(void)state;
	names.names[0] = (char[]){"disk[mean].read_bytes_total"};
	names.names[1] = (char[]){"disk[max].read_bytes_total"};
	for (int i = 0; i < 2; i++) {
		assert_true(metric_place_find("disk.read_bytes_total", &names.places[i]));
		names.places[i].choice = i ? PLACE_MAX : PLACE_MEAN;
	}
	assert_int_equal(kept_samples_open(&kept, 100, NULL, &names), 0);
	used = kept_samples_find(&kept, ROW_memory, offsetof(struct memory_row, used_mib));
	assert_true(used >= 0);
	assert_int_equal(kept_samples_find(&kept, ROW_memory, offsetof(struct memory_row, total_mib)),
			 -ENOENT);
	assert_int_equal(kept_samples_find(&kept, ROW_disk, offsetof(struct memory_row, used_mib)), -ENOENT);
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		frame_begin(&frame, 1, 1);
		SINGLE_ROW(&frame, memory)->used_mib = CASES[i].mib;
		ADD_ROW(&frame, disk, NULL)->read_bytes_total = 1;
		ADD_ROW(&frame, disk, NULL)->read_bytes_total = 4;
		kept_samples_add(&kept, &frame);
		assert_int_equal(int_columns_read(&kept.rows, (size_t)used, (int64_t)i, 1, &got), 1);
		assert_int_equal(got, CASES[i].kib);
		assert_int_equal(int_columns_read(&kept.rows, kept.column_count - 2, (int64_t)i, 1, &got), 1);
		assert_int_equal(got, 2500);
		assert_int_equal(int_columns_read(&kept.rows, kept.column_count - 1, (int64_t)i, 1, &got), 1);
		assert_int_equal(got, 4);
	}
	frame_done(&frame);
	kept_samples_close(&kept);
}

static int64_t kept_value(struct kept_samples *kept, enum row_kind kind, size_t offset)
{
	ssize_t column = kept_samples_find(kept, kind, offset);
	int64_t value = 0;

	assert_true(column >= 0);
	assert_int_equal(int_columns_read(&kept->rows, (size_t)column, 0, 1, &value), 1);
	return value;
}

/* Times in millionths, cores in ten-thousandths, space in sectors, counts as they are. */
static void each_unit_has_its_step(void **state)
{
	struct kept_samples kept = {0};
	struct kept_names names = {.count = 0};
	struct frame frame = {0};

	(void)state;
	frame_begin(&frame, 1, 1);
	/* Without a history nothing is kept. */
	kept_samples_add(&kept, &frame);
	assert_int_equal(kept.rows.row_count, 0);
	frame.sample->elapsed_secs = 1.5;
	frame.sample->timestamp = 2.25;
	frame.sample->sample = 7;
	SINGLE_ROW(&frame, tree)->process_cores_used = 3.5;
	SINGLE_ROW(&frame, totals)->disk_space_total_gb = 0.001024;
	assert_int_equal(kept_samples_open(&kept, 100, NULL, &names), 0);
	kept_samples_add(&kept, &frame);
	assert_int_equal(kept_value(&kept, ROW_sample, offsetof(struct sample_row, elapsed_secs)), 1500000);
	assert_int_equal(kept_value(&kept, ROW_sample, offsetof(struct sample_row, timestamp)), 9437184);
	assert_int_equal(kept_value(&kept, ROW_sample, offsetof(struct sample_row, sample)), 7);
	assert_int_equal(kept_value(&kept, ROW_tree, offsetof(struct tree_row, process_cores_used)), 35000);
	assert_int_equal(kept_value(&kept, ROW_totals, offsetof(struct totals_row, disk_space_total_gb)),
			 2000);
	assert_int_equal(kept_value(&kept, ROW_totals, offsetof(struct totals_row, disk_read_bytes)),
			 INT_COLUMNS_ABSENT);
	frame_done(&frame);
	kept_samples_close(&kept);
}

/* The sum and the mean over all cores, and two single cores, equal the results of rt_get(). */
static void one_of_several_and_all_together(void **state)
{
	rt_tracker *tracker =
		OPEN(INT64_MAX,
		     "cpu.per_core_pct[sum],cpu.per_core_pct[mean] cpu.per_core_pct[0],"
		     "cpu.per_core_pct[max],cpu.per_core_pct[5000],disk[no-such-disk].read_bytes_total",
		     "no-process", "1");
	rt_metric metric = rt_metric_find("cpu.per_core_pct");
	double read;

	(void)state;
	for (int64_t row = 0; row < PAGE_ROWS + 3; row++) {
		double sum = 0, most = 0, first = 0;
		size_t count, present = 0;

		assert_int_equal(rt_sample(tracker), 0);
		count = rt_instance_count(tracker, metric);
		for (size_t i = 0; i < count; i++) {
			struct rt_value value;

			assert_int_equal(rt_get(tracker, metric, i, &value), 0);
			if (value.type == RT_TYPE_NONE)
				continue;
			present++;
			sum += value.real;
			most = value.real > most ? value.real : most;
			first = i ? first : value.real;
		}
		if (rt_history_read(tracker, NULL, "cpu.per_core_pct[0]", row, 1, &read) != 1 || isnan(read))
			continue;
		assert_true(fabs(read - first) <= 0.0500001);
		assert_int_equal(rt_history_read(tracker, NULL, "cpu.per_core_pct[sum]", row, 1, &read), 1);
		assert_true(fabs(read - sum) <= 0.0500001);
		assert_int_equal(rt_history_read(tracker, NULL, "cpu.per_core_pct[mean]", row, 1, &read), 1);
		assert_true(fabs(read - sum / (double)present) <= 0.0500001);
		assert_int_equal(rt_history_read(tracker, NULL, "cpu.per_core_pct[max]", row, 1, &read), 1);
		assert_true(fabs(read - most) <= 0.0500001);
	}
	assert_int_equal(rt_history_read(tracker, NULL, "cpu.per_core_pct[5000]", 3, 1, &read), 1);
	assert_true(isnan(read));
	assert_int_equal(rt_history_read(tracker, NULL, "disk[no-such-disk].read_bytes_total", 3, 1, &read),
			 1);
	assert_true(isnan(read));
	assert_int_equal(rt_history_read(tracker, NULL, "memory.free_mib", 3, 1, &read), -ENOENT);
	assert_int_equal(rt_history_read(tracker, NULL, "sample", 3, 1, &read), 1);
	rt_close(tracker);
}

static void old_samples_are_given_up(void **state)
{
	rt_tracker *tracker = OPEN(100, "sample", "no-process", "1", "no-system", "1");
	int64_t first;
	double values[100];

	(void)state;
	for (int i = 1; i <= 2 * PAGE_ROWS + 50; i++) {
		assert_int_equal(rt_sample(tracker), 0);
		assert_int_equal(rt_history_count(tracker, &first, NULL), i < 100 ? i : 100);
		assert_int_equal(first, i < 100 ? 0 : i - 100);
	}
	assert_int_equal(first, 2 * PAGE_ROWS + 50 - 100);
	assert_int_equal(rt_history_read(tracker, NULL, "sample", first, 100, values), 100);
	for (int i = 0; i < 100; i++)
		assert_true(values[i] == (double)(first + i));
	assert_int_equal(rt_history_read(tracker, NULL, "sample", first - 1, 1, values), -ERANGE);
	assert_int_equal(rt_history_read(tracker, NULL, "sample", 0, 1, values), -ERANGE);
	rt_close(tracker);
}

static void errors_of_settings(void **state)
{
	static const char *const WRONG[] = {"memory.used_mib[0]", "disk[0].mounts.used_pct", "disk[0].model",
					    "no_such[0]"};
	static char many[7 * KEPT_NAMES_MOST + 1];
	rt_config *config;
	rt_tracker *tracker = NULL;
	char wanted[64];
	double value;

	(void)state;
	assert_int_equal(rt_config_new(&config), 0);
	assert_int_equal(rt_config_set_history(config, -1, NULL), -EINVAL);
	assert_int_equal(rt_config_set_history(config, 5, "memory.*,no_such_metric"), 0);
	assert_int_equal(rt_open(config, &tracker), -EINVAL);
	assert_non_null(strstr(rt_config_message(config), "no_such_metric"));
	for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
		assert_int_equal(rt_config_set_history(config, 5, WRONG[i]), 0);
		assert_int_equal(rt_open(config, &tracker), -EINVAL);
		assert_non_null(strstr(rt_config_message(config), WRONG[i]));
	}
	for (size_t i = 0; i < KEPT_NAMES_MOST; i++)
		strcpy(many + 7 * i, "memory,");
	assert_int_equal(rt_config_set_history(config, 5, many), 0);
	assert_int_equal(rt_open(config, &tracker), -EINVAL);
	snprintf(wanted, sizeof wanted, "history: more than %d names", KEPT_NAMES_MOST - 1);
	assert_string_equal(rt_config_message(config), wanted);
	many[7 * (KEPT_NAMES_MOST - 1)] = '\0';
	assert_int_equal(rt_config_set_history(config, 5, many), 0);
	assert_int_equal(rt_open(config, &tracker), 0);
	rt_close(tracker);
	assert_int_equal(rt_config_set_history(config, 0, NULL), 0);
	assert_int_equal(rt_open(config, &tracker), 0);
	assert_int_equal(rt_history_count(tracker, NULL, NULL), -ENODATA);
	assert_int_equal(rt_history_read(tracker, NULL, "timestamp", 0, 1, &value), -ENODATA);
	rt_close(tracker);
	rt_config_free(config);
}

/* A value that was read once stays; counts only grow; no value is torn. */
static void readable_while_a_thread_samples(void **state)
{
	rt_tracker *tracker =
		OPEN(INT64_MAX, "sample", "interval", "0.001", "no-process", "1", "no-system", "1");
	double values[64], elapsed_secs, last = -1;
	int64_t next = 0;

	(void)state;
	assert_int_equal(rt_start(tracker), 0);
	while (next < PAGE_ROWS + 20) {
		ssize_t got = rt_history_read(tracker, NULL, "sample", next, 64, values);

		assert_true(got >= 0);
		for (ssize_t i = 0; i < got; i++, next++) {
			assert_true(values[i] == (double)next);
			assert_int_equal(
				rt_history_read(tracker, NULL, "elapsed_secs", next, 1, &elapsed_secs), 1);
			assert_true(elapsed_secs > last);
			last = elapsed_secs;
		}
		assert_int_equal(rt_wait_for_samples(tracker, next + 1, 60), 0);
	}
	assert_int_equal(rt_stop(tracker), 0);
	assert_int_equal(rt_history_count(tracker, NULL, NULL), rt_sample_count(tracker));
	rt_close(tracker);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(cells_are_those_of_every_csv_layout),
		cmocka_unit_test(metrics_are_those_of_each_sample),
		cmocka_unit_test(history_keeps_only_the_requested_columns),
		cmocka_unit_test(history_without_a_list_keeps_the_columns_of_csv),
		cmocka_unit_test(names_of_single_numbers_may_follow_globs),
		cmocka_unit_test(values_are_kept_in_steps),
		cmocka_unit_test(each_unit_has_its_step),
		cmocka_unit_test(one_of_several_and_all_together),
		cmocka_unit_test(old_samples_are_given_up),
		cmocka_unit_test(errors_of_settings),
		cmocka_unit_test(readable_while_a_thread_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
