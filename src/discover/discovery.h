/* All that `discover` has found, and its form for people. */
#pragma once

#include <stdbool.h>

#include "discover/host_gpus.h"
#include "discover/host_limits.h"
#include "discover/machine_facts.h"

struct discovery {
	bool host;
	bool cloud;
	struct facts facts;
	struct host_gpus gpus;
	struct host_limits limits;
	double cloud_secs;
};

/* Adds a list with a line for each fact, in the words of people. `colour` is the word behind --color. */
void discovery_add_text(struct buffer *out, const struct discovery *discovery, const char *colour);
