/*
 * Repairs the end of a recording after its writer was killed or the machine lost power: the last line lacks its
 * newline, or ends in NULs where data never reached the disk. Nothing may be appended to such an end.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum line_format {
	LINES_JSON,
	LINES_CSV,
	MEMBERS_JSON, /* each line compressed (format/gzip_member.h) */
	MEMBERS_CSV,
	LINES_OTHER, /* a file that is not a recording, such as a log with our lines among its own */
};

struct tail_repair {
	int64_t cut_bytes; /* removed from the end */
	bool terminated;   /* a newline was added */
};

/*
 * Makes the file end with a newline, or empty. `fd` is a regular file, open for reading and writing with O_APPEND.
 * No other process writes to it. Memory is constant, however long the last line is.
 *
 * NULs at the end are cut. A last line without a newline is cut if it is the beginning of a record. It gets a
 * newline if it is a complete JSON object, if it is not a record at all (other text must not be destroyed), or if
 * the file cannot be truncated (append-only attribute).
 *
 * In a file that is not a recording, a torn line of ours is cut, and nothing else: NULs, rows and objects there may be
 * the last bytes of another program.
 *
 * In a compressed file, what is behind the last whole member of ours is cut. Another program's file stays as it is.
 *
 * Returns 0 or a negative errno: -EIO if the file shrank meanwhile, -ENOSPC if there was no room even for the
 * newline.
 */
int repair_tail(int fd, enum line_format text, struct tail_repair *ret_repair);
