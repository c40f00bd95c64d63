/*
 * The CPU time that a process probably used if it ended before anything could read its clock. The processes whose time is known tell
 * which part of their lives they had a CPU: those of the same program, or else all those with or without children.
 *
 * Example: three cc1 lived for 900 ms in all and used 300 ms. A fourth one lived for 150 ms, so it probably used 50 ms.
 */
#pragma once

#include "process/programs.h"

/* Notes a process whose time is known. */
void program_note_known(struct programs *programs, struct program *program, int64_t cpu_ns, int64_t life_ns,
			bool had_children);

/* Never 0: even a process without a lifetime used something. */
double program_likely_ns(const struct programs *programs, const struct program *program, int64_t lifetime_ns,
			 bool had_children);
