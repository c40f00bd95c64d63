/* resource-tracker: records what a job and its machine use. */
#include "base/enough_stack.h"
#include "cli/front.h"
#include "cli/programs.h"
#include "cli/run_recording.h"

static int run_command(char **argv)
{
	struct front front;
	int status;

	/* Only as the first argument: after an option it is a command to run. */
	if (argv[0] && argv[1] && is_subcommand(argv[1]))
		return run_subcommand(argv);
	status = front_read(argv, &front);
	if (status < 0)
		status = run_recording(&front, argv);
	front_done(&front);
	return status;
}

int main(int argc, char **argv)
{
	(void)argc;
	return run_with_enough_stack(run_command, argv);
}
