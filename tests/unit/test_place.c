/* Tests of src/metric/place.c: names of values of which a sample has several. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

#include "base/cleanup.h"
#include "metric/place.h"
#include "metric/typed_rows.h"

/* The place of a name, which must be a metric. */
static struct metric_place place_of(const char *name, enum place_fault fault)
{
	struct metric_place place = {.depth = 0};
	char plain[160];

	assert_true(metric_place_split(name, plain, sizeof plain, &place));
	assert_true(metric_place_find(plain, &place));
	if (metric_place_settle(&place) != fault)
		fail_msg("%s", name);
	return place;
}

static void keys_are_taken_out_of_a_name(void **state)
{
	static const struct {
		const char *name, *plain, *keys[2];
	} CASES[] = {
		{"memory.used_mib", "memory.used_mib", {NULL}},
		{"disk[sda].reads", "disk.reads", {"sda"}},
		{"disk[sda].mounts[/home].used_pct", "disk.mounts.used_pct", {"sda", "/home"}},
		{"a[3]", "a", {"3"}},
		{"a[x]y].b", "a.b", {"x]y"}}, /* only "]." and the last one close */
		{"a[[].b", "a.b", {"["}},
		{"a[].b", "a.b", {""}},
	};
	static const char *const BAD[] = {"", "a[b", "a[b].c[d].e[f]", "[x]", "a[b]c"};
	struct metric_place place;
	char plain[32], long_name[400];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		place = (struct metric_place){.depth = 0};
		assert_true(metric_place_split(CASES[i].name, plain, sizeof plain, &place));
		assert_string_equal(plain, CASES[i].plain);
		for (int key = 0; key < 2 && CASES[i].keys[key]; key++)
			assert_string_equal(place.keys[key], CASES[i].keys[key]);
		assert_int_equal(place.depth, !CASES[i].keys[0] ? 0 : CASES[i].keys[1] ? 2 : 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(BAD); i++) {
		place = (struct metric_place){.depth = 0};
		assert_false(metric_place_split(BAD[i], plain, sizeof plain, &place));
	}
	/* The longest that fits, and one that is longer. */
	place = (struct metric_place){.depth = 0};
	assert_true(metric_place_split("abc", plain, 4, &place));
	assert_false(metric_place_split("abc", plain, 3, &place));
	for (int length = 255; length <= 256; length++) {
		place = (struct metric_place){.depth = 0};
		snprintf(long_name, sizeof long_name, "a[%0*d].b", length, 7);
		assert_int_equal(metric_place_split(long_name, plain, sizeof plain, &place), length == 255);
	}
	assert_int_equal(strlen(place.keys[0]), 0);
}

static void as_many_keys_as_rows_with_several(void **state)
{
	struct metric_place place = place_of("memory.used_mib", PLACE_GOOD);

	(void)state;
	assert_int_equal(place.kind, ROW_memory);
	assert_int_equal(place.choice, PLACE_ONLY);
	place_of("memory[0].used_mib", PLACE_HAS_NO_KEYS);
	place_of("disk.read_bytes_per_sec", PLACE_NEEDS_KEYS);
	place = place_of("disk[sda].read_bytes_per_sec", PLACE_GOOD);
	assert_int_equal(place.choice, PLACE_KEY);
	place_of("disk[sda].mounts.used_pct", PLACE_NEEDS_OTHER_KEYS);
	place_of("disk[a].read_bytes_per_sec[b]", PLACE_NEEDS_OTHER_KEYS);
	place_of("disk[sda].mounts[/].used_pct", PLACE_GOOD);
	assert_int_equal(place_of("disk[sum].mounts.used_pct", PLACE_GOOD).choice, PLACE_SUM);
	assert_int_equal(place_of("disk[mean].read_bytes_per_sec", PLACE_GOOD).choice, PLACE_MEAN);
	assert_int_equal(place_of("disk[max].read_bytes_per_sec", PLACE_GOOD).choice, PLACE_MAX);
	place_of("cpu.per_core_pct[3]", PLACE_GOOD);
	assert_int_equal(metric_place_levels(ROW_sample), 0);
	assert_int_equal(metric_place_levels(ROW_tree), 0);
	assert_int_equal(metric_place_levels(ROW_cpu_core), 1);
	assert_int_equal(metric_place_levels(ROW_mount), 2);
	assert_false(metric_place_find("disk.no_such", &place));
}

static double value_at(const struct frame *frame, const char *name)
{
	struct metric_place place = place_of(name, PLACE_GOOD);

	return metric_place_real(&place, frame);
}

static void add_disk(struct frame *frame, const char *name, double rate, const char *point, double used_pct)
{
	struct disk_row *disk = ADD_ROW(frame, disk, NULL);
	struct mount_row *mount = ADD_ROW(frame, mount, &disk->row);

	disk->device = name;
	disk->read_bytes_per_sec = rate;
	mount->mount_point = point;
	mount->used_pct = used_pct;
}

static void values_are_found_by_key_and_by_position(void **state)
{
	struct frame frame = {0};
	struct metric_place place;

	(void)state;
	frame_begin(&frame, 0, 0);
	SINGLE_ROW(&frame, memory)->used_mib = 70;
	add_disk(&frame, "sda", 10, "/", 1);
	add_disk(&frame, "sdb", no_real(EACCES), "/home", 2);
	add_disk(&frame, "0", -4, "/", 3);
	assert_true(value_at(&frame, "memory.used_mib") == 70);
	assert_true(value_at(&frame, "disk[sda].read_bytes_per_sec") == 10);
	/* A position, if no earlier row has it as its name. */
	assert_true(value_at(&frame, "disk[0].read_bytes_per_sec") == 10);
	assert_true(value_at(&frame, "disk[2].read_bytes_per_sec") == -4);
	assert_true(isnan(value_at(&frame, "disk[3].read_bytes_per_sec")));
	assert_true(isnan(value_at(&frame, "disk[2x].read_bytes_per_sec")));
	assert_true(isnan(value_at(&frame, "disk[sdb].read_bytes_per_sec")));
	assert_true(value_at(&frame, "disk[sdb].mounts[/home].used_pct") == 2);
	assert_true(isnan(value_at(&frame, "disk[sdb].mounts[/].used_pct")));
	assert_true(value_at(&frame, "disk[2].mounts[/].used_pct") == 3);
	assert_true(value_at(&frame, "disk[1].mounts[0].used_pct") == 2);
	assert_true(isnan(value_at(&frame, "disk[sdc].mounts[/].used_pct")));
	/* The unknown one counts in none. */
	assert_true(value_at(&frame, "disk[sum].read_bytes_per_sec") == 6);
	assert_true(value_at(&frame, "disk[mean].read_bytes_per_sec") == 3);
	assert_true(value_at(&frame, "disk[max].read_bytes_per_sec") == 10);
	assert_true(value_at(&frame, "disk[max].mounts.used_pct") == 3);
	assert_true(isnan(value_at(&frame, "gpu[sum].utilization_pct")));
	place = place_of("disk[sda].device", PLACE_GOOD);
	assert_true(isnan(metric_place_real(&place, &frame))); /* a text */
	assert_non_null(metric_place_row(&place, &frame));
	frame_done(&frame);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_taken_out_of_a_name),
		cmocka_unit_test(as_many_keys_as_rows_with_several),
		cmocka_unit_test(values_are_found_by_key_and_by_position),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
