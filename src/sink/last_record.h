/* Writes the last record of a run on a full disk, where earlier ones of the same job are. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The last sample has the end of the run, with its totals and peaks, and is worth more than the ones right before it. Replaces the last lines of
 * `fd` by it, as many as it needs: their bytes are allocated already. Each must be a later sample of the same process ("tracked_pid"), because
 * the file may have lines of other runs. Returns false if the record is not in the file. `fd` is open for reading and writing, and its last
 * `torn` bytes are the begin of a record that the disk had no room for.
 */
bool write_last_record(int fd, size_t torn, const char *record, size_t length);
