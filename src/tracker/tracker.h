/*
 * The inside of a tracker: policy and time. Except for opening and closing, everything here is called with
 * the tracker's lock held.
 */
#pragma once

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/runs_once.h"
#include "base/uuid.h"
#include "collect/collector.h"
#include "collect/own_cgroup.h"
#include "format/sample_format.h"
#include "metric/selection.h"
#include "job/programs/program_name.h"
#include "remote/remote_client.h"
#include "sink/file_target.h"
#include "tracker/config.h"
#include "tracker/kept_samples.h"
#include "tracker/streaming.h"
#include "tracker/texts.h"

enum { COLLECTORS_MOST = 24, FRAMES = 4, SCHEDULER_NAMES_MOST = 56, WARNINGS_CEILING = 8 << 10 };

struct tracker_output {
	const struct sample_format *format;
	struct format_options options;
	struct format_state state;
	struct target *target;
	char *path; /* NULL: a stream */
	bool is_compressed;
	bool is_spool; /* for the program that streams, not named by the user */
	bool is_stderr;
	int64_t unwritten; /* samples whose line had no memory */
};

struct rt_tracker {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a sample was taken, or the state has changed */
	_Atomic int callers;    /* threads that wait for the lock, or for a sample */
	pid_t owner;            /* the process that opened it; a forked child only frees memory */

	struct remote_client *apart; /* the process that samples instead of this one, NULL for none */

	struct rt_config *config;
	struct root root;
	struct cgroup_mounts cgroup_mounts;
	struct own_cgroup own_cgroup;
	struct own_cost own_cost;
	struct process_tree *tree; /* in context.tree as well, once a process is tracked */
	struct selection selection;
	void *states[COLLECTORS_MOST]; /* of COLLECTORS, in that order */
	bool runs[COLLECTORS_MOST];
	struct collect_context context;

	struct run_facts facts;
	char run_id[UUID_TEXT_BYTES];
	char host_name[256];
	char *folder;                      /* the current one, NULL if unknown, or no command */
	char attached[PROGRAM_NAME_BYTES]; /* executable of the process that is attached to */
	char program[PROGRAM_NAME_BYTES];  /* the run's name, "" if unknown */
	char *command_json;
	struct name_value *tags;
	struct name_value scheduler[SCHEDULER_NAMES_MOST];
	struct run_ending ending;

	/*
	 * One frame is filled while the other three are history: the last frame, and two more so that rates
	 * can look back at least 100 ms even if the interval is shorter.
	 */
	struct frame frames[FRAMES];
	struct frame *previous;
	struct frame *window;
	struct frame *window_next;

	struct kept_samples kept; /* for rt_history_read(); rates do not use it */

	struct tracker_output *outputs;
	size_t output_count;
	struct buffer line;
	struct buffer packed; /* the line, for a compressed output */
	struct streaming streaming;

	/* the grid */
	int64_t first_due_ns;
	int64_t next_due_ns;
	int64_t last_due_ns; /* end of the duration; INT64_MAX */
	bool early_sample_due;
	bool on_grid; /* the caller has asked when the next sample is due */

	enum rt_state state;
	bool finished;
	bool has_lost_sample; /* for want of memory */
	int64_t sample_count;
	pthread_t thread;
	bool has_thread;
	bool stopping;
	enum rt_end_reason stop_reason; /* set while the thread stops */
	enum rt_end_reason end_reason;  /* set when finished */
	int stop_status;
	bool wrapped;
	bool prepared;
	int64_t prepare_ns;     /* when to call tracker_prepare() after a job was started */
	struct buffer warnings; /* lines that the caller has not taken yet */
	struct texts texts;     /* given to callers */

	/* of the tracked root process, from rt_add_exited() */
	bool has_job_status;
	int job_status;
};

/*
 * Every public call begins with this. Returns false for NULL, and in a forked child of the process that opened the tracker:
 * a thread that the child does not have may hold the lock there for ever, and the data behind it may be half
 * changed.
 */
bool tracker_lock(struct rt_tracker *tracker);

/* The same for calls that another process cannot make for this one (rt_config_set_apart()): 0, -ECHILD or -ENOTSUP. */
static inline int tracker_enter(struct rt_tracker *tracker)
{
	if (tracker && tracker->apart)
		return -ENOTSUP;
	return tracker_lock(tracker) ? 0 : -ECHILD;
}

static inline void tracker_unlock(struct rt_tracker *tracker)
{
	pthread_mutex_unlock(&tracker->lock);
}

/* sample.c: takes a sample and makes it the newest. `baseline`: the sample is not published. */
int tracker_take_sample(struct rt_tracker *tracker, bool baseline);
/* Does the work that the first sample needs and the start of a job does not. Only once. */
void tracker_prepare(struct rt_tracker *tracker);
/* The newest published frame; NULL before the first. */
const struct frame *tracker_newest(const struct rt_tracker *tracker);
void tracker_start_grid(struct rt_tracker *tracker);
/* When the tracker has work to do next (CLOCK_MONOTONIC); INT64_MAX: never. */
int64_t tracker_next_due_ns(struct rt_tracker *tracker);
/* Takes a sample if one is due. Returns 1 if it took one. */
int tracker_sample_due(struct rt_tracker *tracker, int64_t now_ns);
bool tracker_over(struct rt_tracker *tracker, enum rt_end_reason *ret_reason);
/* Whether the value is one of the enumeration. Bindings of other languages may pass any integer. */
bool is_end_reason(enum rt_end_reason reason);
int tracker_finish(struct rt_tracker *tracker, enum rt_end_reason reason, int status);
/* Closes all that samples are read from. */
void tracker_close_sources(struct rt_tracker *tracker);
/*
 * After that: a program may keep the tracker for its results, so it closes every file, socket and output. The connection to the
 * program that streams stays open until rt_close().
 */
void tracker_let_go(struct rt_tracker *tracker);

/* outputs.c */
/* Whether it is a lack of memory or descriptors: with another output it would be the same. */
bool tracker_is_lack(int error);
int tracker_open_outputs(struct rt_tracker *tracker, struct rt_config *config);
/* No sample was written: removes the files that the start has made, and gives earlier recordings their names back. */
void tracker_take_outputs_back(struct rt_tracker *tracker);
/* Warns once, where a sample or its line has no memory. */
void tracker_tell_of_lost_sample(struct rt_tracker *tracker);
/* Adds an output for the program that streams. `path` is an empty file. */
int tracker_add_spool(struct rt_tracker *tracker, const char *path);
/* Closes that output and removes its file. */
void tracker_remove_spool(struct rt_tracker *tracker);
/* A file that begins anew has run_start again, which the frame has only meanwhile. */
void tracker_write_outputs(struct rt_tracker *tracker, struct frame *frame);
/* The last flush, for which slow readers get some time. Lost samples become a warning. */
void tracker_end_outputs(struct rt_tracker *tracker);
void tracker_close_outputs(struct rt_tracker *tracker);
/* Closes the files alone. Their names stay known. */
void tracker_close_targets(struct rt_tracker *tracker);
/* Whether the user named outputs and all of them have lost their reader. */
bool tracker_outputs_gone(const struct rt_tracker *tracker);
void tracker_warn(struct rt_tracker *tracker, const char *text);
/* Why processes cannot be read, and the remedy. */
#define PROC_OF_STRANGERS "/proc does not show the job's processes: mount a new one (unshare --mount-proc)"
/* Takes a warning over from the collector that has just run. */
void tracker_take_warning(struct rt_tracker *tracker);

/* kept_samples.c: opens the history of rt_config_set_history(). */
int tracker_open_history(struct rt_tracker *tracker, struct rt_config *config);

/* run_facts.c: gathers facts about the run from the settings and the environment. */
RUNS_ONCE int tracker_gather_facts(struct rt_tracker *tracker);
