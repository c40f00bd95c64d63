/*
 * resource_tracker.h: records what a process tree and its machine use. Linux; links libc only.
 *
 * Results: a function that can fail returns 0 (or a count) on success and a negative errno on failure. It
 * writes results through ret_ arguments, and leaves those untouched on failure. rt_error_text() says in one line what an errno
 * means for a call, and rt_config_message() which setting, file or process was wrong. The library sets no
 * signal handler, keeps no global state, and prints nothing unless TRACKER_DEBUG=1 is in the environment.
 *
 * Structs that may grow begin with their size, which the caller sets: struct rt_process process = {.size = sizeof
 * process}. The library writes no further, and returns -EINVAL if the size was not set.
 *
 * Ownership: the caller owns an object that a call returns, and frees it with the call named there. Texts and lists that come
 * through `char **` or `pid_t **` are freed with rt_free(). Freeing NULL is allowed. Other text that a call returns belongs to
 * the object that was asked, and stays unchanged until that object is freed. Text of the catalogue (names, units, help) is constant. Only the text of
 * rt_config_message() changes: it lasts until the next call with the same rt_config.
 *
 * Threads:
 * - Any thread, at any time: one-shot readers, rt_metric_*(), rt_reason(), rt_error_text(), rt_config_name(), rt_csv_*(),
 *   rt_discover(), the marks of a job (rt_mark_start(), rt_mark_stop()), and the calls that read one snapshot.
 * - An rt_config: one thread at a time.
 * - An rt_tracker: several threads may call at once; each call takes the object's lock, so it
 *   may wait while a sample is taken. While one thread closes the object, no other may use it. Different
 *   objects are independent.
 * - While a thread samples (rt_start()), values of several rt_get() calls may come from different samples.
 *   A snapshot (rt_snapshot_take()) has those of a single one. rt_sample(), rt_sample_due() and rt_finish() return
 *   -EBUSY.
 * - No thread may call setenv(3) during rt_open(), rt_discover() or rt_marks_open(): they
 *   read the environment.
 * - Signal handlers must not call the library.
 *
 * fork(): a tracker belongs to the process that opened it. In a forked child, calls on it have no effect:
 * they return -ECHILD, or RT_STATE_STOPPED, true or INT64_MAX where the type requires that. rt_close() then closes
 * its files and leaves its memory. With NULL in the place of a tracker, calls return the same.
 *
 * Units are part of the names: _secs, _ms, _ns, _bytes, _mib (2^20 bytes), _gb (10^9 bytes), _pct (percent),
 * _cores. Two names are older than this rule: cpu.utilization_pct and cpu.cgroup_utilization_pct count cores
 * in use. rt_metric_get_info() returns the unit of each metric, and the source of its number. An absent value is
 * RT_TYPE_NONE with a reason, never 0.
 */
#ifndef RESOURCE_TRACKER_H
#define RESOURCE_TRACKER_H

#include "resource_tracker_value.h"
#include <sys/resource.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Version of this header, for #if: major x 10000 + minor x 100 + patch. docs/INTERFACE.md says how long
 * interfaces stay compatible.
 */
#define RT_VERSION_NUMBER 100

/* run_start.schema_version of the recordings that this version writes, and the newest that it knows. */
#define RT_SCHEMA_VERSION 1

/* Version of the loaded library: "0.1.0". */
RT_API const char *rt_version(void);

/* ---- settings -------------------------------------------------------------------------------------- */

/*
 * Settings by name, as text. The names are the long options of the command without the leading dashes
 * ("interval", "job-name", "csv-layout", ...); an underscore counts as a dash. Numbers are decimal; booleans
 * are 1/0, true/false, yes/no, on/off. rt_config_name() lists all names.
 */
typedef struct rt_config rt_config;

RT_API int rt_config_new(rt_config **ret_config);
RT_API void rt_config_free(rt_config *config);

/*
 * Sets one setting. Settings that may be given more than once (output, tag, metrics, input) add a value; the others
 * replace it. The size of the job's input, by which advice is given, is "input" (a file, a folder or a pattern) or, where the
 * caller knows it, "input-bytes". -ENOENT: unknown name; -EINVAL: invalid value. On failure rt_config_message() is one line that
 * names the error and the remedy.
 */
RT_API int rt_config_set(rt_config *config, const char *name, const char *value);
RT_API const char *rt_config_message(const rt_config *config);
/* The same for a number: "pid", "programs", "duration" (in seconds), ... */
RT_API int rt_config_set_int(rt_config *config, const char *name, int64_t value);

/*
 * Adds an output whose format is "json" or "csv", whatever the setting "format" says. `path` takes the values of the
 * setting "output". -EINVAL: unknown format, or not a value of "output".
 */
RT_API int rt_config_add_output(rt_config *config, const char *path, const char *format);

/*
 * The command line of the job, for the record: the job's name, the number of its arguments, and the arguments
 * themselves if the setting "record-command" is on. The strings are copied. NULL removes them. -EINVAL: an
 * empty list.
 */
RT_API int rt_config_set_command(rt_config *config, char *const argv[]);
/*
 * Tells the tracker that the calling process does nothing but record. Then everything that this process has
 * used since its start counts as the tracker's cost (tracker.cpu_secs), not only its use since rt_open().
 * If it also starts the job (rt_track()), it waits for SIGCHLD and then calls rt_next_sample_ns(): in the first milliseconds
 * the kernel sends it that signal at each fork, exec and exit.
 */
RT_API void rt_config_set_own_process(rt_config *config, bool own);
/*
 * Lets another process record, resource-tracker-helper, which rt_open() starts. It samples, writes the outputs and keeps
 * the history. Use it if the program must never be delayed, or if the recording must be finished however the program
 * dies: when the caller exits, the other process finishes the recording. That process runs in a session of its own
 * and is not the caller's child, so the caller's wait() never returns it. It is left out of the tracked tree. It uses
 * 2 MiB and takes 1 to 2 ms to start.
 *
 * The tracker is used as any other: rt_start(), the calls that read, rt_stop(), rt_close(). Each asks the other process:
 * -EPIPE if that has exited, -ETIMEDOUT without an answer in 20 s. The calls that drive the sampling by hand (rt_track()
 * and what belongs to it, rt_sample(), rt_sample_due(), rt_finish(), rt_job_cgroup()) and those of streaming return
 * -ENOTSUP. rt_open() also returns -ENOENT: the helper is not installed; -EPROTO: it is of another
 * version; -EINVAL: an output is a stream of the caller.
 */
RT_API void rt_config_set_apart(rt_config *config, bool apart);

/*
 * Sets a variable for the programs that a tracker starts: SENTINEL_API_TOKEN, SENTINEL_API_URL,
 * TRACKER_UPLOAD_INTERVAL, ... The environment of this process stays unchanged. The text is copied; NULL
 * removes the variable. -EINVAL: not a valid name.
 */
RT_API int rt_config_set_variable(rt_config *config, const char *name, const char *value);

/* The names of all settings, by index from 0. NULL past the last one. */
RT_API const char *rt_config_name(size_t index);

/* ---- a tracker ------------------------------------------------------------------------------------- */

typedef struct rt_tracker rt_tracker;

/*
 * Opens the outputs, reads the machine once (the baseline for the first sample's rates), and finds the
 * process to track if the setting "pid" is given. The settings are copied. `config` may be NULL: every
 * setting then has its default, so the machine is recorded once a second, without a file.
 *
 * The pid may be the caller's own. The samples then leave out the tracker's part in that process: the CPU
 * time, page faults and I/O of taking samples and of the thread of rt_start(). They do include its memory
 * (about 1 MiB, and the history) and the cost of other trackers in the same process.
 *
 * -EBUSY: a live recording has locked an output; -ESRCH: no such process; -EXDEV: /proc is another PID namespace's;
 * -EINVAL: settings contradict each other; else a negative errno of open(2). rt_config_message() is then the line to show.
 */
RT_API int rt_open(rt_config *config, rt_tracker **ret_tracker);
/* After rt_open() failed: the output that it could not open, as it was given. NULL: something else failed. */
RT_API const char *rt_config_failed_output(const rt_config *config);

/* The process that records (rt_config_set_apart()); 0: this one. */
RT_API pid_t rt_recorder_pid(rt_tracker *tracker);

/*
 * The names of the output files, with %h and so on filled in, by index from 0. NULL past the last one. Streams
 * ("-", /dev/stderr) are left out. The texts live as long as the tracker.
 */
RT_API const char *rt_output_path(rt_tracker *tracker, size_t index);

/*
 * Tracks a process tree from now on. A wrapper calls this right after starting its child.
 * `started_by_caller`: the caller is the child's parent and the subreaper of its tree. The tracker then reads
 * the caller's own list of children as well, and the caller reports each child that it reaps with
 * rt_before_reap() and rt_add_exited(). -ESRCH: no such process; -EALREADY: one is tracked; -EXDEV: /proc is another PID namespace's, so
 * that rt_add_exited() alone tells of the job.
 */
RT_API int rt_track(rt_tracker *tracker, pid_t pid, bool started_by_caller);
/*
 * The same for a child that was started in the cgroup of rt_job_cgroup(). -EINVAL: no such cgroup was made.
 */
RT_API int rt_track_in_cgroup(rt_tracker *tracker, pid_t pid);
/*
 * The time at which the job began (CLOCK_MONOTONIC, nanoseconds), read right before fork(2). Call after rt_track().
 * Without it the wall time counts from rt_track(), and a job of a millisecond may have used CPU time before. -ESRCH: no process
 * is tracked; -EINVAL: a time after rt_track(), or before rt_open().
 */
RT_API int rt_set_job_start(rt_tracker *tracker, int64_t monotonic_ns);

/*
 * Returns a descriptor of a cgroup v2 folder that was made for the job alone (setting "cgroup"). Start the
 * job in it with clone3(2) and CLONE_INTO_CGROUP, then call rt_track_in_cgroup(). The counters of the cgroup
 * make the figures of the tree exact even if processes ignore SIGCHLD. The descriptor belongs to the tracker.
 * -EOPNOTSUPP, -EBUSY, -EACCES, -EROFS: no cgroup could be made; everything else works as usual.
 */
RT_API int rt_job_cgroup(rt_tracker *tracker);

/*
 * Reports that the caller reaps a child: call rt_before_reap() while the child is a zombie, and
 * rt_add_exited() afterwards with the numbers from wait4(2). All samples of a wrapped run add up to the sum
 * of these numbers. `status` is the wait status. The status of the tracked process becomes the end of the run
 * if rt_stop(), rt_close() or rt_finish(RT_END_TRACKER_STOPPED, 0) ends the recording. If the child had threads, rt_before_reap()
 * waits for a millisecond, in which the kernel clears up after them: wait4(2) would spin instead. -ESRCH: no process is tracked.
 */
RT_API int rt_before_reap(rt_tracker *tracker, pid_t pid);
RT_API int rt_add_exited(rt_tracker *tracker, pid_t pid, int status, const struct rusage *usage);

/*
 * Excludes a child of the caller from the job. Needed only for children that were started after rt_track();
 * those from before rt_open() are excluded already. -ESRCH: no process is tracked; -ENOMEM.
 */
RT_API int rt_exclude(rt_tracker *tracker, pid_t pid);

/*
 * Reports that a signal was forwarded to the job at this time (CLOCK_MONOTONIC, nanoseconds). The last sample records the first
 * signals one by one, and the number of all.
 */
RT_API int rt_add_signal(rt_tracker *tracker, int signo, int64_t monotonic_ns);

/* Why the recording ends. The last sample records it. */
enum rt_end_reason {
	RT_END_EXIT = 1,        /* the job exited; `status` is a wait status */
	RT_END_SIGNAL,          /* a signal killed the job; `status` is a wait status */
	RT_END_EXEC_FAILED,     /* the job could not be started; `status` is the errno */
	RT_END_TARGET_EXITED,   /* an attached process has exited */
	RT_END_TRACKER_STOPPED, /* the tracker was told to stop; `status` is the signal that did it, or 0 */
	RT_END_DURATION,        /* the setting "duration" has passed */
};

/* Takes a sample now. -ESHUTDOWN: the last sample was taken; -EBUSY: a background thread samples. */
RT_API int rt_sample(rt_tracker *tracker);

/*
 * Takes the last sample, with the end record; it counts the descendants that still run. If an output is a
 * full pipe, its reader gets one second, unless the caller started the job (rt_track()). -ESHUTDOWN: called
 * before; -EBUSY: a background thread samples, use rt_stop_with(); -EINVAL: unknown reason.
 */
RT_API int rt_finish(rt_tracker *tracker, enum rt_end_reason reason, int status);

/*
 * The sampling grid. rt_next_sample_ns() returns the absolute CLOCK_MONOTONIC time at which the next sample
 * is due, INT64_MAX if none is. rt_sample_due() takes a sample if its time has come and returns 1, else 0.
 * Missed ticks are counted, not made up for. -EBUSY: a background thread samples.
 */
RT_API int64_t rt_next_sample_ns(rt_tracker *tracker);
RT_API int rt_sample_due(rt_tracker *tracker);

/*
 * Tells whether no further sample will come: the duration has passed, the target has exited, every output has lost
 * its reader, or the tracker was finished or stopped. *ret_reason is the reason, as given to rt_finish().
 */
RT_API bool rt_over(rt_tracker *tracker, enum rt_end_reason *ret_reason);

/*
 * Frees everything. If the recording is unfinished, finishes it first (RT_END_TRACKER_STOPPED). NULL is
 * allowed.
 */
RT_API void rt_close(rt_tracker *tracker);

/* ---- streaming ------------------------------------------------------------------------------------- */

/*
 * Streaming uploads the recording while it is written. If the setting "stream" is "auto" (default: "off") and SENTINEL_API_TOKEN has a token, rt_open() starts a
 * program that reads the recording from disk and uploads it: docs/STREAMING.md. The program is not a child of
 * this process. Its messages come through rt_next_warning(), and its errors never change a sample. Without
 * streaming no socket is opened. With "otlp" it sends to OTEL_EXPORTER_OTLP_ENDPOINT instead: docs/OTLP.md.
 *
 * rt_close() tells the program that the recording is over and returns at once. The program goes on uploading
 * for at most the setting "upload-deadline"; the rest stays in the spool for "resource-tracker upload".
 *
 * rt_wait_for_upload() waits at most `timeout_secs` after rt_finish() or rt_stop(). 0: everything was sent;
 * -ETIMEDOUT: not yet, call again; -EIO: a part stays in the spool; -ENOTCONN: streaming is off, or could not
 * start (then a warning said why); -EBUSY: the recording has not ended.
 */
RT_API int rt_wait_for_upload(rt_tracker *tracker, double timeout_secs);
/*
 * The server's answer to the end of the run (its statistics), after rt_wait_for_upload() returned 0: one line
 * with a JSON object. Free it with rt_free(). -ENODATA: no answer (yet).
 */
RT_API int rt_upload_answer(rt_tracker *tracker, char **ret_json);

/* ---- sampling in the background -------------------------------------------------------------------- */

enum rt_state {
	RT_STATE_READY,   /* opened; no thread samples */
	RT_STATE_RUNNING, /* a thread samples at the interval */
	RT_STATE_STOPPED, /* stopped or finished; it cannot be started again */
};

/*
 * Starts one thread, with all signals blocked, that samples at the interval. From now on tracker.cpu_secs is
 * the cost of this thread, and tracker.rss_mib is absent because the memory belongs to the program.
 * -EALREADY: running; -ESHUTDOWN: stopped; -EAGAIN: the thread could not be created.
 */
RT_API int rt_start(rt_tracker *tracker);
/*
 * Takes the last sample and joins the thread. -ENOTCONN: never started; -EALREADY: stopped. Afterwards, as after rt_finish(), the
 * tracker holds no descriptor, unless another process records or streams for it: a program may keep it for its results.
 */
RT_API int rt_stop(rt_tracker *tracker);
/* The same with the reason and status of rt_finish(), for a program that knows how its own run ended. */
RT_API int rt_stop_with(rt_tracker *tracker, enum rt_end_reason reason, int status);
RT_API enum rt_state rt_get_state(rt_tracker *tracker);
RT_API int64_t rt_sample_count(rt_tracker *tracker);
/*
 * Waits until n samples were taken. -ETIMEDOUT; -ESHUTDOWN: the recording ended before. timeout_secs < 0: no
 * limit.
 */
RT_API int rt_wait_for_samples(rt_tracker *tracker, int64_t n, double timeout_secs);

/* ---- reading values -------------------------------------------------------------------------------- */

/*
 * The number of a metric in this build; 0: none. Names stay the same in later versions, numbers may change.
 */
typedef uint32_t rt_metric;

/* Finds a metric by its name: "cpu.process_cores_used", "memory.used_mib", "disk.read_bytes_per_sec", ... 0: unknown. */
RT_API rt_metric rt_metric_find(const char *name);

struct rt_metric_info {
	size_t size;        /* sizeof(struct rt_metric_info), set by the caller */
	char name[128];     /* full, with dots */
	char group[64];     /* the row kind: "cpu", "disk", "disk.mounts", ...; "" at the top */
	const char *key;    /* the last part of the name */
	const char *unit;   /* "s", "MiB", "bytes", "cores", "%", ... or "" */
	const char *kind;   /* counter, gauge, delta, rate, identity */
	const char *source; /* where the group's numbers come from: a file of /proc, a system call, ... */
	const char *cost;   /* system calls that recording the group takes at each sample */
	const char *help;
	enum rt_type type;
	int decimals; /* for RT_TYPE_REAL */
	bool many;    /* one value for each instance */
};
RT_API int rt_metric_get_info(rt_metric metric, struct rt_metric_info *ret_info);
/* Lists all metrics in the order of output. Start with 0; returns 0 after the last one. */
RT_API rt_metric rt_metric_next(rt_metric metric);

/*
 * Reads a value of the newest sample. `instance` counts from 0 in groups with several rows (cores, disks,
 * mounts, interfaces, GPUs) and is 0 elsewhere. A text stays until rt_close(); the tracker keeps one copy of
 * each different text. -ENOENT: no such metric or instance; -ENODATA: no sample yet.
 */
RT_API int rt_get(rt_tracker *tracker, rt_metric metric, size_t instance, struct rt_value *ret_value);
/*
 * The same by the full name, as rt_config_set_history() and the analysis take it: "memory.used_mib",
 * "disk[vda].read_bytes_per_sec", "disk[vda].mounts[/home].used_pct", "cpu.per_core_pct[3]",
 * "network[sum].rx_bytes_per_sec" ([mean] and [max] likewise, as RT_TYPE_REAL). A key is the row's own name or its position
 * from 0. -ENOENT: no such metric or row; -EINVAL: it needs other brackets, or the metric is a text that cannot be summed.
 */
RT_API int rt_get_named(rt_tracker *tracker, const char *name, struct rt_value *ret_value);
RT_API size_t rt_instance_count(rt_tracker *tracker, rt_metric metric);

/*
 * Copies all values of the newest sample, so they are of one moment and stay the same while other samples are taken.
 * Several threads may read one snapshot at once. Texts live as long as the snapshot. -ENODATA: no sample yet.
 */
typedef struct rt_snapshot rt_snapshot;
RT_API int rt_snapshot_take(rt_tracker *tracker, rt_snapshot **ret_snapshot);
RT_API void rt_snapshot_free(rt_snapshot *snapshot);
/* As rt_get() and rt_get_named(). -ENOENT: no such metric or instance; -EINVAL: the name needs other brackets. */
RT_API int rt_snapshot_get(const rt_snapshot *snapshot, rt_metric metric, size_t instance,
			   struct rt_value *ret_value);
RT_API int rt_snapshot_get_named(const rt_snapshot *snapshot, const char *name, struct rt_value *ret_value);
/* The number of instances of a metric in this sample. */
RT_API size_t rt_snapshot_count(const rt_snapshot *snapshot, rt_metric metric);

struct rt_snapshot_entry {
	size_t size; /* sizeof(struct rt_snapshot_entry), set by the caller */
	rt_metric metric;
	size_t instance;
	const char *key; /* the name of the disk, interface, program, ...; NULL: it has none */
	struct rt_value value;
};
/*
 * Goes to the next value: metric by metric in the order of output, and instance by instance. Returns 1, or 0 after the last one.
 * An entry with its size alone begins; nothing else keeps the place:
 *
 * 	struct rt_snapshot_entry entry = {.size = sizeof entry};
 * 	while (rt_snapshot_each(snapshot, &entry) > 0)
 * 		...
 */
RT_API int rt_snapshot_each(const rt_snapshot *snapshot, struct rt_snapshot_entry *entry);

/* The newest sample as one JSON line without newline. Free it with rt_free(). -ENODATA: no sample yet. */
RT_API int rt_sample_json(rt_tracker *tracker, char **ret_json);
/*
 * Tells why values are absent: one line "name: reason" for each absent value of the newest sample. If run_start.figures_from is not "kernel", a line "run_start.figures_from
 * is ..." stands before them. Free the text with rt_free(). -ENODATA: no sample yet.
 */
RT_API int rt_explain_absent(rt_tracker *tracker, char **ret_text);
/* Copies the oldest warning that was not taken yet (a full disk, dropped samples). -ENOENT: none. */
RT_API int rt_next_warning(rt_tracker *tracker, char *ret_text, size_t size);

/* ---- all samples so far, by column ------------------------------------------------------------------ */

/*
 * Keeps the newest `samples` samples in memory, by column, for rt_history_read(). 0: none (the default);
 * INT64_MAX: all of them. `metrics` lists names and globs to keep, as in the setting "metrics"; NULL: the
 * metrics of the CSV layouts, about 40 columns. Where a sample has several rows, brackets name one by its key
 * or its position (use the position if the key has blanks or commas): "gpu[0].utilization_pct",
 * "disk[sda].read_bytes_per_sec", "cpu.per_core_pct[3]", or combine them: "network[sum].rx_bytes_per_sec"
 * ([mean], [max]). In samples without that row the value is absent. Texts are not kept; time stamps and
 * numbers of samples always are. `metrics` is copied. -EINVAL: a negative number. A name that matches no
 * metric is -EINVAL of rt_open().
 *
 * Memory: 2 KiB for each column at first, then at most 8 bytes for each sample and column. It is usually less
 * than one byte, because samples are packed in pages of 256: a column that does not change takes nearly
 * nothing. The 86,400 samples of a day took 1.6 to 3.1 MiB, 19 to 37 bytes each, on a machine with two cores
 * and one disk (`bench/run build history`). If memory runs out, the oldest samples are dropped, never the
 * newest.
 */
RT_API int rt_config_set_history(rt_config *config, int64_t samples, const char *metrics);

/*
 * Returns how many samples are kept now. *ret_first is the number of the oldest one (the first sample of the
 * recording is 0), *ret_bytes the memory of all of them. Both may be NULL. -ENODATA: no history is kept.
 */
RT_API int64_t rt_history_count(rt_tracker *tracker, int64_t *ret_first, size_t *ret_bytes);

/*
 * Reads the values of one column from sample `first` on, also while another thread samples. Returns how many
 * values were read, fewer than `count` at the end. NaN is absent. The numbers of samples never change: read only
 * the new ones.
 *
 * If `layout` is NULL, `column` is a metric ("cpu.process_cores_used", or "gpu[0].power_watts" as named to
 * rt_config_set_history()). The values are those of the JSON record, with MiB exact to the KiB. Otherwise
 * `column` is a heading of that CSV layout ("system-0.4", "memory_used") and the values are those of its
 * cells: scaled, and rounded to as many decimals. -ENODATA: no history is kept; -ENOENT: no such column, or
 * it is not kept; -ERANGE: `first` was dropped.
 */
RT_API ssize_t rt_history_read(rt_tracker *tracker, const char *layout, const char *column, int64_t first,
			       size_t count, double *ret_values);

/*
 * The names of the CSV layouts ("combined", "system", "process", "system-0.4", ...), by index from 0. NULL
 * past the last one.
 */
RT_API const char *rt_csv_layout_name(size_t layout);
/* The headings of a CSV layout, by index from 0. NULL past the last one, and for an unknown layout. */
RT_API const char *rt_csv_heading(const char *layout, size_t column);

/* ---- one-shot readers ------------------------------------------------------------------------------ */

/*
 * Values of this moment, from the live system's /proc. Any thread may call these; they keep nothing between
 * calls. -ESRCH: no such process; -EACCES: not permitted to read it.
 */
/*
 * Lists the live descendants of a process, without itself, and returns their number. Free *ret_pids with rt_free().
 */
RT_API ssize_t rt_process_descendants(pid_t pid, pid_t **ret_pids);
/* Memory of a process in bytes: RSS from /proc/PID/statm, PSS from /proc/PID/smaps_rollup. */
RT_API int rt_process_rss(pid_t pid, int64_t *ret_bytes);
RT_API int rt_process_pss(pid_t pid, int64_t *ret_bytes);
/*
 * User and system time in seconds (/proc/PID/stat). with_waited adds the time of children that were waited
 * for.
 */
RT_API int rt_process_times(pid_t pid, bool with_waited, double *ret_user_secs, double *ret_system_secs);
/* Bytes read from and written to storage (/proc/PID/io: read_bytes, write_bytes). */
RT_API int rt_process_io(pid_t pid, int64_t *ret_read_bytes, int64_t *ret_written_bytes);

/*
 * The values of the Python package's get_process_stats(); -1 or NaN: unknown. Times come from process CPU
 * clocks and /proc/PID/stat, memory from statm and smaps_rollup, storage bytes from /proc/PID/io. For GPUs
 * use rt_sample().
 */
struct rt_process {
	size_t size; /* sizeof(struct rt_process), set by the caller */
	double realtime_secs;
	pid_t pid;
	int64_t child_count;
	double user_secs, system_secs; /* with children that were waited for */
	int64_t rss_bytes, pss_bytes;
	int64_t read_bytes, written_bytes;
};
/* `children`: adds up the live tree; otherwise the process alone. */
RT_API int rt_process_read(pid_t pid, bool children, struct rt_process *ret_process);

/*
 * The machine's counters since boot and its present state, from /proc/stat, meminfo, diskstats, mountinfo and
 * statvfs(3), net/dev; -1 or NaN: unknown. For single disks, filesystems, interfaces and GPUs use rt_sample()
 * and rt_get().
 */
struct rt_system {
	size_t size; /* sizeof(struct rt_system), set by the caller */
	double realtime_secs;
	int64_t process_count;
	double user_secs, system_secs; /* user + nice; system; all cores, since boot */
	int64_t memory_total_bytes, memory_free_bytes, memory_available_bytes, memory_used_bytes;
	int64_t memory_buffers_bytes, memory_cached_bytes, memory_active_bytes, memory_inactive_bytes;
	int64_t disk_read_bytes, disk_write_bytes; /* since boot; leaf physical devices */
	int64_t disk_space_total_bytes, disk_space_used_bytes, disk_space_free_bytes;
	int64_t network_received_bytes, network_sent_bytes; /* since boot; counted interfaces */
};
/* -ENOMEM, or the errno of reading /proc. */
RT_API int rt_system_read(struct rt_system *ret_system);

/* Returns 1 if sysfs says that a block device is a partition, 0 if not, or -ENOENT if sysfs does not know the device. */
RT_API int rt_disk_is_partition(const char *device);

/* ---- what machine this is -------------------------------------------------------------------------- */

enum rt_discovery {
	RT_DISCOVER_HOST = 1,  /* "host": host_id, host_hostname, host_ip, host_vcpus, host_memory_mib, ... */
	RT_DISCOVER_CLOUD = 2, /* "cloud": cloud_vendor_id, cloud_region_id, cloud_instance_type, ... */
	RT_DISCOVER_PYTHON =
		4, /* "server_info" and "cloud_info" instead, as the Python package returns them */
};

/*
 * Runs resource-tracker-net, which describes the machine and, only with RT_DISCOVER_CLOUD, asks the metadata
 * services of clouds (for at most 3 s). The result is the JSON object of `resource-tracker discover` in one
 * line without newline; unknown values are null. Free it with rt_free(). timeout_secs <= 0: 10 s. -ENOENT: the
 * program is not installed; -ETIMEDOUT: no answer in time; -EIO: the program failed; -EINVAL: neither host
 * nor cloud was asked for.
 */
RT_API int rt_discover(unsigned int what, double timeout_secs, char **ret_json);

/* ---- marking phases -------------------------------------------------------------------------------- */

/*
 * A job marks its own phases in the file that the surrounding tracker names in the environment
 * (RESOURCE_TRACKER_MARKS), or in `path`. -ENOENT: the job is not being recorded. The calls accept NULL and
 * then do nothing, so a program need not check:
 *
 * 	rt_marks *marks = NULL;
 * 	rt_marks_open(NULL, &marks);
 * 	int64_t load = rt_mark_start(marks, "load");
 * 	...
 * 	rt_mark_stop(marks, "load", load);
 *
 * Several threads may use one object at once, and a forked child may use its parent's. Each mark is one line
 * written with one write(2). If it cannot be written, the call returns a negative errno. -EINVAL: the name is NULL or
 * empty.
 */
typedef struct rt_marks rt_marks;
RT_API int rt_marks_open(const char *path, rt_marks **ret_marks);
RT_API void rt_marks_close(rt_marks *marks);
/* Marks the start and the end of a phase. The start returns the number of the phase, for its end; 0 if `marks` is NULL. */
RT_API int64_t rt_mark_start(rt_marks *marks, const char *name);
RT_API int rt_mark_stop(rt_marks *marks, const char *name, int64_t number);

#ifdef __cplusplus
}
#endif

#endif
