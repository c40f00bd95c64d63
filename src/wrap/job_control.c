/*
 * A job that stops takes us with it, and is continued with us: the shell that started us waits for us, gives
 * its prompt back when we stop, and knows how to continue only us.
 *
 * Whether the job stopped itself or with our whole group (Ctrl-Z, a background write under `stty tostop`)
 * makes no difference: we are not stopped by the keyboard's signals ourselves, since the job may well ignore
 * them.
 */
#include <sys/wait.h>

#include "wrap/state.h"

/* The signal that the job is stopped by now, or 0. Asked with WNOWAIT, so that it can be asked again. */
static int job_stop_signal(const struct wrap *wrap)
{
	siginfo_t info = {0};

	if (!wrap->job || waitid(P_PID, (id_t)wrap->job, &info, WSTOPPED | WNOHANG | WNOWAIT) < 0)
		return 0;
	return info.si_pid ? info.si_status : 0;
}

/*
 * Stops this process as `signo` would by default. Does nothing where that is impossible: as PID 1, or in a
 * group whose shell has gone, which only SIGSTOP can stop.
 */
static void stop_ourselves(int signo)
{
	struct sigaction stop = {.sa_handler = SIG_DFL}, before;

	if (signo == SIGSTOP) {
		kill(getpid(), SIGSTOP);
		return;
	}
	sigaction(signo, &stop, &before);
	kill(getpid(), signo);
	mask_signals(SIG_UNBLOCK, SIGNAL_BIT(signo), NULL);
	mask_signals(SIG_BLOCK, SIGNAL_BIT(signo), NULL);
	sigaction(signo, &before, NULL);
}

void mirror_stop(struct wrap *wrap)
{
	int signo = job_stop_signal(wrap);

	if (!signo) {
		wrap->stop_mirrored = false;
		return;
	}
	if (wrap->stop_mirrored)
		return;
	wrap->stop_mirrored = true;
	signals_drop_stops(wrap);
	if (wrap->has_own_proc) {
		atomic_store(&wrap->page->stopped_job, wrap->job);
		witness_wake(wrap);
	}
	stop_ourselves(signo);
	atomic_store(&wrap->page->stopped_job, 0);
}

void continue_job(struct wrap *wrap)
{
	signals_drop_stops(wrap);
	if (!job_stop_signal(wrap))
		return;
	kill(wrap->job, SIGCONT);
	wrap->stop_mirrored = false;
}
