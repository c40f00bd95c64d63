/*
 * Keeps the signals that writing can raise away from the calling thread, without touching dispositions, which
 * belong to the program: SIGPIPE (reader gone), SIGXFSZ (RLIMIT_FSIZE) and SIGTTOU (`stty tostop`; the
 * kernel lets a writer that blocks it go on).
 */
#pragma once

#include <signal.h>

struct held_signals {
	sigset_t previous;  /* the thread's mask */
	sigset_t untouched; /* pending before: not ours to take away */
};

struct held_signals hold_signals(void);

/* Takes what our writes raised and restores the mask; errno is kept. */
void release_signals(const struct held_signals *held);
