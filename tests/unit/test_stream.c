/* Tests of src/stream/stream.c and stream_steps.c, with a destination of the test's own. Whole followers: tests/cli/test_net_*.py. */
#include "tally.h"

#include <errno.h>
#include <sys/file.h>

#include "base/clock.h"

/* ---- the life of a run -------------------------------------------------------------------------------------- */

static void a_run_begins_is_cut_and_sent(void **state)
{
	struct stream stream;

	(void)state;
	append("", 0, 0);
	open_run(&stream, false);
	assert_int_equal(stream_begin(&stream), 0);
	append(FIRST_SAMPLE, 0, 0);
	append(NEXT_SAMPLE, 1, 2);
	assert_int_equal(stream_begin(&stream), 1);
	assert_int_equal(stream_begin(&stream), 1);
	assert_int_equal(begun, 1);
	assert_string_equal(stream.spool.name, NAME);
	assert_true(exists(".state"));
	assert_int_equal(stream_rows_left(&stream), 3);
	assert_int_equal(stream_cut(&stream, false), 0);
	assert_true(exists(".000000.tally.gz") && exists(".000001.tally.gz"));
	assert_int_equal(stream_rows_left(&stream), 3);
	send_all(&stream, STEP_IDLE);
	assert_string_equal(received, "0\n1\n2\n");
	assert_false(exists(".000000.tally.gz") || exists(".000001.tally.gz"));
	append(LAST_SAMPLE, 3, 3);
	assert_int_equal(stream_cut(&stream, true), 0);
	assert_int_equal(ended, 0); /* the recording has its own end */
	assert_int_equal(stream.spool.state.outcome.exit_code, 3);
	send_all(&stream, STEP_FINISHED);
	assert_string_equal(received, "0\n1\n2\n3\n");
	assert_int_equal(stream_rows_left(&stream), 0);
	stream_close(&stream);
	assert_int_equal(closed, 1);
	/* The state stays, so that the run is not sent again. */
	assert_true(exists(".state") && !exists(".lock"));
	open_run(&stream, false);
	assert_int_equal(stream_begin(&stream), -EALREADY);
	stream_close(&stream);
	assert_true(exists(".state") && !exists(".lock"));
}

static void another_process_continues(void **state)
{
	struct stream stream, other;

	(void)state;
	append(FIRST_SAMPLE, 0, 0);
	append(NEXT_SAMPLE, 1, 4);
	open_run(&stream, false);
	assert_int_equal(stream_begin(&stream), 1);
	open_run(&other, false);
	assert_int_equal(stream_begin(&other), -EBUSY);
	stream_close(&other);
	assert_int_equal(stream_cut(&stream, false), 0);
	assert_int_equal(stream_send(&stream), STEP_MADE);
	stream_close(&stream);
	/* It was killed before it unlinked what it had counted. */
	put_file("spool/h-20260401T120000.500000Z-7.tally.000000.tally.gz", "0\n1\n", 4);
	append(NEXT_SAMPLE, 5, 5);
	open_run(&stream, false);
	assert_int_equal(stream_begin(&stream), 1);
	assert_int_equal(begun, 1);
	assert_int_equal(adopted, 1);
	assert_false(exists(".000000.tally.gz"));
	assert_int_equal(stream_rows_left(&stream), 4);
	assert_int_equal(stream_cut(&stream, true), 0);
	assert_int_equal(ended, 1);
	assert_true(stream.spool.state.outcome.failed);
	send_all(&stream, STEP_FINISHED);
	assert_string_equal(received, "0\n1\n2\n3\n4\n5\n");
	stream_close(&stream);
}

static void a_damaged_state_begins_the_run_anew(void **state)
{
	static char path[200];
	struct stream stream;

	(void)state;
	append(FIRST_SAMPLE, 0, 0);
	assert_int_equal(mkdir("spool", 0700), 0);
	snprintf(path, sizeof path, "spool/%s.state", NAME);
	put_text(path, "{\"version\":");
	open_run(&stream, false);
	assert_int_equal(stream_begin(&stream), 1);
	assert_int_equal(begun, 1);
	assert_int_equal(adopted, 0);
	stream_close(&stream);
}

/* Without a state it can still be sent, only not continued. */
static void a_run_begins_although_its_state_cannot_be_written(void **state)
{
	static char path[200];
	struct stream stream;

	(void)state;
	append(FIRST_SAMPLE, 0, 0);
	snprintf(path, sizeof path, "spool/%s.new", NAME);
	assert_int_equal(mkdir("spool", 0700) | mkdir(path, 0700), 0);
	open_run(&stream, false);
	assert_int_equal(stream_begin(&stream), 1);
	assert_false(exists(".state"));
	assert_int_equal(stream_rows_left(&stream), 1);
	stream_close(&stream);
}

static void an_appended_run_is_not_this_one(void **state)
{
	struct stream stream;

	(void)state;
	append(FIRST_SAMPLE, 0, 0);
	append(NEXT_SAMPLE, 1, 1);
	append(FIRST_SAMPLE, 0, 0);
	append(NEXT_SAMPLE, 1, 1);
	open_run(&stream, false);
	assert_int_equal(stream_begin(&stream), 1);
	assert_int_equal(stream_cut(&stream, false), 0);
	assert_true(stream.spool.state.outcome.known);
	assert_int_equal(stream.spool.state.rows, 2);
	/* At the end of a run there is nothing more to cut. */
	assert_int_equal(stream_cut(&stream, true), 0);
	assert_int_equal(ended, 0);
	send_all(&stream, STEP_FINISHED);
	assert_string_equal(received, "0\n1\n");
	stream_close(&stream);
}

static void a_full_spool_drops_the_oldest(void **state)
{
	struct stream stream;

	(void)state;
	append(FIRST_SAMPLE, 0, 0);
	append(NEXT_SAMPLE, 1, 7);
	open_run(&stream, false);
	stream.spool.most_bytes = 8; /* two batches of 4 bytes */
	assert_int_equal(stream_begin(&stream), 1);
	assert_int_equal(stream_cut(&stream, false), 0);
	assert_int_equal(stream.spool.state.cut, 4);
	assert_int_equal(stream.spool.state.sent, 2);
	assert_int_equal(stream.spool.state.rows_lost, 4);
	assert_false(exists(".000001.tally.gz"));
	assert_true(exists(".000002.tally.gz"));
	send_all(&stream, STEP_IDLE);
	assert_string_equal(received, "4\n5\n6\n7\n");
	stream_close(&stream);
}

static void a_recording_for_streaming_alone_goes(void **state)
{
	struct stream stream;

	(void)state;
	append(FIRST_SAMPLE, 0, 0);
	append(LAST_SAMPLE, 1, 1);
	open_run(&stream, true);
	assert_int_equal(stream_begin(&stream), 1);
	assert_false(stream_lost_name(&stream));
	assert_int_equal(stream_cut(&stream, true), 0);
	send_all(&stream, STEP_FINISHED);
	stream_close(&stream);
	assert_int_not_equal(access("r.jsonl", F_OK), 0);
	assert_false(exists(".state") || exists(".lock"));
}

static char byte_at(int fd, off_t offset)
{
	char byte = 1;

	assert_int_equal(pread(fd, &byte, 1, offset), 1);
	return byte;
}

/* A recording that serves streaming alone keeps its first MiB and its last one on the disk. */
static void only_a_recording_for_streaming_alone_is_released(void **state)
{
	enum { MIB = 1 << 20, LINES = 80 };
	static char padding[40001];

	(void)state;
	memset(padding, 'x', sizeof padding - 1);
	for (int disposable = 0; disposable < 2; disposable++) {
		FILE *file = fopen("r.jsonl", "we");
		struct stream stream;
		off_t size;
		int fd;

		fprintf(file, FIRST_SAMPLE, 0);
		for (int i = 1; i < LINES; i++)
			fprintf(file, "{\"tracked_pid\":7,\"host\":\"h\",\"sample\":%d,\"x\":\"%s\"}\n", i,
				padding);
		fclose(file);
		open_run(&stream, disposable);
		assert_int_equal(stream_begin(&stream), 1);
		assert_int_equal(stream_cut(&stream, false), 0);
		assert_int_equal(stream.spool.state.rows, LINES);
		fd = open("r.jsonl", O_RDONLY | O_CLOEXEC);
		size = lseek(fd, 0, SEEK_END);
		assert_int_equal(size, stream.spool.state.offset);
		assert_int_not_equal(byte_at(fd, MIB - 1), 0);
		assert_int_not_equal(byte_at(fd, size - MIB), 0);
		assert_int_equal(byte_at(fd, MIB) == 0, disposable);
		assert_int_equal(byte_at(fd, size - MIB - 1) == 0, disposable);
		close(fd);
		stream_close(&stream);
		assert_int_equal(nftw("spool", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
	}
}

static void a_lost_recording_leaves_its_batches(void **state)
{
	struct stream stream;

	(void)state;
	append(FIRST_SAMPLE, 0, 0);
	append(NEXT_SAMPLE, 1, 2);
	open_run(&stream, false);
	assert_int_equal(stream_begin(&stream), 1);
	assert_int_equal(stream_cut(&stream, false), 0);
	assert_int_equal(unlink("r.jsonl"), 0);
	assert_true(stream_lost_name(&stream));
	assert_int_equal(stream_follow_name(&stream), 0); /* there is no new file yet */
	stream_close(&stream);
	assert_int_equal(stream_open_spooled(&stream, &SETTINGS, &patience, NAME, "spool"), 0);
	assert_int_equal(adopted, 1);
	assert_int_equal(ended, 1);
	assert_int_equal(stream_rows_left(&stream), 3);
	send_all(&stream, STEP_FINISHED);
	assert_string_equal(received, "0\n1\n2\n");
	stream_close(&stream);
	assert_int_equal(stream_open_spooled(&stream, &SETTINGS, &patience, NAME, "spool"), -EALREADY);
	assert_int_equal(stream_open_spooled(&stream, &SETTINGS, &patience, "none", "spool"), -ENOENT);
}

static void a_new_file_of_the_name_continues_the_run(void **state)
{
	struct stream stream;

	(void)state;
	append(FIRST_SAMPLE, 0, 0);
	append(NEXT_SAMPLE, 1, 1);
	open_run(&stream, false);
	assert_int_equal(stream_begin(&stream), 1);
	assert_int_equal(rename("r.jsonl", "r.old"), 0);
	append("{\"timestamp\":1775044802,\"host\":\"h\",\"tracked_pid\":8,\"sample\":%d}\n", 2, 2);
	assert_int_equal(stream_follow_name(&stream), 0); /* of another run */
	assert_int_equal(unlink("r.jsonl"), 0);
	append("{\"timestamp\":1775044802,\"host\":\"h\",\"tracked_pid\":7,\"sample\":%d}\n", 2, 3);
	assert_int_equal(symlink("r.jsonl", "link"), 0);
	assert_int_equal(stream_follow_name(&stream), 1);
	assert_int_equal(stream_follow_name(&stream), 0);
	assert_false(stream_lost_name(&stream));
	assert_int_equal(stream_cut(&stream, true), 0);
	send_all(&stream, STEP_FINISHED);
	assert_string_equal(received, "0\n1\n2\n3\n");
	stream_close(&stream);
	/* The new file alone leads to the run, which is sent. */
	open_run(&stream, false);
	assert_int_equal(stream_begin(&stream), -EALREADY);
	stream_close(&stream);
}

/* ---- failures ----------------------------------------------------------------------------------------------- */

static void run_to_send(struct stream *ret_stream)
{
	append(FIRST_SAMPLE, 0, 0);
	append(LAST_SAMPLE, 1, 1);
	open_run(ret_stream, false);
	assert_int_equal(stream_begin(ret_stream), 1);
	assert_int_equal(stream_cut(ret_stream, true), 0);
}

static void a_failure_is_tried_again_later(void **state)
{
	struct stream stream;

	(void)state;
	run_to_send(&stream);
	answer.verdict = VERDICT_RETRY;
	snprintf(answer.reason, sizeof answer.reason, "HTTP 500");
	assert_int_equal(stream_send(&stream), STEP_WAIT);
	assert_string_equal(stream.trouble, "cannot count: HTTP 500");
	assert_int_equal(stream.backoff.failures, 1);
	answer.verdict = VERDICT_DONE;
	assert_int_equal(stream_send(&stream), STEP_WAIT); /* not yet */
	stream.backoff.not_before_ns = 0;
	send_all(&stream, STEP_FINISHED);
	assert_string_equal(stream.trouble, "");
	assert_int_equal(stream.backoff.failures, 0);
	stream_close(&stream);
}

static void after_the_end_attempts_have_a_number_and_a_deadline(void **state)
{
	struct stream stream;

	(void)state;
	run_to_send(&stream);
	patience.grace_ns = 900 * NSEC_PER_SEC;
	patience_end(&patience);
	stream.attempts_most = 3;
	answer.verdict = VERDICT_RETRY;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(stream_send(&stream), STEP_WAIT);
		stream.backoff.not_before_ns = 0;
	}
	assert_int_equal(stream_send(&stream), STEP_GIVE_UP);
	/* Without a number, until an attempt would come too late. */
	stream.attempts_most = 0;
	stream.backoff = (struct backoff){0};
	assert_int_equal(stream_send(&stream), STEP_WAIT);
	stream.backoff = (struct backoff){0};
	patience.deadline_ns = monotonic_ns() + 50 * NSEC_PER_MSEC;
	assert_int_equal(stream_send(&stream), STEP_GIVE_UP);
	patience.deadline_ns = monotonic_ns();
	stream.backoff = (struct backoff){0};
	answer.verdict = VERDICT_DONE;
	assert_int_equal(stream_send(&stream), STEP_GIVE_UP);
	stream_close(&stream);
	assert_true(exists(".000000.tally.gz") && exists(".state"));
}

static void a_refusal_is_the_end(void **state)
{
	struct stream stream;

	(void)state;
	run_to_send(&stream);
	refuses = true;
	assert_int_equal(stream_send(&stream), STEP_GIVE_UP);
	refuses = false;
	assert_int_equal(stream_send(&stream), STEP_GIVE_UP);
	stream_close(&stream);
	assert_true(exists(".000000.tally.gz"));
}

static void a_batch_that_has_gone_is_given_up(void **state)
{
	struct stream stream;

	(void)state;
	run_to_send(&stream);
	assert_int_equal(unlink("spool/h-20260401T120000.500000Z-7.tally.000000.tally.gz"), 0);
	send_all(&stream, STEP_FINISHED);
	assert_int_equal(stream.spool.state.objects, 0);
	assert_string_equal(received, "");
	stream_close(&stream);
}

/* ---- the table ---------------------------------------------------------------------------------------------- */

static void destinations_are_found_by_their_names(void **state)
{
	char option[64];

	(void)state;
	assert_ptr_equal(destination_named(NULL), destination_named("auto"));
	assert_string_equal(destination_named(NULL)->suffix, "");
	assert_string_equal(destination_named("otlp")->name, "otlp");
	assert_ptr_equal(destination_of_run("h-20260401T120000Z-7"), destination_named(NULL));
	assert_ptr_equal(destination_of_run("h-20260401T120000Z-7.otlp"), destination_named("otlp"));
	destination_option(destination_named("otlp"), option, sizeof option);
	assert_string_equal(option, "--stream otlp ");
	destination_option(destination_named("auto"), option, sizeof option);
	assert_string_equal(option, "");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_run_begins_is_cut_and_sent, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(another_process_continues, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(a_damaged_state_begins_the_run_anew, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(a_run_begins_although_its_state_cannot_be_written, enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(an_appended_run_is_not_this_one, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(a_full_spool_drops_the_oldest, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(a_recording_for_streaming_alone_goes, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(only_a_recording_for_streaming_alone_is_released, enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(a_lost_recording_leaves_its_batches, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(a_new_file_of_the_name_continues_the_run, enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(a_failure_is_tried_again_later, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(after_the_end_attempts_have_a_number_and_a_deadline, enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(a_refusal_is_the_end, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(a_batch_that_has_gone_is_given_up, enter, scratch_leave),
		cmocka_unit_test(destinations_are_found_by_their_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
