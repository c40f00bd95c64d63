/*
 * Keeps the signals that writing can raise away from the calling thread: SIGPIPE (reader gone), SIGXFSZ
 * (RLIMIT_FSIZE) and SIGTTOU (`stty tostop`, after which the kernel lets a writer go on that blocks it). Dispositions belong
 * to the program and stay unchanged.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

struct held_signals {
	sigset_t previous;  /* the thread's mask */
	sigset_t untouched; /* pending before: leave them pending */
};

struct held_signals hold_signals(void);

/* Discards the signals that our writes raised, if they may have, and restores the mask. Keeps errno. */
void release_signals(const struct held_signals *held, bool may_have_raised);
