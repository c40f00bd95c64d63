/* The end of a run, when the job has ended: the signals that cut it short, and programs that make no progress. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Whether SIGHUP, SIGINT, SIGQUIT or SIGTERM (all blocked here) has come since forget_signals(). If so,
 * everything that is printed at the end is cut short.
 */
bool is_told_to_go(void);

/* Discards the signals that came while the job ran: they were for the job. */
void forget_signals(void);

/*
 * Returns false if a child still runs, but has used no CPU time for still_limit_ns, or a signal told us to go. Else *ret_status is
 * its wait status.
 */
bool wait_while_it_works(pid_t pid, int64_t still_limit_ns, int *ret_status);

/* Kills it. One that hangs in the kernel cannot be killed: it is left behind. */
void end_without_progress(pid_t pid);
