/* Operands of the commands that read recordings: a file, or a run of the history. */
#pragma once

#include "analysis/words.h"
#include "options/option.h"
#include "resource_tracker_analysis.h"

/*
 * Adds an operand to the files. A file of that name comes first, so that no run hides a file; then a run's number, "last",
 * "last~2", or a part of its name. In commands with sides (NAME=FILE) the run's side is "run 12". Returns NULL, or what is
 * wrong with the word.
 */
const char *add_operand(const struct subcommand *command, struct text_list *files, const char *word);

/* For a file that an option names, or a file of runs. -ETIMEDOUT: its file system does not answer. */
int look_at_input(const char *path, struct rt_problem *ret_problem);
