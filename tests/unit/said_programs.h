/* The programs of a job of one process, with a listener that says what a test wants. */
#pragma once

#include "said_listener.h"

#include "job/tree/process_tree.h"

struct world {
	struct root root;
	struct member member;
	struct process_tree tree;
	struct programs *programs;
};

/* One process, which has been seen in a pass. */
static int begin(void **state)
{
	struct world *world = calloc(1, sizeof *world);

	assert_non_null(world);
	assert_int_equal(root_open(&world->root, NULL, NULL), 0);
	world->member = (struct member){.pid = getpid(),
					.start_ticks = 1,
					.state = 'S',
					.program.identity = 1,
					.program.comm = "job"};
	world->tree = (struct process_tree){
		.root = &world->root, .root_pid = 1, .members = &world->member, .count = 1};
	assert_int_equal(programs_new(true, &world->programs), 0);
	world->programs->started = world->programs->exact = true;
	memset(&said, 0, sizeof said);
	said.knows = true;
	programs_end_pass(world->programs, &world->tree);
	*state = world;
	return 0;
}

static int end(void **state)
{
	struct world *world = *state;

	programs_free(world->programs);
	root_close(&world->root);
	free(world);
	return 0;
}
