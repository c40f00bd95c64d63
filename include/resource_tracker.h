/*
 * resource_tracker.h: record what a process tree and its machine use. Linux; links libc only.
 *
 * Results: functions that can fail return 0 (or a count) on success and a negative errno on failure;
 * results that come through ret_ arguments are untouched then. Nothing is printed, no signal handler is
 * set, nothing global is kept.
 *
 * Ownership: an object that a call returns belongs to the caller, who frees it with the call named there;
 * freeing NULL is allowed. Text that a call returns belongs to the object it was asked of and stays as it is until that
 * object is freed; text of the catalogue (names, units, help) is constant. rt_config_message() alone changes: its text
 * lasts until the next call with that rt_config.
 *
 * Threads: different trackers are independent. One tracker may be used by several threads: every call on it takes its
 * lock. One thread closes it, when no other uses it any more. An rt_config belongs to one thread at a time. Values of
 * several rt_get() calls may come from different samples while a thread samples; rt_sample_json() reads one.
 * fork: a tracker belongs to the process that opened it. In a forked child it is inert: calls return -ECHILD (RT_STOPPED,
 * true, INT64_MAX, nothing, as the call can) and touch nothing; rt_close() lets go of its files and leaves the memory.
 *
 * Units stand in names: _secs, _ms, _bytes, _mib (2^20 bytes), _gb (10^9 bytes), _pct (percent), _cores. Two names are
 * older than that: cpu.utilization_pct and cpu.cgroup_utilization_pct are cores in use. rt_metric_get_info() knows.
 * Every value is read with an explicit "present"; an absent one has a reason.
 */
#ifndef RESOURCE_TRACKER_H
#define RESOURCE_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RT_API __attribute__((visibility("default")))

/* Version of this header, for #if: major x 10000 + minor x 100 + patch. docs/INTERFACE.md says how long interfaces hold. */
#define RT_VERSION_NUMBER 100

/* Version of the library that the program runs with: "0.1.0". */
RT_API const char *rt_version(void);

/* ---- settings -------------------------------------------------------------------------------------- */

/*
 * Settings by name, as text: the names are the long options of the command without the leading dashes
 * ("interval", "job-name", "csv-layout", ...); underscores are taken as dashes. Numbers are decimal;
 * booleans are 1/0, true/false, yes/no, on/off. rt_config_name() lists them.
 */
typedef struct rt_config rt_config;

RT_API int rt_config_new(rt_config **ret_config);
RT_API void rt_config_free(rt_config *config);

/*
 * -ENOENT: no such setting; -EINVAL: not a value it can have. Settings that may be given more than once
 * (output, tag, metrics) add; the others replace. rt_config_message() is then one line that names what was wrong
 * and what to do.
 */
RT_API int rt_config_set(rt_config *config, const char *name, const char *value);
RT_API const char *rt_config_message(const rt_config *config);

/*
 * What is being run, for the record: its name and the number of its arguments, and all of it if the
 * setting "record-command" is on. Copied; NULL takes it back. -EINVAL: an empty list.
 */
RT_API int rt_config_set_command(rt_config *config, char *const argv[]);
/*
 * The calling process does nothing but record: all that it has used since its start is the tracker's cost
 * (tracker.cpu_secs), not only what it uses from rt_open() on.
 */
RT_API void rt_config_set_own_process(rt_config *config, bool own);

/*
 * A variable for the programs that a tracker starts, beside the environment of this process (which it leaves alone):
 * SENTINEL_API_TOKEN, SENTINEL_API_URL, TRACKER_UPLOAD_INTERVAL, ... Copied; NULL takes it back. -EINVAL: no name.
 */
RT_API int rt_config_set_variable(rt_config *config, const char *name, const char *value);

/* The names of all settings, by index from 0; NULL past the last one. */
RT_API const char *rt_config_name(size_t index);

/* ---- a tracker ------------------------------------------------------------------------------------- */

typedef struct rt_tracker rt_tracker;

/*
 * Opens the outputs, reads the machine once (the baseline that the first sample's rates start from) and
 * finds the process to track when the setting "pid" is given. The settings are copied.
 * The pid may be the caller's own: what the samples then say of the process is without the tracker's part in it, that
 * is the CPU time, page faults and I/O of taking samples and the thread of rt_start(). Its memory (about 1 MiB, and the
 * history) is not taken out, nor is what another tracker in the same process costs. Errors:
 * -EBUSY an output is locked by a live recording, -ESRCH no such process, -EINVAL settings that
 * contradict each other, other negative errnos of open(2). rt_config_message() then is the line to show.
 * `config` may be NULL: no setting is changed from its default, so the machine is recorded once a second, to no file.
 */
RT_API int rt_open(rt_config *config, rt_tracker **ret_tracker);

/*
 * The names of the files that are written, with %h %p %t %r filled in, by index from 0; NULL past the last.
 * Streams ("-", /dev/stderr) are not among them. They live as long as the tracker.
 */
RT_API const char *rt_output_path(rt_tracker *tracker, size_t index);

/*
 * Tracks a process tree from now on: what a wrapper does with the child it has just started.
 * `started_by_caller`: the caller is its parent and the subreaper of its tree, so that the caller's own
 * list of children is read as well and rt_add_exited() will tell what it reaped.
 */
RT_API int rt_track(rt_tracker *tracker, pid_t pid, bool started_by_caller);
/* The same for a child that was started in the folder of rt_job_cgroup(). -EINVAL: there is none. */
RT_API int rt_track_in_cgroup(rt_tracker *tracker, pid_t pid);
/*
 * When the job began (CLOCK_MONOTONIC), as read right before fork(2): to be called after rt_track(). Without it the wall
 * time counts from rt_track(), by when a job of a millisecond may have used CPU time.
 */
RT_API void rt_set_job_start(rt_tracker *tracker, int64_t monotonic_ns);

/*
 * A folder of the unified cgroup hierarchy that was made for the job alone (setting "cgroup"), for starting it
 * there: clone3(2) with CLONE_INTO_CGROUP. Its counters then make the figures of the tree exact also where
 * processes ignore SIGCHLD. The descriptor stays the tracker's. -EOPNOTSUPP, -EBUSY, -EACCES, -EROFS: there
 * is none, which costs nothing but that. See rt_track_in_cgroup().
 */
RT_API int rt_job_cgroup(rt_tracker *tracker);

/*
 * A child of the caller that has become a zombie is about to be reaped (before), and has been reaped
 * (after), with the numbers of wait4(2). The sum of these is the truth that all samples of a wrapped run add up to.
 * `status` is the wait status: that of the tracked process is how the run ended where rt_stop(), rt_close() or
 * rt_finish(RT_END_TRACKER_STOPPED, 0) end the recording.
 */
RT_API void rt_before_reap(rt_tracker *tracker, pid_t pid);
RT_API void rt_add_exited(rt_tracker *tracker, pid_t pid, int status, const struct rusage *usage);

/*
 * A child of the caller that is not the job's and that the caller has started after rt_track(). Children from before
 * rt_open() need no call.
 */
RT_API void rt_exclude(rt_tracker *tracker, pid_t pid);

/* A signal was passed on to the job; recorded in the last sample. */
RT_API void rt_add_signal(rt_tracker *tracker, int signo, int64_t monotonic_ns);

/* Why there will be no more samples; recorded in the last one. */
enum rt_end_reason {
	RT_END_EXIT = 1,        /* the job exited; `status` is a wait status */
	RT_END_SIGNAL,          /* the job died of a signal; `status` is a wait status */
	RT_END_EXEC_FAILED,     /* the job could not be started; `status` is the errno */
	RT_END_TARGET_EXITED,   /* an attached process has gone */
	RT_END_TRACKER_STOPPED, /* the tracker was asked to stop; `status` is the signal that did, or 0 */
	RT_END_DURATION,        /* the asked-for duration is over */
};

/* One sample now. 0, -ESHUTDOWN after the last one, -EBUSY while a background thread samples. */
RT_API int rt_sample(rt_tracker *tracker);

/*
 * The last sample, with the end record; descendants still running are counted then. Once only: -ESHUTDOWN afterwards;
 * -EBUSY while a background thread samples (rt_stop_with()), -EINVAL no such reason. A pipe that is full has a second
 * for its reader, unless a job was started by the caller (rt_track()).
 */
RT_API int rt_finish(rt_tracker *tracker, enum rt_end_reason reason, int status);

/*
 * The sampling grid: the absolute CLOCK_MONOTONIC time at which the next sample is due; INT64_MAX if none
 * is. rt_sample_due() takes a sample if its time has come (1) or returns 0; ticks that were missed are
 * counted, never caught up. -EBUSY while a background thread samples.
 */
RT_API int64_t rt_next_sample_ns(rt_tracker *tracker);
RT_API int rt_sample_due(rt_tracker *tracker);

/*
 * True when there is nothing left to do: the duration is over, the target has gone, all outputs are gone, or it was
 * finished or stopped (*ret_reason is then what was given as the reason).
 */
RT_API bool rt_over(rt_tracker *tracker, enum rt_end_reason *ret_reason);

/* Frees everything; an unfinished recording is finished (RT_END_TRACKER_STOPPED) first. NULL is allowed. */
RT_API void rt_close(rt_tracker *tracker);

/* ---- streaming ------------------------------------------------------------------------------------- */

/*
 * With the setting "stream" at "auto" (it is "off") and a token in SENTINEL_API_TOKEN, rt_open() starts a program
 * that follows the recording on disk and sends it: docs/STREAMING.md. It is no child of this process. What it has to
 * say comes by rt_next_warning(); nothing that it meets changes a sample. Without it no socket is ever opened.
 *
 * rt_close() tells it that the recording is over and does not wait: it goes on by itself, for the setting
 * "upload-deadline" at most, and what is left then stays in the spool ("resource-tracker upload").
 *
 * rt_wait_for_upload() is for those who want to know. After rt_finish() or rt_stop() it waits, for so many seconds at
 * most: 0 all is sent; -ETIMEDOUT not yet, and it may be asked again; -EIO something is left in the spool; -ENOTCONN
 * nothing is streamed (a warning has said why, if it was to be); -EBUSY before the end.
 */
RT_API int rt_wait_for_upload(rt_tracker *tracker, double timeout_secs);
/*
 * The server's answer to the end of the run (its statistics), once rt_wait_for_upload() has returned 0: a JSON object
 * in one line, malloc'd, the caller frees it. -ENODATA: it answered with none, or not yet.
 */
RT_API int rt_upload_answer(rt_tracker *tracker, char **ret_json);

/* ---- sampling in the background -------------------------------------------------------------------- */

enum rt_state {
	RT_READY,   /* opened; nothing samples in the background */
	RT_RUNNING, /* a thread samples at the interval */
	RT_STOPPED, /* stopped or finished; cannot be started again */
};

/*
 * One thread with all signals blocked. tracker.cpu_secs is from then on what this thread costs, and tracker.rss_mib is
 * absent: the memory is the program's. -EALREADY when running, -ESHUTDOWN when stopped, -EAGAIN: no thread.
 */
RT_API int rt_start(rt_tracker *tracker);
/* Takes the last sample and joins the thread. -ENOTCONN when never started, -EALREADY when stopped. */
RT_API int rt_stop(rt_tracker *tracker);
/* The same with the reason and status of rt_finish(): what a program knows of its own end, for the record and the server. */
RT_API int rt_stop_with(rt_tracker *tracker, enum rt_end_reason reason, int status);
RT_API enum rt_state rt_get_state(rt_tracker *tracker);
RT_API int64_t rt_sample_count(rt_tracker *tracker);
/* Waits until there are n samples: 0, -ETIMEDOUT, -ESHUTDOWN if there never will be. timeout_secs < 0: no limit. */
RT_API int rt_wait_for_samples(rt_tracker *tracker, int64_t n, double timeout_secs);

/* ---- reading values -------------------------------------------------------------------------------- */

/* The number of a metric in this build; 0 is none. Names are stable, numbers are not. */
typedef uint32_t rt_metric;

enum rt_type { RT_REAL = 1, RT_COUNT, RT_TEXT, RT_FLAG };

struct rt_value {
	enum rt_type type;
	bool present;
	int reason; /* when absent: for rt_reason() */
	union {
		double real;
		int64_t count; /* also RT_FLAG: 0 or 1 */
		const char *text;
	};
};

/* "cpu.process_cores_used", "memory.used_mib", "disk.read_bytes_per_sec", "disk.mounts.used_pct"; 0: unknown. */
RT_API rt_metric rt_metric_find(const char *name);

struct rt_metric_info {
	char name[128];     /* full, with dots */
	char group[64];     /* of which rows: "cpu", "disk", "disk.mounts", ...; "" at the top */
	const char *key;    /* the last part of the name */
	const char *unit;   /* "s", "MiB", "bytes", "cores", "%", ... or "" */
	const char *kind;   /* counter, gauge, delta, rate, identity */
	const char *source; /* where the numbers of the group come from */
	const char *cost;   /* what recording the group takes at each sample, in system calls */
	const char *help;
	enum rt_type type;
	int decimals; /* of RT_REAL */
	bool many;    /* one value for each instance */
};
RT_API int rt_metric_get_info(rt_metric metric, struct rt_metric_info *ret_info);
/* All metrics in the order of output: start with 0; returns 0 after the last. */
RT_API rt_metric rt_metric_next(rt_metric metric);

/*
 * A value of the newest sample. `instance` counts from 0 in groups with several rows (cores, disks, mounts,
 * interfaces, GPUs) and is 0 elsewhere. -ENOENT: no such metric or instance; -ENODATA: no sample yet. A text stays until
 * rt_close(): the tracker keeps one copy of each different text that it was asked for.
 */
RT_API int rt_get(rt_tracker *tracker, rt_metric metric, size_t instance, struct rt_value *ret_value);
RT_API size_t rt_instance_count(rt_tracker *tracker, rt_metric metric);
/* One line that says why a value is absent ("permission denied", "no process is tracked", ...). */
RT_API const char *rt_reason(int reason);
/* The newest sample as one JSON line without newline; malloc'd, the caller frees it. */
RT_API int rt_sample_json(rt_tracker *tracker, char **ret_json);
/* "name: reason" of every value that is absent in the newest sample, a line each; malloc'd, the caller frees it. */
RT_API int rt_explain_absent(rt_tracker *tracker, char **ret_text);
/* The oldest warning not yet taken (a full disk, dropped samples), copied; -ENOENT when there is none. */
RT_API int rt_next_warning(rt_tracker *tracker, char *ret_text, size_t size);

/* ---- all samples so far, by column ------------------------------------------------------------------ */

/*
 * Keeps the newest `samples` samples in memory, by column, for rt_history_read(): 0 none (the default), INT64_MAX
 * all of them. `metrics`: names and globs of what is kept, as in the setting "metrics"; NULL: what the CSV layouts
 * have, about 40 columns. Of what a sample has several, one is named as the analysis names it, by its key or (also where a
 * key has blanks or commas) by its position: "gpu[0].utilization_pct", "disk[sda].read_bytes_per_sec",
 * "cpu.per_core_pct[3]", or all together: "network[sum].rx_bytes_per_sec" ([mean], [max]). It is absent in samples that
 * have no such row. Only numbers are kept, no texts; time stamps and numbers of samples always. Copied.
 * -EINVAL: fewer than 0; a name that matches no metric is -EINVAL of rt_open().
 *
 * Memory: at first 2 KiB for each column; then, for each sample and column, at most 8 bytes and usually less than
 * one, because samples are packed in pages of 256: a column that does not change takes nearly nothing. The 86,400
 * samples of a day took 1.6 to 2.0 MiB, 19 to 25 bytes each, on a machine with two cores and one disk (`bench/run build
 * history`). Without memory the oldest samples are given up, never the newest.
 */
RT_API int rt_config_set_history(rt_config *config, int64_t samples, const char *metrics);

/*
 * How many samples are kept by now, the number of the oldest (the first sample of all is 0) and the bytes that
 * all of them take; ret_ arguments may be NULL. -ENODATA: no history is kept.
 */
RT_API int64_t rt_history_count(rt_tracker *tracker, int64_t *ret_first, size_t *ret_bytes);

/*
 * Values of one column, from sample `first` on, also while another thread samples: returns how many, which is less
 * than `count` at the end. NaN is absent. Numbers of samples stay: what was read once need not be read again.
 *
 * `layout` NULL: `column` is a metric ("cpu.process_cores_used", "gpu[0].power_watts" as it was asked for); values are as in the JSON record, MiB exact to the
 * KiB. Otherwise it is a heading of that CSV layout ("system-0.4", "memory_used") and values are as in its cells:
 * scaled, and rounded to as many decimals.
 * -ENODATA: no history is kept; -ENOENT: no such column, or it is not kept; -ERANGE: `first` was given up.
 */
RT_API ssize_t rt_history_read(rt_tracker *tracker, const char *layout, const char *column, int64_t first,
			       size_t count, double *ret_values);

/* The CSV layouts ("combined", "system", "process", "system-0.4", ...), by index from 0; NULL past the last one. */
RT_API const char *rt_csv_layout_name(size_t layout);
/* The headings of a CSV layout, by index from 0; NULL past the last one, or if there is no such layout. */
RT_API const char *rt_csv_heading(const char *layout, size_t column);

/* ---- a tracker in a process of its own -------------------------------------------------------------- */

/*
 * The same without a thread in the caller: resource-tracker-helper samples, writes the outputs and keeps the history.
 * For programs that must not be held up for a moment, or whose recording shall get its end however they die: when the
 * caller has gone, the recording is finished. The other process is in a session of its own and nobody's child (its pid
 * is rt_remote_pid(), the caller's wait() never meets it); it is not counted as a part of the tree. It costs 2 MiB
 * there and 1 to 2 ms to start.
 */
typedef struct rt_remote rt_remote;

/*
 * Starts it with these settings (NULL: the defaults) and samples from now on; returns when the outputs are open and the baseline is taken.
 * Relative names of files are the caller's. Errors of rt_open(), of which rt_config_message() tells; -ENOENT: the
 * helper is not installed; -EINVAL: an output is a stream of the caller.
 */
RT_API int rt_remote_start(rt_config *config, rt_remote **ret_remote);
RT_API pid_t rt_remote_pid(const rt_remote *remote);
/*
 * As rt_sample_count(), rt_history_count(), rt_history_read(), rt_sample_json() and rt_next_warning(). -EPIPE: the other
 * process has gone; -ETIMEDOUT: no answer in 20 s; -ECHILD: in a forked child.
 */
RT_API int64_t rt_remote_sample_count(rt_remote *remote);
RT_API int64_t rt_remote_history_count(rt_remote *remote, int64_t *ret_first, size_t *ret_bytes);
RT_API ssize_t rt_remote_history_read(rt_remote *remote, const char *layout, const char *column,
				      int64_t first, size_t count, double *ret_values);
RT_API int rt_remote_sample_json(rt_remote *remote, char **ret_json);
RT_API int rt_remote_next_warning(rt_remote *remote, char *ret_text, size_t size);
/* Takes the last sample; what is kept can still be read. -EALREADY when stopped, or over by itself. */
RT_API int rt_remote_stop(rt_remote *remote);
/* Ends the other process, the recording finished first; frees. NULL is allowed. */
RT_API void rt_remote_close(rt_remote *remote);

/* ---- one-shot readers ------------------------------------------------------------------------------ */

/*
 * Of this moment, from any thread; nothing is kept between calls. -ESRCH: no such process; -EACCES: it may not be read.
 * All of /proc that they name is the live system's.
 */
/* Live descendants of a process, itself not counted; malloc'd, the caller frees *ret_pids. Returns their count. */
RT_API ssize_t rt_process_descendants(pid_t pid, pid_t **ret_pids);
/* Bytes; RSS from /proc/PID/statm, PSS from /proc/PID/smaps_rollup. -ESRCH, -EACCES. */
RT_API int rt_process_rss(pid_t pid, int64_t *ret_bytes);
RT_API int rt_process_pss(pid_t pid, int64_t *ret_bytes);
/* Seconds of user and system time (/proc/PID/stat); with_waited adds those of waited-for children. */
RT_API int rt_process_times(pid_t pid, bool with_waited, double *ret_user_secs, double *ret_system_secs);
/* Bytes that went to and from storage (/proc/PID/io read_bytes, write_bytes). */
RT_API int rt_process_io(pid_t pid, int64_t *ret_read_bytes, int64_t *ret_written_bytes);

/*
 * What get_process_stats() of the Python package answers; -1 or NaN where unknown. Times are of process CPU clocks and
 * /proc/PID/stat, memory of statm and smaps_rollup, bytes to and from storage of /proc/PID/io. GPUs: rt_sample().
 */
struct rt_process {
	double realtime_secs;
	pid_t pid;
	int64_t child_count;
	double user_secs, system_secs; /* with waited-for children */
	int64_t rss_bytes, pss_bytes;
	int64_t read_bytes, written_bytes;
};
/* `children`: the sums over the live tree; else the process alone. */
RT_API int rt_process_read(pid_t pid, bool children, struct rt_process *ret_process);

/*
 * The machine since it was started and now: /proc/stat, meminfo, diskstats, mountinfo and statvfs(3), net/dev; -1 or NaN
 * where unknown. Disks, filesystems, interfaces and GPUs one by one: rt_sample() and rt_get().
 */
struct rt_system {
	double realtime_secs;
	int64_t process_count;
	double user_secs, system_secs; /* user + nice; system; all cores, since boot */
	int64_t memory_total_bytes, memory_free_bytes, memory_available_bytes, memory_used_bytes;
	int64_t memory_buffers_bytes, memory_cached_bytes, memory_active_bytes, memory_inactive_bytes;
	int64_t disk_read_bytes, disk_write_bytes; /* since boot; leaf physical devices */
	int64_t disk_space_total_bytes, disk_space_used_bytes, disk_space_free_bytes;
	int64_t network_received_bytes, network_sent_bytes; /* since boot; counted interfaces */
};
/* -ENOMEM, or why /proc cannot be read. */
RT_API int rt_system_read(struct rt_system *ret_system);

/* Whether a block device is a partition, answered from sysfs: 1, 0, or -ENOENT when there is no such device. */
RT_API int rt_disk_is_partition(const char *device);

/* ---- what machine this is -------------------------------------------------------------------------- */

enum rt_discovery {
	RT_DISCOVER_HOST = 1,  /* "host": host_id, host_hostname, host_ip, host_vcpus, host_memory_mib, ... */
	RT_DISCOVER_CLOUD = 2, /* "cloud": cloud_vendor_id, cloud_region_id, cloud_instance_type, ... */
	RT_DISCOVER_PYTHON =
		4, /* instead "server_info" and "cloud_info", as the Python package's functions answer */
};

/*
 * Asks the machine and, with RT_DISCOVER_CLOUD alone, the metadata services of clouds (in at most 3 s), by the program
 * resource-tracker-net: the same JSON object as `resource-tracker discover` prints, in one line without newline;
 * malloc'd, the caller frees it. What is unknown is null. -ENOENT: the program is not installed; -ETIMEDOUT: no
 * answer in time (timeout_secs <= 0: 10 s); -EIO: none at all; -EINVAL: neither host nor cloud.
 */
RT_API int rt_discover(unsigned int what, double timeout_secs, char **ret_json);

/* ---- marking phases -------------------------------------------------------------------------------- */

/*
 * Phases of a job, marked by the job itself in the file that the tracker around it named in the environment
 * (RESOURCE_TRACKER_MARKS), or in `path`. -ENOENT: there is no recording; marks with NULL then do nothing, so that
 * a program need not care:
 *
 *	rt_marks *marks = NULL;
 *	rt_marks_open(NULL, &marks);
 *	int64_t load = rt_mark_start(marks, "load");
 *	...
 *	rt_mark_stop(marks, "load", load);
 *
 * All threads may use the same object at once, and a child that was forked may use its parent's; a mark is one
 * write(2) of one line. A mark that could not be written is a negative errno.
 */
typedef struct rt_marks rt_marks;
RT_API int rt_marks_open(const char *path, rt_marks **ret_marks);
RT_API void rt_marks_close(rt_marks *marks);
/* The number of the phase, for its stop; 0 with NULL. */
RT_API int64_t rt_mark_start(rt_marks *marks, const char *name);
RT_API int rt_mark_stop(rt_marks *marks, const char *name, int64_t number);

#ifdef __cplusplus
}
#endif

#endif
