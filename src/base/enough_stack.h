/* Runs a function on a larger stack if the limit (RLIMIT_STACK) is too small for it. */
#pragma once

/*
 * Calls `run(argv)` and returns its result, with a stack that is large enough for the tracker. The job
 * inherits the limit unchanged. Only calls run() if the limit is large enough, there is no memory, or the
 * architecture is unknown.
 */
int run_with_enough_stack(int (*run)(char **argv), char **argv);
