/*
 * A step of an engine, whose shell became this recorder (src/shell): whatever goes wrong before the job has started, the real
 * shell runs alone, in this process.
 *
 * RESOURCE_TRACKER_ALONE=N says that the command is argv[N] and the words behind it. It counts for this process only.
 */
#pragma once

#include <stdbool.h>

/* Call first. A crash before alone_forget() runs the command, too. */
void alone_prepare(int argc, char **argv);

/* Whether this process records a step. */
bool alone_is_step(void);

/* The job has started. */
void alone_forget(void);

/*
 * The machine lacks what the recorder needs, and the job has not started: the job runs alone in this process, after a line about
 * it. Returns an exit status if that fails, or without a job (`command` NULL).
 */
int alone_for_lack(char **command, const char *lack);

/* Becomes the command if the job of a step has not started. Returns the exit status without such a command, or if that fails. */
int alone_run(int status);
