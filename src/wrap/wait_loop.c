/* Waits for the job: one loop that sleeps until a signal or the next deadline. See wrap.h. */
#include <errno.h>
#include <string.h>

#include "base/min_max.h"
#include "wrap/job_control.h"
#include "wrap/reap.h"
#include "wrap/signals.h"
#include "wrap/state.h"

enum {
	/* Most signals to take in a row before the rest of the loop runs. */
	SIGNAL_BATCH = 64,
};

#define STOPS_WAITING (SIGNAL_BIT(SIGHUP) | SIGNAL_BIT(SIGINT) | SIGNAL_BIT(SIGQUIT) | SIGNAL_BIT(SIGTERM))

struct wait_for_job {
	struct wrap *wrap;
	bool wait_descendants;
	bool told_to_stop;
};

static void take_one(struct wait_for_job *wait, const siginfo_t *info)
{
	struct wrap *wrap = wait->wrap;

	/* A stop signal discards a pending SIGCONT, in the witness as well, which then never saw it. */
	if (SIGNAL_BIT(info->si_signo) & KEYBOARD_STOPS)
		wrap->continued_ns = 0;
	if (info->si_signo == SIGCONT)
		note_continued(wrap, info);
	else if (info->si_signo == SIGCHLD)
		return;
	else if (!wrap->job_ended)
		signals_note(wrap, info, false);
	else if (SIGNAL_BIT(info->si_signo) & STOPS_WAITING)
		wait->told_to_stop = true;
}

/*
 * Waits with rt_sigtimedwait(). It wakes for a signal as fast as a signalfd and for a deadline as exactly as
 * a timerfd, returns the whole siginfo, and needs no descriptor (the process may have none left).
 */
static void wait_for_signals(struct wait_for_job *wait, int64_t until_ns)
{
	struct wrap *wrap = wait->wrap;
	siginfo_t info;

	/* Ask without waiting first: drained_ns is then a moment at which the queue was seen empty. */
	for (int i = 0; i < SIGNAL_BATCH; i++) {
		signal_set wanted = signals_wanted(wrap) | SIGNAL_BIT(SIGCHLD) | SIGNAL_BIT(SIGCONT);
		int64_t look_ns = monotonic_now_ns(), timeout_ns;

		if (!take_signal(wanted, &info, 0)) {
			wrap->drained_ns = look_ns;
			timeout_ns = until_ns == INT64_MAX ? INT64_MAX : max_i64(0, until_ns - look_ns);
			if (i > 0 || !take_signal(wanted, &info, timeout_ns))
				return;
		}
		take_one(wait, &info);
	}
}

static bool is_over(struct wait_for_job *wait)
{
	struct wrap *wrap = wait->wrap;

	if (!wrap->job_ended)
		return false;
	return !wait->wait_descendants || wait->told_to_stop || !has_descendants(wrap);
}

/* Takes a sample if one is due. Returns when the next one is due. */
static int64_t tick_if_due(const struct wrap_hooks *hooks)
{
	int64_t deadline_ns;

	if (!hooks->next_deadline_ns)
		return INT64_MAX;
	deadline_ns = hooks->next_deadline_ns(hooks->context);
	if (deadline_ns > monotonic_now_ns())
		return deadline_ns;
	hooks->tick(hooks->context);
	return hooks->next_deadline_ns(hooks->context);
}

static int64_t earlier_of(int64_t a_ns, int64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

int wrap_run(struct wrap *wrap, const struct wrap_hooks *hooks, bool wait_descendants,
	     struct wrap_end *ret_end)
{
	struct wait_for_job wait = {.wrap = wrap, .wait_descendants = wait_descendants};

	if (!wrap->job)
		return -ECHILD;
	wrap->hooks = hooks;
	for (;;) {
		bool more = reap_children(wrap);
		int64_t wake_ns = INT64_MAX;

		if (!more && is_over(&wait))
			break;
		if (wrap->job) {
			wake_ns = earlier_of(signals_settle(wrap), continue_job(wrap));
			mirror_stop(wrap);
		}
		wake_ns = earlier_of(wake_ns, tick_if_due(hooks));
		wait_for_signals(&wait, more ? 0 : wake_ns);
	}
	wrap->hooks = NULL;
	*ret_end = wrap->end;
	return 0;
}
