/*
 * Whether a run, or a step of it, was killed for lack of memory: what its end record says, what the kernel's counter says
 * that is in the samples, and what a recording shows that stops at its limit without an end, as where the kernel kills
 * the whole group, the tracker with it (memory.oom.group).
 */
#pragma once

#include "metric/frame.h"
#include "metric/metric_set.h"

struct rt_summary;

enum oom_kind {
	OOM_NONE,
	OOM_STEP,             /* a process of the job's cgroup was killed, and the job went on */
	OOM_SUSPECTED,        /* the job was, probably */
	OOM_CONFIRMED,        /* the job was */
	OOM_STOPPED_AT_LIMIT, /* the recording stops at the limit: the job and its tracker were, probably */
};

struct oom_finding {
	enum oom_kind kind;
	int64_t kills;       /* in the job's cgroup during the run; 0: unknown */
	bool shared;         /* others may have been among those killed */
	double elapsed_secs; /* when the last one was seen; NaN: unknown */
	double limit_mib;    /* that it ran into; NaN: unknown, or the machine's memory was used up */
	double peak_mib; /* largest memory charged to the cgroup until then, or of the last sample; NaN: unknown */
};

struct oom_finding summary_oom(const struct rt_summary *summary);

/* "step", "suspected", "confirmed", "stopped_at_limit"; NULL without. */
const char *oom_kind_name(enum oom_kind kind);

/* How the memory went as far as it matters here; a part of the summary. */
struct oom_course {
	int64_t kills_first, kills_last;                         /* the cgroup's counter; absent: unknown */
	double kill_elapsed_secs, kill_limit_mib, kill_peak_mib; /* of its last rise; NaN: none */
	double charged_mib, growth_mib; /* of the last sample that knows: memory that cannot be reclaimed */
	double charged_elapsed_secs;
	bool live; /* a recorder still writes the file */
};

void oom_course_begin(struct oom_course *course);
void oom_course_want(struct metric_set *wanted);
void oom_course_add(struct oom_course *course, const struct frame *frame);
/* Looks at the lock that a recorder holds. */
void oom_course_end(struct oom_course *course, const char *path);
