/* /proc/loadavg: averages of how many threads wanted to run, and the number of the newest one. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/root.h"

/* NaN (averages) or -1 (counts) where the text ends early. */
struct proc_loadavg {
	double load_1m;
	double load_5m;
	double load_15m;
	int64_t runnable_count; /* threads that run or wait for a CPU now */
	int64_t thread_count;   /* of the whole machine, even in a container */
	int64_t last_pid;       /* of the newest process or thread in the reader's PID namespace */
};

/* Returns 0, or -EBADMSG when the text does not begin with a number (ret_loadavg is then untouched). */
int parse_proc_loadavg(const char *bytes, size_t length, struct proc_loadavg *ret_loadavg);
int read_proc_loadavg(struct root *root, struct kept_file *file, struct proc_loadavg *ret_loadavg);
