/*
 * /proc/PID/statm
 *
 *   765 432 414 5 0 90 0
 */
#include "kernel/proc_pid_statm.h"

#include <errno.h>

#include "base/scan.h"

/* 2^47 bytes in pages of 4 KiB. More is damage. */
#define PAGES_MOST (UINT64_C(1) << 35)

static int64_t scan_pages(struct scan *text)
{
	struct scan word;
	uint64_t value;

	if (!scan_word(text, &word) || !scan_u64(&word, &value) || scan_left(&word) || value > PAGES_MOST)
		return -1;
	return (int64_t)value;
}

int parse_proc_pid_statm(const char *bytes, size_t length, struct proc_pid_statm *ret_statm)
{
	struct scan text = scan_bytes(bytes, length);
	struct proc_pid_statm statm;

	statm.virtual_pages = scan_pages(&text);
	statm.resident_pages = scan_pages(&text);
	statm.shared_pages = scan_pages(&text);
	if (statm.virtual_pages < 0)
		return -EBADMSG;
	*ret_statm = statm;
	return 0;
}

int read_proc_pid_statm(struct root *root, pid_t pid, struct proc_pid_statm *ret_statm)
{
	ssize_t length = root_read_pid(root, pid, "statm");

	return length < 0 ? (int)length : parse_proc_pid_statm(root->text.data, (size_t)length, ret_statm);
}
