/* src/gpu/roster.c by its own calls: the places of devices from one list to the next. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

#include "gpu/roster.h"
#include "gpu/vendor.h"

static struct roster roster;
static struct gpu_survey survey, listing;
static struct roster_moves moves;
static int64_t places[GPU_DEVICES_MAX];

static int set_up(void **state)
{
	(void)state;
	memset(&roster, 0, sizeof roster);
	memset(&survey, 0, sizeof survey);
	return 0;
}

static void list_nothing(void)
{
	memset(&listing, 0, sizeof listing);
}

static struct gpu_device *list_device(const char *vendor, const char *uuid, int64_t parent)
{
	struct gpu_device *device = gpu_survey_add_device(&listing, vendor);

	snprintf(device->uuid, sizeof device->uuid, "%s", uuid);
	device->parent = parent;
	return device;
}

/* The UUIDs of the survey's devices, each with its index and the place of its parent. */
static void take(int64_t source, const char *expected)
{
	char found[300] = "";

	roster_take(&roster, &survey, source, &listing, places, &moves);
	for (int64_t i = 0; i < survey.device_count; i++) {
		snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s %d", i ? ", " : "",
			 survey.devices[i].uuid, (int)survey.devices[i].index);
		if (survey.devices[i].parent >= 0)
			snprintf(found + strlen(found), sizeof found - strlen(found), " of %d",
				 (int)survey.devices[i].parent);
	}
	assert_string_equal(found, expected);
}

static void list_divided(void)
{
	list_nothing();
	list_device("NVIDIA", "a", -1);
	list_device("NVIDIA", "a1", 0)->index = 0;
	list_device("NVIDIA", "a2", 0)->index = 0;
	list_device("NVIDIA", "b", -1)->index = 1;
	list_device("NVIDIA", "b1", 3)->index = 1;
}

static void devices_take_places_in_the_order_of_the_list(void **state)
{
	(void)state;
	list_divided();
	take(0, "a 0, a1 0 of 0, a2 0 of 0, b 1, b1 1 of 3");
	assert_false(moves.any);
	for (int i = 0; i < 5; i++)
		assert_int_equal(places[i], i);
	take(0, "a 0, a1 0 of 0, a2 0 of 0, b 1, b1 1 of 3");
	assert_false(moves.any);
	for (int i = 0; i < 5; i++)
		assert_int_equal(moves.to[i], i);
}

/* Those behind a dissolved instance move up, with their sums and readings of constant values. */
static void dissolved_instances_leave_no_gap(void **state)
{
	(void)state;
	list_divided();
	take(0, "a 0, a1 0 of 0, a2 0 of 0, b 1, b1 1 of 3");
	for (int i = 0; i < 5; i++)
		roster.sums[i].busy_secs = 10 + i;
	list_nothing();
	list_device("NVIDIA", "a", -1);
	list_device("NVIDIA", "b", -1)->index = 1;
	list_device("NVIDIA", "b1", 1)->index = 1;
	list_device("NVIDIA", "b2", 1)->index = 1;
	take(0, "a 0, b 1, b1 1 of 1, b2 1 of 1");
	assert_true(moves.any);
	assert_int_equal(moves.to[0], 0);
	assert_int_equal(moves.to[1], NO_PLACE);
	assert_int_equal(moves.to[2], NO_PLACE);
	assert_int_equal(moves.to[3], 1);
	assert_int_equal(moves.to[4], 2);
	assert_true(roster.sums[1].busy_secs == 13 && roster.sums[2].busy_secs == 14 &&
		    roster.sums[3].busy_secs == 0);
	assert_int_equal(places[3], 3);
	/* The last one alone. */
	list_nothing();
	list_device("NVIDIA", "a", -1);
	list_device("NVIDIA", "b", -1)->index = 1;
	list_device("NVIDIA", "b1", 1)->index = 1;
	take(0, "a 0, b 1, b1 1 of 1");
	assert_true(moves.any);
	/* All of the first device. */
	list_nothing();
	list_device("NVIDIA", "b", -1)->index = 1;
	take(0, "a 0, b 1");
	assert_int_equal(places[0], 1);
}

/* A device that is not listed keeps its place, and its instances theirs. */
static void lost_devices_keep_their_place(void **state)
{
	(void)state;
	list_divided();
	listing.devices[0].readings[GPU_VRAM_TOTAL_BYTES] = gpu_value(1000);
	listing.devices[3].readings[GPU_POWER_WATTS] = gpu_value(5);
	take(0, "a 0, a1 0 of 0, a2 0 of 0, b 1, b1 1 of 3");
	survey.devices[0].visible = 0;
	survey.devices[3].tenant_count = survey.devices[3].holder_count = 4;
	survey.devices[3].pids = GPU_PIDS_OURS;
	list_nothing();
	list_device("NVIDIA", "a", -1);
	take(0, "a 0, b 1, b1 1 of 1");
	assert_int_equal(survey.devices[0].visible, 0);
	/* The total of a device that does not answer is still known. */
	assert_true(survey.devices[0].readings[GPU_VRAM_TOTAL_BYTES].value == 1000 &&
		    !survey.devices[0].readings[GPU_VRAM_TOTAL_BYTES].error);
	assert_int_equal(survey.devices[1].readings[GPU_POWER_WATTS].error, ENODEV);
	assert_int_equal(survey.devices[1].readings[GPU_BUSY_SECS - 1].error, ENODEV);
	assert_int_equal(survey.devices[1].readings[GPU_UTILIZATION_PCT].error, ENODEV);
	assert_int_equal(survey.devices[1].readings[GPU_CORE_COUNT].error, EOPNOTSUPP);
	assert_int_equal(survey.devices[1].tenant_count, -1);
	assert_int_equal(survey.devices[1].holder_count, -1);
	assert_int_equal(survey.devices[1].pids, GPU_PIDS_UNKNOWN);
	listing.devices[0].readings[GPU_VRAM_TOTAL_BYTES] = gpu_value(2000);
	take(0, "a 0, b 1, b1 1 of 1");
	assert_true(survey.devices[0].readings[GPU_VRAM_TOTAL_BYTES].value == 2000);
}

/* The vendor counts those that are there: its number 1 is taken by a device that is lost. */
static void a_number_that_was_given_keeps_its_meaning(void **state)
{
	(void)state;
	list_nothing();
	list_device("NVIDIA", "a", -1);
	list_device("NVIDIA", "b", -1);
	take(0, "a 0, b 1");
	list_nothing();
	list_device("NVIDIA", "a", -1);
	list_device("NVIDIA", "c", -1);
	take(0, "a 0, b 1, c 2");
	list_nothing();
	list_device("NVIDIA", "d", -1)->index = 7;
	take(0, "a 0, b 1, c 2, d 7");
	list_nothing();
	list_device("NVIDIA", "e", -1)->index = 0;
	take(0, "a 0, b 1, c 2, d 7, e 8");
	/* Numbers of another vendor are its own, by any case of its name. */
	list_nothing();
	list_device("AMD", "f", -1);
	take(1, "a 0, b 1, c 2, d 7, e 8, f 0");
	list_nothing();
	list_device("amd", "g", -1);
	take(1, "a 0, b 1, c 2, d 7, e 8, f 0, g 1");
}

static void sources_lose_their_own_devices_alone(void **state)
{
	(void)state;
	list_nothing();
	list_device("NVIDIA", "same", -1);
	take(0, "same 0");
	list_nothing();
	list_device("AMD", "same", -1);
	take(1, "same 0, same 0");
	assert_int_equal(places[0], 1);
	for (int i = 0; i < 2; i++)
		survey.devices[i].readings[GPU_POWER_WATTS] = gpu_value(1);
	roster_lose(&roster, &survey, 1, EACCES);
	assert_int_equal(survey.devices[0].readings[GPU_POWER_WATTS].error, 0);
	assert_int_equal(survey.devices[1].readings[GPU_POWER_WATTS].error, EACCES);
}

/* Devices with the same identity are told apart by their order. */
static void equal_devices_keep_their_order(void **state)
{
	(void)state;
	list_nothing();
	list_device("Intel", "x", -1);
	list_device("Intel", "x", -1);
	take(0, "x 0, x 1");
	take(0, "x 0, x 1");
	assert_int_equal(places[0], 0);
	assert_int_equal(places[1], 1);
}

static void instances_without_a_place_for_their_device_have_none(void **state)
{
	(void)state;
	list_nothing();
	for (int i = 0; i < GPU_DEVICES_MAX; i++) {
		char uuid[20];

		snprintf(uuid, sizeof uuid, "%d", i);
		list_device("NVIDIA", uuid, -1);
	}
	roster_take(&roster, &survey, 0, &listing, places, &moves);
	assert_int_equal(survey.device_count, GPU_DEVICES_MAX);
	list_nothing();
	list_device("NVIDIA", "new", -1);
	list_device("NVIDIA", "instance", 0);
	list_device("NVIDIA", "5", -1);
	roster_take(&roster, &survey, 0, &listing, places, &moves);
	assert_int_equal(places[0], NO_PLACE);
	assert_int_equal(places[1], NO_PLACE);
	assert_int_equal(places[2], 5);
	assert_int_equal(survey.device_count, GPU_DEVICES_MAX);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(devices_take_places_in_the_order_of_the_list, set_up),
		cmocka_unit_test_setup(dissolved_instances_leave_no_gap, set_up),
		cmocka_unit_test_setup(lost_devices_keep_their_place, set_up),
		cmocka_unit_test_setup(a_number_that_was_given_keeps_its_meaning, set_up),
		cmocka_unit_test_setup(sources_lose_their_own_devices_alone, set_up),
		cmocka_unit_test_setup(equal_devices_keep_their_order, set_up),
		cmocka_unit_test_setup(instances_without_a_place_for_their_device_have_none, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
