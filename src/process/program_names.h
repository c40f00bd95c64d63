/* The names of the programs that a listener has met. Each is kept once, until the end. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

enum { PROGRAM_NAMES_MOST = 1024 };

struct program_names {
	char *at[PROGRAM_NAMES_MOST];
	size_t count;
};

/* Returns the kept copy, or NULL: there are too many, or memory ran out. */
const char *program_names_keep(struct program_names *names, const char *name);

/* Reads which program a process runs. Returns NULL if it has gone. */
const char *program_names_read(struct program_names *names, pid_t pid);

void program_names_done(struct program_names *names);
