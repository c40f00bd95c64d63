/* One recording, in the mode that was asked for. */
#pragma once

#include "cli/front.h"

/* Returns the exit status. Does not return after a wrapped job has ended. `argv` is main()'s. */
int run_recording(struct front *front, char **argv);
