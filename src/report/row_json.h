/* A row and what stands below it as JSON, as the catalogue describes them. */
#pragma once

#include "base/json_write.h"
#include "metric/frame.h"

/* {"exit_code":0,...,"signals":[...]}; NULL is null. */
void row_json(struct json_writer *json, const struct row *row, const struct frame *frame);
