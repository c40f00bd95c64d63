/* One run on its way to the server: begin and cut; see stream.h. Sending: stream_send.c. */
#include "stream/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/debug.h"
#include "format/gzip.h"
#include "format/sample_format.h"
#include "discover/cloud.h"
#include "discover/host.h"
#include "net/redacted_message.h"
#include "stream/stream_otlp.h"

enum { MOST_RAW_BYTES = 2 << 20, MOST_BATCH_BYTES = 4 << 20, MOST_PAYLOAD_BYTES = 1 << 20 };

static const int64_t MOST_SPOOL_BYTES = 256 << 20;

int stream_open(struct stream *ret_stream, const struct settings *settings, struct patience *patience,
		const char *recording, int64_t begin, bool disposable, const char *spool_folder,
		const char *root_dir)
{
	struct stream stream = {
		.settings = settings, .patience = patience, .root_dir = root_dir, .spool = SPOOL};
	CLEANUP_FREE char *path = realpath(recording, NULL);
	int r = path ? 0 : -errno;

	if (r == 0)
		r = recording_open(&stream.recording, path, begin);
	if (r < 0)
		return r;
	r = spool_open(&stream.spool, spool_folder);
	if (r == 0)
		r = http_open(&stream.http, patience);
	if (r < 0) {
		spool_close(&stream.spool);
		recording_close(&stream.recording);
		return r;
	}
	stream.spool.most_bytes = MOST_SPOOL_BYTES;
	stream.spool.state = (struct spool_state){
		.recording = path, .disposable = disposable, .begin = begin, .offset = begin};
	path = NULL;
	stream.resource = OTLP_RESOURCE;
	stream.refresh_at_ns = INT64_MAX;
	*ret_stream = stream;
	ret_stream->sentinel =
		(struct sentinel){&ret_stream->http, settings->sentinel_url, settings->token, 0};
	ret_stream->store = (struct s3_store){.http = &ret_stream->http, .endpoint = settings->s3_endpoint};
	return 0;
}

/* The recording stops without the end of the run. */
static int end_without_end(struct stream *stream)
{
	struct spool_state *state = &stream->spool.state;

	if (!state->rows)
		read_outcome(NULL, (int64_t)time(NULL), &state->outcome);
	if (stream->settings->otlp)
		return otlp_stream_end(stream);
	state->outcome.known = true;
	return spool_write(&stream->spool);
}

/* Adopts the run's state from disk. Requires the lock on the run. */
static int adopt_spooled(struct stream *stream, const char *name)
{
	struct spool_state *state = &stream->spool.state;
	int r = spool_lock(&stream->spool, name);

	if (r == 0)
		r = spool_read(&stream->spool);
	if (r == 0 && state->finished)
		r = -EALREADY;
	if (r < 0)
		return r;
	if (state->sent > 0)
		spool_unlink_batch(&stream->spool, state->sent - 1);
	r = stream->settings->otlp ? otlp_stream_adopt(stream) : 0;
	return r == 0 && !state->outcome.known ? end_without_end(stream) : r;
}

int stream_open_spooled(struct stream *ret_stream, const struct settings *settings, struct patience *patience,
			const char *name, const char *spool_folder)
{
	struct stream stream = {.settings = settings,
				.patience = patience,
				.spool = SPOOL,
				.recording = {.fd = -1},
				.resource = OTLP_RESOURCE};
	int r = spool_open(&stream.spool, spool_folder);

	if (r == 0)
		r = adopt_spooled(&stream, name);
	if (r == 0)
		r = http_open(&stream.http, patience);
	if (r < 0) {
		spool_close(&stream.spool);
		return r;
	}
	stream.began = true;
	stream.refresh_at_ns = INT64_MAX;
	*ret_stream = stream;
	ret_stream->sentinel =
		(struct sentinel){&ret_stream->http, settings->sentinel_url, settings->token, 0};
	ret_stream->store = (struct s3_store){.http = &ret_stream->http, .endpoint = settings->s3_endpoint};
	return 0;
}

void stream_close(struct stream *stream)
{
	http_close(&stream->http);
	credentials_done(&stream->credentials);
	recording_close(&stream->recording);
	spool_close(&stream->spool);
	otlp_resource_done(&stream->resource);
	free(stream->answer);
}

/* ---- begin ------------------------------------------------------------------------------------------ */

/* Only a process on the machine itself asks it; a recording from elsewhere has its own facts. */
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

static int make_payload(struct stream *stream, const struct frame *first)
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

/* Returns the state of the run, following the state of a part to it, with the run's lock. */
static int read_state_of_run(struct spool *spool)
{
	CLEANUP_FREE char *run = NULL;
	int r = spool_read(spool);

	if (r < 0 || !spool->state.of_run)
		return r;
	run = spool->state.of_run;
	spool->state.of_run = NULL;
	spool_remove(spool, false);
	r = spool_lock(spool, run);
	return r < 0 ? r : spool_read(spool);
}

/*
 * `name` is that of the recording's first sample. The recording may have been moved since the state was written.
 */
static int adopt_state(struct stream *stream, const char *name)
{
	char *path = stream->spool.state.recording;
	bool disposable = stream->spool.state.disposable;
	int r;

	stream->spool.state.recording = NULL;
	r = read_state_of_run(&stream->spool);
	free(stream->spool.state.recording);
	stream->spool.state.recording = path;
	if (r < 0)
		return r;
	stream->spool.state.disposable = stream->spool.state.disposable || disposable;
	if (stream->spool.state.finished)
		return -EALREADY;
	if (strcmp(stream->spool.state.part ? stream->spool.state.part : stream->spool.name, name) != 0)
		return -ESTALE;
	/* A process that was killed after counting a stored object may not have unlinked its batch. */
	if (stream->spool.state.sent > 0)
		spool_unlink_batch(&stream->spool, stream->spool.state.sent - 1);
	return stream->settings->otlp ? otlp_stream_adopt(stream) : 0;
}

int stream_begin(struct stream *stream)
{
	char name[SPOOL_NAME_SIZE];
	const struct frame *first;
	int r;

	if (stream->began)
		return 1;
	r = recording_next(&stream->recording, &first);
	if (r <= 0)
		return r;
	spool_name(first, stream->settings->otlp, name);
	r = spool_lock(&stream->spool, name);
	if (r < 0)
		return r;
	r = adopt_state(stream, name);
	if (r == -EALREADY || r == -ESTALE)
		spool_remove(&stream->spool, false);
	if (r == -ENOENT || r == -EBADMSG) {
		r = stream->settings->otlp ? otlp_stream_begin(stream, first) : make_payload(stream, first);
		/* Without a state on disk the run can still be sent, only not continued by another process. */
		if (r == 0 && spool_write(&stream->spool) < 0)
			say("cannot write to the spool %s", stream->spool.folder);
	}
	if (r < 0)
		return r;
	recording_rewind(&stream->recording, stream->spool.state.offset);
	stream->began = true;
	return 1;
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

/*
 * Fills a batch from the recording. Returns 1 if there may be more, 0 if that was all for now, or a negative
 * errno.
 */
static int fill_batch(struct stream *stream, struct batch *batch)
{
	struct spool_state *state = &stream->spool.state;

	while (batch->raw_bytes < MOST_RAW_BYTES) {
		int64_t before = stream->recording.offset;
		const struct frame *frame;
		int r = recording_next(&stream->recording, &frame);

		if (r <= 0)
			return r;
		if (frame->first[ROW_run_start] && (batch->rows || state->rows)) {
			/* Another run was appended, so this one has ended without an end record. */
			recording_rewind(&stream->recording, before);
			state->outcome.known = true;
			return 0;
		}
		read_outcome(frame, (int64_t)time(NULL), &state->outcome);
		state->outcome.known = frame->first[ROW_run_end] != NULL;
		r = batch_add(batch, frame);
		if (r < 0)
			return r;
		if (state->outcome.known)
			return 0;
	}
	return 1;
}

/* Points, of OTLP. A batch that cannot be read has none. */
static int64_t rows_in_batch(const struct stream *stream, int64_t number)
{
	CLEANUP_BUFFER struct buffer bytes = BUFFER(0), text = BUFFER(4 * MOST_RAW_BYTES);
	int64_t rows = -1; /* the header */

	if (stream->settings->otlp)
		return otlp_stream_points(stream, number);
	if (spool_read_batch(&stream->spool, number, &bytes) < 0 ||
	    gunzip(bytes.data, bytes.length, &text) < 0)
		return 0;
	for (size_t i = 0; i < text.length; i++)
		rows += text.data[i] == '\n';
	return rows;
}

/* Oldest first, so that only the beginning is lost. */
static void make_room(struct stream *stream)
{
	struct spool_state *state = &stream->spool.state;

	while (state->sent < state->cut && spool_batch_bytes(&stream->spool) > stream->spool.most_bytes) {
		state->rows_lost += rows_in_batch(stream, state->sent);
		if (!stream->spool_is_full)
			say("the spool %s is full (%lld MiB): the oldest samples of this run are dropped",
			    stream->spool.folder, (long long)(stream->spool.most_bytes >> 20));
		stream->spool_is_full = true;
		state->sent++;
		if (spool_write(&stream->spool) < 0)
			return;
		spool_unlink_batch(&stream->spool, state->sent - 1);
	}
}

/* Frees the disk space of lines that are in batches. The file keeps its length, so offsets stay valid. */
static void release_recording(const struct stream *stream)
{
	const struct spool_state *state = &stream->spool.state;
	CLEANUP_CLOSE int fd = -1;

	if (!state->disposable || state->offset <= 0)
		return;
	fd = open(state->recording, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	/* Keep the first sample, which names the run: a process that starts again finds the state by it. */
	if (fd >= 0 && state->offset > MOST_RAW_BYTES)
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, MOST_RAW_BYTES / 2,
			  state->offset - MOST_RAW_BYTES);
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

/*
 * Cuts one batch. Returns 1 if there may be more to cut, 0 if not, or a negative errno; the recording's position
 * is then unchanged.
 */
static int cut_one(struct stream *stream)
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

int stream_cut(struct stream *stream, bool last)
{
	struct spool_state *state = &stream->spool.state;
	int r;

	if (state->outcome.known)
		return 0;
	do
		r = recording_left_bytes(&stream->recording) == 0 ? 0
		    : stream->settings->otlp                      ? otlp_stream_cut(stream)
								  : cut_one(stream);
	while (r > 0);
	/* The read-ahead is not needed until the next time. */
	recording_rewind(&stream->recording, state->offset);
	if (r < 0) {
		if (!stream->cannot_spool)
			say("cannot write to the spool %s: %s", stream->spool.folder, strerror(-r));
		stream->cannot_spool = true;
		return r;
	}
	stream->cannot_spool = false;
	make_room(stream);
	release_recording(stream);
	if (last && !state->outcome.known)
		(void)end_without_end(stream);
	return 0;
}

int64_t stream_rows_left(struct stream *stream)
{
	const struct spool_state *state = &stream->spool.state;
	int64_t rows = 0;
	const struct frame *frame;
	int r;

	for (int64_t i = state->sent; i < state->cut; i++)
		rows += rows_in_batch(stream, i);
	if (stream->recording.fd < 0)
		return rows;
	while ((r = recording_next(&stream->recording, &frame)) > 0)
		rows++;
	recording_rewind(&stream->recording, state->offset);
	return r < 0 ? r : rows;
}
