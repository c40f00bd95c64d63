/* Takes the values of a sample. See moment.h. */
#include "live/moment.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metric/typed_rows.h"
#include "record/reader.h"

enum form { AS_IS, PER_SEC, SHARE };
enum merge { MEAN, MOST, LAST };

static const enum merge MERGES[] = {
#define SERIES(name, kind, field, type, form, merge) merge,
#include "live/series.def"
};

static double moment_real(double value)
{
	return isfinite(value) ? value : (double)NAN;
}

static double in_form(double value, enum form form, double step_secs)
{
	return form == AS_IS ? value : step_secs > 0 ? value / step_secs : (double)NAN;
}

bool series_is_peak(enum series series)
{
	return MERGES[series] == MOST;
}

void moment_want(struct metric_set *wanted)
{
#define SERIES(name, kind, field, ...) WANT(wanted, kind, field);
#include "live/series.def"
	metric_set_add_kind(wanted, ROW_program);
	WANT(wanted, sample, job_name);
	WANT(wanted, sample, tracked_pid);
	WANT(wanted, pressure, source);
	WANT(wanted, cpu_core, busy_pct);
	WANT(wanted, gpu, name);
	WANT(wanted, gpu, index);
	WANT(wanted, gpu, utilization_pct);
	WANT(wanted, gpu, vram_used_bytes);
	WANT(wanted, gpu, vram_total_bytes);
	WANT(wanted, gpu, temperature_celsius);
	WANT(wanted, gpu, power_watts);
	WANT(wanted, gpu, process_utilization_pct);
	WANT(wanted, gpu, process_vram_bytes);
	WANT(wanted, gpu, sm_active_pct);
	WANT(wanted, gpu, tensor_active_pct);
	WANT(wanted, gpu, last_xid);
	WANT(wanted, disk, device);
	WANT(wanted, disk, read_bytes_per_sec);
	WANT(wanted, disk, write_bytes_per_sec);
	WANT(wanted, mount, mount_point);
	WANT(wanted, mount, total_bytes);
	WANT(wanted, mount, used_bytes);
	WANT(wanted, mount, used_pct);
	WANT(wanted, network, interface);
	WANT(wanted, network, rx_bytes_per_sec);
	WANT(wanted, network, tx_bytes_per_sec);
}

/* ---- details ----------------------------------------------------------------------------------------- */

static struct detail *add_detail(struct moment *moment, enum detail_kind kind, const char *name)
{
	struct detail *detail;

	if (moment->detail_count == DETAILS_MOST)
		return NULL;
	detail = &moment->details[moment->detail_count++];
	detail->kind = kind;
	for (size_t i = 0; i < DETAIL_NUMBERS; i++)
		detail->numbers[i] = NAN;
	snprintf(detail->name, sizeof(detail->name), "%s", text_absent(name) ? "-" : name);
	return detail;
}

static void take_programs(struct moment *moment, const struct frame *frame)
{
	for (const struct program_row *row = FIRST(frame, program); row; row = NEXT(row, program)) {
		struct detail *detail = add_detail(moment, DETAIL_PROGRAM, row->name);
		double step = moment->step_secs;

		if (!detail)
			return;
		detail->numbers[PROGRAM_CPU] = (float)in_form(moment_real(row->cpu_secs), PER_SEC, step);
		detail->numbers[PROGRAM_MEMORY] = (float)moment_real(row->memory_mib);
		detail->numbers[PROGRAM_READ] =
			(float)in_form(real_of_count(row->disk_read_bytes), PER_SEC, step);
		detail->numbers[PROGRAM_WRITTEN] =
			(float)in_form(real_of_count(row->disk_write_bytes), PER_SEC, step);
		detail->numbers[PROGRAM_PROCESSES] = (float)real_of_count(row->process_count);
		detail->numbers[PROGRAM_VRAM] = (float)moment_real(row->gpu_vram_mib);
	}
}

static void take_moment_gpus(struct moment *moment, const struct frame *frame)
{
	for (const struct gpu_row *row = FIRST(frame, gpu); row; row = NEXT(row, gpu)) {
		struct detail *detail = add_detail(moment, DETAIL_GPU, row->name);

		if (!detail)
			return;
		if (!count_absent(row->index))
			snprintf(detail->name, sizeof(detail->name), "%lld: %s", (long long)row->index,
				 text_absent(row->name) ? "-" : row->name);
		detail->numbers[GPU_BUSY] = (float)moment_real(row->utilization_pct);
		detail->numbers[GPU_MEMORY] = (float)(real_of_count(row->vram_used_bytes) / 1048576);
		detail->numbers[GPU_MEMORY_TOTAL] = (float)(real_of_count(row->vram_total_bytes) / 1048576);
		detail->numbers[GPU_TEMPERATURE] = (float)real_of_count(row->temperature_celsius);
		detail->numbers[GPU_POWER] = (float)moment_real(row->power_watts);
		detail->numbers[GPU_JOB] = (float)moment_real(row->process_utilization_pct);
		detail->numbers[GPU_JOB_MEMORY] = (float)(real_of_count(row->process_vram_bytes) / 1048576);
		detail->numbers[GPU_SM] = (float)moment_real(row->sm_active_pct);
		detail->numbers[GPU_TENSOR] = (float)moment_real(row->tensor_active_pct);
		detail->numbers[GPU_XID] = (float)real_of_count(row->last_xid);
		detail->numbers[GPU_INDEX] = (float)real_of_count(row->index);
	}
}

static void take_devices(struct moment *moment, const struct frame *frame)
{
	struct detail *detail;

	for (const struct disk_row *row = FIRST(frame, disk); row; row = NEXT(row, disk)) {
		detail = add_detail(moment, DETAIL_DISK, row->device);
		if (!detail)
			return;
		detail->numbers[DEVICE_IN] = (float)moment_real(row->read_bytes_per_sec);
		detail->numbers[DEVICE_OUT] = (float)moment_real(row->write_bytes_per_sec);
	}
	for (const struct network_row *row = FIRST(frame, network); row; row = NEXT(row, network)) {
		detail = add_detail(moment, DETAIL_NETWORK, row->interface);
		if (!detail)
			return;
		detail->numbers[DEVICE_IN] = (float)moment_real(row->rx_bytes_per_sec);
		detail->numbers[DEVICE_OUT] = (float)moment_real(row->tx_bytes_per_sec);
	}
	for (const struct mount_row *row = FIRST(frame, mount); row; row = NEXT(row, mount)) {
		detail = add_detail(moment, DETAIL_MOUNT, row->mount_point);
		if (!detail)
			return;
		detail->numbers[MOUNT_USED] = (float)(real_of_count(row->used_bytes) / 1048576);
		detail->numbers[MOUNT_TOTAL] = (float)(real_of_count(row->total_bytes) / 1048576);
		detail->numbers[MOUNT_FULL] = (float)moment_real(row->used_pct);
	}
}

static int take_cores(struct moment *moment, const struct frame *frame)
{
	size_t count = 0;

	for (const struct cpu_core_row *row = FIRST(frame, cpu_core); row; row = NEXT(row, cpu_core))
		count++;
	if (!count)
		return 0;
	moment->cores = malloc(count < CORES_MOST ? count : CORES_MOST);
	if (!moment->cores)
		return -ENOMEM;
	for (const struct cpu_core_row *row = FIRST(frame, cpu_core); row && moment->core_count < CORES_MOST;
	     row = NEXT(row, cpu_core)) {
		double busy = moment_real(row->busy_pct);

		moment->cores[moment->core_count++] = isnan(busy)  ? CORE_UNKNOWN
						      : busy > 100 ? 100
						      : busy < 0   ? 0
								   : (uint8_t)lround(busy);
	}
	return 0;
}

/* ---- moments ----------------------------------------------------------------------------------------- */

#define VALUE_REAL(value) moment_real(value)
#define VALUE_COUNT(value) real_of_count(value)

int moment_take(struct moment *ret_moment, const struct frame *frame)
{
	struct moment moment = {
		.end_secs = frame->sample->elapsed_secs,
		.step_secs = moment_real(frame->sample->actual_interval_ms) / 1000,
		.timestamp = moment_real(frame->sample->timestamp),
	};
	struct detail *fitted;

	if (!(moment.step_secs > 0))
		moment.step_secs = 0;
#define SERIES(name, kind, field, type, form, merge) \
	moment.values[SERIES_##name] = FIRST(frame, kind) ? in_form(VALUE_##type(FIRST(frame, kind)->field), \
								    form, moment.step_secs) \
							  : (double)NAN;
#include "live/series.def"
	if (FIRST(frame, pressure) && !text_absent(FIRST(frame, pressure)->source))
		moment.machine_pressure = strcmp(FIRST(frame, pressure)->source, "host") == 0;
	moment.details = calloc(DETAILS_MOST, sizeof(*moment.details));
	if (!moment.details || take_cores(&moment, frame) < 0) {
		moment_done(&moment);
		return -ENOMEM;
	}
	take_programs(&moment, frame);
	take_moment_gpus(&moment, frame);
	take_devices(&moment, frame);
	fitted = reallocarray(moment.details, moment.detail_count + 1, sizeof(*fitted));
	moment.details = fitted ? fitted : moment.details;
	*ret_moment = moment;
	return 0;
}

void moment_done(struct moment *moment)
{
	free(moment->details);
	free(moment->cores);
	*moment = (struct moment){0};
}

static double merge_values(enum merge merge, double first, double first_secs, double second,
			   double second_secs)
{
	double secs = first_secs + second_secs;

	if (isnan(first) || merge == LAST)
		return isnan(second) ? first : second;
	if (isnan(second))
		return first;
	if (merge == MOST || !(secs > 0))
		return fmax(first, second);
	return (first * first_secs + second * second_secs) / secs;
}

void moment_merge(struct moment *moment, struct moment *next)
{
	for (size_t i = 0; i < SERIES_COUNT; i++)
		next->values[i] = merge_values(MERGES[i], moment->values[i], moment->step_secs,
					       next->values[i], next->step_secs);
	next->step_secs += moment->step_secs;
	moment_done(moment);
	*moment = *next;
	*next = (struct moment){0};
}
