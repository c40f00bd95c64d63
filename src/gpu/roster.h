/*
 * The devices of a survey. Each keeps the place, number and sums from when it was first seen, however often its
 * vendor lists the devices again, in whatever order.
 *
 * A device that its vendor no longer lists is gone, and keeps its row without readings. If the device is listed
 * but its instance is not, the instance was dissolved and is removed.
 */
#pragma once

#include "gpu/survey.h"

/* Sums of a device over the passes. */
struct device_sums {
	double busy_secs, covered_secs, energy_joules;
};

struct roster {
	struct device_sums sums[GPU_DEVICES_MAX]; /* by the place in the survey */
	int64_t sources[GPU_DEVICES_MAX];         /* the source of the device */
};

enum { NO_PLACE = -1 };

/* The new place of each device of a survey, or NO_PLACE, indexed by its old place. */
struct roster_moves {
	int64_t to[GPU_DEVICES_MAX];
	bool any;
};

/*
 * Adds a source's list of devices to the survey. ret_places gives the place of each; NO_PLACE: there was no
 * room, which is counted.
 */
void roster_take(struct roster *roster, struct gpu_survey *survey, int64_t source,
		 const struct gpu_survey *listing, int64_t *ret_places, struct roster_moves *ret_moves);

/* The source cannot be read any more: makes all readings of its devices absent, with this reason. */
void roster_lose(const struct roster *roster, struct gpu_survey *survey, int64_t source, int error);
