/*
 * The history as its commands see it: a list of runs, each with its line and its recording. history_folder.h describes
 * the files.
 *
 * A recorder that is killed leaves a recording without a line. Each command that opens the history completes such runs.
 * One process at a time changes the folder: it holds the folder's lock (flock). The recordings of live runs are locked by
 * their recorders, and nothing here touches them.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/problem.h"

struct history_run {
	unsigned number;
	char *path;      /* of its recording. NULL: it is gone */
	int64_t bytes;   /* of its files */
	json_t *line;    /* NULL: there is none yet */
	bool live;       /* a recorder is writing to it */
	bool compressed; /* its recording is in its final form */
	bool chosen;     /* by the words of `rm` */
	bool dropped;    /* by history_remove() */
	bool has_files;  /* of a run that history_save() removes */
};

enum { HISTORY_SIGNS_MOST = 16 };

struct history {
	char *folder;
	int fd;
	int64_t bytes_most;       /* of all recordings but the newest: TRACKER_HISTORY_MIB */
	bool locked;              /* by this process, which may therefore change it */
	bool changed;             /* the file of lines must be written again */
	struct history_run *runs; /* by number, the oldest first */
	size_t count;
	unsigned removed[HISTORY_SIGNS_MOST]; /* numbers that are not given again */
	size_t removed_count;
};

/*
 * Opens the history that TRACKER_HISTORY or the home folder names. If `wait`, another command that changes the folder is
 * waited for, for some seconds. Otherwise the list is then read as it is. -ENOENT: nothing has been kept yet.
 * -EINVAL: the quota is wrong. -ETIMEDOUT: as history_look().
 */
int history_open(struct history *ret_history, bool wait, struct rt_problem *ret_problem);
void history_close(struct history *history);

/* Looks at the folder that history_folder_find() finds. -ETIMEDOUT: its file system does not answer. */
int history_look(const char *given, struct rt_problem *ret_problem);

/*
 * Completes the runs that have ended (a compressed recording and a line each), and lets the oldest ones go until the
 * history fits. Without the lock it does nothing. Errors leave a run as it is.
 */
void history_tidy(struct history *history);

/* Returns the line of a run, and makes it now if the run is live. NULL before the first sample, or if memory runs out. */
const json_t *history_line(struct history *history, struct history_run *run);

enum history_match { HISTORY_NONE, HISTORY_ONE, HISTORY_SEVERAL };

/*
 * Finds a run by its number, "last", "last~2", or a part of its name. If several names match, it takes the
 * newest, and says so.
 */
enum history_match history_find(struct history *history, const char *word, struct history_run **ret_run);
/* Whether this is the whole name of the run. */
bool history_is_called(struct history *history, struct history_run *run, const char *name);

/* Lets history_save() remove a run's files and its line. -EBUSY: it is live. -EAGAIN: another command holds the lock. */
int history_remove(struct history *history, struct history_run *run);
/* Sets a tag of a run's line. An empty value takes the tag away. -EBUSY: it is live. */
int history_tag(struct history *history, struct history_run *run, const char *key, const char *value);
/* Writes the file of lines if they have changed, and then removes the files of removed runs. An error leaves all as it was. */
int history_save(struct history *history);

/* Completes the runs that have ended and returns the file of their lines. -ENOENT: no run has been kept yet. */
int history_own_lines(char **ret_path, struct rt_problem *ret_problem);
