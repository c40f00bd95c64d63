/*
 * Our other programs, and the one rule by which all of them find each other:
 *
 *   1. the path in the program's variable, if that is set;
 *   2. beside the running program or library (a build tree, a Python wheel), or in the folder that an installation has
 *      next to theirs. A program that was started through a symbolic link looks beside itself, not beside the link. The
 *      program must belong to root, this user or the owner of the running binary, and no user may write to it who may
 *      not write to the binary;
 *   3. the folder that this build was configured to be installed in.
 *
 * A process with more rights than its caller (setuid, file capabilities) uses rule 3 alone.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

struct sister_program {
	const char *name;
	const char *variable; /* NULL: none */
	const char *const
		*near_places; /* relative to the folder of the running program or library, NULL at the end */
	const char *installed_in;
};

extern const struct sister_program RECORDER_PROGRAM, ANALYSIS_PROGRAM, NET_PROGRAM, HELPER_PROGRAM;

/* Returns 0, or -ENOENT (ret_path is then untouched). */
int find_sister_program(const struct sister_program *program, char ret_path[static PATH_MAX]);

/* Whether a shell would find a program of that name. */
bool is_on_path(const char *name);
