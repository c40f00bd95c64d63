/* Bytes as base64 (RFC 4648), with padding. */
#pragma once

#include "base/buffer.h"

void buffer_add_base64(struct buffer *out, const void *bytes, size_t length);
