/* The collector of the job's cgroup. */
#pragma once

#include "metric/frame.h"

/* The job was just started in a cgroup of its own: sets the counters in the previous frame to 0. */
void cgroup_usage_begin(struct frame *frame);
