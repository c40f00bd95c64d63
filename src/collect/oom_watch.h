/*
 * Kills for lack of memory during a run: how many, when, and whether one of them was the end of the job.
 *
 * The kernel counts kills per memory cgroup and for the whole machine, and says in its log which process it killed. A
 * counter alone names neither the process nor the time, so each reading is compared with the one before:
 *
 *   second   cgroup counter   what is known
 *   0        2                of an earlier run
 *   1        2
 *   2        3                a process of the cgroup was killed between seconds 1 and 2
 *   9.6      3                the job dies of SIGKILL: no counter has risen for 7 seconds, so this was no lack of memory
 */
#pragma once

#include "collect/collector.h"

struct oom_counter {
	int64_t before;  /* its value when the run, or the job's stay in that cgroup, began; -1: unknown */
	int64_t now;     /* -1: unknown */
	int64_t read_ns; /* when `now` was read */
	int64_t rise_after_ns; /* the last rise was seen by a reading whose predecessor was at this time; 0: none yet */
	int64_t rise_seen_ns;
};

struct oom_watch {
	struct oom_counter cgroup, machine;
	uint64_t cgroup_id;        /* 0: none */
	int64_t in_cgroups_left;   /* kills in cgroups that the job has left */
	bool may_have_been_missed; /* the job was moved into a cgroup that had kills already */
	/* As of the last rise in the cgroup. */
	double elapsed_secs, limit_mib, peak_mib;
	int log_fd; /* the kernel's log; -1: it may not be read */
};

/* What it comes to at the end. */
enum oom_of_job {
	OOM_NOT_THE_JOB,   /* the kernel's log or the counters say that it was something else */
	OOM_JOB_SUSPECTED, /* a kill at about that time may have been of the job */
	OOM_JOB_COUNTED,   /* a kill at that time in a cgroup that holds nobody else */
	OOM_JOB_NAMED,     /* the kernel's log names the job's process */
};

struct oom_findings {
	enum oom_of_job job;
	int64_t in_cgroup;  /* kills during the run in the cgroups around the job; -1: unknown */
	int64_t on_machine; /* -1: unknown */
	bool only_tree;     /* that cgroup holds nobody else who could have been killed */
	bool by_machine;    /* what is suspected rests on the machine's counter */
	double secs_before_end; /* how long before the end the last kill in the cgroup was seen; NaN: at the end, or never */
};

void oom_watch_open(struct oom_watch *watch);
void oom_watch_close(struct oom_watch *watch);
/* Early in the run. */
void oom_watch_prepare(struct oom_watch *watch, struct root *root);
/* The baseline, before the job starts. */
void oom_watch_baseline(struct oom_watch *watch, const struct collect_context *context,
			const struct frame *frame);
/* Every later frame, after the collector of the cgroup. */
void oom_watch_follow(struct oom_watch *watch, const struct collect_context *context,
		      const struct frame *frame);

/* After the last oom_watch_follow(). `died_of_sigkill`: nothing else is the end of a job that the kernel killed. */
struct oom_findings oom_watch_end(struct oom_watch *watch, const struct collect_context *context,
				  int64_t ended_ns, bool died_of_sigkill);
