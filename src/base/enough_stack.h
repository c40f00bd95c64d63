/* Running on a stack of our own where the limit (RLIMIT_STACK) leaves less than we need. */
#pragma once

/*
 * Calls `run(argv)` and returns its result, with a stack that is large enough for the tracker. The job
 * inherits the limit unchanged. Only calls run() if the limit is large enough, there is no memory, or the
 * architecture is unknown.
 */
int run_with_enough_stack(int (*run)(char **argv), char **argv);
