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
struct sample_row;

struct frame {
	int64_t monotonic_ns; /* when the frame was opened */
	int64_t realtime_ns;
	struct row *first[ROW_KINDS];
	struct row *last[ROW_KINDS];
	int missing[ROW_KINDS];    /* why the rows of a kind are unknown (absent.h); 0: they are known */
	int cpus;                  /* that programs can run on; 0: unknown */
	double memory_mib;         /* all memory and swap space that programs can have; 0: unknown */
	struct sample_row *sample; /* the root row; frame_begin() adds it */
	struct frame_chunk *chunks;
	struct frame_chunk *chunk; /* the chunk that is being filled */
	size_t used;               /* bytes used in it */
	int error;                 /* 0; -ENOMEM: rows are missing, do not use the frame */
};

void frame_done(struct frame *frame);

/* Empties the frame and adds the sample row. */
void frame_begin(struct frame *frame, int64_t monotonic_ns, int64_t realtime_ns);

/* The same for a frame that is read, not sampled: its times are fields of its rows. */
static inline void frame_clear(struct frame *frame)
{
	frame_begin(frame, 0, 0);
}

/*
 * Adds a row of a kind below `parent` (NULL: the sample). Without memory it sets frame->error and returns a
 * row that belongs to no frame, so collectors need not check the result.
 */
struct row *frame_add(struct frame *frame, enum row_kind kind, struct row *parent);

/* ADD_ROW(frame, disk, NULL)->device = ...; ADD_ROW(frame, mount, &disk->row) */
#define ADD_ROW(frame, kind, parent) ((struct kind##_row *)(void *)frame_add(frame, ROW_##kind, parent))

/* Returns the only row of a kind; adds it below the sample if it is not there yet. */
struct row *frame_single(struct frame *frame, enum row_kind kind);
#define SINGLE_ROW(frame, kind) ((struct kind##_row *)(void *)frame_single(frame, ROW_##kind))

/* The first row of a kind, typed; NULL without any. */
#define FIRST(frame, kind) ((const struct kind##_row *)(const void *)(frame)->first[ROW_##kind])
/* The next row of the same kind. */
#define NEXT(of, kind) ((const struct kind##_row *)(const void *)(of)->row.next)

/*
 * Marks the rows of a kind as unreadable (`reason`: an errno of either sign, or one of absent.h): outputs
 * write null, not [].
 */
static inline void frame_set_missing(struct frame *frame, enum row_kind kind, int reason)
{
	frame->missing[kind] = reason < 0 ? -reason : reason;
}

/* Copies text into the frame, for as long as the frame lives. */
const char *frame_text(struct frame *frame, const char *bytes, size_t length);

/*
 * Finds the row of another frame that describes the same thing: with the same number and, for kinds
 * with keys, the same key below the same parent. Pass the row at the same position as the guess: nearly always it is the
 * right one. Returns NULL if there is none.
 */
const struct row *frame_match(const struct frame *other, const struct row *row, const struct row *guess);

/* A copy of all rows and texts of a frame, to bring that frame back to it. It is the frame's own: rows point to each other. */
struct frame_image {
	struct frame frame;
	char *bytes;
	size_t size, capacity;
};

/* Returns -ENOMEM without memory. */
int frame_image_take(struct frame_image *image, const struct frame *frame);
void frame_image_put(const struct frame_image *image, struct frame *frame);
/* Returns where the image has what stands at `at` in the frame, which is a field or a text of it, in bytes from its start. */
size_t frame_image_offset(const struct frame_image *image, const void *at);
void frame_image_done(struct frame_image *image);

/* Copies all texts into the frame, so that their collectors may be closed. Without memory they become absent. */
void frame_own_texts(struct frame *frame);
