/*
 * Converts cells to text and back, for the folders that build tables beside the public calls.
 */
#pragma once

#include "base/buffer.h"
#include "base/json_write.h"
#include "base/scan.h"
#include "record/problem.h"
#include "resource_tracker_internal.h"

/*
 * Adds a real number with the fewest digits that read back as the same one, as Python prints it: 0.1, 2.0,
 * 1e-05, 1e+16, nan, inf.
 */
void buffer_add_shortest(struct buffer *out, double value);
/* Adds a member with that number; NaN and infinity are null. */
void json_shortest_member(struct json_writer *json, const char *key, double value);

/* Adds a cell as Python's str() prints it: None, 12, 2.5, text. */
void cell_add_text(struct buffer *out, struct rt_value cell);

/* Adds a cell as JSON. A number that is not finite becomes null. */
void cell_add_json(struct buffer *out, struct rt_value cell);

/* Returns an integer if the text is one and fits, else a real number, else an empty cell. */
struct rt_value cell_of_number(struct scan text);

/* Turns a buffer into the malloc'd text that a public call returns, and empties the buffer. */
int buffer_take_text(struct buffer *buffer, char **ret_text);
