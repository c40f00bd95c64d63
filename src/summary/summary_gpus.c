/* Computes the figures of each GPU. See summary_gpus.h. */
#include "summary/summary_gpus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "metric/typed_rows.h"

#define MIB 1048576.0

enum { GPUS_MAX = 128, UUID_SIZE = 96, SHOWN_GPUS = 16, SECS_PER_HOUR = 3600 };

static const double IDLE_VRAM_SHARE = 0.05, FULL_VRAM_SHARE = 0.95, JOB_VRAM_SHARE = 0.5;

/* A device that worked less on average has no word of its units. */
static const double WORKED_PCT = 1;

/* A stretch is worth a word from this length, and from this share of the run. */
static const double TOLD_SECS = 10, TOLD_SHARE = 0.1;

/* The words of gpu.throttle_reasons that mean that work is slowed. An idle device has lower clocks, too. */
static const struct {
	const char *key, *words;
} SLOWED[] = {
	{"power_cap", "its power limit"},     {"power_brake", "the machine's power brake"},
	{"thermal_software", "heat"},         {"thermal_hardware", "heat (hardware)"},
	{"hardware", "the hardware"},         {"sync_boost", "the clocks of its group"},
	{"clock_setting", "a clock setting"}, {"display_clock", "the display"},
};

enum { SLOWED_COUNT = sizeof SLOWED / sizeof SLOWED[0] };

/* Which units worked (GPM). The text has those with words: of the others, one at most is in use. */
static const struct {
	const char *key, *words;
	size_t offset;
} ACTIVITY[] = {
	{"sm_active_pct", "multiprocessors", offsetof(struct gpu_row, sm_active_pct)},
	{"tensor_active_pct", "tensor cores", offsetof(struct gpu_row, tensor_active_pct)},
	{"dram_active_pct", "memory bandwidth", offsetof(struct gpu_row, dram_active_pct)},
	{"sm_occupancy_pct", NULL, offsetof(struct gpu_row, sm_occupancy_pct)},
	{"fp64_active_pct", NULL, offsetof(struct gpu_row, fp64_active_pct)},
	{"fp32_active_pct", NULL, offsetof(struct gpu_row, fp32_active_pct)},
	{"fp16_active_pct", NULL, offsetof(struct gpu_row, fp16_active_pct)},
};

enum { ACTIVITY_COUNT = sizeof ACTIVITY / sizeof ACTIVITY[0] };

/* Errors of its memory: the driver counts from its own start, the summary from that of the recording. */
static const struct {
	const char *key;
	size_t offset;
} ECC[] = {
	{"ecc_corrected_errors", offsetof(struct gpu_row, ecc_corrected_errors)},
	{"ecc_uncorrected_errors", offsetof(struct gpu_row, ecc_uncorrected_errors)},
};

enum { ECC_COUNT = sizeof ECC / sizeof ECC[0], ECC_UNCORRECTED = ECC_COUNT - 1 };

static const struct {
	const char *key, *words;
	size_t offset;
} REMAPPED[] = {
	{"corrected", NULL, offsetof(struct gpu_row, remapped_rows_corrected)},
	{"uncorrected", NULL, offsetof(struct gpu_row, remapped_rows_uncorrected)},
	{"pending", "its next reset replaces a row of its memory", offsetof(struct gpu_row, remap_pending)},
	{"failed", "a row of its memory could not be replaced", offsetof(struct gpu_row, remap_failed)},
};

enum { REMAPPED_COUNT = sizeof REMAPPED / sizeof REMAPPED[0] };

struct gpu_figures {
	char uuid[UUID_SIZE], name[UUID_SIZE], parent[UUID_SIZE]; /* "": absent */
	int64_t index, instance; /* of its device. < 0: a whole device, or unknown */
	bool hidden;             /* invisible to the job */
	bool divided;            /* its instances have their own entries */
	struct figure utilization_pct, vram_mib, power_watts, job_utilization_pct, job_vram_mib;
	double vram_total_mib;                  /* when vram_mib was at its most, NaN if unknown */
	struct figure activity[ACTIVITY_COUNT]; /* in samples in which the device worked */
	struct total energy_joules;
	int64_t xid_count, last_xid; /* -1: unknown */
	int64_t ecc_counter[ECC_COUNT],
		ecc_errors[ECC_COUNT];    /* the last reading, and what was added. -1: unknown */
	int64_t remapped[REMAPPED_COUNT]; /* at the end. -1: unknown */
	double slowed_secs[SLOWED_COUNT];
	bool knows_slowed;                    /* a sample had the reasons */
	double first_use_secs, last_use_secs; /* of the run: not before, not after. NaN: never */
	double tracked_secs, idle_secs;       /* in samples that know, and of these without work of the job */
	double held_secs, held_mib; /* without work, but with memory of the job, and how much at most */
	bool tracked;               /* a sample had the job's part */
	bool used;                  /* the job used it */
};

struct summary_gpus {
	size_t count;
	double elapsed_secs; /* of the last sample */
	struct gpu_figures of[GPUS_MAX];
};

void summary_gpus_want(struct metric_set *wanted)
{
	WANT(wanted, gpu, uuid);
	WANT(wanted, gpu, name);
	WANT(wanted, gpu, index);
	WANT(wanted, gpu, visible);
	WANT(wanted, gpu, mig_parent);
	WANT(wanted, gpu, mig_gpu_instance);
	WANT(wanted, gpu, utilization_pct);
	WANT(wanted, gpu, memory_kind);
	WANT(wanted, gpu, vram_total_bytes);
	WANT(wanted, gpu, vram_used_bytes);
	WANT(wanted, gpu, power_watts);
	WANT(wanted, gpu, energy_joules);
	WANT(wanted, gpu, process_count);
	WANT(wanted, gpu, process_utilization_pct);
	WANT(wanted, gpu, process_vram_bytes);
	WANT(wanted, gpu, throttle_reasons);
	WANT(wanted, gpu, sm_active_pct);
	WANT(wanted, gpu, sm_occupancy_pct);
	WANT(wanted, gpu, tensor_active_pct);
	WANT(wanted, gpu, fp64_active_pct);
	WANT(wanted, gpu, fp32_active_pct);
	WANT(wanted, gpu, fp16_active_pct);
	WANT(wanted, gpu, dram_active_pct);
	WANT(wanted, gpu, ecc_corrected_errors);
	WANT(wanted, gpu, ecc_uncorrected_errors);
	WANT(wanted, gpu, remapped_rows_corrected);
	WANT(wanted, gpu, remapped_rows_uncorrected);
	WANT(wanted, gpu, remap_pending);
	WANT(wanted, gpu, remap_failed);
	WANT(wanted, gpu, xid_errors);
	WANT(wanted, gpu, last_xid);
}

void summary_gpus_clear(struct summary_gpus *gpus)
{
	if (gpus)
		gpus->count = 0;
}

void summary_gpus_free(struct summary_gpus *gpus)
{
	free(gpus);
}

/* ---- adding ---------------------------------------------------------------------------------------- */

static void copy_device_text(char *ret_text, const char *text)
{
	size_t length = text_absent(text) ? 0 : strnlen(text, UUID_SIZE - 1);

	memcpy(ret_text, text_absent(text) ? "" : text, length);
	ret_text[length] = '\0';
}

static struct gpu_figures *add_place(struct summary_gpus *gpus)
{
	struct gpu_figures *place = &gpus->of[gpus->count++];
	struct figure *const figures[] = {&place->utilization_pct, &place->vram_mib, &place->power_watts,
					  &place->job_utilization_pct, &place->job_vram_mib};

	memset(place, 0, sizeof *place);
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		figures[i]->most = figures[i]->most_elapsed_secs = NAN;
	place->instance = place->xid_count = -1;
	for (size_t i = 0; i < ECC_COUNT; i++)
		place->ecc_errors[i] = -1;
	for (size_t i = 0; i < REMAPPED_COUNT; i++)
		place->remapped[i] = -1;
	place->vram_total_mib = place->first_use_secs = place->last_use_secs = NAN;
	return place;
}

/*
 * Recordings by others may have devices without an identity. Then their position in the sample identifies
 * them.
 */
static struct gpu_figures *find_gpu_place(struct summary_gpus *gpus, const char *uuid, size_t position)
{
	struct gpu_figures *place;

	if (text_absent(uuid) || !*uuid)
		while (gpus->count <= position && gpus->count < GPUS_MAX) {
			place = add_place(gpus);
			place->index = (int64_t)gpus->count - 1;
		}
	if (text_absent(uuid) || !*uuid)
		return position < gpus->count ? &gpus->of[position] : NULL;
	for (size_t i = 0; i < gpus->count; i++)
		if (strncmp(gpus->of[i].uuid, uuid, UUID_SIZE - 1) == 0)
			return &gpus->of[i];
	if (gpus->count == GPUS_MAX)
		return NULL;
	place = add_place(gpus);
	place->index = (int64_t)gpus->count - 1;
	copy_device_text(place->uuid, uuid);
	return place;
}

static double mib_of(int64_t bytes)
{
	return count_absent(bytes) ? (double)NAN : (double)bytes / MIB;
}

/* `reasons` are joined by "+". */
static bool has_reason(const char *reasons, const char *reason)
{
	size_t length = strlen(reason);

	for (const char *at = reasons; *at; at += strcspn(at, "+"), at += *at == '+')
		if (strcspn(at, "+") == length && strncmp(at, reason, length) == 0)
			return true;
	return false;
}

static void add_slowed(struct gpu_figures *place, const char *reasons, double secs)
{
	if (text_absent(reasons))
		return;
	place->knows_slowed = true;
	for (size_t i = 0; i < SLOWED_COUNT; i++)
		place->slowed_secs[i] += has_reason(reasons, SLOWED[i].key) ? secs : 0;
}

/* A reset of the device begins its counters again. */
static void add_memory_errors(struct gpu_figures *place, const struct gpu_row *row)
{
	for (size_t i = 0; i < ECC_COUNT; i++) {
		int64_t now = *row_count(&row->row, ECC[i].offset), before = place->ecc_counter[i];

		if (count_absent(now))
			continue;
		place->ecc_errors[i] = place->ecc_errors[i] < 0
					       ? 0
					       : place->ecc_errors[i] + (now < before ? now : now - before);
		place->ecc_counter[i] = now;
	}
	for (size_t i = 0; i < REMAPPED_COUNT; i++)
		if (!count_absent(*row_count(&row->row, REMAPPED[i].offset)))
			place->remapped[i] = *row_count(&row->row, REMAPPED[i].offset);
}

static void add_activity(struct gpu_figures *place, const struct gpu_row *row, const struct moment *moment)
{
	if (!(row->utilization_pct > 0) && !(row->sm_active_pct > 0))
		return;
	for (size_t i = 0; i < ACTIVITY_COUNT; i++)
		figure_add(&place->activity[i], moment, *row_real(&row->row, ACTIVITY[i].offset));
}

/* The sample tells that the job worked at some time in it: the run is given the benefit of the doubt. */
static void add_job_use(struct gpu_figures *place, const struct gpu_row *row, const struct moment *moment)
{
	double work = !count_absent(row->process_count) && row->process_count == 0
			      ? 0
			      : row->process_utilization_pct;
	double held_mib = mib_of(row->process_vram_bytes);

	if (real_absent(work))
		return;
	place->tracked_secs += moment->length_secs;
	if (work > 0) {
		if (isnan(place->first_use_secs))
			place->first_use_secs = fmax(0, moment->elapsed_secs - moment->length_secs);
		place->last_use_secs = moment->elapsed_secs;
		return;
	}
	place->idle_secs += moment->length_secs;
	if (held_mib > 0) {
		place->held_secs += moment->length_secs;
		place->held_mib = fmax(place->held_mib, held_mib);
	}
}

static void add_device_row(struct gpu_figures *place, const struct gpu_row *row, const struct moment *moment)
{
	copy_device_text(place->name, row->name);
	copy_device_text(place->parent, row->mig_parent);
	if (!count_absent(row->index))
		place->index = row->index;
	if (!count_absent(row->mig_gpu_instance))
		place->instance = row->mig_gpu_instance;
	place->hidden = !count_absent(row->visible) && !row->visible;
	/* A device may be divided anew in the middle: the total is that of its peak. */
	if (!count_absent(row->vram_total_bytes) &&
	    (isnan(place->vram_total_mib) || !(mib_of(row->vram_used_bytes) <= place->vram_mib.most)))
		place->vram_total_mib = mib_of(row->vram_total_bytes);
	figure_add(&place->utilization_pct, moment, row->utilization_pct);
	figure_add(&place->vram_mib, moment, mib_of(row->vram_used_bytes));
	figure_add(&place->power_watts, moment, row->power_watts);
	figure_add(&place->job_utilization_pct, moment, row->process_utilization_pct);
	figure_add(&place->job_vram_mib, moment, mib_of(row->process_vram_bytes));
	total_add(&place->energy_joules, row->energy_joules);
	if (!count_absent(row->xid_errors) && !count_absent(row->last_xid)) {
		place->xid_count = row->xid_errors;
		place->last_xid = row->last_xid;
	}
	add_memory_errors(place, row);
	add_slowed(place, row->throttle_reasons, moment->length_secs);
	add_activity(place, row, moment);
	add_job_use(place, row, moment);
	place->tracked |= !count_absent(row->process_count);
	place->used |= (!count_absent(row->process_count) && row->process_count > 0) ||
		       (!count_absent(row->process_vram_bytes) && row->process_vram_bytes > 0) ||
		       row->process_utilization_pct > 0;
}

void summary_gpus_add(struct summary_gpus **gpus, const struct frame *frame, const struct moment *moment)
{
	struct summary_gpus *list = *gpus;
	size_t position = 0;

	if (!FIRST(frame, gpu))
		return;
	if (!list)
		list = *gpus = calloc(1, sizeof *list);
	for (const struct gpu_row *row = FIRST(frame, gpu); row && list; row = NEXT(row, gpu)) {
		struct gpu_figures *place = find_gpu_place(list, row->uuid, position++);

		if (place)
			add_device_row(place, row, moment);
	}
	if (list)
		list->elapsed_secs = moment->elapsed_secs;
	for (size_t i = 0; list && i < list->count; i++)
		for (size_t n = 0; n < list->count && *list->of[i].parent; n++)
			if (strcmp(list->of[n].uuid, list->of[i].parent) == 0)
				list->of[n].divided = true;
}

/* ---- results --------------------------------------------------------------------------------------- */

double summary_gpus_energy_joules(const struct summary_gpus *gpus)
{
	double joules = NAN;

	for (size_t i = 0; gpus && i < gpus->count; i++) {
		double part = total_of(&gpus->of[i].energy_joules);

		if (!isnan(part))
			joules = (isnan(joules) ? 0 : joules) + part;
	}
	return joules;
}

static double hours_of_gpus(const struct summary_gpus *gpus, size_t secs)
{
	double hours = NAN;

	for (size_t i = 0; gpus && i < gpus->count; i++) {
		const struct gpu_figures *gpu = &gpus->of[i];

		/* An instance is a part of a GPU, and recordings do not tell how large a part. */
		if (*gpu->parent)
			return NAN;
		if (gpu->hidden && !gpu->used)
			continue;
		if (gpu->tracked_secs <= 0)
			return NAN;
		hours = (isnan(hours) ? 0 : hours) +
			*(const double *)((const char *)gpu + secs) / (double)SECS_PER_HOUR;
	}
	return hours;
}

double summary_gpus_idle_hours(const struct summary_gpus *gpus)
{
	return hours_of_gpus(gpus, offsetof(struct gpu_figures, idle_secs));
}

double summary_gpus_held_idle_hours(const struct summary_gpus *gpus)
{
	return hours_of_gpus(gpus, offsetof(struct gpu_figures, held_secs));
}

/* "0", or "0 (instance 7)": a device with an instance in use must not look idle. */
static void add_device_name(struct buffer *out, const struct gpu_figures *gpu)
{
	buffer_printf(out, "%lld", (long long)gpu->index);
	if (*gpu->parent && gpu->instance >= 0)
		buffer_printf(out, " (instance %lld)", (long long)gpu->instance);
	else if (*gpu->parent)
		buffer_add_text(out, " (instance)");
}

struct idle_gpus summary_gpus_idle(const struct summary_gpus *gpus, bool tracked)
{
	struct idle_gpus idle = {.count = 0, .names = BUFFER(4096)};
	bool unknown = !tracked;

	for (size_t i = 0; gpus && i < gpus->count; i++) {
		const struct gpu_figures *gpu = &gpus->of[i];

		/* Instances use a divided device, and the job could not use a hidden one. */
		if (gpu->divided || (gpu->hidden && !gpu->used))
			continue;
		idle.of++;
		unknown |= !gpu->tracked;
		if (gpu->used)
			continue;
		buffer_add_text(&idle.names, idle.count ? ", " : "");
		add_device_name(&idle.names, gpu);
		idle.count++;
	}
	if (unknown)
		idle.count = -1;
	return idle;
}

struct full_gpu summary_gpus_full(const struct summary_gpus *gpus)
{
	for (size_t i = 0; gpus && i < gpus->count; i++) {
		const struct gpu_figures *gpu = &gpus->of[i];

		if (gpu->vram_mib.most >= FULL_VRAM_SHARE * gpu->vram_total_mib &&
		    gpu->job_vram_mib.most >= JOB_VRAM_SHARE * gpu->vram_total_mib)
			return (struct full_gpu){gpu->index, gpu->vram_mib.most, gpu->vram_total_mib};
	}
	return (struct full_gpu){.index = -1};
}

static void add_device_text(struct json_writer *json, const char *key, const char *text)
{
	json_key(json, key);
	json_text(json, *text ? text : NULL);
}

static void add_device_real(struct json_writer *json, const char *key, double value, int decimals)
{
	json_key(json, key);
	json_decimal(json, value, decimals);
}

static void add_device_count(struct json_writer *json, const char *key, int64_t value, bool known)
{
	json_key(json, key);
	if (known)
		json_count(json, value);
	else
		json_absent(json);
}

static void add_errors_json(struct json_writer *json, const struct gpu_figures *gpu)
{
	add_device_count(json, "xid_errors", gpu->xid_count, gpu->xid_count >= 0);
	add_device_count(json, "last_xid", gpu->last_xid, gpu->xid_count > 0);
	for (size_t i = 0; i < ECC_COUNT; i++)
		add_device_count(json, ECC[i].key, gpu->ecc_errors[i], gpu->ecc_errors[i] >= 0);
	json_key(json, "remapped_rows");
	json_open(json, '{');
	for (size_t i = 0; i < REMAPPED_COUNT; i++)
		add_device_count(json, REMAPPED[i].key, gpu->remapped[i], gpu->remapped[i] >= 0);
	json_close(json, '}');
}

static void add_slowed_json(struct json_writer *json, const struct gpu_figures *gpu)
{
	json_key(json, "slowed_secs");
	if (!gpu->knows_slowed) {
		json_absent(json);
		return;
	}
	json_open(json, '{');
	for (size_t i = 0; i < SLOWED_COUNT; i++)
		if (gpu->slowed_secs[i] > 0)
			add_device_real(json, SLOWED[i].key, gpu->slowed_secs[i], 3);
	json_close(json, '}');
}

static void add_activity_json(struct json_writer *json, const struct gpu_figures *gpu)
{
	json_key(json, "activity");
	json_open(json, '{');
	for (size_t i = 0; i < ACTIVITY_COUNT; i++)
		add_device_real(json, ACTIVITY[i].key, figure_mean(&gpu->activity[i]), 2);
	json_close(json, '}');
}

static void add_use_json(struct json_writer *json, const struct gpu_figures *gpu)
{
	bool known = gpu->tracked_secs > 0;

	add_device_real(json, "first_use_secs", gpu->first_use_secs, 3);
	add_device_real(json, "last_use_secs", gpu->last_use_secs, 3);
	add_device_real(json, "idle_secs", known ? gpu->idle_secs : (double)NAN, 3);
	add_device_real(json, "held_idle_secs", known ? gpu->held_secs : (double)NAN, 3);
	add_device_real(json, "held_idle_max_mib", known ? gpu->held_mib : (double)NAN, 3);
}

static void add_device_mib(struct buffer *out, double mib, enum rt_size_unit unit)
{
	add_size(out, mib * MIB, unit);
}

/* https://docs.nvidia.com/deploy/xid-errors, in our words. */
static const char *xid_meaning(int64_t xid)
{
	static const struct {
		int64_t xid;
		const char *meaning;
	} MEANINGS[] = {
		{13, "a kernel failed on it"},
		{31, "a kernel used memory that it does not have"},
		{43, "it ended a program that failed on it"},
		{45, "it cleaned up after a program that ended"},
		{48, "an error of its memory that ECC cannot correct"},
		{63, "a row of its memory was replaced"},
		{64, "a row of its memory could not be replaced"},
		{74, "an error of NVLink"},
		{79, "the GPU has fallen off the bus"},
		{94, "an error of its memory ended one program"},
		{95, "an error of its memory, and it must be reset"},
		{119, "its firmware did not answer"},
		{120, "its firmware failed"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(MEANINGS); i++)
		if (MEANINGS[i].xid == xid)
			return MEANINGS[i].meaning;
	return "see the kernel's log";
}

/* "at work: multiprocessors 96 % active, tensor cores 93 %": a utilization of 100 % may be one multiprocessor. */
static void add_work(struct buffer *out, const struct gpu_figures *gpu)
{
	bool any = false;

	for (size_t i = 0; i < ACTIVITY_COUNT; i++) {
		double mean = figure_mean(&gpu->activity[i]);

		if (!ACTIVITY[i].words || isnan(mean) || !(figure_mean(&gpu->utilization_pct) >= WORKED_PCT))
			continue;
		buffer_printf(out, "%s%s %.0f %%%s", any ? ", " : "; at work: ", ACTIVITY[i].words, mean,
			      any ? "" : " active");
		any = true;
	}
}

static bool is_long(const struct gpu_figures *gpu, double secs)
{
	return secs >= TOLD_SECS && secs >= TOLD_SHARE * gpu->tracked_secs;
}

/* Its work, and time that was given away: "first used after 2 min; held 30 GiB without work for 5 min". */
static void add_course(struct buffer *out, const struct gpu_figures *gpu, double elapsed_secs,
		       enum rt_size_unit unit)
{
	add_work(out, gpu);
	if (gpu->xid_count > 0)
		buffer_printf(out, "; Xid %lld: %s", (long long)gpu->last_xid, xid_meaning(gpu->last_xid));
	if (gpu->ecc_errors[ECC_UNCORRECTED] > 0)
		buffer_printf(out, "; its memory had errors that ECC did not correct (%lld)",
			      (long long)gpu->ecc_errors[ECC_UNCORRECTED]);
	for (size_t i = 0; i < REMAPPED_COUNT; i++)
		if (REMAPPED[i].words && gpu->remapped[i] > 0)
			buffer_printf(out, "; %s", REMAPPED[i].words);
	for (size_t i = 0; i < SLOWED_COUNT; i++) {
		if (!is_long(gpu, gpu->slowed_secs[i]))
			continue;
		buffer_printf(out, "; slowed by %s for ", SLOWED[i].words);
		add_duration(out, gpu->slowed_secs[i]);
	}
	if (is_long(gpu, gpu->first_use_secs)) {
		buffer_add_text(out, "; first used after ");
		add_duration(out, gpu->first_use_secs);
	}
	if (is_long(gpu, elapsed_secs - gpu->last_use_secs)) {
		buffer_add_text(out, "; idle from ");
		add_duration(out, gpu->last_use_secs);
		buffer_add_text(out, " on");
	}
	if (is_long(gpu, gpu->held_secs)) {
		buffer_add_text(out, "; held ");
		add_device_mib(out, gpu->held_mib, unit);
		buffer_add_text(out, " without work for ");
		add_duration(out, gpu->held_secs);
	}
}

static void add_course_json(struct json_writer *json, const struct gpu_figures *gpu, double elapsed_secs)
{
	struct buffer course = BUFFER(1024);

	add_course(&course, gpu, elapsed_secs, RT_SIZE_AUTO);
	buffer_add_char(&course, '\0');
	add_device_text(json, "course", course.data && course.length > 2 ? course.data + 2 : "");
	buffer_done(&course);
}

void summary_gpus_json(struct buffer *out, const struct summary_gpus *gpus)
{
	struct json_writer json = JSON_WRITER(out);

	buffer_add_text(out, "\"gpus\":");
	json_open(&json, '[');
	for (size_t i = 0; gpus && i < gpus->count; i++) {
		const struct gpu_figures *gpu = &gpus->of[i];

		json_open(&json, '{');
		json_key(&json, "index");
		json_count(&json, gpu->index);
		add_device_text(&json, "uuid", gpu->uuid);
		add_device_text(&json, "name", gpu->name);
		add_device_text(&json, "mig_parent", gpu->parent);
		add_device_count(&json, "mig_gpu_instance", gpu->instance, gpu->instance >= 0);
		add_device_real(&json, "mean_pct", figure_mean(&gpu->utilization_pct), 2);
		add_device_real(&json, "max_pct", gpu->utilization_pct.most, 2);
		add_device_real(&json, "memory_mean_mib", figure_mean(&gpu->vram_mib), 3);
		add_device_real(&json, "memory_max_mib", gpu->vram_mib.most, 3);
		add_device_real(&json, "memory_total_mib", gpu->vram_total_mib, 3);
		add_device_real(&json, "power_mean_watts", figure_mean(&gpu->power_watts), 1);
		add_device_real(&json, "power_max_watts", gpu->power_watts.most, 1);
		add_device_real(&json, "energy_joules", total_of(&gpu->energy_joules), 3);
		add_device_real(&json, "job_mean_pct", figure_mean(&gpu->job_utilization_pct), 2);
		add_device_real(&json, "job_max_pct", gpu->job_utilization_pct.most, 2);
		add_device_real(&json, "job_memory_max_mib", gpu->job_vram_mib.most, 3);
		add_errors_json(&json, gpu);
		add_activity_json(&json, gpu);
		add_slowed_json(&json, gpu);
		add_use_json(&json, gpu);
		add_course_json(&json, gpu, gpus->elapsed_secs);
		json_key(&json, "used_by_job");
		if (gpu->tracked)
			json_flag(&json, gpu->used);
		else
			json_absent(&json);
		json_close(&json, '}');
	}
	json_close(&json, ']');
}

static void add_device_line(struct buffer *out, const struct gpu_figures *gpu, double elapsed_secs,
			    enum rt_size_unit unit)
{
	double mean = figure_mean(&gpu->utilization_pct), job_mean = figure_mean(&gpu->job_utilization_pct);

	add_device_name(out, gpu);
	buffer_add_text(out, ":");
	if (isnan(mean))
		buffer_add_text(out, " use unknown");
	else
		buffer_printf(out, " mean %.0f %%, max %.0f %%", mean, gpu->utilization_pct.most);
	if (!isnan(gpu->vram_mib.most)) {
		buffer_add_text(out, "; memory peak ");
		add_device_mib(out, gpu->vram_mib.most, unit);
		if (!isnan(gpu->vram_total_mib)) {
			buffer_add_text(out, " of ");
			add_device_mib(out, gpu->vram_total_mib, unit);
		}
	}
	if (gpu->tracked && !gpu->used)
		buffer_add_text(out, "; not used by the job");
	if (gpu->used && !isnan(job_mean))
		buffer_printf(out, "; the job: mean %.0f %%", job_mean);
	if (gpu->used && gpu->job_vram_mib.most > 0) {
		buffer_add_text(out, isnan(job_mean) ? "; the job: " : ", ");
		add_device_mib(out, gpu->job_vram_mib.most, unit);
	}
	add_course(out, gpu, elapsed_secs, unit);
}

/* An idle GPU had no work at all, and at most a driver's share of its memory was used. */
static bool is_idle(const struct gpu_figures *gpu)
{
	return gpu->tracked && !gpu->used && !gpu->divided && gpu->utilization_pct.most < 1 &&
	       !(gpu->vram_mib.most > IDLE_VRAM_SHARE * gpu->vram_total_mib);
}

/* "1, 2, 3: idle, and not used by the job": one line for many devices. */
static void add_idle_line(struct buffer *out, const struct summary_gpus *gpus, int indent)
{
	bool any = false;

	for (size_t i = 0; i < gpus->count; i++) {
		if (!is_idle(&gpus->of[i]))
			continue;
		if (!any)
			buffer_printf(out, "\n  %-*s", indent, "");
		buffer_add_text(out, any ? ", " : "");
		add_device_name(out, &gpus->of[i]);
		any = true;
	}
	buffer_add_text(out, any ? ": idle; not used by the job" : "");
}

/* The line above has the use of a single GPU. */
static void add_only_line(struct buffer *out, const struct gpu_figures *gpu, double elapsed_secs,
			  enum rt_size_unit unit, int indent)
{
	struct buffer course = BUFFER(1024);

	add_course(&course, gpu, elapsed_secs, unit);
	if (course.length)
		buffer_printf(out, "\n  %-*s%.*s", indent, "", (int)course.length - 2, course.data + 2);
	buffer_done(&course);
}

void summary_gpus_lines(struct buffer *out, const struct summary_gpus *gpus, enum rt_size_unit unit,
			int indent)
{
	size_t count = gpus ? gpus->count : 0, shown = 0, left_out = 0;

	if (count == 1)
		add_only_line(out, &gpus->of[0], gpus->elapsed_secs, unit, indent);
	if (count < 2)
		return;
	for (size_t i = 0; i < count; i++) {
		if (is_idle(&gpus->of[i]))
			continue;
		if (shown == SHOWN_GPUS) {
			left_out++;
			continue;
		}
		buffer_printf(out, "\n  %-*s", indent, "");
		add_device_line(out, &gpus->of[i], gpus->elapsed_secs, unit);
		shown++;
	}
	if (left_out)
		buffer_printf(out, "\n  %-*sand %zu more: see the JSON form", indent, "", left_out);
	add_idle_line(out, gpus, indent);
}
