/*
 * Reads a line of a recording that differs from an earlier one in values alone, as most do: names, sizes and zeros stay the same.
 *
 * The earlier line is remembered. Bytes that have not changed since are compared with it, not decoded. A value that has changed is
 * read in each line, into the frame of that one. Any other difference is left to the decoder, so both give the same frame.
 */
#pragma once

#include "format/json_decode.h"

struct same_place;

struct same_line {
	bool known;         /* a line is remembered, with its places and its frame */
	bool brief;         /* it leaves out unchanged fields */
	struct buffer text; /* the line */
	struct same_place *places;
	size_t place_count, place_room;
	const struct same_place **changing; /* those whose value has differed since, in their order */
	size_t changing_count;
	struct frame_image image; /* the frame of the last line that was read, as it was decoded */
	size_t lines;             /* that were read since */
	size_t misses;            /* lines that were remembered in vain, in a row */
	size_t passed;            /* lines since the last one that was remembered */
};

/* Lets the decoder note where its values stand. Without memory each line is decoded. */
void same_line_begin(struct same_line *same, struct json_decoder *decoder);
void same_line_done(struct same_line *same, struct json_decoder *decoder);

/* Fills the frame that was remembered, from a line that differs in values alone. Returns false, and leaves the frame, for other lines. */
bool same_line_read(struct same_line *same, struct scan line, struct frame *frame);

/* Remembers a line that was just decoded into a frame. */
void same_line_remember(struct same_line *same, const struct json_decoder *decoder, struct scan line,
			const struct frame *frame);
