/* `resource-tracker mark NAME start|stop`: a phase of the job begins or ends. */
#pragma once

/* argv[0] is "mark". Returns the exit status: 0 also when nothing is recorded, so that no job fails for it. */
int run_mark(char **argv);
