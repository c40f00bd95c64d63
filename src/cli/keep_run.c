/* Keeps a run in the history; see keep_run.h. */
#include "cli/keep_run.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/scan.h"
#include "cli/after_recording.h"
#include "cli/message.h"
#include "history/history_folder.h"
#include "launch/find_program.h"

static const char *given_text(const struct front *front, const char *name)
{
	const struct given *item = given_by_name(&front->given, name);

	return item && item->text && *item->text ? item->text : NULL;
}

static bool has_default_output(const struct front *front)
{
	char path[PATH_MAX];

	return front->mode == MODE_WRAP && !front->named_outputs && !given_by_name(&front->given, "format") &&
	       find_sister_program(&ANALYSIS_PROGRAM, path) == 0;
}

bool run_is_kept(const struct front *front)
{
	const char *folder = given_text(front, "history");

	return isatty(STDERR_FILENO) && !front->no_history && !(folder && history_is_off(folder)) &&
	       has_default_output(front);
}

bool run_is_in_ci_log(const struct front *front)
{
	const char *ci = getenv("CI");
	struct scan text = scan_bytes(ci ? ci : "", ci ? strlen(ci) : 0);
	bool is_set = scan_left(&text) > 0;

	/* "CI=false" is said, too. Any other text, such as the name of a system, means yes. */
	(void)scan_flag(&text, &is_set);
	return is_set && !front->quiet && !isatty(STDERR_FILENO) && has_default_output(front);
}

int begin_kept_run(struct front *front)
{
	char why[HISTORY_WHY_BYTES], name[32];
	CLEANUP_FREE char *folder = NULL;
	unsigned number = 0;
	int fd;

	if (!front->kept_fd) {
		fd = history_folder_find(given_text(front, "history"), true, &folder, why);
		if (fd == 0) {
			snprintf(why, sizeof(why), "%s", folder);
			fd = history_create(folder, &number);
		}
		if (fd < 0) {
			if (!front->no_warnings && number == 0 && folder)
				say("this run is not kept: %s: %s", folder, strerror(-fd));
			else if (!front->no_warnings)
				say("this run is not kept: %s", why);
			return 0;
		}
		if (asprintf(&front->kept_path, "%s/%u.jsonl", folder, number) < 0) {
			front->kept_path = NULL;
			close(fd);
			return refuse("out of memory");
		}
		front->kept_fd = fd;
	}
	snprintf(name, sizeof(name), "/dev/fd/%d", front->kept_fd);
	return rt_config_add_output(front->config, name, "json") < 0
		       ? refuse("%s", rt_config_message(front->config))
		       : 0;
}

void drop_kept_run(struct front *front)
{
	if (front->kept_path)
		unlink(front->kept_path);
	free(front->kept_path);
	front->kept_path = NULL;
}

void finish_kept_run(struct front *front)
{
	static const char *const FORMS[] = {
		[SUMMARY_NONE] = "none", [SUMMARY_TEXT] = "text", [SUMMARY_JSON] = "json"};

	/* The tracker may still hold the file, to send what is left of it. */
	(void)flock(front->kept_fd, LOCK_UN);
	/* A summary that the user asks for is not a default output, which --quiet leaves out. */
	keep_recording(front->kept_path,
		       front->quiet && front->summary == SUMMARY_NONE ? "quiet" : FORMS[front->summary]);
}
