/*
 * Tests of src/stream/stream_sentinel.c and sentinel.c: a run is registered, stored and finished at a server of the test's own. A clock of
 * the test stands before the C library's, so that keys grow old at once.
 */
#include "captured.h"
#include "loopback.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "net/redacted_message.h"
#include "stream/stream.h"
#include "stream/upload.h"

static int64_t ahead_ns;              /* of the kernel's monotonic clock */
static int64_t now_secs = 1775044800; /* 2026-04-01 12:00 UTC */

int clock_gettime(clockid_t id, struct timespec *ret_time)
{
	int r = (int)syscall(SYS_clock_gettime, id, ret_time);

	if (id == CLOCK_MONOTONIC)
		ret_time->tv_sec += ahead_ns / NSEC_PER_SEC;
	return r;
}

time_t time(time_t *ret_time)
{
	if (ret_time)
		*ret_time = (time_t)now_secs;
	return (time_t)now_secs;
}

/* A pause of an upload is over at once. */
int poll(struct pollfd *list, nfds_t count, int limit_ms)
{
	struct timespec limit = {limit_ms / 1000, limit_ms % 1000 * NSEC_PER_MSEC};

	if (!count) {
		ahead_ns += (limit_ms + 999) / 1000 * NSEC_PER_SEC;
		return 0;
	}
	return (int)syscall(SYS_ppoll, list, count, limit_ms < 0 ? NULL : &limit, NULL, 8);
}

static struct loopback server;
static struct stream stream;
static struct patience patience;
static struct settings settings;
static char token[] = "t0k";

static int enter(void **state)
{
	int error = capture_streams(state);

	unsetenv("TRACKER_STREAM_METADATA");
	unsetenv("AWS_ENDPOINT_URL_S3");
	message_enable(true);
	ahead_ns = 0;
	now_secs = 1775044800;
	patience = PATIENCE;
	return error;
}

static int leave(void **state)
{
	message_enable(false);
	return free_streams(state);
}

/* ---- a run -------------------------------------------------------------------------------------------------- */

#define SAMPLE "{\"timestamp\":1775044800.5,\"host\":\"h\",\"tracked_pid\":7,\"sample\":%d%s}\n"
#define RUN_START ",\"run_start\":{\"run_id\":\"x\"}"
#define RUN_END ",\"run_end\":{\"exit_code\":3}"

static void append(int sample, const char *more)
{
	FILE *file = fopen("r.jsonl", "ae");

	fprintf(file, SAMPLE, sample, more);
	fclose(file);
}

static void begin_run(void)
{
	settings = (struct settings){.token = token, .sentinel_url = server.url, .s3_endpoint = server.url};
	settings.destination = destination_named(NULL);
	assert_int_equal(stream_open(&stream, &settings, &patience, "r.jsonl", 0, false, "spool", "/none"),
			 0);
	assert_int_equal(stream_begin(&stream), 1);
}

/* A run of two batches without an end, before a server with these answers. */
static void serve_batches(const char *const answers[])
{
	loopback_serve(&server, answers);
	append(0, RUN_START);
	begin_run();
	assert_int_equal(stream_cut(&stream, false), 0);
	append(1, "");
	assert_int_equal(stream_cut(&stream, false), 0);
	assert_int_equal(stream.spool.state.cut, 2);
}

#define SERVE_BATCHES(...) serve_batches((const char *const[]){__VA_ARGS__, NULL})

static void send_step(enum stream_step step)
{
	assert_int_equal(stream_send(&stream), step);
}

/* Sends again although the pause is not over. */
static void send_at_once(enum stream_step step)
{
	stream.backoff.not_before_ns = 0;
	send_step(step);
}

/* Ends the server, and checks how many requests it had. */
static void end_run(int requests)
{
	stream_close(&stream);
	loopback_end(&server);
	assert_int_equal(loopback_requests(&server), requests);
}

static void forget(void)
{
	free(server.asked);
	server.asked = NULL;
	(void)!unlink("r.jsonl");
	(void)!nftw("spool", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	assert_int_equal(truncate("err", 0), 0);
}

#define KEYS(key, more) \
	"{\"access_key\":\"" key \
	"\",\"secret_key\":\"sk34\",\"session_token\":\"st56\",\"region\":\"eu-west-1\"" more "}"
#define REGISTERED_WITH(headers, more) \
	ANSWER("201 Created", headers, \
	       "{\"run_id\":\"r-1\",\"upload_uri_prefix\":\"s3://b/p\",\"upload_credentials\":" KEYS( \
		       "AK1", more) "}")
#define REGISTERED REGISTERED_WITH("", "")
#define NEW_KEYS ANSWER("200 OK", "", "{\"upload_credentials\":" KEYS("AK2", "") "}")
#define STORED ANSWER("200 OK", "", "")
#define FINISHED ANSWER("200 OK", "", "{\"price\":\n 2}")
#define BROKEN ANSWER("500 Internal Server Error", "", "")
#define UNKNOWN ANSWER("404 Not Found", "", "{\"detail\":\"no such run\"}")
#define EXPIRED ANSWER("400 Bad Request", "", "<Error><Code>ExpiredToken</Code></Error>")

/* ---- short and long runs ------------------------------------------------------------------------------------ */

static void a_run_without_objects_ends_with_its_rows(void **state)
{
	static const char *const ANSWERS[] = {REGISTERED, FINISHED, NULL};

	(void)state;
	loopback_serve(&server, ANSWERS);
	append(0, RUN_START);
	begin_run();
	assert_int_equal(stream_cut(&stream, false), 0);
	append(1, RUN_END);
	assert_int_equal(stream_cut(&stream, true), 0);
	assert_int_equal(stream.spool.state.cut, 2);
	assert_int_equal(stream.spool.state.rows, 2);
	assert_int_equal(stream_rows_left(&stream), 2);
	send_step(STEP_MADE);
	assert_string_equal(stream.spool.state.run_id, "r-1");
	assert_null(stream.spool.state.payload);
	send_step(STEP_FINISHED);
	assert_string_equal(stream.answer, "{\"price\":2}");
	end_run(2);
	assert_int_equal(loopback_count(&server, "POST /runs HTTP"), 1);
	assert_int_equal(loopback_count(&server, "POST /runs/r-1/finish HTTP"), 1);
	assert_int_equal(loopback_count(&server, "Authorization: Bearer t0k\r\n"), 2);
	assert_int_equal(loopback_count(&server, "Idempotency-Key: "), 1);
	assert_true(loopback_was_asked(&server, "\"exit_code\":3,\"run_status\":\"failed\""));
	assert_true(loopback_was_asked(&server, "\"data_source\":\"inline\",\"data_csv\":\"timestamp,"));
	/* Two rows below one head. */
	assert_int_equal(loopback_count(&server, "timestamp,"), 1);
	assert_int_equal(loopback_count(&server, "\\n1775044800.5"), 2);
	assert_int_equal(loopback_count(&server, "\\n\""), 1);
	assert_printed("err", "");
	forget();
}

static void batches_of_a_running_job_are_objects(void **state)
{
	(void)state;
	SERVE_BATCHES(REGISTERED, STORED, STORED, FINISHED);
	assert_int_equal(stream_rows_left(&stream), 2);
	send_step(STEP_MADE);
	send_step(STEP_MADE);
	assert_int_equal(stream_rows_left(&stream), 1);
	send_step(STEP_MADE);
	send_step(STEP_IDLE);
	assert_int_equal(stream.spool.state.objects, 2);
	/* Another run was appended, so this one has no end of its own. */
	assert_int_equal(stream_cut(&stream, true), 0);
	send_step(STEP_FINISHED);
	end_run(4);
	assert_int_equal(loopback_count(&server, "PUT /b/p/r-1/000000.csv.gz HTTP"), 1);
	assert_int_equal(loopback_count(&server, "PUT /b/p/r-1/000001.csv.gz HTTP"), 1);
	assert_int_equal(loopback_count(&server, "Credential=AK1/20260401/eu-west-1/s3/aws4_request"), 2);
	assert_int_equal(loopback_count(&server, "x-amz-date: 20260401T120000Z\r\n"), 2);
	assert_int_equal(loopback_count(&server, "x-amz-security-token: st56\r\n"), 2);
	assert_true(loopback_was_asked(
		&server, "\"data_uris\":[\"s3://b/p/r-1/000000.csv.gz\",\"s3://b/p/r-1/000001.csv.gz\"]"));
	forget();
}

/* An object that is there already is followed by objects, and never by rows. */
static void the_rest_of_a_run_with_objects_is_an_object(void **state)
{
	(void)state;
	SERVE_BATCHES(REGISTERED, STORED, STORED, FINISHED);
	send_step(STEP_MADE);
	send_step(STEP_MADE);
	assert_int_equal(stream_cut(&stream, true), 0);
	send_step(STEP_MADE);
	send_step(STEP_FINISHED);
	end_run(4);
	assert_true(loopback_was_asked(&server, "\"data_source\":\"s3\""));
	assert_int_equal(loopback_count(&server, "data_csv"), 0);
	forget();
}

/* Its batch cannot be read, so the others are objects, and it is given up. */
static void a_damaged_batch_is_stored_as_it_is(void **state)
{
	(void)state;
	SERVE_BATCHES(REGISTERED, STORED, STORED, FINISHED);
	put_text("spool/h-20260401T120000.500000Z-7.000001.csv.gz", "damaged");
	assert_int_equal(stream_rows_left(&stream), 1);
	assert_int_equal(stream_cut(&stream, true), 0);
	send_step(STEP_MADE);
	send_step(STEP_MADE);
	assert_int_equal(unlink("spool/h-20260401T120000.500000Z-7.000001.csv.gz"), 0);
	assert_int_equal(stream_rows_left(&stream), 0);
	send_step(STEP_MADE);
	assert_int_equal(stream.spool.state.objects, 1);
	send_step(STEP_FINISHED);
	end_run(3);
	assert_printed_has("err", "batch 1 of the spool");
	forget();
}

/* 2 MiB of rows are one batch. */
static void a_long_recording_is_cut_into_batches(void **state)
{
	enum { SAMPLES = 90000 };
	static const char *const ANSWERS[] = {REGISTERED, NULL};
	FILE *file;

	(void)state;
	loopback_serve(&server, ANSWERS);
	append(0, RUN_START);
	file = fopen("r.jsonl", "ae");
	for (int i = 1; i < SAMPLES; i++)
		fprintf(file, SAMPLE, i, "");
	fclose(file);
	begin_run();
	assert_int_equal(stream_cut(&stream, false), 0);
	assert_int_equal(stream.spool.state.cut, 3);
	assert_int_equal(stream.spool.state.rows, SAMPLES);
	assert_int_equal(stream_rows_left(&stream), SAMPLES);
	/* They are too long for one request. */
	assert_int_equal(stream_cut(&stream, true), 0);
	end_run(0);
	forget();
}

/* The batch or the state cannot be written: the next cut has the same rows. */
static void a_cut_that_fails_changes_nothing(void **state)
{
	static const char *const NAMES[] = {".new", ".state", ".000000.csv.gz"};
	static const char *const ANSWERS[] = {REGISTERED, NULL};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char path[100];

		snprintf(path, sizeof path, "spool/h-20260401T120000.500000Z-7%s", NAMES[i]);
		loopback_serve(&server, ANSWERS);
		append(0, RUN_START);
		append(1, RUN_END);
		begin_run();
		(void)!unlink(path);
		assert_int_equal(mkdir(path, 0700), 0);
		assert_int_equal(stream_cut(&stream, false), -EISDIR);
		assert_int_equal(stream.spool.state.cut, 0);
		assert_int_equal(stream.spool.state.rows, 0);
		assert_int_equal(stream.spool.state.offset, 0);
		assert_false(stream.spool.state.outcome.known);
		assert_printed_has("err", "cannot write to the spool ");
		assert_int_equal(rmdir(path), 0);
		assert_int_equal(stream_cut(&stream, false), 0);
		assert_int_equal(stream.spool.state.cut, 1);
		assert_int_equal(stream.spool.state.rows, 2);
		assert_true(stream.spool.state.outcome.known);
		end_run(0);
		forget();
	}
}

static void without_a_token_nothing_is_streamed(void **state)
{
	struct settings none = {0};

	(void)state;
	assert_int_equal(destination_use(&none, NULL), -EINVAL);
	assert_printed_has("err", "streaming needs SENTINEL_API_TOKEN");
	none.token = token;
	assert_int_equal(destination_use(&none, NULL), 0);
	assert_printed("err", "");
}

/* ---- the server's refusals ---------------------------------------------------------------------------------- */

static void expect_trouble(const char *text)
{
	if (!strstr(stream.trouble, text))
		fail_msg("no \"%s\" in \"%s\"", text, stream.trouble);
}

static void a_registration_is_tried_again_or_given_up(void **state)
{
	(void)state;
	SERVE_BATCHES(BROKEN, UNKNOWN);
	send_step(STEP_WAIT);
	expect_trouble("cannot register the run: HTTP 500");
	send_at_once(STEP_GIVE_UP);
	expect_trouble("cannot register the run: HTTP 404");
	expect_trouble("no such run");
	assert_null(stream.spool.state.run_id);
	end_run(2);
	/* The same key each time. */
	assert_int_equal(loopback_count(&server, "Idempotency-Key: "), 2);
	forget();
	SERVE_BATCHES(ANSWER("200 OK", "", "{\"run_id\":5}"));
	send_step(STEP_GIVE_UP);
	expect_trouble("cannot register the run: ");
	expect_trouble("(12 bytes)");
	end_run(1);
	forget();
}

static void an_end_is_tried_again_or_given_up(void **state)
{
	(void)state;
	SERVE_BATCHES(REGISTERED, BROKEN, UNKNOWN);
	assert_int_equal(stream_cut(&stream, true), 0);
	send_step(STEP_MADE);
	send_step(STEP_WAIT);
	expect_trouble("cannot finish the run: HTTP 500");
	send_at_once(STEP_GIVE_UP);
	expect_trouble("cannot finish the run: HTTP 404");
	end_run(3);
	forget();
	/* The server has it already. */
	SERVE_BATCHES(REGISTERED, ANSWER("409 Conflict", "", "{\"detail\":\"finished\"}"));
	assert_int_equal(stream_cut(&stream, true), 0);
	send_step(STEP_MADE);
	send_step(STEP_FINISHED);
	assert_null(stream.answer);
	end_run(2);
	forget();
}

static void an_address_that_is_not_of_a_bucket_is_a_failure(void **state)
{
	(void)state;
	SERVE_BATCHES(
		ANSWER("201 Created", "",
		       "{\"run_id\":\"r-1\",\"upload_uri_prefix\":\"gs://b/p\",\"upload_credentials\":" KEYS(
			       "AK1", "") "}"));
	if (stream_send(&stream) == STEP_MADE) {
		send_step(STEP_WAIT);
		expect_trouble("cannot store a batch: upload_uri_prefix is not an s3:// address");
	}
	end_run(1);
	forget();
}

/* Uploads a recording of two samples to a server with these answers. */
static void expect_upload(const char *const answers[], int status, int requests)
{
	char *argv[] = {(char[]){"upload"}, (char[]){"--spool"}, (char[]){"spool"}, (char[]){"r.jsonl"},
			NULL};

	append(0, RUN_START);
	append(1, RUN_END);
	loopback_serve(&server, answers);
	settings = (struct settings){.token = token, .sentinel_url = server.url, .s3_endpoint = server.url};
	assert_int_equal(upload_main(&settings, argv), status);
	loopback_end(&server);
	assert_int_equal(loopback_requests(&server), requests);
}

#define BUSY(secs) ANSWER("503 Service Unavailable", "Retry-After: " secs "\r\n", "")

/* A wait of some seconds is told, and after four attempts in a row the run stays in the spool. */
static void an_upload_waits_and_gives_up(void **state)
{
	static const char *const LATER[] = {BUSY("3"),   BUSY("1"), BROKEN, REGISTERED,
					    BUSY("200"), FINISHED,  NULL};
	static const char *const NEVER[] = {BROKEN, BROKEN, BROKEN, BROKEN, BROKEN, BROKEN, NULL};

	(void)state;
	expect_upload(LATER, 0, 6);
	assert_printed("err", "resource-tracker: streaming: cannot register the run: HTTP 503\n"
			      "resource-tracker: r.jsonl: trying again in 3 s\n"
			      "resource-tracker: streaming: cannot finish the run: HTTP 503\n"
			      "resource-tracker: r.jsonl: trying again in 200 s\n");
	forget();
	expect_upload(NEVER, 1, 4);
	assert_printed(
		"err",
		"resource-tracker: streaming: cannot register the run: HTTP 500\n"
		"resource-tracker: r.jsonl: 2 samples are not sent: cannot register the run: HTTP 500\n");
	forget();
}

/* ---- keys --------------------------------------------------------------------------------------------------- */

static void new_keys_are_tried_once_at_once(void **state)
{
	(void)state;
	SERVE_BATCHES(REGISTERED, EXPIRED, NEW_KEYS, EXPIRED, NEW_KEYS, STORED, EXPIRED, NEW_KEYS, STORED);
	send_step(STEP_MADE);
	send_step(STEP_MADE); /* refused, but new keys may help */
	send_step(STEP_MADE); /* new keys */
	send_step(STEP_WAIT); /* which did not help */
	expect_trouble("cannot store a batch: HTTP 400");
	send_at_once(STEP_MADE); /* new keys again */
	send_step(STEP_MADE);    /* stored */
	assert_string_equal(stream.trouble, "");
	/* After a success, they are tried at once again. */
	send_step(STEP_MADE);
	send_step(STEP_MADE);
	send_step(STEP_MADE);
	send_step(STEP_IDLE);
	assert_int_equal(stream.spool.state.objects, 2);
	end_run(9);
	assert_int_equal(loopback_count(&server, "POST /runs/r-1/refresh-credentials HTTP"), 3);
	assert_int_equal(loopback_count(&server, "Credential=AK1/"), 1);
	assert_int_equal(loopback_count(&server, "Credential=AK2/"), 4);
	forget();
}

static void a_store_that_fails_needs_no_new_keys(void **state)
{
	(void)state;
	SERVE_BATCHES(REGISTERED, BROKEN, STORED);
	send_step(STEP_MADE);
	send_step(STEP_WAIT);
	expect_trouble("cannot store a batch: HTTP 500");
	send_at_once(STEP_MADE);
	assert_int_equal(stream.spool.state.objects, 1);
	end_run(3);
	forget();
}

/* The store has refused the old keys. */
static void keys_that_cannot_be_had_stop_the_batches(void **state)
{
	(void)state;
	SERVE_BATCHES(REGISTERED, EXPIRED, BROKEN, UNKNOWN);
	send_step(STEP_MADE);
	send_step(STEP_MADE);
	send_step(STEP_WAIT);
	expect_trouble("cannot refresh the upload credentials: HTTP 500");
	send_at_once(STEP_GIVE_UP);
	expect_trouble("cannot refresh the upload credentials: HTTP 404");
	end_run(4);
	forget();
	SERVE_BATCHES(REGISTERED, EXPIRED, ANSWER("200 OK", "", "{}"));
	send_step(STEP_MADE);
	send_step(STEP_MADE);
	send_step(STEP_GIVE_UP);
	expect_trouble("cannot refresh the upload credentials: ");
	expect_trouble("(2 bytes)");
	end_run(3);
	forget();
}

/* Another process continues without keys. */
static void a_process_that_continues_asks_for_keys(void **state)
{
	(void)state;
	SERVE_BATCHES(REGISTERED, NEW_KEYS, STORED);
	send_step(STEP_MADE);
	stream_close(&stream);
	begin_run();
	send_step(STEP_MADE);
	assert_int_equal(stream.spool.state.objects, 0);
	send_step(STEP_MADE);
	assert_int_equal(stream.spool.state.objects, 1);
	end_run(3);
	assert_int_equal(loopback_count(&server, "Credential=AK2/"), 1);
	forget();
}

/* Registers with keys that expire, and expects that they are replaced after `wait_secs`. */
static void expect_life(const char *registered, int64_t wait_secs)
{
	SERVE_BATCHES(registered, STORED, NEW_KEYS, STORED);
	send_step(STEP_MADE);
	ahead_ns = (wait_secs - 5) * NSEC_PER_SEC;
	send_step(STEP_MADE);
	assert_int_equal(stream.spool.state.objects, 1);
	ahead_ns = wait_secs * NSEC_PER_SEC;
	send_step(STEP_MADE);
	assert_int_equal(stream.spool.state.objects, 1);
	send_step(STEP_MADE);
	assert_int_equal(stream.spool.state.objects, 2);
	ahead_ns = 0;
	end_run(4);
	assert_int_equal(loopback_count(&server, "Credential=AK1/"), 1);
	assert_int_equal(loopback_count(&server, "Credential=AK2/"), 1);
	forget();
}

/* Five minutes before they expire, or after half of a short life, and at most once in 10 s. */
static void keys_are_replaced_in_time(void **state)
{
	(void)state;
	expect_life(REGISTERED_WITH("", ",\"expires_at\":\"2026-04-01T13:00:00Z\""), 3300);
	expect_life(REGISTERED_WITH("", ",\"expires_at\":\"2026-04-01T12:14:00Z\""), 540);
	expect_life(REGISTERED_WITH("", ",\"expires_at\":\"2026-04-01T12:02:00Z\""), 60);
	expect_life(REGISTERED_WITH("", ",\"expires_at\":\"2026-04-01T12:00:04Z\""), 10);
	/* The server's clock is 10 minutes ahead, and an odd date says nothing. */
	expect_life(REGISTERED_WITH("Date: Wed, 01 Apr 2026 12:10:00 GMT\r\n",
				    ",\"expires_at\":\"2026-04-01T13:00:00Z\""),
		    2700);
	expect_life(REGISTERED_WITH("Date: yesterday\r\n", ",\"expires_at\":\"2026-04-01T13:00:00Z\""), 3300);
	/* 366 days. */
	expect_life(REGISTERED_WITH("", ",\"expires_at\":\"2027-04-02T12:05:00Z\""), 366 * 86400);
}

static void keys_without_an_end_are_kept(void **state)
{
	static const char *const ANSWERS[] = {
		REGISTERED, REGISTERED_WITH("", ",\"expires_at\":\"2027-04-02T12:05:01Z\"")};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		SERVE_BATCHES(ANSWERS[i], STORED);
		send_step(STEP_MADE);
		ahead_ns = (int64_t)800 * 86400 * NSEC_PER_SEC;
		send_step(STEP_MADE);
		assert_int_equal(stream.spool.state.objects, 1);
		ahead_ns = 0;
		end_run(2);
		forget();
	}
}

/* The old keys are used until the store refuses them, and new ones are asked for every 10 s. */
static void old_keys_are_used_while_no_new_ones_can_be_had(void **state)
{
	(void)state;
	SERVE_BATCHES(REGISTERED_WITH("", ",\"expires_at\":\"2026-04-01T12:02:00Z\""), BROKEN, STORED, BROKEN,
		      STORED);
	send_step(STEP_MADE);
	ahead_ns = 60 * NSEC_PER_SEC;
	send_step(STEP_MADE);
	expect_trouble("cannot refresh the upload credentials: HTTP 500");
	assert_printed_has("err", "cannot refresh the upload credentials: HTTP 500");
	ahead_ns = 65 * NSEC_PER_SEC;
	send_step(STEP_MADE);
	assert_int_equal(stream.spool.state.objects, 1);
	ahead_ns = 71 * NSEC_PER_SEC;
	send_step(STEP_MADE);
	assert_int_equal(stream.spool.state.objects, 1);
	send_step(STEP_MADE);
	assert_int_equal(stream.spool.state.objects, 2);
	ahead_ns = 0;
	end_run(5);
	forget();
}

#define unit_test_of_run(test) cmocka_unit_test_setup_teardown(test, enter, leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_run(a_run_without_objects_ends_with_its_rows),
		unit_test_of_run(batches_of_a_running_job_are_objects),
		unit_test_of_run(the_rest_of_a_run_with_objects_is_an_object),
		unit_test_of_run(a_damaged_batch_is_stored_as_it_is),
		unit_test_of_run(a_long_recording_is_cut_into_batches),
		unit_test_of_run(a_cut_that_fails_changes_nothing),
		unit_test_of_run(without_a_token_nothing_is_streamed),
		unit_test_of_run(a_registration_is_tried_again_or_given_up),
		unit_test_of_run(an_end_is_tried_again_or_given_up),
		unit_test_of_run(an_address_that_is_not_of_a_bucket_is_a_failure),
		unit_test_of_run(an_upload_waits_and_gives_up),
		unit_test_of_run(new_keys_are_tried_once_at_once),
		unit_test_of_run(a_store_that_fails_needs_no_new_keys),
		unit_test_of_run(keys_that_cannot_be_had_stop_the_batches),
		unit_test_of_run(a_process_that_continues_asks_for_keys),
		unit_test_of_run(keys_are_replaced_in_time),
		unit_test_of_run(keys_without_an_end_are_kept),
		unit_test_of_run(old_keys_are_used_while_no_new_ones_can_be_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
