/*
 * Finds out whether a run, or a step of it, was killed for lack of memory. There are three sources: the
 * run_end record, the kernel's counter in the samples, and a recording that stops at its memory limit without
 * a run_end. The last happens when the kernel kills the whole group including the tracker (memory.oom.group).
 */
#pragma once

#include "metric/frame.h"
#include "metric/metric_set.h"

struct run_end_row;

enum oom_kind {
	OOM_NONE,
	OOM_STEP,             /* a process of the job's cgroup was killed, and the job continued */
	OOM_SUSPECTED,        /* the job was probably killed */
	OOM_CONFIRMED,        /* the job was killed */
	OOM_STOPPED_AT_LIMIT, /* the recording stops at the limit: job and tracker were probably killed */
};

struct oom_finding {
	enum oom_kind kind;
	int64_t kills;       /* in the job's cgroup during the run, 0 if unknown */
	bool shared;         /* the kills may include processes of others */
	double elapsed_secs; /* time of the last kill, NaN if unknown */
	double limit_mib; /* limit that was reached, NaN if unknown or if the memory of the machine was exhausted */
	double peak_mib; /* largest memory charged to the cgroup before, or of the last sample, NaN if unknown */
};

/* Returns "step", "suspected", "confirmed", "stopped_at_limit", or NULL for OOM_NONE. */
const char *oom_kind_name(enum oom_kind kind);

/* The facts about memory that are needed here, collected sample by sample, as a part of the summary. */
struct oom_course {
	int64_t kills_first, kills_last;                         /* the cgroup's counter, absent if unknown */
	double kill_elapsed_secs, kill_limit_mib, kill_peak_mib; /* at its last increase, NaN for none */
	double charged_mib, growth_mib; /* of the last sample with a value: memory that cannot be reclaimed */
	double charged_elapsed_secs;
	bool live; /* a recorder is still writing the file */
};

void oom_course_begin(struct oom_course *course);
void oom_course_want(struct metric_set *wanted);
void oom_course_add(struct oom_course *course, const struct frame *frame);
/* Tries the lock that a recorder holds on its file. */
void oom_course_end(struct oom_course *course, const char *path);

/*
 * The finding of a whole run. `end` is NULL if the recording has none. `limit_mib` is the last memory limit. Only a recording of
 * ours (`has_ends`) shows by a missing end that it stopped.
 */
struct oom_finding oom_find(const struct oom_course *course, const struct run_end_row *end, double limit_mib,
			    bool has_ends);
