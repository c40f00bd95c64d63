/* The first lines of the summary: how the run ended, its name, when and how long it ran; see summary.h. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "advice/command_words.h"
#include "advice/summary.h"
#include "base/cleanup.h"
#include "base/printable.h"
#include "base/screen.h"
#include "table/units.h"

enum { NAME_SHOWN = 60 };

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

/* "make -j2 all", if the command was recorded; a long one is cut, but not in the middle of a character. */
static void add_command(struct buffer *out, const char *command)
{
	CLEANUP_BUFFER struct buffer words = BUFFER(1 << 20);
	size_t shown;

	add_command_words(&words, command);
	if (buffer_error(&words) || !words.length)
		return;
	shown = words.length;
	if (shown > NAME_SHOWN) {
		for (shown = NAME_SHOWN; shown && ((unsigned char)words.data[shown] & 0xc0) == 0x80;)
			shown--;
		words.data[shown] = '\0';
	}
	buffer_add_printable(out, words.data);
	if (shown < words.length)
		buffer_add_text(out, "...");
}

static void add_name(struct buffer *out, const struct rt_summary *summary)
{
	const struct run_start_row *start = FIRST(record_identity(summary->record), run_start);

	buffer_add_text(out, STYLE_STRONG);
	if (start && !text_absent(start->command))
		add_command(out, start->command);
	else if (start && !text_absent(start->executable))
		buffer_add_printable(out, start->executable);
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
