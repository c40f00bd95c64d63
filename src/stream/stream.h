/*
 * One run on its way to the server. The steps are the same while the run goes on (follow) and long after it
 * (upload).
 *
 *   begin   the first sample: the run's metadata -> a state on disk
 *   cut     whole lines of the recording -> batches on disk, at most one every upload interval, no network
 *   send    the next item for the server: the oldest batch, and before and after all batches what the server needs
 *
 * The destination (destination.h) knows the form of the state and of a batch, and the requests.
 *
 * Only the state on disk (spool.h) decides which data is sent and when, so any process can continue.
 */
#pragma once

#include "net/outcome.h"
#include "stream/destination.h"
#include "stream/recording.h"
#include "net/settings.h"
#include "stream/spool.h"

struct stream {
	const struct settings *settings;
	struct patience *patience;
	const char *root_dir; /* for discovery: "/" */
	struct http_client http;
	void *own; /* the destination's */
	struct recording recording;
	struct spool spool;
	bool began;
	bool refused;       /* the server refuses this run: no more requests */
	bool spool_is_full; /* was reported */
	bool cannot_spool;  /* was reported */
	int attempts_most;  /* in a row, after the end of the run. 0: until the patience is over */
	int failures;       /* of attempts since the end of the run or the last success */
	struct backoff backoff;
	char *answer; /* the server's answer to the end of the run, one line of JSON, NULL for none */
	char trouble[sizeof(((struct outcome *)0)->reason) +
		     64]; /* why the last request failed. "": it did not */
};

/*
 * `recording` is a regular file with the run's first line at `begin`. `disposable`: it was made only for streaming
 * and is removed after sending. Sends nothing yet. Returns 0, or a negative errno, and then nothing is open.
 */
int stream_open(struct stream *ret_stream, const struct settings *settings, struct patience *patience,
		const char *recording, int64_t begin, bool disposable, const char *spool_folder,
		const char *root_dir);
/*
 * Opens a run whose recording was removed, by its name in the spool. Rows that were not cut into batches are
 * lost. The run has begun then and is at its end. Returns as stream_open() does, and -EBUSY and -EALREADY as
 * stream_begin() does.
 */
int stream_open_spooled(struct stream *ret_stream, const struct settings *settings, struct patience *patience,
			const char *name, const char *spool_folder);
void stream_close(struct stream *stream);

/*
 * Returns 1 if the run has begun (now or before), 0 if there is no whole sample yet, -EBUSY if another process
 * sends this run, -EALREADY if it was sent, -ESTALE if the run continues in another file (this file's part is in
 * the spool), or another negative errno.
 */
int stream_begin(struct stream *stream);

/*
 * Cuts the available lines into batches. `last`: no more will be written, so the end of the run is known. The run
 * may also have ended by itself (stream->spool.state.outcome.known). Returns 0 or a negative errno. Lines that
 * could not be cut stay in the recording.
 */
int stream_cut(struct stream *stream, bool last);

/*
 * If the recording was removed or renamed and continues in a new file of its name: cuts the rest of the old one
 * and changes to the new one. Returns 1 if it changed (the new one may be gone as well), 0 if there is no new file
 * yet, or a negative errno.
 */
int stream_follow_name(struct stream *stream);
/* Whether the name leads to another file than the recording: the recorder will open a new one. */
bool stream_lost_name(const struct stream *stream);
/* From now on, the stream's patience treats removing or renaming the recording as news. */
void stream_watch_name(struct stream *stream);

enum stream_step stream_send(struct stream *stream);

/*
 * How many rows (or what the destination counts) in batches, and how many uncut rows the server lacks. -1: the recording cannot
 * be read.
 */
int64_t stream_rows_left(struct stream *stream);
