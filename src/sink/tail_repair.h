/*
 * What a writer that was killed, or a machine that lost power, left at the end of a recording: a line without
 * its newline, or NULs where the data never reached the disk. Nothing may be appended to that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum record_text {
	RECORD_JSON_LINES,
	RECORD_CSV,
};

struct tail_repair {
	int64_t cut_bytes; /* removed from the end */
	bool terminated;   /* a newline was added */
};

/*
 * Makes the file end with a newline, or empty. `fd` is a regular file open for reading and writing with
 * O_APPEND that nobody else writes. Memory is constant however long the last line is.
 *
 * NULs at the end are cut. A last line without a newline is cut if it is the beginning of a record; it gets
 * its newline if it is a complete JSON object, if it is no record at all (somebody's text is not ours to
 * destroy), or if the file cannot be shortened (append-only attribute).
 *
 * Returns 0 or a negative errno: -EIO when the file shrank meanwhile, -ENOSPC when there was no room even for
 * the newline.
 */
int repair_tail(int fd, enum record_text text, struct tail_repair *ret_repair);
