/* A listener that says what a test of the programs of a job wants. It replaces src/job/programs/program_listener.c. */
#pragma once

#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "job/programs/programs.h"

/* ---- the listener ------------------------------------------------------------------------------------------------ */

static struct {
	struct program_event events[2];
	size_t count;
	bool knows; /* the process is known: no exit event of it has come */
	bool lost, other_ended, misses_ends, runs;
	int error; /* of a start */
	size_t closed, caught_up, finished;
	size_t added_at_take;
	const pid_t *pids; /* living, or forked */
	ssize_t pid_count; /* of the forked -1: unknown */
	pid_t child, ancestors[2];
	int ancestor_count;
} said;

static size_t said_added;

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
	return listener == &only_listener && said.runs;
}

void program_listener_catch_up(struct program_listener *listener)
{
	said.caught_up += listener == &only_listener;
}

bool program_listener_add_ancestor(struct program_listener *listener, pid_t child, pid_t pid)
{
	(void)listener;
	if (pid <= 0 || said.ancestor_count == 2)
		return false;
	if (!said.ancestor_count)
		said.child = child;
	said.ancestors[said.ancestor_count++] = pid;
	return true;
}

bool program_listener_other_ended(struct program_listener *listener)
{
	(void)listener;
	return said.other_ended;
}

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
	said.added_at_take = said_added;
	*ret_count = said.count;
	*ret_lost = said.lost;
	said.count = 0;
	return said.events;
}

void program_listener_finish(struct program_listener *listener)
{
	said.finished += listener == &only_listener;
}

size_t program_listener_living(struct program_listener *listener, pid_t *ret_pids, size_t size)
{
	size_t count = (size_t)said.pid_count < size ? (size_t)said.pid_count : size;

	(void)listener;
	if (count)
		memcpy(ret_pids, said.pids, count * sizeof *ret_pids);
	return count;
}

ssize_t program_listener_forked(struct program_listener *listener, pid_t *ret_pids, size_t size)
{
	(void)listener;
	if (said.pid_count < 0 || (size_t)said.pid_count >= size)
		return -1;
	if (said.pid_count)
		memcpy(ret_pids, said.pids, (size_t)said.pid_count * sizeof *ret_pids);
	return said.pid_count;
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
