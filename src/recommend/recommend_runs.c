/* Gathers the runs that advice rests on: recordings, statistics, and lines of runs. See recommend.h. */
#include "recommend/recommend.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "record/run_lines.h"
#include "table/stats.h"

/* Only the newest lines of a file of runs are kept. */
enum { FIGURE_DECIMALS = 6, LINES_MOST = SIZING_RUNS, LEFT_OUT_BYTES = 4096 };

static void advice_run_done(struct advice_run *run)
{
	if (!run->borrowed)
		rt_summary_free(run->summary);
	rt_stats_free(run->stats);
}

void runs_done(struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		advice_run_done(&runs->list[i]);
	free(runs->list);
}

/* Returns the next place in the list, empty, or NULL if memory runs out. */
static struct advice_run *add_advice_run(struct runs *runs)
{
	if (runs->count == runs->room) {
		size_t room = runs->room ? 2 * runs->room : 16;
		struct advice_run *grown = reallocarray(runs->list, room, sizeof(*grown));

		if (!grown)
			return NULL;
		runs->list = grown;
		runs->room = room;
	}
	memset(&runs->list[runs->count], 0, sizeof(*runs->list));
	return &runs->list[runs->count++];
}

/* ---- recordings ------------------------------------------------------------------------------------------- */

/*
 * Means weigh each sample by its length. The first and last samples of a run may be very short and would
 * otherwise count as much as minutes. The decimals matter for a job that mostly sleeps: it uses little CPU,
 * but more than none.
 */
struct rt_stat_spec *advice_specs(size_t *ret_count)
{
	const struct rt_stat_spec *defaults = rt_stats_default_specs(ret_count);
	struct rt_stat_spec *specs = calloc(*ret_count, sizeof(*specs));

	for (size_t i = 0; specs && i < *ret_count; i++) {
		specs[i] = defaults[i];
		specs[i].name = specs[i].aggregate;
		specs[i].decimals = FIGURE_DECIMALS;
		if (strcmp(specs[i].aggregate, "mean") == 0)
			specs[i].aggregate = "time_mean";
	}
	return specs;
}

int advice_run_read(struct advice_run *run, const char *path, const struct rt_stat_spec *specs, size_t count,
		    struct rt_problem *problem)
{
	CLEANUP_GATHERINGS struct gatherings *gatherings = NULL;
	struct summary_watcher watcher = {.sample = gatherings_add};
	int result = gatherings_new(specs, count, &watcher.wanted, &gatherings, problem);

	watcher.context = gatherings;
	if (result == 0)
		result = summary_read_watched(&path, 1, &watcher, &run->summary, problem);
	if (result == 0)
		result = gatherings_finish(gatherings, run->summary->facts.record, &run->stats, problem);
	if (result == 0)
		find_evidence(run);
	return result;
}

static int read_recording(struct advice_run *run, const char *path, struct rt_problem *problem)
{
	size_t count;
	CLEANUP_FREE struct rt_stat_spec *specs = advice_specs(&count);

	if (!specs)
		return problem_set(problem, -ENOMEM, "out of memory");
	return advice_run_read(run, path, specs, count, problem);
}

static int read_advice_run(struct advice_run *run, const char *path, struct rt_problem *problem)
{
	struct rt_problem no_stats = {0};
	int result;

	if (strcmp(path, "-") == 0)
		return problem_set(
			problem, -ESPIPE,
			"advice reads a recording more than once; name a file instead of standard input");
	result = rt_stats_read_json(path, &run->stats, &no_stats);
	if (result == -EBADMSG)
		return read_recording(run, path, problem);
	if (result < 0)
		return problem_set(problem, result, "%s", no_stats.text);
	find_evidence_of_stats(run);
	return 0;
}

static int take_known_run(struct advice_run *run, const struct known_run *known, struct rt_problem *problem)
{
	int result = gatherings_finish(known->gatherings, known->summary->facts.record, &run->stats, problem);

	run->summary = known->summary;
	run->borrowed = true;
	if (result == 0)
		find_evidence(run);
	return result;
}

static bool is_empty_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
}

/* ---- files of runs ------------------------------------------------------------------------------------------ */

/* Runs of the job, among which the oldest makes room. */
struct line_search {
	struct runs *runs;
	size_t first;     /* of the lines in the list */
	const char *job;  /* NULL: the only one */
	const char *task; /* NULL: all */
	char name[200];   /* of the first line's job */
	bool has_several; /* jobs, and none was chosen */
	size_t lines;     /* of any job */
};

void copy_decoded(const struct run_lines *lines, unsigned key, char *ret_text, size_t size)
{
	CLEANUP_BUFFER struct buffer plain = BUFFER(SOURCE_LINE_BYTES);
	struct scan text = run_text(lines, key);

	if (memchr(text.at, '\\', scan_left(&text))) {
		json_unescape(&plain, &text);
		text = scan_bytes(plain.data ? plain.data : "", plain.length);
	}
	scan_copy(&text, ret_text, size);
}

static const char *member_text(const struct run_lines *lines, unsigned key, const char *name, char *ret_text,
			       size_t size)
{
	struct scan text;

	if (!run_member(lines, key, name, &text))
		return NULL;
	scan_copy(&text, ret_text, size);
	return ret_text;
}

static int64_t count_of(const struct run_lines *lines, unsigned key, int64_t otherwise)
{
	double value = run_real(lines, key);

	return value >= 0 && value < INT32_MAX ? (int64_t)value : otherwise;
}

static void find_peaks_of_line(struct evidence *evidence, const struct run_lines *lines)
{
	double needed = run_real(lines, RUN_memory_needed_mib), told;

	evidence->process_peak_mib = fmin(run_real(lines, FIGURE_memory_largest_process_peak_mib),
					  run_real(lines, FIGURE_memory_peak_mib));
	if (!run_text_is(lines, FIGURE_memory_peak_source, "largest_process"))
		evidence->sampled_peak_mib = run_real(lines, FIGURE_memory_peak_mib);
	evidence->swapped = run_real(lines, FIGURE_memory_swap_max_mib) >= 1;
	told = peak_of(evidence);
	if (evidence->swapped)
		evidence->sampled_peak_mib = larger_known(evidence->sampled_peak_mib, needed);
	else if (isnan(told) || needed > told)
		evidence->between_peak_mib = needed;
	evidence->kernel_mib = fmax(run_real(lines, RUN_memory_kernel_mib), 0);
	evidence->limit_mib = run_real(lines, FIGURE_memory_limit_mib);
}

static void find_oom_of_line(struct evidence *evidence, const struct run_lines *lines)
{
	double had = run_real(lines, RUN_oom_had_mib), next = run_real(lines, RUN_oom_next_mib);

	if (!(had > 0))
		return;
	evidence->oom_had_mib = had;
	evidence->oom_floor_mib = next > had ? next : had;
	evidence->oom = run_text_is(lines, FIGURE_end_oom, "confirmed")          ? OOM_CONFIRMED
			: run_text_is(lines, FIGURE_end_oom, "stopped_at_limit") ? OOM_STOPPED_AT_LIMIT
			: run_text_is(lines, FIGURE_end_oom, "step")             ? OOM_STEP
										 : OOM_SUSPECTED;
}

static void find_part_of_line(struct evidence *evidence, const struct run_lines *lines)
{
	char job[64], step[64], place[32];
	bool has_step = member_text(lines, RUN_scheduler, "SLURM_STEP_ID", step, sizeof(step));
	struct scan number = scan_bytes(step, has_step ? strlen(step) : 0);
	uint64_t step_number;

	copy_decoded(lines, RUN_scheduler_job, job, sizeof(job));
	if (*job)
		set_job(evidence, job, has_step ? step : NULL);
	copy_decoded(lines, RUN_host, evidence->host, sizeof(evidence->host));
	copy_decoded(lines, RUN_id, evidence->run_id, sizeof(evidence->run_id));
	evidence->rank = count_of(lines, RUN_rank, -1);
	evidence->tasks = count_of(lines, RUN_tasks, 0);
	evidence->nodes = count_of(lines, RUN_nodes, 0);
	evidence->is_one_task = has_step && scan_u64(&number, &step_number) && step_number < INT32_MAX &&
				member_text(lines, RUN_scheduler, "SLURM_PROCID", place, sizeof(place));
}

void find_evidence_of_line(struct advice_run *ret_run, const struct run_lines *lines)
{
	struct evidence *evidence = &ret_run->evidence;

	*evidence = UNKNOWN_EVIDENCE;
	evidence->started = run_real(lines, FIGURE_run_started_timestamp);
	evidence->secs = run_whole_secs(lines);
	evidence->input_bytes = run_real(lines, RUN_input_bytes);
	evidence->input_is_guessed = run_text_is(lines, RUN_input_source, "arguments");
	find_peaks_of_line(evidence, lines);
	find_oom_of_line(evidence, lines);
	find_part_of_line(evidence, lines);
	evidence->mean_cores = run_real(lines, FIGURE_cores_mean);
	evidence->max_cores = run_real(lines, FIGURE_cores_max);
	evidence->busy_cores = larger_known(run_real(lines, RUN_cores_needed), NAN);
	evidence->p95_cores = run_real(lines, FIGURE_cores_p95);
	evidence->mean_gpus = run_real(lines, FIGURE_gpu_mean);
	evidence->max_gpus = run_real(lines, FIGURE_gpu_max);
	evidence->vram_peak_mib = run_real(lines, FIGURE_gpu_memory_max_mib);
	copy_decoded(lines, RUN_says_little, ret_run->thin, sizeof(ret_run->thin));
	evidence->good = !*ret_run->thin && evidence->oom == OOM_NONE;
	evidence->failed = evidence->good && run_text_is(lines, RUN_outcome, "failed");
	evidence->is_whole = evidence->good && (run_text_is(lines, RUN_outcome, "ok") ||
						(run_text_is(lines, RUN_outcome, "stopped") &&
						 run_text_is(lines, FIGURE_end_reason, "target_exited")));
}

/* Returns the same run among the first `count`. NULL: it is another one than these. */
static struct advice_run *find_same_run(const struct runs *runs, size_t count,
					const struct evidence *evidence)
{
	for (size_t i = 0; *evidence->run_id && i < count; i++)
		if (strcmp(runs->list[i].evidence.run_id, evidence->run_id) == 0)
			return &runs->list[i];
	return NULL;
}

/* Chooses the place for a line: that of the same run, a new one, or the oldest line's. NULL: nothing is better than it. */
static int find_line_place(const struct line_search *search, const struct evidence *evidence,
			   struct advice_run **ret_place)
{
	struct runs *runs = search->runs;
	struct advice_run *same = find_same_run(runs, runs->count, evidence), *oldest = NULL;

	if (same) {
		/* A recording says more than its line, and a later line more than an earlier one. */
		*ret_place = same->summary || same->stats ? NULL : same;
		return 0;
	}
	for (size_t i = search->first; i < runs->count; i++)
		if (!oldest || runs->list[i].evidence.started < oldest->evidence.started)
			oldest = &runs->list[i];
	if (runs->count - search->first < LINES_MOST) {
		*ret_place = add_advice_run(runs);
		return *ret_place ? 0 : -ENOMEM;
	}
	*ret_place = evidence->started >= oldest->evidence.started ? oldest : NULL;
	return 0;
}

static bool is_wanted_run(struct line_search *search, const struct run_lines *lines)
{
	char name[sizeof(search->name)];

	if (search->task && !run_text_is(lines, RUN_task, search->task))
		return false;
	if (search->job)
		return run_text_is(lines, RUN_name, search->job) ||
		       run_text_is(lines, RUN_job_name, search->job);
	copy_decoded(lines, RUN_name, name, sizeof(name));
	if (!*search->name)
		snprintf(search->name, sizeof(search->name), "%s", name);
	search->has_several |= strcmp(search->name, name) != 0;
	return true;
}

static int take_line_of_job(struct line_search *search, const struct run_lines *lines)
{
	struct advice_run run = {0}, *place;
	int result;

	search->lines++;
	if (!is_wanted_run(search, lines) || search->has_several ||
	    run_text_is(lines, RUN_outcome, "running"))
		return 0;
	find_evidence_of_line(&run, lines);
	result = find_line_place(search, &run.evidence, &place);
	if (place)
		*place = run;
	return result;
}

static int add_lines(struct line_search *search, const char *path, struct rt_problem *problem)
{
	CLEANUP_RUN_LINES struct run_lines *lines = NULL;
	CLEANUP_BUFFER struct buffer left_out = BUFFER(LEFT_OUT_BYTES);
	size_t known = search->runs->count;
	int result = run_lines_new(&lines, path, problem);

	if (result < 0)
		return result;
	while ((result = run_lines_next(lines)) > 0) {
		result = take_line_of_job(search, lines);
		if (result < 0)
			return result;
	}
	if (result < 0)
		return problem_set(problem, result, "%s: %s", path, strerror(-result));
	lines_left_out_add(&search->runs->left_out, &lines->left_out);
	lines_left_out_text(&left_out, &lines->left_out);
	if (buffer_error(&left_out))
		return -ENOMEM;
	if (search->has_several)
		return problem_set(problem, -EINVAL,
				   "%s has runs of several jobs: choose one with --job; "
				   "resource-tracker history lists them",
				   path);
	if (search->runs->count == known && !known && !search->lines && left_out.length)
		return problem_set(problem, -ENODATA, "%s: left out: %s", path, left_out.data);
	if (search->runs->count == known && !known)
		return problem_set(problem, -ENODATA, "%s: none of its %zu runs is of this job%s", path,
				   search->lines, search->task ? " and task" : "");
	return 0;
}

/* The job that a file of runs is searched for: the one that was named, else the first recording's. */
static const char *job_of(const struct rt_recommend_options *options, const struct runs *runs)
{
	const rt_summary *first = runs->count ? runs->list[0].summary : NULL;

	return options->job ? options->job : first && *first->facts.job_name ? first->facts.job_name : NULL;
}

/* A run that was named twice counts once, and a recording instead of a line of the same run. */
static void join_last_run(struct runs *runs)
{
	struct advice_run *last = &runs->list[runs->count - 1];
	struct advice_run *same = find_same_run(runs, runs->count - 1, &last->evidence);

	if (!same)
		return;
	if (same->summary || same->stats)
		advice_run_done(last);
	else
		*same = *last;
	runs->count--;
}

int runs_add_path(struct runs *runs, const char *path, const struct known_run *known, bool has_others,
		  const struct rt_recommend_options *options, struct rt_problem *ret_problem)
{
	struct advice_run *run;
	int result;

	if (!known && is_file_of_runs(path))
		return add_lines(&(struct line_search){.runs = runs,
						       .first = runs->count,
						       .job = job_of(options, runs),
						       .task = options->task},
				 path, ret_problem);
	run = add_advice_run(runs);
	if (!run)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	result = known ? take_known_run(run, known, ret_problem) : read_advice_run(run, path, ret_problem);
	if (result == 0)
		join_last_run(runs);
	/* A tracker that was killed at once has written nothing, but other runs may be enough. */
	if (result == -ENODATA && is_empty_file(path) && has_others) {
		runs->count--;
		runs->empty++;
		result = 0;
		if (ret_problem)
			*ret_problem->text = '\0';
	}
	return result;
}
