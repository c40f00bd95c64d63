/* Which members are read in which pass. See process_turns.h. */
#include "job/cpu/process_turns.h"

#include <unistd.h>

#include "base/min_max.h"
#include "base/runs_once.h"
#include "job/cpu/cpu_tuning.h"
#include "job/tree/tree_tuning.h"

void turns_plan(struct process_tree *tree)
{
	int64_t wanted = (tree->pass_ns - tree->pass_before_ns) * TURNS_A_SECOND / NSEC_PER_SEC;
	size_t a_pass = (size_t)max_i64(wanted, TURNS_A_PASS);

	tree->cpu.turns.count = 1;
	if (tree->uses_clock && !tree->is_last_pass)
		tree->cpu.turns.count += tree->cpu.turns.ran_count / a_pass;
	tree->cpu.turns.much_ns = tree->cpu.turns.ran_count ? TURNS_MUCH * tree->cpu.turns.ran_ns /
								      (int64_t)tree->cpu.turns.ran_count
							    : 0;
	tree->cpu.turns.ran_count = 0;
	tree->cpu.turns.ran_ns = 0;
	tree->cpu.turns.new_count = tree->cpu.turns.left_out = 0;
}

static RUNS_ONCE int64_t cost_of_new(void)
{
	return TURNS_NEW_COST_NS * TURNS_NEW_CPUS / max_i64(TURNS_NEW_CPUS, sysconf(_SC_NPROCESSORS_ONLN));
}

bool turns_have_room(struct process_tree *tree)
{
	/* The first two passes over an attached tree find all that lived before. */
	if (tree->cpu.turns.new_count < TURNS_NEW_A_PASS || !tree->root->live ||
	    (!tree->started_by_caller && tree->passes <= 2))
		return true;
	if (!tree->cpu.turns.new_cost_ns)
		tree->cpu.turns.new_cost_ns = cost_of_new();
	allowance_earn(&tree->cpu.turns.room, tree->touched_ns, TURNS_NEW_FOR_ONE, TURNS_NEW_MOST_NS);
	return tree->cpu.turns.room.left_ns >= tree->cpu.turns.new_cost_ns;
}

void turns_take_room(struct process_tree *tree)
{
	tree->cpu.turns.new_count++;
	tree->cpu.turns.room.left_ns =
		max_i64(tree->cpu.turns.room.left_ns - tree->cpu.turns.new_cost_ns, -TURNS_NEW_MOST_NS);
}

void turns_leave_out(struct process_tree *tree)
{
	tree->cpu.turns.left_out++;
}

void turns_note_asking(struct process_tree *tree)
{
	tree->cpu.turns.ran_count++;
}

bool turns_has(const struct process_tree *tree, const struct member *member)
{
	return tree->cpu.turns.count <= 1 || member->has_forked || member->pid == tree->root_pid ||
	       member->cpu.ran_ns > tree->cpu.turns.much_ns ||
	       (size_t)member->pid % tree->cpu.turns.count == tree->passes % tree->cpu.turns.count;
}

bool turns_is_due(const struct process_tree *tree, const struct member *member)
{
	int64_t phase_ns = TREE_READ_ANYWAY_NS / TURNS_SPREAD * (member->pid % TURNS_SPREAD);

	return (tree->pass_ns + phase_ns) / TREE_READ_ANYWAY_NS !=
	       (tree->pass_before_ns + phase_ns) / TREE_READ_ANYWAY_NS;
}

void turns_note_oldest(struct process_tree *tree)
{
	tree->cpu.turns.oldest_age_ns = 0;
	for (size_t i = 0; i < tree->count; i++)
		if (tree->members[i].is_behind)
			tree->cpu.turns.oldest_age_ns = max_i64(tree->cpu.turns.oldest_age_ns,
								tree->pass_ns - tree->members[i].read_ns);
}
