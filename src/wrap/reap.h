/* Reaps the job, orphans and children that do not belong to the job. */
#pragma once

#include "wrap/state.h"

/* Reaps dead children, the job first. Returns true if there may be more. */
bool reap_children(struct wrap *wrap);
bool has_descendants(struct wrap *wrap);
/*
 * By wait4(2), where waitid(2) is refused: the signal of a stop of the job that was not taken yet, or 0. Since wait4 tells
 * ends as well, a job that has ended since the last look is reaped by it.
 */
int wait_for_stop_of_job(struct wrap *wrap);
