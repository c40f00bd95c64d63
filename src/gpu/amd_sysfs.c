/*
 * AMD GPUs by the files of amdgpu: /sys/class/drm/renderDN/device, its hwmon, and those of the compute driver
 * (/sys/class/kfd) for compute units and the memory of compute processes.
 *
 *   gpu_busy_percent 37   mem_info_vram_used 8589934592   hwmon/hwmon3/power1_average 214000000
 */
#include "gpu/vendor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/ends_with.h"
#include "base/scan.h"
#include "gpu/amd_metrics.h"
#include "gpu/drm_device.h"
#include "kernel/key_values.h"

static const char *const DRIVERS[] = {"amdgpu", "radeon", NULL};

enum { PARTITIONS_MAX = 16 };

struct amd_card {
	int64_t compute_ids[PARTITIONS_MAX]; /* of the compute driver, one for each partition (MI300) */
	int64_t partition_count;
	bool no_metrics;                /* gpu_metrics has a form that we do not know */
	struct amd_residency residency; /* at the last reading */
};

struct amd {
	struct drm_devices drm;
	struct amd_card cards[GPU_DEVICES_MAX]; /* as drm.devices */
};

static bool amd_present(struct root *root)
{
	return drm_has_driver(root, DRIVERS);
}

static int amd_open(struct gpu_context *context, void **ret_state)
{
	struct amd *amd = calloc(1, sizeof *amd);
	int error;

	if (!amd)
		return -ENOMEM;
	error = drm_devices_open(context->root, DRIVERS, &amd->drm);
	if (error < 0) {
		free(amd);
		return error;
	}
	*ret_state = amd;
	return 0;
}

static void amd_close(void *state)
{
	struct amd *amd = state;

	drm_devices_close(&amd->drm);
	free(amd);
}

/* ---- the compute driver ---------------------------------------------------------------------------- */

struct kfd_node {
	int64_t simd_count;
	int64_t simd_per_cu;
	int64_t drm_render_minor;
	int64_t domain;
	int64_t location_id; /* bus, device and function, where some kernels put the number of the partition */
};

static const struct key_field NODE_FIELDS[] = {
	KEY_FIELD("simd_count", struct kfd_node, simd_count),
	KEY_FIELD("simd_per_cu", struct kfd_node, simd_per_cu),
	KEY_FIELD("drm_render_minor", struct kfd_node, drm_render_minor),
	KEY_FIELD("domain", struct kfd_node, domain),
	KEY_FIELD("location_id", struct kfd_node, location_id),
};

static bool is_at_address(const struct kfd_node *node, const char *address)
{
	enum { BUS_AND_DEVICE = 0xfff8 };
	char place[GPU_WORD_SIZE];
	unsigned location = (unsigned)node->location_id & BUS_AND_DEVICE;

	if (node->location_id < 0 || node->domain < 0)
		return false;
	snprintf(place, sizeof place, "%04llx:%02x:%02x.", (unsigned long long)node->domain, location >> 8,
		 location >> 3 & 31);
	return begins_with(address, place);
}

/* A partition other than the first has a render node without a driver, which is none of our devices. */
static bool is_partition_of(const struct amd *amd, const struct drm_device *drm, const struct kfd_node *node)
{
	for (int64_t i = 0; i < amd->drm.count; i++)
		if (amd->drm.devices[i].card.render == node->drm_render_minor)
			return &amd->drm.devices[i] == drm;
	return is_at_address(node, drm->card.address);
}

static void take_node(struct root *root, const char *name, struct amd *amd, const struct drm_device *drm,
		      struct gpu_device *device)
{
	struct amd_card *card = &amd->cards[drm - amd->drm.devices];
	struct gpu_number *cores = &device->readings[GPU_CORE_COUNT];
	struct kfd_node node;
	ssize_t length = root_readf(root, "sys/class/kfd/kfd/topology/nodes/%s/properties", name);
	struct scan text;
	int64_t compute_id;

	if (length < 0)
		return;
	clear_key_values(NODE_FIELDS, ARRAY_SIZE(NODE_FIELDS), &node);
	scan_key_values(scan_bytes(root->text.data, (size_t)length), ' ', NODE_FIELDS,
			ARRAY_SIZE(NODE_FIELDS), &node);
	if (!is_partition_of(amd, drm, &node) || card->partition_count == PARTITIONS_MAX)
		return;
	if (node.simd_count > 0 && node.simd_per_cu > 0)
		*cores = gpu_value((cores->error ? 0 : cores->value) +
				   (double)(node.simd_count / node.simd_per_cu));
	length = root_readf(root, "sys/class/kfd/kfd/topology/nodes/%s/gpu_id", name);
	if (length < 0)
		return;
	text = scan_bytes(root->text.data, (size_t)length);
	if (scan_i64(&text, &compute_id))
		card->compute_ids[card->partition_count++] = compute_id;
}

static void find_compute_nodes(struct root *root, struct amd *amd, const struct drm_device *drm,
			       struct gpu_device *device)
{
	CLEANUP_ROOT_DIR struct root_dir dir = ROOT_DIR;
	const char *name;

	amd->cards[drm - amd->drm.devices].partition_count = 0;
	if (root_dir_open(root, "sys/class/kfd/kfd/topology/nodes", &dir) < 0)
		return;
	while ((name = root_dir_next(&dir)))
		take_node(root, name, amd, drm, device);
}

/* The memory that a process holds on all partitions of a card. */
static uint64_t compute_vram(struct root *root, const char *pid, const struct amd_card *card)
{
	uint64_t sum = 0;

	for (int64_t i = 0; i < card->partition_count; i++) {
		ssize_t length = root_readf(root, "sys/class/kfd/kfd/proc/%s/vram_%lld", pid,
					    (long long)card->compute_ids[i]);
		struct scan text = scan_bytes(root->text.data, length > 0 ? (size_t)length : 0);
		uint64_t bytes;

		if (scan_u64(&text, &bytes))
			sum += bytes;
	}
	return sum;
}

/* Adds the VRAM of compute processes. Their queues bypass the kernel, so their busy time is unknown. */
static void read_compute_processes(struct root *root, const struct amd_card *card, struct gpu_survey *survey,
				   int64_t index)
{
	CLEANUP_ROOT_DIR struct root_dir dir = ROOT_DIR;
	struct gpu_device *device = &survey->devices[index];
	int64_t from = survey->process_count;
	const char *name;

	if (!card->partition_count || root_dir_open(root, "sys/class/kfd/kfd/proc", &dir) < 0)
		return;
	device->tenant_count = 0;
	device->pids = GPU_PIDS_OURS;
	while ((name = root_dir_next(&dir))) {
		struct scan pid_text = scan_bytes(name, strlen(name));
		struct gpu_process *process;
		uint64_t pid, bytes;

		if (!scan_u64(&pid_text, &pid) || pid > INT32_MAX)
			continue;
		bytes = compute_vram(root, name, card);
		if (!bytes || !(process = gpu_survey_process(survey, from, index, (int64_t)pid)))
			continue;
		process->kinds |= GPU_PROCESS_COMPUTE;
		process->vram_bytes = gpu_value((double)bytes);
		device->tenant_count++;
	}
}

/* ---- devices --------------------------------------------------------------------------------------- */

static void amd_identity(struct root *root, struct amd *amd, const struct drm_device *drm,
			 struct gpu_device *device)
{
	char text[GPU_TEXT_SIZE];

	drm_text(root, drm->device_fd, "product_name", text, sizeof text);
	if (*text)
		gpu_copy_text(device->name, sizeof device->name, text);
	drm_text(root, drm->device_fd, "unique_id", text, sizeof text);
	if (*text)
		snprintf(device->uuid, sizeof device->uuid, "GPU-%.*s", GPU_WORD_SIZE, text);
	drm_text(root, drm->device_fd, "vbios_version", text, sizeof text);
	if (*text)
		gpu_device_add_detail(device, "vbios_version", text);
	drm_text(root, drm->device_fd, "current_compute_partition", text, sizeof text);
	if (*text)
		gpu_device_add_detail(device, "compute_partition", text);
	drm_text(root, drm->device_fd, "current_memory_partition", text, sizeof text);
	if (*text)
		gpu_device_add_detail(device, "memory_partition", text);
	device->readings[GPU_VRAM_TOTAL_BYTES] = drm_number(root, drm->device_fd, "mem_info_vram_total", 1);
	/* Only processors with a GPU in them have a voltage of their northbridge. */
	drm_text(root, drm->hwmon_fd, "in1_label", text, sizeof text);
	device->memory_kind = strcmp(text, "vddnb") == 0 ? GPU_MEMORY_UNIFIED : GPU_MEMORY_DEDICATED;
	find_compute_nodes(root, amd, drm, device);
	if (amd->cards[drm - amd->drm.devices].partition_count > 1) {
		snprintf(text, sizeof text, "%lld",
			 (long long)amd->cards[drm - amd->drm.devices].partition_count);
		gpu_device_add_detail(device, "partitions", text);
	}
}

static int amd_list(void *state, struct gpu_context *context, struct gpu_survey *survey)
{
	struct amd *amd = state;

	for (int64_t i = 0; i < amd->drm.count; i++) {
		struct gpu_device *device = drm_add_device(survey, &amd->drm.devices[i], "AMD");

		if (!device)
			continue;
		device->index = i;
		amd_identity(context->root, amd, &amd->drm.devices[i], device);
	}
	return 0;
}

/* Reads "1: 2410Mhz *" in pp_dpm_sclk. Old kernels have no clocks in hwmon. */
static struct gpu_number marked_clock(struct root *root, int device_fd, const char *name)
{
	ssize_t length = device_fd < 0 ? -ENOENT : root_read_at(root, device_fd, name);
	struct scan text, line, skipped;
	uint64_t mhz;

	if (length < 0)
		return gpu_absent(EOPNOTSUPP);
	text = scan_bytes(root->text.data, (size_t)length);
	while (scan_line(&text, &line)) {
		if (memchr(line.at, '*', scan_left(&line)) && scan_until(&line, ':', &skipped) &&
		    scan_u64(&line, &mhz))
			return gpu_value((double)mhz * 1e6);
	}
	return gpu_absent(EIO);
}

static struct gpu_number celsius_of_millidegrees(struct gpu_number millidegrees)
{
	/* Some chips give degrees where hwmon wants thousandths. */
	if (millidegrees.error || millidegrees.value < 1000)
		return millidegrees;
	return gpu_value(millidegrees.value / 1000);
}

static void amd_read_device(struct root *root, const struct drm_device *drm, struct gpu_device *device)
{
	static const char *const POWER[] = {"power1_average", "power1_input", NULL};
	static const char *const TEMPERATURE[] = {"temp1_input", "temp2_input", NULL};
	struct gpu_number *readings = device->readings;

	readings[GPU_UTILIZATION_PCT] = drm_number(root, drm->device_fd, "gpu_busy_percent", 1);
	readings[GPU_MEMORY_UTILIZATION_PCT] = drm_number(root, drm->device_fd, "mem_busy_percent", 1);
	readings[GPU_VRAM_USED_BYTES] = drm_number(root, drm->device_fd, "mem_info_vram_used", 1);
	readings[GPU_POWER_WATTS] = drm_first_number(root, drm->hwmon_fd, POWER, 1e-6);
	readings[GPU_POWER_LIMIT_WATTS] = drm_number(root, drm->hwmon_fd, "power1_cap", 1e-6);
	readings[GPU_TEMPERATURE_CELSIUS] =
		celsius_of_millidegrees(drm_first_number(root, drm->hwmon_fd, TEMPERATURE, 1));
	readings[GPU_FREQUENCY_HZ] = drm_number(root, drm->hwmon_fd, "freq1_input", 1);
	if (readings[GPU_FREQUENCY_HZ].error)
		readings[GPU_FREQUENCY_HZ] = marked_clock(root, drm->device_fd, "pp_dpm_sclk");
	readings[GPU_MEMORY_FREQUENCY_HZ] = drm_number(root, drm->hwmon_fd, "freq2_input", 1);
	if (readings[GPU_MEMORY_FREQUENCY_HZ].error)
		readings[GPU_MEMORY_FREQUENCY_HZ] = marked_clock(root, drm->device_fd, "pp_dpm_mclk");
	drm_read_fan(root, drm, device);
}

static void set_if_missing(struct gpu_number *reading, struct gpu_number value)
{
	if (reading->error && !value.error)
		*reading = value;
}

/* The firmware's record has what no other file tells: the energy of a card, its link, and why its clocks are low. */
static void amd_read_metrics(struct root *root, const struct drm_device *drm, struct amd_card *card,
			     struct gpu_device *device)
{
	ssize_t length = drm->device_fd < 0 || card->no_metrics
				 ? -ENOENT
				 : root_read_at(root, drm->device_fd, "gpu_metrics");
	struct gpu_number *readings = device->readings;
	struct amd_metrics metrics;
	int error = length < 0 ? (int)length : parse_amd_metrics(root->text.data, (size_t)length, &metrics);

	card->no_metrics = error == -EOPNOTSUPP || error == -ENOENT;
	if (error < 0) {
		readings[GPU_THROTTLE_REASONS] = gpu_absent(card->no_metrics ? EOPNOTSUPP : -error);
		return;
	}
	set_if_missing(&readings[GPU_UTILIZATION_PCT], metrics.utilization_pct);
	set_if_missing(&readings[GPU_MEMORY_UTILIZATION_PCT], metrics.memory_utilization_pct);
	set_if_missing(&readings[GPU_FREQUENCY_HZ], metrics.frequency_hz);
	set_if_missing(&readings[GPU_MEMORY_FREQUENCY_HZ], metrics.memory_frequency_hz);
	readings[GPU_PCIE_LANES] = metrics.pcie_lanes;
	readings[GPU_PCIE_GENERATION] = metrics.pcie_generation;
	readings[GPU_THROTTLE_REASONS] = metrics.residency.known
						 ? amd_throttle_between(&card->residency, &metrics.residency)
						 : metrics.throttle_reasons;
	card->residency = metrics.residency;
	if (metrics.energy_joules.error)
		return;
	readings[GPU_ENERGY_JOULES] = metrics.energy_joules;
	device->energy_source = GPU_ENERGY_COUNTER;
}

/* "ue: 0" and "ce: 12" */
static void amd_read_ecc(struct root *root, const struct drm_device *drm, struct gpu_device *device)
{
	struct {
		int64_t uncorrected, corrected;
	} counts = {-1, -1};
	const struct key_field fields[] = {{"ue", 2, 0}, {"ce", 2, sizeof(int64_t)}};
	ssize_t length =
		drm->device_fd < 0 ? -ENOENT : root_read_at(root, drm->device_fd, "ras/umc_err_count");

	if (length < 0)
		return;
	scan_key_values(scan_bytes(root->text.data, (size_t)length), ':', fields, ARRAY_SIZE(fields),
			&counts);
	if (counts.corrected >= 0)
		device->readings[GPU_ECC_CORRECTED_ERRORS] = gpu_value((double)counts.corrected);
	if (counts.uncorrected >= 0)
		device->readings[GPU_ECC_UNCORRECTED_ERRORS] = gpu_value((double)counts.uncorrected);
}

static int amd_read(void *state, struct gpu_context *context, struct gpu_survey *survey,
		    const int64_t *places, int64_t count)
{
	struct amd *amd = state;

	for (int64_t i = 0; i < count && i < amd->drm.count; i++) {
		struct gpu_device *device;

		if (places[i] < 0)
			continue;
		device = &survey->devices[places[i]];
		read_compute_processes(context->root, &amd->cards[i], survey, places[i]);
		if (drm_asleep(context->root, &amd->drm.devices[i], device))
			continue;
		amd_read_device(context->root, &amd->drm.devices[i], device);
		amd_read_metrics(context->root, &amd->drm.devices[i], &amd->cards[i], device);
		amd_read_ecc(context->root, &amd->drm.devices[i], device);
	}
	return 0;
}

const struct gpu_vendor AMD_VENDOR = {
	.name = "amd",
	.present = amd_present,
	.open = amd_open,
	.list = amd_list,
	.read = amd_read,
	.close = amd_close,
};
