/* Tests of src/format/json_encode.c: which fields of a sample are written again. */
#include "unit.h"

#include "base/cleanup.h"
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
	assert_true(names_model(&once, &kept, "\"two\""));
	assert_true(kept.started);
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

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_brief_sample_has_names_and_values_only),
		cmocka_unit_test(names_and_sizes_are_written_when_they_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
