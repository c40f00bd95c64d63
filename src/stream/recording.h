/*
 * Reads a recording that is still being written: only whole lines, each as a frame of the catalogue. The frames
 * hold only what the destination needs. A line that cannot be read as a sample is counted and skipped.
 */
#pragma once

#include <stdint.h>

#include "base/buffer.h"
#include "format/json_decode.h"
#include "metric/frame.h"

enum { RECORDING_HOST_SIZE = 65, RECORDING_ID_SIZE = 64 };

struct recording {
	int fd;
	int64_t offset;        /* after the last returned line */
	int64_t window_offset; /* of window.data[0] in the file */
	size_t at;             /* of the next line in the window */
	struct buffer window;
	struct json_decoder json;
	struct frame frame;
	int64_t tracked_pid; /* with --static-once, recordings have it only once. Absent: unknown */
	int64_t newest;      /* number of the last sample returned, -1 for none */
	char host[RECORDING_HOST_SIZE];
	char run_id[RECORDING_ID_SIZE]; /* "": unknown */
	bool begins_run;                /* the last returned sample is the first one of another run */
	int64_t bad_lines;
};

/*
 * Opens a regular file and starts reading at `offset`, the beginning of a line. `want` adds the metrics that the frames should hold,
 * beside those that identify a run. Returns 0, -EINVAL for other
 * files, or a negative errno.
 */
int recording_open(struct recording *ret_recording, const char *path, int64_t offset,
		   void (*want)(struct metric_set *wanted));
void recording_close(struct recording *recording);

/*
 * Returns 1 and a sample that is valid until the next call, or 0 if no whole line is left (more may come), or a
 * negative errno.
 */
int recording_next(struct recording *recording, const struct frame **ret_frame);

/* The same for the first line alone: 0 as well if that is not a sample. For files that may be anything. */
int recording_first(struct recording *recording, const struct frame **ret_frame);

/*
 * Whether a sample from `other` is a later one of `recording`'s run: a recorder whose file was removed or renamed
 * continues in a new one.
 */
bool recording_goes_on(const struct recording *recording, const struct frame *sample);

/* How many samples of the run lie between the last one that was returned and this later one. */
int64_t recording_gap(const struct recording *recording, const struct frame *sample);

/* Goes back to the beginning of a line and frees the read-ahead. */
void recording_rewind(struct recording *recording, int64_t offset);

/* Returns the bytes of the file after the last returned line, or a negative errno. */
int64_t recording_left_bytes(const struct recording *recording);

/* Whether the last whole line of the file carries a run_end, without reading the rest. */
bool recording_has_ended(const struct recording *recording);
