/* execvp() for a forked child: the plan is made before the fork. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct exec_plan {
	char **paths; /* in the order of PATH */
	size_t path_count;
	bool is_search; /* the command was a plain name */
	char **argv;
	char **script_argv; /* for sh; [1] is set to the path */
	char **environment;
	char *memory;
};
int exec_plan_make(char *const *argv, const char *const *additions, struct exec_plan *ret_plan);
void exec_plan_free(struct exec_plan *plan);
/* Returns only on failure, with errno as a positive number. Async-signal-safe. */
int exec_plan_run(const struct exec_plan *plan);
