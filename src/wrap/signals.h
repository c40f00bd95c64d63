/* Signals to the tracker on their way to the job. */
#pragma once

#include "wrap/state.h"

/* Signals that are blocked, and taken by the loops. */
signal_set signals_blocked(enum wrap_mode mode);
/* Notes a signal that was taken and may have to be forwarded. before_job: taken before the fork. */
void signals_note(struct wrap *wrap, const siginfo_t *info, bool before_job);
/* Signals for which the list of undecided ones has room. */
signal_set signals_wanted(const struct wrap *wrap);
/*
 * Forwards or drops each signal that can be decided. Returns when to call again; INT64_MAX: all are decided.
 */
int64_t signals_settle(struct wrap *wrap);
/* Drops undecided stop signals, as the kernel discards pending ones when a process is continued. */
void signals_drop_stops(struct wrap *wrap);
