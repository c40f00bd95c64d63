/* ls: lists the runs of the history as a table or JSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/command.h"
#include "analysis/words.h"
#include "base/cleanup.h"
#include "base/printable.h"
#include "base/screen.h"
#include "history/history.h"
#include "history/list_text.h"
#include "launch/in_time.h"
#include "resource_tracker_analysis.h"

enum { OUTPUT_BYTES = 64 << 20, SHOWN_USUALLY = 30, LASTS_SHOWN = 3, NOT_GIVEN = -1 };

static const char *text_of(const json_t *line, const char *key)
{
	return json_string_value(json_object_get(line, key));
}

/* ---- which runs -------------------------------------------------------------------------------------- */

static bool has_tag(const json_t *line, const char *wanted)
{
	size_t length = strcspn(wanted, "=");
	CLEANUP_FREE char *key = strndup(wanted, length);
	const char *value = key ? text_of(json_object_get(line, "tags"), key) : NULL;

	return value && (!wanted[length] || strcmp(value, wanted + length + 1) == 0);
}

static bool is_listed_run(const struct ls_words *options, const json_t *line)
{
	const char *name = text_of(line, "name"), *outcome = text_of(line, "outcome");
	bool is_named = !options->line.files.count;

	for (size_t i = 0; i < options->tag.count; i++)
		if (!has_tag(line, options->tag.texts[i]))
			return false;
	for (size_t i = 0; i < options->line.files.count; i++)
		is_named = is_named || (name && strstr(name, options->line.files.texts[i]));
	return is_named && (!options->outcome || (outcome && strcmp(outcome, options->outcome) == 0));
}

/* The last `options->number` of the chosen lines, the oldest first. Returns how many there are in all. */
static size_t choose_runs(struct ls_words *options, struct history *history, const json_t **ret_lines,
			  size_t *ret_count)
{
	size_t count = 0, most;

	for (size_t i = 0; i < history->count; i++) {
		const json_t *line =
			history->runs[i].dropped ? NULL : history_line(history, &history->runs[i]);

		if (line && is_listed_run(options, line))
			ret_lines[count++] = line;
	}
	if (options->number == NOT_GIVEN)
		options->number = options->json ? 0 : SHOWN_USUALLY;
	most = options->number ? (size_t)options->number : count;
	*ret_count = count < most ? count : most;
	memmove(ret_lines, ret_lines + count - *ret_count, *ret_count * sizeof(const json_t *));
	return count;
}

/* ---- output ------------------------------------------------------------------------------------------ */

static void add_json(struct buffer *out, const json_t *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		CLEANUP_FREE char *line = json_dumps(lines[i], JSON_COMPACT | JSON_REAL_PRECISION(15));

		buffer_add_text(out, i ? ",\n" : "[");
		buffer_add_text(out, line ? line : "null");
	}
	buffer_add_text(out, count ? "]\n" : "[]\n");
}

/* A name may match several runs, and stands here once. */
static bool is_new_name(const json_t *const *lines, size_t index)
{
	const char *name = text_of(lines[index], "name");

	for (size_t i = 0; i < index && name; i++)
		if (text_of(lines[i], "name") && strcmp(text_of(lines[i], "name"), name) == 0)
			return false;
	return name && *name;
}

static void add_listed_words(struct buffer *out, const json_t *const *lines, size_t count)
{
	if (count)
		buffer_add_text(out, "last\n");
	for (size_t i = 1; i < count && i <= LASTS_SHOWN; i++)
		buffer_printf(out, "last~%zu\n", i);
	for (size_t i = 0; i < count; i++)
		buffer_printf(out, "%lld\n",
			      (long long)json_integer_value(json_object_get(lines[i], "number")));
	for (size_t i = 0; i < count; i++) {
		if (!is_new_name(lines, i))
			continue;
		buffer_add_printable(out, text_of(lines[i], "name"));
		buffer_add_char(out, '\n');
	}
}

static int print_runs(const struct subcommand *command, struct ls_words *options, struct history *history)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(OUTPUT_BYTES);
	CLEANUP_FREE const json_t **lines = calloc(history->count + 1, sizeof(*lines));
	struct screen screen = table_screen_of(STDOUT_FILENO, command_colour());
	size_t count, all;

	if (!lines)
		return command_fault(command, "out of memory");
	all = choose_runs(options, history, lines, &count);
	if (options->words) {
		add_listed_words(&out, lines, count);
	} else if (options->json) {
		add_json(&out, lines, count);
	} else if (!count) {
		return command_fault(command,
				     history->count ? "no run is like that" : "no run has been kept yet");
	} else {
		if (all > count)
			buffer_printf(&out, "%zu earlier runs: resource-tracker ls -n 0\n", all - count);
		run_list_add_text(&out, lines, count, &screen);
	}
	if (buffer_error(&out))
		return command_fault(command, "out of memory");
	return command_write_fitted(command, NULL, out.data ? out.data : "");
}

int run_ls(const struct subcommand *command, char **argv)
{
	__attribute__((cleanup(history_close))) struct history history = {.fd = -1};
	CLEANUP_OPTIONS(ls) options = {.number = NOT_GIVEN};
	struct rt_problem problem = {"out of memory"};
	int result, status = command_read_words(command, argv, &options);

	if (status)
		return status;
	/* A shell waits for the words. */
	if (options.words)
		allow_work_aside(JOB_LOOK_MS);
	result = history_open(&history, false, &problem);
	if (result < 0 && options.words)
		return 0;
	if (result == -ENOENT && options.json)
		return puts("[]") < 0 || fflush(stdout) != 0 ? EXIT_FAULT : 0;
	if (result < 0)
		return command_fault(command, "%s", problem.text);
	if (!options.words)
		history_tidy(&history);
	return print_runs(command, &options, &history);
}
