/*
 * What a collector is: it turns what the kernel said into rows of a frame.
 *
 * A collector is opened once, collects at every tick and is closed; it keeps its own state (descriptors,
 * identities that do not change), never the rows. It writes no output and reads no clock but the root's.
 * A failed read loses its own fields, with the reason, never the frame.
 */
#pragma once

#include <stdbool.h>

#include "collect/cgroup_place.h"
#include "kernel/root.h"
#include "metric/frame.h"
#include "metric/selection.h"
#include "process/process_memory.h"
#include "process/process_tree.h"

struct name_value {
	const char *name;
	const char *value;
};

/* What a run is, as its user says; texts are NULL when not given. */
struct run_facts {
	const char *mode; /* wrap, attach or host */
	const char *host; /* host name */
	const char *job_name;
#define JOB_SETTING(field, ...) const char *field;
#include "options/settings.def"
	const char *executable;
	int64_t argc;        /* 0: no command */
	const char *command; /* JSON list; NULL: not to be recorded */
	const struct name_value *tags;
	size_t tag_count;
	const struct name_value *scheduler;
	size_t scheduler_count;
	int64_t rank; /* -1: none */
	double interval_seconds;
	bool children;
	bool aligned;
};

struct sent_signal {
	int number;
	int64_t monotonic_ns;
};

/* How a run ended; all of it is said once, before the last frame. */
struct run_ending {
	const char *reason; /* NULL while the run goes on */
	int wait_status;    /* of the root, when has_status */
	bool has_status;
	bool killed;          /* the root died of SIGKILL: whether for lack of memory is worth looking */
	int exec_errno;       /* 0: the job was started */
	int stopped_by;       /* the signal that ended the recording; 0: none */
	struct rusage reaped; /* ru_utime, ru_stime: sums of wait4; ru_maxrss: the largest */
	bool has_reaped;
	int64_t job_started_ns; /* CLOCK_MONOTONIC; 0: unknown */
	int64_t job_ended_ns;
	int64_t tree_ended_ns; /* when the last process so far was reaped; 0: none was */
	struct sent_signal signals[32];
	size_t signal_count; /* all of them; the first 32 are kept */
};

/* The place of a frame in its run. */
struct run_progress {
	int64_t started_ns;  /* CLOCK_MONOTONIC of the baseline */
	int64_t previous_ns; /* of the last frame */
	int64_t number;      /* of this sample, from 0 */
	int64_t missed;      /* ticks since the last frame */
	int64_t missed_total;
	int64_t dropped; /* samples */
	bool baseline;   /* nobody will see this frame but derive() */
};

/* The cgroup that counts the job's memory. */
struct memory_cgroup {
	uint64_t id; /* by which it is known again; 0: there is none */
	bool only_tree; /* it held nobody but the job, and perhaps the tracker and its parents, which still live */
	int64_t kills_when_left; /* the job has just left another one, which counted so many OOM kills; -1 */
};

struct collect_context {
	struct root *root;
	struct process_tree *tree; /* NULL while nothing is tracked */
	const struct own_cost *own_cost;
	bool own_process; /* it does nothing but record: what it used before the baseline is the tracker's cost as well */
	bool in_program; /* the process around us is not the tracker's own: `own_cost` is what is */
	struct cgroup_mounts *cgroup_mounts;
	enum pss_mode pss;
	bool own_cgroup;                    /* the job runs in a memory cgroup that was made for it */
	struct memory_cgroup memory_cgroup; /* as of this frame */
	const struct run_facts *facts;
	const struct run_ending *ending;
	struct run_progress progress;
	bool prepared;                     /* the collectors' prepare() has been called */
	const struct selection *selection; /* NULL: everything is wanted */
	const char *root_dir;              /* setting; NULL: the live system */
	const char *gpus;                  /* setting: used, visible, all or UUIDs; NULL: visible */
	const char *gpu_vendor;            /* setting; NULL: any */
	bool cloud;                        /* setting: the cloud is asked for */
	char *const *environment; /* of programs that are started; NULL: this process'. In open() only */

	/* What collectors tell; begins anew with every frame. */
	int64_t helper_count;  /* living helper processes */
	int64_t helper_cpu_ns; /* what helpers have used since the start */
	const char *warning;   /* one line for the user, taken when the collector returns; NULL */
};

struct collector {
	const char *name;
	/* Returns 0 and the state (NULL is a state), or a negative errno: the collector is then left out. */
	int (*open)(struct collect_context *context, void **ret_state);
	void (*collect)(void *state, struct collect_context *context, struct frame *frame);
	/* Optional: what need not be done before a job starts, only before the first sample. */
	void (*prepare)(void *state, struct collect_context *context);
	void (*close)(void *state);
	/* Whose rows it fills, up to ROW_KINDS: one none of whose rows is wanted does not run. */
	const enum row_kind *fills;
	bool describes_machine; /* needs no run around it */
};

/* The only list, in the order of running; ends with NULL. */
extern const struct collector *const COLLECTORS[];
