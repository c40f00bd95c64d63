/* Draws graphs. See graph.h. */
#include "live/graph.h"

#include <math.h>

enum { BRAILLE = 0x2800, BRAILLE_LEVELS = 4, BLOCK = 0x2580, LEVELS = 8 };

size_t graph_points(enum graph_style style, size_t columns)
{
	size_t points = style == GRAPH_BRAILLE ? 2 * columns : columns;

	return points < GRAPH_POINTS_MOST ? points : GRAPH_POINTS_MOST;
}

/* The height of a value in steps: at least one for a value that is known, 0 for one that is not. */
static size_t height_of(double value, double most, size_t steps)
{
	double height = most > 0 ? value / most * (double)steps : 0;

	if (isnan(value))
		return 0;
	return height < 1 ? 1 : height > (double)steps ? steps : (size_t)lround(height);
}

/* The steps that a column of `height` fills in a row of characters, which has `levels`. */
static size_t fill_of(size_t height, size_t rows_below, size_t levels)
{
	size_t below = rows_below * levels;

	return height <= below ? 0 : height - below > levels ? levels : height - below;
}

/* Dots of a character from the lowest: left 7 3 2 1, right 8 6 5 4. */
static uint32_t braille_of_pair(size_t left, size_t right)
{
	static const unsigned LEFT[] = {0x00, 0x40, 0x44, 0x46, 0x47};
	static const unsigned RIGHT[] = {0x00, 0x80, 0xa0, 0xb0, 0xb8};

	return left || right ? BRAILLE + LEFT[left] + RIGHT[right] : ' ';
}

static uint32_t braille_of(enum graph_style style, size_t left, size_t right)
{
	static const char ASCII[] = " _.-:=+*#";

	if (style == GRAPH_BRAILLE)
		return braille_of_pair(left, right);
	if (style == GRAPH_BLOCKS)
		return left ? (uint32_t)(BLOCK + left) : ' ';
	return (uint32_t)ASCII[left];
}

void graph_draw(struct canvas *canvas, struct graph_place place, enum graph_style style, enum look look,
		const double *values, double most, size_t cursor)
{
	size_t levels = style == GRAPH_BRAILLE ? BRAILLE_LEVELS : LEVELS;
	size_t steps = levels * place.rows, per_column = style == GRAPH_BRAILLE ? 2 : 1;
	size_t points = graph_points(style, place.columns);

	for (size_t column = 0; column < place.columns; column++) {
		size_t point = column * per_column, last = point + per_column - 1;
		size_t left = point < points ? height_of(values[point], most, steps) : 0;
		size_t right = last < points ? height_of(values[last], most, steps) : 0;
		bool is_cursor = cursor >= point && cursor <= last;

		for (size_t row = 0; row < place.rows; row++) {
			uint32_t character = braille_of(style, fill_of(left, place.rows - 1 - row, levels),
							fill_of(right, place.rows - 1 - row, levels));

			canvas_put(canvas, place.row + row, place.column + column, character,
				   is_cursor ? look | LOOK_CURSOR : look);
		}
	}
}

double round_scale(double value, bool binary)
{
	static const double STEPS[] = {1, 2, 5, 10};
	double power;

	if (!(value > 0) || !isfinite(value))
		return 1;
	if (binary)
		return exp2(ceil(log2(value) - 1e-9));
	power = pow(10, floor(log10(value) + 1e-9));
	for (size_t i = 0; i < sizeof(STEPS) / sizeof(*STEPS); i++)
		if (value <= STEPS[i] * power * (1 + 1e-9))
			return STEPS[i] * power;
	return 10 * power;
}
