/* What this run of the command is to do, put together from command line, environment and configuration file. */
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
	bool named_outputs;     /* of the user's own, not the default stream */
	bool inherited_outputs; /* they come from the environment or the configuration file */
	bool quiet;
	bool wait_descendants;
	bool keep_running;
	bool requires_cgroup;
	bool live; /* no --root: processes of the record are processes of this machine */
	bool why;
	bool no_warnings;
	bool configured; /* what is wrong with the configuration file has been said */
	enum summary summary;
	const char *page; /* where the report goes; NULL: there is none */
	int temporary_fd; /* a file without a name, for a summary or a report without an output file; 0: none */
};

/*
 * Reads everything. Returns -1 if a run is to follow, else the exit status: help or the version was printed,
 * or an error was said. `front` is to be freed in every case.
 */
int front_read(char **argv, struct front *ret_front);
void front_done(struct front *front);

/*
 * After rt_open() found an output that a live recording holds: forgets the outputs if they were inherited,
 * and says so. False if they were not; then it is an error.
 */
bool front_forget_outputs(struct front *front);

/* Whether stdout is an output that was asked for by name. */
bool front_writes_stdout(const struct front *front);
