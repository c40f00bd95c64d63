/*
 * Attributes that this process inherited and the job must have: captured, replaced for the tracker, restored
 * for the job.
 */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/min_max.h"
#include "wrap/inherited.h"
#include "wrap/state.h"

static const struct {
	int signo;
	void (*ours)(int);
} CHANGED[CHANGED_SIGNALS] = {
	/* If SIGCHLD stayed ignored, every wait would fail and lose the exit status. */
	[CHANGED_CHLD] = {SIGCHLD, SIG_DFL},
	/* A write to a closed pipe, a background terminal or a full quota is an error, not our end. */
	[CHANGED_PIPE] = {SIGPIPE, SIG_IGN},
	[CHANGED_TTOU] = {SIGTTOU, SIG_IGN},
	[CHANGED_XFSZ] = {SIGXFSZ, SIG_IGN},
};

static const int TIMERS[INHERITED_TIMERS] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

/* The C libraries disagree on the type of the first argument. */
static void set_timer(int which, const struct itimerval *timer, struct itimerval *ret_before)
{
	syscall(SYS_setitimer, which, timer, ret_before);
}

static void raise_open_files(struct rlimit *ret_before)
{
	struct rlimit all;

	if (getrlimit(RLIMIT_NOFILE, ret_before) < 0) {
		*ret_before = (struct rlimit){0};
		return;
	}
	all = *ret_before;
	all.rlim_cur = all.rlim_max;
	setrlimit(RLIMIT_NOFILE, &all);
}

/*
 * Timers survive exec but not fork: `perl -e 'alarm 5; exec @ARGV'` meant its timer for the job. Stop it
 * here.
 */
static void take_timers(struct inherited *inherited)
{
	static const struct itimerval OFF;

	for (int i = 0; i < INHERITED_TIMERS; i++)
		set_timer(TIMERS[i], &OFF, &inherited->timers[i]);
	inherited->timers_read_ns = monotonic_now_ns();
}

void inherited_capture(struct wrap *wrap)
{
	struct inherited *inherited = &wrap->inherited;

	for (int i = 0; i < CHANGED_SIGNALS; i++) {
		struct sigaction ours = {.sa_handler = CHANGED[i].ours};

		sigaction(CHANGED[i].signo, &ours, &inherited->dispositions[i]);
	}
	raise_open_files(&inherited->open_files);
	if (wrap->mode == WRAP_JOB) {
		take_timers(inherited);
		prctl(PR_GET_PDEATHSIG, &inherited->death_signal);
		prctl(PR_GET_CHILD_SUBREAPER, &inherited->is_subreaper);
	}
	/* Without a job there may still be helpers, and some PID 1s do not reap them. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void restore_timer(int which, struct itimerval timer, int64_t elapsed_ns)
{
	int64_t left_ns = timer.it_value.tv_sec * NSEC_PER_SEC + timer.it_value.tv_usec * NSEC_PER_USEC;

	if (!left_ns)
		return;
	/* Only ITIMER_REAL would have run on since it was captured. The other two count CPU time. */
	if (which == ITIMER_REAL)
		left_ns = max_i64(left_ns - elapsed_ns, NSEC_PER_USEC);
	timer.it_value.tv_sec = left_ns / NSEC_PER_SEC;
	timer.it_value.tv_usec = left_ns % NSEC_PER_SEC / NSEC_PER_USEC;
	set_timer(which, &timer, NULL);
}

void inherited_restore_for_job(const struct wrap *wrap)
{
	const struct inherited *inherited = &wrap->inherited;
	int64_t elapsed_ns = monotonic_now_ns() - inherited->timers_read_ns;

	for (int i = 0; i < CHANGED_SIGNALS; i++)
		sigaction(CHANGED[i].signo, &inherited->dispositions[i], NULL);
	if (inherited->open_files.rlim_max)
		setrlimit(RLIMIT_NOFILE, &inherited->open_files);
	for (int i = 0; i < INHERITED_TIMERS; i++)
		restore_timer(TIMERS[i], inherited->timers[i], elapsed_ns);
	if (inherited->death_signal)
		prctl(PR_SET_PDEATHSIG, inherited->death_signal);
	if (inherited->is_subreaper)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	/*
	 * Unblock last: signals that the process group got since the fork are pending in this child and
	 * arrive now.
	 */
	mask_signals(SIG_SETMASK, inherited->mask, NULL);
}
