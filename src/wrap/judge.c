/*
 * Did the job get this signal as well?
 *
 * Two things are looked at. The sender: `timeout` and schedulers signal us and then our group, so that one
 * is not judged before its sender has had time for the other; a sender that sleeps or has ended is done, one
 * that runs on is waited for a few milliseconds. The witness: each signal that it got pays for one of ours.
 *
 * Without a witness, or if it does not answer in time, the origin decides: the kernel signals groups, but
 * for a hang-up (the session leader) and our own timers; processes signal us.
 */
#include <errno.h>

#include "wrap/peek.h"
#include "wrap/state.h"

/* Together well within the 10 ms in which a signal has to arrive. */
#define SENDER_LIMIT_NS (5 * NSEC_PER_MSEC)
#define UNSEEN_SENDER_LIMIT_NS (2 * NSEC_PER_MSEC)
#define ANSWER_LIMIT_NS (2 * NSEC_PER_MSEC)
/* Only the witness can count what queues, or knows what it has just taken. */
#define COUNT_LIMIT_NS (50 * NSEC_PER_MSEC)
/* On a machine so busy that it wants to count and gets no time to, being late is better than coming twice. */
#define STARVED_LIMIT_NS NSEC_PER_SEC
/* A process that signals a list of processes reaches the witness a little before or after us. */
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
	/* Only the main thread's state is shown. */
	if (look->peek.threads > 1)
		return waited_ns >= UNSEEN_SENDER_LIMIT_NS;
	/* A sleep that lasts came after what was sent; one that is over came before what is sent next. */
	sleeps = look->peek.switches - (look->peek.state != 'R');
	if (signal->sender_sleeps < 0)
		signal->sender_sleeps = sleeps;
	signal->sender_slept = sleeps > signal->sender_sleeps;
	return signal->sender_slept || look->peek.state != 'R';
}

/*
 * What the witness got of this signal: how many, and how many of those were taken for one of ours. With a
 * value and without are accounts of their own for real-time signals, of which none can have replaced
 * another.
 */
struct account {
	uint32_t seen;
	uint32_t *used;
};

/* Negative: one was taken for ours while it was still pending in the witness. */
static int32_t credit_of(const struct account *account)
{
	return (int32_t)(account->seen - *account->used);
}

static struct account account_of(struct wrap *wrap, const struct undecided *signal)
{
	struct sighting *sighting = &wrap->page->sightings[signal->signo];
	struct account account = {atomic_load(&sighting->sent), &wrap->credits_used[signal->signo]};

	if (!is_real_time(signal->signo)) {
		account.seen += atomic_load(&sighting->queued);
	} else if (signal->code == SI_QUEUE) {
		account.seen = atomic_load(&sighting->queued);
		account.used = &wrap->queued_credits_used[signal->signo];
	}
	/* Something that the witness alone got, some time ago. */
	if (credit_of(&account) > 0 && atomic_load(&sighting->last_ns) < signal->quiet_ns - CREDIT_SLACK_NS)
		*account.used = account.seen;
	return account;
}

static bool has_credit(struct wrap *wrap, const struct undecided *signal)
{
	struct account account = account_of(wrap, signal);

	return credit_of(&account) > 0;
}

/* What is pending in the witness can be seen from outside, even if it gets no time to run. */
static bool is_pending_in_witness(const struct wrap *wrap, const struct undecided *signal)
{
	struct peek peek = {0};

	return wrap->witness && wrap->has_own_proc && peek_process(wrap->witness, &peek) == 0 &&
	       (peek.pending & SIGNAL_BIT(signal->signo));
}

bool witness_was_sent(struct wrap *wrap, const struct undecided *signal)
{
	return has_credit(wrap, signal) || is_pending_in_witness(wrap, signal);
}

/* How many of the same number came after this one and are not decided either. */
static int32_t count_waiting(const struct wrap *wrap, const struct undecided *signal)
{
	int32_t waiting = 0;

	for (const struct undecided *other = signal + 1; other < wrap->undecided + wrap->undecided_count;
	     other++)
		waiting += other->signo == signal->signo;
	return waiting;
}

/*
 * Two of a standard signal that come to the witness before it runs are one to it, and two to us if we were
 * faster. It cannot have been so if it took its last one before this one was sent.
 */
static bool may_have_become_one(const struct wrap *wrap, const struct undecided *signal)
{
	int64_t last_ns = atomic_load(&wrap->page->sightings[signal->signo].last_ns);

	return !is_real_time(signal->signo) && last_ns && last_ns >= signal->drained_ns;
}

/*
 * Pays for this signal if the witness got one. What it got more often than we, because more of ours came as
 * one, is forgotten; signals of ours that are waiting behind this one keep theirs.
 */
static bool take_credit(struct wrap *wrap, const struct undecided *signal)
{
	struct account account = account_of(wrap, signal);
	int32_t waiting = count_waiting(wrap, signal);

	if (credit_of(&account) <= 0)
		return may_have_become_one(wrap, signal);
	++*account.used;
	if (!is_real_time(signal->signo) && credit_of(&account) > waiting)
		*account.used = account.seen - (uint32_t)waiting;
	return true;
}

static bool origin_says_group(const struct wrap *wrap, const struct undecided *signal)
{
	bool session_leader = getsid(0) == wrap->own_pid;

	return is_from_kernel(signal) && signal->signo != SIGALRM &&
	       !(signal->signo == SIGHUP && session_leader);
}

/*
 * The witness gets no time to answer. What is pending in it now the job got, but that is said when it has been
 * counted: the next one of that number, to us alone, would look like one that became one with it. If nothing
 * is, it may have taken it and not have counted it yet, unless it sleeps.
 */
static enum verdict judge_unanswered(struct wrap *wrap, const struct undecided *signal, int64_t now_ns)
{
	struct account before = account_of(wrap, signal);
	struct peek peek = {0};
	bool seen = wrap->has_own_proc && peek_process(wrap->witness, &peek) == 0;
	bool pending = !is_real_time(signal->signo) && (peek.pending & SIGNAL_BIT(signal->signo));
	int64_t limit_ns = pending || is_real_time(signal->signo) ? STARVED_LIMIT_NS : COUNT_LIMIT_NS;

	/* Somebody has stopped it. */
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
	/* A job that left our group gets nothing with it; nor did one that did not exist yet. */
	if (verdict == REACHED_THE_JOB && (signal->before_job || getpgid(wrap->job) != getpgrp()))
		verdict = OURS_ALONE;
	return verdict;
}
