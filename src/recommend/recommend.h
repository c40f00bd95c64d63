/*
 * Computes the advice for the next run from the use of earlier runs. See rt_recommend().
 *
 *   memory  by the peaks of the last 200 runs, the size of their inputs, and the kills among them (sizing.h), rounded up to
 *           16 MiB. A peak includes swap. It is the largest of the sampled one, the kernel's for the largest process, and what the
 *           rest of the tree may have held beside that (memory_peak_between_mib), but not the control group's, which counts the page
 *           cache. A run that was killed for lack of memory needed more than it had: without any good run the advice is twice that
 *           plus 20 %. The least is the peak plus its kernel memory plus 10 %, for jobs of many small processes.
 *   cores   as many as any run could use: the use that was not exceeded for 99 % of the time, and at least the
 *           busiest ten seconds, in whole cores. A job that others kept from the CPUs is counted with what its
 *           threads were ready to use as well (cpu_course.h). The shape of the use over time (shape.h) tells how much longer
 *           the work takes with fewer. The request is the number that makes it at most 5 % longer.
 *   time    by the seconds of the last 200 runs that ended well, as memory with wider margins (sizing.h), in whole minutes
 *   GPUs    the most that were busy at once, rounded, at least 1 if any was, else 0
 *   VRAM    the largest peak plus 20 %, in the steps of rt_round_memory_mib(), or 0 if none was used
 *
 * Recordings of several ranks of one job are one run: see recommend_evidence.c.
 */
#pragma once

#include "base/json_write.h"
#include "recommend/sizing.h"
#include "resource_tracker_analysis.h"
#include "verdict/run_summary.h"
#include "record/problem.h"
#include "record/run_lines.h"
#include "table/stats.h"
#include "table/units.h"

enum { NOTES_MOST = 32, NOTE_BYTES = 240 };

struct advice_note {
	const char *rule;
	char text[NOTE_BYTES];
};

/* The facts of one recording that the advice uses. NaN: unknown. */
struct evidence {
	double started, secs;
	double input_bytes;
	bool input_is_guessed; /* from the files that the command named */
	double sampled_peak_mib, process_peak_mib;
	double between_peak_mib; /* at most, between two samples */
	/* Kernel memory for its processes: an estimate, or all that its own control group charged beyond the peak. */
	double kernel_mib;
	double cache_limit_mib; /* a control group's limit under which its page cache was too small. 0: none */
	bool swapped;           /* the peak contains swapped memory */
	double limit_mib;       /* memory limit */
	enum oom_kind oom;
	double oom_had_mib;           /* memory needed at least, or 0 without a kill */
	double oom_floor_mib;         /* memory to try next */
	bool good;                    /* long enough, and not killed for lack of memory */
	bool is_whole;                /* ended by itself and without an error: its time is that of the job */
	bool failed;                  /* by its exit status, in any rank */
	double mean_cores, max_cores; /* largest sample */
	double busy_cores;            /* not exceeded for 99 % of the time, and the busiest ten seconds */
	double p95_cores;
	double max_gpus, vram_peak_mib;
	/* Identifies the part of the job. */
	char job[160]; /* identity of the job and its step, "" if unknown */
	char host[64];
	int64_t rank;         /* -1: none */
	int64_t tasks, nodes; /* started by the scheduler, 0 if unknown */
	char run_id[48];      /* "": unknown */
	double mean_gpus;     /* of a line. NaN: the statistics have it */
	bool is_one_task;     /* the recording covers one task, not all of them */
};

/* A recording, or the statistics of one. */
struct advice_run {
	rt_summary *summary; /* NULL: only its statistics are known */
	rt_stats *stats;     /* NULL: its line is known (recommend_runs.c) */
	bool borrowed;       /* the caller owns the summary */
	char thin[200];      /* reason to conclude nothing from it, "" for none */
	struct evidence evidence;
};

/* A recording whose samples its owner has read already. */
struct known_run {
	rt_summary *summary;
	const struct gatherings *gatherings; /* of advice_specs() */
};

struct runs {
	struct advice_run *list;
	size_t count, room;
	size_t empty; /* recordings without a whole sample, which are not in the list */
	struct lines_left_out left_out;
};

/* The use of all runs together. NaN: in no recording. */
struct usage {
	double mean_cores, max_cores, busy_cores, p95_cores;
	double sampled_peak_mib, process_peak_mib, between_peak_mib;
	double mean_gpus, max_gpus, vram_peak_mib;
	double gpu_joules; /* of the first run, NaN if unknown */
	double duration_secs;
	double oom_had_mib, oom_floor_mib; /* 0: no run was killed for lack of memory */
	enum oom_kind oom;
	bool swapped;
	double kernel_mib;      /* the most kernel memory of a run */
	double cache_limit_mib; /* the largest limit under which the page cache of a run was too small. 0: none */
};

/* The tasks of one job: 1 task on 1 host unless the recordings tell more. */
struct ranks {
	size_t recorded, tasks, hosts;
	size_t tasks_on_host;       /* on the busiest host */
	size_t tasks_per_recording; /* 1: each recording covers one task */
	int64_t task_cpus;          /* cores of one task, -1 if unknown */
	double task_memory_mib;     /* largest task, with the margin */
};

/* Average use. */
struct part_of_machine {
	double cores, memory_mib, gpus, vram_mib;
};

/* The peaks of earlier runs by the size of their input, and the advice for each size, as the page of `report` draws them. */
enum { PLOT_LINE = 61 };
struct size_plot {
	struct plot_point {
		double input_bytes, mib;
	} runs[SIZING_RUNS], kills[SIZING_RUNS] /* what they had */,
		newest /* the first recording; NaN: not among them */;
	size_t run_count, kill_count;
	struct {
		double input_bytes, usual_mib, advised_mib;
	} line[PLOT_LINE];
};

struct rt_advice {
	size_t runs, runs_left_out;
	bool forced;
	enum rt_policy policy;
	char refused[512]; /* reason of a refusal, "" for none */
	struct usage usage;
	struct shape shape;          /* of a recording's cores, over all recordings */
	struct sizing_answer sizing; /* of the memory, in MiB */
	double input_bytes;          /* of the next run. NaN: not told */
	unsigned attempt;            /* 1: the first */
	double least_mib, step_mib;  /* the site's bounds of memory */
	struct backtest backtest;
	struct sizing_answer timing;                        /* of the time, in seconds */
	struct sizing_formula memory_formula, time_formula; /* by the size of the input, MiB and seconds */
	struct ranks ranks;
	struct part_of_machine siblings; /* other ranks of the first recording's job on its host */
	/* -1: unknown or refused */
	int64_t cpu, memory_mib, gpu, vram_mib;
	double cut_secs;    /* of the longest run that was cut short and that no later one settles, 0: none */
	int64_t time_secs;  /* limit, in whole minutes */
	double cpu_request; /* cores, NaN if unknown */
	int64_t cpu_limit;  /* cores that no run exceeded, -1 if unknown */
	double cpu_stretch; /* factor on the duration with `cpu` cores */
	const char *cpu_bound_by; /* why it may use more cores than it did. NULL: nothing held it back */
	bool memory_at_least;     /* the real peak may be larger */
	bool memory_by_kernel;    /* the kernel's memory for the job is above the margin */
	char memory_basis[200];   /* "the peak of the process tree", ... */
	int64_t memory_again_mib; /* of the next attempt, or -1 */
	const char *allocation;   /* "dedicated", "shared", "unknown" */
	struct advice_note notes[NOTES_MOST];
	size_t note_count;
	double usd_per_hour; /* price of the run's machine, NaN if unknown */
	bool wants_plot;
	struct size_plot *plot; /* NULL: not wanted, or no sizes that differ */
	struct {
		bool asked;
		char question[1024], problem[512];
		char vendor[64], type[128], region[64];
		int64_t vcpus;
		double memory_mib, usd_per_hour;
	} server;
};

/* Statistics in a file may contain any number. */
#define MOST_OF_ANY 1e15

/* Rounds memory up to the steps of the site, at least to its least. */
int64_t round_for_site(const struct rt_advice *advice, double mib);
struct rt_advice start_advice(const struct rt_recommend_options *options);

/* The runs as the advice counts them, oldest to newest. Ranks of one job are one run. */
struct past {
	struct evidence *list;
	size_t count;
};

/*
 * Sizes that users told and sizes of the files that commands name are of different things: where one was told, the others become
 * unknown. Returns whether one was told.
 */
bool keep_told_inputs(struct past *past);

/*
 * Decides the memory. `runs` and `kills` have room for each run of the past. Returns whether a kill decides, and how many runs show
 * a need.
 */
bool advise_memory(struct rt_advice *advice, const struct past *past, struct sized_run *runs,
		   struct sized_kill *kills, size_t *ret_count);

/* The same, and the formula, the next attempt, the replay of the past and the sentence. */
void decide_memory(struct rt_advice *advice, const struct past *past, struct sized_run *runs,
		   struct sized_kill *kills);

/* recommend_plot.c: the plot of a past whose first recording started at this time. -ENOMEM, or 0. */
int make_size_plot(struct rt_advice *advice, const struct past *past, double started, struct sized_run *runs,
		   struct sized_kill *kills);
/* Writes it, or null. */
void size_plot_json(struct json_writer *json, const struct size_plot *plot);

void advice_note(struct rt_advice *advice, const char *rule, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "max" */
const char *policy_name(enum rt_policy policy);
/* "last run", "last 12 runs" */
struct amount backtest_runs(const struct backtest *backtest);

static inline double figure_of_stats(const rt_stats *stats, const char *column, const char *name)
{
	return cell_real(rt_stats_get(stats, column, name), NAN);
}

static inline double larger_known(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

static inline double seen_peak(const struct usage *usage)
{
	return larger_known(usage->sampled_peak_mib, usage->process_peak_mib);
}

/* Whether a policy chose less than the largest need, the same for every size. */
static inline bool is_below_largest(const struct sizing_answer *sizing)
{
	return sizing->shape == SHAPE_SAME && sizing->base < sizing->largest;
}

/* A small difference is not worth a sentence. */
static inline bool is_between_samples(const struct usage *usage)
{
	return usage->between_peak_mib > seen_peak(usage) * 1.02;
}

/* Returns the memory that a run is reckoned with. */
static inline double peak_of(const struct evidence *one)
{
	return larger_known(larger_known(one->sampled_peak_mib, one->process_peak_mib),
			    one->between_peak_mib);
}

/* Tells whether the job waited for a CPU for a fifth of its time, while none was free and it had not all of them itself. */
bool summary_is_starved(const struct run_facts *facts);
/* Returns how many times as long the work takes with that many cores on its host, NaN if unknown. */
double advice_stretch(const struct rt_advice *advice, int64_t cores);

/* Defined in recommend_evidence.c. */
void find_evidence(struct advice_run *run);
/* Finds the evidence in statistics without a recording. */
void find_evidence_of_stats(struct advice_run *run);

/*
 * recommend_runs.c: adds the run of a recording or of statistics, or the newest runs of a job from a file of runs. A run that
 * is in the list already counts once. `known` is NULL or the run of the path; an empty file is passed over if there are
 * other paths.
 */
int runs_add_path(struct runs *runs, const char *path, const struct known_run *known, bool has_others,
		  const struct rt_recommend_options *options, struct rt_problem *ret_problem);
void runs_done(struct runs *runs);
/* The statistics that advice rests on, for the caller to free. NULL without memory. */
struct rt_stat_spec *advice_specs(size_t *ret_count);
/* Reads the summary and the statistics of a recording in one pass. */
int advice_run_read(struct advice_run *run, const char *path, const struct rt_stat_spec *specs, size_t count,
		    struct rt_problem *problem);
/* The evidence of the line that was read last. `ret_run` is empty but for it, and for the reason to conclude nothing from it. */
void find_evidence_of_line(struct advice_run *ret_run, const struct run_lines *lines);
/* A text of the line, decoded, because writers escape differently. */
void copy_decoded(const struct run_lines *lines, unsigned key, char *ret_text, size_t size);
/* The identity of the job from the scheduler's ids. `step` may be NULL. */
void set_job(struct evidence *evidence, const char *job, const char *step);
extern const struct evidence UNKNOWN_EVIDENCE;

/*
 * recommend_evidence.c: joins recordings of ranks of one job. `group[i]` is the number, from 0, of the run that
 * list[i] belongs to. Returns the number of runs.
 */
size_t find_groups(const struct runs *runs, size_t *group);
/* Combines the members of a group: sums the members on each host and takes the host with the largest sum. */
struct evidence join_group(const struct runs *runs, const size_t *group, size_t number,
			   struct ranks *ret_ranks);
/* Returns the average use of the ranks that ran beside the first recording on its host. */
struct part_of_machine siblings_of_first(const struct runs *runs, const size_t *group);

/* Does the work of rt_recommend() for a recording that has been read, and for earlier runs. */
int recommend_of_known(const char *path, const struct known_run *known, const char *const *history,
		       size_t history_count, const struct rt_recommend_options *options,
		       rt_advice **ret_advice, struct rt_problem *ret_problem);

/* Adds notes about one run: unused resources, and its bottleneck. */
void advice_judge(struct rt_advice *advice, const struct run_facts *facts);
/* Adds the note about runs that were killed for lack of memory. */
void advice_judge_kills(struct rt_advice *advice);
/* Adds notes about the advice: its certainty, and the cost of a wrong value. */
void advice_doubt(struct rt_advice *advice);
