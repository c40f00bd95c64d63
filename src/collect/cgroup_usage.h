/* The collector of the job's cgroup. */
#pragma once

#include "metric/frame.h"

/* A job was just started in a cgroup of its own: in the frame before, that cgroup has used nothing. */
void cgroup_usage_begin(struct frame *frame);
