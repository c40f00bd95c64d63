/* Tests of src/format/csv_encode.c: the header and the cells of each style. */
#include "unit.h"

#include "base/cleanup.h"
#include "format/sample_format.h"
#include "metric/typed_rows.h"

static struct frame frame;

static int end_frame(void **state)
{
	(void)state;
	frame_done(&frame);
	frame = (struct frame){0};
	return 0;
}

/* The header and a sample of a layout. */
static struct buffer lines_of(const char *layout, bool header)
{
	const struct format_options options = {.header = header, .layout = layout};
	struct format_state state = {0};
	struct buffer out = BUFFER(1 << 16);

	CSV_FORMAT.begin(&out, &options);
	assert_false(state.started);
	CSV_FORMAT.sample(&out, &frame, &options, &state);
	assert_true(state.started);
	return out;
}

#define assert_lines(layout, header, wanted) \
	do { \
		CLEANUP_BUFFER struct buffer lines_ = lines_of(layout, header); \
\
		assert_string_equal(lines_.data, wanted); \
	} while (0)

static void begin_process(void)
{
	struct tree_row *tree;

	frame_begin(&frame, 0, 0);
	frame.sample->timestamp = 1700000000.25;
	frame.sample->tracked_pid = 42;
	tree = SINGLE_ROW(&frame, tree);
	tree->process_child_count = 3;
	tree->process_utime_secs = 1.5;
	tree->process_stime_secs = 0.25;
	tree->process_cores_used = 0.5;
	tree->process_memory_mib = 2.5;
}

/* Numbers have only the decimals that they need, and an unknown one is "". */
static void the_package_has_quotes_and_units_of_its_version(void **state)
{
	(void)state;
	begin_process();
	assert_lines(
		"process", true,
		"\"timestamp\",\"pid\",\"children\",\"utime\",\"stime\",\"cpu_usage\",\"memory_mib\","
		"\"disk_read_bytes\",\"disk_write_bytes\",\"gpu_usage\",\"gpu_vram_mib\",\"gpu_utilized\"\n"
		"1700000000.25,42,3,1.5,0.25,0.5,2.5,\"\",\"\",\"\",\"\",\"\"\n");
	/* KiB, and ticks of 10 ms. */
	assert_lines("process-0.4", false, "1700000000.25,42,3,1.5,0.25,0.5,2560,\"\",\"\",\"\",\"\",\"\"\n");
	assert_lines(
		"pid-0.1", true,
		"\"timestamp\",\"pid\",\"children\",\"utime\",\"stime\",\"cpu_usage\",\"pss\",\"read_bytes\","
		"\"write_bytes\",\"gpu_usage\",\"gpu_vram\",\"gpu_utilized\"\r\n"
		"1700000000.25,42,3,150,25,0.5,2560,\"\",\"\",\"\",\"\",\"\"\r\n");
}

/* Its numbers always have the decimals of their column, and an unknown one is empty. */
static void our_own_layout_is_plain(void **state)
{
	static const char SAMPLE[] = "1700000000.250,,,,,,,,,,,,,,,,,,,,,42,3,1.5000,0.2500,0.5000,3,,,,,\n";

	(void)state;
	begin_process();
	SINGLE_ROW(&frame, tree)->process_memory_mib = 2.75;
	assert_lines("combined", false, SAMPLE);
	/* It also stands for a layout that is unknown. */
	assert_lines(NULL, false, SAMPLE);
	assert_lines("none", false, SAMPLE);
	frame_begin(&frame, 0, 0);
	frame.sample->timestamp = 0;
	assert_lines(NULL, true,
		     "timestamp,system_processes,system_utime,system_stime,system_cpu_usage,"
		     "system_memory_free_mib,system_memory_used_mib,system_memory_buffers_mib,"
		     "system_memory_cached_mib,system_memory_active_mib,system_memory_inactive_mib,"
		     "system_disk_read_bytes,system_disk_write_bytes,system_disk_space_total_gb,"
		     "system_disk_space_used_gb,system_disk_space_free_gb,system_net_recv_bytes,"
		     "system_net_sent_bytes,system_gpu_usage,system_gpu_vram_mib,system_gpu_utilized,"
		     "process_pid,process_children,process_utime,process_stime,process_cpu_usage,"
		     "process_memory_mib,process_disk_read_bytes,process_disk_write_bytes,process_gpu_usage,"
		     "process_gpu_vram_mib,process_gpu_utilized\n"
		     "0.000,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n");
}

#define unit_test_of_frame(test) cmocka_unit_test_teardown(test, end_frame)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_frame(the_package_has_quotes_and_units_of_its_version),
		unit_test_of_frame(our_own_layout_is_plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
