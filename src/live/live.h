/* The live view: its sources, its terminal, and the loop that waits for keys, samples and signals. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "record/problem.h"

struct live_options {
	const char *const *paths; /* recordings to show */
	const unsigned *numbers;  /* of each in the history, 0 for none */
	size_t path_count;
	bool follows_history;        /* all runs that the history says are going on */
	const char *const *recorder; /* words of a recorder to start, which end with NULL, NULL for none */
	const char *recorder_name;   /* shown until it has sent a sample */
	bool notifies;
	const char *colour; /* auto, always or never */
};

/*
 * Shows the view until the user quits. Returns 0; -ENOTTY without a terminal and -ENOTSUP if the terminal cannot show a
 * screen (nothing has been started then), or another negative errno with a problem.
 */
int live_show(const struct live_options *options, struct rt_problem *ret_problem);

/* Whether this build can show a screen. */
bool live_is_built(void);
