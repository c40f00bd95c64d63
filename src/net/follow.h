/*
 * `resource-tracker-net follow`: streams a recording while it is written, and for a while after.
 *
 *   follow RECORDING [--from BYTES] [--end-fd FD | --pid PID] [--disposable] [--spool DIR]
 *                    [--upload-deadline SECS] [--root DIR] [--no-warnings]
 *
 * The recorder starts this program before the job, with the read end of a pipe whose write end only the recorder
 * holds (close-on-exec, so that the job does not), and never talks to it again. The recorder writes its
 * samples to the recording, as always; the bytes from --from on are this run's. When the pipe is closed (on purpose
 * or by the recorder's death) no more samples come: the program sends the rest within the deadline and ends. The
 * waiting process may kill it at any time; unsent data stays in the spool.
 *
 * The program uses the network only once the first sample is in the recording, which is after the job has started.
 *
 * Exit status: 0 all is sent; 1 some data is left in the spool; 2 wrong usage.
 */
#pragma once

struct settings;

int follow_main(const struct settings *settings, int argc, char **argv);
