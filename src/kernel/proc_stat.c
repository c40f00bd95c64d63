/*
 * /proc/stat
 *
 *   cpu  3300 0 2338 245146 490 0 51 18 0 0
 *   cpu0 1180 0 746 123774 9 0 10 4 0 0
 *   cpu2 2119 0 1591 121372 481 0 41 13 0 0
 *   intr 190700 0 0 0
 *   ctxt 390768
 *   btime 1795224227
 *   processes 7317
 *   procs_running 2
 */
#include "kernel/proc_stat.h"

#include <errno.h>

#include "base/cleanup.h"
#include "kernel/key_values.h"

static const struct key_field FIELDS[] = {
	KEY_FIELD("ctxt", struct proc_stat, context_switches),
	KEY_FIELD("btime", struct proc_stat, boot_time_secs),
	KEY_FIELD("processes", struct proc_stat, forks),
	KEY_FIELD("procs_running", struct proc_stat, running_count),
	KEY_FIELD("procs_blocked", struct proc_stat, blocked_count),
};

static int64_t next_stat_number(struct scan *line)
{
	int64_t number;

	return scan_count(line, &number) ? number : -1;
}

static struct cpu_ticks scan_ticks(struct scan *line)
{
	struct cpu_ticks ticks;

	ticks.user = next_stat_number(line);
	ticks.nice = next_stat_number(line);
	ticks.system = next_stat_number(line);
	ticks.idle = next_stat_number(line);
	ticks.iowait = next_stat_number(line);
	ticks.irq = next_stat_number(line);
	ticks.softirq = next_stat_number(line);
	ticks.steal = next_stat_number(line);
	ticks.guest = next_stat_number(line);
	ticks.guest_nice = next_stat_number(line);
	return ticks;
}

/* The lines cpu, cpu0, cpu1 ... stand together at the start of the text. */
static bool scan_total(struct scan *text, struct cpu_ticks *ret_ticks)
{
	struct scan probe = *text, line, word;

	if (!scan_line(&probe, &line) || !scan_word(&line, &word) || !scan_is(&word, "cpu"))
		return false;
	*ret_ticks = scan_ticks(&line);
	*text = probe;
	return true;
}

bool proc_stat_next_cpu(struct scan *cpus, int *ret_id, struct cpu_ticks *ret_ticks)
{
	struct scan line;

	while (scan_line(cpus, &line)) {
		uint64_t id;

		if (!scan_literal(&line, "cpu"))
			return false;
		if (!scan_left(&line) || *line.at == ' ' || !scan_u64(&line, &id) || id > INT32_MAX)
			continue;
		*ret_id = (int)id;
		*ret_ticks = scan_ticks(&line);
		return true;
	}
	return false;
}

int parse_proc_stat(const char *bytes, size_t length, struct proc_stat *ret_stat)
{
	struct scan text = scan_bytes(bytes, length), none = {NULL, NULL};
	struct proc_stat stat;
	int known;

	clear_key_values(FIELDS, ARRAY_SIZE(FIELDS), &stat);
	stat.total = scan_ticks(&none);
	known = scan_total(&text, &stat.total);
	stat.cpus = text;
	known += scan_key_values(text, ' ', FIELDS, ARRAY_SIZE(FIELDS), &stat);
	if (!known)
		return -EBADMSG;
	*ret_stat = stat;
	return 0;
}

int read_proc_stat(struct root *root, struct kept_file *file, struct proc_stat *ret_stat)
{
	ssize_t length = root_reread(root, file);

	return length < 0 ? (int)length : parse_proc_stat(root->text.data, (size_t)length, ret_stat);
}
