/* The meaning of an errno for a call of the libraries, with the remedy. See resource_tracker_value.h. */
#include <errno.h>
#include <string.h>

#include "resource_tracker_value.h"

/* As in public_value.c. */
const char *rt_error_text(const char *call, int error) __attribute__((weak));

/* The first row that has the call, or has no calls, and the error. */
static const struct {
	const char *calls; /* with a blank behind each. NULL: any */
	int error;
	const char *text;
} ERROR_TEXTS[] = {
	{"rt_config_set rt_config_set_int ", ENOENT,
	 "there is no setting of this name: rt_config_name() lists them"},
	{"rt_config_set rt_config_set_int rt_config_add_output rt_config_set_command rt_config_set_variable "
	 "rt_config_set_history ",
	 EINVAL, "the value does not fit: rt_config_message() says why"},
	{"rt_open ", EBUSY, "a live recording has locked an output: choose another file"},
	{"rt_open ", ESRCH, "there is no process with the pid of the settings"},
	{"rt_open ", EINVAL, "settings contradict each other: rt_config_message() says which"},
	{"rt_open ", ENOENT,
	 "a file or folder, or resource-tracker-helper, is not there: rt_config_message() says which"},
	{"rt_open ", EPROTO, "resource-tracker-helper is of another version: install both from one package"},
	{"rt_track_in_cgroup ", EINVAL, "no control group was made: call rt_job_cgroup() first"},
	{"rt_track rt_track_in_cgroup ", EALREADY, "a process is tracked already: open another tracker"},
	{"rt_track rt_track_in_cgroup rt_open ", EXDEV, "/proc is another PID namespace's: mount a new one"},
	{"rt_track rt_track_in_cgroup ", ESRCH, "there is no process with this pid"},
	{"rt_before_reap rt_add_exited rt_exclude rt_set_job_start ", ESRCH,
	 "no process is tracked: call rt_track() first"},
	{"rt_set_job_start ", EINVAL, "the job cannot have begun after rt_track() or before rt_open()"},
	{"rt_job_cgroup ", EOPNOTSUPP, "control groups of version 2 are not there: use rt_track()"},
	{"rt_job_cgroup ", EBUSY, "the control group of this process takes no child group: use rt_track()"},
	{"rt_job_cgroup ", EACCES, "this user may not make control groups here: use rt_track()"},
	{"rt_job_cgroup ", EROFS, "control groups are read-only here: use rt_track()"},
	{"rt_wait_for_upload ", EBUSY, "the recording has not ended: call rt_stop() or rt_finish() first"},
	{"rt_wait_for_upload ", ETIMEDOUT, "the upload is not complete yet: call again"},
	{"rt_wait_for_upload ", EIO,
	 "a part could not be sent and stays in the spool: run resource-tracker upload"},
	{"rt_wait_for_upload ", ENOTCONN,
	 "nothing is streamed: the setting stream is off, or rt_next_warning() says why"},
	{"rt_upload_answer ", ENODATA, "the server has not answered: call rt_wait_for_upload() first"},
	{"rt_finish rt_stop_with ", EINVAL, "there is no such reason: see enum rt_end_reason"},
	{"rt_finish ", EBUSY, "a background thread samples: call rt_stop_with()"},
	{"rt_sample rt_sample_due ", EBUSY, "a background thread samples: call rt_stop() first"},
	{"rt_start ", EALREADY, "the background thread runs already"},
	{"rt_start ", EAGAIN, "the thread could not be created: a limit of threads or memory is reached"},
	{"rt_stop rt_stop_with ", ENOTCONN, "the background thread was never started"},
	{"rt_stop rt_stop_with ", EALREADY, "the background thread was stopped already"},
	{"rt_wait_for_samples ", ETIMEDOUT, "there are fewer samples yet: call again"},
	{"rt_get rt_snapshot_get rt_metric_get_info ", ENOENT,
	 "there is no such metric or instance: rt_metric_next() lists the metrics"},
	{"rt_get_named rt_snapshot_get_named ", ENOENT,
	 "there is no such metric, or this sample has no such row: rt_metric_next() lists the metrics"},
	{"rt_get_named rt_snapshot_get_named ", EINVAL,
	 "the name needs other brackets: the key or position of a row, or sum, mean or max"},
	{"rt_next_warning ", ENOENT, "there is no warning"},
	{"rt_history_count rt_history_read ", ENODATA,
	 "no history is kept: call rt_config_set_history() before rt_open()"},
	{"rt_history_read ", ENOENT, "there is no such column, or it is not kept"},
	{"rt_history_read ", ERANGE, "the first sample asked for was dropped: see rt_history_count()"},
	{"rt_get rt_get_named rt_snapshot_take rt_sample_json rt_explain_absent ", ENODATA,
	 "there is no sample yet: call rt_sample() or rt_start() first"},
	{"rt_process_descendants rt_process_rss rt_process_pss rt_process_times rt_process_io "
	 "rt_process_read ",
	 ESRCH, "there is no process with this pid"},
	{"rt_process_rss rt_process_pss rt_process_times rt_process_io rt_process_read "
	 "rt_process_descendants ",
	 EACCES, "this user may not read the process"},
	{"rt_process_pss rt_process_io ", ENODATA, "this kernel does not tell it"},
	{"rt_disk_is_partition ", ENOENT, "sysfs knows no such block device"},
	{"rt_discover ", ENOENT, "resource-tracker-net is not installed"},
	{"rt_discover ", ETIMEDOUT, "there was no answer in time"},
	{"rt_discover ", EIO, "resource-tracker-net has failed"},
	{"rt_discover ", EINVAL, "neither RT_DISCOVER_HOST nor RT_DISCOVER_CLOUD was asked for"},
	{"rt_marks_open ", ENOENT, "the job is not being recorded, so it has no file of marks"},
	{"rt_mark_stop ", EINVAL, "the number is not one of rt_mark_start()"},
	{"rt_record_open rt_table_read_record rt_stats_read_record ", EINVAL,
	 "a column needs brackets, or has none that fit: the problem says which"},
	{"rt_summary_bottleneck rt_summary_program rt_summary_wait rt_stats_entry rt_advice_note "
	 "rt_regions_phase "
	 "rt_regions_call ",
	 ENOENT, "the index is past the last one"},
	{"rt_advice_to_form ", ENODATA, "the advice was refused: rt_advice_refused() says why"},
	{"rt_comparison_holds ", ENODATA, "one side lacks the figure, or counts it differently"},
	{"rt_report rt_report_runs ", ENOSYS, "this library was built without the page"},
	{"rt_combine ", EEXIST, "two of the files are the same recording"},
	{NULL, ECHILD, "the tracker belongs to the process that opened it: open another one after fork()"},
	{NULL, ENOTSUP,
	 "another process records (rt_config_set_apart()), and this call needs the tracker here"},
	{NULL, EPIPE, "the process that records has exited"},
	{NULL, ETIMEDOUT, "the process that records has not answered in 20 s"},
	{NULL, ESHUTDOWN, "the recording has ended: open another tracker"},
	{NULL, ENODATA, "there is no sample in the recording"},
	{NULL, EBADMSG, "the file is not a recording"},
	{NULL, ENOMEM, "out of memory"},
	{NULL, E2BIG, "the caller's header is of a later version, and asks for what this library lacks"},
	{NULL, EINVAL, "an argument is wrong: the size of a struct was not set, or a name is unknown"},
};

static bool has_call(const char *calls, const char *call)
{
	size_t length = strlen(call);

	for (const char *at = calls; (at = strstr(at, call)); at += length)
		if ((at == calls || at[-1] == ' ') && at[length] == ' ')
			return true;
	return false;
}

const char *rt_error_text(const char *call, int error)
{
	if (error >= 0)
		return "no error";
	for (size_t i = 0; i < sizeof ERROR_TEXTS / sizeof ERROR_TEXTS[0]; i++)
		if (ERROR_TEXTS[i].error == -error &&
		    (!ERROR_TEXTS[i].calls || (call && *call && has_call(ERROR_TEXTS[i].calls, call))))
			return ERROR_TEXTS[i].text;
	return strerror(-error);
}
