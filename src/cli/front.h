/* Decides what this run of the command does, from command line, environment and configuration file. */
#pragma once

#include <stdbool.h>

#include "cli/front_choice.h"

/*
 * Reads all three. Returns -1 if a recording follows, else the exit status: help or the version was printed,
 * or an error was reported. The caller frees `front` in every case.
 */
int front_read(char **argv, struct front *ret_front);
void front_done(struct front *front);

/*
 * Call after rt_open() failed. A configuration file never stops a job: if one of its outputs or its root folder cannot be used,
 * reports that, forgets this one and returns true. So it does with an inherited output that a live recording holds (-EBUSY).
 * Otherwise returns false: the mistake is an error.
 */
bool front_forget(struct front *front, int error);
