/* Heirs of ended processes. See process_heir.h. */
#include "job/cpu/process_heir.h"

static struct member *parent_of(const struct process_tree *tree, const struct member *member)
{
	struct member *parent = process_tree_find(tree, member->parent_pid);

	return parent == member ? NULL : parent;
}

static struct member *next_above(const struct process_tree *tree, const struct member *member)
{
	return member->cpu.heir ? process_tree_find(tree, member->cpu.heir) : parent_of(tree, member);
}

/*
 * Returns the last of the vanished members from `gone` upwards. All members on the way note it, so that a chain of thousands is climbed once.
 * Parents stand before children, so this ends. The bound guards against a damaged /proc.
 */
static struct member *last_vanished(const struct process_tree *tree, struct member *gone)
{
	struct member *last = gone, *next;

	for (size_t steps = 0; steps <= tree->count && (next = next_above(tree, last)) && next->vanished;
	     steps++)
		last = next;
	for (struct member *at = gone; at != last; at = next) {
		next = next_above(tree, at);
		at->cpu.heir = last->pid;
	}
	return last;
}

/* No living member has its figures, now or later. */
static void retire_member(struct process_tree *tree, const struct member *gone, const struct member *last)
{
	struct usages total = account_total(&gone->cpu.account);

	/* The caller has reaped the last ancestor, and its wait4() sum includes everything below that was waited for before. */
	if (last->parent_reaped && !parent_of(tree, last))
		return;
	tree->cpu.lacks_children |= last->is_untold;
	usages_add(&tree->cpu.account.retired, &total);
	if (last != gone && last->pid == tree->root_pid)
		account_carry(&tree->cpu.root_children, &gone->cpu.account);
}

/* Ancestors that were watched in this round have watched theirs. */
static void watch_above(struct process_tree *tree, struct member *heir)
{
	struct member *next = parent_of(tree, heir);

	heir->cpu.account.elsewhere = true;
	while (next && next->cpu.watched != tree->cpu.watches) {
		account_watch(&next->cpu.account);
		next->cpu.watched = tree->cpu.watches;
		next = parent_of(tree, next);
	}
}

void heir_take(struct process_tree *tree, struct member *gone)
{
	const struct member *last;
	struct member *heir;

	if (account_is_empty(&gone->cpu.account))
		return;
	last = last_vanished(tree, gone);
	heir = parent_of(tree, last);
	if (!heir || heir->vanished) {
		retire_member(tree, gone, last);
		return;
	}
	account_carry(&heir->cpu.account, &gone->cpu.account);
	/* The parent has ended: before or after its child. */
	if (heir->pid != gone->parent_pid || heir->is_zombie)
		watch_above(tree, heir);
}

void heirs_find_above(struct process_tree *tree)
{
	tree->cpu.watches++;
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->members[i];
		const struct member *at = member;

		/* Its parent has ended since, perhaps in the moment between the readings of the two. */
		if (account_is_missing(&member->cpu.account) && (member->vanished || member->is_zombie) &&
		    !member->cpu.account.elsewhere)
			watch_above(tree, member);
		for (size_t steps = 0; member->cpu.account.elsewhere &&
				       account_is_missing(&member->cpu.account) && steps <= tree->count;
		     steps++) {
			struct member *ancestor = parent_of(tree, at);

			if (!ancestor)
				break;
			if (!ancestor->vanished)
				account_find_above(&member->cpu.account, &ancestor->cpu.account);
			at = ancestor;
		}
	}
}

bool heir_may_have(const struct process_tree *tree, const struct member *member)
{
	const struct member *parent = parent_of(tree, member);

	return parent && account_may_contain(&parent->cpu.account, &member->cpu.account);
}
