/*
 * Advice for the next run, from the use of earlier runs; see rt_recommend().
 *
 *   memory   the largest peak of the last 50 runs and 20 %, swapped memory included, rounded up by at most a quarter; by
 *            another policy less (recommend_policy.h). The peak is the larger of the sampled one and the kernel's of the
 *            largest process, never that of the control group, which counts the page cache. A run that was killed for
 *            lack of memory took at least what it had: until a run that was not killed took more, twice that and 20 %.
 *            At least the peak with the kernel's memory for it and 10 %: many small processes take little more than that.
 *   cores    as many as no run would have been slower with: the use that 99 % of the time stayed below, and at least the
 *            busiest ten seconds, in whole cores. How much longer the work takes with fewer follows from the shape of
 *            the use over time (shape.h). The request is what makes it at most 5 % longer.
 *   GPUs     the most that were busy at once, rounded, at least 1 if any was; 0 if none was
 *   VRAM     the largest peak and 20 %, in the steps of rt_round_memory_mib(); 0 if none was used
 *
 * Recordings of several ranks of one job are one run: see recommend_ranks.c.
 */
#pragma once

#include "advice/recommend_policy.h"
#include "advice/summary.h"
#include "record/problem.h"

enum { NOTES_MOST = 32, NOTE_BYTES = 240 };

struct advice_note {
	const char *rule;
	char text[NOTE_BYTES];
};

/* One recording as advice sees it. NaN: unknown. */
struct evidence {
	double started, secs;
	double sampled_peak_mib, process_peak_mib;
	double kernel_mib; /* the kernel's memory for it, an estimate */
	bool swapped;      /* the peak contains swapped memory */
	double limit_mib;  /* of memory */
	enum oom_kind oom;
	double oom_had_mib;           /* at least so much was needed; 0 without a kill */
	double oom_floor_mib;         /* what to try next */
	bool good;                    /* it says enough, and it was not killed for lack of memory */
	double mean_cores, max_cores; /* largest sample */
	double busy_cores;            /* 99 % of the time, and the busiest ten seconds */
	double p95_cores;
	double max_gpus, vram_peak_mib;
	/* Which part of which job. */
	char job[160]; /* identity of the job and its step; "": unknown */
	char host[64];
	int64_t rank;         /* -1: none */
	int64_t tasks, nodes; /* that the scheduler started; 0: unknown */
	bool is_one_task;     /* it holds one of the tasks, not all of them */
};

/* A recording, or the statistics of one. */
struct run {
	rt_summary *summary; /* NULL: only its statistics are known */
	rt_stats *stats;
	bool borrowed;  /* the caller owns the summary */
	char thin[200]; /* why nothing should be concluded from it; "": it is fine */
	struct evidence evidence;
};

struct runs {
	struct run *list;
	size_t count;
	size_t empty; /* recordings without a whole sample, which are not in the list */
};

/* The use of all runs together. NaN: nowhere recorded. */
struct usage {
	double mean_cores, max_cores, busy_cores, p95_cores;
	double sampled_peak_mib, process_peak_mib;
	double mean_gpus, max_gpus, vram_peak_mib;
	double gpu_joules; /* of the run that is asked about; NaN: unknown */
	double duration_secs;
	double oom_had_mib, oom_floor_mib; /* 0: no run was killed for lack of memory */
	enum oom_kind oom;
	bool swapped;
	double kernel_mib; /* the most that the kernel keeps for one of the runs */
};

/* The tasks of one job; 1 task on 1 host unless the recordings say more. */
struct ranks {
	size_t recorded, tasks, hosts;
	size_t tasks_on_host;       /* of the busiest host */
	size_t tasks_per_recording; /* 1: each recording is of one task */
	int64_t task_cpus;          /* cores of one task; -1: unknown */
	double task_memory_mib;     /* of the largest task, with the margin */
};

struct rt_advice {
	size_t runs, runs_left_out;
	bool forced;
	enum rt_policy policy;
	char refused[512]; /* "": not */
	struct usage usage;
	struct shape shape; /* of the cores of a recording, over all of them */
	struct reservation reservation;
	struct backtest backtest;
	struct ranks ranks;
	/* -1: unknown or refused */
	int64_t cpu, memory_mib, gpu, vram_mib;
	double cpu_request;       /* cores; NaN: unknown */
	int64_t cpu_limit;        /* cores that no run exceeded; -1: unknown */
	double cpu_stretch;       /* how many times as long it takes with `cpu` */
	bool cpu_at_least;        /* it had no more: its limit or other programs held it back */
	bool memory_at_least;     /* the peak may have been more */
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

/* An amount in the middle of a sentence. */
struct amount {
	char text[40];
};
struct amount amount_of(double value, void (*add)(struct buffer *out, double value));
/* In MiB, as people read it. */
struct amount amount_of_mib(double mib);

static inline double larger(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

static inline double larger_peak(const struct usage *usage)
{
	return larger(usage->sampled_peak_mib, usage->process_peak_mib);
}

/* How many times as long the work takes with so many cores on its host; NaN: unknown. */
double advice_stretch(const struct rt_advice *advice, int64_t cores);

/* The memory to reserve for so much, in steps that add at most a quarter; at least 128 MiB. */
int64_t round_reservation_mib(double mib);

/* recommend_evidence.c */
void find_evidence(struct run *run);
/* For statistics without a recording. */
void find_evidence_of_stats(struct run *run);

/*
 * recommend_ranks.c: joins recordings of ranks of one job: `group[i]` is the number of the run that list[i] belongs to,
 * counted from 0 in the order of the list. Returns how many runs there are.
 */
size_t find_groups(const struct runs *runs, size_t *group);
/* The use of the members of a group together: sums of those on one host, of the host where that is most. */
struct evidence join_group(const struct runs *runs, const size_t *group, size_t number,
			   struct ranks *ret_ranks);

/* rt_recommend() of a recording whose summary has been read, so that it is read once, and of earlier runs. */
int recommend_of_summary(const char *path, rt_summary *summary, const char *const *history,
			 size_t history_count, const struct rt_recommend_options *options,
			 rt_advice **ret_advice, struct rt_problem *ret_problem);

/* Notes about one run: what it left unused, what held it up. */
void advice_judge(struct rt_advice *advice, const struct rt_summary *summary);
/* Notes about the advice: how sure it is, and what being wrong costs. */
void advice_doubt(struct rt_advice *advice);
