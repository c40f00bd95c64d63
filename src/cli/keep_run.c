/* Keeps a run in the history; see keep_run.h. */
#include "cli/keep_run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/file_place.h"
#include "base/scan.h"
#include "cli/after_recording.h"
#include "cli/message.h"
#include "history/history_folder.h"
#include "launch/find_program.h"
#include "launch/in_time.h"

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
	return is_set && !isatty(STDERR_FILENO) && has_default_output(front);
}

/* The beginning of a run in the history, which another process may make. */
struct begin_call {
	const char *given;
	pid_t caller;
	int fd;                   /* 0: the file is closed again; or a negative errno */
	char path[PATH_MAX + 32]; /* of the folder, and then of the file */
	char why[HISTORY_WHY_BYTES + 100];
};

static void call_begin(void *data)
{
	struct begin_call *call = data;
	CLEANUP_FREE char *folder = NULL;
	unsigned number = 0;

	call->fd = history_folder_find(call->given, true, &folder, call->why);
	if (call->fd < 0)
		return;
	call->fd = history_create(folder, &number);
	if (call->fd < 0) {
		snprintf(call->why, sizeof(call->why), "%s: %s", folder, strerror(-call->fd));
		return;
	}
	snprintf(call->path, sizeof(call->path), "%s/%u.jsonl", folder, number);
	if (getpid() != call->caller)
		call->fd = 0;
}

/* The file has the name that a pattern of an output would have: a percent sign is doubled. */
static int add_by_name(struct front *front)
{
	CLEANUP_BUFFER struct buffer name = BUFFER(2 * PATH_MAX);

	for (const char *at = front->kept_path; *at; at++) {
		if (*at == '%')
			buffer_add_char(&name, '%');
		buffer_add_char(&name, *at);
	}
	return buffer_error(&name) ? buffer_error(&name)
				   : rt_config_add_output(front->config, name.data, "json");
}

static int add_by_descriptor(struct front *front)
{
	char name[32];

	snprintf(name, sizeof(name), "/dev/fd/%d", front->kept_fd);
	return rt_config_add_output(front->config, name, "json");
}

int begin_kept_run(struct front *front)
{
	struct begin_call call = {.given = given_text(front, "history"), .caller = getpid()};
	int r;

	if (!front->kept_path) {
		history_place(call.given, call.path);
		r = act_in_time(call.path, call_begin, &call, sizeof(call));
		if (r < 0)
			snprintf(call.why, sizeof(call.why), "%s: %s", call.path, file_place_fault(r));
		if (r < 0 || call.fd < 0) {
			if (!front->no_warnings)
				say("this run is not kept: %s", call.why);
			return 0;
		}
		front->kept_path = strdup(call.path);
		front->kept_fd = call.fd;
		if (!front->kept_path)
			return 0;
	}
	r = front->kept_fd ? add_by_descriptor(front) : add_by_name(front);
	return r < 0 ? front_refuse(front, r) : 0;
}

void drop_kept_run(struct front *front)
{
	if (front->kept_path)
		unlink_in_time(front->kept_path);
	free(front->kept_path);
	front->kept_path = NULL;
}

bool leave_kept_run(struct front *front)
{
	struct stat opened, named;
	int r;

	if (!front->kept_path || !front->kept_fd || fstat(front->kept_fd, &opened) < 0)
		return false;
	r = stat_in_time(front->kept_path, &named);
	if (r < 0 ? r != -ENOENT && r != -ENOTDIR
		  : opened.st_dev == named.st_dev && opened.st_ino == named.st_ino)
		return false;
	if (!front->no_warnings)
		say("this run is no longer kept: %s was removed or renamed", front->kept_path);
	free(front->kept_path);
	front->kept_path = NULL;
	front->temporary_fd = front->kept_fd;
	front->kept_fd = 0;
	return true;
}

void finish_kept_run(struct front *front)
{
	static const char *const FORMS[] = {
		[SUMMARY_NONE] = "none", [SUMMARY_TEXT] = "text", [SUMMARY_JSON] = "json"};

	/* The tracker may still hold the file, to send what is left of it. */
	if (front->kept_fd)
		(void)flock(front->kept_fd, LOCK_UN);
	/* A summary that the user asks for is not a default output, which --quiet leaves out. */
	keep_recording(front->kept_path,
		       front->quiet && front->summary == SUMMARY_NONE ? "quiet" : FORMS[front->summary]);
}
