/* The first lines of the summary: how the run ended, its name, when and how long it ran; see summary.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "summary/command_words.h"
#include "summary/summary.h"
#include "base/cleanup.h"
#include "base/printable.h"
#include "base/screen.h"
#include "table/units.h"

static void add_time(struct buffer *out, double timestamp)
{
	time_t whole = fabs(timestamp) < 1e11 ? (time_t)timestamp : -1;
	struct tm tm;
	char text[32];

	if (whole < 0 || !gmtime_r(&whole, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		return;
	buffer_printf(out, "%s, ", text);
}

/* CSV has no name of the job, but a person named the file. */
static void add_unnamed(struct buffer *out, const struct rt_summary *summary)
{
	bool is_json = strcmp(summary->layout, "json") == 0;

	if (!summary->tracked) {
		buffer_add_text(out, "the machine");
		return;
	}
	buffer_add_printable(out, *summary->file_name && !is_json ? summary->file_name : "a process");
	if (!count_absent(summary->tracked_pid))
		buffer_printf(out, " (pid %lld)", (long long)summary->tracked_pid);
}

/* Cuts a long name, but not in the middle of a character. */
static bool cut_name(struct buffer *name)
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

/* "make -j2 all", if the command was recorded. */
static void add_command(struct buffer *out, const char *command)
{
	CLEANUP_BUFFER struct buffer words = BUFFER(1 << 20);
	bool is_cut;

	add_command_words(&words, command);
	if (buffer_error(&words) || !words.length)
		return;
	is_cut = cut_name(&words);
	buffer_add_printable(out, words.data);
	if (is_cut)
		buffer_add_text(out, "...");
}

/* The task as an engine names it in the environment; NULL: unknown */
static const char *task_of_engine(const struct rt_summary *summary)
{
	static const char *const NAMES[] = {"AIRFLOW_CTX_TASK_ID", "GITHUB_JOB", "NXF_TASK_NAME"};
	const char *task = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(NAMES) && !task; i++)
		task = record_scheduler_value(record_identity(summary->record), NAMES[i]);
	return task;
}

const char *summary_task(const struct rt_summary *summary)
{
	const struct run_start_row *start = FIRST(record_identity(summary->record), run_start);

	return start && !text_absent(start->task_name) ? start->task_name : task_of_engine(summary);
}

/* Engines write the text of a step to a file of any name, and give each step a folder of its own. */
static bool is_step_of_engine(const struct rt_summary *summary, const struct run_start_row *start)
{
	static const char *const SHELLS[] = {"bash", "sh", "dash", "zsh", "ksh"};
	bool is_shell = false;

	for (size_t i = 0; i < ARRAY_SIZE(SHELLS) && !text_absent(start->executable); i++)
		is_shell |= strcmp(start->executable, SHELLS[i]) == 0;
	return is_shell && (!text_absent(start->orchestrator) || task_of_engine(summary));
}

/* "train.py", "make test", as the recorder says, or the executable of older recordings; NULL: unknown */
static const char *program_of(const struct rt_summary *summary, const struct run_start_row *start)
{
	if (start && !text_absent(start->program) && !is_step_of_engine(summary, start))
		return start->program;
	return start && !text_absent(start->executable) ? start->executable : NULL;
}

void summary_find_name(struct rt_summary *summary)
{
	const struct run_start_row *start = FIRST(record_identity(summary->record), run_start);
	CLEANUP_BUFFER struct buffer name = BUFFER(1 << 20);
	const char *program = program_of(summary, start);

	if (*summary->job_name)
		buffer_add_text(&name, summary->job_name);
	else if (start && !text_absent(start->command))
		add_command_words(&name, start->command);
	else if (program)
		buffer_add_text(&name, program);
	else if (!count_absent(summary->tracked_pid))
		buffer_printf(&name, "process %lld", (long long)summary->tracked_pid);
	else
		buffer_add_text(&name, *summary->host ? summary->host : "machine");
	cut_name(&name);
	snprintf(summary->run_name, sizeof(summary->run_name), "%s", name.data ? name.data : "");
}

static void add_name(struct buffer *out, const struct rt_summary *summary)
{
	const struct run_start_row *start = FIRST(record_identity(summary->record), run_start);

	buffer_add_text(out, STYLE_STRONG);
	if (start && !text_absent(start->command))
		add_command(out, start->command);
	else if (program_of(summary, start))
		buffer_add_printable(out, program_of(summary, start));
	else
		add_unnamed(out, summary);
	buffer_add_text(out, STYLE_END);
	if (*summary->job_name) {
		buffer_add_text(out, ", job ");
		buffer_add_printable(out, summary->job_name);
	}
	if (start && !text_absent(start->task_name)) {
		buffer_add_text(out, ", task ");
		buffer_add_printable(out, start->task_name);
	}
	if (*summary->host) {
		buffer_add_text(out, ", on ");
		buffer_add_printable(out, summary->host);
	}
	buffer_add_text(out, "\n");
}

/* An end that is unknown has no colour. */
static void add_end(struct buffer *out, const struct rt_summary *summary)
{
	bool is_known = FIRST(record_identity(summary->record), run_end) != NULL;
	bool is_csv = strcmp(summary->layout, "json") != 0 && strcmp(summary->layout, "snapshot") != 0;

	buffer_add_text(out, is_known ? STYLE_GOOD : "");
	summary_add_end(out, summary);
	buffer_add_text(out, is_known ? STYLE_END : is_csv ? "; -o FILE.jsonl does" : "");
}

void summary_add_heading(struct buffer *out, const struct rt_summary *summary)
{
	bool failed = summary_has_failed(summary);

	/* A failure has the first line. */
	if (failed) {
		buffer_add_text(out, STYLE_BAD "Failed: ");
		summary_add_end(out, summary);
		buffer_add_text(out, STYLE_END "\n");
	}
	add_name(out, summary);
	add_time(out, summary->started);
	/* In a format with only time stamps, a single row covers an unknown time. */
	if (summary->wall_secs > 0) {
		add_duration(out, summary->wall_secs);
		buffer_add_text(out, ": ");
	}
	if (failed)
		buffer_add_text(out, "failed");
	else
		add_end(out, summary);
	buffer_add_text(out, "\n");
}
