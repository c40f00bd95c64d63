/*
 * `resource-tracker-net follow`: streams a recording while it is written, and for a while afterwards.
 *
 *   follow RECORDING [--from BYTES] [--end-fd FD | --pid PID] [--disposable] [--spool DIR]
 *                    [--upload-deadline SECS] [--root DIR] [--no-warnings]
 *
 * The recorder starts this program before the job. It passes the read end of a pipe of which only the recorder holds the
 * write end (close-on-exec, so that the job does not), and never writes to it. The recorder writes its samples to
 * the recording, as always. This run's bytes begin at --from. When the pipe is closed (on purpose, or because the
 * recorder died), no more samples come: the program sends the rest within the deadline and ends. The waiting
 * process may kill it at any time. Unsent data stays in the spool.
 *
 * The program uses the network only after the first sample is in the recording, which is after the job's start.
 *
 * Exit status: 0 everything is sent; 1 some data is left in the spool; 2 wrong usage.
 */
#pragma once

struct settings;

int follow_main(const struct settings *settings, char **argv);
