/* Tests of src/stream/stream_otlp.c: requests of a run before a receiver of the test's own, and how its answers are judged. */
#include "captured.h"
#include "loopback.h"

#include <errno.h>

#include "base/cleanup.h"
#include "format/gzip.h"
#include "net/redacted_message.h"
#include "stream/stream.h"

static struct loopback server;
static struct stream stream;
static struct patience patience;
static struct settings settings;

static int enter(void **state)
{
	int error = capture_streams(state);

	setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none", 1);
	setenv("TRACKER_OTLP_STEP", "0", 1);
	message_enable(true);
	patience = PATIENCE;
	return error;
}

static int leave(void **state)
{
	static const char *const NAMES[] = {"COMPRESSION", "ENDPOINT", "LOGS_ENDPOINT", "METRICS_ENDPOINT",
					    "HEADERS"};

	for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
		char name[64];

		snprintf(name, sizeof name, "OTEL_EXPORTER_OTLP_%s", NAMES[i]);
		unsetenv(name);
	}
	unsetenv("TRACKER_OTLP_STEP");
	unsetenv("OTEL_METRICS_EXPORTER");
	unsetenv("OTEL_LOGS_EXPORTER");
	message_enable(false);
	return free_streams(state);
}

static void append(int sample, const char *more)
{
	FILE *file = fopen("r.jsonl", "ae");

	fprintf(file,
		"{\"timestamp\":%d.5,\"host\":\"h\",\"tracked_pid\":7,\"sample\":%d,\"cpu\":{\"process_utime_"
		"secs\":0.5}%s}\n",
		1775044800 + sample, sample, more);
	fclose(file);
}

#define RUN_START ",\"run_start\":{\"run_id\":\"id-1\"}"
#define RUN_END ",\"run_end\":{\"exit_code\":0}"
static const char SPOOLED[] = "spool/h-20260401T120000.500000Z-7.otlp";

static void begin_run(void)
{
	settings = (struct settings){0};
	assert_int_equal(destination_use(&settings, "otlp"), 0);
	assert_int_equal(stream_open(&stream, &settings, &patience, "r.jsonl", 0, false, "spool", "/none"),
			 0);
	assert_int_equal(stream_begin(&stream), 1);
}

/* A run of two samples and its end: one request of metrics, and one of logs, before a receiver with these answers. */
static void serve_run(const char *const answers[])
{
	loopback_serve(&server, answers);
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url, 1);
	append(0, RUN_START);
	append(1, RUN_END);
	begin_run();
	assert_int_equal(stream_cut(&stream, false), 0);
	assert_int_equal(stream.spool.state.cut, 2);
	assert_int_equal(stream.spool.state.log_batch, 2);
}

#define SERVE_RUN(...) serve_run((const char *const[]){__VA_ARGS__, NULL})

static void send_step(enum stream_step step)
{
	assert_int_equal(stream_send(&stream), step);
}

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

static void expect_trouble(const char *text)
{
	if (strcmp(stream.trouble, text) != 0)
		fail_msg("\"%s\" is not \"%s\"", stream.trouble, text);
}

#define TAKEN ANSWER("200 OK", "", "")
#define STATUS(status) ANSWER(status " x", "", "")

/* ---- requests ----------------------------------------------------------------------------------------------- */

static void metrics_and_logs_have_their_addresses(void **state)
{
	(void)state;
	setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret", 1);
	SERVE_RUN(TAKEN, TAKEN);
	assert_true(stream_rows_left(&stream) > 0);
	send_step(STEP_MADE);
	/* The record of the end makes no point. */
	assert_int_equal(stream_rows_left(&stream), 0);
	send_step(STEP_MADE);
	assert_int_equal(stream.spool.state.objects, 2);
	send_step(STEP_FINISHED);
	end_run(2);
	assert_true(loopback_was_asked(&server, "POST /v1/metrics HTTP"));
	assert_true(loopback_was_asked(&server, "POST /v1/logs HTTP"));
	assert_true(loopback_was_asked(&server, "Content-Type: application/x-protobuf\r\n"));
	assert_true(loopback_was_asked(&server, "api-key: secret\r\n"));
	assert_false(loopback_was_asked(&server, "Content-Encoding"));
	assert_true(loopback_was_asked(&server, "id-1"));
	assert_printed("err", "");
	forget();
}

static void a_compressed_request_says_so(void **state)
{
	(void)state;
	setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip", 1);
	SERVE_RUN(TAKEN, TAKEN);
	send_step(STEP_MADE);
	end_run(1);
	assert_true(loopback_was_asked(&server, "Content-Encoding: gzip\r\n"));
	assert_true(loopback_was_asked(&server, "\r\n\r\n\x1f\x8b"));
	assert_false(loopback_was_asked(&server, "id-1"));
	forget();
}

static void a_signal_that_is_off_is_not_sent(void **state)
{
	static const char *const ANSWERS[] = {TAKEN, TAKEN, NULL};

	(void)state;
	for (int logs = 0; logs < 2; logs++) {
		setenv("OTEL_METRICS_EXPORTER", logs ? "none" : "otlp", 1);
		setenv("OTEL_LOGS_EXPORTER", logs ? "otlp" : "none", 1);
		loopback_serve(&server, ANSWERS);
		setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url, 1);
		append(0, RUN_START);
		append(1, RUN_END);
		begin_run();
		assert_int_equal(stream_cut(&stream, false), 0);
		assert_int_equal(stream.spool.state.cut, 1);
		assert_int_equal(stream.spool.state.log_batch, logs);
		send_step(STEP_MADE);
		send_step(STEP_FINISHED);
		end_run(1);
		assert_int_equal(loopback_was_asked(&server, "POST /v1/logs"), logs);
		forget();
	}
}

/* 240 points are one request. */
static void a_long_recording_is_many_requests(void **state)
{
	static const char *const ANSWERS[] = {TAKEN, NULL};

	(void)state;
	loopback_serve(&server, ANSWERS);
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url, 1);
	append(0, RUN_START);
	for (int i = 1; i < 500; i++)
		append(i, "");
	begin_run();
	assert_int_equal(stream_cut(&stream, false), 0);
	assert_int_equal(stream.spool.state.cut, 3);
	assert_int_equal(stream.spool.state.rows, 500);
	assert_int_equal(stream.spool.state.log_batch, 0);
	send_step(STEP_MADE);
	/* Another process continues, and the run has no end of its own. */
	stream_close(&stream);
	begin_run();
	assert_int_equal(stream.spool.state.sent, 1);
	assert_int_equal(stream_cut(&stream, true), 0);
	assert_true(stream.spool.state.outcome.known);
	assert_int_equal(stream.spool.state.log_batch, stream.spool.state.cut);
	assert_true(stream.spool.state.cut >= 4);
	end_run(1);
	forget();
}

/* The batches that are cut already are sent, too. */
static void a_run_without_its_series_goes_on_with_new_ones(void **state)
{
	static const char *const WITHOUT[] = {"\"series\":\"", "\"payload\":\""};
	static const char *const ANSWERS[] = {TAKEN, NULL};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char path[100], *text, *at, *end;

		loopback_serve(&server, ANSWERS);
		setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url, 1);
		append(0, RUN_START);
		begin_run();
		assert_int_equal(stream_cut(&stream, false), 0);
		assert_int_equal(stream.spool.state.cut, 1);
		stream_close(&stream);
		snprintf(path, sizeof path, "%s.state", SPOOLED);
		text = get_file(path, NULL);
		at = strstr(text, WITHOUT[i]);
		assert_non_null(at);
		at = strchr(at, ':') + 1;
		for (end = at + 1; *end != '"'; end++)
			end += *end == '\\';
		memset(at, ' ', (size_t)(end + 1 - at));
		memcpy(at, "null", 4);
		/* A state of a run that is registered needs no payload. */
		if (i == 1) {
			at = strstr(text, "\"run_id\":null,\"uri_prefix\":null");
			assert_non_null(at);
			memcpy(at, "\"run_id\":\"id\",\"uri_prefix\":\"u\"",
			       strlen("\"run_id\":\"id\",\"uri_prefix\":\"u\""));
			memset(at + strlen("\"run_id\":\"id\",\"uri_prefix\":\"u\""), ' ',
			       strlen("\"run_id\":null,\"uri_prefix\":null") -
				       strlen("\"run_id\":\"id\",\"uri_prefix\":\"u\""));
		}
		put_text(path, text);
		free(text);
		begin_run();
		assert_int_equal(stream.spool.state.cut, 1);
		assert_non_null(stream.spool.state.series);
		assert_non_null(stream.spool.state.payload);
		end_run(0);
		forget();
	}
}

/* The batch or the state cannot be written: the next cut has the same samples. */
static void a_cut_that_fails_changes_nothing(void **state)
{
	static const char *const NAMES[] = {".new", ".state", ".000000.pb.gz", ".000001.pb.gz"};
	static const char *const ANSWERS[] = {TAKEN, NULL};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		char path[100], *series;

		snprintf(path, sizeof path, "%s%s", SPOOLED, NAMES[i]);
		loopback_serve(&server, ANSWERS);
		setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url, 1);
		append(0, RUN_START);
		append(1, RUN_END);
		begin_run();
		series = strdup(stream.spool.state.series);
		(void)!unlink(path);
		assert_int_equal(mkdir(path, 0700), 0);
		assert_int_equal(stream_cut(&stream, false), -EISDIR);
		assert_int_equal(stream.spool.state.cut, 0);
		assert_int_equal(stream.spool.state.rows, 0);
		assert_int_equal(stream.spool.state.offset, 0);
		assert_int_equal(stream.spool.state.log_batch, 0);
		assert_false(stream.spool.state.outcome.known);
		assert_string_equal(stream.spool.state.series, series);
		free(series);
		assert_int_equal(rmdir(path), 0);
		assert_int_equal(stream_cut(&stream, false), 0);
		assert_int_equal(stream.spool.state.cut, 2);
		assert_int_equal(stream.spool.state.rows, 2);
		end_run(0);
		forget();
	}
}

/* ---- answers ------------------------------------------------------------------------------------------------ */

enum judged {
	LATER,      /* tried again */
	GIVEN_UP,   /* no request would be taken */
	REFUSED,    /* this one is lost, and counted */
	NOT_WANTED, /* this one is not taken, which is not counted */
};

static void expect_judged(const char *answer, bool log, enum judged judged)
{
	int64_t points;

	if (log)
		SERVE_RUN(TAKEN, answer);
	else
		SERVE_RUN(answer);
	points = log ? 1 : stream_rows_left(&stream);
	assert_true(points > 0);
	if (log)
		send_step(STEP_MADE);
	send_step(judged == LATER ? STEP_WAIT : judged == GIVEN_UP ? STEP_GIVE_UP : STEP_MADE);
	assert_int_equal(stream.spool.state.sent, log + (judged == REFUSED || judged == NOT_WANTED));
	assert_int_equal(stream.spool.state.objects, log);
	assert_int_equal(stream.spool.state.points_refused, judged == REFUSED ? points : 0);
	assert_int_equal(!stream.trouble[0], judged == REFUSED || judged == NOT_WANTED);
	end_run(log ? 2 : 1);
	forget();
}

static void each_status_of_metrics_is_judged(void **state)
{
	static const struct {
		const char *answer;
		enum judged judged;
	} CASES[] = {
		{STATUS("400"), REFUSED},  {STATUS("413"), REFUSED},  {STATUS("422"), REFUSED},
		{STATUS("500"), REFUSED},  {STATUS("501"), REFUSED},  {STATUS("505"), REFUSED},
		{STATUS("429"), LATER},    {STATUS("502"), LATER},    {STATUS("503"), LATER},
		{STATUS("504"), LATER},    {STATUS("408"), LATER},    {STATUS("401"), GIVEN_UP},
		{STATUS("404"), GIVEN_UP}, {STATUS("405"), GIVEN_UP}, {STATUS("415"), GIVEN_UP},
		{STATUS("301"), GIVEN_UP},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
		expect_judged(CASES[i].answer, false, CASES[i].judged);
	/* No answer at all. */
	expect_judged("", false, LATER);
}

/* A receiver at the common address may take metrics alone. */
static void each_status_of_logs_is_judged(void **state)
{
	static const struct {
		const char *answer;
		enum judged common, own;
	} CASES[] = {
		{STATUS("400"), NOT_WANTED, REFUSED},
		{STATUS("404"), NOT_WANTED, GIVEN_UP},
		{STATUS("405"), NOT_WANTED, GIVEN_UP},
		{STATUS("415"), NOT_WANTED, GIVEN_UP},
		{STATUS("501"), NOT_WANTED, REFUSED},
		{STATUS("413"), REFUSED, REFUSED},
		{STATUS("503"), LATER, LATER},
		{STATUS("401"), GIVEN_UP, GIVEN_UP},
		{"", LATER, LATER},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		int64_t found;

		expect_judged(CASES[i].answer, true, CASES[i].common);
		/* The server's address is known once it listens. */
		append(0, RUN_START);
		append(1, RUN_END);
		loopback_serve(&server, (const char *const[]){TAKEN, CASES[i].answer, NULL});
		setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url, 1);
		setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", server.url, 1);
		begin_run();
		assert_int_equal(stream_cut(&stream, false), 0);
		send_step(STEP_MADE);
		send_step(CASES[i].own == LATER      ? STEP_WAIT
			  : CASES[i].own == GIVEN_UP ? STEP_GIVE_UP
						     : STEP_MADE);
		found = stream.spool.state.points_refused;
		assert_int_equal(found, CASES[i].own == REFUSED);
		end_run(2);
		unsetenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT");
		forget();
	}
}

#define X50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X250 X50 X50 X50 X50 X50
#define PROTOBUF "Content-Type: application/x-protobuf\r\n"

/* Errors are messages of their own kind, or texts. A page is for people. */
static void the_reason_of_a_refusal_is_told(void **state)
{
	static const struct {
		const char *answer, *trouble;
	} CASES[] = {
		{ANSWER("401 x", PROTOBUF, "\x08\x05\x12\x03why"),
		 "cannot send to the receiver: HTTP 401: why"},
		{ANSWER("401 x", PROTOBUF, "\x0a\x03yes\x12\x02no"),
		 "cannot send to the receiver: HTTP 401: no"},
		{ANSWER("401 x", PROTOBUF, "\x10\x05"), "cannot send to the receiver: HTTP 401"},
		{ANSWER("401 x", PROTOBUF, "text"), "cannot send to the receiver: HTTP 401"},
		{ANSWER("401 x", "Content-Type: text/plain; charset=utf-8\r\n", " why \n"),
		 "cannot send to the receiver: HTTP 401: why"},
		{ANSWER("401 x", "Content-Type: text/html\r\n", "why"),
		 "cannot send to the receiver: HTTP 401"},
		{ANSWER("401 x", "", "why"), "cannot send to the receiver: HTTP 401"},
		{ANSWER("401 x", "Content-Type: text/plain\r\n", ""),
		 "cannot send to the receiver: HTTP 401"},
		{ANSWER("401 x", "Content-Type: text/plain\r\n", X250),
		 "cannot send to the receiver: HTTP 401: " X250},
		{ANSWER("401 x", "Content-Type: text/plain\r\n", X250 "y"),
		 "cannot send to the receiver: HTTP 401: " X250},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		SERVE_RUN(CASES[i].answer);
		send_step(STEP_GIVE_UP);
		expect_trouble(CASES[i].trouble);
		end_run(1);
		forget();
	}
}

/* Points that the receiver has not taken are told at the end, with its first reason. */
static void a_partial_success_is_counted(void **state)
{
	(void)state;
	SERVE_RUN(ANSWER("200 OK", PROTOBUF, "\x0a\x07\x08\x02\x12\x03why"),
		  ANSWER("200 OK", PROTOBUF, "\x0a\x02\x08\x05"));
	send_step(STEP_MADE);
	assert_int_equal(stream.spool.state.points_refused, 2);
	assert_int_equal(stream.spool.state.objects, 1);
	/* One of logs has no points. */
	send_step(STEP_MADE);
	assert_int_equal(stream.spool.state.points_refused, 2);
	assert_printed("err", "");
	send_step(STEP_FINISHED);
	end_run(2);
	assert_printed_has("err", "the receiver refused 2 points of this run for good: why\n");
	forget();
	/* A later process knows the number alone. */
	SERVE_RUN(STATUS("400"), STATUS("413"));
	send_step(STEP_MADE);
	stream_close(&stream);
	begin_run();
	assert_true(stream.spool.state.points_refused > 0);
	send_step(STEP_MADE);
	send_step(STEP_FINISHED);
	end_run(2);
	assert_printed_has("err", " points of this run for good: HTTP 413\n");
	forget();
	SERVE_RUN(STATUS("400"), TAKEN);
	send_step(STEP_MADE);
	stream_close(&stream);
	begin_run();
	send_step(STEP_MADE);
	send_step(STEP_FINISHED);
	end_run(2);
	assert_printed_has("err", " points of this run for good: an earlier process saw why\n");
	forget();
}

/* Another process has removed it. */
static void a_batch_that_is_gone_is_stepped_over(void **state)
{
	char path[100];

	(void)state;
	snprintf(path, sizeof path, "%s.000000.pb.gz", SPOOLED);
	SERVE_RUN(TAKEN);
	put_text(path, "damaged");
	assert_int_equal(stream_rows_left(&stream), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(stream_rows_left(&stream), 0);
	send_step(STEP_MADE);
	assert_int_equal(stream.spool.state.objects, 0);
	send_step(STEP_MADE);
	assert_int_equal(stream.spool.state.objects, 1);
	end_run(1);
	assert_printed_has("err", "batch 0 of the spool");
	forget();
}

#define unit_test_of_otlp(test) cmocka_unit_test_setup_teardown(test, enter, leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_otlp(metrics_and_logs_have_their_addresses),
		unit_test_of_otlp(a_compressed_request_says_so),
		unit_test_of_otlp(a_signal_that_is_off_is_not_sent),
		unit_test_of_otlp(a_long_recording_is_many_requests),
		unit_test_of_otlp(a_run_without_its_series_goes_on_with_new_ones),
		unit_test_of_otlp(a_cut_that_fails_changes_nothing),
		unit_test_of_otlp(each_status_of_metrics_is_judged),
		unit_test_of_otlp(each_status_of_logs_is_judged),
		unit_test_of_otlp(the_reason_of_a_refusal_is_told),
		unit_test_of_otlp(a_partial_success_is_counted),
		unit_test_of_otlp(a_batch_that_is_gone_is_stepped_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
