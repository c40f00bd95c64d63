/* Tests of src/stream/stream_sentinel.c and stream_otlp.c: whole runs, against a server of the test's own. */
#include "loopback.h"

#include <errno.h>

#include "base/clock.h"
#include "net/redacted_message.h"
#include "format/otlp_series.h"
#include "stream/otlp_settings.h"
#include "stream/stream.h"

#define KEYS \
	"{\"access_key\":\"AK\",\"secret_key\":\"sk-secret\",\"session_token\":\"st-token\",\"expires_at\":" \
	"\"2099-01-01T00:00:00Z\"," \
	"\"region\":\"eu-x\"}"
#define REGISTERED \
	ANSWER("201 Created", "", \
	       "{\"run_id\":\"r-9\",\"upload_uri_prefix\":\"s3://b/p\",\"upload_credentials\":" KEYS "}")

static struct settings settings;
static struct patience patience;
static struct loopback server;

static const char RECORDING[] = "r.jsonl";

static void append(int from, int to)
{
	FILE *file = fopen(RECORDING, "a");

	for (int i = from; i <= to; i++)
		fprintf(file,
			"{\"timestamp\":%d.5,\"host\":\"h\",\"tracked_pid\":7,\"sample\":%d,\"job_name\":"
			"\"n\",\"memory\":{\"process_memory_mib\":%d}%s}\n",
			1775044800 + 20 * i, i, 100 + i,
			i == 0   ? ",\"run_start\":{\"run_id\":\"id-1\"}"
			: i == 9 ? ",\"run_end\":{\"exit_code\":0}"
				 : "");
	fclose(file);
}

static int enter(void **state)
{
	forget_variables();
	message_enable(false);
	settings = (struct settings){.token = "tok-en-1", .upload_interval_ns = NSEC_PER_SEC};
	patience = PATIENCE;
	return scratch_enter(state);
}

/* A stream has pointers into itself, so it stays where it was opened. */
static void open_run(struct stream *ret_stream, const char *const answers[], const char *destination)
{
	static char url[80];

	loopback_serve(&server, answers);
	snprintf(url, sizeof url, "%s", server.url);
	settings.sentinel_url = settings.s3_endpoint = settings.metadata_url = url;
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url, 1);
	assert_int_equal(destination_use(&settings, destination), 0);
	assert_int_equal(stream_open(ret_stream, &settings, &patience, RECORDING, 0, false, "spool", "/none"),
			 0);
	assert_int_equal(stream_begin(ret_stream), 1);
}

static void close_run(struct stream *stream)
{
	stream_close(stream);
	loopback_end(&server);
}

static void forget_runs(void)
{
	assert_int_equal(nftw("spool", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static bool was_asked(const char *text)
{
	return loopback_was_asked(&server, text);
}

static void send_all(struct stream *stream, enum stream_step last)
{
	enum stream_step step;

	while ((step = stream_send(stream)) == STEP_MADE)
		;
	assert_int_equal(step, last);
}

/* ---- Sentinel ----------------------------------------------------------------------------------------------- */

static void a_short_run_goes_with_its_finish(void **state)
{
	static const char *const ANSWERS[] = {REGISTERED, ANSWER("200 OK", "", "{\"run\": {\"a\": 1}}"),
					      NULL};
	struct stream stream;

	(void)state;
	append(0, 9);
	open_run(&stream, ANSWERS, NULL);
	assert_int_equal(stream_cut(&stream, true), 0);
	assert_int_equal(stream_rows_left(&stream), 10);
	send_all(&stream, STEP_FINISHED);
	assert_string_equal(stream.answer, "{\"run\":{\"a\":1}}");
	close_run(&stream);
	assert_true(was_asked("POST /runs HTTP/1.1\r\n") && was_asked("Authorization: Bearer tok-en-1\r\n"));
	assert_true(was_asked("\"job_name\":\"n\"") && was_asked("POST /runs/r-9/finish HTTP/1.1\r\n"));
	assert_true(was_asked("\"data_source\":\"inline\"") && was_asked("\"exit_code\":0") &&
		    was_asked("\"run_status\":\"finished\"") &&
		    was_asked("\"finished_at\":\"2026-04-01T12:03:00Z\""));
	/* One header, then the rows. */
	assert_true(was_asked("\"data_csv\":\"timestamp,"));
	assert_true(was_asked("\\n1775044980"));
	free(server.asked);
}

static void a_long_run_becomes_objects(void **state)
{
	static const char *const ANSWERS[] = {REGISTERED, ANSWER("200 OK", "", ""), ANSWER("200 OK", "", ""),
					      ANSWER("409 Conflict", "", ""), NULL};
	struct stream stream;

	(void)state;
	append(0, 3);
	open_run(&stream, ANSWERS, NULL);
	assert_int_equal(stream_cut(&stream, false), 0);
	send_all(&stream, STEP_IDLE);
	assert_int_equal(stream.spool.state.objects, 1);
	append(4, 9);
	assert_int_equal(stream_cut(&stream, true), 0);
	send_all(&stream, STEP_FINISHED); /* that it is finished already is as good */
	close_run(&stream);
	assert_true(was_asked("PUT /b/p/r-9/000000.csv.gz HTTP/1.1\r\n") &&
		    was_asked("PUT /b/p/r-9/000001.csv.gz HTTP/1.1\r\n"));
	assert_true(was_asked("Credential=AK/") && was_asked("/eu-x/s3/aws4_request") &&
		    was_asked("st-token"));
	assert_true(was_asked("\"data_source\":\"s3\"") &&
		    was_asked("[\"s3://b/p/r-9/000000.csv.gz\",\"s3://b/p/r-9/000001.csv.gz\"]"));
	assert_false(was_asked("sk-secret"));
	free(server.asked);
}

static void keys_that_have_expired_are_replaced_once(void **state)
{
	static const char *const ANSWERS[] = {
		REGISTERED, ANSWER("403 Forbidden", "", "<Error><Code>ExpiredToken</Code></Error>"),
		ANSWER("200 OK", "", "{\"upload_credentials\":" KEYS "}"),
		ANSWER("403 Forbidden", "", "<Error><Code>ExpiredToken</Code></Error>"), NULL};
	struct stream stream;

	(void)state;
	append(0, 3);
	open_run(&stream, ANSWERS, NULL);
	assert_int_equal(stream_cut(&stream, false), 0);
	send_all(&stream, STEP_WAIT);
	assert_non_null(strstr(stream.trouble, "cannot store a batch: HTTP 403"));
	close_run(&stream);
	assert_true(was_asked("POST /runs/r-9/refresh-credentials HTTP/1.1\r\n"));
	free(server.asked);
}

/* Batches that were cut before the registration go with the finish as well: one header, and all rows. */
static void batches_that_were_not_sent_go_together(void **state)
{
	static const char *const ANSWERS[] = {REGISTERED, ANSWER("503 x", "", ""), ANSWER("422 x", "", ""),
					      NULL};
	struct stream stream;
	const char *header;

	(void)state;
	append(0, 3);
	open_run(&stream, ANSWERS, NULL);
	assert_int_equal(stream_cut(&stream, false), 0);
	append(4, 9);
	assert_int_equal(stream_cut(&stream, true), 0);
	assert_int_equal(stream.spool.state.cut, 2);
	assert_int_equal(stream_rows_left(&stream), 10);
	send_all(&stream, STEP_WAIT);
	assert_string_equal(stream.trouble, "cannot finish the run: HTTP 503");
	stream.backoff.not_before_ns = 0;
	assert_int_equal(stream_send(&stream), STEP_GIVE_UP);
	assert_string_equal(stream.trouble, "cannot finish the run: HTTP 422");
	close_run(&stream);
	header = strstr(server.asked, "\"data_csv\":\"timestamp,");
	assert_non_null(header);
	header = strstr(header + 20, "timestamp,");
	/* The next one is that of the second attempt. */
	assert_true(header && memcmp(header - 12, "\"data_csv\":\"", 12) == 0);
	assert_true(was_asked("\\n1775044860") && was_asked("\\n1775044880") && was_asked("\\n1775044980"));
	free(server.asked);
}

static void new_keys_that_are_refused_end_the_attempts(void **state)
{
	static const char *const ANSWERS[] = {
		REGISTERED, ANSWER("403 Forbidden", "", "<Error><Code>ExpiredToken</Code></Error>"),
		ANSWER("503 x", "", ""), ANSWER("404 x", "", ""), NULL};
	struct stream stream;

	(void)state;
	append(0, 3);
	open_run(&stream, ANSWERS, NULL);
	assert_int_equal(stream_cut(&stream, false), 0);
	send_all(&stream, STEP_WAIT);
	assert_string_equal(stream.trouble, "cannot refresh the upload credentials: HTTP 503");
	stream.backoff.not_before_ns = 0;
	assert_int_equal(stream_send(&stream), STEP_GIVE_UP);
	assert_string_equal(stream.trouble, "cannot refresh the upload credentials: HTTP 404");
	assert_int_equal(stream.spool.state.sent, 0);
	close_run(&stream);
	free(server.asked);
}

static void a_store_needs_an_address_of_s3(void **state)
{
	static const char *const ANSWERS[] = {
		ANSWER("201 Created", "",
		       "{\"run_id\":\"r-9\",\"upload_uri_prefix\":\"gs://b/p\",\"upload_credentials\":" KEYS
		       "}"),
		NULL};
	struct stream stream;

	(void)state;
	append(0, 3);
	open_run(&stream, ANSWERS, NULL);
	assert_int_equal(stream_cut(&stream, false), 0);
	assert_int_equal(stream_send(&stream), STEP_MADE);
	assert_int_equal(stream_send(&stream), STEP_WAIT);
	assert_non_null(strstr(stream.trouble, "upload_uri_prefix is not an s3:// address"));
	close_run(&stream);
	free(server.asked);
}

static void a_refused_registration_says_why(void **state)
{
	static const char *const ANSWERS[] = {
		ANSWER("503 Unavailable", "Retry-After: 7\r\n", ""),
		ANSWER("422 Unprocessable", "",
		       "{\"detail\":[{\"loc\":[\"body\",\"tags\"],\"msg\":\"no list\"}]}"),
		NULL};
	struct stream stream;
	int64_t wait_ns;

	(void)state;
	append(0, 3);
	open_run(&stream, ANSWERS, NULL);
	assert_int_equal(stream_send(&stream), STEP_WAIT);
	assert_string_equal(stream.trouble, "cannot register the run: HTTP 503");
	wait_ns = stream.backoff.not_before_ns - monotonic_ns();
	assert_true(wait_ns > 5 * NSEC_PER_SEC && wait_ns <= 7 * NSEC_PER_SEC);
	stream.backoff.not_before_ns = 0;
	assert_int_equal(stream_send(&stream), STEP_GIVE_UP);
	assert_non_null(strstr(stream.trouble, "HTTP 422") && strstr(stream.trouble, "no list")
				? stream.trouble
				: NULL);
	assert_int_equal(stream_send(&stream), STEP_GIVE_UP);
	close_run(&stream);
	assert_true(was_asked("Idempotency-Key: "));
	free(server.asked);
}

static void a_token_is_needed(void **state)
{
	(void)state;
	settings.token = NULL;
	assert_int_equal(destination_use(&settings, NULL), -EINVAL);
}

/* ---- OTLP --------------------------------------------------------------------------------------------------- */

static void a_run_goes_as_points_and_a_record(void **state)
{
	static const char *const ANSWERS[] = {ANSWER("200 OK", "", ""), ANSWER("404 Not Found", "", ""),
					      NULL};
	struct stream stream;

	(void)state;
	append(0, 9);
	setenv("OTEL_EXPORTER_OTLP_HEADERS", "X-Scope=a%20b,authorization=Basic%20xyz", 1);
	setenv("OTEL_RESOURCE_ATTRIBUTES", "team=blue", 1);
	setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none", 1);
	open_run(&stream, ANSWERS, "otlp");
	assert_int_equal(settings.upload_interval_ns, 15 * NSEC_PER_SEC);
	assert_string_equal(stream.spool.name + strlen(stream.spool.name) - 5, ".otlp");
	assert_int_equal(stream_cut(&stream, true), 0);
	assert_true(stream_rows_left(&stream) > 0);
	/* A receiver of metrics alone knows no address for the record. */
	send_all(&stream, STEP_FINISHED);
	assert_int_equal(stream.spool.state.points_refused, 0);
	close_run(&stream);
	assert_true(was_asked("POST /v1/metrics HTTP/1.1\r\n") && was_asked("POST /v1/logs HTTP/1.1\r\n"));
	assert_true(was_asked("Content-Type: application/x-protobuf\r\n") && was_asked("X-Scope: a b\r\n") &&
		    was_asked("authorization: Basic xyz\r\n"));
	assert_false(was_asked("Content-Encoding"));
	free(server.asked);
}

/* Field 1, ExportMetricsPartialSuccess: field 1, rejected_data_points 3, and field 2, "old". */
#define PARTIAL "\x0a\x07\x08\x03\x12\x03old"

static void refused_points_are_counted_once(void **state)
{
	static const char *const ANSWERS[] = {
		ANSWER("200 OK", "", PARTIAL),
		ANSWER("400 Bad Request", "Content-Type: text/plain\r\n", " too bad "),
		ANSWER("200 OK", "", ""), NULL};
	struct stream stream;
	int64_t points;

	(void)state;
	append(0, 3);
	open_run(&stream, ANSWERS, "otlp");
	assert_int_equal(stream_cut(&stream, false), 0);
	assert_int_equal(stream_send(&stream), STEP_MADE);
	assert_int_equal(stream.spool.state.points_refused, 3);
	append(4, 9);
	assert_int_equal(stream_cut(&stream, true), 0);
	assert_int_equal(stream.spool.state.log_batch, 3);
	points = stream_rows_left(&stream);
	assert_true(points > 0);
	assert_int_equal(stream_send(&stream), STEP_MADE);
	assert_int_equal(stream.spool.state.points_refused, 3 + points);
	send_all(&stream, STEP_FINISHED);
	close_run(&stream);
	assert_true(was_asked("Content-Encoding: gzip"));
	free(server.asked);
}

static void a_receiver_that_refuses_all_keeps_the_rest(void **state)
{
	static const char *const ANSWERS[] = {ANSWER("503 Unavailable", "", ""),
					      ANSWER("401 Unauthorized", "", ""), NULL};
	struct stream stream;

	(void)state;
	append(0, 9);
	open_run(&stream, ANSWERS, "otlp");
	assert_int_equal(stream_cut(&stream, true), 0);
	assert_int_equal(stream_send(&stream), STEP_WAIT);
	stream.backoff.not_before_ns = 0;
	assert_int_equal(stream_send(&stream), STEP_GIVE_UP);
	assert_string_equal(stream.trouble, "cannot send to the receiver: HTTP 401");
	assert_int_equal(stream.spool.state.sent, 0);
	stream_close(&stream);
	/* Another process takes the run from its state, and its end is not made again. */
	assert_int_equal(stream_open(&stream, &settings, &patience, RECORDING, 0, false, "spool", "/none"),
			 0);
	assert_int_equal(stream_begin(&stream), 1);
	assert_int_equal(stream.spool.state.cut, 2);
	assert_int_equal(stream_cut(&stream, true), 0);
	assert_int_equal(stream.spool.state.cut, 2);
	close_run(&stream);
	free(server.asked);
}

/* The status of an answer, and the fate of its request. */
struct status_case {
	const char *answer;
	enum stream_step step;
	bool counted; /* its points are refused for good */
};

#define STATUS(status, step, counted) \
	{ \
		ANSWER(#status " x", "", ""), step, counted \
	}

static void answer_request(const struct status_case *one, bool log)
{
	const char *const answers[] = {log ? ANSWER("200 OK", "", "") : one->answer, one->answer, NULL};
	struct stream stream;
	int64_t points;

	unlink(RECORDING);
	append(0, 9);
	open_run(&stream, answers, "otlp");
	assert_int_equal(stream_cut(&stream, true), 0);
	if (log)
		assert_int_equal(stream_send(&stream), STEP_MADE);
	points = log ? 1 : stream_rows_left(&stream);
	if (stream_send(&stream) != one->step ||
	    stream.spool.state.points_refused != (one->counted ? points : 0))
		fail_msg("%.20s for %s: %lld points refused, '%s'", one->answer, log ? "logs" : "metrics",
			 (long long)stream.spool.state.points_refused, stream.trouble);
	assert_int_equal(stream.spool.state.sent, (one->step == STEP_MADE) + log);
	close_run(&stream);
	forget_runs();
	free(server.asked);
}

/* By the specification of OTLP: some failures pass, some concern one request, and others all of them. */
static void the_status_decides_about_points(void **state)
{
	static const struct status_case CASES[] = {
		STATUS(400, STEP_MADE, true),     STATUS(413, STEP_MADE, true),
		STATUS(422, STEP_MADE, true),     STATUS(500, STEP_MADE, true),
		STATUS(501, STEP_MADE, true),     STATUS(505, STEP_MADE, true),
		STATUS(429, STEP_WAIT, false),    STATUS(502, STEP_WAIT, false),
		STATUS(503, STEP_WAIT, false),    STATUS(504, STEP_WAIT, false),
		STATUS(401, STEP_GIVE_UP, false), STATUS(403, STEP_GIVE_UP, false),
		STATUS(404, STEP_GIVE_UP, false), STATUS(405, STEP_GIVE_UP, false),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
		answer_request(&CASES[i], false);
}

/* A receiver of metrics alone says so in several ways, unless the user has named an address for logs. */
static void the_status_decides_about_the_record(void **state)
{
	static const struct status_case SAME_ADDRESS[] = {
		STATUS(400, STEP_MADE, false),    STATUS(404, STEP_MADE, false),
		STATUS(405, STEP_MADE, false),    STATUS(415, STEP_MADE, false),
		STATUS(501, STEP_MADE, false),    STATUS(413, STEP_MADE, true),
		STATUS(401, STEP_GIVE_UP, false), STATUS(503, STEP_WAIT, false),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(SAME_ADDRESS) / sizeof(SAME_ADDRESS[0]); i++)
		answer_request(&SAME_ADDRESS[i], true);
}

/* The words of a receiver that refuses: a Status message of protobuf (field 2), or plain text. */
static void the_reason_of_a_refusal_is_told(void **state)
{
	static const struct {
		const char *answer, *trouble;
	} CASES[] = {
		{ANSWER("401 x", "Content-Type: application/x-protobuf\r\n", "\x08\x03\x12\x03why\x1a\x01z"),
		 "cannot send to the receiver: HTTP 401: why"},
		{ANSWER("401 x", "Content-Type: text/plain; charset=utf-8\r\n", "  no key \n"),
		 "cannot send to the receiver: HTTP 401: no key"},
		{ANSWER("401 x", "Content-Type: text/html\r\n", "<p>no</p>"),
		 "cannot send to the receiver: HTTP 401"},
		{ANSWER("401 x", "Content-Type: application/x-protobuf\r\n", "\x08\x03"),
		 "cannot send to the receiver: HTTP 401"},
		{ANSWER("401 x", "", "words"), "cannot send to the receiver: HTTP 401"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const char *const answers[] = {CASES[i].answer, NULL};
		struct stream stream;

		unlink(RECORDING);
		append(0, 9);
		open_run(&stream, answers, "otlp");
		assert_int_equal(stream_cut(&stream, true), 0);
		assert_int_equal(stream_send(&stream), STEP_GIVE_UP);
		assert_string_equal(stream.trouble, CASES[i].trouble);
		close_run(&stream);
		forget_runs();
		free(server.asked);
	}
}

static void a_recording_without_an_end_gets_one(void **state)
{
	static const char *const ANSWERS[] = {NULL};
	struct stream stream;

	(void)state;
	append(0, 8);
	open_run(&stream, ANSWERS, "otlp");
	assert_int_equal(stream_cut(&stream, false), 0);
	assert_int_equal(stream.spool.state.cut, 1);
	assert_int_equal(stream_cut(&stream, true), 0);
	assert_true(stream.spool.state.outcome.known && stream.spool.state.outcome.failed);
	assert_true(stream.spool.state.cut > 1 && stream.spool.state.log_batch == stream.spool.state.cut);
	close_run(&stream);
	free(server.asked);
}

/* Before the first step of a run there are samples, and no points. */
static void a_request_without_points_is_not_made(void **state)
{
	static const char *const ANSWERS[] = {NULL};
	struct stream stream;

	(void)state;
	put_text(RECORDING, "{\"timestamp\":1775044801,\"host\":\"h\",\"tracked_pid\":7,\"sample\":0,"
			    "\"elapsed_secs\":1,\"memory\":{\"process_memory_mib\":1},"
			    "\"run_start\":{\"run_id\":\"id-1\"}}\n");
	open_run(&stream, ANSWERS, "otlp");
	assert_int_equal(stream_cut(&stream, false), 0);
	assert_int_equal(stream.spool.state.rows, 1);
	assert_int_equal(stream.spool.state.cut, 0);
	assert_int_equal(stream_send(&stream), STEP_IDLE);
	close_run(&stream);
	free(server.asked);
}

/* A batch has 2 MiB of text at most, and a sample. */
static void many_samples_are_several_batches(void **state)
{
	enum { SAMPLES = 60000 };
	static const char *const ANSWERS[] = {NULL};
	FILE *file = fopen(RECORDING, "we");
	struct stream stream;

	(void)state;
	for (int i = 0; i < SAMPLES; i++)
		fprintf(file,
			"{\"timestamp\":1775044800.5,\"host\":\"h\",\"tracked_pid\":7,\"sample\":%d%s}\n", i,
			i == 0 ? ",\"run_start\":{\"run_id\":\"id-1\"}" : "");
	fclose(file);
	open_run(&stream, ANSWERS, NULL);
	assert_int_equal(stream_cut(&stream, false), 0);
	assert_int_equal(stream.spool.state.rows, SAMPLES);
	assert_true(stream.spool.state.cut > 1);
	assert_int_equal(stream_rows_left(&stream), SAMPLES);
	close_run(&stream);
	free(server.asked);
}

/* A damaged batch, and one that has gone. */
static void a_batch_that_cannot_be_read_has_no_samples(void **state)
{
	static const char *const ANSWERS[] = {NULL}, *const DESTINATIONS[] = {NULL, "otlp"};

	(void)state;
	append(0, 9);
	for (size_t i = 0; i < 2; i++) {
		struct stream stream;
		char path[300];

		open_run(&stream, ANSWERS, DESTINATIONS[i]);
		assert_int_equal(stream_cut(&stream, true), 0);
		assert_true(stream_rows_left(&stream) > 0);
		snprintf(path, sizeof path, "spool/%s.000000%s.gz", stream.spool.name,
			 stream.spool.batch_ending);
		put_text(path, "damaged");
		assert_int_equal(stream_rows_left(&stream), 0);
		assert_int_equal(unlink(path), 0);
		assert_int_equal(stream_rows_left(&stream), 0);
		close_run(&stream);
		free(server.asked);
	}
}

static int use_otlp(const char *name, const char *value)
{
	int r;

	setenv(name, value, 1);
	settings.upload_interval_ns = 60 * NSEC_PER_SEC;
	r = destination_use(&settings, "otlp");
	unsetenv(name);
	return r;
}

static void settings_of_otlp_are_checked(void **state)
{
	static const char *const BAD[][2] = {{"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318"},
					     {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "grpc://x"},
					     {"OTEL_EXPORTER_OTLP_HEADERS", "novalue"},
					     {"OTEL_EXPORTER_OTLP_METRICS_HEADERS", "a=b%0a"},
					     {"OTEL_EXPORTER_OTLP_METRICS_HEADERS", "a b=c"},
					     {"OTEL_EXPORTER_OTLP_TIMEOUT", "0"},
					     {"OTEL_EXPORTER_OTLP_TIMEOUT", "10s"},
					     {"OTEL_EXPORTER_OTLP_COMPRESSION", "zip"},
					     {"TRACKER_OTLP_STEP", "86401"},
					     {"TRACKER_OTLP_STEP", "-1"},
					     {"TRACKER_OTLP_MACHINE", "perhaps"},
					     {"TRACKER_OTLP_PROGRAMS", "2"}};

	(void)state;
	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
		if (use_otlp(BAD[i][0], BAD[i][1]) != -EINVAL)
			fail_msg("%s=%s is taken", BAD[i][0], BAD[i][1]);
	assert_int_equal(use_otlp("TRACKER_OTLP_MACHINE", "no"), 0);
	assert_int_equal(((const struct otlp_settings *)settings.of_destination)->extras, 0);
	assert_int_equal(use_otlp("TRACKER_OTLP_PROGRAMS", "yes"), 0);
	assert_int_equal(((const struct otlp_settings *)settings.of_destination)->extras, OTLP_WITH_PROGRAMS);
	setenv("TRACKER_OTLP_PROGRAMS", "yes", 1);
	assert_int_equal(use_otlp("TRACKER_OTLP_MACHINE", "yes"), 0);
	unsetenv("TRACKER_OTLP_PROGRAMS");
	assert_int_equal(((const struct otlp_settings *)settings.of_destination)->extras,
			 OTLP_WITH_PROGRAMS | OTLP_WITH_MACHINE);
	/* A request for each step, but no more than four a second and at least one a minute. */
	assert_int_equal(use_otlp("TRACKER_OTLP_STEP", "30"), 0);
	assert_int_equal(settings.upload_interval_ns, 30 * NSEC_PER_SEC);
	assert_int_equal(use_otlp("TRACKER_OTLP_STEP", "86400"), 0);
	assert_int_equal(settings.upload_interval_ns, 60 * NSEC_PER_SEC);
	assert_int_equal(use_otlp("TRACKER_OTLP_STEP", "1ms"), 0);
	assert_int_equal(settings.upload_interval_ns, 250 * NSEC_PER_MSEC);
	assert_int_equal(use_otlp("TRACKER_OTLP_STEP", "0"), 0);
	assert_int_equal(settings.upload_interval_ns, 15 * NSEC_PER_SEC);
	assert_int_equal(use_otlp("TRACKER_UPLOAD_INTERVAL", "60"), 0);
	assert_int_equal(settings.upload_interval_ns, 60 * NSEC_PER_SEC);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_short_run_goes_with_its_finish, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(a_long_run_becomes_objects, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(keys_that_have_expired_are_replaced_once, enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(a_refused_registration_says_why, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(batches_that_were_not_sent_go_together, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(new_keys_that_are_refused_end_the_attempts, enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(a_store_needs_an_address_of_s3, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(a_token_is_needed, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(a_run_goes_as_points_and_a_record, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(refused_points_are_counted_once, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(a_receiver_that_refuses_all_keeps_the_rest, enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(a_recording_without_an_end_gets_one, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(the_status_decides_about_points, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(the_status_decides_about_the_record, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(the_reason_of_a_refusal_is_told, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(a_request_without_points_is_not_made, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(many_samples_are_several_batches, enter, scratch_leave),
		cmocka_unit_test_setup_teardown(a_batch_that_cannot_be_read_has_no_samples, enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(settings_of_otlp_are_checked, enter, scratch_leave),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
