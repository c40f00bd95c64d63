/*
 * /proc/PID/schedstat
 *
 *   67940794 177186683 223
 */
#include "kernel/proc_pid_schedstat.h"

#include <errno.h>

#include "base/scan.h"

static bool scan_schedstat_number(struct scan *text, int64_t *ret_number)
{
	struct scan word;
	uint64_t value;

	if (!scan_word(text, &word) || !scan_u64(&word, &value) || scan_left(&word) || value > INT64_MAX)
		return false;
	*ret_number = (int64_t)value;
	return true;
}

int parse_proc_pid_schedstat(const char *bytes, size_t length, struct proc_pid_schedstat *ret_schedstat)
{
	struct scan text = scan_bytes(bytes, length);
	struct proc_pid_schedstat found;

	if (!scan_schedstat_number(&text, &found.run_ns) || !scan_schedstat_number(&text, &found.wait_ns) ||
	    !scan_schedstat_number(&text, &found.turns))
		return -EBADMSG;
	if (!found.run_ns && !found.wait_ns && !found.turns)
		return -ENODATA;
	*ret_schedstat = found;
	return 0;
}
