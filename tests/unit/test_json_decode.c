/* Tests of src/format/json_decode.c: the rows and values of a line, and the lines that are refused. */
#include "guarded.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "format/json_decode.h"
#include "metric/typed_rows.h"

static struct json_decoder decoder;
static struct frame frame;

static void want(const struct metric_set *wanted)
{
	json_decoder_done(&decoder);
	json_decoder_init(&decoder, wanted);
}

static int begin_decoder(void **state)
{
	struct metric_set wanted = {0};

	(void)state;
	metric_set_add_all(&wanted);
	want(&wanted);
	return 0;
}

static int end_decoder(void **state)
{
	(void)state;
	json_decoder_done(&decoder);
	decoder = (struct json_decoder){0};
	frame_done(&frame);
	frame = (struct frame){0};
	return 0;
}

static bool take(const char *line)
{
	frame_begin(&frame, 0, 0);
	return json_decoder_read(&decoder, scan_bytes(line, strlen(line)), &frame);
}

static size_t rows_of(enum row_kind kind)
{
	size_t count = 0;

	for (const struct row *row = frame.first[kind]; row; row = row->next)
		count++;
	return count;
}

static void each_shape_becomes_rows(void **state)
{
	const struct disk_row *disk;
	const struct mount_row *mount;
	const struct run_start_tag_row *tag;

	(void)state;
	assert_true(take(
		" {\"timestamp\":1.5,\"cpu\":{\"process_child_count\":3,\"per_core_pct\":[1.5,null,2],"
		"\"process_count\":7},\"disk\":[{\"device\":\"sda\",\"mounts\":[{\"mount_point\":\"/\"},"
		"{\"mount_point\":\"/a\\tb\"}]},{\"device\":\"sdb\",\"mounts\":[]}],\"run_start\":{"
		"\"children\":false,\"tags\":{\"a\":\"1\",\"b\":null},\"scheduler\":{}},\"run_end\":null}"));
	assert_true(frame.sample->timestamp == 1.5);
	/* The tree's members stand among those of the machine's CPUs. */
	assert_int_equal(FIRST(&frame, tree)->process_child_count, 3);
	assert_int_equal(FIRST(&frame, host_cpu)->process_count, 7);
	assert_ptr_equal(FIRST(&frame, tree)->row.parent, frame.first[ROW_host_cpu]);
	assert_int_equal(rows_of(ROW_tree), 1);
	assert_int_equal(rows_of(ROW_cpu_core), 3);
	assert_true(FIRST(&frame, cpu_core)->busy_pct == 1.5);
	assert_true(real_absent(NEXT(FIRST(&frame, cpu_core), cpu_core)->busy_pct));
	disk = FIRST(&frame, disk);
	assert_string_equal(disk->device, "sda");
	assert_string_equal(NEXT(disk, disk)->device, "sdb");
	assert_int_equal(rows_of(ROW_mount), 2);
	mount = NEXT(FIRST(&frame, mount), mount);
	assert_string_equal(mount->mount_point, "/a\tb");
	assert_ptr_equal(mount->row.parent, &disk->row);
	assert_int_equal(FIRST(&frame, run_start)->children, 0);
	assert_int_equal(rows_of(ROW_run_start_tag), 2);
	tag = FIRST(&frame, run_start_tag);
	assert_string_equal(tag->name, "a");
	assert_string_equal(tag->value, "1");
	assert_string_equal(NEXT(tag, run_start_tag)->name, "b");
	assert_true(text_absent(NEXT(tag, run_start_tag)->value));
	assert_int_equal(rows_of(ROW_run_start_scheduler) + rows_of(ROW_run_end), 0);
}

/* Other programs write blanks, another order and keys of their own. */
static void keys_may_have_any_order(void **state)
{
	(void)state;
	assert_true(take("{ \"memory\" : { \"x\" : [ 1 ] , \"used_mib\" : 2 , \"free_mib\" : 1 } ,"
			 " \"new\" : { \"timestamp\" : 9 } , \"elapsed_secs\" : 4 , \"timestamp\" : 3 }"));
	assert_true(frame.sample->timestamp == 3 && frame.sample->elapsed_secs == 4);
	assert_true(FIRST(&frame, memory)->used_mib == 2 && FIRST(&frame, memory)->free_mib == 1);
	assert_true(take("{ }"));
	assert_true(real_absent(frame.sample->timestamp));
	/* A key that begins with that of a metric is another one. */
	assert_true(take("{\"timestamp_x\":1,\"timestam\":2,\"xtimestamp\":3}"));
	assert_true(real_absent(frame.sample->timestamp));
}

static void a_sample_with_a_job_name_is_whole(void **state)
{
	(void)state;
	assert_true(take("{\"timestamp\":1}"));
	assert_true(decoder.brief);
	assert_true(take("{\"timestamp\":1,\"job_name\":null}"));
	assert_false(decoder.brief);
	assert_true(take("{\"timestamp\":1,\"host\":\"a\"}"));
	assert_true(decoder.brief);
}

/* A real, a count and a flag of one line. */
static void assert_values(const char *real, const char *count, const char *flag, double wanted_real,
			  int64_t wanted_count, int wanted_flag)
{
	char line[300];

	snprintf(line, sizeof line, "{\"timestamp\":%s,\"sample\":%s,\"run_start\":{\"children\":%s}}", real,
		 count, flag);
	assert_true(take(line));
	if (wanted_real < 0)
		assert_int_equal(real_absent(frame.sample->timestamp), ABSENT_NOT_COLLECTED);
	else
		assert_true(frame.sample->timestamp == wanted_real && !signbit(frame.sample->timestamp));
	if (wanted_count < 0)
		assert_int_equal(count_absent(frame.sample->sample), ABSENT_NOT_COLLECTED);
	else
		assert_true(frame.sample->sample == wanted_count);
	if (wanted_flag < 0)
		assert_int_equal(count_absent(FIRST(&frame, run_start)->children), ABSENT_NOT_COLLECTED);
	else
		assert_int_equal(FIRST(&frame, run_start)->children, wanted_flag);
}

static void a_value_of_another_type_is_absent(void **state)
{
	(void)state;
	assert_values("1.5", "7", "true", 1.5, 7, 1);
	assert_values("-0.0", "7.0", "false", 0, 7, 0);
	assert_values("0", "0", "1", 0, 0, -1);
	assert_values("-0.5", "-1", "\"true\"", -1, -1, -1);
	assert_values("1e15", "7.5", "null", 1e15, -1, -1);
	assert_values("1.001e15", "1e3", "0", -1, -1, -1);
	assert_values("NaN", "true", "True", -1, -1, -1);
	assert_values("\"1\"", "\"7\"", "[]", -1, -1, -1);
	assert_values("1x", "{}", "{}", -1, -1, -1);
	assert_values("true", "9223372036854775807", "true", -1, INT64_MAX, 1);
	/* A text that is a number, and an empty one. */
	assert_true(take("{\"timestamp\":1,\"host\":7}"));
	assert_true(text_absent(frame.sample->host));
	assert_true(take("{\"timestamp\":1,\"host\":\"\"}"));
	assert_string_equal(frame.sample->host, "");
}

static void a_text_has_1_mib_at_most(void **state)
{
	static char line[(1 << 20) + 100] = "{\"host\":\"";
	size_t before = strlen(line);

	(void)state;
	for (size_t length = 1 << 20; length <= (1 << 20) + 1; length++) {
		memset(line + before, 'x', length);
		strcpy(line + before + length, "\"}");
		assert_true(take(line));
		assert_int_equal(text_absent(frame.sample->host), length > 1 << 20 ? ABSENT_NOT_A_VALUE : 0);
	}
	assert_true(take("{\"host\":\"a\"}"));
	assert_string_equal(frame.sample->host, "a");
}

static void damaged_lines_are_refused(void **state)
{
	static const char *const DAMAGED[] = {
		"",
		"1",
		"[]",
		"{",
		"{\"timestamp\"",
		"{\"timestamp\":",
		"{\"timestamp\":1",
		"{\"timestamp\":1,",
		"{\"timestamp\":1,}",
		"{\"timestamp\":1}x",
		"{\"timestamp\":1}}",
		"{timestamp:1}",
		"{\"timestamp\" 1}",
		"{\"new\":}",
		"{\"new\" 1}",
		"{\"new\":1 \"timestamp\":1}",
		"{\"disk\":}",
		"{\"disk\":[}",
		"{\"disk\":[{]}",
		"{\"disk\":[{}",
		"{\"disk\":[{},",
		"{\"disk\":[{}}",
		"{\"disk\":[{\"device\":}]}",
		"{\"cpu\":{\"per_core_pct\":[1}}",
		"{\"cpu\":{\"per_core_pct\":[1,]}}",
		"{\"cpu\":{\"per_core_pct\":[1}",
		"{\"cpu\":}",
		"{\"cpu\":",
		"{\"cpu\":{\"process_child_count\":}}",
		"{\"cpu\":{\"per_core_pct\":",
		"{\"run_start\":{\"tags\":{\"a\"}}}",
		"{\"run_start\":{\"tags\":{\"a\":}}}",
		"{\"run_start\":{\"tags\":{\"a\":\"1\"]}}",
		"{\"run_start\":{\"tags\":{\"a\":\"1\",}}}",
		"{\"run_start\":{\"tags\":{a:\"1\"}}}",
		"{\"run_start\":{\"tags\":{",
		"{\"run_start\":{\"tags\":",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(DAMAGED); i++)
		if (take(DAMAGED[i]))
			fail_msg("%s", DAMAGED[i]);
	/* The shape of another version is left out, as null is. */
	assert_true(take("{\"disk\":7,\"cpu\":[{}],\"memory\":null,\"run_start\":{\"tags\":[\"a\"]}}"));
	assert_true(!frame.first[ROW_disk] && !frame.first[ROW_host_cpu] && !frame.first[ROW_memory]);
	assert_true(take("{\"disk\":[null,7,{\"device\":\"sda\"}]}"));
	assert_int_equal(rows_of(ROW_disk), 1);
}

/* A line of an object with an array, which has as many of an element as told. */
static bool take_many(const char *before, const char *element, size_t count, const char *behind)
{
	CLEANUP_BUFFER struct buffer line = BUFFER(1 << 20);

	buffer_add_text(&line, before);
	for (size_t i = 0; i < count; i++)
		buffer_printf(&line, "%s%s", i ? "," : "", element);
	buffer_add_text(&line, behind);
	return take(line.data);
}

static void a_machine_has_8192_rows_of_a_kind_at_most(void **state)
{
	(void)state;
	for (size_t more = 0; more < 2; more++) {
		assert_int_equal(take_many("{\"disk\":[", "{}", 8192 + more, "]}"), !more);
		assert_int_equal(take_many("{\"cpu\":{\"per_core_pct\":[", "1", 8192 + more, "]}}"), !more);
		assert_int_equal(take_many("{\"run_start\":{\"tags\":{", "\"a\":\"1\"", 8192 + more, "}}}"),
				 !more);
	}
	/* Each line is counted on its own. */
	assert_true(take_many("{\"disk\":[", "{}", 8192, "]}"));
	assert_int_equal(rows_of(ROW_disk), 8192);
}

/* Rows that nothing is wanted of are stepped over, and those that are have their names. */
static void unwanted_values_are_stepped_over(void **state)
{
	static const char LINE[] = "{\"timestamp\":1,\"cpu\":{\"process_child_count\":3,\"process_count\":7},"
				   "\"disk\":[{\"device\":"
				   "\"sda\",\"model\":\"m\",\"mounts\":[{\"mount_point\":\"/"
				   "\",\"used_bytes\":5,\"total_bytes\":9}]}],"
				   "\"run_start\":{\"kernel\":\"k\",\"tags\":{\"a\":\"1\"},\"scheduler\":{"
				   "\"b\":\"2\"}},\"gpu\":[{}]}";
	struct metric_set wanted = {0};

	(void)state;
	WANT(&wanted, mount, used_bytes);
	WANT(&wanted, run_start_tag, value);
	want(&wanted);
	assert_true(take(LINE));
	assert_true(real_absent(frame.sample->timestamp));
	assert_true(!frame.first[ROW_host_cpu] && !frame.first[ROW_tree] && !frame.first[ROW_gpu]);
	assert_int_equal(FIRST(&frame, mount)->used_bytes, 5);
	assert_true(count_absent(FIRST(&frame, mount)->total_bytes));
	assert_string_equal(FIRST(&frame, mount)->mount_point, "/");
	assert_string_equal(FIRST(&frame, disk)->device, "sda");
	assert_true(text_absent(FIRST(&frame, disk)->model));
	assert_string_equal(FIRST(&frame, run_start_tag)->name, "a");
	assert_string_equal(FIRST(&frame, run_start_tag)->value, "1");
	assert_true(text_absent(FIRST(&frame, run_start)->kernel));
	assert_null(frame.first[ROW_run_start_scheduler]);
	/* A member among those of the CPUs. */
	wanted = (struct metric_set){0};
	WANT(&wanted, tree, process_child_count);
	want(&wanted);
	assert_true(take(LINE));
	assert_int_equal(FIRST(&frame, tree)->process_child_count, 3);
	assert_true(count_absent(FIRST(&frame, host_cpu)->process_count));
	assert_null(frame.first[ROW_disk]);
}

/* Each beginning of a line is refused, and no byte behind it is read. */
static void lines_end_where_they_end(void **state)
{
	static const char *const LINES[] = {
		" { \"timestamp\" : 1.5 , \"cpu\":{\"per_core_pct\":[ 1 , 2 "
		"],\"process_child_count\":3},\"new\":[{}]}",
		"{\"timestamp\":1.5,\"disk\":[{\"device\":\"sda\",\"mounts\":[{\"mount_point\":\"\\u00e9\"}]}"
		",null]}",
		"{\"run_start\":{\"children\":true,\"tags\":{\"a\":\"1\",\"b\":null},\"gpu_names\":[\"x\","
		"\"y\"]}}",
	};
	char *end = guarded_begin();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(LINES); i++)
		for (size_t length = 0; length <= strlen(LINES[i]); length++) {
			frame_begin(&frame, 0, 0);
			assert_int_equal(
				json_decoder_read(&decoder,
						  scan_bytes(guarded_text(end, LINES[i], length), length),
						  &frame),
				length == strlen(LINES[i]));
		}
	guarded_end(end);
}

/* A reader may ask where the values stand. */
static void wanted_values_are_noted(void **state)
{
	static const char LINE[] =
		"{\"timestamp\":1.5,\"new\":7,\"sample\":2,\"host\":\"a\",\"memory\":{\"free_mib\":3}}";
	struct decoded_value values[3];

	(void)state;
	decoder.values = values;
	decoder.value_room = 3;
	assert_true(take(LINE));
	assert_int_equal(decoder.value_count, 4);
	assert_ptr_equal(values[0].text, strstr(LINE, "1.5"));
	assert_ptr_equal(values[0].field, &frame.sample->timestamp);
	assert_true(values[0].type == TYPE_REAL && values[0].kind == ROW_sample);
	assert_ptr_equal(values[1].text, strstr(LINE, "2,"));
	assert_ptr_equal(values[1].field, &frame.sample->sample);
	assert_true(values[1].type == TYPE_COUNT && values[2].type == TYPE_TEXT);
	assert_ptr_equal(values[2].field, &frame.sample->host);
	/* Each line begins anew. */
	assert_true(take("{\"sample\":2}"));
	assert_int_equal(decoder.value_count, 1);
	decoder.values = NULL;
}

#define unit_test_of_decoder(test) cmocka_unit_test_setup_teardown(test, begin_decoder, end_decoder)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_decoder(each_shape_becomes_rows),
		unit_test_of_decoder(keys_may_have_any_order),
		unit_test_of_decoder(a_sample_with_a_job_name_is_whole),
		unit_test_of_decoder(a_value_of_another_type_is_absent),
		unit_test_of_decoder(a_text_has_1_mib_at_most),
		unit_test_of_decoder(damaged_lines_are_refused),
		unit_test_of_decoder(a_machine_has_8192_rows_of_a_kind_at_most),
		unit_test_of_decoder(unwanted_values_are_stepped_over),
		unit_test_of_decoder(lines_end_where_they_end),
		unit_test_of_decoder(wanted_values_are_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
