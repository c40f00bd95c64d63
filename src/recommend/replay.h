/*
 * Replays the runs of each job in their order: how much memory advice would have reserved and wasted, and which runs it would have
 * killed, beside the request that was made and two simple rules. This is `recommend --backtest`.
 *
 * Each run is asked for from the newest 200 lines of its job before it, as recommend would have been. The first run of a job has
 * none, and is learned only. A killed attempt wastes all that it reserved, and is repeated: by advice for the next attempt, or with
 * twice as much by a simple rule. The need of a run that was really killed is unknown: it counts as killed where a rule reserves no
 * more than it had, and nowhere else.
 */
#pragma once

#include "base/screen.h"
#include "recommend/recommend.h"

/* The advice, memory_asked_mib of the lines, and the largest peak of the same lines with a margin. */
enum replay_rule { REPLAY_POLICY, REPLAY_ASKED, REPLAY_LARGEST_20, REPLAY_LARGEST_15, REPLAY_RULES };

struct replay_tally {
	size_t runs, killed;
	double reserved_gib_hours, wasted_gib_hours;
};

struct replayed_job {
	const char *name; /* the replay's */
	struct replay_tally rules[REPLAY_RULES];
	struct replay_tally where_asked; /* the advice, for the runs with a request */
};

struct replay_run;
struct replay {
	enum rt_policy policy;
	const char *job, *task;                   /* NULL: all */
	double since;                             /* only runs that started at this time or later. 0: all */
	double usd_per_gib_hour;                  /* 0: unknown */
	double memory_least_mib, memory_step_mib; /* of the site, for the advice. 0: as usual */
	struct replay_run *runs;
	size_t count, room;
	struct buffer names; /* of jobs, each with its 0 */
	size_t ranks;        /* lines of ranks, which are left out */
	struct lines_left_out left_out;
	struct replayed_job *jobs; /* those that advice would have reserved most for come first */
	size_t job_count;
	struct replayed_job all;
};

#define REPLAY(policy_, job_, task_) \
	((struct replay){.policy = (policy_), .job = (job_), .task = (task_), .names = BUFFER(256 << 20)})
void replay_done(struct replay *replay);

/* Adds the lines of a file of runs. */
int replay_add_file(struct replay *replay, const char *path, struct rt_problem *ret_problem);
/* Replays what was added. -ENODATA: no run has an earlier one of its job. */
int replay_all(struct replay *replay, struct rt_problem *ret_problem);

void replay_add_text(struct buffer *out, const struct replay *replay, const struct screen *screen);
void replay_add_json(struct buffer *out, const struct replay *replay);
/* The sentence, and what was saved beside the request, or beside the largest peak and 20 % if none was made. */
void replay_add_saving(struct buffer *out, const struct replay *replay);
/* The same as members of an object: sentence, saved_gib_hours, saved_usd. */
void replay_saving_json(struct json_writer *json, const struct replay *replay);
