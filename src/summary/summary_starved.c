/* GPUs that wait for their input. See summary_starved.h. */
#include "summary/summary_starved.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "metric/typed_rows.h"

enum { PIDS_MOST = 256 };

/* PyTorch gives its workers this name. Their arguments are those of the process that forked them. */
const char STARVED_DATA_WORKER[] = "pt_data_worker";

void summary_starved_want(struct metric_set *wanted)
{
	WANT(wanted, gpu_process, pid);
}

/* The rows of a device that is divided are those of its instances. */
static bool has_instances(const struct frame *frame, const struct gpu_row *device)
{
	for (const struct gpu_row *gpu = FIRST(frame, gpu); gpu; gpu = NEXT(gpu, gpu))
		if (!text_absent(gpu->mig_parent) && !text_absent(device->uuid) &&
		    strcmp(gpu->mig_parent, device->uuid) == 0)
			return true;
	return false;
}

/* Adds up the GPUs that the job holds. Returns how much they worked for it: 0.5 is one, half of the time. */
static double work_of_held(const struct frame *frame, double *ret_held)
{
	double work = 0;

	*ret_held = 0;
	for (const struct gpu_row *gpu = FIRST(frame, gpu); gpu; gpu = NEXT(gpu, gpu)) {
		if (real_absent(gpu->process_utilization_pct) || count_absent(gpu->process_count) ||
		    !gpu->process_count || has_instances(frame, gpu))
			continue;
		*ret_held += 1;
		work += fmin(gpu->process_utilization_pct / 100, 1);
	}
	return work;
}

static double count_gpu_processes(const struct frame *frame)
{
	int64_t pids[PIDS_MOST];
	size_t count = 0;

	for (const struct gpu_process_row *row = FIRST(frame, gpu_process); row;
	     row = NEXT(row, gpu_process)) {
		size_t i = 0;

		while (i < count && pids[i] != row->pid)
			i++;
		if (i == count && count < PIDS_MOST && !count_absent(row->pid))
			pids[count++] = row->pid;
	}
	return (double)count;
}

static struct starved_program *starved_place(struct starved_time *time, const char *name)
{
	for (size_t i = 0; i < time->count; i++)
		if (strncmp(time->programs[i].name, name, sizeof time->programs[i].name - 1) == 0)
			return &time->programs[i];
	if (time->count == STARVED_PROGRAMS_MOST)
		return NULL;
	time->programs[time->count] = (struct starved_program){0};
	snprintf(time->programs[time->count].name, sizeof time->programs[0].name, "%s", name);
	return &time->programs[time->count++];
}

static void add_idle_programs(struct starved_time *time, const struct frame *frame, double secs,
			      double idle_share)
{
	for (const struct program_row *row = FIRST(frame, program); row; row = NEXT(row, program)) {
		struct starved_program *program =
			text_absent(row->name) ? NULL : starved_place(time, row->name);

		if (!program)
			continue;
		program->on_gpu |= row->gpu_vram_mib > 0;
		program->core_secs += real_absent(row->cpu_secs) ? 0 : idle_share * row->cpu_secs;
		program->process_secs += idle_share * secs *
					 (count_absent(row->process_count) ? 0 : (double)row->process_count);
	}
}

/* The samples since the last use count once the GPUs work again. */
static void take_since_use(struct summary_starved *starved)
{
	struct starved_time *sure = &starved->sure, *more = &starved->since_use;

	sure->secs += more->secs;
	sure->idle_secs += more->idle_secs;
	sure->gpu_process_secs += more->gpu_process_secs;
	sure->free_core_secs += more->free_core_secs;
	sure->known_secs += more->known_secs;
	sure->io_secs += more->io_secs;
	for (size_t i = 0; i < more->count; i++) {
		struct starved_program *program = starved_place(sure, more->programs[i].name);

		if (!program)
			continue;
		program->on_gpu |= more->programs[i].on_gpu;
		program->core_secs += more->programs[i].core_secs;
		program->process_secs += more->programs[i].process_secs;
	}
	*more = (struct starved_time){0};
}

/* Cores that the job could have used more: of its limit, and of the machine. */
static double free_cores_of(const struct frame *frame, const struct cpu_bounds *bounds)
{
	const struct tree_row *tree = FIRST(frame, tree);
	const struct host_cpu_row *cpu = FIRST(frame, host_cpu);
	double job = tree ? tree->process_cores_used : (double)NAN,
	       all = cpu ? cpu->utilization_pct : (double)NAN;

	if (count_absent(bounds->core_count) || isnan(job) || isnan(all))
		return NAN;
	return fmax(0, fmin(cpu_bounds_least(bounds) - job, (double)bounds->core_count - all));
}

/* Drivers tell small kernels as a use of 0 %: a loop of training goes on as long as its workers compute. */
static bool loads_data(const struct frame *frame)
{
	for (const struct program_row *row = FIRST(frame, program); row; row = NEXT(row, program))
		if (!text_absent(row->name) && strcmp(row->name, STARVED_DATA_WORKER) == 0 &&
		    row->cpu_secs > 0)
			return true;
	return false;
}

void summary_starved_add(struct summary_starved *starved, const struct frame *frame,
			 const struct cpu_bounds *bounds, bool own_pressure)
{
	const struct pressure_row *pressure = own_pressure ? FIRST(frame, pressure) : NULL;
	struct starved_time *time = &starved->since_use;
	double secs = frame->sample->actual_interval_ms / 1000, held, work = work_of_held(frame, &held);
	double idle_share = 1 - work / held, free_cores = free_cores_of(frame, bounds);
	bool used = work > 0 || loads_data(frame);

	if (!(secs > 0) || !(held > 0) || (!used && !(starved->sure.secs > 0)))
		return;
	time->secs += secs;
	time->idle_secs += idle_share * secs;
	time->gpu_process_secs += idle_share * secs * count_gpu_processes(frame);
	if (!isnan(free_cores)) {
		time->free_core_secs += idle_share * secs * free_cores;
		time->known_secs += idle_share * secs;
	}
	if (pressure && !real_absent(pressure->io_some_secs))
		time->io_secs += idle_share * pressure->io_some_secs;
	add_idle_programs(time, frame, secs, idle_share);
	if (used)
		take_since_use(starved);
}
