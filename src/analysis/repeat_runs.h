/*
 * Starts the runs of `resource-tracker repeat`, one after the other, each with a recorder of its own (launch/run_server.h).
 *
 * A signal that ends this program goes to the run that is under way, which is the last one then. Its recording and those before it are kept.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "repeat/repeat.h"

struct repeat_plan {
	const char *const *commands[2]; /* words; NULL: there is one command only */
	const char *prepare;            /* a line for the shell, before each run. NULL: none */
	int64_t runs, warmups;          /* of each command */
	bool ignores_failure, shows_output;
};

struct repeat_stop {
	int status;       /* as from waitpid(), of the run that failed; 0: all went well */
	const char *what; /* the command of that run, or "--prepare" */
	int signo;        /* a signal ended the runs; 0: none did */
};

/*
 * Makes the runs in turn: A B, B A, A B, and so on, so that a drift of the machine reaches both alike. Recordings go to `folder`.
 * Returns 0 also after a failure or signal, which ret_stop tells.
 */
int repeat_run_all(const struct repeat_plan *plan, const char *folder, struct repeat *repeat,
		   struct repeat_stop *ret_stop, struct rt_problem *ret_problem);

/* Copies the recordings into the history of this machine, and gives the runs their numbers. Does nothing if none is kept. */
int repeat_keep(struct repeat *repeat, struct rt_problem *ret_problem);
