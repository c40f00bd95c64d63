/* Reads the samples of a run into its summary. See summary.h. */
#include "summary/summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metric/typed_rows.h"
#include "record/tree_memory.h"

#define MIB 1048576.0

static void want_tree(struct metric_set *wanted)
{
	/* Read all of its metrics: nearly all are needed. */
	metric_set_add_kind(wanted, ROW_tree);
}

static void want_host(struct metric_set *wanted)
{
#define MEAN_AND_MAX(field, row, metric) WANT(wanted, row, metric);
#define SUM MEAN_AND_MAX
#include "summary/summary_sums.def"
#define SUM_OF(group, name, kind, decimals, row, metric, ...) WANT(wanted, row, metric);
#define MEAN_OF SUM_OF
#define MOST_OF SUM_OF
#include "figures/run_figures.def"
	WANT(wanted, sample, host);
	WANT(wanted, sample, job_name);
	WANT(wanted, sample, tracked_pid);
	WANT(wanted, sample, rank);
	WANT(wanted, sample, missed_ticks);
	WANT(wanted, memory, total_mib);
	WANT(wanted, memory, swap_total_mib);
	WANT(wanted, run_start, mode);
	summary_disks_want(wanted);
	summary_gpus_want(wanted);
	summary_programs_want(wanted);
	summary_starved_want(wanted);
	summary_waits_want(wanted);
	summary_signals_want(wanted);
	metric_set_add_kind(wanted, ROW_limits);
	oom_course_want(wanted);
	metric_set_add_kind(wanted, ROW_pressure);
	metric_set_add_kind(wanted, ROW_tracker);
}

static double same_real(double real)
{
	return real;
}

/* A metric as a real number, whatever its type, NaN if absent. */
#define REAL_OF(value) _Generic((value), double : same_real, int64_t : real_of_count)(value)

/* Adds the metrics whose value is a metric's own. */
static void add_own_metrics(struct run_facts *facts, const struct frame *frame, const struct moment *moment)
{
#define MEAN_AND_MAX(field, kind, metric) \
	if (FIRST(frame, kind)) \
		figure_add(&facts->field, moment, REAL_OF(FIRST(frame, kind)->metric));
#define SUM(field, kind, metric) \
	if (FIRST(frame, kind)) \
		total_add(&facts->field, REAL_OF(FIRST(frame, kind)->metric));
#include "summary/summary_sums.def"
#define SUM_OF(group, name, kind, decimals, row, metric, ...) \
	if (FIRST(frame, row)) \
		total_add(&facts->own.group##_##name, REAL_OF(FIRST(frame, row)->metric));
#define MEAN_OF(group, name, kind, decimals, row, metric, ...) \
	if (FIRST(frame, row)) \
		figure_add(&facts->own.group##_##name, moment, REAL_OF(FIRST(frame, row)->metric));
#define MOST_OF MEAN_OF
#include "figures/run_figures.def"
}

static void copy_known_text(char *ret_text, size_t size, const char *text)
{
	struct scan scan;

	if (text_absent(text))
		return;
	scan = scan_bytes(text, strlen(text));
	scan_copy(&scan, ret_text, size);
}

/* Adds three figures that belong together. The descendants' is the difference, if both others are known. */
static void parts_add(struct parts *parts, const struct moment *moment, double main, double combined)
{
	double rest = combined - main;

	figure_add(&parts->main, moment, main);
	figure_add(&parts->combined, moment, combined);
	figure_add(&parts->descendants, moment, rest < 0 ? 0 : rest);
}

/*
 * Splits memory into private and shared parts, with each shared page once. Memory that is not private to the
 * root process belongs to its descendants. They share some of it with the root.
 */
static void add_shares(struct run_facts *facts, const struct tree_row *tree, const struct moment *moment)
{
	double main_private = tree->process_main_private_mib, all_private = tree->process_private_mib;
	double shared = tree->process_memory_mib - all_private;

	if (memory_measure(tree->process_memory_source) > MEASURE_ONCE)
		return;
	parts_add(&facts->private_mib, moment, main_private, all_private);
	figure_add(&facts->shared_mib.main, moment, tree->process_main_rss_mib - main_private);
	figure_add(&facts->shared_mib.combined, moment, shared < 0 ? 0 : shared);
	if (tree->process_child_count > 0) {
		/* If the root's private memory is unknown, so is its descendants' shared memory. */
		if (!isnan(main_private))
			figure_add(&facts->shared_mib.descendants, moment, shared < 0 ? 0 : shared);
		figure_add(&facts->descendants_mib, moment, tree->process_memory_mib - main_private);
	}
}

static void add_tree_memory(struct run_facts *facts, const struct tree_row *tree, const struct moment *moment)
{
	memory_facts_add(&facts->measured, tree, moment);
	/*
	 * Without swap the sum equals `memory`, where a figure that counts shared pages in each process may
	 * still be disproved.
	 */
	if (tree->process_swap_mib > 0 || memory_measure(tree->process_memory_source) <= MEASURE_ONCE)
		figure_add(&facts->memory_and_swap, moment,
			   tree->process_memory_mib +
				   (real_absent(tree->process_swap_mib) ? 0 : tree->process_swap_mib));
	time_bins_add(&facts->memory_history, moment->elapsed_secs, moment->length_secs,
		      tree->process_memory_mib);
	time_bins_add(&facts->files_history, moment->elapsed_secs, moment->length_secs,
		      tree->process_file_mib);
	parts_add(&facts->rss, moment, tree->process_main_rss_mib, tree->process_rss_mib);
	add_shares(facts, tree, moment);
}

/* The rest of the last interval may be microseconds long, too short for a rate (metric/derive.h). */
static bool is_instant(const struct run_facts *facts, const struct moment *moment)
{
	return !(moment->length_secs > 0) ||
	       (moment->length_secs < 0.1 && moment->length_secs < facts->longest_secs / 2);
}

static void add_tree(struct run_facts *facts, const struct tree_row *tree, const struct moment *moment)
{
	double main_secs = tree->process_main_utime_secs + tree->process_main_stime_secs;
	double main_cores = is_instant(facts, moment) ? NAN : main_secs / moment->length_secs;
	double processes = real_of_count(tree->process_child_count) + 1;

	facts->tracked |= !real_absent(tree->process_cores_used) || !real_absent(tree->process_memory_mib) ||
			  !count_absent(tree->process_child_count);
	facts->had_descendants |= processes > 1;
	shape_add(&facts->core_shape, moment->length_secs, tree->process_cores_used);
	time_bins_add(&facts->cores_history, moment->elapsed_secs, moment->length_secs,
		      tree->process_cores_used);
	add_tree_memory(facts, tree, moment);
	figure_add(&facts->processes, moment, processes);
	/* The count becomes absent when processes may have been missed. */
	if (!count_absent(tree->process_exited_count) || !count_absent(tree->process_child_count))
		facts->exited = tree->process_exited_count;
	parts_add(&facts->cpu_cores, moment, main_cores, tree->process_cores_used);
	parts_add(&facts->thread_count, moment, real_of_count(tree->process_main_thread_count),
		  real_of_count(tree->process_thread_count));
	parts_add(&facts->vram, moment, tree->process_main_gpu_vram_mib, tree->process_gpu_vram_mib);
	copy_known_text(facts->network_source, sizeof(facts->network_source), tree->process_net_source);
}

/* Without a tracked process, the sparklines show the machine. */
static void add_host_figures(struct run_facts *facts, const struct frame *frame, const struct moment *moment)
{
	const struct host_cpu_row *cpu = FIRST(frame, host_cpu);
	const struct memory_row *memory = FIRST(frame, memory);

	if (memory && !real_absent(memory->total_mib))
		facts->total_memory_mib = memory->total_mib;
	if (!facts->tracked) {
		shape_add(&facts->core_shape, moment->length_secs, cpu ? cpu->utilization_pct : NAN);
		time_bins_add(&facts->cores_history, moment->elapsed_secs, moment->length_secs,
			      cpu ? cpu->utilization_pct : NAN);
		time_bins_add(&facts->memory_history, moment->elapsed_secs, moment->length_secs,
			      memory ? memory->used_mib : NAN);
	}
}

static bool is_chosen_gpu(struct run_facts *facts, const char *uuid)
{
	if (!facts->gpu_uuids)
		return true;
	for (size_t i = 0; i < facts->gpu_uuid_count; i++)
		if (!text_absent(uuid) && strcmp(facts->gpu_uuids[i], uuid) == 0)
			return facts->gpu_seen[i] = true;
	return false;
}

/* A MIG instance does not add to the count if its device is in the sample. */
static bool is_part(const struct frame *frame, const struct gpu_row *instance)
{
	if (text_absent(instance->mig_parent))
		return false;
	for (const struct gpu_row *gpu = FIRST(frame, gpu); gpu; gpu = NEXT(gpu, gpu))
		if (!text_absent(gpu->uuid) && strcmp(gpu->uuid, instance->mig_parent) == 0)
			return true;
	return false;
}

static bool is_unified(const struct gpu_row *gpu)
{
	return !text_absent(gpu->memory_kind) && strcmp(gpu->memory_kind, "unified") == 0;
}

static void add_gpu_rows(struct run_facts *facts, const struct frame *frame, const struct moment *moment)
{
	int64_t count = 0;
	double bytes = 0, busy = NAN;

	for (const struct gpu_row *gpu = FIRST(frame, gpu); gpu; gpu = NEXT(gpu, gpu)) {
		bool part = is_part(frame, gpu);

		count += !part;
		/* A unified GPU has no memory of its own: the firmware sets aside a part of the machine's. */
		if (!part && !is_unified(gpu))
			bytes = gpu->vram_total_bytes > 0 ? bytes + (double)gpu->vram_total_bytes : NAN;
		if (is_chosen_gpu(facts, gpu->uuid) && !real_absent(gpu->utilization_pct))
			busy = (isnan(busy) ? 0 : busy) + gpu->utilization_pct / 100;
	}
	figure_add(&facts->gpu_cores, moment, busy);
	if (count > facts->gpu_count)
		facts->gpu_count = count;
	if (bytes / MIB > facts->gpu_memory_mib)
		facts->gpu_memory_mib = bytes / MIB;
	summary_gpus_add(&facts->gpus, frame, moment);
}

/* Memory of the tree without the shared memory in it. */
static double unshared_mib(const struct tree_row *tree)
{
	double own = tree->process_private_mib + tree->process_file_mib;

	return fmin(own, fmax(tree->process_memory_mib - tree->process_shared_mib, 0));
}

static void add_cgroup(struct run_facts *facts, const struct frame *frame, const struct cgroup_row *cgroup,
		       const struct moment *moment)
{
	const struct tree_row *tree = FIRST(frame, tree);
	double held = cgroup->anon_mib + (real_absent(cgroup->shmem_mib) ? 0 : cgroup->shmem_mib) +
		      (real_absent(cgroup->kernel_mib) ? 0 : cgroup->kernel_mib);

	figure_add(&facts->group_memory, moment, held);
	figure_add(&facts->group_cache, moment,
		   cgroup->file_mib - (real_absent(cgroup->shmem_mib) ? 0 : cgroup->shmem_mib));
	figure_add(&facts->less_group_shared, moment, -cgroup->shmem_mib);
	if (tree)
		figure_add(&facts->memory_and_files, moment, unshared_mib(tree) + cgroup->shmem_mib);
}

static void add_bounds(struct run_facts *facts, const struct frame *frame, const struct moment *moment)
{
	const struct limits_row *limits = FIRST(frame, limits);
	const struct cgroup_row *cgroup = FIRST(frame, cgroup);

	allowances_add(&facts->allowances, frame, moment->elapsed_secs, moment->length_secs);
	if (limits) {
		/* A limit that was removed becomes unknown again. */
		facts->cpu_limit_cores = limits->cpu_limit_cores;
		facts->memory_limit_mib = limits->memory_limit_mib;
		if (!count_absent(limits->cpuset_cores))
			facts->cpuset_cores = limits->cpuset_cores;
	}
	if (cgroup)
		add_cgroup(facts, frame, cgroup, moment);
}

/* Tells whether the waiting is that of any process on the machine, which says nothing about the job. */
static bool is_of_machine(const struct run_facts *facts, const struct pressure_row *pressure)
{
	return facts->tracked && !text_absent(pressure->source) && strcmp(pressure->source, "host") == 0;
}

static void add_pressure(struct run_facts *facts, const struct pressure_row *pressure)
{
	bool of_machine = is_of_machine(facts, pressure);

	total_add(of_machine ? &facts->machine_cpu_pressure_secs : &facts->cpu_pressure_secs,
		  pressure->cpu_some_secs);
	total_add(of_machine ? &facts->machine_memory_pressure_secs : &facts->memory_pressure_secs,
		  pressure->memory_some_secs);
	total_add(of_machine ? &facts->machine_io_pressure_secs : &facts->io_pressure_secs,
		  pressure->io_some_secs);
	copy_known_text(facts->pressure_source, sizeof(facts->pressure_source), pressure->source);
}

static void add_waiting(struct run_facts *facts, const struct frame *frame)
{
	const struct run_start_row *start = FIRST(record_identity(facts->record), run_start);
	const struct pressure_row *pressure = FIRST(frame, pressure);
	struct cpu_bounds bounds = {facts->core_count, facts->cpuset_cores, facts->cpu_limit_cores};

	if (pressure)
		add_pressure(facts, pressure);
	/* Samples may leave out limits that never change. */
	if (start) {
		bounds.core_count = start->cpu_count;
		if (count_absent(bounds.cpuset_cores))
			bounds.cpuset_cores = start->cpuset_cores;
		if (isnan(bounds.limit_cores))
			bounds.limit_cores = start->cpu_limit_cores;
	}
	/* CPUs have come online since the start. */
	if (!count_absent(bounds.core_count) && !count_absent(bounds.cpuset_cores) &&
	    bounds.cpuset_cores > bounds.core_count)
		bounds.core_count = bounds.cpuset_cores;
	cpu_course_add(&facts->cpu_course, frame, &bounds, pressure && !is_of_machine(facts, pressure));
	summary_starved_add(&facts->starved, frame, &bounds, pressure && !is_of_machine(facts, pressure));
}

static void add_tracker_counts(struct run_facts *facts, const struct frame *frame)
{
	const struct tracker_row *tracker = FIRST(frame, tracker);

	if (!count_absent(frame->sample->missed_ticks))
		facts->missed_ticks = count_sum(facts->missed_ticks, frame->sample->missed_ticks);
	if (!tracker)
		return;
	if (!count_absent(tracker->dropped_samples))
		facts->dropped_samples = tracker->dropped_samples;
}

static void forget_figure(struct figure *figure)
{
	figure->most = figure->most_elapsed_secs = NAN;
}

static void forget_parts(struct parts *parts)
{
	forget_figure(&parts->main);
	forget_figure(&parts->descendants);
	forget_figure(&parts->combined);
}

static void forget_figures(struct run_facts *facts)
{
#define MEAN_AND_MAX(field, row, metric) forget_figure(&facts->field);
#define MEAN_AND_MAX_BY_CODE(field) forget_figure(&facts->field);
#define PARTS_BY_CODE(field) forget_parts(&facts->field);
#include "summary/summary_sums.def"
#define MEAN_OF(group, name, ...) forget_figure(&facts->own.group##_##name);
#define MOST_OF MEAN_OF
#include "figures/run_figures.def"
}

/* A job whose processes could not be read is still no machine. */
static bool is_of_job(const struct frame *identity)
{
	const struct run_start_row *start = FIRST(identity, run_start);

	return start && !text_absent(start->mode) && strcmp(start->mode, "host") != 0;
}

static void begin_facts_of_run(struct run_facts *facts, const struct frame *frame)
{
	summary_gpus_clear(facts->gpus);
	run_clock_clear(&facts->clock);
	*facts = (struct run_facts){
		.clock = facts->clock,
		.gpus = facts->gpus,
		.gpu_uuids = facts->gpu_uuids,
		.gpu_uuid_count = facts->gpu_uuid_count,
		.record = facts->record,
		.run = record_run(facts->record),
		.tracked = is_of_job(record_identity(facts->record)),
		.tracked_pid = no_count(ABSENT_NOT_TRACKED),
		.rank = no_count(ABSENT_NOT_GIVEN),
		.exited = no_count(ABSENT_NOT_TRACKED),
		.cpu_limit_cores = NAN,
		.memory_limit_mib = NAN,
		.total_memory_mib = NAN,
		.cpuset_cores = no_count(ABSENT_NOT_COLLECTED),
		.core_count = no_count(ABSENT_NOT_COLLECTED),
		.first_elapsed_secs = frame->sample->elapsed_secs,
		.first_timestamp = frame->sample->timestamp,
	};
	forget_figures(facts);
	oom_course_begin(&facts->oom);
	memory_facts_begin(&facts->measured);
}

static int add_sample(struct run_facts *facts, const struct frame *frame)
{
	const struct sample_row *sample = frame->sample;
	struct moment moment = {sample->elapsed_secs, sample->actual_interval_ms / 1000};

	/* In files with time stamps alone, the length of the first sample is unknown. */
	if (isnan(moment.length_secs))
		moment.length_secs = 0;
	if (moment.length_secs > facts->longest_secs)
		facts->longest_secs = moment.length_secs;
	facts->samples++;
	facts->ended = sample->timestamp;
	facts->wall_secs = sample->elapsed_secs;
	copy_known_text(facts->host, sizeof(facts->host), sample->host);
	copy_known_text(facts->job_name, sizeof(facts->job_name), sample->job_name);
	if (!count_absent(sample->tracked_pid))
		facts->tracked_pid = sample->tracked_pid;
	if (!count_absent(sample->rank))
		facts->rank = sample->rank;
	add_own_metrics(facts, frame, &moment);
	if (FIRST(frame, tree))
		add_tree(facts, FIRST(frame, tree), &moment);
	add_host_figures(facts, frame, &moment);
	summary_disks_add(&facts->disks, frame);
	add_gpu_rows(facts, frame, &moment);
	add_bounds(facts, frame, &moment);
	add_waiting(facts, frame);
	oom_course_add(&facts->oom, frame);
	summary_programs_add(&facts->programs, frame);
	summary_waits_add(&facts->waits, frame);
	summary_signals_add(&facts->signals, frame);
	add_tracker_counts(facts, frame);
	return run_clock_add(&facts->clock, sample->elapsed_secs, sample->timestamp);
}

static void finish_summary(struct run_facts *facts)
{
	const struct frame *identity = record_identity(facts->record);
	const struct run_start_row *start = FIRST(identity, run_start);
	const struct run_end_row *end = FIRST(identity, run_end);
	double lead_in = record_lead_in_secs(facts->record);

	facts->runs = record_run(facts->record);
	facts->damage = record_damage(facts->record);
	facts->layout = record_layout(facts->record);
	facts->interval_secs = record_interval_secs(facts->record);
	memory_facts_finish(&facts->measured, &facts->memory);
	summary_programs_finish(&facts->programs);
	summary_waits_finish(&facts->waits);
	/* If elapsed time starts at the first sample, the time that this sample covers is added. */
	if (facts->first_elapsed_secs == 0)
		facts->wall_secs += lead_in;
	/*
	 * The last sample's time cannot serve: the clock may have been set since, or the machine suspended.
	 */
	facts->started = facts->first_timestamp -
			 (facts->first_elapsed_secs == 0 ? lead_in : facts->first_elapsed_secs);
	facts->earliest = facts->started;
	facts->latest = run_clock_at(&facts->clock, facts->clock.elapsed_secs);
	if (end && !real_absent(end->wall_secs))
		facts->wall_secs = end->wall_secs;
	facts->recorded_secs = facts->wall_secs;
	if (end && end->tree_wall_secs > facts->wall_secs)
		facts->recorded_secs = end->tree_wall_secs;
	allowances_finish(&facts->allowances, start, facts->tracked);
	if (!start)
		return;
	facts->core_count = start->cpu_count;
	if (isnan(facts->cpu_limit_cores))
		facts->cpu_limit_cores = start->cpu_limit_cores;
	if (isnan(facts->memory_limit_mib))
		facts->memory_limit_mib = start->memory_limit_mib;
	if (count_absent(facts->cpuset_cores))
		facts->cpuset_cores = start->cpuset_cores;
	if (isnan(facts->total_memory_mib) && !real_absent(start->memory_total_mib))
		facts->total_memory_mib = start->memory_total_mib;
}

static int read_facts(struct run_facts *facts, const struct summary_watcher *watcher, const char *path,
		      struct rt_problem *problem)
{
	CLEANUP_BUFFER struct buffer words = BUFFER(sizeof facts->failed_first);
	const struct frame *frame;
	int result;

	while ((result = record_next(facts->record, &frame)) > 0) {
		if (record_run(facts->record) != facts->run)
			begin_facts_of_run(facts, frame);
		result = add_sample(facts, frame);
		if (result < 0)
			return problem_set(problem, result, "out of memory");
		if (watcher)
			watcher->sample(watcher->context, frame, facts->run);
	}
	if (result < 0)
		return problem_set(problem, result, "%s", record_problem(facts->record)->text);
	if (!facts->samples)
		return problem_set(problem, -ENODATA, "%s: no whole sample has been written yet", path);
	finish_summary(facts);
	oom_course_end(&facts->oom, path);
	copy_known_text(facts->file_name, sizeof(facts->file_name),
			strcmp(path, "-") == 0 ? ""
			: strrchr(path, '/')   ? strrchr(path, '/') + 1
					       : path);
	summary_add_end(&words, facts);
	copy_known_text(facts->end_words, sizeof(facts->end_words), words.data);
	buffer_clear(&words);
	summary_add_first_failure(&words, facts);
	copy_known_text(facts->failed_first, sizeof(facts->failed_first), words.data);
	summary_find_name(facts);
	return 0;
}

/* Checks that the recording has every chosen GPU. */
static int check_gpus(struct run_facts *facts, const struct metric_set *wanted, const char *const *paths,
		      size_t path_count, struct rt_problem *problem)
{
	CLEANUP_BUFFER struct buffer names = BUFFER(256);
	const char *missing = NULL;
	struct record_options options = {.wanted = *wanted};
	const struct frame *frame;
	struct record *record;

	for (size_t i = 0; i < facts->gpu_uuid_count && !missing; i++)
		missing = facts->gpu_seen[i] ? NULL : facts->gpu_uuids[i];
	if (!missing)
		return 0;
	/* The message lists the GPUs of the first sample. */
	if (record_open(paths, path_count, &options, &record, NULL) == 0) {
		if (record_next(record, &frame) > 0)
			for (const struct gpu_row *gpu = FIRST(frame, gpu); gpu; gpu = NEXT(gpu, gpu))
				if (!text_absent(gpu->uuid))
					buffer_printf(&names, "%s%s", names.length ? ", " : "", gpu->uuid);
		record_close(record);
	}
	return problem_set(problem, -EINVAL, "there is no GPU '%.100s'; there are %s", missing,
			   names.length && !buffer_error(&names) ? names.data : "none");
}

int run_facts_read(struct run_facts *facts, const char *const *paths, size_t path_count,
		   const struct facts_options *options, struct rt_problem *problem)
{
	const struct summary_watcher *watcher = options->watcher;
	struct record_options wanted = {0};
	int result;

	facts->gpu_uuids = options->gpu_uuid_count ? options->gpu_uuids : NULL;
	facts->gpu_uuid_count = options->gpu_uuid_count;
	want_tree(&wanted.wanted);
	want_host(&wanted.wanted);
	for (enum row_kind kind = 0; watcher && kind < ROW_KINDS; kind++)
		metric_set_join_kind(&wanted.wanted, &watcher->wanted, kind);
	result = options->gpu_uuid_count > GPUS_CHOSEN
			 ? problem_set(problem, -EINVAL, "too many GPUs were named")
			 : record_open(paths, path_count, &wanted, &facts->record, problem);
	if (result == 0)
		result = read_facts(facts, watcher, paths[0], problem);
	return result < 0 ? result : check_gpus(facts, &wanted.wanted, paths, path_count, problem);
}

void run_facts_done(struct run_facts *facts)
{
	record_close(facts->record);
	run_clock_done(&facts->clock);
	summary_gpus_free(facts->gpus);
}
