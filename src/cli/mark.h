/* `resource-tracker mark NAME start|stop`: marks the beginning or end of a phase of the job. */
#pragma once

/*
 * argv[0] is "mark". Returns the exit status, which is also 0 if nothing is recorded, so that no job fails
 * because of a mark.
 */
int run_mark(char **argv);
