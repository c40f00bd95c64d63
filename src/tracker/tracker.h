/*
 * The inside of a tracker: policy and time. Everything here is called with the tracker's lock held, but for
 * opening and closing.
 */
#pragma once

#include <pthread.h>
#include <unistd.h>

#include "collect/collector.h"
#include "collect/own_cgroup.h"
#include "format/sample_format.h"
#include "metric/selection.h"
#include "sink/file_target.h"
#include "tracker/config.h"
#include "tracker/history.h"
#include "tracker/streaming.h"
#include "tracker/texts.h"

enum { COLLECTORS_MOST = 24, FRAMES = 4, SCHEDULER_NAMES_MOST = 32 };

struct output {
	const struct sample_format *format;
	struct format_options options;
	struct format_state state;
	struct target *target;
	char *path;    /* NULL for streams */
	bool is_spool; /* for the program that streams, not the user's */
};

struct rt_tracker {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a sample was taken, or the state has changed */
	pid_t owner;            /* the process that opened it: a forked child only frees */

	struct rt_config *config;
	struct root root;
	struct cgroup_mounts cgroup_mounts;
	struct own_cgroup own_cgroup;
	struct own_cost own_cost;
	struct process_tree *tree; /* also in context.tree once something is tracked */
	struct selection selection;
	void *states[COLLECTORS_MOST]; /* of COLLECTORS, in their order */
	bool runs[COLLECTORS_MOST];
	struct collect_context context;

	struct run_facts facts;
	char host_name[256];
	char *command_json;
	struct name_value *tags;
	struct name_value scheduler[SCHEDULER_NAMES_MOST];
	struct run_ending ending;

	/*
	 * Of four frames one is filled while the others are history: the last one, and two so that rates can look
	 * back at least 100 ms however short the interval is.
	 */
	struct frame frames[FRAMES];
	struct frame *previous;
	struct frame *window;
	struct frame *window_next;

	struct history history; /* for whoever asks; not what rates look back on */

	struct output *outputs;
	size_t output_count;
	struct buffer line;
	struct streaming streaming;

	/* the grid */
	int64_t first_due_ns;
	int64_t next_due_ns;
	int64_t last_due_ns; /* end of the duration; INT64_MAX */
	bool early_sample_due;
	bool on_grid; /* somebody asks when the next sample is due */

	enum rt_state state;
	bool finished;
	int64_t sample_count;
	pthread_t thread;
	bool has_thread;
	bool stopping;
	enum rt_end_reason stop_reason; /* while stopping */
	enum rt_end_reason end_reason;  /* when finished */
	int stop_status;
	bool wrapped;
	bool prepared;
	int64_t prepare_ns;     /* when, once a job that was started has had its first moments */
	struct buffer warnings; /* lines not yet taken */
	struct texts texts;     /* given to callers */

	/* of the tracked root process, from rt_add_exited() */
	bool has_job_status;
	int job_status;
};

/*
 * Every public call begins with it. False in a forked child of the process that opened the tracker: the lock may be
 * held for ever there, by a thread that is not, and what it guards may be half changed.
 */
static inline bool tracker_lock(struct rt_tracker *tracker)
{
	if (tracker->owner != getpid())
		return false;
	pthread_mutex_lock(&tracker->lock);
	return true;
}

static inline void tracker_unlock(struct rt_tracker *tracker)
{
	pthread_mutex_unlock(&tracker->lock);
}

/* sample.c: takes a sample (`baseline`: one that is not published) and moves history on. */
int tracker_take_sample(struct rt_tracker *tracker, bool baseline);
/* What has to be done before the first sample but not before the job starts; only once. */
void tracker_prepare(struct rt_tracker *tracker);
/* The newest published frame; NULL before the first. */
const struct frame *tracker_newest(const struct rt_tracker *tracker);
void tracker_start_grid(struct rt_tracker *tracker);
/* When there is something to do next (CLOCK_MONOTONIC); INT64_MAX: never. */
int64_t tracker_next_due_ns(struct rt_tracker *tracker);
/* Takes a sample if it is due; 1 if it did. */
int tracker_sample_due(struct rt_tracker *tracker, int64_t now_ns);
bool tracker_over(struct rt_tracker *tracker, enum rt_end_reason *ret_reason);
/* Whether it is one of the enumeration: callers are of any language. */
bool is_end_reason(enum rt_end_reason reason);
int tracker_finish(struct rt_tracker *tracker, enum rt_end_reason reason, int status);

/* outputs.c */
int tracker_open_outputs(struct rt_tracker *tracker, struct rt_config *config);
/* One more output for the program that streams; `path` is an empty file. */
int tracker_add_spool(struct rt_tracker *tracker, const char *path);
/* Takes it back and removes the file. */
void tracker_remove_spool(struct rt_tracker *tracker);
void tracker_write_outputs(struct rt_tracker *tracker, const struct frame *frame);
/* The last flush, with so much time for readers that are slow; what may be lost in spite of it is a warning. */
void tracker_end_outputs(struct rt_tracker *tracker, int64_t patience_ns);
void tracker_close_outputs(struct rt_tracker *tracker);
/* Whether the user named outputs, and none of those can be read any more. */
bool tracker_outputs_gone(const struct rt_tracker *tracker);
void tracker_warn(struct rt_tracker *tracker, const char *text);
/* Passes on what the collector that has just run wants the user to know. */
void tracker_take_warning(struct rt_tracker *tracker);

/* history.c: what rt_config_set_history() asked for. */
int tracker_open_history(struct rt_tracker *tracker, struct rt_config *config);

/* facts.c: what the run is, from the settings and the environment. */
int tracker_gather_facts(struct rt_tracker *tracker);
