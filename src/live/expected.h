/* The end of a run that its job's last good runs let expect, in words. */
#pragma once

#include <stdbool.h>

#include "history/usual_time.h"

enum { EXPECTED_BYTES = 120 };

/* Whether the run takes longer than nine of ten runs did. */
bool is_overdue(const struct usual_time *usual, double elapsed_secs);

/*
 * "usually 12 min, about 4 min left", "usually 10 to 15 min, about 1 min left; slower than 9 of 10 runs". After its end, nothing is left. Returns ret_text,
 * which is empty if too few runs are known.
 */
const char *expected_text(const struct usual_time *usual, double elapsed_secs, bool goes_on,
			  char ret_text[static EXPECTED_BYTES]);
