/*
 * Cells as text and from text, for the folders that build tables beside the public calls.
 */
#pragma once

#include "base/buffer.h"
#include "base/scan.h"
#include "record/problem.h"

/*
 * A real number in the fewest digits that read back as the same one, as Python prints it: 0.1, 2.0, 1e-05, 1e+16,
 * nan, inf.
 */
void buffer_add_shortest(struct buffer *out, double value);

/* As Python's str(): None, 12, 2.5, text. */
void cell_add_text(struct buffer *out, struct rt_cell cell);

/* As JSON; what is no finite number is null. */
void cell_add_json(struct buffer *out, struct rt_cell cell);

/* An integer if it is written as one and fits, else a real number; empty if it is neither. */
struct rt_cell cell_of_number(struct scan text);

/* A buffer's text as what a public call returns: malloc'd, the buffer is empty then. */
int buffer_take_text(struct buffer *buffer, char **ret_text);
