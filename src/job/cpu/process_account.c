/* The account of a tree. See process_account.h. */
#include "job/cpu/process_account.h"

#include "base/clock.h"
#include "base/min_max.h"
#include "base/runs_once.h"
#include "job/cpu/cpu_tuning.h"
#include "kernel/proc_pid_io.h"

void account_begin(struct account *account)
{
	account->appeared_last = account->appears;
}

/* Returns how much of an account's carried and owed figures is not in its own, which have reached `appears`. */
static int64_t not_appeared(const struct account *account, enum usage usage, int64_t appears)
{
	return wrapping_difference(wrapping_sum(account->carried.of[usage], account->owed.of[usage]),
				   wrapping_difference(appears, account->carried_base.of[usage]));
}

/*
 * Returns the amount to add to an account's figures for the exited processes that it carries, when the figures in which
 * they will appear have reached `appears`. The part from before tracking began (`owed`) does not count, so once
 * everything has appeared the result is -owed.
 */
static int64_t still_carried(const struct account *account, enum usage usage, int64_t appears)
{
	int64_t missing = not_appeared(account, usage, appears);
	int64_t tolerance = usage == USAGE_CPU_NS || usage == USAGE_UTIME_NS ? CPU_TOLERANCE_NS : 0;

	return wrapping_difference(missing > tolerance ? missing : 0, account->owed.of[usage]);
}

int64_t account_certain(const struct account *account, enum usage usage)
{
	return wrapping_difference(wrapping_sum(account->own.of[usage], account->waited.of[usage]),
				   account->before.of[usage]);
}

struct usages account_total(const struct account *account)
{
	struct usages total;

	for (enum usage i = 0; i < USAGE_COUNT; i++)
		total.of[i] = wrapping_sum(account_certain(account, i), account->settled.of[i]);
	for (enum usage i = 0; i < USAGE_COUNT && account->carries; i++)
		total.of[i] = wrapping_sum(total.of[i], still_carried(account, i, account->appears.of[i]));
	return total;
}

SELDOM bool account_is_empty(const struct account *account)
{
	return usages_are_zero(&account->own) && usages_are_zero(&account->waited) &&
	       usages_are_zero(&account->settled) &&
	       (!account->carries || usages_are_zero(&account->carried));
}

void account_watch(struct account *account)
{
	if (account->carries)
		return;
	/*
	 * The parent may have waited for the child before or after this pass read the parent. Only the growth since the
	 * previous pass is certain to be the child's.
	 */
	account->carried_base = account->appeared_last;
	account->carries = true;
}

SELDOM void account_carry(struct account *account, const struct account *ended)
{
	struct usages total = account_total(ended);

	account_watch(account);
	/* Its own estimate will not appear either. */
	usages_add(&account->settled, &ended->settled);
	usages_subtract(&total, &ended->settled);
	usages_add(&account->carried, &total);
	usages_add(&account->owed, &ended->before);
	usages_add(&account->owed, &ended->owed);
}

bool account_is_missing(const struct account *account)
{
	for (enum usage i = 0; i < USAGE_COUNT && account->carries; i++)
		if (not_appeared(account, i, account->appears.of[i]) > 0)
			return true;
	return false;
}

SELDOM void account_find_above(struct account *account, struct account *ancestor)
{
	if (!account->carries || !ancestor->carries)
		return;
	for (enum usage i = 0; i < USAGE_COUNT; i++) {
		int64_t found = max_i64(
			0,
			min_i64(not_appeared(account, i, account->appears.of[i]),
				wrapping_difference(0, not_appeared(ancestor, i, ancestor->appears.of[i]))));
		int64_t owed = min_i64(found, account->owed.of[i]);

		account->owed.of[i] = wrapping_difference(account->owed.of[i], owed);
		account->carried.of[i] = wrapping_difference(account->carried.of[i], found - owed);
		ancestor->owed.of[i] = wrapping_sum(ancestor->owed.of[i], owed);
		ancestor->carried.of[i] = wrapping_sum(ancestor->carried.of[i], found - owed);
	}
}

bool account_may_contain(const struct account *parent, const struct account *child)
{
	int64_t used_ns = child->own.of[USAGE_CPU_NS] + child->waited.of[USAGE_CPU_NS];
	int64_t grown_ns = parent->waited.of[USAGE_CPU_NS] - parent->appeared_last.of[USAGE_CPU_NS];

	return used_ns > CPU_TOLERANCE_NS && grown_ns >= used_ns - CPU_TOLERANCE_NS;
}

void account_settle(struct account *account)
{
	if (!account->carries)
		return;
	for (enum usage i = 0; i < USAGE_COUNT; i++) {
		int64_t missing =
			wrapping_sum(still_carried(account, i, account->appears.of[i]), account->owed.of[i]);

		account->settled.of[i] = wrapping_sum(account->settled.of[i], missing);
		account->before.of[i] = wrapping_sum(account->before.of[i], account->owed.of[i]);
	}
	account->carries = account->elsewhere = false;
	account->carried = account->owed = (struct usages){0};
}

SELDOM void account_forgive(struct account *account)
{
	struct usages total = account_total(account);

	usages_subtract(&total, &account->settled);
	usages_add(&account->before, &total);
	account->settled = (struct usages){0};
	account->own_before = account->own;
}

static int64_t growth_of(const struct usages *now, const struct usages *before, enum usage usage)
{
	return now->of[usage] > before->of[usage] ? wrapping_difference(now->of[usage], before->of[usage])
						  : 0;
}

void tree_account_publish(struct tree_account *account, const struct usages *members)
{
	struct usages *published = &account->published, total = *members;
	int64_t user, grown;

	usages_add(&total, &account->reaped);
	usages_add(&total, &account->retired);
	grown = growth_of(&total, published, USAGE_CPU_NS);
	/* The user and system parts are estimates. They must add up to the exact sum and must not decrease either. */
	user = min_i64(growth_of(&total, published, USAGE_UTIME_NS), grown);
	published->of[USAGE_CPU_NS] += grown;
	published->of[USAGE_UTIME_NS] += user;
	for (enum usage i = USAGE_MINOR_FAULTS; i < USAGE_COUNT; i++)
		if (total.of[i] > published->of[i])
			published->of[i] = total.of[i];
}

SELDOM void tree_account_raise(struct tree_account *account, int64_t cpu_ns)
{
	struct usages *published = &account->published;
	int64_t before_ns = published->of[USAGE_CPU_NS];

	if (cpu_ns <= before_ns)
		return;
	published->of[USAGE_CPU_NS] = cpu_ns;
	published->of[USAGE_UTIME_NS] = (int64_t)((double)cpu_ns * (double)published->of[USAGE_UTIME_NS] /
						  (double)max_i64(before_ns, 1));
}

static int64_t timeval_ns(const struct timeval *time)
{
	return (int64_t)time->tv_sec * NSEC_PER_SEC + (int64_t)time->tv_usec * NSEC_PER_USEC;
}

SELDOM struct usages usages_of_rusage(const struct rusage *usage)
{
	struct usages usages = {0};

	usages.of[USAGE_UTIME_NS] = timeval_ns(&usage->ru_utime);
	usages.of[USAGE_CPU_NS] = usages.of[USAGE_UTIME_NS] + timeval_ns(&usage->ru_stime);
	usages.of[USAGE_MINOR_FAULTS] = usage->ru_minflt;
	usages.of[USAGE_MAJOR_FAULTS] = usage->ru_majflt;
	return usages;
}

void usages_of_io(const struct proc_pid_io *io, struct usages *ret_usages)
{
	ret_usages->of[USAGE_READ_BYTES] = usage_at_most(io->read_bytes, USAGE_BYTES_MOST);
	ret_usages->of[USAGE_WRITE_BYTES] = usage_at_most(io->write_bytes, USAGE_BYTES_MOST);
	ret_usages->of[USAGE_CANCELLED_BYTES] = usage_at_most(io->cancelled_write_bytes, USAGE_BYTES_MOST);
	ret_usages->of[USAGE_READ_CHARS] = usage_at_most(io->read_chars, USAGE_BYTES_MOST);
	ret_usages->of[USAGE_WRITTEN_CHARS] = usage_at_most(io->written_chars, USAGE_BYTES_MOST);
}

SELDOM int64_t account_to_be_told(const struct account *account, enum usage usage)
{
	int64_t told = wrapping_sum(account->own.of[usage], account->waited.of[usage]);

	return account->carries
		       ? wrapping_sum(told,
				      max_i64(0, not_appeared(account, usage, account->appears.of[usage])))
		       : told;
}

SELDOM struct usages account_unclaimed(const struct account *account, const struct usages *reaped)
{
	struct usages unclaimed = {0};

	if (!account->carries)
		return unclaimed;
	for (enum usage i = 0; i < USAGE_COUNT; i++) {
		/*
		 * I/O appears in the only figure that a process has; CPU time and faults appear in `waited`, beside its
		 * own.
		 */
		int64_t beside = i >= USAGE_READ_BYTES ? 0 : account->own.of[i];

		unclaimed.of[i] = still_carried(account, i, reaped->of[i] - beside);
	}
	return unclaimed;
}

SELDOM void account_retire(struct tree_account *tree, const struct account *ended,
			   const struct usages *unclaimed)
{
	usages_add(&tree->retired, unclaimed);
	usages_add(&tree->retired, &ended->settled);
	usages_subtract(&tree->retired, &ended->before);
}

SELDOM void account_replace(struct tree_account *tree, const struct account *ended,
			    const struct usages *reaped)
{
	struct usages seen = account_total(ended), unclaimed = account_unclaimed(ended, reaped);

	usages_subtract(&tree->retired, &seen);
	account_retire(tree, ended, &unclaimed);
}
