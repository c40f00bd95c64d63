/* Reads the samples of a run into its summary; see summary.h. */
#include "summary/bottleneck.h"
#include "record/tree_memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/mark_line.h"

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
	summary_disks_want(wanted);
	summary_gpus_want(wanted);
	summary_programs_want(wanted);
	metric_set_add_kind(wanted, ROW_limits);
	oom_course_want(wanted);
	metric_set_add_kind(wanted, ROW_pressure);
	metric_set_add_kind(wanted, ROW_tracker);
}

void figure_add(struct figure *figure, const struct moment *moment, double value)
{
	if (isnan(value)) {
		figure->has_gap |= !isnan(figure->most);
		return;
	}
	if (moment->length_secs > 0) {
		figure->weighted += value * moment->length_secs;
		figure->weights += moment->length_secs;
	}
	if (isnan(figure->most) || value > figure->most) {
		figure->most = value;
		figure->most_elapsed_secs = moment->elapsed_secs;
	}
}

void total_add(struct total *total, double change)
{
	if (isnan(change)) {
		total->has_gap |= total->present;
		return;
	}
	total->sum += change;
	total->present = true;
}

static double same_real(double real)
{
	return real;
}

/* A metric as a real number, whatever its type; NaN: absent. */
#define REAL_OF(value) _Generic((value), double : same_real, int64_t : real_of_count)(value)

/* Adds the metrics whose value is a metric's own. */
static void add_metrics(struct rt_summary *summary, const struct frame *frame, const struct moment *moment)
{
#define MEAN_AND_MAX(field, kind, metric) \
	if (FIRST(frame, kind)) \
		figure_add(&summary->field, moment, REAL_OF(FIRST(frame, kind)->metric));
#define SUM(field, kind, metric) \
	if (FIRST(frame, kind)) \
		total_add(&summary->field, REAL_OF(FIRST(frame, kind)->metric));
#include "summary/summary_sums.def"
#define SUM_OF(group, name, kind, decimals, row, metric, ...) \
	if (FIRST(frame, row)) \
		total_add(&summary->own.group##_##name, REAL_OF(FIRST(frame, row)->metric));
#define MEAN_OF(group, name, kind, decimals, row, metric, ...) \
	if (FIRST(frame, row)) \
		figure_add(&summary->own.group##_##name, moment, REAL_OF(FIRST(frame, row)->metric));
#define MOST_OF MEAN_OF
#include "figures/run_figures.def"
}

static void copy_text(char *ret_text, size_t size, const char *text)
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
 * root process belongs to its descendants; they share some of it with the root.
 */
static void add_shares(struct rt_summary *summary, const struct tree_row *tree, const struct moment *moment)
{
	double main_private = tree->process_main_private_mib, all_private = tree->process_private_mib;
	double shared = tree->process_memory_mib - all_private;

	if (memory_measure(tree->process_memory_source) > MEASURE_ONCE)
		return;
	parts_add(&summary->private_mib, moment, main_private, all_private);
	figure_add(&summary->shared_mib.main, moment, tree->process_main_rss_mib - main_private);
	figure_add(&summary->shared_mib.combined, moment, shared < 0 ? 0 : shared);
	if (tree->process_child_count > 0) {
		/* If the root's private memory is unknown, so is its descendants' shared memory. */
		if (!isnan(main_private))
			figure_add(&summary->shared_mib.descendants, moment, shared < 0 ? 0 : shared);
		figure_add(&summary->descendants_mib, moment, tree->process_memory_mib - main_private);
	}
}

static void add_memory(struct rt_summary *summary, const struct tree_row *tree, const struct moment *moment)
{
	summary_add_memory(summary, tree, moment);
	/*
	 * Without swap the sum equals `memory`, where a figure that counts shared pages in each process may
	 * still be disproved.
	 */
	if (tree->process_swap_mib > 0 || memory_measure(tree->process_memory_source) <= MEASURE_ONCE)
		figure_add(&summary->memory_and_swap, moment,
			   tree->process_memory_mib +
				   (real_absent(tree->process_swap_mib) ? 0 : tree->process_swap_mib));
	time_bins_add(&summary->memory_history, moment->elapsed_secs, moment->length_secs,
		      tree->process_memory_mib);
	parts_add(&summary->rss, moment, tree->process_main_rss_mib, tree->process_rss_mib);
	add_shares(summary, tree, moment);
}

/* The rest of the last interval may be microseconds long, too short for a rate (metric/derive.h). */
static bool is_instant(const struct rt_summary *summary, const struct moment *moment)
{
	return !(moment->length_secs > 0) ||
	       (moment->length_secs < 0.1 && moment->length_secs < summary->longest_secs / 2);
}

static void add_tree(struct rt_summary *summary, const struct tree_row *tree, const struct moment *moment)
{
	double main_secs = tree->process_main_utime_secs + tree->process_main_stime_secs;
	double main_cores = is_instant(summary, moment) ? NAN : main_secs / moment->length_secs;
	double processes = real_of_count(tree->process_child_count) + 1;

	summary->tracked |= !real_absent(tree->process_cores_used) ||
			    !real_absent(tree->process_memory_mib) ||
			    !count_absent(tree->process_child_count);
	summary->had_descendants |= processes > 1;
	shape_add(&summary->core_shape, moment->length_secs, tree->process_cores_used);
	time_bins_add(&summary->cores_history, moment->elapsed_secs, moment->length_secs,
		      tree->process_cores_used);
	add_memory(summary, tree, moment);
	figure_add(&summary->processes, moment, processes);
	/* The count becomes absent when processes may have been missed. */
	if (!count_absent(tree->process_exited_count) || !count_absent(tree->process_child_count))
		summary->exited = tree->process_exited_count;
	parts_add(&summary->cpu_cores, moment, main_cores, tree->process_cores_used);
	parts_add(&summary->thread_count, moment, real_of_count(tree->process_main_thread_count),
		  real_of_count(tree->process_thread_count));
	parts_add(&summary->vram, moment, tree->process_main_gpu_vram_mib, tree->process_gpu_vram_mib);
}

/* Without a tracked process, the sparklines show the machine. */
static void add_host(struct rt_summary *summary, const struct frame *frame, const struct moment *moment)
{
	const struct host_cpu_row *cpu = FIRST(frame, host_cpu);
	const struct memory_row *memory = FIRST(frame, memory);

	if (memory && !real_absent(memory->total_mib))
		summary->total_memory_mib = memory->total_mib;
	if (!summary->tracked) {
		shape_add(&summary->core_shape, moment->length_secs, cpu ? cpu->utilization_pct : NAN);
		time_bins_add(&summary->cores_history, moment->elapsed_secs, moment->length_secs,
			      cpu ? cpu->utilization_pct : NAN);
		time_bins_add(&summary->memory_history, moment->elapsed_secs, moment->length_secs,
			      memory ? memory->used_mib : NAN);
	}
}

static bool is_chosen(struct rt_summary *summary, const char *uuid)
{
	if (!summary->gpu_uuids)
		return true;
	for (size_t i = 0; i < summary->gpu_uuid_count; i++)
		if (!text_absent(uuid) && strcmp(summary->gpu_uuids[i], uuid) == 0)
			return summary->gpu_seen[i] = true;
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

static void add_gpus(struct rt_summary *summary, const struct frame *frame, const struct moment *moment)
{
	int64_t count = 0;
	double bytes = 0, busy = NAN;

	for (const struct gpu_row *gpu = FIRST(frame, gpu); gpu; gpu = NEXT(gpu, gpu)) {
		bool part = is_part(frame, gpu);

		count += !part;
		/* A unified GPU has no memory of its own: the firmware sets aside a part of the machine's. */
		if (!part && !is_unified(gpu))
			bytes = gpu->vram_total_bytes > 0 ? bytes + (double)gpu->vram_total_bytes : NAN;
		if (is_chosen(summary, gpu->uuid) && !real_absent(gpu->utilization_pct))
			busy = (isnan(busy) ? 0 : busy) + gpu->utilization_pct / 100;
	}
	figure_add(&summary->gpu_cores, moment, busy);
	if (count > summary->gpu_count)
		summary->gpu_count = count;
	if (bytes / MIB > summary->gpu_memory_mib)
		summary->gpu_memory_mib = bytes / MIB;
	summary_gpus_add(summary, frame, moment);
}

static void add_group(struct rt_summary *summary, const struct cgroup_row *cgroup,
		      const struct moment *moment)
{
	double held = cgroup->anon_mib + (real_absent(cgroup->shmem_mib) ? 0 : cgroup->shmem_mib) +
		      (real_absent(cgroup->kernel_mib) ? 0 : cgroup->kernel_mib);

	figure_add(&summary->group_memory, moment, held);
	figure_add(&summary->group_cache, moment,
		   cgroup->file_mib - (real_absent(cgroup->shmem_mib) ? 0 : cgroup->shmem_mib));
}

static void add_bounds(struct rt_summary *summary, const struct frame *frame, const struct moment *moment)
{
	const struct limits_row *limits = FIRST(frame, limits);
	const struct cgroup_row *cgroup = FIRST(frame, cgroup);

	allowances_add(&summary->allowances, frame, moment->elapsed_secs, moment->length_secs);
	if (limits) {
		/* A limit that was removed becomes unknown again. */
		summary->cpu_limit_cores = limits->cpu_limit_cores;
		summary->memory_limit_mib = limits->memory_limit_mib;
		if (!count_absent(limits->cpuset_cores))
			summary->cpuset_cores = limits->cpuset_cores;
	}
	if (cgroup)
		add_group(summary, cgroup, moment);
}

static void add_tracker(struct rt_summary *summary, const struct frame *frame)
{
	const struct tracker_row *tracker = FIRST(frame, tracker);

	if (!count_absent(frame->sample->missed_ticks))
		summary->missed_ticks += frame->sample->missed_ticks;
	if (!tracker)
		return;
	if (!count_absent(tracker->dropped_samples))
		summary->dropped_samples = tracker->dropped_samples;
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

static void forget_figures(struct rt_summary *summary)
{
#define MEAN_AND_MAX(field, row, metric) forget_figure(&summary->field);
#define MEAN_AND_MAX_BY_CODE(field) forget_figure(&summary->field);
#define PARTS_BY_CODE(field) forget_parts(&summary->field);
#include "summary/summary_sums.def"
#define MEAN_OF(group, name, ...) forget_figure(&summary->own.group##_##name);
#define MOST_OF MEAN_OF
#include "figures/run_figures.def"
}

static void begin_run(struct rt_summary *summary, const struct frame *frame)
{
	summary_gpus_clear(summary->gpus);
	run_clock_clear(&summary->clock);
	*summary = (struct rt_summary){
		.clock = summary->clock,
		.gpus = summary->gpus,
		.gpu_uuids = summary->gpu_uuids,
		.gpu_uuid_count = summary->gpu_uuid_count,
		.record = summary->record,
		.run = record_run(summary->record),
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
	forget_figures(summary);
	oom_course_begin(&summary->oom);
	measured_memory_clear(&summary->memory_kept);
	measured_memory_clear(&summary->memory_held_back);
}

static int add_sample(struct rt_summary *summary, const struct frame *frame)
{
	const struct sample_row *sample = frame->sample;
	struct moment moment = {sample->elapsed_secs, sample->actual_interval_ms / 1000};

	/* In files with time stamps alone, the length of the first sample is unknown. */
	if (isnan(moment.length_secs))
		moment.length_secs = 0;
	if (moment.length_secs > summary->longest_secs)
		summary->longest_secs = moment.length_secs;
	summary->samples++;
	summary->ended = sample->timestamp;
	summary->wall_secs = sample->elapsed_secs;
	copy_text(summary->host, sizeof(summary->host), sample->host);
	copy_text(summary->job_name, sizeof(summary->job_name), sample->job_name);
	if (!count_absent(sample->tracked_pid))
		summary->tracked_pid = sample->tracked_pid;
	if (!count_absent(sample->rank))
		summary->rank = sample->rank;
	add_metrics(summary, frame, &moment);
	if (FIRST(frame, tree))
		add_tree(summary, FIRST(frame, tree), &moment);
	add_host(summary, frame, &moment);
	summary_disks_add(&summary->disks, frame);
	add_gpus(summary, frame, &moment);
	add_bounds(summary, frame, &moment);
	summary_add_waiting(summary, frame);
	summary_add_network(summary, FIRST(frame, tree));
	oom_course_add(&summary->oom, frame);
	summary_programs_add(&summary->programs, frame);
	add_tracker(summary, frame);
	return run_clock_add(&summary->clock, sample->elapsed_secs, sample->timestamp);
}

static void finish_summary(struct rt_summary *summary)
{
	const struct frame *identity = record_identity(summary->record);
	const struct run_start_row *start = FIRST(identity, run_start);
	const struct run_end_row *end = FIRST(identity, run_end);
	double lead_in = record_lead_in_secs(summary->record);

	summary->runs = record_run(summary->record);
	summary->damage = record_damage(summary->record);
	summary->layout = record_layout(summary->record);
	summary->interval_secs = record_interval_secs(summary->record);
	summary_finish_memory(summary);
	summary_programs_finish(&summary->programs);
	/* If elapsed time starts at the first sample, the time that this sample covers is added. */
	if (summary->first_elapsed_secs == 0)
		summary->wall_secs += lead_in;
	/*
	 * The last sample's time cannot serve: the clock may have been set since, or the machine suspended.
	 */
	summary->started = summary->first_timestamp -
			   (summary->first_elapsed_secs == 0 ? lead_in : summary->first_elapsed_secs);
	summary->earliest = summary->started;
	summary->latest = run_clock_at(&summary->clock, summary->clock.elapsed_secs);
	if (end && !real_absent(end->wall_secs))
		summary->wall_secs = end->wall_secs;
	summary->recorded_secs = summary->wall_secs;
	if (end && end->tree_wall_secs > summary->wall_secs)
		summary->recorded_secs = end->tree_wall_secs;
	allowances_finish(&summary->allowances, start);
	if (!start)
		return;
	summary->core_count = start->cpu_count;
	if (isnan(summary->cpu_limit_cores))
		summary->cpu_limit_cores = start->cpu_limit_cores;
	if (isnan(summary->memory_limit_mib))
		summary->memory_limit_mib = start->memory_limit_mib;
	if (count_absent(summary->cpuset_cores))
		summary->cpuset_cores = start->cpuset_cores;
	if (isnan(summary->total_memory_mib) && !real_absent(start->memory_total_mib))
		summary->total_memory_mib = start->memory_total_mib;
}

/* Marks are optional: without readable ones, the summary has no phases. */
static void read_phases(struct rt_summary *summary, const char *path)
{
	CLEANUP_BUFFER struct buffer beside = BUFFER(1 << 16);

	if (strcmp(path, "-") == 0)
		return;
	buffer_printf(&beside, "%s.marks", path);
	if (!buffer_error(&beside) && marks_can_be_read(beside.data))
		(void)phases_read_marks(beside.data, &summary->clock, summary->earliest, summary->latest,
					&summary->phases, NULL);
}

static int read_samples(struct rt_summary *summary, const struct summary_watcher *watcher, const char *path,
			struct rt_problem *problem)
{
	CLEANUP_BUFFER struct buffer words = BUFFER(160);
	const struct frame *frame;
	int result;

	while ((result = record_next(summary->record, &frame)) > 0) {
		if (record_run(summary->record) != summary->run)
			begin_run(summary, frame);
		result = add_sample(summary, frame);
		if (result < 0)
			return problem_set(problem, result, "out of memory");
		if (watcher)
			watcher->sample(watcher->context, frame, summary->run);
	}
	if (result < 0)
		return problem_set(problem, result, "%s", record_problem(summary->record)->text);
	if (!summary->samples)
		return problem_set(problem, -ENODATA, "%s: no whole sample has been written yet", path);
	finish_summary(summary);
	oom_course_end(&summary->oom, path);
	copy_text(summary->file_name, sizeof(summary->file_name),
		  strcmp(path, "-") == 0 ? ""
		  : strrchr(path, '/')   ? strrchr(path, '/') + 1
					 : path);
	read_phases(summary, path);
	find_bottlenecks(summary);
	summary_add_end(&words, summary);
	copy_text(summary->end_words, sizeof(summary->end_words), words.data);
	summary_find_name(summary);
	return 0;
}

/* Checks that the recording has every chosen GPU. */
static int check_gpus(struct rt_summary *summary, const struct metric_set *wanted, const char *const *paths,
		      size_t path_count, struct rt_problem *problem)
{
	CLEANUP_BUFFER struct buffer names = BUFFER(256);
	const char *missing = NULL;
	struct record_options options = {.wanted = *wanted};
	const struct frame *frame;
	struct record *record;

	for (size_t i = 0; i < summary->gpu_uuid_count && !missing; i++)
		missing = summary->gpu_seen[i] ? NULL : summary->gpu_uuids[i];
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

static int read_summary(const char *const *paths, size_t path_count, const struct summary_watcher *watcher,
			const char *const *uuids, size_t uuid_count, rt_summary **ret_summary,
			struct rt_problem *problem)
{
	rt_summary *summary = calloc(1, sizeof(*summary));
	struct record_options options = {0};
	int result;

	if (!summary)
		return problem_set(problem, -ENOMEM, "out of memory");
	summary->gpu_uuids = uuid_count ? uuids : NULL;
	summary->gpu_uuid_count = uuid_count;
	want_tree(&options.wanted);
	want_host(&options.wanted);
	for (enum row_kind kind = 0; watcher && kind < ROW_KINDS; kind++)
		metric_set_join_kind(&options.wanted, &watcher->wanted, kind);
	result = uuid_count > GPUS_CHOSEN
			 ? problem_set(problem, -EINVAL, "too many GPUs were named")
			 : record_open(paths, path_count, &options, &summary->record, problem);
	if (result == 0)
		result = read_samples(summary, watcher, paths[0], problem);
	if (result == 0)
		result = check_gpus(summary, &options.wanted, paths, path_count, problem);
	if (result < 0) {
		rt_summary_free(summary);
		return result;
	}
	*ret_summary = summary;
	return 0;
}

int summary_read_watched(const char *const *paths, size_t path_count, const struct summary_watcher *watcher,
			 rt_summary **ret_summary, struct rt_problem *ret_problem)
{
	return read_summary(paths, path_count, watcher, NULL, 0, ret_summary, ret_problem);
}

int rt_summary_read_gpus(const char *const *paths, size_t path_count, const char *const *uuids,
			 size_t uuid_count, rt_summary **ret_summary, struct rt_problem *ret_problem)
{
	return read_summary(paths, path_count, NULL, uuids, uuid_count, ret_summary, ret_problem);
}

int rt_summary_read(const char *const *paths, size_t path_count, rt_summary **ret_summary,
		    struct rt_problem *ret_problem)
{
	return read_summary(paths, path_count, NULL, NULL, 0, ret_summary, ret_problem);
}

void rt_summary_free(rt_summary *summary)
{
	if (!summary)
		return;
	record_close(summary->record);
	phases_done(&summary->phases);
	run_clock_done(&summary->clock);
	summary_gpus_free(summary->gpus);
	free(summary);
}
