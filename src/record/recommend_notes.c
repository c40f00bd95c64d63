/*
 * What a run left unused and what held it up, each with the id of its rule; see recommend.h.
 *
 * The thresholds stand here and in the help of `recommend`.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/plain_print.h"
#include "record/recommend.h"
#include "record/units.h"

static const double IDLE_SHARE = 0.5, BUSY_SHARE = 0.9, GPU_IDLE_SHARE = 0.2, HELD_UP_SHARE = 0.01,
		    IO_SHARE = 0.1, FLAT_SHARE = 0.95, STARVED_SHARE = 0.2, FULL_SHARE = 0.9, MIB_SWAPPED = 1;

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

/* An amount in the middle of a sentence. */
struct amount {
	char text[40];
};

static struct amount amount_of(double value, void (*add)(struct buffer *out, double value))
{
	CLEANUP_BUFFER struct buffer text = BUFFER(sizeof(struct amount));
	struct amount amount = {""};

	add(&text, value);
	if (!buffer_error(&text))
		memcpy(amount.text, text.data, text.length + 1);
	return amount;
}

static void judge_cpu(struct rt_advice *advice, const struct rt_summary *summary)
{
	struct binding limit = summary_core_limit(summary);
	double mean = summary_mean_cores(summary), idle = summary_idle_cores(summary);
	double waited = total_of(&summary->cpu_pressure_secs);
	bool starved = summary->tracked && strcmp(summary->pressure_source, "cgroup") == 0 &&
		       waited >= STARVED_SHARE * summary->wall_secs && mean < BUSY_SHARE * limit.value;

	if (starved)
		advice_note(advice, "cpu_starved",
			    "it waited for a CPU for %s of %s: it would have used more cores, had "
			    "they been free",
			    amount_of(waited, add_duration).text,
			    amount_of(summary->wall_secs, add_duration).text);
	else if (idle >= 1 && mean < IDLE_SHARE * limit.value)
		advice_note(advice, "idle_cores", "%.1f of %.4g cores (%s) were idle on average", idle,
			    limit.value, limit.source);
	if (mean >= BUSY_SHARE * limit.value)
		advice_note(advice, "cpu_bound",
			    "all of its %.4g cores (%s) were busy: more of them may make it faster",
			    limit.value, limit.source);
	if (total_of(&summary->throttled_secs) >= HELD_UP_SHARE * summary->wall_secs)
		advice_note(advice, "throttled",
			    "the CPU limit held it back for %s, summed over its CPUs, in %s",
			    amount_of(total_of(&summary->throttled_secs), add_duration).text,
			    amount_of(summary->wall_secs, add_duration).text);
}

static void judge_memory(struct rt_advice *advice, const struct rt_summary *summary)
{
	double peak = larger_peak(&advice->usage), limit = summary->memory_limit_mib;

	if (advice->usage.oom_floor_mib > 0)
		advice_note(advice, "oom",
			    "it was killed for lack of memory: the advice is more than it had");
	else if (peak >= FULL_SHARE * limit)
		advice_note(advice, "memory_near_limit", "its peak was %.0f %% of the limit of %.0f MiB",
			    100 * peak / limit, limit);
	if (!(advice->usage.oom_floor_mib > 0) && peak >= FULL_SHARE * limit &&
	    figure_mean(&summary->memory) >= FLAT_SHARE * summary->memory.most)
		advice_note(advice, "memory_flat",
			    "it held as much from beginning to end: programs that take what they find (Java) "
			    "do so, and it may need less");
	if (summary->swap.most >= MIB_SWAPPED)
		advice_note(advice, "swapped", "%.0f MiB of it were swapped out", summary->swap.most);
	if (advice->memory_mib > 0 && (double)advice->memory_mib < IDLE_SHARE * limit)
		advice_note(advice, "memory_unused", "%.0f MiB were reserved, of which %.0f MiB were used",
			    limit, peak);
}

/* Whether what was recorded is all that the job would have needed. */
static void judge_end(struct rt_advice *advice, const struct rt_summary *summary)
{
	const struct run_end_row *end = FIRST(record_identity(summary->record), run_end);
	const char *reason = end && !text_absent(end->reason) ? end->reason : "";

	if (end && !count_absent(end->exit_code) && end->exit_code != 0)
		advice_note(advice, "failed",
			    "it ended with exit status %lld: it may not have done all its work",
			    (long long)end->exit_code);
	else if (end && !count_absent(end->signal) && advice->usage.oom_floor_mib <= 0)
		advice_note(advice, "failed",
			    "it was killed by signal %lld: it may not have done all its work",
			    (long long)end->signal);
	else if (summary->tracked &&
		 (strcmp(reason, "duration") == 0 || strcmp(reason, "tracker_stopped") == 0))
		advice_note(advice, "cut_short",
			    "the recording ended before the process did: what it needed later is not in it");
}

/* Some of what it had was never touched: a sum hides that. */
static void judge_idle_gpus(struct rt_advice *advice, const struct rt_summary *summary)
{
	struct idle_gpus idle = summary_gpus_idle(summary);

	if (idle.count > 0 && idle.count < idle.of && !buffer_error(&idle.names))
		advice_note(advice, "idle_gpus", "%lld of %lld GPUs were not used by it: %s",
			    (long long)idle.count, (long long)idle.of, idle.names.data);
	buffer_done(&idle.names);
}

static void judge_gpu(struct rt_advice *advice, const struct rt_summary *summary)
{
	double mean = figure_mean(&summary->gpu_usage);

	if (!summary->gpu_count)
		return;
	judge_idle_gpus(advice, summary);
	if (advice->gpu > 0 && summary->gpu_vram_mib.most >= FULL_SHARE * summary->gpu_memory_mib *
								     (double)advice->gpu /
								     (double)summary->gpu_count)
		advice_note(advice, "gpu_memory_full",
			    "it took nearly all memory of its GPUs: programs that take what they find "
			    "(TensorFlow, JAX) do so, and it may need less");
	if (summary->gpu_usage.most <= 0 && !(summary->gpu_vram_mib.most > 0))
		advice_note(advice, "idle_gpu", "none of the %lld GPUs was used by it",
			    (long long)summary->gpu_count);
	else if (advice->gpu > 0 && mean < GPU_IDLE_SHARE * (double)advice->gpu)
		advice_note(advice, "gpu_underused", "its GPUs were busy for %.0f %% of the time",
			    100 * mean / (double)advice->gpu);
}

static void judge_io(struct rt_advice *advice, const struct rt_summary *summary)
{
	double secs = total_of(&summary->io_pressure_secs);

	if (strcmp(summary->pressure_source, "cgroup") == 0 && secs >= IO_SHARE * summary->wall_secs)
		advice_note(advice, "io_bound", "it waited for I/O for %s of %s",
			    amount_of(secs, add_duration).text,
			    amount_of(summary->wall_secs, add_duration).text);
}

/* Whether others used the machine too: the checks and limits of the Python package, in the units it meant. */
static void judge_allocation(struct rt_advice *advice, const struct rt_summary *summary)
{
	const struct {
		const char *what;
		double job, machine, factor, more;
	} CHECKS[] = {
		{"cores", figure_mean(&summary->cores), figure_mean(&summary->host_cores), 1.25, 0.25},
		{"MiB of memory", figure_mean(&summary->memory), figure_mean(&summary->host_memory), 1.5,
		 512},
		{"GPUs", figure_mean(&summary->gpu_usage), figure_mean(&summary->host_gpu_usage), 1.25, 0.2},
		{"MiB of GPU memory", figure_mean(&summary->gpu_vram_mib),
		 figure_mean(&summary->host_gpu_vram_mib), 1.25, 512},
	};

	if (!summary->tracked || isnan(CHECKS[0].job) || isnan(CHECKS[0].machine))
		return;
	advice->allocation = "dedicated";
	for (size_t i = 0; i < sizeof(CHECKS) / sizeof(CHECKS[0]); i++) {
		if (!(CHECKS[i].machine > CHECKS[i].job * CHECKS[i].factor) &&
		    !(CHECKS[i].machine > CHECKS[i].job + CHECKS[i].more))
			continue;
		advice->allocation = "shared";
		advice_note(advice, "host_shared",
			    "others used the machine too: of %s %s in use, %s were its own",
			    amount_of(CHECKS[i].machine, add_figure).text, CHECKS[i].what,
			    amount_of(CHECKS[i].job, add_figure).text);
		return;
	}
}

void advice_judge(struct rt_advice *advice, const struct rt_summary *summary)
{
	judge_cpu(advice, summary);
	judge_memory(advice, summary);
	judge_end(advice, summary);
	judge_gpu(advice, summary);
	judge_io(advice, summary);
	judge_allocation(advice, summary);
}
