/*
 * /proc/loadavg
 *
 *   0.52 0.58 0.59 2/813 11206
 */
#include "kernel/proc_loadavg.h"

#include <errno.h>
#include <math.h>

#include "base/scan.h"

static double scan_load_average(struct scan *text)
{
	struct scan word;
	double value;

	return scan_word(text, &word) && scan_real(&word, &value) && !scan_left(&word) ? value : NAN;
}

int parse_proc_loadavg(const char *bytes, size_t length, struct proc_loadavg *ret_loadavg)
{
	struct scan text = scan_bytes(bytes, length), word;
	struct proc_loadavg loadavg = {.runnable_count = -1, .thread_count = -1, .last_pid = -1};
	uint64_t runnable, threads, last;

	loadavg.load_1m = scan_load_average(&text);
	loadavg.load_5m = scan_load_average(&text);
	loadavg.load_15m = scan_load_average(&text);
	if (isnan(loadavg.load_1m))
		return -EBADMSG;
	if (scan_word(&text, &word) && scan_u64(&word, &runnable) && scan_literal(&word, "/") &&
	    scan_u64(&word, &threads) && runnable <= INT64_MAX && threads <= INT64_MAX) {
		loadavg.runnable_count = (int64_t)runnable;
		loadavg.thread_count = (int64_t)threads;
	}
	if (scan_word(&text, &word) && scan_u64(&word, &last) && !scan_left(&word) && last <= INT32_MAX)
		loadavg.last_pid = (int64_t)last;
	*ret_loadavg = loadavg;
	return 0;
}

int read_proc_loadavg(struct root *root, struct kept_file *file, struct proc_loadavg *ret_loadavg)
{
	ssize_t length = root_reread(root, file);

	return length < 0 ? (int)length : parse_proc_loadavg(root->text.data, (size_t)length, ret_loadavg);
}
