/* Writes the data of a page between its head and its tail. */
#pragma once

#include "base/buffer.h"
#include "export/output.h"

/*
 * Writes JSON into the script element and empties the buffer. In JSON, "<" occurs only inside texts, where it can be
 * escaped. Without "<", the data cannot end the element.
 */
void page_write_data(struct output *output, struct buffer *json);
/* Writes bytes of the page itself. */
void page_write_bytes(struct output *output, const unsigned char *bytes, size_t length);
