/* Fields of a record of amdgpu's firmware, and its numbers. */
#pragma once

#include "unit.h"

#include <math.h>

static inline void assert_near(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-9 * (1 + fabs(wanted)))
		fail_msg("%.9g, not %.9g", value, wanted);
}

static inline void put_u16(uint8_t *record, size_t at, uint16_t value)
{
	memcpy(record + at, &value, sizeof value);
}

static inline void put_u32(uint8_t *record, size_t at, uint32_t value)
{
	memcpy(record + at, &value, sizeof value);
}

static inline void put_u64(uint8_t *record, size_t at, uint64_t value)
{
	memcpy(record + at, &value, sizeof value);
}
