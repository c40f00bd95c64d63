/* Describes in words how a run ended; see summary.h. */
#include <limits.h>
#include <string.h>

#include "summary/summary.h"
#include "base/signal_names.h"

/* "killed by SIGSEGV (11), core dumped" */
static void add_killed_by(struct buffer *out, const struct run_end_row *end)
{
	char name[SIGNAL_NAME_SIZE];
	int64_t number = end->signal;

	if (number > 0 && number <= INT_MAX && strncmp(signal_name((int)number, name), "SIG", 3) == 0)
		buffer_printf(out, "killed by %s (%lld)", name, (long long)number);
	else
		buffer_printf(out, "killed by signal %lld", (long long)number);
	if (!count_absent(end->core_dumped) && end->core_dumped)
		buffer_add_text(out, ", core dumped");
}

static void add_status(struct buffer *out, const struct run_end_row *end, const char *reason)
{
	if (!count_absent(end->signal))
		add_killed_by(out, end);
	else if (strcmp(reason, "exec_failed") == 0)
		buffer_add_text(out, "the command could not be started");
	else if (!count_absent(end->exit_code))
		buffer_printf(out, "exit status %lld", (long long)end->exit_code);
	else if (strcmp(reason, "target_exited") == 0)
		buffer_add_text(out, "the tracked process has ended");
	else if (strcmp(reason, "duration") == 0)
		buffer_add_text(out, "the duration asked for was over");
	else if (strcmp(reason, "tracker_stopped") == 0)
		buffer_add_text(out, "the tracker was stopped");
	else
		buffer_add_text(out, *reason ? reason : "ended");
}

bool summary_has_failed(const struct rt_summary *summary)
{
	const struct run_end_row *end = FIRST(record_identity(summary->record), run_end);

	if (summary_oom(summary).kind == OOM_STOPPED_AT_LIMIT)
		return true;
	return end && (!count_absent(end->signal) || (!count_absent(end->exit_code) && end->exit_code != 0) ||
		       (!text_absent(end->reason) && strcmp(end->reason, "exec_failed") == 0));
}

void summary_add_end(struct buffer *out, const struct rt_summary *summary)
{
	const struct run_end_row *end = FIRST(record_identity(summary->record), run_end);
	const char *reason = end && !text_absent(end->reason) ? end->reason : "";
	struct oom_finding oom = summary_oom(summary);

	if (oom.kind == OOM_STOPPED_AT_LIMIT) {
		buffer_printf(out,
			      "no end is recorded; probably killed for lack of memory, at %.0f of %.0f MiB",
			      oom.peak_mib, oom.limit_mib);
		return;
	}
	if (!end) {
		if (strcmp(summary->layout, "json") == 0)
			buffer_add_text(out, "no end is recorded: still running, or the recorder was killed");
		else if (strcmp(summary->layout, "snapshot") == 0)
			buffer_add_text(out, "a snapshot does not record how it ended");
		else
			buffer_add_text(out, "CSV does not record how it ended");
		return;
	}
	if (strncmp(reason, "oom_kill", 8) == 0) {
		buffer_add_text(out, strcmp(reason, "oom_kill_confirmed") == 0
					     ? "killed for lack of memory (OOM)"
					     : "probably killed for lack of memory (OOM)");
		return;
	}
	add_status(out, end, reason);
	if (!text_absent(end->process_limit))
		buffer_printf(out, "; limited to %s", end->process_limit);
	if (oom.kind == OOM_STEP)
		buffer_printf(out, "; %lld process%s killed for lack of memory%s", (long long)oom.kills,
			      oom.kills == 1 ? " was" : "es were",
			      oom.shared ? " in its cgroup, which others share" : "");
}
