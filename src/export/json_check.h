/* Checks text against strict JSON before it is copied into other files. */
#pragma once

#include <stdbool.h>

#include "base/scan.h"

/* Accepts one value of RFC 8259 in valid UTF-8, with space around it, nested at most 128 levels deep. */
bool json_is_valid(struct scan text);
