/* Whether text is JSON to the letter, which what is copied into other files must be. */
#pragma once

#include <stdbool.h>

#include "base/scan.h"

/* One value of RFC 8259 in valid UTF-8, with space around it, nested at most 128 deep. */
bool json_is_valid(struct scan text);
