/*
 * /proc/pressure/memory
 *
 *   some avg10=0.00 avg60=1.27 avg300=0.34 total=4026532
 *   full avg10=0.00 avg60=0.91 avg300=0.25 total=3019899
 */
#include "kernel/proc_pressure.h"

#include <errno.h>
#include <string.h>

#include "base/scan.h"

/* Returns -1 if the line does not begin with `word`, or has no total. The averages before it are of other windows than ours. */
static int64_t stalled_usec(struct scan line, const char *word)
{
	struct scan before;
	uint64_t usec;

	if (!scan_literal(&line, word))
		return -1;
	/* A blank stands in front of each key. That of the first one ends the word. */
	while (scan_until(&line, '=', &before))
		if (scan_left(&before) >= 5 && memcmp(before.end - 6, " total", 6) == 0)
			return scan_u64(&line, &usec) && usec <= INT64_MAX ? (int64_t)usec : -1;
	return -1;
}

int parse_proc_pressure(const char *bytes, size_t length, struct proc_pressure *ret_pressure)
{
	struct scan text = scan_bytes(bytes, length), line;
	struct proc_pressure pressure = {-1, -1};

	while (scan_line(&text, &line)) {
		int64_t some = stalled_usec(line, "some "), full = stalled_usec(line, "full ");

		if (some >= 0)
			pressure.some_usec = some;
		if (full >= 0)
			pressure.full_usec = full;
	}
	if (pressure.some_usec < 0 && pressure.full_usec < 0)
		return -EBADMSG;
	*ret_pressure = pressure;
	return 0;
}

int read_proc_pressure(struct root *root, struct kept_file *file, struct proc_pressure *ret_pressure)
{
	ssize_t length = root_reread(root, file);

	return length < 0 ? (int)length : parse_proc_pressure(root->text.data, (size_t)length, ret_pressure);
}

int read_cgroup_pressure(struct root *root, int dir_fd, const char *file, struct proc_pressure *ret_pressure)
{
	ssize_t length = root_read_at(root, dir_fd, file);

	return length < 0 ? (int)length : parse_proc_pressure(root->text.data, (size_t)length, ret_pressure);
}
