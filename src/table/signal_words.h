/* A signal of --signal-at in words, for the summary and the live view. */
#pragma once

#include "base/buffer.h"

enum { SIGNAL_WORDS_BYTES = 1024 };

struct signal_at_row;

/*
 * "memory=90%:USR1 sent to 1 process after 2 min 5 s (912 of 1000 MiB)", "time=-2m:TERM not sent (the recording ended before that
 * time)". Program names and reasons are as they were recorded.
 */
void add_signal_words(struct buffer *out, const struct signal_at_row *row);
