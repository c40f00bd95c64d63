/*
 * Keeping a run in the history: on a terminal, a wrapped job without a named output is recorded there instead of on the
 * screen.
 */
#pragma once

#include "cli/front_choice.h"

/*
 * Whether this run's samples belong in the history. Call it when the mode and the named outputs are known. Without the
 * analysis program nothing could list, summarise or remove what is kept, so nothing is kept.
 */
bool run_is_kept(const struct front *front);

/*
 * Whether this run's stderr is the log of a CI system, which people read: CI is set, as all of these systems do, stderr is a file or a pipe, and
 * neither an output nor a format was given. Such a run ends with its summary instead of writing samples.
 */
bool run_is_in_ci_log(const struct front *front);

/*
 * Begins the recording, and adds it to the outputs. A history that cannot be used never stops a job: one line says why
 * this run is not kept. Returns 0, or an exit status if memory runs out.
 */
int begin_kept_run(struct front *front);

/* The command was never started: removes the recording. Does nothing if there is none. */
void drop_kept_run(struct front *front);

/*
 * After the last sample: whether the recording, or the history, was removed or renamed while the job ran. One line says so, and the recording
 * becomes a temporary one, of which the summary, the report and the line are still made.
 */
bool leave_kept_run(struct front *front);

/*
 * After the last sample: prints the summary that was asked for and the run's number, and puts the recording in order.
 * An end that is cut short is made up for by the next command that looks at the history.
 */
void finish_kept_run(struct front *front);
