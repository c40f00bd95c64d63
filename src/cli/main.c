/* resource-tracker: records what a job and its machine use. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/enough_stack.h"
#include "cli/alone.h"
#include "cli/front.h"
#include "cli/help.h"
#include "cli/message.h"
#include "cli/run_subcommand.h"
#include "cli/run_recording.h"
#include "cli/serve_runs.h"
#include "launch/in_time.h"

enum { USAGE_BYTES = 4096 };

/*
 * The machine or a running process on a terminal: a short usage if nothing was asked for, else the live view. It starts
 * the recorder with the words behind "--". Returns an exit status, or -1 if the view is not installed: then samples are
 * printed.
 */
static int run_screen(char **argv)
{
	char name[] = "live", separator[] = "--";
	CLEANUP_FREE char **words = NULL;
	size_t count = 0;

	if (!argv[0] || !argv[1]) {
		CLEANUP_BUFFER struct buffer text = BUFFER(USAGE_BYTES);

		add_usage(&text);
		print_text(&text);
		return EXIT_OWN_ERROR;
	}
	if (!is_subcommand(name) || !has_program_of(name))
		return -1;
	while (argv[count])
		count++;
	words = calloc(count + 3, sizeof(*words));
	if (!words)
		return refuse("out of memory");
	words[0] = argv[0];
	words[1] = name;
	words[2] = separator;
	memcpy(words + 3, argv + 1, (count - 1) * sizeof(*words));
	return run_subcommand(words);
}

static int run_command(char **argv)
{
	struct front front;
	int status;

	/* Only as the first argument: after an option it is a command to run. */
	if (argv[0] && argv[1] && is_subcommand(argv[1]))
		return run_subcommand(argv);
	allow_work_aside(JOB_LOOK_MS);
	status = front_read(argv, &front);
	if (status < 0 && front_shows_screen(&front))
		status = run_screen(argv);
	if (status < 0)
		status = run_recording(&front, argv);
	front_done(&front);
	return status;
}

int main(int argc, char **argv)
{
	serve_runs(&argc, &argv);
	alone_prepare(argc, argv);
	return alone_run(run_with_enough_stack(run_command, argv));
}
