/* The name and the end of a run in words. See summary.h. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/signal_names.h"
#include "metric/typed_rows.h"
#include "summary/summary.h"

/* Adds the character of the escape that begins at `at`, and returns its last byte. The recorder writes others as UTF-8. */
static const char *add_escape(struct buffer *out, const char *at)
{
	bool is_plain = strchr("\"\\/", at[1]) != NULL;

	buffer_add_char(out, is_plain ? at[1] : ' ');
	return at[1] == 'u' && strlen(at) >= 6 ? at + 5 : at + 1;
}

void add_command_words(struct buffer *out, const char *command)
{
	bool inside = false;

	for (; *command; command++) {
		if (inside && *command == '\\' && command[1])
			command = add_escape(out, command);
		else if (*command == '"')
			inside = !inside;
		else if (inside)
			buffer_add_char(out, *command);
		else if (*command == ',')
			buffer_add_char(out, ' ');
	}
}

/* Cuts a long name, but not in the middle of a character. */
bool cut_run_name(struct buffer *name)
{
	bool is_long = name->length > RUN_NAME_SHOWN;

	if (is_long)
		for (name->length = RUN_NAME_SHOWN;
		     name->length && ((unsigned char)name->data[name->length] & 0xc0) == 0x80;)
			name->length--;
	if (name->data)
		name->data[name->length] = '\0';
	return is_long;
}

/* The task as an engine names it in the environment, NULL if unknown */
static const char *task_of_engine(const struct run_facts *facts)
{
	static const char *const NAMES[] = {"AIRFLOW_CTX_TASK_ID", "GITHUB_JOB", "NXF_TASK_NAME"};
	const char *task = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(NAMES) && !task; i++)
		task = record_scheduler_value(record_identity(facts->record), NAMES[i]);
	return task;
}

static bool is_shell(const struct run_start_row *start)
{
	static const char *const SHELLS[] = {"bash", "sh", "dash", "zsh", "ksh"};
	bool is_one = false;

	for (size_t i = 0; i < ARRAY_SIZE(SHELLS) && !text_absent(start->executable); i++)
		is_one |= strcmp(start->executable, SHELLS[i]) == 0;
	return is_one;
}

/* The target of make, for whose shell no other name is known: "bash (folder)" would pool all targets. NULL: another run */
static const char *task_as_name(const struct run_facts *facts, const struct run_start_row *start)
{
	bool has_other = !start || *facts->job_name || !text_absent(start->command) ||
			 text_absent(start->task_name) || !is_shell(start);

	if (!has_other && !text_absent(start->program))
		has_other = strncmp(start->program, start->executable, strlen(start->executable)) != 0;
	return has_other ? NULL : start->task_name;
}

const char *summary_task(const struct run_facts *facts)
{
	const struct run_start_row *start = FIRST(record_identity(facts->record), run_start);

	if (task_as_name(facts, start))
		return NULL;
	return start && !text_absent(start->task_name) ? start->task_name : task_of_engine(facts);
}

/* Engines write the text of a step to a file of any name, and give each step a folder of its own. */
static bool is_step_of_engine(const struct run_facts *facts, const struct run_start_row *start)
{
	return is_shell(start) && (!text_absent(start->orchestrator) || task_of_engine(facts));
}

/* "train.py", "make test", as the recorder says, or the executable of older recordings, NULL if unknown */
const char *summary_program(const struct run_facts *facts)
{
	const struct run_start_row *start = FIRST(record_identity(facts->record), run_start);

	if (start && !text_absent(start->program) && !is_step_of_engine(facts, start))
		return start->program;
	return start && !text_absent(start->executable) ? start->executable : NULL;
}

void summary_find_name(struct run_facts *facts)
{
	const struct run_start_row *start = FIRST(record_identity(facts->record), run_start);
	CLEANUP_BUFFER struct buffer name = BUFFER(1 << 20);
	const char *program = summary_program(facts), *target = task_as_name(facts, start);
	const char *folder = program ? strchr(program, '(') : NULL;

	if (target)
		buffer_printf(&name, "%s%s%s", target, folder ? " " : "", folder ? folder : "");
	else if (*facts->job_name)
		buffer_add_text(&name, facts->job_name);
	else if (start && !text_absent(start->command))
		add_command_words(&name, start->command);
	else if (program)
		buffer_add_text(&name, program);
	else if (!count_absent(facts->tracked_pid))
		buffer_printf(&name, "process %lld", (long long)facts->tracked_pid);
	else
		buffer_add_text(&name, *facts->host ? facts->host : "machine");
	(void)cut_run_name(&name);
	snprintf(facts->run_name, sizeof(facts->run_name), "%s", name.data ? name.data : "");
}

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

const char *summary_failed_program(const struct run_facts *facts)
{
	const struct first_failure_row *first = FIRST(record_identity(facts->record), first_failure);

	return first && !text_absent(first->program) ? first->program : NULL;
}

/* "cc1 was killed by SIGSEGV (11) 2.1 s before the end; make (exit status 2) passed it on" */
void summary_add_first_failure(struct buffer *out, const struct run_facts *facts)
{
	const struct first_failure_row *first = FIRST(record_identity(facts->record), first_failure);
	char name[SIGNAL_NAME_SIZE];

	if (!first || text_absent(first->parents))
		return;
	buffer_add_text(out, text_absent(first->certainty) || strcmp(first->certainty, "sure") != 0
				     ? "probably "
				     : "");
	buffer_add_text(out, text_absent(first->program) ? "a process of unknown name" : first->program);
	if (count_absent(first->signal))
		buffer_printf(out, " ended with exit status %lld", (long long)first->exit_code);
	else
		buffer_printf(
			out, " was killed by %s%s",
			signal_name(first->signal > 0 && first->signal <= INT_MAX ? (int)first->signal : 0,
				    name),
			first->core_dumped > 0 ? " (core dumped)" : "");
	if (first->out_of_memory > 0)
		buffer_add_text(out, " for lack of memory");
	if (!real_absent(first->before_end_secs) && first->before_end_secs >= 0.05)
		buffer_printf(out, " %.1f s before the end", first->before_end_secs);
	if (!real_absent(first->memory_mib) && !real_absent(first->sample_age_secs) &&
	    !count_absent(first->signal))
		buffer_printf(out, " (it had %.0f MiB %.1f s before)", first->memory_mib,
			      first->sample_age_secs);
	buffer_printf(out, "; %s passed it on", first->parents);
	if (!text_absent(first->other_program))
		buffer_printf(out, "; or else %s failed first", first->other_program);
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

void summary_add_end(struct buffer *out, const struct run_facts *facts)
{
	const struct run_end_row *end = FIRST(record_identity(facts->record), run_end);
	const char *reason = end && !text_absent(end->reason) ? end->reason : "";
	struct oom_finding oom = summary_oom(facts);

	if (oom.kind == OOM_STOPPED_AT_LIMIT) {
		buffer_printf(out,
			      "no end is recorded; probably killed for lack of memory, at %.0f of %.0f MiB",
			      oom.peak_mib, oom.limit_mib);
		return;
	}
	if (!end) {
		if (strcmp(facts->layout, "json") == 0)
			buffer_add_text(out, "no end is recorded: still running, the recorder was killed, or "
					     "its disk was full");
		else if (strcmp(facts->layout, "snapshot") == 0)
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
