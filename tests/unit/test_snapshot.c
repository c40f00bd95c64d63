/* Tests of src/tracker/snapshot.c and src/metric/frame_pack.c: all values of one sample, apart from the tracker. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#include "base/buffer.h"
#include "metric/frame_pack.h"
#include "metric/typed_rows.h"
#include "resource_tracker.h"

static rt_tracker *open_tracker(int64_t pid)
{
	rt_config *config;
	rt_tracker *tracker = NULL;

	assert_int_equal(rt_config_new(&config), 0);
	assert_int_equal(rt_config_set(config, "interval", "0.01"), 0);
	if (pid)
		assert_int_equal(rt_config_set_int(config, "pid", pid), 0);
	if (rt_open(config, &tracker) < 0)
		fail_msg("%s", rt_config_message(config));
	rt_config_free(config);
	return tracker;
}

static bool same_value(const struct rt_value *a, const struct rt_value *b)
{
	if (a->type != b->type || a->reason != b->reason)
		return false;
	if (a->type == RT_TYPE_TEXT)
		return strcmp(a->text, b->text) == 0;
	return memcmp(&a->real, &b->real, sizeof a->real) == 0 && a->count == b->count;
}

static void each_value_is_that_of_rt_get(void **state)
{
	rt_tracker *tracker = open_tracker(0);
	struct rt_snapshot_entry entry = {.size = sizeof entry};
	rt_snapshot *snapshot = NULL;
	size_t seen = 0, there = 0;

	(void)state;
	assert_int_equal(rt_snapshot_take(tracker, &snapshot), -ENODATA);
	assert_null(snapshot);
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(rt_snapshot_take(tracker, &snapshot), 0);
	while (rt_snapshot_each(snapshot, &entry) > 0) {
		struct rt_value value, again;

		assert_int_equal(rt_get(tracker, entry.metric, entry.instance, &value), 0);
		assert_true(same_value(&entry.value, &value));
		assert_int_equal(rt_snapshot_get(snapshot, entry.metric, entry.instance, &again), 0);
		assert_true(same_value(&entry.value, &again));
		assert_true((entry.value.type == RT_TYPE_NONE) == (entry.value.reason != 0));
		seen++;
	}
	for (rt_metric metric = rt_metric_next(0); metric; metric = rt_metric_next(metric)) {
		there += rt_instance_count(tracker, metric);
		assert_int_equal(rt_snapshot_count(snapshot, metric), rt_instance_count(tracker, metric));
	}
	assert_int_equal(seen, there);
	assert_true(seen > 100);
	rt_snapshot_free(snapshot);
	rt_close(tracker);
}

/* Neither a thread that samples nor the end of the tracker changes a snapshot. */
static void a_snapshot_stays_as_it_was(void **state)
{
	rt_tracker *tracker = open_tracker(getpid());
	rt_metric number = rt_metric_find("sample"), elapsed = rt_metric_find("elapsed_secs");
	struct rt_value first, later, host, sum;
	rt_snapshot *snapshot, *last = NULL;

	(void)state;
	assert_int_equal(rt_start(tracker), 0);
	assert_int_equal(rt_wait_for_samples(tracker, 2, 60), 0);
	assert_int_equal(rt_snapshot_take(tracker, &snapshot), 0);
	assert_int_equal(rt_snapshot_get(snapshot, number, 0, &first), 0);
	assert_int_equal(rt_wait_for_samples(tracker, first.count + 4, 60), 0);
	assert_int_equal(rt_snapshot_take(tracker, &last), 0);
	assert_int_equal(rt_snapshot_get(snapshot, number, 0, &later), 0);
	assert_int_equal(later.count, first.count);
	assert_int_equal(rt_snapshot_get(last, number, 0, &later), 0);
	assert_true(later.count > first.count);
	rt_close(tracker);
	assert_int_equal(rt_snapshot_get(snapshot, elapsed, 0, &first), 0);
	assert_int_equal(rt_snapshot_get(last, elapsed, 0, &later), 0);
	assert_true(later.real > first.real);
	assert_int_equal(rt_snapshot_get_named(snapshot, "host", &host), 0);
	assert_true(host.type == RT_TYPE_TEXT && strlen(host.text) > 0);
	assert_int_equal(rt_snapshot_get_named(snapshot, "network[sum].rx_bytes_total", &sum), 0);
	rt_snapshot_free(last);
	rt_snapshot_free(snapshot);
	rt_snapshot_free(NULL);
}

static void wrong_questions_change_nothing(void **state)
{
	/* valgrind looks for them in the child, too. */
	static rt_tracker *tracker;
	static rt_snapshot *snapshot;
	struct rt_snapshot_entry without_size = {0};
	struct rt_value value = {.count = 7};
	int status;
	pid_t child;

	(void)state;
	tracker = open_tracker(0);
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(rt_snapshot_take(tracker, &snapshot), 0);
	assert_int_equal(rt_snapshot_get(snapshot, 0, 0, &value), -ENOENT);
	assert_int_equal(rt_snapshot_get(snapshot, rt_metric_find("memory.total_mib"), 1, &value), -ENOENT);
	assert_int_equal(rt_snapshot_get(snapshot, rt_metric_find("disk.device"), 100000, &value), -ENOENT);
	assert_int_equal(rt_snapshot_get_named(snapshot, "no.such.metric", &value), -ENOENT);
	assert_int_equal(rt_snapshot_get_named(snapshot, "disk.read_bytes_total", &value), -EINVAL);
	assert_int_equal(rt_snapshot_get_named(snapshot, "disk[no such].read_bytes_total", &value), -ENOENT);
	assert_int_equal(rt_snapshot_get_named(snapshot, NULL, &value), -ENOENT);
	assert_int_equal(value.count, 7);
	assert_int_equal(rt_snapshot_count(snapshot, 0), 0);
	assert_int_equal(rt_snapshot_each(snapshot, &without_size), -EINVAL);
	child = fork();
	if (child == 0)
		_exit(rt_snapshot_take(tracker, &snapshot) == -ECHILD ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	rt_snapshot_free(snapshot);
	rt_close(tracker);
}

static void fill_frame(struct frame *frame)
{
	struct disk_row *disk;

	frame_begin(frame, 5, 6);
	frame->sample->sample = 3;
	for (int i = 0; i < 2; i++) {
		disk = ADD_ROW(frame, disk, NULL);
		disk->device = i ? "sdb" : "sda";
		disk->row.number = i;
		ADD_ROW(frame, mount, &disk->row)->mount_point = i ? "/b" : "";
	}
	frame_set_missing(frame, ROW_gpu, EACCES);
}

static void a_frame_comes_back_from_its_bytes(void **state)
{
	struct buffer bytes = BUFFER(1 << 20);
	struct frame frame = {0}, copy = {0};
	const struct mount_row *second;

	(void)state;
	fill_frame(&frame);
	frame_pack(&bytes, &frame);
	assert_int_equal(frame_unpack(&copy, bytes.data, bytes.length), 0);
	assert_int_equal(copy.monotonic_ns, 5);
	assert_int_equal(copy.realtime_ns, 6);
	assert_int_equal(copy.sample->sample, 3);
	assert_int_equal(copy.missing[ROW_gpu], EACCES);
	assert_null(copy.first[ROW_disk]->next->next);
	second = (const struct mount_row *)(const void *)copy.first[ROW_mount]->next;
	assert_string_equal(second->mount_point, "/b");
	assert_ptr_equal(second->row.parent, copy.first[ROW_disk]->next);
	assert_int_equal(second->row.parent->number, 1);
	assert_ptr_equal(copy.first[ROW_mount]->parent, copy.first[ROW_disk]);
	assert_string_equal(((const struct mount_row *)(const void *)copy.first[ROW_mount])->mount_point, "");
	assert_int_equal(text_absent(second->filesystem), ABSENT_NOT_COLLECTED);
	frame_done(&copy);
	frame_done(&frame);
	buffer_done(&bytes);
}

/* Bytes that were cut or changed are refused, or make a frame of other values, and never more. */
static void damaged_bytes_make_no_frame(void **state)
{
	struct buffer bytes = BUFFER(1 << 20);
	struct frame frame = {0}, copy = {0};
	/* The head of a row: its kind, number, and the position of its parent. */
	static const struct head {
		int32_t kind, number;
		int64_t parent;
	} SECOND_MOUNT = {ROW_mount, 0, 1};
	char *second;
	size_t whole = 0;

	(void)state;
	fill_frame(&frame);
	frame_pack(&bytes, &frame);
	for (size_t length = 0; length < bytes.length; length++)
		whole += frame_unpack(&copy, bytes.data, length) == 0;
	/* Behind the head, and behind each of the five rows but the last. */
	assert_int_equal(whole, 5);
	second = memmem(bytes.data, bytes.length, &SECOND_MOUNT, sizeof SECOND_MOUNT);
	assert_non_null(second);
	memcpy(second + offsetof(struct head, parent), &(int64_t){2}, sizeof(int64_t));
	assert_int_equal(frame_unpack(&copy, bytes.data, bytes.length), -EBADMSG);
	memcpy(second + offsetof(struct head, parent), &(int64_t){1}, sizeof(int64_t));
	assert_int_equal(frame_unpack(&copy, bytes.data, bytes.length), 0);
	for (size_t i = 0; i < bytes.length; i++) {
		bytes.data[i] ^= 0x41;
		(void)frame_unpack(&copy, bytes.data, bytes.length);
		bytes.data[i] ^= 0x41;
	}
	frame_done(&copy);
	frame_done(&frame);
	buffer_done(&bytes);
}

static void errors_have_texts(void **state)
{
	(void)state;
	assert_string_equal(rt_error_text("rt_sample", -EBUSY),
			    "a background thread samples: call rt_stop() first");
	assert_string_equal(rt_error_text("rt_finish", -EBUSY),
			    "a background thread samples: call rt_stop_with()");
	assert_string_equal(rt_error_text("rt_stop", -ECHILD), rt_error_text(NULL, -ECHILD));
	assert_string_equal(rt_error_text("rt_get", -ENODATA), rt_error_text("rt_snapshot_take", -ENODATA));
	/* The first and the last of all. */
	assert_string_equal(rt_error_text("rt_config_set_int", -ENOENT),
			    "there is no setting of this name: rt_config_name() lists them");
	assert_string_equal(rt_error_text("rt_history_read", -ENODATA),
			    "no history is kept: call rt_config_set_history() before rt_open()");
	/* A part of a name is another name. */
	assert_string_equal(rt_error_text("stop", -ENOTCONN), strerror(ENOTCONN));
	assert_string_equal(rt_error_text("rt_", -ENOTCONN), strerror(ENOTCONN));
	assert_string_equal(rt_error_text("", -EXDEV), strerror(EXDEV));
	assert_string_equal(rt_error_text("rt_stop", 0), "no error");
	assert_string_equal(rt_error_text("rt_stop", 3), "no error");
	rt_free(NULL);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_is_that_of_rt_get),
		cmocka_unit_test(a_snapshot_stays_as_it_was),
		cmocka_unit_test(wrong_questions_change_nothing),
		cmocka_unit_test(a_frame_comes_back_from_its_bytes),
		cmocka_unit_test(damaged_bytes_make_no_frame),
		cmocka_unit_test(errors_have_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
