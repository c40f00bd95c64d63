/* The table of members. See process_tree.h. */
#include "job/tree/process_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/runs_once.h"

enum { FIRST_MEMBERS = 16 };

static size_t slot_of_pid(const struct process_tree *tree, pid_t pid)
{
	/* Fibonacci hashing, which spreads consecutive pids. */
	return (size_t)((uint32_t)pid * UINT32_C(2654435769)) & (tree->slot_count - 1);
}

static void insert_slot(struct process_tree *tree, size_t index)
{
	size_t slot = slot_of_pid(tree, tree->members[index].pid);

	while (tree->slots[slot])
		slot = (slot + 1) & (tree->slot_count - 1);
	tree->slots[slot] = (uint32_t)index + 1;
}

SELDOM static void rebuild_slots(struct process_tree *tree)
{
	memset(tree->slots, 0, tree->slot_count * sizeof *tree->slots);
	for (size_t i = 0; i < tree->count; i++)
		insert_slot(tree, i);
}

struct member *process_tree_find(const struct process_tree *tree, pid_t pid)
{
	if (!tree->slot_count)
		return NULL;
	for (size_t slot = slot_of_pid(tree, pid); tree->slots[slot];
	     slot = (slot + 1) & (tree->slot_count - 1))
		if (tree->members[tree->slots[slot] - 1].pid == pid)
			return &tree->members[tree->slots[slot] - 1];
	return NULL;
}

struct member *process_tree_root(const struct process_tree *tree)
{
	return tree->root_gone ? NULL : process_tree_find(tree, tree->root_pid);
}

SELDOM int process_tree_reserve(struct process_tree *tree)
{
	size_t capacity = tree->capacity ? tree->capacity * 2 : FIRST_MEMBERS;
	struct member *members;
	uint32_t *slots;

	if (tree->count < tree->capacity)
		return 0;
	members = realloc(tree->members, capacity * sizeof *members);
	if (!members)
		return -ENOMEM;
	tree->members = members;
	slots = realloc(tree->slots, capacity * 4 * sizeof *slots);
	if (!slots)
		return -ENOMEM;
	tree->slots = slots;
	tree->slot_count = capacity * 4;
	tree->capacity = capacity;
	rebuild_slots(tree);
	return 0;
}

SELDOM void process_tree_append(struct process_tree *tree, const struct member *member)
{
	tree->members[tree->count] = *member;
	insert_slot(tree, tree->count++);
}

SELDOM void process_tree_drop_vanished(struct process_tree *tree)
{
	size_t kept = 0;

	for (size_t i = 0; i < tree->count; i++) {
		if (tree->members[i].vanished)
			continue;
		if (kept != i)
			tree->members[kept] = tree->members[i];
		kept++;
	}
	if (kept == tree->count)
		return;
	tree->count = kept;
	tree->changed_ns = root_monotonic_ns(tree->root);
	rebuild_slots(tree);
}

RUNS_ONCE void process_tree_exclude(struct process_tree *tree, pid_t pid)
{
	pid_t *excluded;

	if (process_tree_excludes(tree, pid))
		return;
	excluded = realloc(tree->excluded, (tree->excluded_count + 1) * sizeof *excluded);
	if (!excluded)
		return;
	tree->excluded = excluded;
	tree->excluded[tree->excluded_count++] = pid;
}

RUNS_ONCE void process_tree_include(struct process_tree *tree, pid_t pid)
{
	for (size_t i = 0; i < tree->excluded_count; i++)
		if (tree->excluded[i] == pid)
			tree->excluded[i] = tree->excluded[--tree->excluded_count];
}

bool process_tree_excludes(const struct process_tree *tree, pid_t pid)
{
	for (size_t i = 0; i < tree->excluded_count; i++)
		if (tree->excluded[i] == pid)
			return true;
	return false;
}

size_t process_tree_running(const struct process_tree *tree)
{
	size_t running = 0;

	for (size_t i = 0; i < tree->count; i++)
		running += !tree->members[i].is_zombie;
	return running;
}

bool process_tree_any_ran(const struct process_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		if (!tree->members[i].quiet_ticks)
			return true;
	return false;
}

SELDOM bool member_is_older(const struct process_tree *tree, const struct member *member)
{
	return !tree->started_by_caller && member->start_ticks < tree->seeded_ticks;
}
