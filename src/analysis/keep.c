/* Prints and archives a run that has just ended; see keep.h. */
#include "analysis/keep.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/command.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/printable.h"
#include "base/write_all.h"
#include "history/history.h"
#include "history/history_folder.h"

static void print_kept_summary(const char *form, char *path)
{
	char name[] = "summary", json[] = "--json", no_pager[] = "--no-pager";
	char *argv[] = {name, no_pager, strcmp(form, "json") == 0 ? json : path,
			strcmp(form, "json") == 0 ? path : NULL, NULL};

	(void)run_summary(command_named(name), argv);
}

static void print_number(const char *path)
{
	const char *slash = strrchr(path, '/');
	char line[200];
	unsigned number;
	int length;

	if (history_file_kind(slash ? slash + 1 : path, &number) == HISTORY_OTHER)
		return;
	length = snprintf(line, sizeof(line), "recorded as run %u; its page: resource-tracker report %u\n",
			  number, number);
	(void)write_all(STDOUT_FILENO, line, (size_t)length);
}

/* The disk may have been full from the first sample on. */
static bool is_kept_run(const char *path, const char *compressed)
{
	struct stat status;

	return (stat(path, &status) == 0 && status.st_size > 0) || access(compressed, F_OK) == 0;
}

/* The recorder may have been told of a folder by an option, which this process does not see. */
static int open_history_of(const char *path, struct history *ret_history)
{
	CLEANUP_FREE char *folder = strndup(path, (size_t)(strrchr(path, '/') - path));
	struct rt_problem problem = {""};
	int r = folder ? 0 : -ENOMEM;

	if (r == 0 && setenv("TRACKER_HISTORY", folder, 1) < 0)
		r = -errno;
	if (r == 0)
		r = history_open(ret_history, true, &problem);
	if (r < 0) {
		CLEANUP_BUFFER struct buffer text = BUFFER(2 * PATH_MAX);

		buffer_add_printable(&text, *problem.text ? problem.text : strerror(-r));
		buffer_add_text(&text, "; its recording is ");
		buffer_add_printable(&text, path);
		fprintf(stderr, "resource-tracker: this run is not listed: %s\n",
			buffer_error(&text) ? strerror(-r) : text.data);
	}
	return r;
}

int keep_run_of(const char *form, const char *path)
{
	bool quiet = strcmp(form, "quiet") == 0, has_summary = !quiet && strcmp(form, "none") != 0;
	CLEANUP_FREE char *copy = strdup(path), *compressed = NULL;
	struct history history;

	if (asprintf(&compressed, "%s.gz", path) < 0)
		compressed = NULL;
	if (!copy || !compressed || !strchr(path, '/'))
		return EXIT_FAULT;
	/* A command that looked at the history meanwhile may have archived it. */
	if (has_summary && is_kept_run(copy, compressed))
		print_kept_summary(form, access(copy, F_OK) == 0 ? copy : compressed);
	if (open_history_of(path, &history) < 0)
		return EXIT_FAULT;
	if (!quiet && strcmp(form, "json") != 0 && is_kept_run(copy, compressed))
		print_number(path);
	history_tidy(&history);
	history_close(&history);
	return 0;
}
