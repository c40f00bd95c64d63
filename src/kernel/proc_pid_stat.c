/*
 * /proc/PID/stat
 *
 *   4217 (x) R 1 () S 4200 4217 4200 34816 4217 4194304 102 3021 0 2 7 1 40 12 20 0 1 0 88421 3133440 411 ...
 *
 * The name stands in parentheses and may hold anything, parentheses included: only the last ')' ends it.
 */
#include "kernel/proc_pid_stat.h"

#include <errno.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "base/scan.h"

enum { SAFE_DIGITS = 18 };

/* By column after the name: state is 0 (proc(5) calls it the third field). */
static const struct {
	int column;
	size_t offset;
} FIELDS[] = {
	{6, offsetof(struct proc_pid_stat, flags)},
	{7, offsetof(struct proc_pid_stat, minor_faults)},
	{8, offsetof(struct proc_pid_stat, waited_minor_faults)},
	{9, offsetof(struct proc_pid_stat, major_faults)},
	{10, offsetof(struct proc_pid_stat, waited_major_faults)},
	{11, offsetof(struct proc_pid_stat, utime_ticks)},
	{12, offsetof(struct proc_pid_stat, stime_ticks)},
	{13, offsetof(struct proc_pid_stat, waited_utime_ticks)},
	{14, offsetof(struct proc_pid_stat, waited_stime_ticks)},
	{17, offsetof(struct proc_pid_stat, thread_count)},
	{19, offsetof(struct proc_pid_stat, start_ticks)},
	{20, offsetof(struct proc_pid_stat, virtual_bytes)},
	{21, offsetof(struct proc_pid_stat, resident_pages)},
	{23, offsetof(struct proc_pid_stat, code_start)},
	{25, offsetof(struct proc_pid_stat, stack_start)},
	{29, offsetof(struct proc_pid_stat, blocked_signals)},
	{30, offsetof(struct proc_pid_stat, ignored_signals)},
	{31, offsetof(struct proc_pid_stat, handled_signals)},
};

static bool scan_comm(struct scan *text, struct scan *ret_name)
{
	const char *close = memrchr(text->at, ')', scan_left(text));

	if (!close)
		return false;
	*ret_name = (struct scan){text->at, close};
	text->at = close + 1;
	return true;
}

/*
 * As scan_count() and scan_word(), which read any other word than a number of up to 18 digits. This loop runs for each process
 * that has run, at each sample.
 */
static void scan_numbers(struct scan *text, struct proc_pid_stat *stat)
{
	const char *at = text->at, *end = text->end;
	size_t next = 0;

	for (int column = 2; next < ARRAY_SIZE(FIELDS); column++) {
		bool is_wanted = column == FIELDS[next].column;
		int64_t value = 0;
		const char *start;

		while (at < end && (*at == ' ' || *at == '\t'))
			at++;
		for (start = at; at < end && (unsigned char)(*at - '0') < 10 && at - start < SAFE_DIGITS;
		     at++)
			value = value * 10 + (*at - '0');
		if (at == start || (at < end && *at != ' ')) {
			struct scan rest = {start, end}, word;

			if (is_wanted ? !scan_count(&rest, &value) : !scan_word(&rest, &word))
				return;
			at = rest.at;
		}
		if (is_wanted)
			*(int64_t *)((char *)stat + FIELDS[next++].offset) = value;
	}
}

int parse_proc_pid_stat(const char *bytes, size_t length, struct proc_pid_stat *ret_stat)
{
	struct scan text = scan_bytes(bytes, length), word, name;
	struct proc_pid_stat stat = {.parent_pid = -1};
	uint64_t pid;
	int64_t parent;

	for (size_t i = 0; i < ARRAY_SIZE(FIELDS); i++)
		*(int64_t *)((char *)&stat + FIELDS[i].offset) = -1;
	if (!scan_u64(&text, &pid) || pid > INT32_MAX || !scan_literal(&text, " (") ||
	    !scan_comm(&text, &name) || !scan_word(&text, &word))
		return -EBADMSG;
	stat.pid = (pid_t)pid;
	scan_copy(&name, stat.comm, sizeof stat.comm);
	stat.state = *word.at;
	if (scan_word(&text, &word) && scan_i64(&word, &parent) && parent >= 0 && parent <= INT32_MAX)
		stat.parent_pid = (pid_t)parent;
	scan_numbers(&text, &stat);
	*ret_stat = stat;
	return 0;
}

int read_proc_pid_stat(struct root *root, pid_t pid, struct proc_pid_stat *ret_stat)
{
	ssize_t length = root_read_pid(root, pid, "stat");

	return length < 0 ? (int)length : parse_proc_pid_stat(root->text.data, (size_t)length, ret_stat);
}
