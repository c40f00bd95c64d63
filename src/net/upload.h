/*
 * `resource-tracker upload [--spool DIR] [RECORDING|FOLDER...]`: sends what was left behind.
 *
 * A recording is sent run by run, each from where its state in the spool says; one without a state is sent as a
 * whole. A folder stands for all states in it and for what was recorded there without one; nothing at all for the
 * default spool. A run that has been sent is not sent again.
 *
 * The spool knows a run by the name that its first sample gives it. Its recording may have been renamed by a later run of
 * the same name (FILE.1); of one that was removed, the batches in the spool are sent.
 *
 * Exit status: 0 all is sent (or was); 1 something could not be sent; 2 wrong usage.
 */
#pragma once

struct settings;

int upload_main(const struct settings *settings, int argc, char **argv);
