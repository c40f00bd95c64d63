/* Tests of src/format/json_encode.c: which fields of a sample are written again. */
#include "unit.h"

#include "base/cleanup.h"
#include "format/json_encode.h"
#include "format/sample_format.h"
#include "metric/typed_rows.h"

static struct frame frame;

static void add_disk(const char *device, const char *model)
{
	struct disk_row *disk = ADD_ROW(&frame, disk, NULL);

	disk->device = device;
	disk->model = model;
	disk->capacity_bytes = 500;
	disk->read_bytes_per_sec = 7;
}

static void begin_disks(const char *second_model)
{
	frame_begin(&frame, 0, 0);
	frame.sample->timestamp = 1000;
	add_disk("sda", "one");
	add_disk("sdb", second_model);
}

static bool has(const struct buffer *out, const char *text)
{
	return strstr(out->data, text) != NULL;
}

#define FIGURES "\"read_bytes_per_sec\":7.0,\"mounts\":[]"

/* Writes a line, and tells whether it names a model. */
static bool names_model(const struct format_options *options, struct format_state *state, const char *model)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 16);

	JSONL_FORMAT.sample(&out, &frame, options, state);
	return has(&out, model);
}

static void a_brief_sample_has_names_and_values_only(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 16);

	(void)state;
	begin_disks("two");
	write_frame_json(&out, &frame, true);
	assert_true(
		has(&out, "\"disk\":[{\"device\":\"sda\"," FIGURES "},{\"device\":\"sdb\"," FIGURES "}]"));
	buffer_clear(&out);
	write_frame_json(&out, &frame, false);
	assert_true(has(&out, "{\"device\":\"sda\",\"model\":\"one\",\"vendor\":null,"));
	frame_done(&frame);
}

static void names_and_sizes_are_written_when_they_change(void **state)
{
	const struct format_options once = {.static_once = true}, always = {0};
	struct format_state kept = {.kept = BUFFER(1 << 16)};

	(void)state;
	begin_disks("two");
	SINGLE_ROW(&frame, run_start)->kernel = "k";
	assert_true(names_model(&once, &kept, "\"two\""));
	assert_true(kept.started);
	/* The start of the run is in its first sample alone. */
	begin_disks("two");
	assert_false(names_model(&once, &kept, "\"model\""));
	assert_true(names_model(&always, &kept, "\"two\""));
	begin_disks("six");
	assert_true(names_model(&once, &kept, "\"six\""));
	begin_disks("six");
	assert_false(names_model(&once, &kept, "\"model\""));
	add_disk("sdc", "four");
	assert_true(names_model(&once, &kept, "\"one\""));
	buffer_done(&kept.kept);
	frame_done(&frame);
	frame = (struct frame){0};
}

static bool line_has(bool brief, const char *text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 16);

	write_frame_json(&out, &frame, brief);
	return has(&out, text);
}

/* The rows of a list that could not be read are null, unless some could. */
static void missing_rows_are_null(void **state)
{
	(void)state;
	frame_begin(&frame, 0, 0);
	frame_set_missing(&frame, ROW_disk, -5);
	frame_set_missing(&frame, ROW_mount, 5);
	assert_true(line_has(false, "\"disk\":null,") && line_has(false, "\"gpu\":[],"));
	assert_true(line_has(true, "\"disk\":null,"));
	add_disk("sda", "one");
	assert_true(line_has(false, "\"disk\":[{\"device\":\"sda\","));
	assert_true(line_has(false, "\"mounts\":null}],"));
	ADD_ROW(&frame, mount, frame.first[ROW_disk])->mount_point = "/";
	assert_true(line_has(false, "\"mounts\":[{\"mount_point\":\"/\","));
	frame_done(&frame);
	frame = (struct frame){0};
}

static void each_shape_is_written(void **state)
{
	struct run_start_row *start;
	struct run_start_tag_row *tag;

	(void)state;
	frame_begin(&frame, 0, 0);
	assert_true(line_has(false, "\"run_start\":null,") &&
		    line_has(false, "\"cpu\":{\"utilization_pct\":null,"));
	assert_true(line_has(false, "\"per_core_pct\":[],\"process_cores_used\":null,"));
	assert_false(line_has(false, "\"waits\"") || line_has(false, "_total_joules\""));
	start = SINGLE_ROW(&frame, run_start);
	start->children = 1;
	start->aligned = 0;
	start->kernel = "k";
	for (int i = 0; i < 3; i++) {
		tag = ADD_ROW(&frame, run_start_tag, &start->row);
		if (i != 1)
			tag->name = i ? "b" : "a";
		if (i != 2)
			tag->value = "1";
	}
	for (int i = 0; i < 2; i++)
		ADD_ROW(&frame, cpu_core, (struct row *)SINGLE_ROW(&frame, host_cpu))->busy_pct = 50 * i;
	ADD_ROW(&frame, wait, NULL)->class = "disk";
	assert_true(line_has(false, "\"per_core_pct\":[0.0,50.0],"));
	assert_true(line_has(false, "\"tags\":{\"a\":\"1\",\"b\":null},\"scheduler\":{},\"gpu_names\":[]}"));
	assert_true(line_has(false, "\"children\":true,\"aligned\":false,"));
	assert_true(line_has(false, "\"waits\":[{\"class\":\"disk\",\"target\":null,"));
	/* Also a brief sample has all words of what happens once. */
	assert_true(line_has(true, "\"waits\":[{\"class\":\"disk\",\"target\":null,"));
	assert_true(line_has(true, "\"run_start\":{\"schema_version\":null,\"kernel\":\"k\","));
	assert_true(line_has(true, "\"cpu\":{\"per_core_pct\":[0.0,50.0]},"));
	frame_done(&frame);
	frame = (struct frame){0};
}

static void a_row_alone_is_an_object(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 16);
	struct json_writer json = JSON_WRITER(&out);

	(void)state;
	begin_disks("two");
	json_open(&json, '[');
	write_row_json(&json, &frame, NULL);
	write_row_json(&json, &frame, frame.first[ROW_disk]->next);
	json_close(&json, ']');
	assert_true(has(&out, "[null,{\"device\":\"sdb\",\"model\":\"two\",\"vendor\":null,"));
	frame_done(&frame);
	frame = (struct frame){0};
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_brief_sample_has_names_and_values_only),
		cmocka_unit_test(names_and_sizes_are_written_when_they_change),
		cmocka_unit_test(missing_rows_are_null),
		cmocka_unit_test(each_shape_is_written),
		cmocka_unit_test(a_row_alone_is_an_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
