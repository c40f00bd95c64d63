/*
 * OOM kills during a run: how many, when, and whether one of them ended the job.
 *
 * The kernel counts kills per memory cgroup and for the whole machine, and its log names the killed process.
 * A counter alone names neither the process nor the time, so each reading is compared with the previous one:
 *
 *   second   cgroup counter   conclusion
 *   0        2                two kills of an earlier run
 *   1        2
 *   2        3                a process of the cgroup was killed between seconds 1 and 2
 *   9.6      3                SIGKILL kills the job. The counter has not risen for 7 seconds: not an OOM kill
 */
#pragma once

#include "collect/collector.h"

struct oom_counter {
	int64_t before;  /* its value when the run, or the job's time in that cgroup, began, -1 if unknown */
	int64_t now;     /* -1: unknown */
	int64_t read_ns; /* when `now` was read */
	int64_t rise_after_ns; /* time of the reading before the one that saw the last rise. 0: no rise yet */
	int64_t rise_seen_ns;
};

struct oom_watch {
	struct oom_counter cgroup, machine;
	uint64_t cgroup_id;        /* 0: none */
	int64_t in_cgroups_left;   /* kills in cgroups that the job has left */
	bool may_have_been_missed; /* the job was moved into a cgroup that already had kills */
	/* At the last rise in the cgroup. */
	double elapsed_secs, limit_mib, peak_mib;
	int log_fd; /* the kernel's log. -1: not permitted */
	struct kept_file vmstat;
};

/* The conclusion at the end. */
enum oom_of_job {
	OOM_NOT_THE_JOB,   /* the kernel's log or the counters show another cause */
	OOM_JOB_SUSPECTED, /* there was a kill at about that time, perhaps of the job */
	OOM_JOB_COUNTED,   /* a kill at that time in a cgroup that holds only the job */
	OOM_JOB_NAMED,     /* the kernel's log names the job's process */
};

struct oom_findings {
	enum oom_of_job job;
	int64_t in_cgroup;      /* kills during the run in the job's cgroups, -1 if unknown */
	int64_t on_machine;     /* -1: unknown */
	bool only_tree;         /* no other process in that cgroup could have been killed */
	bool by_machine;        /* the suspicion rests on the machine's counter */
	double secs_before_end; /* from the cgroup's last kill to the end; NaN: at the end, or no kill */
};

void oom_watch_open(struct oom_watch *watch);
void oom_watch_close(struct oom_watch *watch);
/* Call early in the run. */
void oom_watch_prepare(struct oom_watch *watch, struct root *root);
/* Call for the baseline, before the job starts. */
void oom_watch_baseline(struct oom_watch *watch, const struct collect_context *context,
			const struct frame *frame);
/* Call for every later frame, after the cgroup's collector. */
void oom_watch_follow(struct oom_watch *watch, const struct collect_context *context,
		      const struct frame *frame);

/* Call after the last oom_watch_follow(). `died_of_sigkill`: the kernel kills with SIGKILL only. */
struct oom_findings oom_watch_end(struct oom_watch *watch, const struct collect_context *context,
				  int64_t ended_ns, bool died_of_sigkill);
