/*
 * The devices of a survey: each keeps the place, the number and the sums that it was first seen with, however often and in
 * whatever order its vendor lists them anew.
 *
 * A device that its vendor no longer lists has gone, and keeps its row without readings. An instance whose device is
 * still listed was dissolved, and leaves.
 */
#pragma once

#include "gpu/survey.h"

/* Sums of a device over the passes. */
struct device_sums {
	double busy_secs, covered_secs, energy_joules;
};

struct roster {
	struct device_sums sums[GPU_DEVICES_MAX]; /* by the place in the survey */
	int64_t sources[GPU_DEVICES_MAX];         /* whose device it is */
};

enum { NO_PLACE = -1 };

/* Where the devices of a survey have moved: to which place, or NO_PLACE; by the place that they had. */
struct roster_moves {
	int64_t to[GPU_DEVICES_MAX];
	bool any;
};

/*
 * Takes what a source has listed into the survey. ret_places says where each device of the listing stands; NO_PLACE: there
 * was no room, which is counted.
 */
void roster_take(struct roster *roster, struct gpu_survey *survey, int64_t source,
		 const struct gpu_survey *listing, int64_t *ret_places, struct roster_moves *ret_moves);

/* Nothing can be read of a source any more: all of its devices are without readings, for this reason. */
void roster_lose(const struct roster *roster, struct gpu_survey *survey, int64_t source, int error);
