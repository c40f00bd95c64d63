/* The choice of this run of the command: its mode, its outputs, and how it ends. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "cli/given.h"
#include "resource_tracker.h"

enum summary { SUMMARY_NONE, SUMMARY_TEXT, SUMMARY_JSON };

struct front {
	struct given_list given;
	rt_config *config;
	char **command; /* into argv; NULL: no job is wrapped */
	pid_t pid;      /* to attach to; 0: none */
	enum option_mode mode;
	bool named_outputs; /* named by the user, as opposed to the default stream */
	bool quiet;
	bool wait_descendants;
	bool keep_running;
	bool requires_cgroup;
	bool live; /* no --root: processes of the record are processes of this machine */
	bool why;
	bool no_warnings;
	bool no_history;
	bool keeps;      /* this run goes to the history (keep_run.h) */
	bool is_ci_log;  /* a CI system keeps our stderr: a summary instead of samples */
	bool configured; /* errors in the configuration file were reported */
	enum summary summary;
	const char *page; /* output file of the report; NULL: no report */
	const char *runs; /* the file that gets the line of this run; NULL: none */
	int kept_fd;      /* the recording in the history; 0: none */
	char *kept_path;  /* its file */
	int temporary_fd; /* file without a name, for a summary or report without a file of JSON; 0: none */
};

/*
 * The library has refused a setting or the start. A mistake is an error; for lack of anything else the job runs alone
 * (alone.h). Returns an exit status.
 */
int front_refuse(const struct front *front, int error);

/* Whether samples of the machine or of a running process would go to a terminal, where only a person could read them. */
bool front_shows_screen(const struct front *front);

/* Whether an output of this name is CSV, which has neither the job's name nor how it ended. */
bool front_writes_csv(const struct front *front, const char *path);

/* Whether the user named stdout as an output. */
bool front_writes_stdout(const struct front *front);
