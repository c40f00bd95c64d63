/* Stops and continues the tracker with its job. */
#pragma once

#include "wrap/state.h"

/* Stops the tracker if the job has stopped. */
void mirror_stop(struct wrap *wrap);
/* Notes a SIGCONT that was taken. */
void note_continued(struct wrap *wrap, const siginfo_t *info);
/* Continues the job if the SIGCONT came to the tracker alone. Returns when to call again. */
int64_t continue_job(struct wrap *wrap);
