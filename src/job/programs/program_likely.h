/*
 * The CPU time that a process probably used if it ended before anything could read its clock. The processes whose time is known tell
 * which part of their lives they had a CPU: those of the same program, or else all those with or without children.
 *
 * Example: three cc1 lived for 900 ms in all and used 300 ms. A fourth one lived for 150 ms, so it probably used 50 ms.
 */
#pragma once

#include "job/programs/program_table.h"

#define NO_PROGRAM SIZE_MAX

/* Notes a process whose time is known. */
void program_note_known(struct programs *programs, struct program *program, int64_t cpu_ns, int64_t life_ns,
			bool had_children);

/* Notes a process whose name is known. `parent`: the program that forked it. */
void program_note_named(struct program *program, size_t parent, int64_t life_ns);

/*
 * A process whose time since the last look is unknown. If its name is unknown as well, its likely time is that of the children of the same
 * parent that live about as long, by their numbers. `program`: has it if there are none, or if `parent` is NO_PROGRAM.
 */
void program_miss(struct programs *programs, struct program *program, size_t parent, int64_t life_ns,
		  int64_t unseen_ns, bool had_children);

/* Never 0: even a process without a lifetime used something. */
double program_likely_ns(const struct programs *programs, const struct program *program, int64_t lifetime_ns,
			 bool had_children);
