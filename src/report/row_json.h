/* Writes a row and the rows below it as JSON, in the order of the catalogue. */
#pragma once

#include "base/json_write.h"
#include "metric/frame.h"

/* Writes {"exit_code":0,...,"signals":[...]}, or null for NULL. */
void row_json(struct json_writer *json, const struct row *row, const struct frame *frame);
