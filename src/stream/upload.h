/*
 * `resource-tracker upload [--spool DIR] [RECORDING|FOLDER...]`: sends everything that was not sent yet.
 *
 * A recording is sent run by run. The state in the spool tells where to continue. A run without a state is sent as a
 * whole. A folder stands for all states in it and for recordings there without one. Without an argument the default
 * spool is sent. A run that was sent is not sent again.
 *
 * The spool knows a run by a name made from its first sample, because a later run may have renamed its recording
 * (FILE.1). If the recording was removed, the batches in the spool are sent.
 *
 * Exit status: 0 everything is sent; 1 something could not be sent; 2 wrong usage.
 */
#pragma once

struct settings;

int upload_main(const struct settings *settings, char **argv);
