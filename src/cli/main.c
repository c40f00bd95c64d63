/* resource-tracker: records what a job and its machine use. */
#include "cli/front.h"
#include "cli/programs.h"
#include "cli/run.h"

int main(int argc, char **argv)
{
	struct front front;
	int status;

	/* Only as the first argument: behind an option it is a command to run. */
	if (argc > 1 && is_subcommand(argv[1]))
		return run_subcommand(argv);
	status = front_read(argv, &front);
	if (status < 0)
		status = run_recording(&front, argv);
	front_done(&front);
	return status;
}
