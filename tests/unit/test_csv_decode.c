/* Tests of src/format/csv_decode.c: which layout a header is, and which values of a line count. */
#include "unit.h"

#include "base/cleanup.h"
#include "format/csv_decode.h"
#include "metric/metric_set.h"
#include "metric/typed_rows.h"

static struct csv_decoder reader;
static struct frame frame;

static int end_decoder(void **state)
{
	(void)state;
	csv_decoder_done(&reader);
	frame_done(&frame);
	frame = (struct frame){0};
	return 0;
}

static struct scan line_of(const char *text)
{
	return scan_bytes(text, strlen(text));
}

static bool take_header(const char *line)
{
	return csv_decoder_header(&reader, line_of(line));
}

static bool take_line(const char *line)
{
	frame_begin(&frame, 0, 0);
	return csv_decoder_read(&reader, line_of(line), &frame);
}

static void a_header_is_the_layout_with_most_of_its_headings(void **state)
{
	(void)state;
	assert_false(take_header(""));
	assert_false(take_header("timestamp"));
	assert_false(take_header("timestamp,mine"));
	assert_false(take_header("utime,stime,cpu_usage"));
	assert_true(take_header("timestamp,system_utime,mine"));
	assert_ptr_equal(reader.layout, &CSV_LAYOUT[CSV_LAYOUT_combined]);
	assert_int_equal(reader.column_count, 3);
	assert_int_equal(reader.unknown_count, 1);
	assert_null(reader.columns[2]);
	/* Another header in the file is of another layout. */
	assert_true(take_header("\"timestamp\",\"pid\",\"children\",\"memory_mib\""));
	assert_ptr_equal(reader.layout, &CSV_LAYOUT[CSV_LAYOUT_process]);
	assert_int_equal(reader.unknown_count, 0);
	/* Another line changes nothing. */
	assert_false(take_header("1,2,3"));
	assert_int_equal(reader.column_count, 4);
}

static void a_line_has_as_many_cells_as_its_header(void **state)
{
	(void)state;
	assert_true(take_header("timestamp,mine,process_cpu_usage,system_processes"));
	assert_true(take_line("1000.5,x,0.25,312"));
	assert_true(frame.sample->timestamp == 1000.5);
	assert_true(((struct tree_row *)(void *)frame.first[ROW_tree])->process_cores_used == 0.25);
	assert_int_equal(((struct host_cpu_row *)(void *)frame.first[ROW_host_cpu])->process_count, 312);
	assert_false(take_line("1000.5,x,0.25"));
	assert_false(take_line("1000.5,x,0.25,312,"));
	assert_false(take_line("1000.5,x,0.25,\"312"));
	/* A line without a time is left out. Another value may be unknown. */
	assert_false(take_line(",x,0.25,312"));
	assert_false(take_line("-1,x,0.25,312"));
	assert_true(take_line("0,,,"));
	assert_null(frame.first[ROW_tree]);
}

static void assign(const char *heading, double value)
{
	struct scan name = line_of(heading);

	csv_decoder_assign(&reader, &frame, csv_layout_column(reader.layout, &name), value);
}

static void values_that_no_metric_has_are_left_out(void **state)
{
	const struct tree_row *tree;

	(void)state;
	assert_true(take_header("timestamp,process_cpu_usage,process_children"));
	frame_begin(&frame, 0, 0);
	assign("process_cpu_usage", -0.001);
	assign("process_cpu_usage", RECORDED_MOST * 1.001);
	assign("process_cpu_usage", no_real(ABSENT_NOT_A_VALUE));
	assign("process_children", -1);
	assign("process_children", 9e18);
	assert_null(frame.first[ROW_tree]);
	assign("process_cpu_usage", RECORDED_MOST);
	assign("process_children", 8.9e18);
	tree = (const void *)frame.first[ROW_tree];
	assert_true(tree->process_cores_used == RECORDED_MOST);
	assert_int_equal(tree->process_child_count, INT64_C(8900000000000000000));
	assign("process_cpu_usage", 0);
	assert_true(tree->process_cores_used == 0);
}

static double utime_of(const char *line)
{
	assert_true(take_line(line));
	return ((const struct host_cpu_row *)(void *)frame.first[ROW_host_cpu])->utime_secs;
}

#define HEADINGS_0_4 "timestamp,processes,utime,stime,cpu_usage,memory_free,disk_space_total_gb"

/* 2.5 cores in use for two seconds are 5 s, or 500 ticks. */
static void times_in_ticks_are_recognised_by_the_cores_in_use(void **state)
{
	(void)state;
	assert_true(take_header(HEADINGS_0_4));
	assert_ptr_equal(reader.layout, &CSV_LAYOUT[CSV_LAYOUT_system_0_4]);
	csv_decoder_probe_ticks(&reader, line_of("10,7,900,0,2.5,1,1\nx\n12,7,400,100,2.5,1,1\r\n"));
	assert_true(reader.ticks);
	assert_true(utime_of("12,7,250,1,1,2048,1") == 2.5);
	assert_true(frame.sample->timestamp == 12);
	assert_true(count_absent(((struct host_cpu_row *)(void *)frame.first[ROW_host_cpu])->process_count));
	/* Other units of the layout are its own. */
	assert_true(((struct memory_row *)(void *)frame.first[ROW_memory])->free_mib == 2);
	/* A repeated header has the same unit, and another layout has not. */
	assert_true(take_header(HEADINGS_0_4));
	assert_true(reader.ticks);
	assert_true(take_header("timestamp,system_utime"));
	assert_false(reader.ticks);
	assert_true(take_header(HEADINGS_0_4));
	csv_decoder_probe_ticks(&reader, line_of("10,7,9,0,2.5,1,1\n12,7,4,1,2.5,1,1\n"));
	assert_false(reader.ticks);
	assert_true(utime_of("12,7,250,1,1,1,1") == 250);
	assert_int_equal(((struct host_cpu_row *)(void *)frame.first[ROW_host_cpu])->process_count, 7);
	/* Ten times as much as the cores could do is too little, and a clock that is set back tells nothing. */
	csv_decoder_probe_ticks(&reader, line_of("10,7,900,0,2.5,1,1\n12,7,50,0,2.5,1,1\n"));
	assert_false(reader.ticks);
	csv_decoder_probe_ticks(&reader, line_of("12,7,900,0,2.5,1,1\n10,7,500,0,2.5,1,1\n"));
	assert_false(reader.ticks);
	/* A layout that is never in ticks. */
	assert_true(take_header(
		"timestamp,utime,stime,cpu_usage,memory_free_mib,memory_used_mib,net_recv_bytes"));
	assert_ptr_equal(reader.layout, &CSV_LAYOUT[CSV_LAYOUT_system]);
	csv_decoder_probe_ticks(&reader, line_of("10,900,0,2.5,1,1,1\n12,400,100,2.5,1,1,1\n"));
	assert_false(reader.ticks);
}

/* Whether lines of a system's times are in ticks: a time stamp, a time, and the cores in use in each. */
static bool are_ticks(const char *lines)
{
	assert_true(
		take_header("timestamp,utime,stime,cpu_usage,memory_free,memory_used,disk_space_total_gb"));
	assert_ptr_equal(reader.layout, &CSV_LAYOUT[CSV_LAYOUT_system_0_4]);
	csv_decoder_probe_ticks(&reader, line_of(lines));
	return reader.ticks;
}

static void times_beyond_ten_times_the_cores_are_ticks(void **state)
{
	(void)state;
	assert_false(are_ticks("10,9,0,2.5\n12,50,0,2.5\n"));
	assert_true(are_ticks("10,9,0,2.5\n12,25,25.5,2.5\n"));
	/* All intervals count together, and lines that lack a value do not count. */
	assert_true(are_ticks("10,9,0,2.5\n11,55,0,1\n13,0,0,0\n"));
	assert_false(are_ticks("10,9,0,2.5\n11,55,0,1\n13,0,0,4\n"));
	assert_false(are_ticks("10,9,0,2.5\n12,,900,2.5\n12,900,,2.5\n12,900,0,\n,900,0,2.5\n14,50,0,2.5\n"));
	assert_false(are_ticks("10,900,0,2.5\n10,900,0,2.5\n12,50,0,2.5\n"));
	/* Without a core in use, it is not known. */
	assert_false(are_ticks("10,9,0,0\n12,900,0,0\n"));
	assert_true(are_ticks("10,9,0,0\n12,6,0,0.25\n"));
	assert_false(are_ticks("10,900,0,2.5\n"));
	/* The same for processes. */
	assert_true(take_header("timestamp,pid,children,utime,stime,cpu_usage,memory,read_bytes"));
	assert_ptr_equal(reader.layout, &CSV_LAYOUT[CSV_LAYOUT_process_0_4]);
	csv_decoder_probe_ticks(&reader, line_of("10,7,0,0,0,1,1,1\n12,7,0,50,50,1,1,1\n"));
	assert_true(reader.ticks);
}

static void the_first_writers_counted_in_ticks(void **state)
{
	(void)state;
	assert_true(take_header("timestamp,processes,utime,stime,memory_active_anon,memory_inactive_anon"));
	assert_ptr_equal(reader.layout, &CSV_LAYOUT[CSV_LAYOUT_system_0_1]);
	assert_true(reader.ticks);
	assert_true(utime_of("12,7,250,1,2048,4096") == 2.5);
	assert_true(take_header("timestamp,pid,children,utime,stime,cpu_usage,pss"));
	assert_ptr_equal(reader.layout, &CSV_LAYOUT[CSV_LAYOUT_pid_0_1]);
	assert_true(reader.ticks);
	assert_true(take_line("12,7,2,250,1,0.5,2048"));
	assert_true(FIRST(&frame, tree)->process_utime_secs == 2.5);
	assert_true(FIRST(&frame, tree)->process_memory_mib == 2);
	assert_int_equal(FIRST(&frame, tree)->process_child_count, 2);
	/* The limit of a value is one of its own unit. */
	assign("pss", 1024 * RECORDED_MOST);
	assert_true(FIRST(&frame, tree)->process_memory_mib == RECORDED_MOST);
	assign("pss", 1025 * RECORDED_MOST);
	assert_true(FIRST(&frame, tree)->process_memory_mib == RECORDED_MOST);
}

static void lines_without_a_header_are_combined_if_they_are_as_long(void **state)
{
	CLEANUP_BUFFER struct buffer line = BUFFER(1000);

	(void)state;
	buffer_add_text(&line, "1000");
	for (int i = 1; i < 31; i++)
		buffer_printf(&line, ",%d", i);
	assert_false(csv_decoder_assume(&reader, line_of(line.data)));
	buffer_add_text(&line, ",31");
	assert_true(csv_decoder_assume(&reader, line_of(line.data)));
	assert_ptr_equal(reader.layout, &CSV_LAYOUT[CSV_LAYOUT_combined]);
	assert_true(take_line(line.data));
	assert_true(((struct host_cpu_row *)(void *)frame.first[ROW_host_cpu])->utime_secs == 2);
	assert_true(((struct tree_row *)(void *)frame.first[ROW_tree])->process_gpu_utilized == 31);
	line.data[0] = 'x';
	assert_false(csv_decoder_assume(&reader, line_of(line.data)));
}

#define unit_test_of_decoder(test) cmocka_unit_test_teardown(test, end_decoder)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_decoder(a_header_is_the_layout_with_most_of_its_headings),
		unit_test_of_decoder(a_line_has_as_many_cells_as_its_header),
		unit_test_of_decoder(values_that_no_metric_has_are_left_out),
		unit_test_of_decoder(times_in_ticks_are_recognised_by_the_cores_in_use),
		unit_test_of_decoder(times_beyond_ten_times_the_cores_are_ticks),
		unit_test_of_decoder(the_first_writers_counted_in_ticks),
		unit_test_of_decoder(lines_without_a_header_are_combined_if_they_are_as_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
