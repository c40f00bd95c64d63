/* Keeps devices in the places where they were first seen; see roster.h. */
#include "gpu/roster.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "gpu/vendor.h"

static int64_t find_in_listing(const struct gpu_survey *listing, const char *uuid)
{
	for (int64_t i = 0; i < listing->device_count; i++)
		if (strcmp(listing->devices[i].uuid, uuid) == 0)
			return i;
	return NO_PLACE;
}

static void lose_readings(struct gpu_device *device, int error)
{
	for (int i = GPU_UTILIZATION_PCT; i < GPU_BUSY_SECS; i++)
		device->readings[i] = gpu_absent(error);
	device->tenant_count = device->holder_count = -1;
	device->pids = GPU_PIDS_UNKNOWN;
}

void roster_lose(const struct roster *roster, struct gpu_survey *survey, int64_t source, int error)
{
	for (int64_t i = 0; i < survey->device_count; i++)
		if (roster->sources[i] == source)
			lose_readings(&survey->devices[i], error);
}

/* ---- who stays ------------------------------------------------------------------------------------- */

static bool was_dissolved(const struct gpu_survey *survey, const struct gpu_survey *listing, int64_t place)
{
	const struct gpu_device *device = &survey->devices[place];

	return device->parent >= 0 && find_in_listing(listing, device->uuid) == NO_PLACE &&
	       find_in_listing(listing, survey->devices[device->parent].uuid) != NO_PLACE;
}

/* Closes the gaps that dissolved instances leave. */
static void close_gaps(struct roster *roster, struct gpu_survey *survey, int64_t source,
		       const struct gpu_survey *listing, struct roster_moves *moves)
{
	int64_t kept = 0;

	for (int64_t i = 0; i < survey->device_count; i++) {
		bool stays = roster->sources[i] != source || !was_dissolved(survey, listing, i);

		moves->to[i] = stays ? kept++ : NO_PLACE;
	}
	moves->any = kept < survey->device_count;
	for (int64_t i = 0; moves->any && i < survey->device_count; i++) {
		int64_t to = moves->to[i], parent = survey->devices[i].parent;

		if (to == NO_PLACE)
			continue;
		survey->devices[to] = survey->devices[i];
		survey->devices[to].parent = parent < 0 ? parent : moves->to[parent];
		roster->sums[to] = roster->sums[i];
		roster->sources[to] = roster->sources[i];
	}
	survey->device_count = kept;
}

/* ---- who comes ------------------------------------------------------------------------------------- */

/* The vendor's new numbers leave out missing devices. A number that was given keeps its meaning. */
static int64_t free_index(const struct gpu_survey *survey, const struct gpu_device *added)
{
	int64_t highest = -1;
	bool taken = false;

	for (int64_t i = 0; i < survey->device_count; i++) {
		const struct gpu_device *device = &survey->devices[i];

		if (device == added || device->parent >= 0 || strcasecmp(device->vendor, added->vendor) != 0)
			continue;
		taken |= device->index == added->index;
		if (device->index > highest)
			highest = device->index;
	}
	return taken ? highest + 1 : added->index;
}

static bool is_taken(const int64_t *places, int64_t count, int64_t place)
{
	for (int64_t i = 0; i < count; i++)
		if (places[i] == place)
			return true;
	return false;
}

/* Its earlier place. Devices with the same identity are distinguished by their order. */
static int64_t known_place(const struct roster *roster, const struct gpu_survey *survey, int64_t source,
			   const struct gpu_survey *listing, int64_t number, const int64_t *places)
{
	for (int64_t i = 0; i < survey->device_count; i++)
		if (roster->sources[i] == source && !is_taken(places, number, i) &&
		    strcmp(survey->devices[i].uuid, listing->devices[number].uuid) == 0)
			return i;
	return NO_PLACE;
}

static int64_t take_source(struct roster *roster, struct gpu_survey *survey, int64_t source,
			   const struct gpu_survey *listing, int64_t number, const int64_t *places)
{
	const struct gpu_device *listed = &listing->devices[number];
	int64_t parent = listed->parent >= 0 ? places[listed->parent] : NO_PLACE;
	int64_t place = known_place(roster, survey, source, listing, number, places);
	int64_t index = listed->index, visible = listed->visible;
	struct gpu_number total = listed->readings[GPU_VRAM_TOTAL_BYTES];
	bool known = place != NO_PLACE;
	struct gpu_device *device;

	if (listed->parent >= 0 && parent == NO_PLACE)
		return NO_PLACE;
	if (known) {
		index = survey->devices[place].index;
		visible = survey->devices[place].visible;
		/* The total memory of a device that does not answer is still known. */
		if (total.error)
			total = survey->devices[place].readings[GPU_VRAM_TOTAL_BYTES];
	} else {
		if (!gpu_survey_add_device(survey, listed->vendor))
			return NO_PLACE;
		place = survey->device_count - 1;
		roster->sums[place] = (struct device_sums){0};
		roster->sources[place] = source;
	}
	device = &survey->devices[place];
	*device = *listed;
	device->parent = parent;
	device->index = index;
	device->visible = visible;
	device->readings[GPU_VRAM_TOTAL_BYTES] = total;
	if (parent >= 0)
		device->index = survey->devices[parent].index;
	else if (!known)
		device->index = free_index(survey, device);
	return place;
}

void roster_take(struct roster *roster, struct gpu_survey *survey, int64_t source,
		 const struct gpu_survey *listing, int64_t *ret_places, struct roster_moves *ret_moves)
{
	close_gaps(roster, survey, source, listing, ret_moves);
	roster_lose(roster, survey, source, ENODEV);
	for (int64_t i = 0; i < listing->device_count; i++)
		ret_places[i] = take_source(roster, survey, source, listing, i, ret_places);
}
