/* Writes the last record of a run on a full disk, where earlier ones are. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The last record has the end of the run, with its totals and peaks, and is worth more than the ones right before it. Replaces the last lines of
 * `fd` by it, as many as it needs, because the file has their bytes already. Lines that begin before `floor` stay. The last `torn` bytes are the
 * begin of a record that the disk had no room for. `fd` is open for reading and writing. Returns false if the record is not in the file.
 */
bool write_last_record(int fd, int64_t floor, size_t torn, const char *record, size_t length);
