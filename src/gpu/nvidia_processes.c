/*
 * Processes on an NVIDIA device by NVML; see nvidia_processes.h.
 *
 * There are three traps. A process that computes and draws is in two lists, with the same memory. Utilisation
 * comes as a ring buffer of samples, which also holds those of exited processes. And the length of a record
 * depends on the driver, not only on the version of the call.
 */
#include "gpu/nvidia_processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "gpu/vendor.h"

enum {
	FIRST_RECORDS = 64,
	LIST_TRIES = 3,
	SPARE_RECORDS = 16, /* room for processes that start between the two calls */
	RECORDS_MAX = 1 << 16,
	LONGEST_RECORD = 64,
	UNTOUCHED = 0xa5,
	USEC_PER_SEC = 1000000,
};

static const int LIST_KINDS[NVML_LISTS] = {GPU_PROCESS_COMPUTE, GPU_PROCESS_GRAPHICS,
					   GPU_PROCESS_COMPUTE | GPU_PROCESS_MPS_CLIENT};

void nvidia_records_done(struct nvidia_records *records)
{
	free(records->bytes);
	*records = (struct nvidia_records){0};
}

/* Allocates room for this many records of any version, with all bytes untouched. */
static int make_room(struct nvidia_records *records, unsigned count)
{
	size_t wanted = (size_t)count * LONGEST_RECORD;

	if (count > RECORDS_MAX)
		return -ENOBUFS;
	if (records->capacity < wanted) {
		void *grown = realloc(records->bytes, wanted);

		if (!grown)
			return -ENOMEM;
		records->bytes = grown;
		records->capacity = wanted;
	}
	memset(records->bytes, UNTOUCHED, records->capacity);
	return 0;
}

/*
 * Finds the size of the records that a call has written: the size at which the last field of every record
 * differs from the untouched bytes. 0 when no known size fits.
 */
static size_t written_record_size(const struct nvidia_records *records, unsigned count)
{
	static const size_t KNOWN[] = {
		sizeof(struct nvml_process_v1),
		sizeof(struct nvml_process_v2),
		sizeof(struct nvml_process_v3_long),
	};
	const unsigned char *bytes = records->bytes;
	size_t end = records->capacity;

	while (end && bytes[end - 1] == UNTOUCHED)
		end--;
	for (size_t i = 0; i < ARRAY_SIZE(KNOWN); i++)
		if (end == count * KNOWN[i])
			return KNOWN[i];
	return 0;
}

/* Returns the number of records or a negative errno. */
static int read_list(nvml_device_processes *list, nvml_device handle, struct nvidia_records *records)
{
	unsigned room = records->capacity / LONGEST_RECORD > FIRST_RECORDS
				? (unsigned)(records->capacity / LONGEST_RECORD)
				: FIRST_RECORDS;

	for (int i = 0; i < LIST_TRIES; i++) {
		unsigned count = room;
		int error = make_room(records, room), result;

		if (error < 0)
			return error;
		result = list(handle, &count, records->bytes);
		if (result == NVML_SUCCESS)
			return count <= room ? (int)count : -EPROTO;
		if (result != NVML_INSUFFICIENT_SIZE)
			return -nvml_errno(result);
		if (count > RECORDS_MAX - SPARE_RECORDS)
			return -ENOBUFS;
		room = count > room ? count + SPARE_RECORDS : room * 2;
	}
	return -EAGAIN;
}

/* The device whose processes are being read. */
struct process_place {
	struct gpu_survey *survey;
	int64_t index; /* of the device */
	int64_t from;  /* its first process */
};

static void add_record(const struct process_place *place, const char *bytes, size_t size, int kind)
{
	struct nvml_process_v2 record = {.gpu_instance = NVML_NO_INSTANCE};
	struct gpu_number total = place->survey->devices[place->index].readings[GPU_VRAM_TOTAL_BYTES];
	struct gpu_process *process;

	/* The first fields are the same in all versions. */
	memcpy(&record, bytes, size < sizeof record ? size : sizeof record);
	process = gpu_survey_process(place->survey, place->from, place->index, record.pid);
	if (!process)
		return;
	process->kinds |= kind;
	if (record.used_bytes == NVML_NOT_AVAILABLE || record.used_bytes == UINT32_MAX)
		return;
	/* A process cannot hold more than the device has. */
	if (total.error || total.value <= 0 ? record.used_bytes > INT64_MAX
					    : (double)record.used_bytes > total.value) {
		if (process->vram_bytes.error)
			process->vram_bytes = gpu_absent(EIO);
		return;
	}
	/* Each of the two lists has the whole memory of the process. */
	if (process->vram_bytes.error || process->vram_bytes.value < (double)record.used_bytes)
		process->vram_bytes = gpu_value((double)record.used_bytes);
}

/*
 * Returns whether the lists are complete: at least one could be read, all of those had a known form, and the
 * others do not exist on this device.
 */
static bool read_lists(const struct nvml *nvml, const struct nvidia_device *nvidia,
		       const struct process_place *place, struct nvidia_records *records)
{
	bool any = false, strange = false;

	for (int list = 0; list < NVML_LISTS; list++) {
		int count = nvml->processes[list] ? read_list(nvml->processes[list], nvidia->handle, records)
						  : -EOPNOTSUPP;
		size_t size;

		strange |= count < 0 && count != -EOPNOTSUPP && count != -EINVAL && count != -ENOENT;
		if (count < 0)
			continue;
		size = count ? written_record_size(records, (unsigned)count) : 1;
		strange |= !size;
		if (!size)
			continue;
		any = true;
		for (int i = 0; i < count; i++)
			add_record(place, (const char *)records->bytes + (size_t)i * size, size,
				   LIST_KINDS[list]);
	}
	return any && !strange;
}

/* ---- utilisation ----------------------------------------------------------------------------------- */

struct use {
	unsigned sm, memory, encoder, decoder;
};

/* Both kinds of sample in one form. */
struct use_sample {
	int64_t pid;
	uint64_t at_us;
	struct use use;
};

/* The sum of a process's samples since the last time. */
struct use_sum {
	struct use use;
	unsigned count;
	unsigned incredible; /* values above 100 % */
	uint64_t newest_us;
};

/* use of a process in its last sample */
struct held_use {
	int64_t pid;
	uint64_t at_us;
	struct use use; /* a sum over `count` */
	unsigned count;
};

struct nvidia_held {
	struct held_use of[GPU_PROCESSES_MAX];
	int64_t count;
	uint64_t period_us; /* sampling period: the shortest time between two samples; 0: unknown */
};

struct use_sums {
	struct use_sum of[GPU_PROCESSES_MAX]; /* by the place of the process on the device */
	uint64_t after_us, until_us;          /* leave out samples from outside this time */
};

/* The ring buffer also holds old samples. */
static bool is_new(const struct use_sums *sums, const struct use_sample *sample)
{
	return sample->at_us > sums->after_us && sample->at_us <= sums->until_us;
}

/* A device without an encoder or decoder may have any number there, beside a true use of its cores. */
static unsigned add_engine(unsigned sum, unsigned pct)
{
	return pct > 100 || sum == UINT32_MAX ? UINT32_MAX : sum + pct;
}

static struct gpu_number engine_mean(unsigned sum, unsigned count)
{
	return sum == UINT32_MAX ? gpu_absent(EIO) : gpu_value((double)sum / count);
}

static void take_sample(struct use_sums *sums, const struct process_place *place,
			const struct use_sample *sample)
{
	struct gpu_process *process = gpu_survey_find(place->survey, place->from, place->index, sample->pid);
	struct use_sum *sum;

	/* Without a context on the device, the process has exited. */
	if (!process || !is_new(sums, sample))
		return;
	sum = &sums->of[process - &place->survey->processes[place->from]];
	if (sample->use.sm > 100 || sample->use.memory > 100) {
		sum->incredible++;
		return;
	}
	sum->count++;
	if (sample->at_us > sum->newest_us)
		sum->newest_us = sample->at_us;
	sum->use.sm += sample->use.sm;
	sum->use.memory += sample->use.memory;
	sum->use.encoder = add_engine(sum->use.encoder, sample->use.encoder);
	sum->use.decoder = add_engine(sum->use.decoder, sample->use.decoder);
}

static void set_use(struct gpu_process *process, const struct use *sum, unsigned count)
{
	process->utilization_pct = gpu_value((double)sum->sm / count);
	process->memory_utilization_pct = gpu_value((double)sum->memory / count);
	process->encoder_utilization_pct = engine_mean(sum->encoder, count);
	process->decoder_utilization_pct = engine_mean(sum->decoder, count);
}

/* Returns the number of samples from the older call, or a negative errno. -ENOENT: no process was active. */
static int old_samples(const struct nvml *nvml, const struct nvidia_device *nvidia,
		       struct nvidia_records *records)
{
	unsigned count = 0;
	int result, error;

	if (!nvml->process_utilization)
		return -EOPNOTSUPP;
	result = nvml->process_utilization(nvidia->handle, NULL, &count, nvidia->last_seen_us);
	if (result != NVML_SUCCESS && result != NVML_INSUFFICIENT_SIZE)
		return -nvml_errno(result);
	count += SPARE_RECORDS;
	error = make_room(records, count);
	if (error < 0)
		return error;
	result = nvml->process_utilization(nvidia->handle, records->bytes, &count, nvidia->last_seen_us);
	if (result != NVML_SUCCESS)
		return -nvml_errno(result);
	return count <= records->capacity / sizeof(struct nvml_process_utilization_v1) ? (int)count : -EPROTO;
}

static int new_samples(const struct nvml *nvml, const struct nvidia_device *nvidia,
		       struct nvidia_records *records)
{
	struct nvml_processes_utilization request = {
		.version = NVML_RECORD_VERSION(struct nvml_processes_utilization, 1),
		.last_seen_us = nvidia->last_seen_us,
	};
	unsigned room = FIRST_RECORDS;

	if (!nvml->processes_utilization)
		return -EOPNOTSUPP;
	for (int i = 0; i < LIST_TRIES; i++) {
		int error = make_room(records, room), result;

		if (error < 0)
			return error;
		request.count = room;
		request.samples = records->bytes;
		result = nvml->processes_utilization(nvidia->handle, &request);
		if (result == NVML_SUCCESS)
			return request.count <= room ? (int)request.count : -EPROTO;
		if (result != NVML_INSUFFICIENT_SIZE)
			return -nvml_errno(result);
		if (request.count > RECORDS_MAX - SPARE_RECORDS)
			return -ENOBUFS;
		room = request.count > room ? request.count + SPARE_RECORDS : room * 2;
	}
	return -EAGAIN;
}

static struct use_sample sample_at(const struct nvidia_records *records, int i, bool old)
{
	const struct nvml_process_utilization_v1 *v1 = records->bytes;
	const struct nvml_process_utilization_v2 *v2 = records->bytes;

	if (old)
		return (struct use_sample){
			v1[i].pid,
			v1[i].at_us,
			{v1[i].sm_pct, v1[i].memory_pct, v1[i].encoder_pct, v1[i].decoder_pct}};
	return (struct use_sample){v2[i].pid,
				   v2[i].at_us,
				   {v2[i].sm_pct, v2[i].memory_pct, v2[i].encoder_pct, v2[i].decoder_pct}};
}

static void set_absent(struct gpu_process *process, int error)
{
	process->utilization_pct = process->memory_utilization_pct = gpu_absent(error);
	process->encoder_utilization_pct = process->decoder_utilization_pct = gpu_absent(error);
}

static const struct held_use *find_held(const struct nvidia_held *held, int64_t pid)
{
	for (int64_t i = 0; i < held->count; i++)
		if (held->of[i].pid == pid)
			return &held->of[i];
	return NULL;
}

/*
 * Drivers may sample as rarely as once a second, and list only active processes. A process without a new sample
 * keeps its last use until the next sample is overdue; from then on it is idle.
 */
static bool still_holds(const struct nvidia_held *held, const struct held_use *use, uint64_t now_us)
{
	uint64_t period_us = held->period_us ? held->period_us : USEC_PER_SEC;

	return use && use->at_us + period_us + period_us / 2 >= now_us;
}

static void set_process_use(struct gpu_process *process, const struct use_sum *sum,
			    const struct nvidia_held *held, uint64_t now_us)
{
	static const struct use NONE;
	const struct held_use *before = find_held(held, process->pid);

	if (sum->count)
		set_use(process, &sum->use, sum->count);
	else if (still_holds(held, before, now_us))
		set_use(process, &before->use, before->count);
	else if (sum->incredible)
		set_absent(process, EIO);
	else if (process->kinds & GPU_PROCESS_MPS_CLIENT)
		set_absent(process, EXDEV);
	else
		set_use(process, &NONE, 1);
}

/* Keeps, for the next time, the newest sample of each process that is still on the device. */
static void hold_process(struct nvidia_held *held, const struct process_place *place,
			 const struct use_sums *sums)
{
	static struct held_use kept[GPU_PROCESSES_MAX];
	int64_t count = 0;

	for (int64_t i = place->from; i < place->survey->process_count; i++) {
		const struct use_sum *sum = &sums->of[i - place->from];
		const struct held_use *before = find_held(held, place->survey->processes[i].pid);

		if (sum->count)
			kept[count++] = (struct held_use){place->survey->processes[i].pid, sum->newest_us,
							  sum->use, sum->count};
		else if (before)
			kept[count++] = *before;
	}
	memcpy(held->of, kept, (size_t)count * sizeof(kept[0]));
	held->count = count;
}

/* Stores the times of the samples. */
static void note_time(struct nvidia_device *nvidia, uint64_t newest_us)
{
	uint64_t gap_us = newest_us - nvidia->last_seen_us;

	if (!newest_us)
		return;
	if (nvidia->has_samples && (!nvidia->held->period_us || gap_us < nvidia->held->period_us))
		nvidia->held->period_us = gap_us;
	nvidia->has_samples = true;
	nvidia->last_seen_us = newest_us;
}

static void read_use(const struct nvml *nvml, struct nvidia_device *nvidia, const struct process_place *place,
		     int64_t realtime_us, struct nvidia_records *records)
{
	struct use_sums sums = {
		.after_us = nvidia->last_seen_us,
		.until_us = (uint64_t)realtime_us + USEC_PER_SEC,
	};
	int count = old_samples(nvml, nvidia, records);
	bool old = count != -EOPNOTSUPP;
	uint64_t newest_us = 0;

	if (!old)
		count = new_samples(nvml, nvidia, records);
	for (int i = 0; i < count; i++) {
		struct use_sample sample = sample_at(records, i, old);

		take_sample(&sums, place, &sample);
		if (is_new(&sums, &sample) && sample.at_us > newest_us)
			newest_us = sample.at_us;
	}
	for (int64_t i = place->from; i < place->survey->process_count; i++) {
		struct gpu_process *process = &place->survey->processes[i];

		/* Not found: no process was active. */
		if (count < 0 && count != -ENOENT)
			set_absent(process, -count);
		else
			set_process_use(process, &sums.of[i - place->from], nvidia->held,
					(uint64_t)realtime_us);
	}
	note_time(nvidia, newest_us);
	hold_process(nvidia->held, place, &sums);
}

void nvidia_read_processes(const struct nvml *nvml, struct nvidia_device *nvidia, struct gpu_survey *survey,
			   int64_t index, int64_t realtime_us, struct nvidia_records *records)
{
	const struct process_place place = {survey, index, survey->process_count};
	struct gpu_device *device = &survey->devices[index];

	device->tenant_count = -1;
	device->pids = GPU_PIDS_UNKNOWN;
	if (nvidia->is_divided || !read_lists(nvml, nvidia, &place, records))
		return;
	device->tenant_count = survey->process_count - place.from;
	device->pids = GPU_PIDS_OURS;
	/* At the first time, or after the clock was set back, use the last second. */
	if (!nvidia->last_seen_us || nvidia->last_seen_us > (uint64_t)realtime_us + USEC_PER_SEC) {
		nvidia->last_seen_us = (uint64_t)realtime_us - USEC_PER_SEC;
		nvidia->has_samples = false;
	}
	if (!nvidia->held)
		nvidia->held = calloc(1, sizeof *nvidia->held);
	if (!nvidia->is_instance && nvidia->held)
		read_use(nvml, nvidia, &place, realtime_us, records);
}
