/* Replays the runs of jobs. See replay.h. */
#include "recommend/replay.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fnv.h"

enum { NAME_BYTES = 200, ATTEMPTS_MOST = 100, WINDOW = 2 * SIZING_RUNS };
static const double MIB_SECS_IN_GIB_HOUR = 3600 * 1024, MOST_PEAK_MIB = 1e12;
static const double LARGEST_MARGINS[REPLAY_RULES] = {
	[REPLAY_LARGEST_20] = 1.2,
	[REPLAY_LARGEST_15] = 1.15,
};

/* The part of a line that counts. NaN: unknown. */
struct replay_run {
	double started, secs, peak_mib, kernel_mib, asked_mib, input_bytes;
	double oom_had_mib, oom_floor_mib; /* 0: not killed */
	uint64_t id;                       /* a hash. 0: none */
	uint32_t name, line;               /* the place of the job's name, and the order of reading */
	bool good, input_is_guessed;
};

void replay_done(struct replay *replay)
{
	free(replay->runs);
	free(replay->jobs);
	buffer_done(&replay->names);
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

static bool is_run_of(const struct replay *replay, const struct run_lines *lines)
{
	if (run_text_is(lines, RUN_outcome, "running") ||
	    (replay->task && !run_text_is(lines, RUN_task, replay->task)) ||
	    (replay->since > 0 && !(run_real(lines, FIGURE_run_started_timestamp) >= replay->since)))
		return false;
	return !replay->job || run_text_is(lines, RUN_name, replay->job) ||
	       run_text_is(lines, RUN_job_name, replay->job);
}

/* Returns the place of a name. Lines of one job often follow each other. */
static uint32_t place_of_name(struct replay *replay, const char *name)
{
	const struct replay_run *last = replay->count ? &replay->runs[replay->count - 1] : NULL;
	size_t place = replay->names.length;

	if (last && strcmp(replay->names.data + last->name, name) == 0)
		return last->name;
	buffer_add(&replay->names, name, strlen(name) + 1);
	return (uint32_t)place;
}

static struct replay_run run_of_line(struct replay *replay, const struct run_lines *lines,
				     const struct evidence *evidence)
{
	char name[NAME_BYTES];

	copy_decoded(lines, RUN_name, name, sizeof(name));
	return (struct replay_run){
		.started = evidence->started,
		.secs = evidence->secs,
		.peak_mib = peak_of(evidence),
		.kernel_mib = evidence->kernel_mib,
		.asked_mib = run_real(lines, RUN_memory_asked_mib),
		.input_bytes = evidence->input_bytes,
		.oom_had_mib = evidence->oom_had_mib,
		.oom_floor_mib = evidence->oom_floor_mib,
		.id = *evidence->run_id ? fnv_of(evidence->run_id, strlen(evidence->run_id)) : 0,
		.name = place_of_name(replay, replay->job ? replay->job : name),
		.line = (uint32_t)replay->count,
		.good = evidence->good,
		.input_is_guessed = evidence->input_is_guessed,
	};
}

static int take_replay_line(struct replay *replay, const struct run_lines *lines)
{
	struct advice_run read = {0};
	struct replay_run run;

	if (!is_run_of(replay, lines))
		return 0;
	find_evidence_of_line(&read, lines);
	if (read.evidence.rank >= 0 && read.evidence.tasks > 1) {
		replay->ranks++;
		return 0;
	}
	if (replay->count == replay->room) {
		size_t room = replay->room ? replay->room + replay->room / 2 : 256;
		struct replay_run *grown = reallocarray(replay->runs, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		replay->runs = grown;
		replay->room = room;
	}
	run = run_of_line(replay, lines, &read.evidence);
	replay->runs[replay->count++] = run;
	return buffer_error(&replay->names);
}

int replay_add_file(struct replay *replay, const char *path, struct rt_problem *ret_problem)
{
	CLEANUP_RUN_LINES struct run_lines *lines = NULL;
	int result = run_lines_new(&lines, path, ret_problem);

	if (result < 0)
		return result;
	while ((result = run_lines_next(lines)) > 0) {
		result = take_replay_line(replay, lines);
		if (result < 0)
			return problem_set(ret_problem, result, "out of memory");
	}
	lines_left_out_add(&replay->left_out, &lines->left_out);
	return run_lines_finish(lines, result, path, ret_problem);
}

/* ---- order ------------------------------------------------------------------------------------------------ */

static int by_job_and_id(const void *a, const void *b, void *names)
{
	const struct replay_run *one = a, *other = b;
	int order = strcmp((const char *)names + one->name, (const char *)names + other->name);

	if (order)
		return order;
	if (one->id != other->id)
		return one->id > other->id ? 1 : -1;
	return (one->line > other->line) - (one->line < other->line);
}

/* A run without a start time is the oldest. */
static int by_job_and_start(const void *a, const void *b, void *names)
{
	const struct replay_run *one = a, *other = b;
	int order = strcmp((const char *)names + one->name, (const char *)names + other->name);

	if (order)
		return order;
	if (isnan(one->started) != isnan(other->started))
		return isnan(one->started) ? -1 : 1;
	if (one->started != other->started && !isnan(one->started))
		return one->started > other->started ? 1 : -1;
	return (one->line > other->line) - (one->line < other->line);
}

/* A run may have several lines: the last one counts. */
static void order_runs(struct replay *replay)
{
	size_t kept = 0;

	qsort_r(replay->runs, replay->count, sizeof(*replay->runs), by_job_and_id, replay->names.data);
	for (size_t i = 0; i < replay->count; i++) {
		const struct replay_run *run = &replay->runs[i],
					*next = i + 1 < replay->count ? run + 1 : NULL;

		if (!(next && run->id && next->id == run->id && next->name == run->name))
			replay->runs[kept++] = *run;
	}
	replay->count = kept;
	qsort_r(replay->runs, replay->count, sizeof(*replay->runs), by_job_and_start, replay->names.data);
}

/* ---- replay ----------------------------------------------------------------------------------------------- */

/* The lines of a job before the one that is asked for. */
struct window {
	struct rt_recommend_options asked;
	struct evidence list[WINDOW + ATTEMPTS_MOST];
	size_t first, end;
	size_t telling; /* lines of the job from which anything follows */
	struct sized_run needs[SIZING_RUNS + ATTEMPTS_MOST];
	struct sized_kill kills[SIZING_RUNS + ATTEMPTS_MOST];
};

static void learn_run(struct window *window, const struct evidence *one)
{
	if (window->end == WINDOW) {
		memmove(window->list, window->list + window->first,
			(window->end - window->first) * sizeof(*window->list));
		window->end -= window->first;
		window->first = 0;
	}
	window->list[window->end++] = *one;
	if (window->end - window->first > SIZING_RUNS)
		window->first++;
	window->telling += one->good || one->oom_had_mib > 0;
}

static struct evidence evidence_of_run(const struct replay_run *run)
{
	struct evidence one = UNKNOWN_EVIDENCE;

	one.started = run->started;
	one.secs = run->secs;
	one.input_bytes = run->input_bytes;
	one.input_is_guessed = run->input_is_guessed;
	one.sampled_peak_mib = run->peak_mib;
	one.kernel_mib = run->kernel_mib;
	one.oom_had_mib = run->oom_had_mib;
	one.oom_floor_mib = run->oom_floor_mib;
	one.oom = run->oom_had_mib > 0 ? OOM_CONFIRMED : OOM_NONE;
	one.good = run->good;
	return one;
}

/* Returns the memory that recommend would have said, or -1. The window has the attempts before as killed runs. */
static double ask_policy(struct window *window, const struct evidence *next, unsigned attempt)
{
	struct past past = {window->list + window->first, window->end - window->first + attempt - 1};
	struct rt_advice advice;
	size_t count;

	window->asked.attempt = attempt;
	advice = start_advice(&window->asked);
	advice.input_bytes =
		keep_told_inputs(&past) && next->input_is_guessed ? (double)NAN : next->input_bytes;
	(void)advise_memory(&advice, &past, window->needs, window->kills, &count);
	return (double)advice.memory_mib;
}

static double largest_known(const struct window *window)
{
	double most = NAN;

	for (size_t i = window->first; i < window->end; i++)
		if (!(window->list[i].oom_had_mib > 0))
			most = larger_known(most, peak_of(&window->list[i]));
	return most;
}

static double ask_rule(struct window *window, enum replay_rule rule, const struct replay_run *run,
		       const struct evidence *one)
{
	double largest;

	if (rule == REPLAY_POLICY)
		return ask_policy(window, one, 1);
	if (rule == REPLAY_ASKED)
		return run->asked_mib;
	largest = largest_known(window);
	return isnan(largest) ? largest : (double)round_reservation_mib(largest * LARGEST_MARGINS[rule]);
}

static double ask_again(struct window *window, enum replay_rule rule, const struct evidence *one, double had,
			unsigned attempt)
{
	struct evidence *killed = &window->list[window->end + attempt - 2];

	if (rule != REPLAY_POLICY)
		return 2 * had;
	*killed = *one;
	killed->good = false;
	killed->oom = OOM_CONFIRMED;
	killed->oom_had_mib = killed->oom_floor_mib = had;
	return ask_policy(window, one, attempt);
}

/* A request that a run exceeded did not kill it. */
static struct replay_tally try_rule(struct window *window, enum replay_rule rule,
				    const struct replay_run *run, const struct evidence *one)
{
	double mib = ask_rule(window, rule, run, one), hours = run->secs / MIB_SECS_IN_GIB_HOUR;
	struct replay_tally tally = {.runs = 1};

	if (!(mib > 0) || (run->oom_had_mib > 0 && rule != REPLAY_ASKED && mib > run->oom_had_mib))
		return (struct replay_tally){0};
	tally.killed = run->oom_had_mib > 0 || (mib < run->peak_mib && rule != REPLAY_ASKED);
	if (run->oom_had_mib > 0)
		return tally;
	for (unsigned attempt = 2; tally.killed && mib < run->peak_mib && attempt <= ATTEMPTS_MOST;
	     attempt++) {
		tally.reserved_gib_hours += mib * hours;
		tally.wasted_gib_hours += mib * hours;
		mib = ask_again(window, rule, one, mib, attempt);
	}
	tally.reserved_gib_hours += mib * hours;
	tally.wasted_gib_hours += fmax(mib - run->peak_mib, 0) * hours;
	return tally;
}

static void add_tally(struct replay_tally *sum, const struct replay_tally *one)
{
	sum->runs += one->runs;
	sum->killed += one->killed;
	sum->reserved_gib_hours += one->reserved_gib_hours;
	sum->wasted_gib_hours += one->wasted_gib_hours;
}

static void replay_run_of(struct replayed_job *job, struct window *window, const struct replay_run *run,
			  const struct evidence *one)
{
	struct replay_tally policy = try_rule(window, REPLAY_POLICY, run, one);

	/* Without advice, the rules have nothing to be compared with. */
	if (!window->telling || (run->good && !policy.runs))
		return;
	add_tally(&job->rules[REPLAY_POLICY], &policy);
	for (enum replay_rule rule = REPLAY_ASKED; rule < REPLAY_RULES; rule++) {
		struct replay_tally tally = try_rule(window, rule, run, one);

		add_tally(&job->rules[rule], &tally);
		if (rule == REPLAY_ASKED && tally.runs)
			add_tally(&job->where_asked, &policy);
	}
}

static void replay_job(struct replayed_job *job, struct window *window, const struct replay_run *runs,
		       size_t count)
{
	window->first = window->end = window->telling = 0;
	for (size_t i = 0; i < count; i++) {
		const struct replay_run *run = &runs[i];
		struct evidence one = evidence_of_run(run);
		bool is_known = run->good && run->peak_mib > 0 && run->peak_mib < MOST_PEAK_MIB;

		if (run->secs > 0 && (is_known || run->oom_had_mib > 0))
			replay_run_of(job, window, run, &one);
		learn_run(window, &one);
	}
}

static int by_reserved(const void *a, const void *b)
{
	const struct replayed_job *one = a, *other = b;
	double reserved = one->rules[REPLAY_POLICY].reserved_gib_hours,
	       other_reserved = other->rules[REPLAY_POLICY].reserved_gib_hours;

	if (reserved != other_reserved)
		return reserved > other_reserved ? -1 : 1;
	return strcmp(one->name, other->name);
}

static bool is_next_job(const struct replay *replay, size_t i)
{
	return i == 0 || strcmp(replay->names.data + replay->runs[i].name,
				replay->names.data + replay->runs[i - 1].name) != 0;
}

static void replay_jobs(struct replay *replay, struct window *window)
{
	for (size_t first = 0, end; first < replay->count; first = end) {
		struct replayed_job *job = &replay->jobs[replay->job_count];

		*job = (struct replayed_job){.name = replay->names.data + replay->runs[first].name};
		for (end = first + 1; end < replay->count && !is_next_job(replay, end);)
			end++;
		replay_job(job, window, replay->runs + first, end - first);
		if (!job->rules[REPLAY_POLICY].runs)
			continue;
		replay->job_count++;
		for (size_t rule = 0; rule < REPLAY_RULES; rule++)
			add_tally(&replay->all.rules[rule], &job->rules[rule]);
		add_tally(&replay->all.where_asked, &job->where_asked);
	}
}

int replay_all(struct replay *replay, struct rt_problem *ret_problem)
{
	CLEANUP_FREE struct window *window = calloc(1, sizeof(*window));
	size_t jobs = 0;

	if (replay->count)
		order_runs(replay);
	for (size_t i = 0; i < replay->count; i++)
		jobs += is_next_job(replay, i);
	replay->jobs = calloc(jobs + 1, sizeof(*replay->jobs));
	if (!window || !replay->jobs)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	window->asked = (struct rt_recommend_options){.policy = replay->policy,
						      .memory_least_mib = replay->memory_least_mib,
						      .memory_step_mib = replay->memory_step_mib};
	replay_jobs(replay, window);
	if (!replay->job_count)
		return problem_set(ret_problem, -ENODATA,
				   "no run can be replayed: %zu runs are of this job, and a run needs an "
				   "earlier one of its job",
				   replay->count);
	qsort(replay->jobs, replay->job_count, sizeof(*replay->jobs), by_reserved);
	return 0;
}
