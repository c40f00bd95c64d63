/* Samples a fixture machine; see fixture_machine.h. */
#include "fixture_machine.h"

#include <string.h>

#include "unit.h"

#include "job/pass.h"
#include "metric/derive.h"

static int64_t fake_monotonic_ns(void *step)
{
	return (1000 + *(int *)step) * NSEC_PER_SEC;
}

static int64_t fake_realtime_ns(void *step)
{
	return (1700000000 + *(int *)step) * NSEC_PER_SEC + 250 * NSEC_PER_MSEC;
}

/* The tracker's own cost depends on this machine, not on the fixture. */
static bool is_golden(const struct collector *collector)
{
	return strcmp(collector->name, "self_usage") != 0;
}

void machine_open(struct machine *machine, const char *folder)
{
	struct clocks clocks = {fake_monotonic_ns, fake_realtime_ns, &machine->step};

	*machine = (struct machine){
		.facts = {.mode = "attach",
			  .host = "golden",
			  .rank = -1,
			  .interval_seconds = 1,
			  .children = true},
		.step = 0,
	};
	assert_int_equal(root_open(&machine->root, folder, &clocks), 0);
	assert_int_equal(process_tree_new(&machine->root, true, &machine->tree), 0);
	machine->tree->cpu.waiting.is_followed = true;
	assert_int_equal(process_tree_seed(machine->tree, ROOT_PID, false), 0);
	machine->context = (struct collect_context){
		.root = &machine->root,
		.cgroup_mounts = &machine->cgroup_mounts,
		.tree = machine->tree,
		.facts = &machine->facts,
		.ending = &machine->ending,
		.progress = {.started_ns = fake_monotonic_ns(&machine->step)},
	};
	for (size_t i = 0; COLLECTORS[i]; i++)
		if (is_golden(COLLECTORS[i]))
			assert_int_equal(COLLECTORS[i]->open(&machine->context, &machine->states[i]), 0);
}

void machine_sample(struct machine *machine, struct frame *frame, const struct frame *previous)
{
	struct run_progress *progress = &machine->context.progress;

	frame_begin(frame, root_monotonic_ns(&machine->root), root_realtime_ns(&machine->root));
	progress->baseline = !previous;
	progress->previous_ns = previous ? previous->monotonic_ns : frame->monotonic_ns;
	progress->number = machine->step - 1;
	for (size_t i = 0; COLLECTORS[i]; i++)
		if (is_golden(COLLECTORS[i]))
			COLLECTORS[i]->collect(machine->states[i], &machine->context, frame);
	for (size_t i = 0; !previous && COLLECTORS[i]; i++)
		if (is_golden(COLLECTORS[i]) && COLLECTORS[i]->prepare)
			COLLECTORS[i]->prepare(machine->states[i], &machine->context);
	machine->context.prepared = true;
	derive(frame, &(struct earlier_frames){previous, previous, previous});
	assert_int_equal(frame->error, 0);
}

void machine_close(struct machine *machine)
{
	for (size_t i = 0; COLLECTORS[i]; i++)
		if (is_golden(COLLECTORS[i]) && COLLECTORS[i]->close)
			COLLECTORS[i]->close(machine->states[i]);
	cgroup_mounts_done(&machine->cgroup_mounts);
	process_tree_free(machine->tree);
	root_close(&machine->root);
}
