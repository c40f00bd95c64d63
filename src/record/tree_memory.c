/* Judges the memory figures of a sample. See tree_memory.h. */
#include "record/tree_memory.h"

#include <string.h>

#include "base/cleanup.h"
#include "metric/typed_rows.h"

/* An older reading describes an earlier state than its sample. */
#define OLDEST_READING_SECS 10.0

static const struct {
	const char *source;
	enum memory_measure measure;
} SOURCES[] = {
	{"pss", MEASURE_ONCE},         {"sampled", MEASURE_ONCE},         {"cgroup", MEASURE_ONCE},
	{"estimate", MEASURE_ONCE},    {"largest_process", MEASURE_ONCE}, {"bound", MEASURE_BOUND},
	{"rss", MEASURE_EACH_PROCESS}, {"machine", MEASURE_MACHINE},
};

enum memory_measure memory_measure(const char *source)
{
	for (size_t i = 0; !text_absent(source) && i < ARRAY_SIZE(SOURCES); i++)
		if (strcmp(SOURCES[i].source, source) == 0)
			return SOURCES[i].measure;
	return MEASURE_UNKNOWN;
}

const char *memory_measure_in_words(enum memory_measure measure)
{
	static const char *const WORDS[] = {
		[MEASURE_UNKNOWN] = "unknown",
		[MEASURE_ONCE] = "shared pages once",
		[MEASURE_BOUND] = "an upper bound",
		[MEASURE_EACH_PROCESS] = "shared pages in each process",
		[MEASURE_MACHINE] = "the whole machine",
	};

	return WORDS[measure];
}

const char *memory_source_in_words(const char *source)
{
	static const struct {
		const char *source, *words;
	} WORDS[] = {
		{"pss", "the peak counts shared pages once"},
		{"rss", "the peak counts shared pages in each process"},
		{"estimate", "the peak is an estimate that counts shared pages once"},
		{"sampled", "the peak counts shared pages once"},
		{"bound", "the peak is an upper bound: pages that processes share may count more than once"},
		{"cgroup", "the peak is that of the job's cgroup"},
		{"largest_process", "the peak is that of the largest process"},
		{"machine", "the peak is that of the whole machine"},
	};

	for (size_t i = 0; source && i < ARRAY_SIZE(WORDS); i++)
		if (strcmp(source, WORDS[i].source) == 0)
			return WORDS[i].words;
	return source;
}

static void forget_shares(struct tree_row *tree)
{
	tree->process_pss_mib = tree->process_private_mib = tree->process_main_private_mib =
		tree->process_shared_mib = tree->process_swap_mib = no_real(ABSENT_STALE);
}

/*
 * Version 0.1 repeated its last proportional set size until the next reading, which may never have come. An
 * old value is not the sample's own if the source is "rss" or "estimate", or if it is older than ten seconds.
 */
static bool has_old_shares(const struct tree_row *tree, const struct tracker_row *tracker)
{
	enum memory_measure measure = memory_measure(tree->process_memory_source);

	if (!tracker || !(tracker->pss_age_secs > 0))
		return false;
	return tracker->pss_age_secs > OLDEST_READING_SECS || measure == MEASURE_EACH_PROCESS ||
	       (!text_absent(tree->process_memory_source) &&
		strcmp(tree->process_memory_source, "estimate") == 0);
}

void complete_tree_memory(struct tree_row *tree, const struct tracker_row *tracker)
{
	if (has_old_shares(tree, tracker))
		forget_shares(tree);
	/*
	 * The Rust CLI has no other memory of the job. It writes 0 for a process that has ended or cannot be
	 * read.
	 */
	if (real_absent(tree->process_memory_mib) && text_absent(tree->process_memory_source) &&
	    tree->process_pss_mib > 0) {
		tree->process_memory_mib = tree->process_pss_mib;
		tree->process_memory_source = "pss";
	}
}

void want_tree_memory(struct metric_set *wanted)
{
	size_t memory = METRIC_INDEX(tree, process_memory_mib), pss = METRIC_INDEX(tree, process_pss_mib);

	if (!metric_set_has(wanted, ROW_tree, memory) && !metric_set_has(wanted, ROW_tree, pss))
		return;
	WANT(wanted, tree, process_memory_source);
	WANT(wanted, tree, process_pss_mib);
	WANT(wanted, tracker, pss_age_secs);
}
