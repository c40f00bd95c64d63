/* The command line up to COMMAND. */
#pragma once

#include "cli/given.h"

/*
 * Reads the options before COMMAND. *ret_command points to COMMAND and its arguments in argv, or is NULL.
 * *ret_separated tells whether "--" was there. Returns 0, or -1 after reporting an error.
 */
int read_arguments(char **argv, struct given_list *list, char ***ret_command, bool *ret_separated);
