/*
 * Drops readings that no device can have. Drivers, and hypervisors that stand for them, answer with all bits set, with 0 or with
 * negative numbers where they know nothing.
 */
#pragma once

#include "gpu/survey.h"

void gpu_drop_impossible(struct gpu_survey *survey);
