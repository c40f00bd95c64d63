/*
 * What to ask for next time, from what earlier runs used; see rt_recommend().
 *
 * The rules of the Python package as it documents them (it divides by 1,024 once too often, which is not done here):
 *   cores    the mean of the job's cores, rounded to the nearest whole number, halves to even; at least 1
 *   memory   the largest peak and 20 % more, up to the next step of round_memory_mib()
 *   GPUs     the most that were busy at once, rounded, at least 1 if any was; 0 if none was
 *   VRAM     like memory; 0 if none was used
 * and over several runs, means are averaged and peaks are the largest.
 *
 * Beyond them: the peak is the larger of the sampled one and the kernel's of the largest process, never that of the
 * cgroup, which counts the page cache; a run that was killed for lack of memory raises the floor above what it had.
 */
#pragma once

#include "record/problem.h"
#include "record/summary.h"

enum { NOTES_MOST = 24, NOTE_BYTES = 240 };

struct advice_note {
	const char *rule;
	char text[NOTE_BYTES];
};

/* What the runs came to, together. NaN: nowhere recorded. */
struct usage {
	double mean_cores, max_cores;
	double sampled_peak_mib, process_peak_mib;
	double mean_gpus, max_gpus, vram_peak_mib;
	double gpu_joules; /* of the run that is asked about; NaN: unknown */
	double duration_secs;
	double oom_floor_mib; /* 0: no run was killed for lack of memory */
};

struct rt_advice {
	size_t runs, runs_left_out;
	bool forced;
	char refused[512]; /* "": not */
	struct usage usage;
	/* -1: unknown or refused */
	int64_t cpu, memory_mib, gpu, vram_mib;
	const char *memory_basis; /* "sampled peak of the tree", ... */
	const char *allocation;   /* "dedicated", "shared", "unknown" */
	struct advice_note notes[NOTES_MOST];
	size_t note_count;
	double usd_per_hour; /* of the machine that it ran on; NaN */
	struct {
		bool asked;
		char question[1024], problem[512];
		char vendor[64], type[128], region[64];
		int64_t vcpus;
		double memory_mib, usd_per_hour;
	} server;
};

void advice_note(struct rt_advice *advice, const char *rule, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static inline double larger_peak(const struct usage *usage)
{
	return isnan(usage->sampled_peak_mib) || usage->process_peak_mib > usage->sampled_peak_mib
		       ? usage->process_peak_mib
		       : usage->sampled_peak_mib;
}

/* rt_recommend() of a recording whose summary has been read, so that it is read once, and of earlier runs. */
int recommend_of_summary(const char *path, rt_summary *summary, const char *const *history,
			 size_t history_count, const struct rt_recommend_options *options,
			 rt_advice **ret_advice, struct rt_problem *ret_problem);

/* Notes about one run: what it left unused, what held it up. */
void advice_judge(struct rt_advice *advice, const struct rt_summary *summary);
