/*
 * `resource-tracker-helper exec PROGRAM ARG0 ARG...`: starts a program in a session of its own, prints its pid on
 * stdout and exits. See detached.h.
 */
#pragma once

/*
 * argv[0] is the program's path; its own arguments follow. Returns an exit status: 0 or the errno of the failure.
 */
int exec_detached(char **argv);
