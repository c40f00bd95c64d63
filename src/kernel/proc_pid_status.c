/*
 * /proc/PID/status
 *
 *   Name:   x) R 1 (
 *   Tgid:   4217
 *   PPid:   4200
 *   Uid:    1000    1000    1000    1000
 *   NSpid:  4217    17
 *   VmHWM:      1768 kB
 *   Cpus_allowed_list:      0-3,8
 *
 * Unlike in /proc/PID/stat, a newline in the name is escaped here.
 */
#include "kernel/proc_pid_status.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "kernel/cpu_list.h"
#include "kernel/key_values.h"

/* The kernel writes the switches last. Some processors have lines of their own after them. */
enum { LINES_FROM_END = 16 };

static const struct key_field FIELDS[] = {
	KEY_FIELD("Tgid", struct proc_pid_status, tgid),
	KEY_FIELD("PPid", struct proc_pid_status, parent_pid),
	KEY_FIELD("Uid", struct proc_pid_status, real_uid),
	KEY_FIELD("VmHWM", struct proc_pid_status, peak_rss_kib),
	KEY_FIELD("VmRSS", struct proc_pid_status, rss_kib),
	KEY_FIELD("RssAnon", struct proc_pid_status, rss_anon_kib),
	KEY_FIELD("RssFile", struct proc_pid_status, rss_file_kib),
	KEY_FIELD("RssShmem", struct proc_pid_status, rss_shmem_kib),
	KEY_FIELD("VmSwap", struct proc_pid_status, swap_kib),
	KEY_FIELD("HugetlbPages", struct proc_pid_status, hugetlb_kib),
	KEY_FIELD("Threads", struct proc_pid_status, thread_count),
	KEY_FIELD("voluntary_ctxt_switches", struct proc_pid_status, voluntary_switches),
	KEY_FIELD("nonvoluntary_ctxt_switches", struct proc_pid_status, involuntary_switches),
};

static int scan_namespace_pids(struct scan *line, struct proc_pid_status *status)
{
	uint64_t pid;

	status->namespace_pid_count = 0;
	while (status->namespace_pid_count < NAMESPACE_PIDS_MAX && scan_u64(line, &pid) && pid <= INT32_MAX)
		status->namespace_pids[status->namespace_pid_count++] = (pid_t)pid;
	return status->namespace_pid_count > 0;
}

/* Parses lines that have more than one decimal number. Returns how many were known (0 or 1). */
static int scan_special(const struct scan *key, struct scan *line, struct proc_pid_status *status)
{
	uint64_t value;

	if (scan_is(key, "NSpid"))
		return scan_namespace_pids(line, status);
	if (scan_is(key, "Uid")) {
		if (!scan_u64(line, &value) || !scan_u64(line, &value) || value > INT64_MAX)
			return 0;
		status->effective_uid = (int64_t)value;
		return 1;
	}
	if (scan_is(key, "Cpus_allowed_list"))
		return parse_cpu_list(line->at, scan_left(line), &status->allowed_cpu_count) == 0;
	return 0;
}

/* Removes the last line from a text. Returns false if there is none. */
static bool take_last_line(struct scan *text, struct scan *ret_line)
{
	const char *newline = scan_left(text) > 1 ? memrchr(text->at, '\n', scan_left(text) - 1) : NULL;

	*ret_line = (struct scan){newline ? newline + 1 : text->at, text->end};
	text->end = ret_line->at;
	return scan_left(ret_line) > 0;
}

int parse_proc_pid_status_switches(const char *bytes, size_t length, int64_t *ret_voluntary,
				   int64_t *ret_involuntary)
{
	struct scan text = scan_bytes(bytes, length), line;
	int64_t voluntary, involuntary = -1;

	for (int i = 0; i < LINES_FROM_END && take_last_line(&text, &line); i++) {
		if (scan_literal(&line, "nonvoluntary_ctxt_switches:"))
			(void)scan_count(&line, &involuntary);
		if (!scan_literal(&line, "voluntary_ctxt_switches:"))
			continue;
		if (involuntary < 0 || !scan_count(&line, &voluntary) || voluntary < 0)
			break;
		*ret_voluntary = voluntary;
		*ret_involuntary = involuntary;
		return 0;
	}
	return -EBADMSG;
}

int parse_proc_pid_status(const char *bytes, size_t length, struct proc_pid_status *ret_status)
{
	struct scan text = scan_bytes(bytes, length), line, key;
	struct proc_pid_status status = {.effective_uid = -1, .allowed_cpu_count = -1};
	int known;

	clear_key_values(FIELDS, ARRAY_SIZE(FIELDS), &status);
	known = scan_key_values(text, ':', FIELDS, ARRAY_SIZE(FIELDS), &status);
	limit_key_values(FIELDS, ARRAY_SIZE(FIELDS), &status, KIB_MOST);
	while (scan_line(&text, &line))
		if (scan_until(&line, ':', &key))
			known += scan_special(&key, &line, &status);
	if (!known)
		return -EBADMSG;
	*ret_status = status;
	return 0;
}

int read_proc_pid_status(struct root *root, pid_t pid, struct proc_pid_status *ret_status)
{
	ssize_t length = root_read_pid(root, pid, "status");

	return length < 0 ? (int)length : parse_proc_pid_status(root->text.data, (size_t)length, ret_status);
}
