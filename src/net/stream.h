/*
 * One run on its way to the server: the same steps whether the run still goes on (follow) or is long over (upload).
 *
 *   begin   the first sample: the run's metadata and the machine's facts -> the body of POST /runs, a state on disk
 *   cut     whole lines of the recording -> batches on disk, at most one every upload interval, no network
 *   send    the next thing that the server is to have: registration, fresh keys, the oldest batch, the finish
 *
 * The state on disk alone (spool.h) decides which data is sent and when, so any process can continue.
 */
#pragma once

#include "net/outcome.h"
#include "net/recording.h"
#include "net/s3.h"
#include "net/sentinel.h"
#include "net/settings.h"
#include "net/spool.h"

enum { STREAM_ATTEMPTS_AT_END = 4 };

struct stream {
	const struct settings *settings;
	struct patience *patience;
	const char *root_dir; /* for discovery; "/" */
	struct http_client http;
	struct sentinel sentinel;
	struct s3_store store;
	struct credentials credentials; /* access_key NULL: none yet */
	int64_t refresh_at_ns;          /* monotonic; INT64_MAX: not known to expire */
	bool refresh_now;               /* the store did not accept them */
	bool tried_new_keys;            /* since the last success */
	struct recording recording;
	struct spool spool;
	bool began;
	bool refused;       /* the server will not have this run: no more requests */
	bool spool_is_full; /* said so */
	bool cannot_spool;  /* said so */
	int attempts_left;  /* failures allowed after the end of the run */
	struct backoff backoff;
	char *answer; /* of the server to the end of the run, one line of JSON; NULL: none */
	char trouble[sizeof(((struct outcome *)0)->reason) +
		     64]; /* why the last request failed; "" when it did not */
};

/*
 * `recording` is a regular file with the run's first line at `begin`. `disposable`: it was made for streaming
 * only and is removed when all is sent. Nothing is sent yet. Returns 0 or a negative errno, then nothing is open.
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
 * 1: begun, now or before; 0: there is no whole sample yet; -EBUSY: another process sends this run;
 * -EALREADY: it has been sent; -ESTALE: the run goes on in another file, and what this one has of it is in the spool;
 * other errnos.
 */
int stream_begin(struct stream *stream);

/*
 * Cuts what is there into batches. `last`: nothing more will be written, so that the end of the run is decided.
 * The run may also be found to have ended by itself (stream->spool.state.outcome.known). 0 or a negative errno;
 * lines that could not be cut stay in the recording.
 */
int stream_cut(struct stream *stream, bool last);

/*
 * Where the recording was removed or renamed and goes on in a new file of its name: cuts the rest of the old one and goes
 * over to the new one. 1: done, and the new one may have gone as well; 0: there is none, or not yet; negative errno.
 */
int stream_follow_name(struct stream *stream);
/* Whether the recording is no longer the file of its name: the recorder will open a new one. */
bool stream_lost_name(const struct stream *stream);
/* From now on, that the recording is removed or renamed is news to the stream's patience. */
void stream_watch_name(struct stream *stream);

enum stream_step {
	STEP_MADE,     /* one more thing is done; call again */
	STEP_IDLE,     /* nothing to send for now */
	STEP_WAIT,     /* not before stream->backoff.not_before_ns */
	STEP_GIVE_UP,  /* refused, or out of attempts or time; unsent data stays on disk */
	STEP_FINISHED, /* the server has all of it; nothing is left on disk */
};
enum stream_step stream_send(struct stream *stream);

/* Rows that the server does not have: in batches, and not yet cut. -1 when the recording cannot be read. */
int64_t stream_rows_left(struct stream *stream);
