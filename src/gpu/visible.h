/*
 * Which devices the environment of a job lets it see: CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and
 * HIP_VISIBLE_DEVICES, ZE_AFFINITY_MASK, and Slurm's own list where none of these is set.
 */
#pragma once

#include <stddef.h>

#include "gpu/survey.h"

/*
 * Sets ->visible of every device from NAME=VALUE texts that follow each other, each ended by a NUL
 * (/proc/PID/environ). A variable that is not there hides nothing.
 */
void gpu_mark_visible(struct gpu_survey *survey, const char *environment, size_t length);
