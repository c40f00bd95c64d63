/* combine: merges several recordings into one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "analysis/command.h"
#include "analysis/words.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "format/mark_line.h"
#include "resource_tracker_analysis.h"

static void read_all_parts(const char *path, struct buffer *out)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char bytes[4096];
	ssize_t count;

	while (fd >= 0 && (count = read(fd, bytes, sizeof(bytes))) > 0)
		buffer_add(out, bytes, (size_t)count);
}

/* Each mark names the process that made it, so the marks of all recordings can share one file. */
static int join_marks(const struct subcommand *command, const struct text_list *paths, const char *output)
{
	CLEANUP_BUFFER struct buffer marks = BUFFER(1 << 30), name = BUFFER(1 << 16);

	for (size_t i = 0; i < paths->count; i++) {
		buffer_clear(&name);
		buffer_printf(&name, "%s.marks", paths->texts[i]);
		if (!buffer_error(&name) && marks_can_be_read(name.data))
			read_all_parts(name.data, &marks);
	}
	buffer_clear(&name);
	buffer_printf(&name, "%s.marks", output);
	if (buffer_error(&marks) || buffer_error(&name))
		return command_fault(command, "out of memory for the marks");
	return marks.length ? command_write(command, name.data, marks.data, marks.length) : 0;
}

int run_combine(const struct subcommand *command, char **argv)
{
	struct rt_problem problem = {"out of memory"};
	CLEANUP_OPTIONS(combine) options = {.output = "-"};
	const struct text_list *files = &options.line.files;
	int status = command_read(command, argv, &options);

	if (status)
		return status;
	if (!files->count)
		return command_usage(command, "name recordings");
	if (command_check_output(command, options.output))
		return EXIT_FAULT;
	if (rt_combine(files->texts, files->count, options.output, &problem) < 0)
		return command_fault(command, "%s", problem.text);
	return strcmp(options.output, "-") == 0 ? 0 : join_marks(command, files, options.output);
}
