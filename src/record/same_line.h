/*
 * Reads a line of a recording that differs from the last one in values alone, as most do: names, sizes and zeros stay the same.
 *
 * Equal bytes are compared, not decoded. A value that differs is decoded and written into the frame of the last line. Any other
 * difference is left to the decoder, so both give the same frame.
 */
#pragma once

#include "format/json_decode.h"

struct same_place;
struct same_change;

struct same_line {
	bool known;         /* a line is remembered, with its places and its frame */
	struct buffer text; /* the last line */
	struct same_place *places;
	size_t place_count, place_room;
	struct same_change *changes; /* as many as places */
	struct frame_image image;    /* the frame of the last line as it was decoded */
	size_t misses;               /* lines that were remembered in vain, in a row */
	size_t passed;               /* lines since the last one that was remembered */
};

/* Lets the decoder note where its values stand. Without memory each line is decoded. */
void same_line_begin(struct same_line *same, struct json_decoder *decoder);
void same_line_done(struct same_line *same, struct json_decoder *decoder);

/* Fills the frame that was remembered, from a line that differs in values alone. Returns false, and leaves the frame, for other lines. */
bool same_line_read(struct same_line *same, struct scan line, struct frame *frame);

/* Remembers a line that was just decoded into a frame. */
void same_line_remember(struct same_line *same, const struct json_decoder *decoder, struct scan line,
			const struct frame *frame);
