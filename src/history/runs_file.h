/*
 * A file of runs: one line for each run (run_line.h), which many recorders append to, on this machine or others.
 *
 * Each line is one write(2) with O_APPEND, which a local file system never mixes with another. NFS needs the lock (flock)
 * that is held during the write as well. A lock that is not released does not stop the writer.
 */
#pragma once

#include "base/buffer.h"
#include "record/problem.h"

/* Returns the name with %h, the host, and %% filled in. NULL without memory. Machines that share a folder then have files of their own. */
char *runs_file_name(const char *template);

/*
 * Appends a line with its newline to the file of this name. A torn line at the end of the file, left by a machine that crashed, gets a newline first,
 * in the same write. The file is created if it is missing. Refuses compressed files, recordings, folders, devices and FIFOs.
 */
int runs_file_append(const char *template, const struct buffer *line, struct rt_problem *ret_problem);
