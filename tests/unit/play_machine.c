/*
 * Prints the recording of a machine in steps: play_machine FOLDER STEP...
 *
 * The files of each STEP, a folder, are laid over FOLDER in place. After the last step the recording ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture_machine.h"
#include "lay_tree.h"
#include "unit.h"

#include "base/cleanup.h"
#include "format/sample_format.h"

static void play_steps(char **steps)
{
	CLEANUP_BUFFER struct buffer printed = BUFFER(16 << 20);
	struct format_state state = {0};
	struct frame frames[2] = {0};
	struct machine machine;

	lay_over(steps[1], steps[0]);
	machine_open(&machine, steps[0]);
	machine_sample(&machine, &frames[0], NULL);
	for (int i = 2; steps[i]; i++) {
		lay_over(steps[i], steps[0]);
		machine.step = i - 1;
		machine.ending.reason = steps[i + 1] ? NULL : "target_exited";
		machine_sample(&machine, &frames[(i - 1) % 2], &frames[i % 2]);
		JSONL_FORMAT.sample(&printed, &frames[(i - 1) % 2], &(struct format_options){0}, &state);
	}
	fwrite(printed.data, 1, printed.length, stdout);
	machine_close(&machine);
	for (int i = 0; i < 2; i++)
		frame_done(&frames[i]);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	play_steps(argv + 1);
	return 0;
}
