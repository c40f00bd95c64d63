/* Parses gpu_metrics of amdgpu; see amd_metrics.h. */
#include "gpu/amd_metrics.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

enum { HEAD_BYTES = 4, FORMS = 3, REVISIONS = 7 };

#define JOULES_OF_ENERGY (1.0 / 65536)
#define HZ_OF_MHZ 1e6

/* Where a revision has each field; 0: it does not. */
struct metrics_layout {
	uint16_t size;
	uint16_t activity; /* of the cores, then of the memory controller */
	uint16_t energy, clock, clock_count, memory_clock;
	uint16_t link; /* lanes, then 0.1 GT/s */
	uint16_t throttle, residency;
};

/*
 * By form (1: cards, 2: processors with graphics) and content revision. Until the fourth of cards the unit of energy depends on the
 * chip, and only the third has reasons that do not. The unit of a processor's activity depends on the chip, too.
 */
static const struct metrics_layout LAYOUTS[FORMS][REVISIONS] = {
	[1] = {[1] = {96, 16, 0, 54, 1, 58, 74, 0, 0},
	       [2] = {104, 16, 0, 54, 1, 58, 74, 0, 0},
	       [3] = {120, 16, 0, 54, 1, 58, 74, 112, 0},
	       [4] = {288, 12, 24, 240, 8, 280, 48, 0, 0},
	       [5] = {360, 12, 88, 312, 8, 352, 112, 0, 0},
	       [6] = {384, 12, 88, 336, 8, 376, 136, 0, 104}},
	[2] = {[2] = {128, 0, 0, 76, 1, 80, 0, 120, 0},
	       [3] = {152, 0, 0, 76, 1, 80, 0, 120, 0},
	       [4] = {168, 0, 0, 76, 1, 80, 0, 120, 0}},
};

static uint64_t metrics_number(const char *bytes, size_t offset, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, bytes + offset, size); /* only little-endian machines have these cards */
	return value;
}

/* All bits are set where the firmware tells nothing. */
static struct gpu_number metrics_field(const char *bytes, size_t offset, size_t size, double scale)
{
	uint64_t value = offset ? metrics_number(bytes, offset, size) : UINT64_MAX;

	return value == UINT64_MAX >> (64 - 8 * size) || value == UINT64_MAX
		       ? gpu_absent(EOPNOTSUPP)
		       : gpu_value((double)value * scale);
}

/* The field of two bytes after one that a revision may lack. */
static size_t field_after(size_t offset)
{
	return offset ? offset + 2 : 0;
}

static struct gpu_number fastest_clock(const char *bytes, const struct metrics_layout *layout)
{
	struct gpu_number fastest = gpu_absent(EOPNOTSUPP);

	for (size_t i = 0; i < layout->clock_count; i++) {
		struct gpu_number clock = metrics_field(bytes, layout->clock + 2 * i, 2, HZ_OF_MHZ);

		if (!clock.error && (fastest.error || clock.value > fastest.value))
			fastest = clock;
	}
	return fastest;
}

static struct gpu_number link_generation(struct gpu_number tenths)
{
	static const double TENTHS[] = {25, 50, 80, 160, 320, 640};

	for (size_t i = 0; !tenths.error && i < ARRAY_SIZE(TENTHS); i++)
		if (tenths.value <= TENTHS[i] && tenths.value > 0)
			return gpu_value((double)i + 1);
	return gpu_absent(tenths.error ? (int)tenths.error : EIO);
}

/* The kernel's SMU_THROTTLER_ bits, which are the same for all chips. */
static struct gpu_number reasons_of(const char *bytes, size_t offset)
{
	static const struct {
		int first, last;
		unsigned reason;
	} RANGES[] = {
		{0, 15, GPU_THROTTLE_POWER_CAP},         /* power of the package */
		{16, 31, GPU_THROTTLE_HARDWARE},         /* currents */
		{32, 43, GPU_THROTTLE_THERMAL_SOFTWARE}, /* temperatures at their limits */
		{44, 47, GPU_THROTTLE_THERMAL_HARDWARE}, /* alarms of regulators and processors */
		{48, 63, GPU_THROTTLE_HARDWARE},
	};
	uint64_t status = offset ? metrics_number(bytes, offset, 8) : UINT64_MAX;
	unsigned reasons = 0;

	if (status == UINT64_MAX)
		return gpu_absent(EOPNOTSUPP);
	for (size_t i = 0; i < ARRAY_SIZE(RANGES); i++)
		for (int bit = RANGES[i].first; bit <= RANGES[i].last; bit++)
			reasons |= status >> bit & 1 ? RANGES[i].reason : 0;
	return gpu_value(reasons);
}

static struct amd_residency residency_at(const char *bytes, size_t offset)
{
	struct amd_residency residency = {.known = false};
	uint32_t counters[6];

	if (!offset)
		return residency;
	memcpy(counters, bytes + offset, sizeof counters);
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		if (counters[i] == UINT32_MAX)
			return residency;
	return (struct amd_residency){true,        counters[0], counters[1], counters[2],
				      counters[3], counters[4], counters[5]};
}

int parse_amd_metrics(const void *bytes, size_t length, struct amd_metrics *ret_metrics)
{
	const struct metrics_layout *layout;
	const unsigned char *head = bytes;

	if (length < HEAD_BYTES || metrics_number(bytes, 0, 2) != length)
		return -EBADMSG;
	if (head[2] >= FORMS || head[3] >= REVISIONS || !LAYOUTS[head[2]][head[3]].size)
		return -EOPNOTSUPP;
	layout = &LAYOUTS[head[2]][head[3]];
	if (length < layout->size)
		return -EBADMSG;
	*ret_metrics = (struct amd_metrics){
		.utilization_pct = metrics_field(bytes, layout->activity, 2, 1),
		.memory_utilization_pct = metrics_field(bytes, field_after(layout->activity), 2, 1),
		.energy_joules = metrics_field(bytes, layout->energy, 8, JOULES_OF_ENERGY),
		.frequency_hz = fastest_clock(bytes, layout),
		.memory_frequency_hz = metrics_field(bytes, layout->memory_clock, 2, HZ_OF_MHZ),
		.pcie_lanes = metrics_field(bytes, layout->link, 2, 1),
		.pcie_generation = link_generation(metrics_field(bytes, field_after(layout->link), 2, 1)),
		.throttle_reasons = reasons_of(bytes, layout->throttle),
		.residency = residency_at(bytes, layout->residency),
	};
	return 0;
}

struct gpu_number amd_throttle_between(const struct amd_residency *before, const struct amd_residency *now)
{
	unsigned reasons = 0;

	if (!now->known)
		return gpu_absent(EOPNOTSUPP);
	if (!before->known || now->cycles == before->cycles)
		return gpu_absent(EAGAIN);
	reasons |= now->power != before->power ? GPU_THROTTLE_POWER_CAP : 0;
	reasons |= now->prochot != before->prochot ? GPU_THROTTLE_THERMAL_HARDWARE : 0;
	reasons |= now->socket_heat != before->socket_heat || now->regulator_heat != before->regulator_heat ||
				   now->memory_heat != before->memory_heat
			   ? GPU_THROTTLE_THERMAL_SOFTWARE
			   : 0;
	return gpu_value(reasons);
}
