/*
 * How many steps of a recorded build or workflow to run at once: wall time and memory for each number of jobs, by list scheduling.
 *
 * Steps start in the order in which they were recorded, as soon as those that they need have ended and a job is free. A step needs those that it
 * tells, or else an earlier one whose target or output its command names, and the line before it of the same target (parallel_needs.c). Running steps that ask for
 * more cores than there are slow each other down: the busy part of a step takes longer, and the rest of it, which waits, does not.
 *
 * Memory is the sum of the courses of the steps that run at once. The pages of a program and its libraries count once for all steps
 * that run it: two compilers of 100 MiB, of which 70 are the compiler itself, take 130. The bound is the sum of the peaks, as if all
 * peaks met and no page were shared, and only a number of jobs whose bound fits is advised.
 *
 * A run differs from its plan: steps take a little more or less time, so that those that begin together do not stay together, and an
 * engine may take any of the steps that are ready. Each number of jobs is played PARALLEL_TRIALS times more with times 10 % shorter to
 * 10 % longer, half of them in any order, by numbers that are the same in each call. Times and peaks have the least and the most of
 * all, and the bound is the most.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "record/problem.h"

enum { PARALLEL_PARTS = 32, PARALLEL_JOBS_MOST = 512, PARALLEL_NAMED = 4, PARALLEL_TRIALS = 8 };

/* A little more time is worth fewer jobs. */
static const double PARALLEL_SAME = 1.02;

struct parallel_step {
	char *rule, *task;             /* never NULL */
	char *command;                 /* NULL: was not recorded */
	char *told_needs, *told_makes; /* as needs and makes of struct flow_step */
	double started, recorded_secs;
	double wall_secs, cpu_secs; /* without its waiting for a core */
	double gap_secs;            /* of the engine, before the step */
	double peak_mib;
	double memory_mib[PARALLEL_PARTS]; /* the most in each equal part of its time */
	double files_mib[PARALLEL_PARTS];  /* its pages of files. 0: unknown */
	char *program;      /* the one with most memory, to which these pages belong. "": unknown */
	size_t first_alike; /* the first step with the same program, itself if that is unknown */
	size_t *needs;      /* steps before it in the list */
	size_t need_count;
};

/* The result of one number of jobs. */
struct parallel_plan {
	size_t jobs;
	double wall_secs, peak_mib; /* of steps as they were recorded */
	double wall_least_secs, wall_most_secs, peak_least_mib, peak_most_mib;
	double bound_mib;
	size_t heavy[PARALLEL_NAMED],
		heavy_count; /* the largest of those that run where the bound is reached */
};

enum parallel_limit {
	LIMIT_CORES,  /* they are busy */
	LIMIT_MEMORY, /* more jobs would be faster, and do not fit */
	LIMIT_CHAIN,  /* the longest chain of steps takes all the time */
	LIMIT_STEPS,  /* all of them run at once */
	LIMIT_TURNS,  /* steps share the cores at times, and wait for each other at others */
	LIMIT_PLANS,  /* cores are idle, and twice as many jobs as cores is the most that is planned */
};

struct parallel {
	struct parallel_step *steps; /* in the order of their starts */
	size_t count;
	size_t unreadable, without_command;
	double cores, memory_mib; /* of the machine that is planned for */
	double chain_secs;        /* the longest chain of steps that need each other */
	struct parallel_plan plans[PARALLEL_JOBS_MOST];
	size_t plan_count;
	size_t best; /* of the plans. plan_count: even one job has too little memory */
	double busy; /* part of the cores at the best plan */
	enum parallel_limit limit;
	size_t blocked; /* of LIMIT_MEMORY: the plan that does not fit. plan_count: none */
};

/* Reads the steps in folders and recordings. -ENODATA: there is none */
int parallel_read(struct parallel *parallel, const char *const *paths, size_t count,
		  struct rt_problem *ret_problem);
void parallel_done(struct parallel *parallel);

/* Finds what each step needs. -ENOMEM */
int parallel_find_needs(struct parallel *parallel);
/* Plans for 1 to 2 * `cores` jobs, and chooses. -ENOMEM */
int parallel_choose(struct parallel *parallel, double cores, double memory_mib);

void parallel_add_json(struct buffer *out, const struct parallel *parallel);
int parallel_add_text(struct buffer *out, const struct parallel *parallel, int fd, const char *colour);
