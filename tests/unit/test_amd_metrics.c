/* Tests of src/gpu/amd_metrics.c: the record of the firmware, byte by byte. */
#include <errno.h>

#include "metrics_record.h"

#include "gpu/amd_metrics.h"

/* Revision 3: its reasons are the same for all chips. */
static void bits_of_the_firmware_are_reasons(void **state)
{
	static const struct {
		uint64_t status;
		int reasons;
	} CASES[] = {
		{0, 0},
		{UINT64_C(1) << 0, GPU_THROTTLE_POWER_CAP},
		{UINT64_C(1) << 22, GPU_THROTTLE_HARDWARE},
		{UINT64_C(1) << 36, GPU_THROTTLE_THERMAL_SOFTWARE},
		{UINT64_C(1) << 47 | 1 << 7, GPU_THROTTLE_THERMAL_HARDWARE | GPU_THROTTLE_POWER_CAP},
	};
	struct amd_metrics metrics;
	uint8_t record[120];

	(void)state;
	memset(record, 0xff, sizeof record);
	put_u16(record, 0, sizeof record);
	record[2] = 1;
	record[3] = 3;
	put_u16(record, 16, 40);
	put_u16(record, 54, 1700);
	put_u16(record, 76, 25);
	assert_int_equal(parse_amd_metrics(record, sizeof record, &metrics), 0);
	assert_int_equal(metrics.throttle_reasons.error, EOPNOTSUPP);
	assert_int_equal(metrics.energy_joules.error, EOPNOTSUPP);
	assert_int_equal(metrics.pcie_lanes.error, EOPNOTSUPP);
	assert_near(metrics.utilization_pct.value, 40);
	assert_near(metrics.frequency_hz.value, 1700e6);
	assert_near(metrics.pcie_generation.value, 1);
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		put_u64(record, 112, CASES[i].status);
		assert_int_equal(parse_amd_metrics(record, sizeof record, &metrics), 0);
		assert_int_equal((int)metrics.throttle_reasons.value, CASES[i].reasons);
	}
	assert_int_equal(parse_amd_metrics(record, sizeof record - 1, &metrics), -EBADMSG);
	record[3] = 0; /* not aligned */
	assert_int_equal(parse_amd_metrics(record, sizeof record, &metrics), -EOPNOTSUPP);
	record[3] = 7; /* newer */
	assert_int_equal(parse_amd_metrics(record, sizeof record, &metrics), -EOPNOTSUPP);
	record[2] = 3; /* a form that we do not know */
	record[3] = 3;
	assert_int_equal(parse_amd_metrics(record, sizeof record, &metrics), -EOPNOTSUPP);
	record[2] = 2; /* of a processor with graphics, without reasons */
	record[3] = 1;
	assert_int_equal(parse_amd_metrics(record, sizeof record, &metrics), -EOPNOTSUPP);
	/* A record that calls itself a longer revision. */
	record[2] = 1;
	record[3] = 6;
	assert_int_equal(parse_amd_metrics(record, sizeof record, &metrics), -EBADMSG);
}

/* The first bytes of a record, and a field at any place, must not be taken for one that the revision lacks. */
static void metrics_of_a_processor_with_graphics(void **state)
{
	static const uint8_t SIZES[] = {[2] = 128, [3] = 152, [4] = 168};

	(void)state;
	for (uint8_t revision = 2; revision < sizeof SIZES; revision++) {
		uint8_t record[168] = {0};
		struct amd_metrics metrics;

		put_u16(record, 0, SIZES[revision]);
		record[2] = 2;
		record[3] = revision;
		put_u16(record, 28, 4200); /* centi-percent on some chips */
		put_u16(record, 76, 2200);
		put_u16(record, 80, 800);
		put_u64(record, 120, UINT64_C(1) << 33 | 1);
		assert_int_equal(parse_amd_metrics(record, SIZES[revision], &metrics), 0);
		assert_near(metrics.frequency_hz.value, 2200e6);
		assert_near(metrics.memory_frequency_hz.value, 800e6);
		assert_int_equal((int)metrics.throttle_reasons.value,
				 GPU_THROTTLE_THERMAL_SOFTWARE | GPU_THROTTLE_POWER_CAP);
		assert_int_equal(metrics.utilization_pct.error, EOPNOTSUPP);
		assert_int_equal(metrics.memory_utilization_pct.error, EOPNOTSUPP);
		assert_int_equal(metrics.energy_joules.error, EOPNOTSUPP);
		assert_int_equal(metrics.pcie_lanes.error, EOPNOTSUPP);
		assert_int_equal(metrics.pcie_generation.error, EOPNOTSUPP);
		assert_false(metrics.residency.known);
		put_u16(record, 0, SIZES[revision] - 8);
		assert_int_equal(parse_amd_metrics(record, SIZES[revision] - 8u, &metrics), -EBADMSG);
	}
}

/* The places of the fields of cards, by revision: those of the kernel's kgd_pp_interface.h. */
static void metrics_of_every_card(void **state)
{
	static const struct {
		uint16_t size, activity, energy, clock, memory_clock, link;
	} CASES[] = {
		[1] = {96, 16, 0, 54, 58, 74},      [2] = {104, 16, 0, 54, 58, 74},
		[3] = {120, 16, 0, 54, 58, 74},     [4] = {288, 12, 24, 240, 280, 48},
		[5] = {360, 12, 88, 312, 352, 112}, [6] = {384, 12, 88, 336, 376, 136},
	};

	(void)state;
	for (uint8_t revision = 1; revision < sizeof CASES / sizeof CASES[0]; revision++) {
		uint8_t record[384];
		struct amd_metrics metrics;

		memset(record, 0xff, sizeof record);
		put_u16(record, 0, CASES[revision].size);
		record[2] = 1;
		record[3] = revision;
		put_u16(record, CASES[revision].activity, 61);
		put_u16(record, CASES[revision].activity + 2u, 62);
		put_u16(record, CASES[revision].clock, 1500);
		put_u16(record, CASES[revision].memory_clock, 900);
		put_u16(record, CASES[revision].link, 4);
		put_u16(record, CASES[revision].link + 2u, 80);
		if (CASES[revision].energy)
			put_u64(record, CASES[revision].energy, 3 << 16);
		assert_int_equal(parse_amd_metrics(record, CASES[revision].size, &metrics), 0);
		assert_near(metrics.utilization_pct.value, 61);
		assert_near(metrics.memory_utilization_pct.value, 62);
		assert_near(metrics.frequency_hz.value, 1500e6);
		assert_near(metrics.memory_frequency_hz.value, 900e6);
		assert_near(metrics.pcie_lanes.value, 4);
		assert_near(metrics.pcie_generation.value, 3);
		assert_int_equal(metrics.energy_joules.error, CASES[revision].energy ? 0 : EOPNOTSUPP);
		assert_near(metrics.energy_joules.value, CASES[revision].energy ? 3 : 0);
		/* From the fourth on, there are eight clocks of cores, of which the fastest counts. */
		put_u16(record, CASES[revision].clock + 14u, 1600);
		assert_int_equal(parse_amd_metrics(record, CASES[revision].size, &metrics), 0);
		assert_near(metrics.frequency_hz.value, revision >= 4 ? 1600e6 : 1500e6);
		/* None before the fourth has a second clock, and none a ninth. */
		put_u16(record, CASES[revision].clock + 2u, revision >= 4 ? 1550 : 1800);
		put_u16(record, CASES[revision].clock + 16u, 1900);
		put_u16(record, CASES[revision].memory_clock, 900);
		assert_int_equal(parse_amd_metrics(record, CASES[revision].size, &metrics), 0);
		assert_near(metrics.frequency_hz.value, revision >= 4 ? 1600e6 : 1500e6);
		/* The fastest is not always the last one. */
		put_u16(record, CASES[revision].clock + 2u, 1650);
		put_u16(record, CASES[revision].clock, 0xffff);
		assert_int_equal(parse_amd_metrics(record, CASES[revision].size, &metrics), 0);
		assert_int_equal(metrics.frequency_hz.error, revision >= 4 ? 0 : EOPNOTSUPP);
		assert_near(metrics.frequency_hz.value, revision >= 4 ? 1650e6 : 0);
		record[0] ^= 8; /* another length than it says */
		assert_int_equal(parse_amd_metrics(record, CASES[revision].size, &metrics), -EBADMSG);
	}
}

/* From 0.1 GT/s: 2.5 to 64, and a slower link is of the next generation that reaches it. */
static void generations_of_links(void **state)
{
	static const struct {
		uint16_t tenths;
		int generation;
	} CASES[] = {{1, 1},   {25, 1},  {26, 2},  {50, 2},  {51, 3},  {80, 3},  {81, 4},
		     {160, 4}, {161, 5}, {320, 5}, {321, 6}, {640, 6}, {641, 0}, {0, 0}};
	struct amd_metrics metrics;
	uint8_t record[120];

	(void)state;
	memset(record, 0xff, sizeof record);
	put_u16(record, 0, sizeof record);
	record[2] = 1;
	record[3] = 3;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		put_u16(record, 76, CASES[i].tenths);
		assert_int_equal(parse_amd_metrics(record, sizeof record, &metrics), 0);
		assert_int_equal(metrics.pcie_generation.error, CASES[i].generation ? 0 : EIO);
		assert_int_equal((int)metrics.pcie_generation.value, CASES[i].generation);
	}
}

static void every_bit_of_the_firmware_has_a_reason(void **state)
{
	struct amd_metrics metrics;
	uint8_t record[120];

	(void)state;
	memset(record, 0, sizeof record);
	put_u16(record, 0, sizeof record);
	record[2] = 1;
	record[3] = 3;
	for (int bit = 0; bit < 64; bit++) {
		int reason = bit < 16   ? GPU_THROTTLE_POWER_CAP
			     : bit < 32 ? GPU_THROTTLE_HARDWARE
			     : bit < 44 ? GPU_THROTTLE_THERMAL_SOFTWARE
			     : bit < 48 ? GPU_THROTTLE_THERMAL_HARDWARE
					: GPU_THROTTLE_HARDWARE;

		put_u64(record, 112, UINT64_C(1) << bit);
		assert_int_equal(parse_amd_metrics(record, sizeof record, &metrics), 0);
		assert_int_equal((int)metrics.throttle_reasons.value, reason);
	}
	assert_int_equal(parse_amd_metrics(record, 3, &metrics), -EBADMSG);
}

/* Six counters of the sixth revision, which are unknown if one of them is. */
static void cycles_of_reasons_stand_in_a_row(void **state)
{
	uint8_t record[384];
	struct amd_metrics metrics;

	(void)state;
	memset(record, 0, sizeof record);
	put_u16(record, 0, sizeof record);
	record[2] = 1;
	record[3] = 6;
	for (unsigned i = 0; i < 6; i++)
		put_u16(record, 104 + 4 * i, (uint16_t)(11 + i));
	assert_int_equal(parse_amd_metrics(record, sizeof record, &metrics), 0);
	assert_true(metrics.residency.known);
	assert_int_equal(metrics.residency.cycles, 11);
	assert_int_equal(metrics.residency.prochot, 12);
	assert_int_equal(metrics.residency.power, 13);
	assert_int_equal(metrics.residency.socket_heat, 14);
	assert_int_equal(metrics.residency.regulator_heat, 15);
	assert_int_equal(metrics.residency.memory_heat, 16);
	for (unsigned i = 0; i < 6; i++) {
		memset(record + 104 + 4 * i, 0xff, 4);
		assert_int_equal(parse_amd_metrics(record, sizeof record, &metrics), 0);
		assert_false(metrics.residency.known);
		memset(record + 104 + 4 * i, 0, 4);
	}
}

static void cycles_that_grow_are_reasons(void **state)
{
	const struct amd_residency before = {true, 10, 1, 1, 1, 1, 1};
	struct amd_residency now = before;

	(void)state;
	assert_int_equal(amd_throttle_between(&before, &now).error, EAGAIN);
	now.cycles = 20;
	assert_near(amd_throttle_between(&before, &now).value, 0);
	now.prochot++;
	assert_near(amd_throttle_between(&before, &now).value, GPU_THROTTLE_THERMAL_HARDWARE);
	now.power++;
	assert_near(amd_throttle_between(&before, &now).value,
		    GPU_THROTTLE_THERMAL_HARDWARE | GPU_THROTTLE_POWER_CAP);
	for (int i = 0; i < 3; i++) {
		now = before;
		now.cycles = 20;
		*(i == 0 ? &now.socket_heat : i == 1 ? &now.regulator_heat : &now.memory_heat) = 2;
		assert_near(amd_throttle_between(&before, &now).value, GPU_THROTTLE_THERMAL_SOFTWARE);
	}
	now.known = false;
	assert_int_equal(amd_throttle_between(&before, &now).error, EOPNOTSUPP);
	now.known = true;
	assert_int_equal(amd_throttle_between(&(struct amd_residency){0}, &now).error, EAGAIN);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits_of_the_firmware_are_reasons),
		cmocka_unit_test(metrics_of_a_processor_with_graphics),
		cmocka_unit_test(metrics_of_every_card),
		cmocka_unit_test(generations_of_links),
		cmocka_unit_test(every_bit_of_the_firmware_has_a_reason),
		cmocka_unit_test(cycles_of_reasons_stand_in_a_row),
		cmocka_unit_test(cycles_that_grow_are_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
