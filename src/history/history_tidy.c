/* Changes the history: completes runs, removes them, tags them, and keeps it small. See history.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "history/history.h"
#include "history/history_store.h"
#include "history/run_line.h"

enum { RUNS_MOST = 1000, LINES_BYTES = 256 << 20 };

static char *compressed_path(const struct history *history, unsigned number)
{
	char *path;

	return asprintf(&path, "%s/%u.jsonl.gz", history->folder, number) < 0 ? NULL : path;
}

/* A recording without a sample says nothing. One that is damaged stays as it is. */
static void complete_run(struct history *history, struct history_run *run)
{
	CLEANUP_BUFFER struct buffer line = BUFFER(1 << 20);
	CLEANUP_FREE char *path = compressed_path(history, run->number);
	struct run_place place = {run->number, path, false};
	bool lacks_line = !run->line;
	struct stat status;
	int r = 0;

	if (!path || !run->path)
		return;
	if (lacks_line)
		r = run_line_add(&line, run->path, &place, NULL);
	if (r == -ENODATA) {
		history_remove_files(history->fd, run->number);
		run->dropped = true;
		return;
	}
	if (r < 0)
		return;
	if (!run->compressed && history_compress(history->fd, run->number) == 0) {
		free(run->path);
		run->path = path;
		path = NULL;
		run->compressed = true;
		run->bytes = stat(run->path, &status) == 0 ? status.st_size : run->bytes;
	}
	if (!lacks_line)
		return;
	run->line = json_loadb(line.data, line.length, 0, NULL);
	(void)history_append(history->fd, &line);
}

/* The oldest go first. A live run and the newest stay, whatever their size. */
static void prune_history(struct history *history)
{
	size_t runs = 0, i;
	int64_t bytes = 0;

	for (i = 0; i < history->count; i++) {
		if (history->runs[i].dropped)
			continue;
		runs++;
		bytes += history->runs[i].bytes;
	}
	for (i = 0; i + 1 < history->count && (runs > RUNS_MOST || bytes > history->bytes_most); i++) {
		struct history_run *run = &history->runs[i];

		if (run->live || run->dropped)
			continue;
		run->dropped = run->has_files = history->changed = true;
		runs--;
		bytes -= run->bytes;
	}
}

/* The sign of a removed run is of no use once a later run has the next number. */
static void clear_signs(const struct history *history)
{
	unsigned newest = history->count ? history->runs[history->count - 1].number : 0;

	for (size_t i = 0; i < history->removed_count; i++)
		newest = history->removed[i] > newest ? history->removed[i] : newest;
	for (size_t i = 0; i < history->removed_count; i++)
		if (history->removed[i] < newest)
			history_mark_removed(history->fd, history->removed[i], false);
}

void history_tidy(struct history *history)
{
	if (!history->locked)
		return;
	clear_signs(history);
	for (size_t i = 0; i < history->count; i++) {
		struct history_run *run = &history->runs[i];

		if (!run->live && !run->dropped && run->path && (!run->compressed || !run->line))
			complete_run(history, run);
	}
	prune_history(history);
	(void)history_save(history);
}

/* After their lines: a run whose line is gone gets it again from its recording, and a line alone would stay for ever. */
static void remove_files(struct history *history)
{
	bool is_newest = true;

	for (size_t i = history->count; i-- > 0;) {
		struct history_run *run = &history->runs[i];

		if (run->has_files) {
			history_mark_removed(history->fd, run->number, is_newest);
			history_remove_files(history->fd, run->number);
		}
		is_newest = is_newest && run->dropped && !run->has_files;
		run->has_files = false;
	}
}

int history_save(struct history *history)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(LINES_BYTES);
	int r;

	for (size_t i = 0; history->changed && i < history->count; i++) {
		const struct history_run *run = &history->runs[i];
		CLEANUP_FREE char *line = NULL;

		if (run->dropped || run->live || !run->line)
			continue;
		line = json_dumps(run->line, JSON_COMPACT | JSON_REAL_PRECISION(15));
		if (!line)
			return -ENOMEM;
		buffer_add_text(&text, line);
		buffer_add_char(&text, '\n');
	}
	if (!history->changed || !history->locked)
		return 0;
	r = history_replace_lines(history->fd, &text);
	history->changed = r < 0;
	if (r == 0)
		remove_files(history);
	return r;
}

int history_remove(struct history *history, struct history_run *run)
{
	if (run->live)
		return -EBUSY;
	if (!history->locked)
		return -EAGAIN;
	run->dropped = run->has_files = history->changed = true;
	return 0;
}

int history_tag(struct history *history, struct history_run *run, const char *key, const char *value)
{
	json_t *tags;

	if (run->live)
		return -EBUSY;
	if (!history->locked)
		return -EAGAIN;
	if (!history_line(history, run))
		return -ENODATA;
	tags = json_object_get(run->line, "tags");
	if (!json_is_object(tags)) {
		tags = json_object();
		if (json_object_set_new(run->line, "tags", tags) < 0)
			return -ENOMEM;
	}
	history->changed = true;
	if (!*value)
		return json_object_del(tags, key) < 0 ? -ENOENT : 0;
	return json_object_set_new(tags, key, json_string(value)) < 0 ? -EINVAL : 0;
}

int history_own_lines(char **ret_path, struct rt_problem *ret_problem)
{
	struct history history;
	struct stat status;
	char *path = NULL;
	int result = history_open(&history, false, ret_problem);

	if (result == 0) {
		history_tidy(&history);
		if (asprintf(&path, "%s/runs.jsonl", history.folder) < 0) {
			path = NULL;
			result = problem_set(ret_problem, -ENOMEM, "out of memory");
		}
		history_close(&history);
	}
	if (path && stat(path, &status) < 0)
		result = -errno;
	else if (path && !status.st_size)
		result = -ENOENT;
	if (result == -ENOENT)
		problem_set(ret_problem, result, "no run has been kept yet; name a file of runs");
	if (result < 0)
		free(path);
	else
		*ret_path = path;
	return result;
}
