/* The page that a person reads first: the text form of a summary, with style marks (base/screen.h), in lines of any length. */
#pragma once

#include "table/units.h"
#include "verdict/run_summary.h"

void summary_add_page(struct buffer *out, const rt_summary *summary, enum rt_size_unit unit);
