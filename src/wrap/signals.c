/*
 * Every signal sent to the tracker reaches the job exactly once. Signals are noted as they come. When judge.c
 * knows whether they reached the job with its process group, they are forwarded or dropped.
 *
 * If a sender sends a standard signal again before it sleeps, both count as one, just as they merge in any
 * process in which the first is still pending. Real-time signals queue and are counted one by one.
 */
#include <errno.h>

#include "base/debug.h"
#include "wrap/judge.h"
#include "wrap/signals.h"
#include "wrap/state.h"
#include "wrap/witness.h"

#define LOOK_EVERY_NS (200 * NSEC_PER_USEC)
#define RETRY_EVERY_NS NSEC_PER_MSEC
/* After this long the machine is busy: look less often, so as not to load it more. */
#define LOOK_SELDOM_AFTER_NS (10 * NSEC_PER_MSEC)

enum {
	/* Kept free for standard signals when the queue is full of real-time ones. */
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

/* Whether the same signal from the same sender is already waiting. */
static bool is_same_again(struct wrap *wrap, const struct undecided *signal)
{
	for (size_t i = 0; i < wrap->undecided_count && !is_real_time(signal->signo); i++) {
		struct undecided *earlier = &wrap->undecided[i];

		if (earlier->signo != signal->signo || earlier->asked_ns || earlier->sender != signal->sender)
			continue;
		sender_is_done(wrap, earlier, signal->seen_ns, &(struct sender_look){0});
		if (!earlier->sender_slept)
			return true;
	}
	return false;
}

void signals_note(struct wrap *wrap, const siginfo_t *info, bool before_job)
{
	struct undecided signal = {
		.signo = info->si_signo,
		.code = info->si_code,
		.seen_ns = monotonic_now_ns(),
		.quiet_ns = wrap->quiet_ns,
		.drained_ns = wrap->drained_ns,
		.sender_sleeps = -1,
		.before_job = before_job,
	};

	if (!is_from_kernel(&signal)) {
		signal.sender = info->si_pid;
		signal.sender_uid = info->si_uid;
		signal.value = info->si_value;
	}
	if (wrap->undecided_count < UNDECIDED_MAX && !is_same_again(wrap, &signal))
		wrap->undecided[wrap->undecided_count++] = signal;
}

/*
 * By now a second copy, sent before the sender was found done or before the witness got its own, is pending
 * here. Take it together with this one, or it would be judged as another signal.
 */
static void note_same(struct wrap *wrap, const struct undecided *signal)
{
	siginfo_t info;

	if (is_real_time(signal->signo) || is_from_kernel(signal))
		return;
	if (take_signal(SIGNAL_BIT(signal->signo), &info, 0))
		signals_note(wrap, &info, signal->before_job);
}

/* Asks the witness once for all signals whose senders are done, or that the witness got already. */
static void ask_for_all(struct wrap *wrap, int64_t now_ns)
{
	uint32_t question = atomic_load(&wrap->page->asked) + 1;
	struct sender_look look = {0};
	bool any = false;

	for (size_t i = 0; i < wrap->undecided_count; i++) {
		struct undecided *signal = &wrap->undecided[i];

		if (signal->asked_ns ||
		    (!witness_was_sent(wrap, signal) && !sender_is_done(wrap, signal, now_ns, &look)))
			continue;
		note_same(wrap, signal);
		signal->question = question;
		signal->asked_ns = now_ns;
		any = true;
	}
	if (any)
		witness_ask(wrap);
}

/* A signal with a value keeps it, and its sender's identity. kill() would show the tracker as the sender. */
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

static void report_signal(const struct wrap *wrap, const struct undecided *signal, bool forwarded)
{
	struct wrap_signal told = {
		.signo = signal->signo,
		.sender = signal->sender,
		.seen_ns = signal->seen_ns,
		.forwarded = forwarded,
	};

	debug_say("witness", 0, "signal %d of process %d %s", signal->signo, (int)signal->sender,
		  forwarded ? "is forwarded to the job" : "reached the job by itself");
	if (wrap->hooks && wrap->hooks->signalled)
		wrap->hooks->signalled(wrap->hooks->context, &told);
}

/* Returns false to keep the signal for later because the job's queue is full. */
static bool settle_one(const struct wrap *wrap, const struct undecided *signal, enum verdict verdict)
{
	int result = 0;

	/* The kernel sends this to the process that reached its own CPU limit: here, the tracker. */
	if (signal->signo == SIGXCPU && is_from_kernel(signal))
		return true;
	if (verdict == OURS_ALONE)
		result = pass_on(wrap->job, signal);
	if (result == -EAGAIN)
		return false;
	report_signal(wrap, signal, verdict == OURS_ALONE && result == 0);
	return true;
}

int64_t signals_settle(struct wrap *wrap)
{
	int64_t now_ns = monotonic_now_ns(), again_ns = LOOK_EVERY_NS;
	bool hold_real_time = false, queue_full = false;
	size_t kept = 0;

	if (!wrap->undecided_count) {
		/*
		 * Not the present time: a signal still pending here may be old, and the witness got its copy
		 * when it was sent.
		 */
		wrap->quiet_ns = wrap->drained_ns;
		return INT64_MAX;
	}
	ask_for_all(wrap, now_ns);
	for (size_t i = 0; i < wrap->undecided_count; i++) {
		struct undecided *signal = &wrap->undecided[i];
		/* Real-time signals keep their order: all wait behind one that has to wait. */
		bool held_up = hold_real_time && is_real_time(signal->signo);
		enum verdict verdict = held_up ? UNDECIDED : judge(wrap, signal, now_ns);

		if (verdict != UNDECIDED && settle_one(wrap, signal, verdict))
			continue;
		if (verdict != UNDECIDED)
			queue_full = signal->refused = true;
		if (is_real_time(signal->signo))
			hold_real_time = true;
		wrap->undecided[kept++] = *signal;
	}
	wrap->undecided_count = kept;
	if (queue_full || (kept && now_ns > wrap->undecided[0].seen_ns + LOOK_SELDOM_AFTER_NS))
		again_ns = RETRY_EVERY_NS;
	return kept ? now_ns + again_ns : INT64_MAX;
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
