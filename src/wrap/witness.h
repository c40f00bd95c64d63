/* The witness: a process that counts the signals that the process group gets. */
#pragma once

#include "wrap/state.h"

void witness_start(struct wrap *wrap);
/* The witness was reaped. If another process killed it, starts a new one. */
void witness_lost(struct wrap *wrap);
void witness_kill(struct wrap *wrap);
void witness_reap(struct wrap *wrap);
/* Makes the witness take everything that was sent to it until now. Returns the number of the question. */
uint32_t witness_ask(struct wrap *wrap);
bool witness_has_answered(const struct wrap *wrap, uint32_t question);
void witness_wake(const struct wrap *wrap);
