/* The names of the programs that a listener has met. Each is kept once, until the end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "job/programs/program_tuning.h"

struct program_names {
	char *at[PROGRAM_NAMES_MOST];
	size_t count;
};

/* Returns the kept copy, or NULL: there are too many, or memory ran out. */
const char *program_names_keep(struct program_names *names, const char *name);

/* Reads which program a process runs. Returns NULL if it has gone. */
const char *program_names_read(struct program_names *names, pid_t pid);

/* Whether a program may have this name of a process (comm), which has 15 bytes at most and is a script's own. */
bool program_names_match(const char *program, const char *comm);

/* Returns the name of the program that a process of this name runs: a known one, or the name itself. */
const char *program_names_of(struct program_names *names, const char *comm);

void program_names_done(struct program_names *names);
