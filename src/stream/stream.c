/* One run on its way to the server. See stream.h. */
#include "stream/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/debug.h"
#include "net/redacted_message.h"

static const int64_t MOST_SPOOL_BYTES = 256 << 20;
/* The part of a recording made for streaming alone that stays on disk. */
static const int64_t KEPT_BYTES = 2 << 20;

/* ---- open ------------------------------------------------------------------------------------------- */

static int open_parts(struct stream *stream, const char *spool_folder)
{
	const struct destination_calls *calls = stream->settings->destination->calls;
	int r = spool_open(&stream->spool, spool_folder);

	if (r < 0)
		return r;
	stream->spool.most_bytes = MOST_SPOOL_BYTES;
	stream->spool.batch_ending = calls->batch_ending;
	stream->own = calloc(1, calls->own_bytes);
	if (!stream->own)
		return -ENOMEM;
	if (calls->open)
		calls->open(stream);
	return http_open(&stream->http, stream->patience);
}

int stream_open(struct stream *ret_stream, const struct settings *settings, struct patience *patience,
		const char *recording, int64_t begin, bool disposable, const char *spool_folder,
		const char *root_dir)
{
	CLEANUP_FREE char *path = realpath(recording, NULL);
	int r = path ? 0 : -errno;

	*ret_stream = (struct stream){.settings = settings,
				      .patience = patience,
				      .root_dir = root_dir,
				      .recording = {.fd = -1},
				      .spool = SPOOL};
	if (r == 0)
		r = recording_open(&ret_stream->recording, path, begin, settings->destination->calls->want);
	if (r == 0)
		r = open_parts(ret_stream, spool_folder);
	if (r < 0) {
		stream_close(ret_stream);
		return r;
	}
	ret_stream->spool.state = (struct spool_state){
		.recording = path, .disposable = disposable, .begin = begin, .offset = begin};
	path = NULL;
	return 0;
}

/* The recording stops without the end of the run. */
static int end_without_end(struct stream *stream)
{
	struct spool_state *state = &stream->spool.state;

	if (!state->rows)
		read_outcome(NULL, (int64_t)time(NULL), &state->outcome);
	return stream->settings->destination->calls->end(stream);
}

/* A process that was killed after counting a stored batch may not have unlinked it. */
static int adopt_run(struct stream *stream)
{
	const struct destination_calls *calls = stream->settings->destination->calls;

	if (stream->spool.state.sent > 0)
		spool_unlink_batch(&stream->spool, stream->spool.state.sent - 1);
	return calls->adopt ? calls->adopt(stream) : 0;
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
	if (r == 0)
		r = adopt_run(stream);
	return r == 0 && !state->outcome.known ? end_without_end(stream) : r;
}

int stream_open_spooled(struct stream *ret_stream, const struct settings *settings, struct patience *patience,
			const char *name, const char *spool_folder)
{
	int r;

	*ret_stream = (struct stream){.settings = settings,
				      .patience = patience,
				      .recording = {.fd = -1},
				      .spool = SPOOL,
				      .began = true};
	r = open_parts(ret_stream, spool_folder);
	if (r == 0)
		r = adopt_spooled(ret_stream, name);
	if (r < 0)
		stream_close(ret_stream);
	return r;
}

void stream_close(struct stream *stream)
{
	http_close(&stream->http);
	if (stream->own && stream->settings->destination->calls->close)
		stream->settings->destination->calls->close(stream);
	free(stream->own);
	recording_close(&stream->recording);
	spool_close(&stream->spool);
	free(stream->answer);
}

/* ---- begin ------------------------------------------------------------------------------------------ */

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
	return adopt_run(stream);
}

int stream_begin(struct stream *stream)
{
	const struct destination *destination = stream->settings->destination;
	char name[SPOOL_NAME_SIZE];
	const struct frame *first;
	int r;

	if (stream->began)
		return 1;
	r = recording_next(&stream->recording, &first);
	if (r <= 0)
		return r;
	spool_name(first, destination->suffix, name);
	r = spool_lock(&stream->spool, name);
	if (r < 0)
		return r;
	r = adopt_state(stream, name);
	if (r == -EALREADY || r == -ESTALE)
		spool_remove(&stream->spool, false);
	if (r == -ENOENT || r == -EBADMSG) {
		r = destination->calls->begin(stream, first);
		/* Without a state on disk the run can still be sent, only not continued by another process. */
		if (r == 0 && spool_write(&stream->spool) < 0)
			say_redacted("cannot write to the spool %s", stream->spool.folder);
	}
	if (r < 0)
		return r;
	recording_rewind(&stream->recording, stream->spool.state.offset);
	stream->began = true;
	return 1;
}

/* ---- cut -------------------------------------------------------------------------------------------- */

/* Oldest first, so that only the beginning is lost. */
static void make_spool_room(struct stream *stream)
{
	const struct destination_calls *calls = stream->settings->destination->calls;
	struct spool_state *state = &stream->spool.state;

	while (state->sent < state->cut && spool_batch_bytes(&stream->spool) > stream->spool.most_bytes) {
		state->rows_lost += calls->count(stream, state->sent);
		if (!stream->spool_is_full)
			say_redacted(
				"the spool %s is full (%lld MiB): the oldest samples of this run are dropped",
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
	if (fd >= 0 && state->offset > KEPT_BYTES)
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, KEPT_BYTES / 2,
			  state->offset - KEPT_BYTES);
}

int stream_cut(struct stream *stream, bool last)
{
	struct spool_state *state = &stream->spool.state;
	int r;

	if (state->outcome.known)
		return 0;
	do
		r = recording_left_bytes(&stream->recording) == 0
			    ? 0
			    : stream->settings->destination->calls->cut(stream);
	while (r > 0);
	/* The read-ahead is not needed until the next time. */
	recording_rewind(&stream->recording, state->offset);
	if (r < 0) {
		if (!stream->cannot_spool)
			say_redacted("cannot write to the spool %s: %s", stream->spool.folder, strerror(-r));
		stream->cannot_spool = true;
		return r;
	}
	stream->cannot_spool = false;
	make_spool_room(stream);
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
		rows += stream->settings->destination->calls->count(stream, i);
	if (stream->recording.fd < 0)
		return rows;
	while ((r = recording_next(&stream->recording, &frame)) > 0)
		rows++;
	recording_rewind(&stream->recording, state->offset);
	return r < 0 ? r : rows;
}

enum stream_step stream_send(struct stream *stream)
{
	if (stream->refused || patience_over(stream->patience))
		return STEP_GIVE_UP;
	if (monotonic_ns() < stream->backoff.not_before_ns)
		return STEP_WAIT;
	return stream->settings->destination->calls->send(stream);
}
