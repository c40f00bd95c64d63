/* Tests of src/report/row_series.c: each row of a kind has a series of its own, known by its key or its position. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "metric/typed_rows.h"
#include "report/row_series.h"

static const char *const RATES[] = {"disk.read_bytes_per_sec", "disk.write_bytes_per_sec"};
static const char *const BUSY[] = {"cpu.per_core_pct"};
static const struct report_rows DISKS = {"disk", RATES, 2}, CORES = {"per_core_pct", BUSY, 1};

static struct row_series all;
static struct frame frame;

static void begin_rows(const struct report_rows *rows)
{
	struct rt_problem problem = {0};

	assert_int_equal(row_series_begin(&all, rows, &problem), 0);
	frame_begin(&frame, 0, 0);
}

static void add_disk(const char *device, double read, double written)
{
	struct disk_row *disk = ADD_ROW(&frame, disk, NULL);

	if (device)
		disk->device = device;
	if (!isnan(read))
		disk->read_bytes_per_sec = read;
	if (!isnan(written))
		disk->write_bytes_per_sec = written;
}

static void end_sample(void)
{
	row_series_gather(&all, &frame, 1);
	row_series_end_point(&all);
	frame_begin(&frame, 0, 0);
}

static void assert_packed(size_t instance, size_t column, const char *wanted, size_t length)
{
	const struct buffer *bytes = &all.list[instance].series[column].bytes;

	assert_int_equal(bytes->length, length);
	assert_memory_equal(bytes->data, wanted, length);
}

#define ASSERT_PACKED(instance, column, wanted) assert_packed(instance, column, wanted, sizeof(wanted) - 1)

/* The text of all rows. Writing it ends the runs of equal and of unknown values. */
static const char *written_rows(void)
{
	static char text[4096];
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 20);
	struct json_writer json = JSON_WRITER(&out);

	assert_int_equal(row_series_write(&all, &json), 0);
	buffer_add_char(&out, '\0');
	assert_int_equal(buffer_error(&out), 0);
	snprintf(text, sizeof text, "%s", out.data);
	return text;
}

static void end_rows(void)
{
	row_series_done(&all);
	frame_done(&frame);
}

/* A tenth of a byte is one step. A change of n steps is 2n + 1, one of -n is 2n, and 0 or 1 begins a run of unknown or equal values. */
static void rows_are_known_by_their_keys(void **state)
{
	const char *text;

	(void)state;
	begin_rows(&DISKS);
	add_disk("sda", 1, NAN);
	end_sample();
	add_disk("sdb", 0.3, NAN);
	add_disk(NULL, 7, 7);
	add_disk("sda", 2, NAN);
	end_sample();
	end_sample();
	/* Two rows of one key are added up. */
	add_disk("sda", 0.5, NAN);
	add_disk("sda", 0.75, 0.1);
	end_sample();
	assert_int_equal(all.count, 2);
	assert_string_equal(all.list[0].name, "sda");
	assert_string_equal(all.list[1].name, "sdb");
	text = written_rows();
	ASSERT_PACKED(0, 0, "\x15\x15\x00\x01\x0e");
	ASSERT_PACKED(0, 1, "\x00\x03\x03");
	ASSERT_PACKED(1, 0, "\x00\x01\x07\x00\x02");
	assert_int_equal(row_series_bytes(&all), 5 + 3 + 5);
	assert_ptr_equal(
		strstr(text,
		       "{\"rows\":\"disk\",\"left_out\":0,\"instances\":[{\"name\":\"sda\",\"columns\":["),
		text);
	assert_non_null(
		strstr(text, "]},{\"name\":\"sdb\",\"columns\":[{\"column\":\"disk.read_bytes_per_sec\""));
	/* Only a column that has a value is written. */
	assert_null(strstr(strstr(text, "sdb"), "write_bytes_per_sec"));
	row_series_clear(&all);
	assert_int_equal(all.count, 0);
	assert_int_equal(row_series_bytes(&all), 0);
	add_disk("sdc", NAN, NAN);
	end_sample();
	assert_int_equal(all.points, 1);
	assert_string_equal(written_rows(), "{\"rows\":\"disk\",\"left_out\":0,\"instances\":[]}");
	end_rows();
}

static void rows_without_keys_are_known_by_their_positions(void **state)
{
	(void)state;
	begin_rows(&CORES);
	for (int i = 0; i < 12; i++)
		ADD_ROW(&frame, cpu_core, (struct row *)SINGLE_ROW(&frame, host_cpu))->busy_pct = i;
	end_sample();
	assert_int_equal(all.count, 12);
	assert_string_equal(all.list[0].name, "0");
	assert_string_equal(all.list[11].name, "11");
	assert_true(all.list[11].series[0].last == 110);
	end_rows();
}

static void rows_without_room_are_counted(void **state)
{
	static char names[ROW_SERIES_MOST + 3][8];

	(void)state;
	begin_rows(&DISKS);
	for (size_t i = 0; i < ROW_SERIES_MOST + 3; i++) {
		snprintf(names[i], sizeof names[i], "d%zu", i);
		add_disk(names[i], 1, 1);
	}
	end_sample();
	assert_int_equal(all.count, ROW_SERIES_MOST);
	assert_int_equal(all.left_out, 3);
	row_series_clear(&all);
	assert_int_equal(all.left_out, 0);
	end_rows();
}

static void unknown_names_and_two_kinds_are_refused(void **state)
{
	static const char *const BAD[][2] = {{"disk.no_such_figure", "disk.read_bytes_per_sec"},
					     {"disk.read_bytes_per_sec", "gpu.power_watts"}};
	static const char *const WANTED[] = {"'disk.no_such_figure'", "'gpu.power_watts'"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct report_rows rows = {"disk", BAD[i], 2};
		struct rt_problem problem = {0};

		assert_int_equal(row_series_begin(&all, &rows, &problem), -ENOENT);
		assert_non_null(strstr(problem.text, WANTED[i]));
		row_series_done(&all);
	}
}

static void wanted_metrics_are_the_columns_and_the_key(void **state)
{
	struct metric_set wanted = {0};

	(void)state;
	begin_rows(&DISKS);
	row_series_want(&all, &wanted);
	assert_true(metric_set_has(&wanted, ROW_disk, 0));
	for (size_t i = 0; i < 2; i++)
		assert_true(metric_set_has(&wanted, ROW_disk, all.columns[i].index));
	assert_false(metric_set_has(&wanted, ROW_disk, 1));
	end_rows();
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_known_by_their_keys),
		cmocka_unit_test(rows_without_keys_are_known_by_their_positions),
		cmocka_unit_test(rows_without_room_are_counted),
		cmocka_unit_test(unknown_names_and_two_kinds_are_refused),
		cmocka_unit_test(wanted_metrics_are_the_columns_and_the_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
