/* Tells the user that a run has ended. */
#pragma once

#include "live/run.h"

/* Rings, and calls notify-send where there is a desktop bus. */
void notify_of_end(const struct run *run);
