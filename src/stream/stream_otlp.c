/*
 * A run on its way to a receiver of OTLP. See destination.h. It needs no registration, keys or finish. A batch is a whole request,
 * encoded and compressed. The last one is the log record of the run's end. The state has the attributes of the run as payload, and
 * the totals of its series.
 */
#include "stream/stream_steps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/debug.h"
#include "format/gzip.h"
#include "format/otlp_encode.h"
#include "format/otlp_wire.h"
#include "net/redacted_message.h"
#include "stream/end_figures.h"
#include "stream/otlp_settings.h"

enum {
	MOST_REQUEST_BYTES = 16 << 20,
	MOST_TEXT_BYTES = 256 << 10,
	CONNECT_TIMEOUT_MS = 10000,
	MOST_ANSWER_BYTES = 256 << 10,
	LONGEST_DETAIL = 250,
};

struct otlp_stream {
	const struct otlp_settings *settings;
	struct otlp_resource resource;
	struct otlp_run run;
	char refusal[200]; /* why the receiver has refused points for good. "": it has not */
};

static void open_otlp(struct stream *stream)
{
	*(struct otlp_stream *)stream->own =
		(struct otlp_stream){.settings = stream->settings->of_destination, .resource = OTLP_RESOURCE};
}

static void close_otlp(struct stream *stream)
{
	otlp_resource_done(&((struct otlp_stream *)stream->own)->resource);
}

/* ---- the state of a run ------------------------------------------------------------------------------------- */

static int replace_text(char **text, const struct buffer *by)
{
	char *copy = buffer_error(by) ? NULL : strdup(by->data ? by->data : "");

	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

static int keep_series(struct stream *stream)
{
	struct otlp_stream *own = stream->own;
	CLEANUP_BUFFER struct buffer text = BUFFER(MOST_TEXT_BYTES);

	otlp_run_format(&own->run, &text);
	return replace_text(&stream->spool.state.series, &text);
}

static int begin_otlp(struct stream *stream, const struct frame *first)
{
	struct otlp_stream *own = stream->own;
	CLEANUP_BUFFER struct buffer text = BUFFER(MOST_TEXT_BYTES);
	int r;

	otlp_resource_of_run(&own->resource, first, stream->spool.name);
	otlp_set_given_attributes(&own->resource);
	otlp_run_begin(&own->run, first, own->settings->step_ns, own->settings->extras);
	otlp_resource_format(&own->resource, &text);
	r = replace_text(&stream->spool.state.payload, &text);
	return r < 0 ? r : keep_series(stream);
}

static int adopt_otlp(struct stream *stream)
{
	struct otlp_stream *own = stream->own;
	const struct spool_state *state = &stream->spool.state;

	if (!state->payload || !state->series)
		return -EBADMSG;
	(void)otlp_resource_parse(&own->resource, state->payload, strlen(state->payload));
	return otlp_run_parse(state->series, strlen(state->series), &own->run);
}

/* ---- cut ---------------------------------------------------------------------------------------------------- */

/* The requests that a cut makes. */
struct requests {
	struct otlp_batch points;
	struct buffer log; /* empty until the end of the run */
	int64_t rows;      /* samples */
};

static void end_series(struct stream *stream, struct requests *requests, const struct frame *last)
{
	struct otlp_stream *own = stream->own;
	CLEANUP_BUFFER struct buffer figures = BUFFER(MOST_TEXT_BYTES);

	otlp_run_end(&own->run, &requests->points);
	if (last && own->settings->logs.on)
		read_end_figures(&figures, stream->recording.fd, stream->patience);
	otlp_encode_end(&requests->log, &own->resource, &own->run, last,
			scan_bytes(figures.data, figures.length));
}

/* Returns 1 if there may be more, 0 if that was all for now, or a negative errno. */
static int fill_requests(struct stream *stream, struct requests *requests)
{
	struct otlp_stream *own = stream->own;
	bool full = false;

	while (!full) {
		const struct frame *frame = NULL;
		int r = stream_next(stream, requests->rows, &frame);

		if (r > 0) {
			full = otlp_run_feed(&own->run, frame, &requests->points);
			requests->rows++;
		}
		if (r >= 0 && stream->spool.state.outcome.known) {
			end_series(stream, requests, frame);
			return 0;
		}
		if (r <= 0)
			return r;
	}
	return 1;
}

/* Writes a batch behind those that are counted, and counts it in memory. */
static int write_request(struct stream *stream, const struct buffer *request)
{
	CLEANUP_BUFFER struct buffer bytes = BUFFER(MOST_REQUEST_BYTES);
	struct gzip gzip;
	int r = buffer_error(request), closed;

	if (r < 0 || !request->length)
		return r;
	r = gzip_open(&gzip, &bytes);
	if (r < 0)
		return r;
	r = gzip_add(&gzip, request->data, request->length);
	closed = gzip_close(&gzip);
	if (r == 0)
		r = closed < 0 ? closed : spool_write_batch(&stream->spool, bytes.data, bytes.length);
	if (r < 0)
		return r;
	debug_say("follower", 0, "request %lld is cut: bytes %zu, compressed %zu",
		  (long long)stream->spool.state.cut, request->length, bytes.length);
	stream->spool.state.cut++;
	return 0;
}

static int commit_state(struct stream *stream, const struct requests *requests)
{
	struct spool_state *state = &stream->spool.state;
	const struct otlp_stream *own = stream->own;
	CLEANUP_BUFFER struct buffer metrics = BUFFER(MOST_REQUEST_BYTES);
	int r = 0;

	if (own->settings->metrics.on) {
		otlp_encode_metrics(&metrics, &own->resource, &requests->points);
		r = write_request(stream, &metrics);
	}
	if (r == 0 && own->settings->logs.on && requests->log.length) {
		state->log_batch = state->cut + 1;
		r = write_request(stream, &requests->log);
	}
	if (r == 0)
		r = keep_series(stream);
	state->rows += requests->rows;
	state->offset = stream->recording.fd >= 0 ? stream->recording.offset : state->offset;
	return r == 0 ? spool_write(&stream->spool) : r;
}

/* Cuts with `make`, or leaves everything as it was. */
static int cut_with(struct stream *stream, int (*make)(struct stream *stream, struct requests *requests))
{
	struct spool_state *state = &stream->spool.state, before = *state;
	struct otlp_stream *own = stream->own;
	struct otlp_run run_before = own->run;
	CLEANUP_FREE struct requests *requests = calloc(1, sizeof(*requests));
	int r, more;

	if (!requests)
		return -ENOMEM;
	requests->log = BUFFER(MOST_REQUEST_BYTES);
	r = more = make(stream, requests);
	if (r >= 0 && (requests->rows || requests->log.length))
		r = commit_state(stream, requests);
	buffer_done(&requests->log);
	if (r >= 0)
		return more;
	own->run = run_before;
	before.series = state->series;
	*state = before;
	(void)keep_series(stream);
	if (stream->recording.fd >= 0)
		recording_rewind(&stream->recording, state->offset);
	return r;
}

static int cut_otlp(struct stream *stream)
{
	return cut_with(stream, fill_requests);
}

static int make_end(struct stream *stream, struct requests *requests)
{
	stream->spool.state.outcome.known = true;
	end_series(stream, requests, NULL);
	return 0;
}

static int end_otlp(struct stream *stream)
{
	return cut_with(stream, make_end);
}

/* ---- send --------------------------------------------------------------------------------------------------- */

static bool is_log(const struct stream *stream, int64_t number)
{
	return stream->spool.state.log_batch == number + 1;
}

/* Reads a batch as it was before compression. */
static int read_request(const struct stream *stream, int64_t number, struct buffer *ret_request)
{
	CLEANUP_BUFFER struct buffer bytes = BUFFER(0);
	int r = spool_read_batch(&stream->spool, number, &bytes);

	return r < 0 ? r : gunzip(bytes.data, bytes.length, ret_request);
}

static int64_t points_in_batch(const struct stream *stream, int64_t number)
{
	CLEANUP_BUFFER struct buffer request = BUFFER(MOST_REQUEST_BYTES);
	int64_t points = 0;

	if (!is_log(stream, number) && read_request(stream, number, &request) == 0)
		points = otlp_count_points(request.data, request.length);
	return points > 0 ? points : 0;
}

/*
 * By the specification, 429, 502, 503 and 504 are for a later attempt, and any other failure is final for this request. A
 * refusal that concerns all requests (no permission, no such address, a redirect) ends the attempts and keeps the rest.
 */
static bool is_final_for_request(long status)
{
	return status == 400 || status == 413 || status == 422 ||
	       (status >= 500 && status != 502 && status != 503 && status != 504);
}

/* Errors are a Status message (its field 2 is the text), or plain text. */
static void describe_otlp_answer(const struct http_answer *answer, struct outcome *outcome)
{
	struct scan body = scan_bytes(answer->body.data, answer->body.length), text = body;
	struct otlp_field field;
	char type[80] = "";

	if (answer->error || outcome->verdict == VERDICT_DONE || !answer->body.length)
		return;
	(void)http_header(answer, "Content-Type", type, sizeof(type));
	if (strncmp(type, "application/x-protobuf", 22) == 0) {
		text.end = text.at;
		while (otlp_next_field(&body, &field) > 0)
			if (field.number == 2 && field.wire == WIRE_BYTES)
				text = field.bytes;
	} else if (strncmp(type, "text/plain", 10) != 0) {
		return;
	}
	text = scan_trim(text);
	if (scan_left(&text) > LONGEST_DETAIL)
		text.end = text.at + LONGEST_DETAIL;
	outcome_add_detail(outcome, text.at, scan_left(&text));
}

static void post_signal(struct stream *stream, const struct otlp_signal *signal, const struct buffer *bytes,
			struct http_answer *answer, struct outcome *ret_outcome)
{
	CLEANUP_BUFFER struct buffer plain = BUFFER(MOST_REQUEST_BYTES);
	const struct buffer *body = bytes;
	struct http_request request = {
		.method = "POST",
		.url = signal->url,
		.certificate = signal->certificate,
		.connect_timeout_ms = CONNECT_TIMEOUT_MS,
		.total_timeout_ms = signal->timeout_ms,
		.most_answer_bytes = MOST_ANSWER_BYTES,
	};
	size_t count = 0;

	request.headers[count++] = "Content-Type: application/x-protobuf";
	if (signal->gzip)
		request.headers[count++] = "Content-Encoding: gzip";
	else if (gunzip(bytes->data, bytes->length, &plain) == 0)
		body = &plain;
	for (size_t i = 0; i < signal->header_count; i++)
		request.headers[count++] = signal->headers[i];
	request.body = body->data;
	request.body_length = body->length;
	http_send(&stream->http, &request, answer);
	outcome_of_answer(answer, ret_outcome);
	describe_otlp_answer(answer, ret_outcome);
}

/* The receiver has the request and will not take these points, now or later. Told at the end of the run. */
static void count_refused(struct stream *stream, int64_t points, const char *reason)
{
	struct otlp_stream *own = stream->own;

	stream->spool.state.points_refused += points;
	if (!own->refusal[0])
		snprintf(own->refusal, sizeof(own->refusal), "%s", reason);
}

static void take_partial_success(struct stream *stream, const struct http_answer *answer)
{
	struct outcome partial = {.verdict = VERDICT_DONE};
	int64_t rejected;
	struct scan text;

	if (otlp_parse_answer(answer->body.data, answer->body.length, &rejected, &text) < 0 || rejected <= 0)
		return;
	outcome_add_detail(&partial, text.at, scan_left(&text));
	count_refused(stream, rejected, partial.reason[0] ? partial.reason : "no reason given");
}

/* A receiver that takes only metrics answers "not found" at the address of the logs. That does not count as a failure. */
static bool takes_no_logs(const struct otlp_settings *settings, long status)
{
	return !settings->logs.has_own_url &&
	       (status == 400 || status == 404 || status == 405 || status == 415 || status == 501);
}

static enum stream_step judge_answer(struct stream *stream, const struct http_answer *answer,
				     const struct outcome *outcome)
{
	const struct otlp_stream *own = stream->own;
	int64_t number = stream->spool.state.sent;
	bool log = is_log(stream, number), answered = !answer->error;

	if (outcome->verdict == VERDICT_DONE) {
		if (!log)
			take_partial_success(stream, answer);
	} else if (answered && log && takes_no_logs(own->settings, answer->status)) {
		debug_say("follower", 0, "the receiver takes no logs");
	} else if (answered && is_final_for_request(answer->status)) {
		count_refused(stream, log ? 1 : points_in_batch(stream, number), outcome->reason);
	} else if (outcome->verdict == VERDICT_RETRY) {
		return stream_failed(stream, "send to the receiver", outcome);
	} else {
		return stream_refused(stream, "send to the receiver", outcome);
	}
	stream_count_sent(stream, outcome->verdict == VERDICT_DONE);
	stream_went_well(stream);
	return STEP_MADE;
}

static enum stream_step send_request(struct stream *stream)
{
	const struct otlp_settings *settings = ((struct otlp_stream *)stream->own)->settings;
	CLEANUP_BUFFER struct buffer bytes = BUFFER(0);
	int64_t number = stream->spool.state.sent, begun_ns = debug_now_ns();
	struct http_answer answer = {0};
	struct outcome outcome;
	enum stream_step step;
	char doing[80];

	if (!stream_read_batch(stream, &bytes))
		return STEP_MADE;
	snprintf(doing, sizeof(doing), "sending request %lld of %zu bytes", (long long)number, bytes.length);
	post_signal(stream, is_log(stream, number) ? &settings->logs : &settings->metrics, &bytes, &answer,
		    &outcome);
	stream_say_step(begun_ns, doing, &outcome);
	step = judge_answer(stream, &answer, &outcome);
	http_answer_done(&answer);
	return step;
}

static enum stream_step send_otlp(struct stream *stream)
{
	const struct otlp_stream *own = stream->own;
	const struct spool_state *state = &stream->spool.state;

	if (state->sent < state->cut)
		return send_request(stream);
	if (!state->outcome.known)
		return STEP_IDLE;
	if (state->points_refused)
		say_redacted("the receiver refused %lld points of this run for good: %s",
			     (long long)state->points_refused,
			     own->refusal[0] ? own->refusal : "an earlier process saw why");
	stream_forget(stream);
	return STEP_FINISHED;
}

const struct destination_calls otlp_destination = {
	.unit = "points",
	.batch_ending = ".pb",
	.own_bytes = sizeof(struct otlp_stream),
	.use = otlp_settings_use,
	.want = otlp_want,
	.open = open_otlp,
	.close = close_otlp,
	.begin = begin_otlp,
	.adopt = adopt_otlp,
	.cut = cut_otlp,
	.end = end_otlp,
	.send = send_otlp,
	.count = points_in_batch,
};
