/*
 * The devices that a job's environment makes visible: CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and
 * HIP_VISIBLE_DEVICES, ZE_AFFINITY_MASK, and Slurm's own list if none of these is set.
 */
#pragma once

#include <stddef.h>

#include "gpu/survey.h"

/*
 * Sets ->visible of every device from consecutive NAME=VALUE texts, each ended by a NUL (/proc/PID/environ). An
 * absent variable hides nothing.
 */
void gpu_mark_visible(struct gpu_survey *survey, const char *environment, size_t length);
