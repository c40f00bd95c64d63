/* Fills rows of GPUs. See gpu_row.h. */
#include "collect/gpu_row.h"
#include "base/runs_once.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "metric/typed_rows.h"

#define COUNT_LIMIT 9e18

static int reason_of(struct gpu_number number)
{
	switch (number.error) {
	case EOPNOTSUPP:
		return ABSENT_NO_SUCH_COUNTER;
	case EAGAIN:
		return ABSENT_FIRST_SAMPLE;
	case EINPROGRESS:
		return ABSENT_NOT_YET;
	case EXDEV:
		return ABSENT_NO_ATTRIBUTION;
	default:
		return number.error > 0 && number.error < ABSENT_NOT_COLLECTED ? (int)number.error : EIO;
	}
}

double gpu_real(struct gpu_number number, double scale)
{
	return number.error ? no_real(reason_of(number)) : number.value * scale;
}

int64_t gpu_count(struct gpu_number number, double scale)
{
	if (number.error)
		return no_count(reason_of(number));
	/* Invalid values of a driver may not fit an integer. */
	if (!(fabs(number.value * scale) < COUNT_LIMIT))
		return no_count(EIO);
	return (int64_t)(number.value * scale + 0.5);
}

static const char *frame_gpu_text(struct frame *frame, const char *from)
{
	return *from ? frame_text(frame, from, strlen(from)) : no_text(ABSENT_NO_SUCH_COUNTER);
}

static const char *throttle_text(struct frame *frame, struct gpu_number reasons)
{
	static const char *const NAMES[GPU_THROTTLE_BITS] = {
		"idle",          "clock_setting",    "power_cap",        "hardware",
		"sync_boost",    "thermal_software", "thermal_hardware", "power_brake",
		"display_clock",
	};
	char names[160]; /* room for all of them */
	size_t length = 0;

	if (reasons.error)
		return no_text(reason_of(reasons));
	for (int bit = 0; bit < GPU_THROTTLE_BITS; bit++) {
		if (!((int64_t)reasons.value & (INT64_C(1) << bit)))
			continue;
		if (length)
			names[length++] = '+';
		memcpy(names + length, NAMES[bit], strlen(NAMES[bit]));
		length += strlen(NAMES[bit]);
	}
	return frame_text(frame, length ? names : "none", length ? length : strlen("none"));
}

static const char *memory_kind(int64_t kind)
{
	return kind == GPU_MEMORY_DEDICATED ? "dedicated"
	       : kind == GPU_MEMORY_UNIFIED ? "unified"
					    : no_text(ABSENT_NO_SUCH_COUNTER);
}

static const char *energy_source(int64_t source)
{
	return source == GPU_ENERGY_COUNTER      ? "counter"
	       : source == GPU_ENERGY_FROM_POWER ? "power"
						 : no_text(ABSENT_NO_SUCH_COUNTER);
}

static int64_t or_none(int64_t value)
{
	return value < 0 ? no_count(ABSENT_NO_SUCH_COUNTER) : value;
}

RUNS_ONCE void gpu_fill_identity(struct frame *frame, struct gpu_row *row, const struct gpu_survey *survey,
				 int64_t index)
{
	const struct gpu_device *device = &survey->devices[index];

	row->uuid = frame_gpu_text(frame, device->uuid);
	row->name = frame_gpu_text(frame, device->name);
	row->vendor = frame_gpu_text(frame, device->vendor);
	row->device_type = frame_gpu_text(frame, device->device_type);
	row->host_id = frame_gpu_text(frame, device->host_id);
	row->index = device->index;
	row->visible = device->visible == 1;
	row->mig_parent = device->parent < 0 ? no_text(ABSENT_NO_SUCH_COUNTER)
					     : frame_gpu_text(frame, survey->devices[device->parent].uuid);
	row->mig_gpu_instance = or_none(device->gpu_instance);
	row->mig_compute_instance = or_none(device->compute_instance);
	row->memory_kind = memory_kind(device->memory_kind);
	row->vram_total_bytes = gpu_count(device->readings[GPU_VRAM_TOTAL_BYTES], 1);
	row->core_count = gpu_count(device->readings[GPU_CORE_COUNT], 1);
	for (int64_t i = 0; i < device->detail_count; i++) {
		struct gpu_detail_row *detail = ADD_ROW(frame, gpu_detail, &row->row);

		detail->name = frame_gpu_text(frame, device->details[i].name);
		detail->value = frame_gpu_text(frame, device->details[i].value);
	}
}

void gpu_fill_readings(struct frame *frame, struct gpu_row *row, const struct gpu_device *device,
		       const struct device_account *account)
{
	const struct gpu_number *readings = device->readings;
	struct gpu_number total = readings[GPU_VRAM_TOTAL_BYTES], used = readings[GPU_VRAM_USED_BYTES];

#define GPU_REAL(id, field, ...) row->field = gpu_real(readings[id], 1);
#define GPU_COUNT(id, field, scale, ...) row->field = gpu_count(readings[id], scale);
#include "gpu/readings.def"
	row->utilization_pct = gpu_real(account->utilization_pct, 1);
	row->vram_used_pct = used.error || total.error || total.value <= 0
				     ? gpu_real(used.error ? used : total, 1)
				     : 100 * used.value / total.value;
	row->energy_source = energy_source(device->energy_source);
	row->throttle_reasons = throttle_text(frame, readings[GPU_THROTTLE_REASONS]);
	row->tenant_count = or_none(device->tenant_count);
	row->unattributed_vram_bytes = gpu_count(account->unattributed_vram_bytes, 1);
}

void gpu_fill_tree_part(struct gpu_row *row, const struct device_account *account, bool tracked)
{
	if (!tracked) {
		row->process_count = row->process_vram_bytes = no_count(ABSENT_NOT_TRACKED);
		row->process_utilization_pct = no_real(ABSENT_NOT_TRACKED);
		row->attribution = no_text(ABSENT_NOT_TRACKED);
		return;
	}
	/* Where only the use is unknown (MPS), the processes are known. */
	row->process_count = account->vram_bytes.error == EXDEV || account->vram_bytes.error == EINPROGRESS
				     ? gpu_count(account->vram_bytes, 1)
				     : account->process_count;
	row->process_utilization_pct = gpu_real(account->used_part, 100);
	row->process_vram_bytes = gpu_count(account->vram_bytes, 1);
	row->attribution = account->attribution;
}

static const char *process_type(int64_t kinds)
{
	kinds &= GPU_PROCESS_COMPUTE | GPU_PROCESS_GRAPHICS;
	return kinds == GPU_PROCESS_COMPUTE ? "compute" : kinds == GPU_PROCESS_GRAPHICS ? "graphics" : "both";
}

void gpu_fill_process(struct frame *frame, struct gpu_row *row, const struct gpu_process *process,
		      struct gpu_number rate)
{
	struct gpu_process_row *added = ADD_ROW(frame, gpu_process, &row->row);

	added->type = process_type(process->kinds);
	added->pid = process->pid;
	added->utilization_pct = gpu_real(rate, 100);
	added->memory_utilization_pct = gpu_real(process->memory_utilization_pct, 1);
	added->encoder_utilization_pct = gpu_real(process->encoder_utilization_pct, 1);
	added->decoder_utilization_pct = gpu_real(process->decoder_utilization_pct, 1);
	added->vram_bytes = gpu_count(process->vram_bytes, 1);
}
