/* Samples and rows as JSON, in the shape of the catalogue. */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "base/json_write.h"
#include "metric/frame.h"

/* A row with the rows below it: {"exit_code":0,...,"signals":[...]}. A NULL row is written as null. */
void write_row_json(struct json_writer *json, const struct frame *frame, const struct row *row);

/* One sample as JSON without newline. brief: without identity fields and nulls. */
void write_frame_json(struct buffer *out, const struct frame *frame, bool brief);
