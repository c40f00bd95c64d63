/*
 * A run on its way to a Sentinel API and object storage. See destination.h. The state has the body of POST /runs until the run is
 * registered. A batch is an object: a CSV text.
 */
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
#include "discover/cloud.h"
#include "discover/host.h"
#include "format/csv_layout.h"
#include "format/gzip.h"
#include "format/sample_format.h"
#include "metric/typed_rows.h"
#include "net/redacted_message.h"
#include "stream/s3.h"
#include "stream/sentinel.h"

enum {
	MOST_RAW_BYTES = 2 << 20,
	MOST_BATCH_BYTES = 4 << 20,
	MOST_PAYLOAD_BYTES = 1 << 20,
	MOST_INLINE_BYTES = 1 << 20,
	MOST_FINISH_BYTES = 64 << 20,
	REFRESH_BEFORE_SECS = 300
};

struct sentinel_run {
	struct sentinel sentinel;
	struct s3_store store;
	struct credentials credentials; /* access_key NULL: no keys yet */
	int64_t refresh_at_ns;          /* monotonic, INT64_MAX if unknown */
	bool refresh_now;               /* the store refused the keys */
	bool tried_new_keys;            /* since the last success */
};

/* ---- settings --------------------------------------------------------------------------------------- */

static int use_sentinel(struct settings *settings)
{
	if (settings->token)
		return 0;
	say_redacted("streaming needs SENTINEL_API_TOKEN");
	return -EINVAL;
}

static void want_csv(struct metric_set *wanted)
{
	csv_want(wanted, &CSV_LAYOUT[CSV_LAYOUT_combined]);
	metric_set_add_kind(wanted, ROW_run_start_tag);
	metric_set_add_kind(wanted, ROW_run_start_gpu);
	WANT(wanted, gpu, vram_total_bytes);
}

static void open_sentinel(struct stream *stream)
{
	struct sentinel_run *run = stream->own;
	const struct settings *settings = stream->settings;

	run->sentinel = (struct sentinel){&stream->http, settings->sentinel_url, settings->token, 0};
	run->store = (struct s3_store){.http = &stream->http, .endpoint = settings->s3_endpoint};
	run->refresh_at_ns = INT64_MAX;
}

static void close_sentinel(struct stream *stream)
{
	credentials_done(&((struct sentinel_run *)stream->own)->credentials);
}

/* ---- begin ------------------------------------------------------------------------------------------ */

/* Only a process on the machine itself asks it. A recording from elsewhere has its own facts. */
static void discover_for_stream(struct stream *stream, const struct frame *first, struct facts *facts)
{
	struct sys_dmi dmi;
	struct root root;

	if (root_open(&root, stream->root_dir, NULL) == 0) {
		if (host_is_same_boot(&root, first)) {
			bool has_dmi = read_sys_dmi(&root, &dmi) == 0;

			host_discover(&root, facts);
			cloud_discover(&stream->http, has_dmi ? &dmi : NULL, stream->settings->metadata_url,
				       facts);
		}
		root_close(&root);
	}
	host_from_recording(first, facts);
	facts_suppress(facts);
}

static int begin_sentinel(struct stream *stream, const struct frame *first)
{
	CLEANUP_BUFFER struct buffer payload = BUFFER(MOST_PAYLOAD_BYTES);
	CLEANUP_FREE struct facts *facts = calloc(1, sizeof(*facts));

	if (!facts)
		return -ENOMEM;
	discover_for_stream(stream, first, facts);
	write_start(&payload, first, facts, env_value("TRACKER_STREAM_METADATA"));
	if (buffer_error(&payload))
		return buffer_error(&payload);
	stream->spool.state.payload = strdup(payload.data);
	return stream->spool.state.payload ? 0 : -ENOMEM;
}

/* ---- cut -------------------------------------------------------------------------------------------- */

/* A growing CSV text that is compressed at once: header, then rows. */
struct batch {
	struct buffer bytes;
	struct buffer line;
	struct gzip gzip;
	int64_t rows;
	int64_t raw_bytes;
};

static int batch_add_line(struct batch *batch)
{
	int r = buffer_error(&batch->line);

	if (r == 0)
		r = gzip_add(&batch->gzip, batch->line.data, batch->line.length);
	batch->raw_bytes += (int64_t)batch->line.length;
	buffer_clear(&batch->line);
	return r;
}

static int batch_open(struct batch *batch)
{
	static const struct format_options OPTIONS = {.header = true};
	int r;

	*batch = (struct batch){.bytes = BUFFER(MOST_BATCH_BYTES), .line = BUFFER(64 << 10)};
	r = gzip_open(&batch->gzip, &batch->bytes);
	if (r < 0)
		return r;
	CSV_FORMAT.begin(&batch->line, &OPTIONS);
	return batch_add_line(batch);
}

static int batch_add(struct batch *batch, const struct frame *frame)
{
	static const struct format_options OPTIONS = {0};
	struct format_state state = {0};

	CSV_FORMAT.sample(&batch->line, frame, &OPTIONS, &state);
	batch->rows++;
	return batch_add_line(batch);
}

/* Returns 1 if there may be more, 0 if that was all for now, or a negative errno. */
static int fill_batch(struct stream *stream, struct batch *batch)
{
	while (batch->raw_bytes < MOST_RAW_BYTES) {
		const struct frame *frame;
		int r = stream_next(stream, batch->rows, &frame);

		if (r <= 0)
			return r;
		r = batch_add(batch, frame);
		if (r < 0)
			return r;
		if (stream->spool.state.outcome.known)
			return 0;
	}
	return 1;
}

static int commit_batch(struct stream *stream, const struct batch *batch)
{
	struct spool_state *state = &stream->spool.state, before = *state;
	int r = spool_write_batch(&stream->spool, batch->bytes.data, batch->bytes.length);

	if (r < 0)
		return r;
	state->cut++;
	state->rows += batch->rows;
	debug_say("follower", 0, "batch %lld is cut: samples %lld, bytes %zu", (long long)state->cut - 1,
		  (long long)batch->rows, batch->bytes.length);
	state->offset = stream->recording.offset;
	r = spool_write(&stream->spool);
	if (r < 0)
		*state = before;
	return r;
}

static int cut_rows(struct stream *stream)
{
	struct spool_state *state = &stream->spool.state;
	struct run_outcome outcome_before = state->outcome;
	struct batch batch;
	int r = batch_open(&batch), more = 0, closed;

	if (r == 0)
		r = more = fill_batch(stream, &batch);
	closed = gzip_close(&batch.gzip);
	if (r >= 0 && closed < 0)
		r = closed;
	if (r >= 0 && batch.rows)
		r = commit_batch(stream, &batch);
	if (r < 0) {
		state->outcome = outcome_before;
		recording_rewind(&stream->recording, state->offset);
	}
	buffer_done(&batch.bytes);
	buffer_done(&batch.line);
	return r < 0 ? r : more;
}

static int end_rows(struct stream *stream)
{
	stream->spool.state.outcome.known = true;
	return spool_write(&stream->spool);
}

/* A batch that cannot be read has none. */
static int64_t rows_in_batch(const struct stream *stream, int64_t number)
{
	CLEANUP_BUFFER struct buffer bytes = BUFFER(0), text = BUFFER(4 * MOST_RAW_BYTES);
	int64_t rows = -1; /* the header */

	if (spool_read_batch(&stream->spool, number, &bytes) < 0 ||
	    gunzip(bytes.data, bytes.length, &text) < 0)
		return 0;
	for (size_t i = 0; i < text.length; i++)
		rows += text.data[i] == '\n';
	return rows;
}

/* ---- keys ------------------------------------------------------------------------------------------- */

/*
 * When to replace keys: 5 minutes before they expire, or after half their life if that is shorter, and at most
 * once in 10 s. Computed from the server's clock, then measured with a clock that does not step.
 */
static int64_t refresh_time_ns(const struct sentinel_run *run)
{
	int64_t left =
		run->credentials.expires_at_secs - ((int64_t)time(NULL) + run->sentinel.clock_ahead_secs);
	int64_t wait = left >= 2 * REFRESH_BEFORE_SECS ? left - REFRESH_BEFORE_SECS : left / 2;

	if (!run->credentials.expires)
		return INT64_MAX;
	if (wait < 10)
		wait = 10;
	if (wait > INT64_C(366) * 86400)
		return INT64_MAX;
	return monotonic_ns() + wait * NSEC_PER_SEC;
}

static void use_credentials(struct sentinel_run *run, const struct credentials *credentials)
{
	credentials_done(&run->credentials);
	run->credentials = *credentials;
	run->refresh_at_ns = refresh_time_ns(run);
	run->refresh_now = false;
}

static bool needs_refresh(const struct sentinel_run *run)
{
	return !run->credentials.access_key || run->refresh_now || monotonic_ns() >= run->refresh_at_ns;
}

static void sentinel_went_well(struct stream *stream)
{
	((struct sentinel_run *)stream->own)->tried_new_keys = false;
	stream_went_well(stream);
}

static enum stream_step refresh_credentials(struct stream *stream)
{
	struct sentinel_run *run = stream->own;
	struct credentials credentials;
	struct outcome outcome;
	int64_t begun_ns = debug_now_ns();

	sentinel_refresh(&run->sentinel, stream->spool.state.run_id, &credentials, &outcome);
	stream_say_step(begun_ns, "refreshing the upload credentials", &outcome);
	if (outcome.verdict == VERDICT_DONE) {
		use_credentials(run, &credentials);
		return STEP_MADE;
	}
	/* The old keys may still work. The store will tell. */
	if (run->credentials.access_key && !run->refresh_now) {
		stream_say_trouble(stream, "refresh the upload credentials", &outcome);
		run->refresh_at_ns = monotonic_ns() + 10 * NSEC_PER_SEC;
		return STEP_MADE;
	}
	if (outcome.verdict == VERDICT_RETRY)
		return stream_failed(stream, "refresh the upload credentials", &outcome);
	return stream_refused(stream, "refresh the upload credentials", &outcome);
}

/* ---- the run ---------------------------------------------------------------------------------------- */

static enum stream_step start_run(struct stream *stream)
{
	struct sentinel_run *run = stream->own;
	struct spool_state *state = &stream->spool.state;
	struct registration registration;
	struct outcome outcome;
	int64_t begun_ns = debug_now_ns();

	sentinel_start(&run->sentinel, state->payload, stream->spool.name, &registration, &outcome);
	stream_say_step(begun_ns, "registering the run", &outcome);
	if (outcome.verdict == VERDICT_RETRY)
		return stream_failed(stream, "register the run", &outcome);
	if (outcome.verdict != VERDICT_DONE)
		return stream_refused(stream, "register the run", &outcome);
	use_credentials(run, &registration.credentials);
	state->run_id = registration.run_id;
	state->uri_prefix = registration.uri_prefix;
	free(state->payload);
	state->payload = NULL;
	spool_write(&stream->spool);
	sentinel_went_well(stream);
	return STEP_MADE;
}

static void put_batch(struct stream *stream, const struct buffer *bytes, struct outcome *ret_outcome)
{
	struct sentinel_run *run = stream->own;
	const struct spool_state *state = &stream->spool.state;
	CLEANUP_BUFFER struct buffer name = BUFFER(4 << 10);
	struct s3_uri uri;

	if (parse_s3_uri(state->uri_prefix, strlen(state->uri_prefix), &uri) < 0) {
		*ret_outcome = (struct outcome){.verdict = VERDICT_REFUSED, .retry_after_secs = -1};
		outcome_add_detail(ret_outcome, "upload_uri_prefix is not an s3:// address", 41);
		return;
	}
	buffer_printf(&name, "%s/%06lld.csv.gz", state->run_id, (long long)state->objects);
	s3_put(&run->store, &uri, name.data, &run->credentials, bytes->data, bytes->length, ret_outcome);
}

static enum stream_step upload_batch(struct stream *stream)
{
	struct sentinel_run *run = stream->own;
	CLEANUP_BUFFER struct buffer bytes = BUFFER(0);
	int64_t number = stream->spool.state.sent, begun_ns;
	struct outcome outcome;
	char doing[80];

	if (!stream_read_batch(stream, &bytes))
		return STEP_MADE;
	snprintf(doing, sizeof(doing), "storing batch %lld of %zu bytes", (long long)number, bytes.length);
	begun_ns = debug_now_ns();
	put_batch(stream, &bytes, &outcome);
	stream_say_step(begun_ns, doing, &outcome);
	if (outcome.verdict == VERDICT_DONE) {
		stream_count_sent(stream, true);
		sentinel_went_well(stream);
		return STEP_MADE;
	}
	run->refresh_now = outcome.verdict == VERDICT_EXPIRED;
	if (run->refresh_now && !run->tried_new_keys) {
		/* Retry at once with new keys. If that does not help, it is a failure like any other. */
		run->tried_new_keys = true;
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

static enum stream_step send_finish(struct stream *stream, const struct buffer *body)
{
	struct sentinel_run *run = stream->own;
	int64_t begun_ns = debug_now_ns();
	struct outcome outcome;

	free(stream->answer);
	sentinel_finish(&run->sentinel, stream->spool.state.run_id, body, &stream->answer, &outcome);
	stream_say_step(begun_ns, "finishing the run", &outcome);
	if (outcome.verdict == VERDICT_RETRY)
		return stream_failed(stream, "finish the run", &outcome);
	if (outcome.verdict != VERDICT_DONE)
		return stream_refused(stream, "finish the run", &outcome);
	sentinel_went_well(stream);
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

static enum stream_step send_to_sentinel(struct stream *stream)
{
	const struct spool_state *state = &stream->spool.state;
	CLEANUP_BUFFER struct buffer csv = BUFFER(MOST_INLINE_BYTES);

	if (!state->run_id)
		return start_run(stream);
	if (state->outcome.known && gather_inline(stream, &csv))
		return finish_inline(stream, &csv);
	if (state->sent < state->cut)
		return needs_refresh(stream->own) ? refresh_credentials(stream) : upload_batch(stream);
	return state->outcome.known ? finish_with_objects(stream) : STEP_IDLE;
}

const struct destination_calls sentinel_destination = {
	.unit = "samples",
	.batch_ending = ".csv",
	.own_bytes = sizeof(struct sentinel_run),
	.use = use_sentinel,
	.want = want_csv,
	.open = open_sentinel,
	.close = close_sentinel,
	.begin = begin_sentinel,
	.cut = cut_rows,
	.end = end_rows,
	.send = send_to_sentinel,
	.count = rows_in_batch,
};
