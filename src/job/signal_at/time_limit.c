/* The end of the time that the job may take. See time_limit.h. */
#include "job/signal_at/time_limit.h"

#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/scan.h"
#include "job/signal_at/signal_at_tuning.h"
#include "kernel/proc_pid_stat.h"

/* Whether an option takes the next argument. "-k5" and "--signal=TERM" hold their own. */
static bool takes_next(const char *option)
{
	return strcmp(option, "-k") == 0 || strcmp(option, "-s") == 0 || strcmp(option, "--signal") == 0 ||
	       strcmp(option, "--kill-after") == 0;
}

double timeout_secs(const char *arguments, size_t length)
{
	struct scan rest = scan_bytes(arguments, length), word;
	bool skips = true, options = true;
	double secs = 0;

	while (scan_until(&rest, 0, &word)) {
		if (skips) {
			skips = false;
		} else if (options && *word.at == '-') {
			options = strcmp(word.at, "--") != 0;
			skips = takes_next(word.at);
		} else {
			return parse_duration(word.at, &secs) && secs > 0 && secs < 1e9 ? secs : 0;
		}
	}
	return 0;
}

static void lower_time_limit(struct time_limit *limit, const char *of, int64_t begun_ns, int64_t ends_ns)
{
	if (!limit->of || ends_ns < limit->ends_ns)
		*limit = (struct time_limit){of, begun_ns, ends_ns};
}

static void add_timeout(struct root *root, const struct proc_pid_stat *stat, struct time_limit *limit)
{
	int64_t age_ns = (root_boot_ticks(root) - stat->start_ticks) * (NSEC_PER_SEC / root->clock_ticks);
	ssize_t length = root_read_pid(root, stat->pid, "cmdline");
	double secs = length > 0 ? timeout_secs(root->text.data, (size_t)length) : 0;
	int64_t begun_ns = root_monotonic_ns(root) - age_ns;

	if (secs > 0)
		lower_time_limit(limit, "timeout", begun_ns, begun_ns + (int64_t)(secs * 1e9));
}

/* Returns the seconds since 1970 in a variable of Slurm, 0 for none. */
static int64_t slurm_time(const char *name)
{
	const char *text = getenv(name);
	struct scan scan = scan_bytes(text ? text : "", text ? strlen(text) : 0);
	int64_t secs = 0;

	return scan_i64(&scan, &secs) && secs > 0 && secs < INT64_MAX / NSEC_PER_SEC / 2 ? secs : 0;
}

void time_limit_find(struct root *root, pid_t job, struct time_limit *ret_limit)
{
	int64_t offset_ns = root_monotonic_ns(root) - root_realtime_ns(root);
	int64_t starts = slurm_time("SLURM_JOB_START_TIME"), ends = slurm_time("SLURM_JOB_END_TIME");
	struct proc_pid_stat stat;

	*ret_limit = (struct time_limit){NULL, 0, INT64_MAX};
	if (ends)
		lower_time_limit(ret_limit, "Slurm", starts ? starts * NSEC_PER_SEC + offset_ns : 0,
				 ends * NSEC_PER_SEC + offset_ns);
	for (int i = 0; i < TIMEOUT_DEPTH_MOST && job > 1; i++) {
		if (read_proc_pid_stat(root, job, &stat) < 0)
			break;
		if (strcmp(stat.comm, "timeout") == 0)
			add_timeout(root, &stat, ret_limit);
		job = stat.parent_pid;
	}
}
