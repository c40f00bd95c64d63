/* combine: merges several recordings into one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "analysis/command.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "format/mark_line.h"
#include "resource_tracker_analysis.h"

static const struct option OPTIONS[] = {
	{"output", required_argument, NULL, 'o'}, {"json", no_argument, NULL, 'j'}, {0}};

static void read_all(const char *path, struct buffer *out)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char bytes[4096];
	ssize_t count;

	while (fd >= 0 && (count = read(fd, bytes, sizeof(bytes))) > 0)
		buffer_add(out, bytes, (size_t)count);
}

/* Each mark names the process that made it, so the marks of all recordings can share one file. */
static int join_marks(const struct command *command, char *const *paths, const char *output)
{
	CLEANUP_BUFFER struct buffer marks = BUFFER(1 << 30), name = BUFFER(1 << 16);

	for (; *paths; paths++) {
		buffer_clear(&name);
		buffer_printf(&name, "%s.marks", *paths);
		if (!buffer_error(&name) && marks_can_be_read(name.data))
			read_all(name.data, &marks);
	}
	buffer_clear(&name);
	buffer_printf(&name, "%s.marks", output);
	if (buffer_error(&marks) || buffer_error(&name))
		return command_fault(command, "out of memory for the marks");
	return marks.length ? command_write(command, name.data, marks.data, marks.length) : 0;
}

static int run_combine(const struct command *command, int argc, char **argv)
{
	struct rt_problem problem = {"out of memory"};
	const char *output = "-";
	int option;

	while ((option = next_option(argc, argv, "o:", OPTIONS, NULL)) != -1) {
		if (option == '?')
			return command_bad_option(command, argv, "o:", OPTIONS);
		if (option == 'o')
			output = optarg;
	}
	if (optind == argc)
		return command_usage(command, "name recordings");
	if (command_check_output(command, output))
		return EXIT_FAULT;
	if (rt_combine((const char *const *)argv + optind, (size_t)(argc - optind), output, &problem) < 0)
		return command_fault(command, "%s", problem.text);
	return strcmp(output, "-") == 0 ? 0 : join_marks(command, argv + optind, output);
}

const struct command COMBINE_COMMAND = {
	.name = "combine",
	.synopsis = "combine [OPTIONS] FILE... -o OUT",
	.purpose = "Combine the recordings of processes, ranks or hosts into one recording",
	.options =
		"  -o, --output FILE         write to FILE, and the marks of all recordings to FILE.marks\n"
		"                            (default: standard output, without marks)\n"
		"      --json                accepted, as by every subcommand; the output is JSON Lines\n"
		"                            anyway\n"
		"\n"
		"Figures of jobs are added up over all FILEs, figures of machines over all hosts, each\n"
		"host once. The same recording cannot be given twice.\n",
	.run = run_combine,
};
