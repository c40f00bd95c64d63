/*
 * Adds notes about unused resources and bottlenecks of a run, each with the id of its rule. See recommend.h.
 *
 * The thresholds are here and in the help of `recommend`.
 */
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "recommend/recommend.h"
#include "metric/typed_rows.h"
#include "table/units.h"
#include "base/cleanup.h"
#include "base/plain_print.h"
#include "base/signal_names.h"

static const double IDLE_SHARE = 0.5, BUSY_SHARE = 0.9, GPU_IDLE_SHARE = 0.2, HELD_UP_SHARE = 0.01,
		    IO_SHARE = 0.1, FLAT_SHARE = 0.95, FULL_SHARE = 0.9, MIB_SWAPPED = 1;

enum { COST_GUESSES_BELOW = 6 /* runs */ };

void advice_note(struct rt_advice *advice, const char *rule, const char *format, ...)
{
	struct advice_note *note = &advice->notes[advice->note_count];
	va_list arguments;

	if (advice->note_count == NOTES_MOST)
		return;
	note->rule = rule;
	va_start(arguments, format);
	plain_vprint(note->text, sizeof(note->text), format, arguments);
	va_end(arguments);
	advice->note_count++;
}

/* Ranks of the same job do not count as others. If some have no recording, the others' part is unknown. */
static bool knows_others(const struct rt_advice *advice)
{
	return advice->ranks.recorded >= advice->ranks.tasks;
}

/* While no CPU was free, other programs than the job's had most of them. */
static bool starved_by_others(const struct rt_advice *advice, const struct cpu_course *course)
{
	double siblings = advice->siblings.cores * course->full_secs;

	return course->others_core_secs - siblings > course->full_core_secs / 2;
}

static const char *why_starved(const struct rt_advice *advice, const struct cpu_course *course)
{
	if (!knows_others(advice))
		return "no CPU was free";
	return starved_by_others(advice, course)
		       ? "other programs kept the CPUs busy"
		       : "all its cores were busy, and more cores would have helped";
}

static const char *starved_by(const struct rt_advice *advice, const struct cpu_course *course)
{
	if (!knows_others(advice))
		return "no other core was free";
	return starved_by_others(advice, course) ? "other programs had the other cores"
						 : "it had no more cores when it could use them";
}

struct amount backtest_runs(const struct backtest *backtest)
{
	struct amount amount = {"last run"};

	if (backtest->runs != 1)
		snprintf(amount.text, sizeof(amount.text), "last %zu runs", backtest->runs);
	return amount;
}

static void judge_cpu(struct rt_advice *advice, const struct run_facts *facts)
{
	struct binding limit = summary_core_limit(facts);
	double mean = summary_mean_cores(facts), idle = summary_idle_cores(facts);
	bool throttled = total_of(&facts->throttled_secs) >= HELD_UP_SHARE * facts->recorded_secs;
	bool starved = summary_is_starved(facts);

	if (starved)
		advice_note(advice, "cpu_starved", "it was short of CPU for %s of %s: %s",
			    amount_of(facts->cpu_course.short_secs, add_duration).text,
			    amount_of(facts->recorded_secs, add_duration).text,
			    why_starved(advice, &facts->cpu_course));
	else if (idle >= 1 && mean < IDLE_SHARE * limit.value)
		advice_note(advice, "idle_cores", "%.1f of %.4g cores (%s) were idle on average", idle,
			    limit.value, limit.source);
	if (mean >= BUSY_SHARE * limit.value)
		advice_note(advice, "cpu_bound",
			    "all of its %.4g cores (%s) were busy: more cores may make it faster",
			    limit.value, limit.source);
	advice->cpu_bound_by = mean >= BUSY_SHARE * limit.value ? "it had no more cores"
			       : throttled                      ? "its CPU limit held it back"
			       : starved                        ? starved_by(advice, &facts->cpu_course)
								: NULL;
	if (throttled)
		advice_note(advice, "throttled",
			    "the CPU limit held it back for %s, summed over its CPUs, in %s",
			    amount_of(total_of(&facts->throttled_secs), add_duration).text,
			    amount_of(facts->recorded_secs, add_duration).text);
}

void advice_judge_kills(struct rt_advice *advice)
{
	static const char *const WHAT[] = {
		[OOM_NONE] = "",
		[OOM_STEP] = "one of its processes was killed for lack of memory, though the job went on",
		[OOM_SUSPECTED] = "it was probably killed for lack of memory",
		[OOM_CONFIRMED] = "it was killed for lack of memory",
		[OOM_STOPPED_AT_LIMIT] =
			"its recording stops at the memory limit: it was probably killed for lack of memory",
	};
	char had[40];

	snprintf(had, sizeof(had), "%s", amount_of_mib(advice->usage.oom_had_mib).text);
	if (advice->memory_at_least)
		advice_note(advice, "oom",
			    "%s. It needs at least %s; the advice grows until a run ends well, and %s may "
			    "still be too "
			    "little",
			    WHAT[advice->usage.oom], had, amount_of_mib((double)advice->memory_mib).text);
	else
		advice_note(advice, "oom", "%s with %s; later runs show how much is enough",
			    WHAT[advice->usage.oom], had);
}

static void judge_memory(struct rt_advice *advice, const struct run_facts *facts)
{
	struct memory_peak moment = summary_memory_peak(facts);
	double peak = seen_peak(&advice->usage),
	       limit = allowances_limit_mib(&facts->allowances, moment.elapsed_secs, moment.mib);
	bool is_near;

	/* Swapped pages, and pages of files that are charged to other groups, do not count against it. */
	if (peak > limit)
		peak = summary_limited_memory(facts);
	is_near = limit > 0 && peak >= FULL_SHARE * limit && !(advice->usage.oom_floor_mib > 0);
	if (advice->usage.oom_floor_mib > 0)
		advice_judge_kills(advice);
	else if (is_near)
		advice_note(advice, "memory_near_limit", "its peak was %.0f %% of the limit of %.0f MiB",
			    100 * peak / limit, limit);
	if (is_near && figure_mean(&facts->memory) >= FLAT_SHARE * facts->memory.most)
		advice_note(advice, "memory_flat",
			    "its memory stayed the same from beginning to end: it may have reserved all that "
			    "it found (as Java does) and need less");
	if (facts->swap.most >= MIB_SWAPPED)
		advice_note(advice, "swapped",
			    "%.0f MiB of its memory were swapped out: the advice includes them",
			    facts->swap.most);
	if (summary_reread_bytes(facts) > 0)
		advice_note(advice, "cache_too_small",
			    "it read %s again, because its page cache had no room for them: the advice %s, "
			    "and more memory would make it faster",
			    amount_of_mib(summary_reread_bytes(facts) / 1048576).text,
			    advice->usage.cache_limit_mib > 0 ? "keeps the limit that it had"
							      : "does not include the page cache");
	if (advice->memory_mib > 0 && (double)advice->memory_mib < IDLE_SHARE * limit)
		advice_note(advice, "memory_unused", "%.0f MiB were reserved, of which %.0f MiB were used",
			    limit, peak);
}

/* No request for memory or time raises such a limit. */
static void note_failure(struct rt_advice *advice, const struct run_end_row *end)
{
	const char *limit = text_absent(end->process_limit) ? NULL : end->process_limit;
	char name[SIGNAL_NAME_SIZE], how[80];
	int64_t number = end->signal;

	if (count_absent(number))
		snprintf(how, sizeof how, "ended with exit status %lld", (long long)end->exit_code);
	else
		snprintf(how, sizeof how, "was killed by %s",
			 signal_name(number > 0 && number <= INT_MAX ? (int)number : 0, name));
	advice_note(advice, "failed", "it %s%s%s: %s", how, limit ? ", limited to " : "", limit ? limit : "",
		    limit ? "raise this limit if it is the reason" : "it may not have finished its work");
}

/* Notes if the recording may not show all that the job needs. */
static void judge_end(struct rt_advice *advice, const struct run_facts *facts)
{
	const struct run_end_row *end = FIRST(record_identity(facts->record), run_end);
	const char *reason = end && !text_absent(end->reason) ? end->reason : "";
	bool exited_with_error = end && !count_absent(end->exit_code) && end->exit_code != 0;
	bool was_killed = end && !count_absent(end->signal) && advice->usage.oom_floor_mib <= 0;

	if (exited_with_error || was_killed)
		note_failure(advice, end);
	else if (end && !text_absent(end->process_limit))
		advice_note(advice, "process_limit", "it was limited to %s: raise this limit",
			    end->process_limit);
	else if (facts->tracked &&
		 (strcmp(reason, "duration") == 0 || strcmp(reason, "tracker_stopped") == 0))
		advice_note(advice, "cut_short",
			    "the recording ended before the process did: later needs are not recorded");
}

/* Finds GPUs that the job never used, which a sum over all GPUs hides. */
static void judge_idle_gpus(struct rt_advice *advice, const struct run_facts *facts)
{
	struct idle_gpus idle = summary_gpus_idle(facts->gpus, facts->tracked);

	if (idle.count > 0 && idle.count < idle.of && !buffer_error(&idle.names))
		advice_note(advice, "idle_gpus", "it did not use %lld of %lld GPUs: %s",
			    (long long)idle.count, (long long)idle.of, idle.names.data);
	buffer_done(&idle.names);
}

static void judge_gpu(struct rt_advice *advice, const struct run_facts *facts)
{
	double mean = figure_mean(&facts->gpu_usage);

	if (!facts->gpu_count)
		return;
	judge_idle_gpus(advice, facts);
	if (advice->gpu > 0 && facts->gpu_memory_mib > 0 &&
	    facts->gpu_vram_mib.most >=
		    FULL_SHARE * facts->gpu_memory_mib * (double)advice->gpu / (double)facts->gpu_count)
		advice_note(advice, "gpu_memory_full",
			    "it took nearly all memory of its GPUs: it may have reserved all that it found "
			    "(as TensorFlow and JAX do) and need less");
	if (facts->gpu_usage.most <= 0 && facts->gpu_vram_mib.most <= 0)
		advice_note(advice, "idle_gpu", "it used none of the %lld GPUs", (long long)facts->gpu_count);
	else if (advice->gpu > 0 && mean < GPU_IDLE_SHARE * (double)advice->gpu)
		advice_note(advice, "gpu_underused", "its GPUs were busy for %.0f %% of the time",
			    100 * mean / (double)advice->gpu);
}

static void judge_io(struct rt_advice *advice, const struct run_facts *facts)
{
	double secs = total_of(&facts->io_pressure_secs);

	/* cache_too_small already explains the I/O. */
	if (strcmp(facts->pressure_source, "cgroup") == 0 && secs >= IO_SHARE * facts->recorded_secs &&
	    !(summary_reread_bytes(facts) > 0))
		advice_note(advice, "io_bound", "it waited for I/O for %s of %s",
			    amount_of(secs, add_duration).text,
			    amount_of(facts->recorded_secs, add_duration).text);
}

/*
 * Notes whether other programs used the machine, too. An idle system uses some memory and CPU time itself, so
 * less than a quarter of the memory, a tenth of the cores, or a quarter of a core is not reported.
 */
static void judge_allocation(struct rt_advice *advice, const struct run_facts *facts)
{
	const struct part_of_machine *siblings = &advice->siblings;
	const struct {
		const char *unit;
		double job, machine, least;
	} CHECKS[] = {
		{"cores", figure_mean(&facts->cores) + siblings->cores, figure_mean(&facts->host_cores),
		 fmax(0.25, 0.1 * (double)facts->core_count)},
		{"MiB of memory", figure_mean(&facts->memory) + siblings->memory_mib,
		 figure_mean(&facts->host_memory), fmax(512, 0.25 * facts->total_memory_mib)},
		{"GPUs", figure_mean(&facts->gpu_usage) + siblings->gpus, figure_mean(&facts->host_gpu_usage),
		 0.2},
		{"MiB of GPU memory", figure_mean(&facts->gpu_vram_mib) + siblings->vram_mib,
		 figure_mean(&facts->host_gpu_vram_mib), 512},
	};

	if (!facts->tracked || !knows_others(advice) || isnan(CHECKS[0].job) || isnan(CHECKS[0].machine))
		return;
	advice->allocation = "dedicated";
	for (size_t i = 0; i < sizeof(CHECKS) / sizeof(CHECKS[0]); i++) {
		if (!(CHECKS[i].machine - CHECKS[i].job > CHECKS[i].least))
			continue;
		advice->allocation = "shared";
		advice_note(advice, "host_shared",
			    "%s of the %s %s in use were this job's; other programs used the rest",
			    amount_of(CHECKS[i].job, add_figure).text,
			    amount_of(CHECKS[i].machine, add_figure).text, CHECKS[i].unit);
		return;
	}
}

void advice_judge(struct rt_advice *advice, const struct run_facts *facts)
{
	judge_cpu(advice, facts);
	judge_memory(advice, facts);
	judge_end(advice, facts);
	judge_gpu(advice, facts);
	judge_io(advice, facts);
	judge_allocation(advice, facts);
}

/*
 * Too little memory costs a whole run and too few cores cost time. Too much of either costs the reservation.
 */
void advice_doubt(struct rt_advice *advice)
{
	const struct ranks *ranks = &advice->ranks;
	const struct backtest *backtest = &advice->backtest;

	if (ranks->recorded < ranks->tasks)
		advice_note(advice, "ranks_missing",
			    "%zu of %zu tasks were recorded: the advice assumes that the others need as much",
			    ranks->recorded, ranks->tasks);
	if (advice->sizing.drift == DRIFT_UP)
		advice_note(advice, "drift",
			    "the peaks rise from run to run: the advice expects a next peak of %s",
			    amount_of_mib(advice->sizing.base).text);
	if (advice->sizing.drift == DRIFT_DOWN)
		advice_note(advice, "drift",
			    "the newest %zu runs all needed less than those before: only they count",
			    advice->sizing.runs);
	if (advice->sizing.is_beyond)
		advice_note(
			advice, "input_beyond", "this input is larger than that of any earlier run: %s",
			advice->sizing.shape == SHAPE_LINE
				? "a line through them says what it takes, up to four times the largest peak"
				: "it may take more than they did");
	if (advice->sizing.is_outlying)
		advice_note(advice, "outlier",
			    "one run took more than 3 times the median, and %s: --task counts the runs "
			    "of one task alone, --policy cost lets such a run be killed and repeated",
			    isnan(advice->input_bytes) ? "--input may say why"
						       : "the size of its input does not say why");
	if (advice->policy == RT_POLICY_COST && advice->runs - advice->runs_left_out < COST_GUESSES_BELOW)
		advice_note(advice, "few_runs",
			    "%zu %s too few to know how often a run would be killed: with fewer than %d, "
			    "--policy cost guesses",
			    advice->runs - advice->runs_left_out,
			    advice->runs - advice->runs_left_out == 1 ? "run is" : "runs are",
			    COST_GUESSES_BELOW);
	if (advice->sizing.is_retry)
		advice_note(advice, "attempt", "attempt %u asks for more than the attempt before had",
			    advice->attempt);
	else if (advice->sizing.kill_had > 0)
		advice_note(advice, "unsettled_kill",
			    "a run of about this input was killed with %s, and no later run shows what is "
			    "enough: the advice is half as much again",
			    amount_of_mib(advice->sizing.kill_had).text);
	if (backtest->runs && advice->policy != RT_POLICY_MAX)
		advice_note(advice, "risk",
			    "of the %s this advice would have killed %zu, and each kill costs a run; "
			    "--policy max reserves more and kills fewer",
			    backtest_runs(backtest).text, backtest->killed);
	if (advice->runs - advice->runs_left_out == 1 && advice->memory_mib >= 0)
		advice_note(advice, "one_run",
			    "one run says little: the next may need more, and would be killed above %s. Add "
			    "earlier runs: resource-tracker recommend FILE --history EARLIER",
			    amount_of_mib((double)advice->memory_mib).text);
}
