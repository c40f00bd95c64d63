/*
 * The unsent part of one run, on disk: a state file, and the batches that are cut but not stored yet.
 *
 *   FOLDER/NAME.state           progress (JSON); replaced by rename(2), so it is always complete
 *   FOLDER/NAME.000007.csv.gz   a batch: an object's bytes, written before the state that counts it. If the run goes to
 *                               a receiver of OTLP, it is a request: FOLDER/NAME.otlp.000007.pb.gz
 *   FOLDER/NAME.lock            held by the process that works on the run
 *
 * NAME is made from the run's first sample (host, time, pid), so that the same recording finds the same state,
 * wherever it was moved. The folder has mode 0700, files have 0600. They contain no token or credential.
 *
 * If a recording is removed or renamed, the recorder continues in a new file of the same name. The run keeps NAME, and
 * its state says which part of the run that file has (`part`: the name that the first sample there would give). The
 * part's name has a state of its own that refers to the run (`of_run`). So if a person uploads that file, it is not
 * sent as a second run.
 *
 * Each step is in the state before the next one begins. So if a process is killed at any moment, the next one
 * continues without losing a row or storing it twice:
 *   cut     write the batch, then count it and move `offset`; an uncounted batch is cut again, into the same file
 *   upload  store the object, then count it, then unlink the batch; an uncounted one is stored again, with the same
 *           name and the same bytes
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "metric/frame.h"

enum { SPOOL_NAME_SIZE = 128, SPOOL_STATUS_SIZE = 16 };

/* How the run ended, for the finish call. */
struct run_outcome {
	bool known; /* the recording has been read to its end, or to the end of the run */
	bool has_exit_code;
	bool failed;
	int64_t exit_code;
	int64_t finished_at_secs; /* wall clock */
};

struct spool_state {
	char *recording; /* absolute path */
	char *part;   /* named after the file's first sample, if that is not the run's first. NULL: it is */
	char *of_run; /* this state only says that a file has a part of that run. NULL: the state of a run */
	bool disposable;   /* the recording was made only for streaming: remove it after sending */
	int64_t begin;     /* offset of the run's first line */
	int64_t offset;    /* batches contain the lines before this offset */
	int64_t rows;      /* in batches so far */
	int64_t rows_lost; /* rows of those that were dropped because the spool was full */
	int64_t cut;       /* number of batches made, and of the next one */
	int64_t sent;      /* number of batches stored or dropped, and of the next one to store */
	int64_t objects;   /* number of objects stored: NNNNNN in the next one's name */
	char *payload;     /* the body of POST /runs, until the run is registered */
	char *run_id;      /* NULL until then */
	char *uri_prefix;
	struct run_outcome outcome;
	bool finished; /* nothing is left to do, kept so that the recording is not sent again */

	/* Only for a run that is sent as OTLP. `payload` then has the attributes of the run. */
	char *series;           /* totals at `offset`. NULL: not such a run */
	int64_t log_batch;      /* number of the batch with the log record, plus 1. 0: not made yet */
	int64_t points_refused; /* by the receiver, for good */
};

struct spool {
	int folder_fd; /* -1: not open */
	int lock_fd;   /* -1: not held */
	char *folder;  /* path, for messages */
	char name[SPOOL_NAME_SIZE];
	struct spool_state state;
	const char *batch_ending; /* the part before ".gz" in the name of a batch: ".csv" */
	int64_t most_bytes;       /* bytes of all batches in the folder */
};

#define SPOOL ((struct spool){.folder_fd = -1, .lock_fd = -1})

/*
 * Opens the folder, `folder` or the default of sink/spool_folder.h, and makes it if it is missing. Returns 0,
 * -EPERM if it belongs to another user, or a negative errno.
 */
int spool_open(struct spool *ret_spool, const char *folder);
void spool_close(struct spool *spool);

/*
 * The name for a run, from its first sample. A run may be sent to several destinations, so each adds a suffix of its own.
 */
void spool_name(const struct frame *first, const char *suffix, char ret_name[SPOOL_NAME_SIZE]);

/* Takes the run's lock. -EBUSY: another process works on the run. */
int spool_lock(struct spool *spool, const char *name);

/* Whether the state of a run of that name is on disk. */
bool spool_has_state(const struct spool *spool, const char *name);

/* Reads the state. Returns 0, -ENOENT if there is none, -EBADMSG if it is damaged. */
int spool_read(struct spool *spool);
int spool_write(struct spool *spool);

/* Writes the bytes of batch number state.cut. The caller then counts it. */
int spool_write_batch(struct spool *spool, const void *bytes, size_t length);
int spool_read_batch(const struct spool *spool, int64_t number, struct buffer *ret_bytes);
void spool_unlink_batch(const struct spool *spool, int64_t number);

/* Bytes of all batches in the folder, of this run and of others. */
int64_t spool_batch_bytes(const struct spool *spool);

/* Removes the lock and, with `all`, the state. Call after the batches are removed. */
void spool_remove(struct spool *spool, bool all);

/*
 * The endings of file names in the folder: a run's state, and a recording that was made for streaming alone, or a link to one
 * elsewhere (tracker/streaming.h).
 */
#define SPOOL_STATE_SUFFIX ".state"
#define SPOOL_RECORDING_SUFFIX ".spool"

/* Calls `visit` with each name, without the suffix, until it returns a negative errno, which is then returned. */
int spool_each(const struct spool *spool, const char *suffix, int (*visit)(const char *name, void *context),
	       void *context);

/* Removes states of runs that were sent at least a month ago and whose recording is gone. */
void spool_forget_old(const struct spool *spool);

/* Reads the end of a run from its last sample. Without a run_end (or a frame), the recorder has died. */
void read_outcome(const struct frame *last, int64_t now_secs, struct run_outcome *ret_outcome);

/* The state as text and back, without a side effect. */
void spool_state_format(const struct spool_state *state, struct buffer *out);
int spool_state_parse(const char *bytes, size_t length, struct spool_state *ret_state);
void spool_state_done(struct spool_state *state);
