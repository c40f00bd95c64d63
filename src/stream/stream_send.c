/* One run on its way to the server: sending; see stream.h and stream_steps.h. */
#include "stream/stream_steps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/debug.h"
#include "format/gzip.h"
#include "net/redacted_message.h"
#include "stream/stream_otlp.h"

enum { MOST_INLINE_BYTES = 1 << 20, MOST_FINISH_BYTES = 64 << 20, REFRESH_BEFORE_SECS = 300 };

/* ---- what went wrong -------------------------------------------------------------------------------- */

static void say_trouble(struct stream *stream, const char *doing, const struct outcome *outcome)
{
	bool first = !stream->trouble[0];

	snprintf(stream->trouble, sizeof(stream->trouble), "cannot %s: %s", doing, outcome->reason);
	/*
	 * Reported each time that sending stops working. At the end of the run, a message says how much is left.
	 */
	if (first)
		say("streaming: %s", stream->trouble);
}

enum stream_step stream_failed(struct stream *stream, const char *doing, const struct outcome *outcome)
{
	bool ended = patience_ended(stream->patience);

	say_trouble(stream, doing, outcome);
	backoff_failed(&stream->backoff, outcome, ended);
	if (ended && stream->attempts_most && ++stream->failures >= stream->attempts_most)
		return STEP_GIVE_UP;
	/* Does not wait for an attempt that would come too late. */
	if (ended && stream->backoff.not_before_ns >= stream->patience->deadline_ns)
		return STEP_GIVE_UP;
	return patience_over(stream->patience) ? STEP_GIVE_UP : STEP_WAIT;
}

enum stream_step stream_refused(struct stream *stream, const char *doing, const struct outcome *outcome)
{
	say_trouble(stream, doing, outcome);
	stream->refused = true;
	return STEP_GIVE_UP;
}

/* The reason of a failure follows in the message for the user, which is redacted. */
void stream_say_step(int64_t begun_ns, const char *doing, const struct outcome *outcome)
{
	static const char *const RESULTS[] = {
		[VERDICT_DONE] = "done",
		[VERDICT_RETRY] = "failed, will be tried again",
		[VERDICT_REFUSED] = "refused",
		[VERDICT_EXPIRED] = "refused, because the credentials have expired",
	};

	debug_say("follower", begun_ns, "%s: %s", doing, RESULTS[outcome->verdict]);
}

void stream_went_well(struct stream *stream)
{
	stream->trouble[0] = '\0';
	stream->tried_new_keys = false;
	stream->failures = 0;
	backoff_reset(&stream->backoff);
}

/* ---- keys ------------------------------------------------------------------------------------------- */

/*
 * When to replace keys: 5 minutes before they expire, or after half their life if that is shorter, and at most
 * once in 10 s. Computed from the server's clock, then measured with a clock that does not step.
 */
static int64_t refresh_time_ns(const struct stream *stream)
{
	int64_t left = stream->credentials.expires_at_secs -
		       ((int64_t)time(NULL) + stream->sentinel.clock_ahead_secs);
	int64_t wait = left >= 2 * REFRESH_BEFORE_SECS ? left - REFRESH_BEFORE_SECS : left / 2;

	if (!stream->credentials.expires)
		return INT64_MAX;
	if (wait < 10)
		wait = 10;
	if (wait > INT64_C(366) * 86400)
		return INT64_MAX;
	return monotonic_ns() + wait * NSEC_PER_SEC;
}

static void use_credentials(struct stream *stream, const struct credentials *credentials)
{
	credentials_done(&stream->credentials);
	stream->credentials = *credentials;
	stream->refresh_at_ns = refresh_time_ns(stream);
	stream->refresh_now = false;
}

static bool needs_refresh(const struct stream *stream)
{
	return !stream->credentials.access_key || stream->refresh_now ||
	       monotonic_ns() >= stream->refresh_at_ns;
}

static enum stream_step refresh_credentials(struct stream *stream)
{
	struct credentials credentials;
	struct outcome outcome;

	int64_t begun_ns = debug_now_ns();

	sentinel_refresh(&stream->sentinel, stream->spool.state.run_id, &credentials, &outcome);
	stream_say_step(begun_ns, "refreshing the upload credentials", &outcome);
	if (outcome.verdict == VERDICT_DONE) {
		use_credentials(stream, &credentials);
		return STEP_MADE;
	}
	/* The old keys may still work; the store will tell. */
	if (stream->credentials.access_key && !stream->refresh_now) {
		say_trouble(stream, "refresh the upload credentials", &outcome);
		stream->refresh_at_ns = monotonic_ns() + 10 * NSEC_PER_SEC;
		return STEP_MADE;
	}
	if (outcome.verdict == VERDICT_RETRY)
		return stream_failed(stream, "refresh the upload credentials", &outcome);
	return stream_refused(stream, "refresh the upload credentials", &outcome);
}

/* ---- the run ---------------------------------------------------------------------------------------- */

static enum stream_step start_run(struct stream *stream)
{
	struct spool_state *state = &stream->spool.state;
	struct registration registration;
	struct outcome outcome;

	int64_t begun_ns = debug_now_ns();

	sentinel_start(&stream->sentinel, state->payload, stream->spool.name, &registration, &outcome);
	stream_say_step(begun_ns, "registering the run", &outcome);
	if (outcome.verdict == VERDICT_RETRY)
		return stream_failed(stream, "register the run", &outcome);
	if (outcome.verdict != VERDICT_DONE)
		return stream_refused(stream, "register the run", &outcome);
	use_credentials(stream, &registration.credentials);
	state->run_id = registration.run_id;
	state->uri_prefix = registration.uri_prefix;
	free(state->payload);
	state->payload = NULL;
	spool_write(&stream->spool);
	stream_went_well(stream);
	return STEP_MADE;
}

void stream_count_sent(struct stream *stream, bool stored)
{
	struct spool_state *state = &stream->spool.state;

	state->sent++;
	state->objects += stored;
	if (spool_write(&stream->spool) == 0)
		spool_unlink_batch(&stream->spool, state->sent - 1);
}

static void put_batch(struct stream *stream, const struct buffer *bytes, struct outcome *ret_outcome)
{
	const struct spool_state *state = &stream->spool.state;
	CLEANUP_BUFFER struct buffer name = BUFFER(4 << 10);
	struct s3_uri uri;

	if (parse_s3_uri(state->uri_prefix, strlen(state->uri_prefix), &uri) < 0) {
		*ret_outcome = (struct outcome){.verdict = VERDICT_REFUSED, .retry_after_secs = -1};
		outcome_add_detail(ret_outcome, "upload_uri_prefix is not an s3:// address", 41);
		return;
	}
	buffer_printf(&name, "%s/%06lld.csv.gz", state->run_id, (long long)state->objects);
	s3_put(&stream->store, &uri, name.data, &stream->credentials, bytes->data, bytes->length,
	       ret_outcome);
}

static enum stream_step upload_batch(struct stream *stream)
{
	const struct spool_state *state = &stream->spool.state;
	CLEANUP_BUFFER struct buffer bytes = BUFFER(0);
	struct outcome outcome;
	int64_t begun_ns;
	char doing[80];
	int r = spool_read_batch(&stream->spool, state->sent, &bytes);

	if (r < 0) {
		/* Another process has removed it: nothing to wait for. */
		say("batch %lld of the spool %s cannot be read: %s", (long long)state->sent,
		    stream->spool.folder, strerror(-r));
		stream_count_sent(stream, false);
		return STEP_MADE;
	}
	snprintf(doing, sizeof(doing), "storing batch %lld of %zu bytes", (long long)state->sent,
		 bytes.length);
	begun_ns = debug_now_ns();
	put_batch(stream, &bytes, &outcome);
	stream_say_step(begun_ns, doing, &outcome);
	if (outcome.verdict == VERDICT_DONE) {
		stream_count_sent(stream, true);
		stream_went_well(stream);
		return STEP_MADE;
	}
	stream->refresh_now = outcome.verdict == VERDICT_EXPIRED;
	if (stream->refresh_now && !stream->tried_new_keys) {
		/* Retry at once with new keys. If that does not help, it is a failure like any other. */
		stream->tried_new_keys = true;
		return STEP_MADE;
	}
	return stream_failed(stream, "store a batch", &outcome);
}

/* ---- the end ---------------------------------------------------------------------------------------- */

/* All rows as one CSV text, if no object holds any and it is not too long. */
static bool gather_inline(const struct stream *stream, struct buffer *ret_csv)
{
	const struct spool_state *state = &stream->spool.state;

	if (state->objects)
		return false;
	for (int64_t i = state->sent; i < state->cut; i++) {
		CLEANUP_BUFFER struct buffer bytes = BUFFER(0), text = BUFFER(MOST_INLINE_BYTES);
		const char *rows;

		if (spool_read_batch(&stream->spool, i, &bytes) < 0 ||
		    gunzip(bytes.data, bytes.length, &text) < 0)
			return false;
		rows = text.data;
		if (ret_csv->length) {
			rows = memchr(text.data, '\n', text.length);
			rows = rows ? rows + 1 : text.data + text.length;
		}
		buffer_add(ret_csv, rows, text.length - (size_t)(rows - text.data));
	}
	return !buffer_error(ret_csv);
}

void stream_forget(struct stream *stream)
{
	struct spool_state *state = &stream->spool.state;

	for (; state->sent < state->cut; state->sent++)
		spool_unlink_batch(&stream->spool, state->sent);
	state->finished = true;
	if (state->disposable) {
		unlink(state->recording);
	} else if (spool_write(&stream->spool) < 0) {
		say("cannot write to the spool %s: do not upload this recording again", stream->spool.folder);
	}
	spool_remove(&stream->spool, state->disposable);
	spool_forget_old(&stream->spool);
}

static enum stream_step send_finish(struct stream *stream, const struct buffer *body)
{
	int64_t begun_ns = debug_now_ns();
	struct outcome outcome;

	free(stream->answer);
	sentinel_finish(&stream->sentinel, stream->spool.state.run_id, body, &stream->answer, &outcome);
	stream_say_step(begun_ns, "finishing the run", &outcome);
	if (outcome.verdict == VERDICT_RETRY)
		return stream_failed(stream, "finish the run", &outcome);
	if (outcome.verdict != VERDICT_DONE)
		return stream_refused(stream, "finish the run", &outcome);
	stream_went_well(stream);
	stream_forget(stream);
	return STEP_FINISHED;
}

static enum stream_step finish_inline(struct stream *stream, const struct buffer *csv)
{
	CLEANUP_BUFFER struct buffer body = BUFFER(MOST_FINISH_BYTES);

	write_finish_inline(&body, &stream->spool.state.outcome, csv->data ? csv->data : "", csv->length);
	return send_finish(stream, &body);
}

static enum stream_step finish_with_objects(struct stream *stream)
{
	const struct spool_state *state = &stream->spool.state;
	CLEANUP_BUFFER struct buffer body = BUFFER(MOST_FINISH_BYTES);

	write_finish_s3(&body, &state->outcome, state->uri_prefix, state->run_id, state->objects);
	return send_finish(stream, &body);
}

enum stream_step stream_send(struct stream *stream)
{
	const struct spool_state *state = &stream->spool.state;
	CLEANUP_BUFFER struct buffer csv = BUFFER(MOST_INLINE_BYTES);

	if (stream->refused || patience_over(stream->patience))
		return STEP_GIVE_UP;
	if (monotonic_ns() < stream->backoff.not_before_ns)
		return STEP_WAIT;
	if (stream->settings->otlp)
		return otlp_stream_send(stream);
	if (!state->run_id)
		return start_run(stream);
	if (state->outcome.known && gather_inline(stream, &csv))
		return finish_inline(stream, &csv);
	if (state->sent < state->cut)
		return needs_refresh(stream) ? refresh_credentials(stream) : upload_batch(stream);
	return state->outcome.known ? finish_with_objects(stream) : STEP_IDLE;
}
