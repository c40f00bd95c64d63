/*
 * A frame: all rows of one tick.
 *
 * Rows live in the frame's arena and never move while it is filled; clearing the frame keeps the memory
 * for the next tick. A row is born with every field absent (ABSENT_NOT_COLLECTED). Once sealed (derive.h)
 * a frame is only read.
 */
#pragma once

#include <stdint.h>

#include "metric/catalogue.h"

struct frame_chunk;

struct frame {
	int64_t monotonic_ns; /* when the frame was opened */
	int64_t realtime_ns;
	struct row *first[ROW_KINDS];
	struct row *last[ROW_KINDS];
	int missing[ROW_KINDS];    /* why a list of rows is unknown, not empty: a reason of absent.h; 0 */
	struct sample_row *sample; /* the root row; always there after frame_begin() */
	struct frame_chunk *chunks;
	struct frame_chunk *chunk; /* the one that is being filled */
	size_t used;               /* bytes of it */
	int error;                 /* 0, or -ENOMEM: rows are missing, the frame must not be used */
};

void frame_done(struct frame *frame);

/* Empties the frame and adds the sample row. */
void frame_begin(struct frame *frame, int64_t monotonic_ns, int64_t realtime_ns);

/*
 * A new row of a kind below `parent` (NULL: the sample). Without memory the frame is marked failed and a
 * row is returned that belongs to no frame, so that collectors need not check.
 */
struct row *frame_add(struct frame *frame, enum row_kind kind, struct row *parent);

/* ADD_ROW(frame, disk, NULL)->device = ... ; ADD_ROW(frame, mount, &disk->row) */
#define ADD_ROW(frame, kind, parent) ((struct kind##_row *)(void *)frame_add(frame, ROW_##kind, parent))

/* The only row of a kind, added below the sample when it is not there yet. */
struct row *frame_single(struct frame *frame, enum row_kind kind);
#define SINGLE_ROW(frame, kind) ((struct kind##_row *)(void *)frame_single(frame, ROW_##kind))

/* The rows of a kind could not be read (`reason`: an errno of either sign, or of absent.h): outputs say null, not []. */
static inline void frame_set_missing(struct frame *frame, enum row_kind kind, int reason)
{
	frame->missing[kind] = reason < 0 ? -reason : reason;
}

/* A copy of text that lives as long as the frame. */
const char *frame_text(struct frame *frame, const char *bytes, size_t length);

/*
 * The row of another frame that is the same thing: the same key below the same parent, or, for kinds without
 * keys, `guess`. The guess is the row at the same position, which it nearly always is. NULL if there is none.
 */
const struct row *frame_match(const struct frame *other, const struct row *row, const struct row *guess);
