/* Graphs made of characters. */
#pragma once

#include <stdbool.h>

#include "live/canvas.h"

enum graph_style { GRAPH_BRAILLE, GRAPH_BLOCKS, GRAPH_ASCII, GRAPH_STYLES };

struct graph_place {
	size_t row, column, rows, columns;
};

enum { GRAPH_POINTS_MOST = 2000 };

/* The points of a graph beside each other: two in a character of braille, one in any other. */
size_t graph_points(enum graph_style style, size_t columns);

/*
 * Draws values from 0 to `most` as an area. A value of 0 has a mark, an unknown one (NaN) has none.
 * `values` has graph_points() values. `cursor`: the point that is looked at, or SIZE_MAX.
 */
void graph_draw(struct canvas *canvas, struct graph_place place, enum graph_style style, enum look look,
		const double *values, double most, size_t cursor);

/* Rounds up to 1, 2, 5, 10, ..., or to a power of two with `binary`, as the end of a scale. */
double round_scale(double value, bool binary);
