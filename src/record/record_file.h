/*
 * One file of a recording: detects its format and reads its samples as frames. See reader.h.
 */
#pragma once

#include "format/csv_decode.h"
#include "format/json_decode.h"
#include "record/package_snapshot.h"
#include "record/problem.h"
#include "record/record_format.h"
#include "record/same_line.h"
#include "record/source.h"

struct record_file {
	struct source source;
	enum record_format format;
	struct csv_decoder csv;
	struct snapshot *snapshot;
	struct scan line; /* JSON: the last sample; valid until the next one */
	int64_t samples;
	int64_t torn_tails;
	int64_t bad_lines;
	int64_t first_bad_line;
	bool unreliable_end; /* the last line had no line end and was not a sample */
};

/* Returns -EBADMSG if it is not a recording, -ENODATA if it is empty. */
int record_file_open(struct record_file *ret_file, const char *path, bool follows,
		     struct rt_problem *problem);
void record_file_close(struct record_file *file);

/* JSON: what it takes to read a line, with the memory of an earlier one. */
struct line_decoder {
	struct json_decoder json;
	struct frame previous;
	struct same_line same, previous_same; /* of the frame and of the previous one */
	bool fresh; /* the last call has emptied its frame: `previous` is the last sample */
};

/* Exchanges a frame with the previous one. */
void line_decoder_swap(struct line_decoder *decoder, struct frame *frame);

/*
 * Reads the next sample into a frame, which is emptied first: 1, 0 at the end, or a negative errno. With a decoder, an
 * emptied frame is another one, and the last sample is in decoder->previous.
 */
int record_file_next(struct record_file *file, struct line_decoder *decoder, struct frame *frame);

/* Tells whether it is CSV with values of the machine alone (ROW_host_cpu) or of the tree alone (ROW_tree). */
bool record_file_is(const struct record_file *file, enum row_kind kind);

/* CSV: returns the time between the first two samples, or NaN without two. It consumes no line. */
double record_file_first_step_secs(struct record_file *file);
