/*
 * A recording that is being written, read forwards: whole lines only, each as a frame of the catalogue. The
 * frames hold only the rows that an upload needs: the columns of the combined CSV, run_start, run_end and the
 * machine's devices. A line that does not parse as a sample is counted and stepped over.
 */
#pragma once

#include <stdint.h>

#include "base/buffer.h"
#include "format/json_decode.h"
#include "metric/frame.h"

enum { RECORDING_HOST_SIZE = 65 };

struct recording {
	int fd;
	int64_t offset;        /* behind the line that was returned last */
	int64_t window_offset; /* of window.data[0] in the file */
	size_t at;             /* of the next line in the window */
	struct buffer window;
	struct json_decoder json;
	struct frame frame;
	int64_t tracked_pid; /* recordings with --static-once have it only once; absent: none */
	int64_t newest;      /* number of the last sample returned; -1: none */
	char host[RECORDING_HOST_SIZE];
	int64_t bad_lines;
};

/* Opens a regular file and starts to read at `offset`, the beginning of a line. 0, -EINVAL (no regular file), errno. */
int recording_open(struct recording *ret_recording, const char *path, int64_t offset);
void recording_close(struct recording *recording);

/* 1: a sample, valid until the next call; 0: no whole line is left (more may come); negative errno. */
int recording_next(struct recording *recording, const struct frame **ret_frame);

/*
 * Whether a sample that was read from `other` belongs to the run of `recording` and comes later: a recorder whose file was
 * removed or renamed goes on in a new one.
 */
bool recording_goes_on(const struct recording *recording, const struct frame *sample);

/* Goes back to the beginning of a line, and gives the read-ahead's memory back. */
void recording_rewind(struct recording *recording, int64_t offset);

/* Bytes of the file behind the last line returned; negative errno. */
int64_t recording_left_bytes(const struct recording *recording);

/* Whether the last whole line of the file carries a run_end, without reading the rest. */
bool recording_has_ended(const struct recording *recording);
