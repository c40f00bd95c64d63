/*
 * A collector turns readings from the kernel into rows of a frame.
 *
 * It is opened once, collects at every tick and is closed. It keeps its own state (descriptors, identities
 * that do not change), but never rows. It writes no output and reads no clock except the root's. A failed
 * read makes its own fields absent, with the reason. The frame stays usable.
 */
#pragma once

#include <stdbool.h>

#include "collect/cgroup_place.h"
#include "kernel/root.h"
#include "metric/frame.h"
#include "metric/selection.h"
#include "job/memory/process_memory.h"
#include "job/signal_at/signal_rule.h"
#include "job/tree/process_tree.h"

struct name_value {
	const char *name;
	const char *value;
};

/* The user's description of the run. A text is NULL if it was not given. */
struct run_facts {
	const char *run_id; /* UUID, NULL for none */
	const char *mode;   /* wrap, attach or host */
	const char *host;   /* host name */
	const char *job_name;
#define JOB_SETTING(field, ...) const char *field;
#include "options/job_settings.def"
	const char *executable, *program;
	const char *folder;  /* of the command */
	int64_t argc;        /* 0: no command */
	const char *command; /* JSON list. NULL: not recorded */
	const struct name_value *tags;
	size_t tag_count;
	const struct name_value *scheduler;
	size_t scheduler_count;
	double input_size;        /* bytes, if there is a source */
	const char *input_source; /* option or arguments. NULL: unknown */
	int64_t rank;             /* -1: none */
	double interval_seconds;
	double carbon_factor; /* g/kWh. 0: not given */
	bool children;
	bool aligned;
};

struct sent_signal {
	int number;
	int64_t monotonic_ns;
};

/* How a run ended. Set once, before the last frame. */
struct run_ending {
	const char *reason; /* NULL while the run continues */
	int wait_status;    /* of the root, if has_status */
	bool has_status;
	bool killed;          /* SIGKILL killed the root: check whether it was an OOM kill */
	int exec_errno;       /* 0: the job was started */
	int stopped_by;       /* the signal that ended the recording, 0 for none */
	struct rusage reaped; /* ru_utime, ru_stime, ru_n*csw: sums over wait4(); ru_maxrss: the largest */
	bool has_reaped;
	int64_t address_space_bytes; /* limits of the root (setrlimit), 0 for none or unknown */
	int64_t data_bytes, file_bytes;
	int64_t cpu_limit_secs;
	int64_t job_started_ns; /* CLOCK_MONOTONIC, 0 if unknown */
	int64_t job_ended_ns;
	int64_t tree_ended_ns; /* when the last process so far was reaped, 0 for none */
	struct sent_signal signals[32];
	size_t signal_count; /* all signals; the first 32 are kept */
};

/* The position of a frame in its run. */
struct run_progress {
	int64_t started_ns;  /* CLOCK_MONOTONIC of the baseline */
	int64_t previous_ns; /* of the last frame */
	int64_t number;      /* of this sample, from 0 */
	int64_t missed;      /* missed ticks since the last frame */
	int64_t missed_total;
	int64_t dropped; /* dropped samples */
	bool baseline;   /* only derive() sees this frame */
};

/* The cgroup that counts the job's memory. */
struct memory_cgroup {
	uint64_t id;    /* identifies it, 0 for none */
	bool only_tree; /* it held only the job, and perhaps the tracker and its parents, which still live */
	int64_t kills_when_left; /* OOM kills counted by the cgroup that the job has just left. -1: not moved */
};

struct collect_context {
	struct root *root;
	struct process_tree *tree; /* NULL while nothing is tracked */
	const struct own_cost *own_cost;
	bool own_process; /* the process only records: its use before the baseline is the tracker's cost, too */
	bool in_program; /* the process belongs to another program: only `own_cost` is the tracker's */
	struct cgroup_mounts *cgroup_mounts;
	enum pss_mode pss;
	int64_t program_rows;                   /* setting: programs to report one by one, 0 for none */
	int64_t wait_rows;                      /* setting: waits to report one by one, 0 for none */
	bool wait_details;                      /* setting: record paths and addresses of waits */
	const struct signal_rule *signal_rules; /* setting */
	size_t signal_rule_count;
	bool own_cgroup;                    /* the job runs in a memory cgroup that was made for it */
	struct memory_cgroup memory_cgroup; /* in this frame */
	const struct cgroup_place *place;   /* of the job in this frame, NULL if unknown */
	int memory_folder;                  /* in the place. -1: no cgroup counts its memory */
	const struct run_facts *facts;
	const struct run_ending *ending;
	struct run_progress progress;
	bool prepared;                     /* the collectors' prepare() was called */
	const struct selection *selection; /* NULL: everything is wanted */
	const char *root_dir;              /* setting. NULL: the live system */
	const char *gpus;                  /* setting: used, visible, all or UUIDs. NULL: visible */
	const char *gpu_vendor;            /* setting. NULL: any */
	bool cloud;                        /* setting: detect the cloud */
	bool no_process_network;           /* setting */
	char *const *environment; /* for started programs. NULL: this process's. Only during open() */

	/* Set by collectors. Reset for every frame. */
	int64_t helper_count;  /* living helper processes */
	int64_t helper_cpu_ns; /* CPU time of helpers since the start */
	/* Where the row `limits` is: those that were found first in its place. */
	double first_cpu_limit_cores, first_memory_limit_mib;
	const struct proc_meminfo *meminfo; /* as a collector has read it for this frame, NULL if none has */
	const char *warning; /* one line for the user, taken when the collector returns, NULL for none */

	/* When to call attend(), if that is before the next sample (CLOCK_MONOTONIC). A collector may set an earlier time. */
	int64_t attend_ns;
};

/* When the job began, or the recording of a job that began before it (CLOCK_MONOTONIC). */
static inline int64_t collect_began_ns(const struct collect_context *context)
{
	return context->ending->job_started_ns ? context->ending->job_started_ns
					       : context->progress.started_ns;
}

struct collector {
	const char *name;
	/* Returns 0 and the state (which may be NULL). On a negative errno the collector is left out. */
	int (*open)(struct collect_context *context, void **ret_state);
	void (*collect)(void *state, struct collect_context *context, struct frame *frame);
	/* Optional: work that must be done before the first sample, but may be done after the job's start. */
	void (*prepare)(void *state, struct collect_context *context);
	/* Optional: work between samples, at context->attend_ns or later. It asks for its next time itself. */
	void (*attend)(void *state, struct collect_context *context);
	void (*close)(void *state);
	/* The kinds of rows that it fills, up to ROW_KINDS. If none is wanted, the collector does not run. */
	const enum row_kind *fills;
	bool describes_machine; /* works without a run */
};

/* The only list, in the order of running. Ends with NULL. */
extern const struct collector *const COLLECTORS[];
