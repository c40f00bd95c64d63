/* Combines the memory samples of a run, which may have different measures; see summary.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "summary/summary.h"
#include "record/tree_memory.h"

/* A later sample describes the same memory if its resident set is at least this part of the earlier one's. */
#define SAME_MEMORY 0.75
/* A better figure disproves another if it is below this part of it. */
#define DISPROVED 0.95
/* Lists sources in the order in which they appeared: "pss, sampled". */
static void note_source(struct rt_summary *summary, const char *source)
{
	size_t used = strlen(summary->memory_sources), length;

	if (text_absent(source))
		return;
	summary->memory_measures |= 1u << memory_measure(source);
	length = strlen(source);
	for (const char *at = summary->memory_sources; (at = strstr(at, source)); at += length)
		if (at[length] == '\0' || at[length] == ',')
			return;
	if (used + length + 3 < sizeof(summary->memory_sources))
		snprintf(summary->memory_sources + used, sizeof(summary->memory_sources) - used, "%s%s",
			 used ? ", " : "", source);
}

static void measure_add(struct measured_memory *memory, const struct moment *moment, double mib,
			double resident_mib, const char *source)
{
	double before = memory->figure.most;

	figure_add(&memory->figure, moment, mib);
	memory->samples++;
	if (resident_mib > memory->resident_mib)
		memory->resident_mib = resident_mib;
	if (memory->figure.most == before)
		return;
	memory->source[0] = '\0';
	if (!text_absent(source))
		snprintf(memory->source, sizeof(memory->source), "%s", source);
}

void measured_memory_clear(struct measured_memory *memory)
{
	*memory = (struct measured_memory){.figure = {.most = NAN, .most_elapsed_secs = NAN}};
}

/*
 * A sample that counts shared pages in each process is held back, because a later sample may disprove it: one
 * that counts the same memory with shared pages once and finds less. Then the held samples are left out; else
 * they count at the end of the run. Example:
 *
 *   second 0: 1802 MiB by rss     second 1: 1802 MiB by rss     second 2: 200 MiB by pss, resident set 1802 MiB
 *
 * gives a peak of 200 MiB.
 */
void summary_add_memory(struct rt_summary *summary, const struct tree_row *tree, const struct moment *moment)
{
	double mib = tree->process_memory_mib, resident_mib = tree->process_rss_mib;
	enum memory_measure measure = memory_measure(tree->process_memory_source);
	struct measured_memory *held = &summary->memory_held_back;

	if (isnan(mib))
		return;
	if (measure == MEASURE_EACH_PROCESS || measure == MEASURE_BOUND) {
		measure_add(held, moment, mib, resident_mib, tree->process_memory_source);
		return;
	}
	note_source(summary, tree->process_memory_source);
	measure_add(&summary->memory_kept, moment, mib, resident_mib, tree->process_memory_source);
	if (!held->samples || !(resident_mib >= SAME_MEMORY * held->resident_mib) ||
	    !(mib < DISPROVED * held->figure.most))
		return;
	if (!(summary->memory_disproved_mib >= held->figure.most))
		summary->memory_disproved_mib = held->figure.most;
	summary->memory_disproved_samples += held->samples;
	measured_memory_clear(held);
}

void summary_finish_memory(struct rt_summary *summary)
{
	const struct measured_memory *held = &summary->memory_held_back, *kept = &summary->memory_kept;
	const struct measured_memory *larger =
		held->samples && !(kept->figure.most >= held->figure.most) ? held : kept;

	if (held->samples)
		note_source(summary, held->source);
	summary->memory = larger->figure;
	summary->memory.weighted = kept->figure.weighted + held->figure.weighted;
	summary->memory.weights = kept->figure.weights + held->figure.weights;
	memcpy(summary->memory_source, larger->source, sizeof(summary->memory_source));
}

bool summary_mixes_memory(const struct rt_summary *summary)
{
	unsigned measures = summary->memory_measures;

	return (measures & (measures - 1)) != 0;
}

/* Tells whether run_end repeats a figure that later samples have disproved. */
static bool is_disproved(const struct rt_summary *summary, const struct run_end_row *end)
{
	enum memory_measure measure = memory_measure(end->memory_peak_source);

	return (measure == MEASURE_EACH_PROCESS || measure == MEASURE_BOUND) &&
	       end->memory_peak_mib <= 1.001 * summary->memory_disproved_mib &&
	       end->memory_peak_mib > summary->memory.most;
}

struct memory_peak summary_memory_peak(const struct rt_summary *summary)
{
	const struct run_end_row *end = FIRST(record_identity(summary->record), run_end);
	const char *source = *summary->memory_source ? summary->memory_source : NULL;
	struct memory_peak peak = {summary->memory.most, summary->memory.most_elapsed_secs, source};

	if (!summary->tracked)
		return (struct memory_peak){summary->host_memory.most, summary->host_memory.most_elapsed_secs,
					    "machine"};
	if (!end || real_absent(end->memory_peak_mib))
		return peak;
	if (!is_disproved(summary, end))
		return (struct memory_peak){end->memory_peak_mib, end->memory_peak_elapsed_secs,
					    text_absent(end->memory_peak_source) ? NULL
										 : end->memory_peak_source};
	if (end->largest_process_peak_mib > peak.mib)
		peak = (struct memory_peak){end->largest_process_peak_mib, NAN, "largest_process"};
	return peak;
}
