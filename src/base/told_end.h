/*
 * The end of an attached process, as its parent tells it to the recorder: only a parent learns the status and the times of wait4(2).
 *
 * A parent that attaches a recorder to its child (the plugin of Slurm, src/slurm) names a socket by RESOURCE_TRACKER_STATUS_FD. The
 * recorder sends one byte when it has attached. When the child has ended, the parent sends this.
 */
#pragma once

#include <stdint.h>

struct told_end {
	int32_t status; /* as wait(2) returns it */
	int32_t padding;
	int64_t utime_usec, stime_usec; /* of the child and of all children that it has waited for */
	int64_t largest_kib;            /* ru_maxrss, 0 if unknown */
};
