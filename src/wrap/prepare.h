/* Children from before the job. wrap.h has the rest of prepare.c. */
#pragma once

#include "wrap/state.h"

/*
 * Children from before the job's start do not belong to the job. A shell that runs the tracker as
 * its last command (exec) leaves its own children to the tracker; when the tracker is a subreaper, the
 * recorder's helpers are its children, too.
 */
void note_earlier_children(struct wrap *wrap);
