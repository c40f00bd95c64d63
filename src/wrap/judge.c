/*
 * Decides whether a signal to the tracker reached the job as well. witness.c has an example with numbers.
 *
 * The sender counts: `timeout` and batch schedulers signal first the tracker, then its process group. So a
 * signal is judged only after its sender had time for the second call. A sender that sleeps or has exited is
 * done. A sender that keeps running gets a few milliseconds.
 *
 * The witness counts: each signal that it got covers one signal that the tracker got. The difference between
 * the two is its credit.
 *
 * Without a witness, or if it does not answer in time, the origin decides. The kernel signals process groups,
 * except for a hang-up (session leader only) and the tracker's own timers. Processes signal the tracker
 * alone.
 */
#include <errno.h>

#include "base/min_max.h"
#include "wrap/judge.h"
#include "wrap/peek.h"
#include "wrap/state.h"
#include "wrap/witness.h"

/* The two together stay well within the 10 ms in which a signal has to arrive. */
#define SENDER_LIMIT_NS (5 * NSEC_PER_MSEC)
#define UNSEEN_SENDER_LIMIT_NS (2 * NSEC_PER_MSEC)
#define ANSWER_LIMIT_NS (2 * NSEC_PER_MSEC)
/*
 * A longer limit for real-time signals, which only the witness can count, and for a signal that it may just
 * have taken.
 */
#define COUNT_LIMIT_NS (50 * NSEC_PER_MSEC)
/*
 * On a machine so busy that the witness gets no CPU time, a late signal is better than a signal sent twice.
 */
#define STARVED_LIMIT_NS NSEC_PER_SEC
/* A sender that signals a list of processes may reach the witness a little before or after the tracker. */
#define CREDIT_SLACK_NS (50 * NSEC_PER_MSEC)

bool is_real_time(int signo)
{
	return signo >= FIRST_REAL_TIME;
}

bool is_from_kernel(const struct undecided *signal)
{
	return signal->code > 0;
}

bool sender_is_done(const struct wrap *wrap, struct undecided *signal, int64_t now_ns,
		    struct sender_look *look)
{
	int64_t waited_ns = now_ns - signal->seen_ns, sleeps;

	if (is_from_kernel(signal) || signal->before_job || signal->sender_slept ||
	    waited_ns >= SENDER_LIMIT_NS)
		return true;
	if (signal->sender <= 0 || !wrap->has_own_proc)
		return waited_ns >= UNSEEN_SENDER_LIMIT_NS;
	if (look->sender != signal->sender) {
		look->sender = signal->sender;
		look->result = peek_process(signal->sender, &look->peek);
	}
	if (look->result < 0)
		return (kill(signal->sender, 0) < 0 && errno == ESRCH) || waited_ns >= UNSEEN_SENDER_LIMIT_NS;
	/* /proc/PID/status shows the state of the main thread only. */
	if (look->peek.threads > 1)
		return waited_ns >= UNSEEN_SENDER_LIMIT_NS;
	/*
	 * Count completed sleeps only. A sleep that still lasts shows that the sender is done. A completed
	 * one also separates this signal from the next that it sends.
	 */
	sleeps = look->peek.switches - (look->peek.state != 'R');
	if (signal->sender_sleeps < 0)
		signal->sender_sleeps = sleeps;
	signal->sender_slept = sleeps > signal->sender_sleeps;
	return signal->sender_slept || look->peek.state != 'R';
}

/*
 * Signals of one number that the witness got, and how many of them were matched with a signal to the tracker.
 * Real-time signals never merge, so those with a value (sigqueue) have an account of their own.
 */
struct signal_account {
	uint32_t seen;
	uint32_t *used;
};

/* Negative after a signal was matched while it was still pending in the witness. */
static int32_t credit_of(const struct signal_account *account)
{
	return (int32_t)(account->seen - *account->used);
}

static struct signal_account account_of(struct wrap *wrap, const struct undecided *signal)
{
	struct sighting *sighting = &wrap->page->sightings[signal->signo];
	struct signal_account account = {atomic_load(&sighting->sent), &wrap->credits_used[signal->signo]};

	if (!is_real_time(signal->signo)) {
		account.seen += atomic_load(&sighting->queued);
	} else if (signal->code == SI_QUEUE) {
		account.seen = atomic_load(&sighting->queued);
		account.used = &wrap->queued_credits_used[signal->signo];
	}
	/* The witness alone got these, some time ago: drop them. */
	if (credit_of(&account) > 0 && atomic_load(&sighting->last_ns) < signal->quiet_ns - CREDIT_SLACK_NS)
		*account.used = account.seen;
	return account;
}

/* /proc shows what is pending in the witness even when the witness gets no CPU time. */
static bool is_pending_in_witness(const struct wrap *wrap, const struct undecided *signal)
{
	struct peek peek = {0};

	return wrap->witness && wrap->has_own_proc && peek_process(wrap->witness, &peek) == 0 &&
	       (peek.pending & SIGNAL_BIT(signal->signo));
}

/* Counts the undecided signals of the same number that came before this one, or after it. */
static int32_t count_same(const struct wrap *wrap, const struct undecided *signal, bool before)
{
	int32_t count = 0;

	for (const struct undecided *other = wrap->undecided; other < wrap->undecided + wrap->undecided_count;
	     other++)
		count += other->signo == signal->signo && (before ? other < signal : other > signal);
	return count;
}

/*
 * The witness got the earlier signals first. A sender's last one may be on its way: the kernel gives it to one process of the
 * group after the other.
 */
bool witness_was_sent(struct wrap *wrap, const struct undecided *signal)
{
	struct signal_account account = account_of(wrap, signal);
	int32_t earlier = count_same(wrap, signal, true);

	return credit_of(&account) > earlier || (!earlier && is_pending_in_witness(wrap, signal));
}

/*
 * Two standard signals that reach the witness before it runs merge into one there, while a faster tracker saw
 * both. That is ruled out if the witness took its last one before this one was sent.
 */
static bool may_have_become_one(const struct wrap *wrap, const struct undecided *signal)
{
	int64_t last_ns = atomic_load(&wrap->page->sightings[signal->signo].last_ns);

	return !is_real_time(signal->signo) && last_ns && last_ns >= signal->drained_ns;
}

/*
 * Uses one of the witness's signals for this one. If the witness counted more than the tracker, because
 * signals merged in the tracker, the surplus is dropped, except what later undecided signals still need.
 */
static bool take_credit(struct wrap *wrap, const struct undecided *signal)
{
	struct signal_account account = account_of(wrap, signal);
	int32_t waiting = count_same(wrap, signal, false);

	if (credit_of(&account) <= 0)
		return may_have_become_one(wrap, signal);
	++*account.used;
	if (!is_real_time(signal->signo))
		*account.used += (uint32_t)max_i64(0, credit_of(&account) - waiting);
	return true;
}

static bool origin_says_group(const struct wrap *wrap, const struct undecided *signal)
{
	bool session_leader = getsid(0) == wrap->own_pid;

	return is_from_kernel(signal) && signal->signo != SIGALRM &&
	       !(signal->signo == SIGHUP && session_leader);
}

/*
 * The witness had no time to answer. A signal that is pending in it reached the job as well, but the verdict
 * waits until the witness has counted it (STARVED_LIMIT_NS at most): otherwise the next signal of that
 * number, sent to the tracker alone, would look as if it had merged with the pending one. If nothing is
 * pending and the witness does not sleep, it may have taken the signal without having counted it yet.
 */
static enum verdict judge_unanswered(struct wrap *wrap, const struct undecided *signal, int64_t now_ns)
{
	struct signal_account before = account_of(wrap, signal);
	struct peek peek = {0};
	bool seen = wrap->has_own_proc && peek_process(wrap->witness, &peek) == 0;
	bool pending = !is_real_time(signal->signo) && (peek.pending & SIGNAL_BIT(signal->signo));
	int64_t limit_ns = pending || is_real_time(signal->signo) ? STARVED_LIMIT_NS : COUNT_LIMIT_NS;

	/* Another process has stopped the witness. */
	if (peek.state == 'T')
		kill(wrap->witness, SIGCONT);
	if (take_credit(wrap, signal))
		return REACHED_THE_JOB;
	if (seen && peek.state != 'S' && peek.state != 'Z' && now_ns < signal->asked_ns + limit_ns)
		return UNDECIDED;
	if (pending) {
		*before.used = before.seen + 1;
		return REACHED_THE_JOB;
	}
	return origin_says_group(wrap, signal) ? REACHED_THE_JOB : OURS_ALONE;
}

enum verdict judge(struct wrap *wrap, const struct undecided *signal, int64_t now_ns)
{
	int64_t limit_ns = is_real_time(signal->signo) ? COUNT_LIMIT_NS : ANSWER_LIMIT_NS;
	enum verdict verdict;

	if (signal->refused)
		return OURS_ALONE;
	if (!signal->asked_ns)
		return UNDECIDED;
	if (!wrap->witness)
		return !signal->before_job && origin_says_group(wrap, signal) ? REACHED_THE_JOB : OURS_ALONE;
	if (witness_has_answered(wrap, signal->question))
		verdict = take_credit(wrap, signal) ? REACHED_THE_JOB : OURS_ALONE;
	else if (now_ns < signal->asked_ns + limit_ns)
		verdict = UNDECIDED;
	else
		verdict = judge_unanswered(wrap, signal, now_ns);
	/* Only a job that was already started and is still in the process group gets the group's signals. */
	if (verdict == REACHED_THE_JOB && (signal->before_job || getpgid(wrap->job) != getpgid(0)))
		verdict = OURS_ALONE;
	return verdict;
}
