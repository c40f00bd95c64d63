/* Lines for runs outside the history: of a file, as a text, and appended to a file of runs. See resource_tracker_analysis.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_lock.h"
#include "history/run_line.h"
#include "history/runs_file.h"
#include "resource_tracker_analysis.h"
#include "table/table.h"

enum { LINE_BYTES = 1 << 20 };

int run_line_add_file(struct buffer *out, const char *recording, struct rt_problem *ret_problem)
{
	CLEANUP_FREE char *whole = realpath(recording, NULL);
	CLEANUP_CLOSE int fd = open(recording, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	/* The recorder's temporary file has no name. */
	bool is_unnamed = strncmp(recording, "/proc/", strlen("/proc/")) == 0;
	struct run_place place = {.path = is_unnamed ? NULL : whole,
				  .live = fd >= 0 && is_locked_by_writer(fd, LOCK_SH)};

	if (strcmp(recording, "-") == 0)
		return problem_set(ret_problem, -ESPIPE,
				   "a line needs to read a recording more than once; name a file instead of "
				   "standard input");
	return run_line_add(out, recording, &place, ret_problem);
}

int rt_run_line(const char *recording, char **ret_text, struct rt_problem *ret_problem)
{
	CLEANUP_BUFFER struct buffer line = BUFFER(LINE_BYTES);
	int result = run_line_add_file(&line, recording, ret_problem);

	if (result == 0)
		result = buffer_take_text(&line, ret_text);
	return result == -ENOMEM ? problem_set(ret_problem, result, "out of memory") : result;
}

int rt_runs_append(const char *runs, const char *recording, struct rt_problem *ret_problem)
{
	CLEANUP_BUFFER struct buffer line = BUFFER(LINE_BYTES);
	int result = run_line_add_file(&line, recording, ret_problem);

	return result < 0 ? result : runs_file_append(runs, &line, ret_problem);
}
