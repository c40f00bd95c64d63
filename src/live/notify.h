/* Tells the user that a run has ended, or is late. */
#pragma once

#include "live/run.h"

/* Rings, and calls notify-send where there is a desktop bus. Both say what was usual for the job, if that is known. */
void notify_of_end(const struct run *run);
/* Says once that a run takes longer than nine of ten did. */
void notify_if_overdue(struct run *run);
