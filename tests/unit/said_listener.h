/* A listener that says what a test of src/job/programs/programs.c wants, and a job of one process. */
#pragma once

#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "job/tree/process_tree.h"
#include "job/programs/programs.h"

/* ---- the listener ------------------------------------------------------------------------------------------------ */

static struct {
	struct program_event events[2];
	size_t count;
	bool knows; /* the process is known: no exit event of it has come */
	bool lost, other_ended, misses_ends;
	int error; /* of a start */
	size_t closed;
} said;

struct program_listener {
	int unused;
};

static struct program_listener only_listener;

int program_listener_open(struct program_listener **ret_listener)
{
	*ret_listener = &only_listener;
	return 0;
}

void program_listener_close(struct program_listener *listener)
{
	said.closed += listener == &only_listener;
}

int program_listener_start(struct program_listener *listener, bool is_read_by_caller)
{
	(void)listener;
	(void)is_read_by_caller;
	return said.error;
}

int program_listener_hear(struct program_listener *listener, bool with_thread)
{
	(void)listener;
	(void)with_thread;
	return said.error;
}

bool program_listener_runs(const struct program_listener *listener)
{
	(void)listener;
	return false;
}

void program_listener_catch_up(struct program_listener *listener)
{
	(void)listener;
}

bool program_listener_add_ancestor(struct program_listener *listener, pid_t child, pid_t pid)
{
	(void)listener;
	(void)child;
	(void)pid;
	return false;
}

bool program_listener_other_ended(struct program_listener *listener)
{
	(void)listener;
	return said.other_ended;
}

static size_t said_added;

void program_listener_add(struct program_listener *listener, pid_t pid, const char *program)
{
	(void)listener;
	(void)pid;
	(void)program;
	said_added++;
}

static size_t said_added_again;

void program_listener_add_again(struct program_listener *listener, pid_t pid, const char *program)
{
	(void)listener;
	(void)pid;
	(void)program;
	said_added_again++;
}

bool program_listener_remove(struct program_listener *listener, pid_t pid)
{
	(void)listener;
	(void)pid;
	return said.knows;
}

const struct program_event *program_listener_take(struct program_listener *listener, size_t *ret_count,
						  bool *ret_lost)
{
	(void)listener;
	*ret_count = said.count;
	*ret_lost = said.lost;
	said.count = 0;
	return said.events;
}

void program_listener_finish(struct program_listener *listener)
{
	(void)listener;
}

size_t program_listener_living(struct program_listener *listener, pid_t *ret_pids, size_t size)
{
	(void)listener;
	(void)ret_pids;
	(void)size;
	return 0;
}

ssize_t program_listener_forked(struct program_listener *listener, pid_t *ret_pids, size_t size)
{
	(void)listener;
	ret_pids[0] = 77;
	return (ssize_t)size;
}

static int64_t said_exits;

bool program_listener_misses_ends(struct program_listener *listener)
{
	(void)listener;
	return said.misses_ends;
}

int64_t program_listener_exits(struct program_listener *listener)
{
	(void)listener;
	return said_exits;
}

/* ---- a process that ends ----------------------------------------------------------------------------------------- */

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
