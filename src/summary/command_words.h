/* The command of a run, as a person would type it. */
#pragma once

#include "base/buffer.h"

/* Adds the words of `["make","-j2"]` (run_start.command) with a blank between two. Control characters become blanks. */
void add_command_words(struct buffer *out, const char *command);
