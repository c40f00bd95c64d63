/* Rows of integers, kept by column in little memory. See int_columns.h. */
#include "tracker/int_columns.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROWS = INT_COLUMNS_PAGE_ROWS,
	BITMAP_BYTES = ROWS / 8,
	WIDE = 64,        /* bits of an offset that is stored as it is */
	NARROW_MOST = 56, /* with up to 7 bits before it, an offset of so many fits into 8 bytes */
};

enum shape {
	NOTHING, /* no row has a value, and the width is 0 */
	VALUES,  /* value = low + offset */
	STEPS,   /* value = the one before + low + offset; the first is `start` */
};

struct packed_column {
	int64_t start;
	int64_t low;
	uint32_t at; /* of its bytes in the page */
	uint8_t width;
	uint8_t shape;
	bool has_gaps; /* a bitmap of the rows without value comes first */
};

struct int_page {
	size_t size; /* of all of it */
	struct packed_column columns[];
	/* the columns' bytes, and 8 more so that each offset can be loaded as a whole */
};

int int_columns_init(struct int_columns *columns, size_t column_count, int64_t keep)
{
	size_t size = column_count * ROWS * sizeof(int64_t);

	*columns = (struct int_columns){.column_count = column_count, .keep = keep, .bytes = size};
	columns->open = malloc(size ? size : 1);
	return columns->open ? 0 : -ENOMEM;
}

void int_columns_done(struct int_columns *columns)
{
	for (size_t i = 0; i < columns->page_count; i++)
		free(columns->pages[i]);
	free(columns->pages);
	free(columns->open);
	*columns = (struct int_columns){0};
}

static void drop_front(struct int_columns *columns)
{
	columns->bytes -= columns->pages[0]->size;
	free(columns->pages[0]);
	columns->page_count--;
	memmove(columns->pages, columns->pages + 1, columns->page_count * sizeof columns->pages[0]);
	columns->first_row += ROWS;
	columns->row_count -= ROWS;
}

/* ---- packing ----------------------------------------------------------------------------------------- */

static uint8_t bits_of(uint64_t range)
{
	int bits = range ? WIDE - __builtin_clzll(range) : 0;

	return (uint8_t)(bits > NARROW_MOST ? WIDE : bits);
}

/* Gaps take the value before them (the first ones that after them), so that they cost nothing but their bit. */
static size_t fill_gaps(int64_t *values)
{
	size_t first = 0, gaps;

	while (first < ROWS && values[first] == INT_COLUMNS_ABSENT)
		first++;
	gaps = first;
	if (first == ROWS)
		return gaps;
	for (size_t i = 0; i < first; i++)
		values[i] = values[first];
	for (size_t i = first + 1; i < ROWS; i++) {
		if (values[i] == INT_COLUMNS_ABSENT) {
			values[i] = values[i - 1];
			gaps++;
		}
	}
	return gaps;
}

/* How a column is packed best; `filled` has no gaps. */
static struct packed_column plan_column(const int64_t *filled)
{
	int64_t low = filled[0], high = filled[0], least_step = INT64_MAX, most_step = INT64_MIN;
	bool steps_fit = true;
	uint8_t width, steps_width;

	for (size_t i = 1; i < ROWS; i++) {
		int64_t step;

		low = filled[i] < low ? filled[i] : low;
		high = filled[i] > high ? filled[i] : high;
		steps_fit &= !__builtin_sub_overflow(filled[i], filled[i - 1], &step);
		least_step = step < least_step ? step : least_step;
		most_step = step > most_step ? step : most_step;
	}
	width = bits_of((uint64_t)high - (uint64_t)low);
	steps_width = bits_of((uint64_t)most_step - (uint64_t)least_step);
	if (steps_fit && steps_width < width)
		return (struct packed_column){
			.start = filled[0], .low = least_step, .width = steps_width, .shape = STEPS};
	return (struct packed_column){.low = low, .width = width, .shape = VALUES};
}

static size_t packed_size(const struct packed_column *column)
{
	return (column->has_gaps ? BITMAP_BYTES : 0) + (size_t)column->width * ROWS / 8;
}

static void put_bits(unsigned char *bytes, size_t index, unsigned width, uint64_t offset)
{
	size_t bit = index * width;
	uint64_t word;

	memcpy(&word, bytes + bit / 8, sizeof word);
	word = htole64(le64toh(word) | offset << bit % 8);
	memcpy(bytes + bit / 8, &word, sizeof word);
}

static void pack_column(const struct packed_column *column, const int64_t *values, const int64_t *filled,
			unsigned char *bytes)
{
	if (column->has_gaps) {
		for (size_t i = 0; i < ROWS; i++)
			if (values[i] == INT_COLUMNS_ABSENT)
				bytes[i / 8] |= (unsigned char)(1u << i % 8);
		bytes += BITMAP_BYTES;
	}
	if (!column->width)
		return;
	for (size_t i = 0; i < ROWS; i++) {
		uint64_t before = column->shape == VALUES ? 0 : (uint64_t)filled[i ? i - 1 : 0];
		uint64_t offset = (uint64_t)filled[i] - before - (uint64_t)column->low;

		if (column->shape == VALUES || i)
			put_bits(bytes, i, column->width, offset);
	}
}

/* The open rows as a page, or NULL without memory. */
static struct int_page *pack_open_rows(const struct int_columns *columns)
{
	size_t head = sizeof(struct int_page) + columns->column_count * sizeof(struct packed_column);
	struct packed_column *plans = calloc(columns->column_count + 1, sizeof *plans);
	struct int_page *page = NULL;
	size_t size = head;
	int64_t filled[ROWS];

	for (size_t i = 0; plans && i < columns->column_count; i++) {
		size_t gaps;

		memcpy(filled, columns->open + i * ROWS, sizeof filled);
		gaps = fill_gaps(filled);
		if (gaps < ROWS) {
			plans[i] = plan_column(filled);
			plans[i].has_gaps = gaps > 0;
		}
		plans[i].at = (uint32_t)size;
		size += packed_size(&plans[i]);
	}
	size += sizeof(uint64_t);
	if (plans)
		page = calloc(1, size);
	if (page) {
		page->size = size;
		memcpy(page->columns, plans, columns->column_count * sizeof *plans);
		for (size_t i = 0; i < columns->column_count; i++) {
			const int64_t *values = columns->open + i * ROWS;

			memcpy(filled, values, sizeof filled);
			(void)fill_gaps(filled);
			pack_column(&plans[i], values, filled, (unsigned char *)page + plans[i].at);
		}
	}
	free(plans);
	return page;
}

static bool make_column_room(struct int_columns *columns)
{
	size_t room = columns->page_room ? columns->page_room * 2 : 16;
	struct int_page **grown;

	if (columns->page_count < columns->page_room)
		return true;
	grown = reallocarray(columns->pages, room, sizeof columns->pages[0]);
	if (!grown)
		return false;
	columns->bytes += (room - columns->page_room) * sizeof columns->pages[0];
	columns->pages = grown;
	columns->page_room = room;
	return true;
}

/* Without memory the oldest page makes room for the newest. Without any page, the open rows are lost. */
static void close_page(struct int_columns *columns)
{
	struct int_page *page = pack_open_rows(columns);

	while (!(page && make_column_room(columns)) && columns->page_count) {
		drop_front(columns);
		if (!page)
			page = pack_open_rows(columns);
	}
	columns->open_rows = 0;
	if (!page || columns->page_count >= columns->page_room) {
		free(page);
		columns->first_row += ROWS;
		columns->row_count -= ROWS;
		return;
	}
	columns->pages[columns->page_count++] = page;
	columns->bytes += page->size;
}

void int_columns_add(struct int_columns *columns, const int64_t *values)
{
	for (size_t i = 0; i < columns->column_count; i++)
		columns->open[i * ROWS + columns->open_rows] = values[i];
	columns->open_rows++;
	columns->row_count++;
	if (columns->open_rows == ROWS)
		close_page(columns);
	while (columns->page_count && columns->row_count - ROWS >= columns->keep)
		drop_front(columns);
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static uint64_t get_bits(const unsigned char *bytes, size_t index, unsigned width)
{
	uint64_t mask = width == WIDE ? UINT64_MAX : (UINT64_C(1) << width) - 1;
	size_t bit = index * width;
	uint64_t word;

	memcpy(&word, bytes + bit / 8, sizeof word);
	return le64toh(word) >> bit % 8 & mask;
}

/* All values of a page's column. */
static void unpack_column(const struct int_page *page, size_t column, int64_t *ret_values)
{
	const struct packed_column *packed = &page->columns[column];
	const unsigned char *gaps = (const unsigned char *)page + packed->at;
	const unsigned char *bytes = gaps + (packed->has_gaps ? BITMAP_BYTES : 0);
	uint64_t value = (uint64_t)packed->start - (uint64_t)packed->low, low = (uint64_t)packed->low;
	unsigned width = packed->width;

	switch ((enum shape)packed->shape) {
	case NOTHING:
		for (size_t i = 0; i < ROWS; i++)
			ret_values[i] = INT_COLUMNS_ABSENT;
		break;
	case VALUES:
		for (size_t i = 0; i < ROWS; i++)
			ret_values[i] = (int64_t)(low + get_bits(bytes, i, width));
		break;
	case STEPS: /* the offset of the first is 0 */
		for (size_t i = 0; i < ROWS; i++)
			ret_values[i] = (int64_t)(value += low + get_bits(bytes, i, width));
		break;
	}
	for (size_t i = 0; packed->has_gaps && i < ROWS; i++)
		if (gaps[i / 8] & 1u << i % 8)
			ret_values[i] = INT_COLUMNS_ABSENT;
}

size_t int_columns_read(const struct int_columns *columns, size_t column, int64_t first, size_t count,
			int64_t *ret_values)
{
	int64_t index = first - columns->first_row;
	size_t page = (size_t)(index / ROWS), offset = (size_t)(index % ROWS), there;
	int64_t values[ROWS];

	if (index < 0 || index >= columns->row_count || column >= columns->column_count)
		return 0;
	there = page < columns->page_count ? ROWS - offset : columns->open_rows - offset;
	count = count < there ? count : there;
	if (page < columns->page_count)
		unpack_column(columns->pages[page], column, values);
	memcpy(ret_values,
	       page < columns->page_count ? values + offset : columns->open + column * ROWS + offset,
	       count * sizeof *ret_values);
	return count;
}
