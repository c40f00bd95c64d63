/* Tests of src/record/package_snapshot.c: the samples and facts of a snapshot, and what is none. */
#include "scratch.h"

#include <errno.h>

#include "base/cleanup.h"
#include "metric/typed_rows.h"
#include "record/package_snapshot.h"

static struct frame frame;
static struct snapshot *snapshot;
static struct rt_problem problem;

static int leave(void **state)
{
	snapshot_close(snapshot);
	snapshot = NULL;
	frame_done(&frame);
	frame = (struct frame){0};
	return scratch_leave(state);
}

static int open_text(const char *text)
{
	struct source source;
	int result;

	snapshot_close(snapshot);
	snapshot = NULL;
	put_text("snapshot.json", text);
	assert_int_equal(source_open(&source, "snapshot.json", &problem), 0);
	result = snapshot_open(&source, &snapshot, &problem);
	source_close(&source);
	return result;
}

static int next(void)
{
	frame_begin(&frame, 0, 0);
	return snapshot_next(snapshot, &frame);
}

static const struct tree_row *tree(void)
{
	return (const void *)frame.first[ROW_tree];
}

static const struct host_cpu_row *machine(void)
{
	return (const void *)frame.first[ROW_host_cpu];
}

static void rows_are_paired_by_position(void **state)
{
	(void)state;
	assert_int_equal(
		open_text("{\"process_metrics\": [{\"timestamp\": 10, \"pid\": 7, \"children\": 2, "
			  "\"utime\": 0.5, \"mine\": [1, {}]},\n"
			  " {\"timestamp\": 11, \"pid\": 7, \"children\": 3, \"utime\": null}],\n"
			  "\"system_metrics\": [{\"timestamp\": 10.25, \"processes\": 99, \"utime\": 3},"
			  "{\"timestamp\": 11.25, \"processes\": 98, \"utime\": 4},"
			  "{\"timestamp\": 12.25, \"processes\": 97, \"utime\": 5}]}"),
		0);
	assert_int_equal(next(), 1);
	assert_true(frame.sample->timestamp == 10.25);
	assert_int_equal(frame.sample->tracked_pid, 7);
	assert_int_equal(tree()->process_child_count, 2);
	assert_true(tree()->process_utime_secs == 0.5);
	assert_int_equal(machine()->process_count, 99);
	assert_true(machine()->utime_secs == 3);
	assert_int_equal(next(), 1);
	assert_true(frame.sample->timestamp == 11.25);
	assert_int_equal(tree()->process_child_count, 3);
	assert_true(real_absent(tree()->process_utime_secs));
	assert_true(machine()->utime_secs == 4);
	/* The third row has no partner. */
	assert_int_equal(next(), 0);
}

static void the_rows_of_one_tracker_are_samples(void **state)
{
	(void)state;
	assert_int_equal(
		open_text("{\"process_metrics\":[],\"system_metrics\":[{\"timestamp\":1,\"processes\":5},"
			  "{\"timestamp\":2,\"processes\":6}]}"),
		0);
	assert_int_equal(next(), 1);
	assert_int_equal(machine()->process_count, 5);
	assert_null(tree());
	assert_int_equal(next(), 1);
	assert_int_equal(next(), 0);
	assert_int_equal(open_text("{\"process_metrics\":[{\"timestamp\":1,\"children\":5}]}"), 0);
	assert_int_equal(next(), 1);
	assert_int_equal(tree()->process_child_count, 5);
	assert_int_equal(next(), 0);
	/* A row without a time is left out. */
	assert_int_equal(open_text("{\"process_metrics\":[{\"timestamp\":null,\"children\":5}]}"), 0);
	assert_int_equal(next(), 0);
}

static void a_damaged_row_ends_the_samples(void **state)
{
	(void)state;
	assert_int_equal(open_text("{\"process_metrics\":[{\"timestamp\":1,\"children\":5},{\"timestamp\":2,"
				   "\"children\" "
				   "5}]}"),
			 0);
	assert_int_equal(next(), 1);
	assert_int_equal(next(), -EBADMSG);
	assert_int_equal(open_text("{\"process_metrics\":[{\"timestamp\":1,\"children\":5},7]}"), 0);
	assert_int_equal(next(), 1);
	assert_int_equal(next(), 0);
}

static void a_snapshot_may_be_longer_than_a_piece_of_its_file(void **state)
{
	static const char BEGIN[] = "{\"metadata\":{\"x\":\"",
			  END[] = "\"},\"process_metrics\":[{\"timestamp\":1,\"children\":5}]}";
	size_t length = 3 * (size_t)SOURCE_CHUNK_BYTES;
	char *text = malloc(length + sizeof BEGIN + sizeof END);

	(void)state;
	assert_non_null(text);
	memcpy(text, BEGIN, sizeof BEGIN - 1);
	memset(text + sizeof BEGIN - 1, 'x', length);
	memcpy(text + sizeof BEGIN - 1 + length, END, sizeof END);
	assert_int_equal(open_text(text), 0);
	free(text);
	assert_int_equal(next(), 1);
	assert_int_equal(tree()->process_child_count, 5);
	assert_int_equal(next(), 0);
}

/* A step of Metaflow stores the snapshot beside other things. */
static void a_snapshot_may_be_a_member_of_a_larger_object(void **state)
{
	(void)state;
	assert_int_equal(
		open_text("{\"step_failed\":false,\"tracker\":{\"process_metrics\":[{\"timestamp\":1,"
			  "\"children\":5}]},\"historical_stats\":{}}"),
		0);
	assert_int_equal(next(), 1);
	assert_int_equal(tree()->process_child_count, 5);
	/* Not one within another, nor one beside rows. */
	assert_int_equal(
		open_text("{\"tracker\":{\"tracker\":{\"process_metrics\":[{\"timestamp\":1,\"children\":"
			  "5}]}}}"),
		-EBADMSG);
	assert_int_equal(open_text("{\"tracker\":{},\"process_metrics\":[{\"timestamp\":1,\"children\":5}]}"),
			 -EBADMSG);
}

static void other_objects_are_refused(void **state)
{
	static const char *const TEXTS[] = {
		"{}",
		"[]",
		"x",
		"{\"metadata\":{}}",
		"{\"process_metrics\":{}}",
		"{\"process_metrics\":[7]}",
		"{\"process_metrics\":[{\"a\":1}]}",
		"{\"process_metrics\":[{}]}",
		"{\"process_metrics\":[",
		"{\"process_metrics\":[{\"timestamp\":1,\"children\":5}]",
		"{\"process_metrics\":[{\"timestamp\":1,\"children\":5}],\"system_metrics\":[{\"a\":1}]}",
	};
	static const struct {
		const char *text;
		bool begins;
	} STARTS[] = {{"{\"metadata\":", true}, {" { \"system_metrics\" :", true},
		      {"{\"tracker\"", true},   {"{\"timestamp_secs\":1", false},
		      {"[\"metadata\"", false}, {"{", false},
		      {"\"metadata\"", false},  {"{\"metadat\":", false}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(TEXTS); i++)
		if (open_text(TEXTS[i]) != -EBADMSG)
			fail_msg("%s is taken", TEXTS[i]);
	assert_non_null(strstr(problem.text, "snapshot.json: neither a whole snapshot nor samples"));
	assert_int_equal(open_text(""), -ENODATA);
	for (size_t i = 0; i < ARRAY_SIZE(STARTS); i++)
		assert_int_equal(snapshot_begins(scan_bytes(STARTS[i].text, strlen(STARTS[i].text))),
				 STARTS[i].begins);
}

#define ROWS "\"process_metrics\":[{\"timestamp\":1,\"children\":5}]"

static const struct run_start_row *facts_of(const char *text)
{
	assert_int_equal(open_text(text), 0);
	frame_begin(&frame, 0, 0);
	snapshot_identity(snapshot, &frame);
	return (const void *)frame.first[ROW_run_start];
}

static void facts_are_those_of_the_server(void **state)
{
	const struct run_start_row *start = facts_of(
		"{\"metadata\":{\"version\":1,\"interval\":2.5},\"server_info\":{\"os\":\"Linux "
		"\\u0041\",\"vcpus\":8,\"memory_mib\":16000.5,\"memory_mb\":1,\"gpu_names\":[\"A\",\"\","
		"\"B\"]}," ROWS "}");
	const struct run_start_gpu_row *gpu = (const void *)frame.first[ROW_run_start_gpu];

	(void)state;
	assert_true(start->interval_secs == 2.5);
	assert_string_equal(start->os, "Linux A");
	assert_int_equal(start->cpu_count, 8);
	assert_true(start->memory_total_mib == 16000.5);
	assert_string_equal(gpu->name, "A");
	gpu = (const void *)gpu->row.next;
	assert_string_equal(gpu->name, "B");
	assert_null(gpu->row.next);
	/* An older version. */
	start = facts_of("{\"server_info\":{\"os\":5,\"vcpus\":0,\"memory_mb\":4096}," ROWS "}");
	assert_true(start->memory_total_mib == 4096);
	assert_true(text_absent(start->os) && count_absent(start->cpu_count) &&
		    real_absent(start->interval_secs));
	assert_null(frame.first[ROW_run_start_gpu]);
	start = facts_of("{\"server_info\":{\"vcpus\":1e9}," ROWS "}");
	assert_true(count_absent(start->cpu_count) && real_absent(start->memory_total_mib));
}

#define unit_test_of_snapshot(test) cmocka_unit_test_setup_teardown(test, scratch_enter, leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_snapshot(rows_are_paired_by_position),
		unit_test_of_snapshot(the_rows_of_one_tracker_are_samples),
		unit_test_of_snapshot(a_damaged_row_ends_the_samples),
		unit_test_of_snapshot(a_snapshot_may_be_longer_than_a_piece_of_its_file),
		unit_test_of_snapshot(a_snapshot_may_be_a_member_of_a_larger_object),
		unit_test_of_snapshot(other_objects_are_refused),
		unit_test_of_snapshot(facts_are_those_of_the_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
