/* Combines the memory samples of a run. See summary_memory.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "summary/summary_memory.h"
#include "metric/typed_rows.h"
#include "record/tree_memory.h"

/* A later sample describes the same memory if its resident set is at least this part of the earlier one's. */
#define SAME_MEMORY 0.75
/* A better figure disproves another if it is below this part of it. */
#define DISPROVED 0.95
/* Lists sources in the order in which they appeared: "pss, sampled". */
static void note_source(struct memory_facts *memory, const char *source)
{
	size_t used = strlen(memory->sources), length;

	if (text_absent(source))
		return;
	memory->measures |= 1u << memory_measure(source);
	length = strlen(source);
	for (const char *at = memory->sources; (at = strstr(at, source)); at += length)
		if (at[length] == '\0' || at[length] == ',')
			return;
	if (used + length + 3 < sizeof(memory->sources))
		snprintf(memory->sources + used, sizeof(memory->sources) - used, "%s%s", used ? ", " : "",
			 source);
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

static void measured_clear(struct measured_memory *memory)
{
	*memory = (struct measured_memory){.figure = {.most = NAN, .most_elapsed_secs = NAN}};
}

/*
 * A sample that counts shared pages in each process is held back, because a later sample may disprove it: one
 * that counts the same memory with shared pages once and finds less. Then the held samples are left out, else
 * they count at the end of the run. Example:
 *
 *   second 0: 1802 MiB by rss     second 1: 1802 MiB by rss     second 2: 200 MiB by pss, resident set 1802 MiB
 *
 * gives a peak of 200 MiB.
 */
void memory_facts_add(struct memory_facts *memory, const struct tree_row *tree, const struct moment *moment)
{
	double mib = tree->process_memory_mib, resident_mib = tree->process_rss_mib;
	enum memory_measure measure = memory_measure(tree->process_memory_source);
	struct measured_memory *held = &memory->held_back;

	if (isnan(mib))
		return;
	if (measure == MEASURE_EACH_PROCESS || measure == MEASURE_BOUND) {
		measure_add(held, moment, mib, resident_mib, tree->process_memory_source);
		return;
	}
	note_source(memory, tree->process_memory_source);
	measure_add(&memory->kept, moment, mib, resident_mib, tree->process_memory_source);
	if (!held->samples || !(resident_mib >= SAME_MEMORY * held->resident_mib) ||
	    !(mib < DISPROVED * held->figure.most))
		return;
	if (!(memory->disproved_mib >= held->figure.most))
		memory->disproved_mib = held->figure.most;
	memory->disproved_samples += held->samples;
	measured_clear(held);
}

void memory_facts_begin(struct memory_facts *memory)
{
	*memory = (struct memory_facts){0};
	measured_clear(&memory->kept);
	measured_clear(&memory->held_back);
}

void memory_facts_finish(struct memory_facts *memory, struct figure *ret_figure)
{
	const struct measured_memory *held = &memory->held_back, *kept = &memory->kept;
	const struct measured_memory *larger =
		held->samples && !(kept->figure.most >= held->figure.most) ? held : kept;

	if (held->samples)
		note_source(memory, held->source);
	*ret_figure = larger->figure;
	ret_figure->weighted = kept->figure.weighted + held->figure.weighted;
	ret_figure->weights = kept->figure.weights + held->figure.weights;
	memcpy(memory->source, larger->source, sizeof(memory->source));
}
