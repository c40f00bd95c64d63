/*
 * Every signal that is sent to us reaches the job exactly once.
 *
 * A signal stays undecided until its sender has had its chance to send it to our group, too: a sender that
 * sleeps, has ended or has slept since is done; one that runs on is waited for a few milliseconds. Then the
 * witness is asked. Each signal that it got pays for one of ours; one that is not paid for was for us alone
 * and is passed on. A standard signal that comes again meanwhile is the same one, as it is for any process
 * in which it is pending; real-time signals queue and are counted one by one.
 *
 * Without a witness, or if it does not answer in time, the origin decides: the kernel signals groups, but
 * for a hang-up (to the session leader) and our own timers; processes signal us.
 */
#include <errno.h>
#include <string.h>

#include "wrap/peek.h"
#include "wrap/state.h"

/* Together within the 10 ms in which a signal has to arrive. */
#define SENDER_LIMIT_NS (5 * NSEC_PER_MSEC)
#define UNSEEN_SENDER_LIMIT_NS (2 * NSEC_PER_MSEC)
#define ANSWER_LIMIT_NS (2 * NSEC_PER_MSEC)
#define LOOK_EVERY_NS (200 * NSEC_PER_USEC)
#define RETRY_EVERY_NS NSEC_PER_MSEC
/* A process that signals a list of processes reaches the witness a little before or after us. */
#define CREDIT_SLACK_NS (50 * NSEC_PER_MSEC)

enum {
	/* Kept free, so that full real-time queues hold up no other signal. */
	STANDARD_ROOM = 2 * FIRST_REAL_TIME,
};

signal_set signals_blocked(enum wrap_mode mode)
{
	if (mode == WRAP_JOB)
		return FORWARDED_SIGNALS | SIGNAL_BIT(SIGCHLD) | SIGNAL_BIT(SIGCONT);
	return SIGNAL_BIT(SIGHUP) | SIGNAL_BIT(SIGINT) | SIGNAL_BIT(SIGTERM) | SIGNAL_BIT(SIGCHLD);
}

signal_set signals_wanted(const struct wrap *wrap)
{
	signal_set wanted = FORWARDED_SIGNALS;

	if (wrap->undecided_count >= UNDECIDED_MAX - STANDARD_ROOM)
		wanted &= ~REAL_TIME_SIGNALS;
	if (wrap->undecided_count >= UNDECIDED_MAX)
		wanted = 0;
	return wanted;
}

static bool is_real_time(int signo)
{
	return signo >= FIRST_REAL_TIME;
}

static bool is_from_kernel(const struct undecided *signal)
{
	return signal->code > 0;
}

/* Looks at the sender. `peek` is of `peeked`, so that a burst from one sender costs one look. */
static bool sender_is_done(const struct wrap *wrap, struct undecided *signal, int64_t now_ns,
			   struct peek *peek, pid_t *peeked)
{
	int64_t waited_ns = now_ns - signal->seen_ns;

	if (is_from_kernel(signal) || signal->before_job || waited_ns >= SENDER_LIMIT_NS)
		return true;
	if (signal->sender <= 0 || !wrap->has_own_proc)
		return waited_ns >= UNSEEN_SENDER_LIMIT_NS;
	if (*peeked != signal->sender) {
		if (peek_process(signal->sender, peek) < 0) {
			if (kill(signal->sender, 0) < 0 && errno == ESRCH)
				return true;
			return waited_ns >= UNSEEN_SENDER_LIMIT_NS;
		}
		*peeked = signal->sender;
	}
	/* Only the main thread's state is shown. */
	if (peek->threads > 1)
		return waited_ns >= UNSEEN_SENDER_LIMIT_NS;
	if (peek->state != 'R' || (signal->sender_switches >= 0 && peek->switches != signal->sender_switches))
		return true;
	signal->sender_switches = peek->switches;
	return false;
}

static void ask_when_done(struct wrap *wrap, struct undecided *signals, size_t count, int64_t now_ns)
{
	struct peek peek = {0};
	pid_t peeked = 0;
	uint32_t question = 0;

	for (size_t i = 0; i < count; i++) {
		if (signals[i].asked_ns || !sender_is_done(wrap, &signals[i], now_ns, &peek, &peeked))
			continue;
		if (!question)
			question = witness_ask(wrap);
		signals[i].question = question;
		signals[i].asked_ns = now_ns;
	}
}

void signals_note(struct wrap *wrap, const siginfo_t *info, bool before_job)
{
	int64_t now_ns = monotonic_now_ns();
	struct undecided *signal;

	for (size_t i = 0; i < wrap->undecided_count && !is_real_time(info->si_signo); i++) {
		signal = &wrap->undecided[i];
		if (signal->signo != info->si_signo)
			continue;
		ask_when_done(wrap, signal, 1, now_ns);
		if (!signal->asked_ns)
			return;
	}
	if (wrap->undecided_count == UNDECIDED_MAX)
		return;
	signal = &wrap->undecided[wrap->undecided_count++];
	*signal = (struct undecided){
		.signo = info->si_signo,
		.code = info->si_code,
		.sender = is_from_kernel(&(struct undecided){.code = info->si_code}) ? 0 : info->si_pid,
		.sender_uid = info->si_uid,
		.value = info->si_value,
		.seen_ns = now_ns,
		.quiet_ns = wrap->quiet_ns,
		.sender_switches = -1,
		.before_job = before_job,
	};
	ask_when_done(wrap, signal, 1, now_ns);
}

static bool is_session_leader(const struct wrap *wrap)
{
	return getsid(0) == wrap->own_pid;
}

static bool origin_says_group(const struct wrap *wrap, const struct undecided *signal)
{
	if (!is_from_kernel(signal) || signal->signo == SIGALRM)
		return false;
	return signal->signo != SIGHUP || !is_session_leader(wrap);
}

/* Whether what the witness got pays for this signal; it does so once. */
static bool take_credit(struct wrap *wrap, const struct undecided *signal)
{
	struct sighting *sighting = &wrap->page->sightings[signal->signo];
	uint32_t *used = &wrap->credits_used[signal->signo];
	uint32_t seen = atomic_load(&sighting->sent), queued = atomic_load(&sighting->queued);
	bool fresh = atomic_load(&sighting->last_ns) >= signal->quiet_ns - CREDIT_SLACK_NS;

	if (is_real_time(signal->signo)) {
		if (signal->code == SI_QUEUE) {
			used = &wrap->queued_credits_used[signal->signo];
			seen = queued;
		}
		if (!fresh)
			*used = seen;
		if (*used == seen)
			return false;
		++*used;
		return true;
	}
	seen += queued;
	fresh = fresh && *used != seen;
	*used = seen;
	return fresh;
}

/* It may be too busy, but what is pending in it can be seen from outside. */
static bool mute_witness_has(const struct wrap *wrap, const struct undecided *signal)
{
	struct peek peek = {0};

	return wrap->has_own_proc && peek_process(wrap->witness, &peek) == 0 &&
	       (peek.pending & SIGNAL_BIT(signal->signo));
}

enum verdict { UNDECIDED, OURS_ALONE, REACHED_THE_JOB };

static enum verdict judge(struct wrap *wrap, const struct undecided *signal, int64_t now_ns)
{
	bool answered, credit;

	if (!wrap->witness)
		return !signal->before_job && origin_says_group(wrap, signal) ? REACHED_THE_JOB : OURS_ALONE;
	answered = witness_has_answered(wrap, signal->question);
	if (!answered && now_ns < signal->asked_ns + ANSWER_LIMIT_NS)
		return UNDECIDED;
	credit = take_credit(wrap, signal);
	/* A job that left our group gets nothing with it; nor did one that did not exist yet. */
	if (signal->before_job || getpgid(wrap->job) != getpgrp())
		return OURS_ALONE;
	if (!answered)
		credit = credit || mute_witness_has(wrap, signal) || origin_says_group(wrap, signal);
	return credit ? REACHED_THE_JOB : OURS_ALONE;
}

/* The value goes with the signal, and the sender's identity with the value; kill() would show ours. */
static int pass_on(pid_t job, const struct undecided *signal)
{
	if (signal->code == SI_QUEUE) {
		siginfo_t info = {0};

		info.si_signo = signal->signo;
		info.si_code = SI_QUEUE;
		info.si_pid = signal->sender;
		info.si_uid = signal->sender_uid;
		info.si_value = signal->value;
		if (syscall(SYS_rt_sigqueueinfo, job, signal->signo, &info) == 0)
			return 0;
		if (errno == EAGAIN && is_real_time(signal->signo))
			return -EAGAIN;
	}
	return kill(job, signal->signo) < 0 ? -errno : 0;
}

static void report(struct wrap *wrap, const struct undecided *signal, bool forwarded)
{
	struct wrap_signal told = {
		.signo = signal->signo,
		.sender = signal->sender,
		.seen_ns = signal->seen_ns,
		.forwarded = forwarded,
	};

	if (wrap->hooks && wrap->hooks->signalled)
		wrap->hooks->signalled(wrap->hooks->context, &told);
}

/* The kernel tells us of our own CPU limit only. */
static bool is_about_us(const struct undecided *signal)
{
	return signal->signo == SIGXCPU && is_from_kernel(signal);
}

/* Returns false to keep the signal for later. */
static bool settle_one(struct wrap *wrap, const struct undecided *signal, enum verdict verdict)
{
	int result = 0;

	if (is_about_us(signal))
		return true;
	if (verdict == OURS_ALONE)
		result = pass_on(wrap->job, signal);
	if (result == -EAGAIN)
		return false;
	report(wrap, signal, verdict == OURS_ALONE && result == 0);
	return true;
}

int64_t signals_settle(struct wrap *wrap)
{
	int64_t now_ns = monotonic_now_ns(), next_ns = INT64_MAX;
	bool queue_full = false;
	size_t kept = 0;

	if (!wrap->undecided_count) {
		wrap->quiet_ns = now_ns;
		return INT64_MAX;
	}
	ask_when_done(wrap, wrap->undecided, wrap->undecided_count, now_ns);
	for (size_t i = 0; i < wrap->undecided_count; i++) {
		struct undecided *signal = &wrap->undecided[i];
		enum verdict verdict = signal->asked_ns ? judge(wrap, signal, now_ns) : UNDECIDED;
		int64_t again_ns = LOOK_EVERY_NS;

		if (queue_full && is_real_time(signal->signo))
			verdict = UNDECIDED;
		if (verdict != UNDECIDED) {
			if (settle_one(wrap, signal, verdict))
				continue;
			queue_full = true;
			again_ns = RETRY_EVERY_NS;
		}
		if (next_ns > now_ns + again_ns)
			next_ns = now_ns + again_ns;
		wrap->undecided[kept++] = *signal;
	}
	wrap->undecided_count = kept;
	return next_ns;
}

void signals_drop_stops(struct wrap *wrap)
{
	size_t kept = 0;

	for (size_t i = 0; i < wrap->undecided_count; i++) {
		if (!(SIGNAL_BIT(wrap->undecided[i].signo) & KEYBOARD_STOPS))
			wrap->undecided[kept++] = wrap->undecided[i];
	}
	wrap->undecided_count = kept;
}
