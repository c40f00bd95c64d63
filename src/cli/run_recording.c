/*
 * One recording: the library's tracker, driven by the loops of src/wrap.
 *
 * When wrapping, rt_open() first opens the outputs and reads the machine. Then the job is started at once. Up
 * to that moment our own errors decide the exit status; after it only the job's end does.
 */
#include "cli/run_recording.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/duration.h"
#include "cli/after_recording.h"
#include "cli/alone.h"
#include "cli/keep_run.h"
#include "cli/last_wait.h"
#include "cli/message.h"
#include "cli/end_places.h"
#include "cli/run_subcommand.h"
#include "cli/serve_runs.h"
#include "cli/told_status.h"
#include "kernel/may_hang.h"
#include "launch/in_time.h"
#include "wrap/wrap.h"

struct recording_run {
	struct front *front;
	struct wrap *wrap;
	rt_tracker *tracker;
	bool finished; /* the last sample was written; sampling is over */
	int status_fd; /* where the parent of an attached process tells its end, or -1 */
};

static const char LOSS[] = "cannot write to ";

/* The recording of a summary or of the history is open as a descriptor, whose name says nothing to a person. */
static void say_with_name(const struct front *front, const char *text, void (*say_it)(const char *, ...))
{
	int fd = front->kept_path ? front->kept_fd : front->temporary_fd;
	char name[32];
	const char *at;

	snprintf(name, sizeof name, "/dev/fd/%d", fd);
	at = fd ? strstr(text, name) : NULL;
	if (at)
		say_it("%.*s%s%s", (int)(at - text), text,
		       front->kept_path ? front->kept_path : "the temporary recording", at + strlen(name));
	else
		say_it("%s", text);
}

static void take_warnings(const struct recording_run *run, void (*say_it)(const char *, ...))
{
	char text[400];

	while (rt_next_warning(run->tracker, text, sizeof(text)) == 0) {
		/* A step hears only that it loses its recording. */
		if (!run->front->no_warnings || (alone_is_step() && strncmp(text, LOSS, strlen(LOSS)) == 0))
			say_with_name(run->front, text, say_it);
	}
}

static void finish_run(struct recording_run *run, enum rt_end_reason reason, int status)
{
	if (run->finished)
		return;
	run->finished = true;
	rt_finish(run->tracker, reason, status);
}

/* ---- what the loops of wrap call ------------------------------------------------------------------- */

static int64_t next_deadline_ns(void *context)
{
	struct recording_run *run = context;

	return run->finished ? INT64_MAX : rt_next_sample_ns(run->tracker);
}

static void on_tick(void *context)
{
	struct recording_run *run = context;
	enum rt_end_reason reason;

	if (run->finished)
		return;
	rt_sample_due(run->tracker);
	take_warnings(run, say_if_possible);
	/* The job continues after its recording has ended. */
	if (run->front->mode == MODE_WRAP && rt_over(run->tracker, &reason))
		finish_run(run, reason, 0);
}

static void on_reaping(void *context, pid_t pid)
{
	struct recording_run *run = context;

	rt_before_reap(run->tracker, pid);
}

static void own_child(void *context, pid_t pid)
{
	struct recording_run *run = context;

	rt_exclude(run->tracker, pid);
}

static void on_reaped(void *context, pid_t pid, int status, const struct rusage *usage)
{
	struct recording_run *run = context;

	rt_add_exited(run->tracker, pid, status, usage);
}

static void on_signal(void *context, const struct wrap_signal *signal)
{
	struct recording_run *run = context;

	rt_add_signal(run->tracker, signal->signo, signal->seen_ns);
}

static struct timeval timeval_of(int64_t usec)
{
	return (struct timeval){.tv_sec = usec / 1000000, .tv_usec = usec % 1000000};
}

/* The end of a process that is not our child is unknown, unless its parent tells it. */
static void finish_attached(struct recording_run *run)
{
	struct rusage usage = {.ru_utime = {0}};
	struct told_end end;

	if (!told_status_read(run->status_fd, &end)) {
		finish_run(run, RT_END_TARGET_EXITED, 0);
		return;
	}
	usage.ru_utime = timeval_of(end.utime_usec);
	usage.ru_stime = timeval_of(end.stime_usec);
	usage.ru_maxrss = (long)end.largest_kib;
	rt_add_exited(run->tracker, run->front->pid, end.status, &usage);
	finish_run(run, WIFSIGNALED(end.status) ? RT_END_SIGNAL : RT_END_EXIT, end.status);
}

static bool recording_is_done(void *context)
{
	struct recording_run *run = context;
	enum rt_end_reason reason;

	if (run->finished || !rt_over(run->tracker, &reason))
		return run->finished;
	/* The sample found that the process has gone. */
	if (reason == RT_END_TARGET_EXITED)
		finish_attached(run);
	else
		finish_run(run, reason, 0);
	return run->finished;
}

/* ---- beginning and end ----------------------------------------------------------------------------- */

/* Returns 0, or an exit status after reporting the error. */
static int open_tracker(struct recording_run *run)
{
	struct front *front = run->front;
	int r;

	do
		r = rt_open(front->config, &run->tracker);
	while (r < 0 && front_forget(front, r));
	if (r >= 0)
		return 0;
	drop_kept_run(front);
	return front_refuse(front, r);
}

/* Waits at most for the upload deadline, which the library keeps. */
static void wait_for_upload(const struct recording_run *run)
{
	while (rt_wait_for_upload(run->tracker, 0.05) == -ETIMEDOUT && !is_told_to_go())
		;
}

static void close_tracker(struct recording_run *run)
{
	rt_close(run->tracker);
	run->tracker = NULL;
}

static bool is_read_at_end(const struct front *front)
{
	return front->summary != SUMMARY_NONE || front->page || front->runs;
}

/* Returns the file from which to make the summary and the report, or NULL. The caller frees it. */
static char *recorded_file(const struct recording_run *run)
{
	char *path = NULL;

	if (run->front->kept_path)
		return strdup(run->front->kept_path);
	if (!run->front->temporary_fd)
		return is_read_at_end(run->front) ? first_json_file(run->tracker, run->front) : NULL;
	/* The analysis opens this while we wait for it. */
	return asprintf(&path, "/proc/%d/fd/%d", (int)getpid(), run->front->temporary_fd) < 0 ? NULL : path;
}

static void report_page(const struct recording_run *run, const char *path)
{
	CLEANUP_FREE char *named = NULL;

	/* Gives the temporary file a readable name on the page. */
	if (run->front->temporary_fd && path && asprintf(&named, "recording=%s", path) < 0)
		named = NULL;
	if (!write_report(named ? named : path, run->front->page) && run->front->temporary_fd)
		rescue_recording(run->front->temporary_fd, run->front->page);
}

/* The history compresses a run that it keeps, which changes the name of the recording. */
static void add_line(const struct recording_run *run, const char *path)
{
	CLEANUP_FREE char *compressed = NULL;
	struct stat status;

	/* A kept run whose command could not be started is gone. */
	if (path && stat_in_time(path, &status) < 0)
		path = run->front->kept_path && asprintf(&compressed, "%s.gz", path) > 0 ? compressed : NULL;
	if (path)
		add_run_line(path, run->front->runs);
}

static bool has_marks(const char *path)
{
	CLEANUP_BUFFER struct buffer marks = BUFFER(PATH_MAX + 64);
	struct stat status;

	buffer_printf(&marks, "%s.marks", path);
	return !buffer_error(&marks) && stat_in_time(marks.data, &status) == 0;
}

/* A program that reads or writes there would hang, and the job's end with it. */
static bool is_there(const char *path, const char *lost)
{
	bool answers = !path || strcmp(path, "-") == 0 || answers_in_time(path);

	if (!answers)
		say("%s: its file system does not answer: %s", path, lost);
	return answers;
}

/* Gives up what cannot be made from, or written to, file systems that do not answer. Returns the recording, or NULL. */
static const char *leave_out_hanging(struct front *front, const char *recording)
{
	if (!is_there(front->page, "no report is written"))
		front->page = NULL;
	if (!is_there(front->runs, "the line of this run is not added"))
		front->runs = NULL;
	if ((!is_read_at_end(front) && !front->kept_path) ||
	    is_there(recording, "no summary, report or line of this run"))
		return recording;
	front->summary = SUMMARY_NONE;
	front->page = front->runs = NULL;
	free(front->kept_path);
	front->kept_path = NULL;
	return NULL;
}

/* After the recording: prints everything that is meant for people. */
static void report_run(struct recording_run *run, const char *summary_path)
{
	bool is_sending = rt_wait_for_upload(run->tracker, 0) == -ETIMEDOUT;
	CLEANUP_FREE char *csv_path = NULL;
	CLEANUP_FREE char *nameless = NULL;
	const char *named_path;

	say_that_job_ended();
	allow_work_aside(JOB_LOOK_MS);
	if (leave_kept_run(run->front))
		summary_path = nameless = recorded_file(run);
	csv_path = run->front->temporary_fd ? first_file(run->tracker) : NULL;
	named_path = csv_path ? csv_path : run->front->temporary_fd ? NULL : summary_path;
	/* The phases of a job are found beside the file that is read. */
	if (csv_path && has_marks(csv_path))
		summary_path = csv_path;
	forget_signals();
	take_warnings(run, say);
	if (run->front->why)
		print_reasons(run->tracker);
	if (!is_sending)
		close_tracker(run);
	summary_path = leave_out_hanging(run->front, summary_path);
	if (summary_path && run->front->summary != SUMMARY_NONE && !run->front->kept_path)
		print_summary(summary_path, run->front->summary == SUMMARY_JSON,
			      given_by_name(&run->front->given, "summary") != NULL);
	if (named_path && run->front->summary == SUMMARY_TEXT && !run->front->kept_path)
		name_recording(named_path, csv_path != NULL);
	if (run->front->page)
		report_page(run, summary_path);
	if (run->front->kept_path)
		finish_kept_run(run->front);
	if (run->front->runs)
		add_line(run, summary_path);
	if (is_sending) {
		wait_for_upload(run);
		take_warnings(run, say);
		close_tracker(run);
	}
}

static enum rt_end_reason end_reason(const struct wrap_end *end)
{
	if (end->exec_error)
		return RT_END_EXEC_FAILED;
	return end->status & 0x7f ? RT_END_SIGNAL : RT_END_EXIT;
}

static void say_exec_error(const char *command, const struct wrap_end *end)
{
	const char *meant;

	if (end->exec_error == ENOENT && !strchr(command, '/')) {
		meant = subcommand_like(command);
		if (meant && strcmp(meant, command) == 0)
			say("%s: command not found; the subcommand of this name comes first, before all "
			    "options",
			    command);
		else
			say("%s: command not found%s%s", command, meant ? "; the nearest subcommand is " : "",
			    meant ? meant : "");
	} else if (end->exec_error) {
		say("%s: %s", command, strerror(abs(end->exec_error)));
	}
}

/* ---- the modes ------------------------------------------------------------------------------------- */

/* A negative folder means none, which is an error only if one is required. Returns 0 or an exit status. */
static int find_cgroup(const struct recording_run *run, int *ret_folder)
{
	int folder = rt_job_cgroup(run->tracker);

	*ret_folder = folder < 0 ? 0 : folder;
	if (folder < 0 && run->front->requires_cgroup)
		return refuse("--cgroup=require: no control group can be made for the job: %s",
			      strerror(-folder));
	return 0;
}

static int start_job(struct recording_run *run, const struct wrap_job *job)
{
	struct wrap_started started;
	int r = wrap_spawn(run->wrap, job, &started);

	if (r < 0)
		return r;
	alone_forget();
	paths_look_again();
	if (started.in_cgroup)
		rt_track_in_cgroup(run->tracker, started.pid);
	else
		rt_track(run->tracker, started.pid, true);
	rt_set_job_start(run->tracker, started.start_ns);
	if (run->front->requires_cgroup && !started.in_cgroup && !run->front->no_warnings)
		say_if_possible("the job could not be started in its control group");
	wrap_release_stdio(front_writes_stdout(run->front));
	return 0;
}

static int run_job(struct recording_run *run)
{
	static const struct wrap_hooks HOOKS = {
		.next_deadline_ns = next_deadline_ns,
		.tick = on_tick,
		.reaping = on_reaping,
		.own_child = own_child,
		.reaped = on_reaped,
		.signalled = on_signal,
	};
	struct front *front = run->front;
	struct wrap_hooks hooks = HOOKS;
	CLEANUP_FREE char *marks = marks_variable(run->tracker, front->kept_path);
	CLEANUP_FREE char *summary_path = recorded_file(run);
	const char *const environment[] = {marks, NULL};
	struct wrap_job job = {.argv = front->command, .environment = environment};
	struct wrap_end end;
	int r = 0, status = find_cgroup(run, &job.cgroup_fd);

	if (!status)
		r = start_job(run, &job);
	if (status || r < 0) {
		/* Without a process for the recorder, the job runs in its place. */
		finish_run(run, status ? RT_END_EXEC_FAILED : RT_END_TRACKER_STOPPED, status ? EAGAIN : 0);
		rt_close(run->tracker);
		drop_kept_run(front);
		return status ? status : alone_for_lack(front->command, strerror(-r));
	}
	hooks.context = run;
	r = wrap_run(run->wrap, &hooks, front->wait_descendants, &end);
	if (r < 0) {
		finish_run(run, RT_END_TRACKER_STOPPED, 0);
		rt_close(run->tracker);
		return refuse("lost sight of the job: %s", strerror(-r));
	}
	finish_run(run, end_reason(&end), end.exec_error ? abs(end.exec_error) : end.status);
	say_exec_error(front->command[0], &end);
	if (end.exec_error && front->keeps) {
		/* The history keeps only runs that started: the command may be mistyped. */
		drop_kept_run(front);
		front->summary = SUMMARY_NONE;
	}
	report_run(run, summary_path);
	wrap_exit(run->wrap, &end);
}

static int watch_process(struct recording_run *run)
{
	struct wrap_hooks hooks = {
		.context = run,
		.next_deadline_ns = next_deadline_ns,
		.tick = on_tick,
		.done = recording_is_done,
	};
	struct front *front = run->front;
	CLEANUP_FREE char *summary_path = recorded_file(run);
	/* The pids of a captured tree do not belong to this machine. */
	pid_t pid = front->live ? front->pid : 0;
	int signo = 0;

	told_status_ready(run->status_fd);
	switch (wrap_watch(run->wrap, pid, front->keep_running, &hooks, &signo)) {
	case WRAP_TARGET_EXITED:
		finish_attached(run);
		break;
	case WRAP_STOPPED:
		finish_run(run, RT_END_TRACKER_STOPPED, signo);
		break;
	case WRAP_DONE:
	default:
		finish_run(run, RT_END_TRACKER_STOPPED, 0);
		break;
	}
	report_run(run, summary_path);
	wrap_finish(run->wrap);
	return 0;
}

/* Slurm's plugin sets a bound, because a user chooses the interval of a recorder outside of the job's limit of CPU time. */
static void keep_least_interval(struct front *front)
{
	const char *least = secure_getenv("RESOURCE_TRACKER_LEAST_INTERVAL");
	const struct given *item = given_by_name(&front->given, "interval");
	double least_secs, secs;

	if (least && item && parse_duration(least, &least_secs) && parse_duration(item->text, &secs) &&
	    secs < least_secs)
		(void)rt_config_set(front->config, "interval", least);
}

/* The files of processes and groups stay open, which takes some 30 descriptors beside those of the caller. */
static void tell_few_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 40)
		say("a limit of %d open files (ulimit -n) leaves most figures unknown", (int)limit.rlim_cur);
}

int run_recording(struct front *front, char **argv)
{
	struct recording_run run = {.front = front,
				    .status_fd = front->mode == MODE_ATTACH ? told_status_open() : -1};
	int status, r = wrap_prepare(front->mode == MODE_WRAP ? WRAP_JOB : WRAP_WATCH, argv, &run.wrap);

	if (r < 0)
		return alone_for_lack(front->command, strerror(-r));
	keep_least_interval(front);
	status = open_tracker(&run);
	if (status) {
		wrap_finish(run.wrap);
		return status;
	}
	tell_few_files();
	if (front->mode == MODE_WRAP) {
		status = run_job(&run);
		wrap_finish(run.wrap);
		return status;
	}
	return watch_process(&run);
}
