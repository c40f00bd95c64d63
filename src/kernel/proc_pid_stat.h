/* /proc/PID/stat: identity, state, CPU ticks and page faults of one process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/root.h"

/*
 * Numbers are -1 if the line lacks them. "waited" fields belong to children that have exited and were waited
 * for, and to theirs. Ticks are root->clock_ticks per second, pages root->page_bytes.
 */
struct proc_pid_stat {
	pid_t pid;
	pid_t parent_pid; /* 0: none that is visible in this PID namespace */
	char comm[64];    /* raw bytes except NUL: newlines, blanks and parentheses occur */
	char state;    /* R S D T t Z X I ...; Z also for a main thread that has exited before the others */
	int64_t flags; /* PF_* of the kernel; see proc_pid_stat_is_exiting() */
	int64_t minor_faults;
	int64_t waited_minor_faults;
	int64_t major_faults;
	int64_t waited_major_faults;
	int64_t utime_ticks;
	int64_t stime_ticks;
	int64_t waited_utime_ticks;
	int64_t waited_stime_ticks;
	int64_t thread_count;
	int64_t start_ticks; /* since boot: with the pid the identity of a process */
	int64_t virtual_bytes;
	int64_t resident_pages;
	/*
	 * Where the program's code and its first stack begin. A fork keeps both. Exec chooses new ones. 0, 1:
	 * hidden.
	 */
	int64_t code_start;
	int64_t stack_start;
	/* Bit n-1 is signal n, for the first 31. Blocked ones are those of the first thread. */
	int64_t blocked_signals;
	int64_t ignored_signals;
	int64_t handled_signals;
};

/* Whether it has begun to exit: from then on its files have less and less (PF_EXITING, or it is a zombie). */
static inline bool proc_pid_stat_is_exiting(const struct proc_pid_stat *stat)
{
	return stat->state == 'Z' || stat->state == 'X' || (stat->flags >= 0 && (stat->flags & 4));
}

/* Whether it was forked and has not called exec since (PF_FORKNOEXEC). */
static inline bool proc_pid_stat_is_fork(const struct proc_pid_stat *stat)
{
	return stat->flags >= 0 && stat->flags & 0x40;
}

/*
 * Whether a killed process is stuck in a driver: it sleeps where no signal reaches it, and has not begun to exit. A process that
 * exits sleeps like that as well, while another process holds a lock of a file that both have mapped.
 */
static inline bool proc_pid_stat_is_stuck(const struct proc_pid_stat *stat)
{
	return stat->state == 'D' && !proc_pid_stat_is_exiting(stat);
}

/* Returns 0, or -EBADMSG without a pid, a name in parentheses and a state (ret_stat is then untouched). */
int parse_proc_pid_stat(const char *bytes, size_t length, struct proc_pid_stat *ret_stat);
int read_proc_pid_stat(struct root *root, pid_t pid, struct proc_pid_stat *ret_stat);
