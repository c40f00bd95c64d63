/* All rows of one tick, in an arena; see frame.h. */
#include "metric/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "metric/typed_rows.h"

enum { CHUNK_BYTES = 16 << 10, LARGEST_ROW_BYTES = 1024 };

#define ROW_BEGIN(kind, parent, shape, key, source, cost, help) \
	_Static_assert(sizeof(struct kind##_row) <= LARGEST_ROW_BYTES, "raise LARGEST_ROW_BYTES");
#include "metric/catalogue.def"

struct frame_chunk {
	struct frame_chunk *next;
	size_t size;
	_Alignas(16) char bytes[];
};

void frame_done(struct frame *frame)
{
	struct frame_chunk *chunk = frame->chunks;

	while (chunk) {
		struct frame_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
	*frame = (struct frame){0};
}

static struct frame_chunk *new_chunk(size_t size)
{
	struct frame_chunk *chunk;

	if (size < CHUNK_BYTES)
		size = CHUNK_BYTES;
	chunk = malloc(sizeof *chunk + size);
	if (chunk)
		*chunk = (struct frame_chunk){.size = size};
	return chunk;
}

static void *take_memory(struct frame *frame, size_t size)
{
	struct frame_chunk **link = &frame->chunks;
	void *taken;

	size = (size + 15) & ~(size_t)15;
	if (frame->chunk && frame->used + size > frame->chunk->size) {
		/* Chunks from earlier ticks are reused. A chunk that is too small is skipped in this tick. */
		do {
			link = &frame->chunk->next;
			frame->chunk = frame->chunk->next;
		} while (frame->chunk && size > frame->chunk->size);
		frame->used = 0;
	}
	if (!frame->chunk) {
		while (*link)
			link = &(*link)->next;
		*link = frame->chunk = new_chunk(size);
		frame->used = 0;
		if (!frame->chunk) {
			frame->error = -ENOMEM;
			return NULL;
		}
	}
	taken = frame->chunk->bytes + frame->used;
	frame->used += size;
	return taken;
}

void frame_begin(struct frame *frame, int64_t monotonic_ns, int64_t realtime_ns)
{
	*frame = (struct frame){
		.monotonic_ns = monotonic_ns,
		.realtime_ns = realtime_ns,
		.chunks = frame->chunks,
		.chunk = frame->chunks,
	};
	frame->sample = (struct sample_row *)(void *)frame_add(frame, ROW_sample, NULL);
}

/* A row for collectors to write to when there is no memory. It is never read. */
static struct row *spare_row(enum row_kind kind)
{
	static _Thread_local union {
		struct row row;
		char bytes[LARGEST_ROW_BYTES];
	} spare;

	spare.row = (struct row){.kind = kind};
	row_set_absent(&spare.row, ABSENT_NOT_COLLECTED);
	return &spare.row;
}

struct row *frame_add(struct frame *frame, enum row_kind kind, struct row *parent)
{
	struct row *row = take_memory(frame, ROW_DESCRIPTIONS[kind].size);

	if (!row)
		return spare_row(kind);
	*row = (struct row){.kind = kind};
	row_set_absent(row, ABSENT_NOT_COLLECTED);
	row->parent = parent ? parent : frame->sample ? &frame->sample->row : NULL;
	if (frame->last[kind])
		frame->last[kind]->next = row;
	else
		frame->first[kind] = row;
	frame->last[kind] = row;
	return row;
}

struct row *frame_single(struct frame *frame, enum row_kind kind)
{
	return frame->first[kind] ? frame->first[kind] : frame_add(frame, kind, NULL);
}

const char *frame_text(struct frame *frame, const char *bytes, size_t length)
{
	char *copy = take_memory(frame, length + 1);

	if (!copy)
		return no_text(ENOMEM);
	memcpy(copy, bytes, length);
	copy[length] = '\0';
	return copy;
}

/* Returns how many bytes of a chunk an image holds: all of those before the last one. */
static size_t image_bytes(const struct frame *frame, const struct frame_chunk *chunk)
{
	return chunk == frame->chunk ? frame->used : chunk->size;
}

int frame_image_take(struct frame_image *image, const struct frame *frame)
{
	const struct frame_chunk *end = frame->chunk->next;
	size_t size = 0;

	for (const struct frame_chunk *chunk = frame->chunks; chunk != end; chunk = chunk->next)
		size += image_bytes(frame, chunk);
	if (size > image->capacity) {
		char *bytes = realloc(image->bytes, size);

		if (!bytes)
			return -ENOMEM;
		image->bytes = bytes;
		image->capacity = size;
	}
	image->frame = *frame;
	image->size = 0;
	for (const struct frame_chunk *chunk = frame->chunks; chunk != end; chunk = chunk->next) {
		memcpy(image->bytes + image->size, chunk->bytes, image_bytes(frame, chunk));
		image->size += image_bytes(frame, chunk);
	}
	return 0;
}

void frame_image_put(const struct frame_image *image, struct frame *frame)
{
	const struct frame_chunk *end = image->frame.chunk->next;
	const char *bytes = image->bytes;

	*frame = image->frame;
	for (struct frame_chunk *chunk = frame->chunks; chunk != end; chunk = chunk->next) {
		memcpy(chunk->bytes, bytes, image_bytes(frame, chunk));
		bytes += image_bytes(frame, chunk);
	}
}

size_t frame_image_offset(const struct frame_image *image, const void *at)
{
	size_t offset = 0;

	for (const struct frame_chunk *chunk = image->frame.chunks;; chunk = chunk->next) {
		size_t within = (size_t)((uintptr_t)at - (uintptr_t)chunk->bytes);

		if (within < chunk->size)
			return offset + within;
		offset += image_bytes(&image->frame, chunk);
	}
}

void frame_image_done(struct frame_image *image)
{
	free(image->bytes);
	*image = (struct frame_image){0};
}

/* Keys of nested arrays repeat below other parents, so the parents must match as well. */
static bool same_identity(const struct row *a, const struct row *b)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[a->kind];
	const char *key_a, *key_b;

	if (!description->key_offset)
		return a->number == b->number;
	key_a = *row_text(a, description->key_offset);
	key_b = *row_text(b, description->key_offset);
	if (text_absent(key_a) || text_absent(key_b) || strcmp(key_a, key_b) != 0 || a->number != b->number)
		return false;
	return description->parent == ROW_sample || same_identity(a->parent, b->parent);
}

const struct row *frame_match(const struct frame *other, const struct row *row, const struct row *guess)
{
	if (guess && same_identity(row, guess))
		return guess;
	for (guess = other->first[row->kind]; guess; guess = guess->next)
		if (same_identity(row, guess))
			return guess;
	return NULL;
}

void frame_own_texts(struct frame *frame)
{
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++) {
		const struct row_description *description = &ROW_DESCRIPTIONS[kind];

		for (struct row *row = frame->first[kind]; row; row = row->next) {
			for (size_t i = 0; i < description->metric_count; i++) {
				const char **text = row_text(row, metric_offset(i));

				if (description->metrics[i].type == TYPE_TEXT && !text_absent(*text))
					*text = frame_text(frame, *text, strlen(*text));
			}
		}
	}
}
