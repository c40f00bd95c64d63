/*
 * A stop of the job stops the tracker too, and both continue together. The shell that started the tracker
 * waits for the tracker alone: it shows its prompt when the tracker stops, and `fg` continues the tracker.
 *
 * It makes no difference whether the job stopped itself or with the whole group (Ctrl-Z, a background write
 * under `stty tostop`). The keyboard's stop signals do not stop the tracker directly, because the job may
 * ignore them. The kernel reports each stop of a child once, even if two follow each other before the tracker
 * runs.
 *
 * SIGCONT is never forwarded. If it was sent to the tracker alone, the tracker continues the stopped job. If
 * the witness got it as well, the job was already continued, and may have stopped again since.
 */
#include <errno.h>
#include <sys/wait.h>

#include "wrap/job_control.h"
#include "wrap/peek.h"
#include "wrap/reap.h"
#include "wrap/signals.h"
#include "wrap/state.h"
#include "wrap/witness.h"

/* Long, because continuing late does no harm, but a wrong guess would continue the job's next stop. */
#define ANSWER_LIMIT_NS (100 * NSEC_PER_MSEC)
#define LOOK_EVERY_NS (200 * NSEC_PER_USEC)

static bool waitid_is_refused(void)
{
	return errno != ECHILD && errno != EINTR;
}

/*
 * Whether the job may have stopped without a report taken yet. Where a filter (seccomp) refuses waitid(2), the job's state in
 * /proc is a hint, and take_stop_of_job() decides.
 */
static bool may_have_stopped(const struct wrap *wrap)
{
	siginfo_t info = {0};

	if (!wrap->job)
		return false;
	if (waitid(P_PID, (id_t)wrap->job, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0)
		return info.si_pid != 0;
	return waitid_is_refused() && (!wrap->has_own_proc || is_stopped(wrap->job));
}

/* Takes the kernel's report of a stop: its signal, or 0. */
static int take_stop_of_job(struct wrap *wrap)
{
	siginfo_t info = {0};

	if (!wrap->job)
		return 0;
	if (waitid(P_PID, (id_t)wrap->job, &info, WSTOPPED | WNOHANG) == 0)
		return info.si_pid ? info.si_status : 0;
	return waitid_is_refused() ? wait_for_stop_of_job(wrap) : 0;
}

/*
 * Stops this process as `signo` would by default. Does nothing where that is impossible: as PID 1, or in a
 * process group whose shell has exited (an orphaned group, which only SIGSTOP can stop). The kernel refuses
 * any action or mask of SIGSTOP, which needs none.
 */
static void stop_ourselves(int signo)
{
	struct sigaction stop = {.sa_handler = SIG_DFL}, before = stop;

	sigaction(signo, &stop, &before);
	kill(getpid(), signo);
	mask_signals(SIG_UNBLOCK, SIGNAL_BIT(signo), NULL);
	mask_signals(SIG_BLOCK, SIGNAL_BIT(signo), NULL);
	sigaction(signo, &before, NULL);
}

/*
 * Tells the witness which job is stopped, and waits until it has read that. Otherwise a SIGCONT that the
 * witness was about to send after the last stop could arrive after this one.
 */
static void watch_stopped_job(struct wrap *wrap)
{
	const struct timespec pause = {.tv_nsec = LOOK_EVERY_NS};
	int64_t limit_ns = monotonic_now_ns() + ANSWER_LIMIT_NS;
	uint32_t question;

	atomic_store(&wrap->page->stopped_job, wrap->job);
	question = witness_ask(wrap);
	while (wrap->witness && !witness_has_answered(wrap, question) && monotonic_now_ns() < limit_ns)
		nanosleep(&pause, NULL);
}

void mirror_stop(struct wrap *wrap)
{
	siginfo_t info;
	int signo;

	if (wrap->continued_ns || !may_have_stopped(wrap))
		return;
	/* The tracker may have been stopped and continued together with the job. Handle that first. */
	if (take_signal(SIGNAL_BIT(SIGCONT), &info, 0)) {
		note_continued(wrap, &info);
		return;
	}
	signo = take_stop_of_job(wrap);
	if (!signo)
		return;
	signals_drop_stops(wrap);
	if (wrap->has_own_proc)
		watch_stopped_job(wrap);
	stop_ourselves(signo);
	atomic_store(&wrap->page->stopped_job, 0);
}

void note_continued(struct wrap *wrap, const siginfo_t *info)
{
	signals_drop_stops(wrap);
	/* The witness woke us because the job runs. */
	if (wrap->witness && info->si_pid == wrap->witness && info->si_code <= 0)
		return;
	wrap->continued_ns = monotonic_now_ns();
	/* If the whole group was stopped, the witness was too, and may still be. */
	if (wrap->witness && wrap->has_own_proc && is_stopped(wrap->witness))
		kill(wrap->witness, SIGCONT);
	wrap->continued_question = witness_ask(wrap);
}

int64_t continue_job(struct wrap *wrap)
{
	int64_t now_ns = monotonic_now_ns(), last_ns = 0;
	bool same_group;

	if (!wrap->continued_ns)
		return INT64_MAX;
	if (!witness_has_answered(wrap, wrap->continued_question) &&
	    now_ns < wrap->continued_ns + ANSWER_LIMIT_NS)
		return now_ns + LOOK_EVERY_NS;
	same_group = getpgid(wrap->job) == getpgid(0);
	if (wrap->witness && same_group)
		last_ns = atomic_load(&wrap->page->sightings[SIGCONT].last_ns);
	/* A SIGCONT that the witness saw earlier belonged to an earlier stop. */
	if (last_ns <= wrap->continue_settled_ns && (!wrap->has_own_proc || is_stopped(wrap->job))) {
		(void)take_stop_of_job(wrap);
		/* It may have been found dead. */
		if (wrap->job)
			kill(wrap->job, SIGCONT);
	}
	wrap->continue_settled_ns = now_ns;
	wrap->continued_ns = 0;
	return INT64_MAX;
}
