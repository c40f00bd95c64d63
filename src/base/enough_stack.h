/* Running on a stack of our own where the limit (RLIMIT_STACK) leaves less than we need. */
#pragma once

/*
 * Calls `run(argv)` and returns its result. The job inherits the limit as it is; it only must not crash us. Does nothing
 * else where the limit is no concern, there is no memory, or the architecture is unknown.
 */
int run_with_enough_stack(int (*run)(char **argv), char **argv);
