/* Heirs of ended processes; see process_heir.h. */
#include "process/process_heir.h"

static struct member *parent_of(const struct process_tree *tree, const struct member *member)
{
	struct member *parent = process_tree_find(tree, member->parent_pid);

	return parent == member ? NULL : parent;
}

/*
 * Returns the nearest living ancestor, or NULL if no living member is one. *ret_claimed: the caller has reaped the last
 * ancestor, and its wait4() sum includes everything below that was waited for before.
 */
static struct member *heir_of(const struct process_tree *tree, const struct member *gone, bool *ret_claimed)
{
	const struct member *at = gone;

	*ret_claimed = false;
	/* Parents stand before children, so this ends. The bound guards against a damaged /proc. */
	for (size_t steps = 0; steps <= tree->count; steps++) {
		struct member *parent = parent_of(tree, at);

		if (!parent) {
			*ret_claimed = at->parent_reaped;
			return NULL;
		}
		if (!parent->vanished)
			return parent;
		at = parent;
	}
	return NULL;
}

static void watch_above(struct process_tree *tree, struct member *heir)
{
	struct member *above = parent_of(tree, heir);

	heir->account.elsewhere = true;
	for (size_t steps = 0; above && steps <= tree->count; steps++) {
		account_watch(&above->account);
		above = parent_of(tree, above);
	}
}

void heir_take(struct process_tree *tree, const struct member *gone)
{
	struct usages total = account_total(&gone->account);
	struct member *heir;
	bool claimed;

	if (account_is_empty(&gone->account))
		return;
	heir = heir_of(tree, gone, &claimed);
	if (!heir) {
		if (!claimed)
			usages_add(&tree->account.retired, &total);
		return;
	}
	account_carry(&heir->account, &gone->account);
	/* The parent has ended: before or after its child. */
	if (heir->pid != gone->parent_pid || heir->is_zombie)
		watch_above(tree, heir);
}

void heirs_find_above(struct process_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->members[i];
		const struct member *at = member;

		/* Its parent has ended since, perhaps in the moment between the readings of the two. */
		if (member->account.carries && (member->vanished || member->is_zombie) &&
		    !member->account.elsewhere)
			watch_above(tree, member);
		for (size_t steps = 0; member->account.elsewhere && steps <= tree->count; steps++) {
			struct member *above = parent_of(tree, at);

			if (!above)
				break;
			if (!above->vanished)
				account_find_above(&member->account, &above->account);
			at = above;
		}
	}
}

bool heir_may_have(const struct process_tree *tree, const struct member *member)
{
	const struct member *parent = parent_of(tree, member);

	return parent && account_may_contain(&parent->account, &member->account);
}
