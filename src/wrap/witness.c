/*
 * The witness: a process in the tracker's process group that blocks every signal and counts those that it gets.
 *
 * The siginfo of a signal does not tell whether the job got the same signal with its process group: `timeout` signals
 * the tracker and then the group, the kernel may send a hang-up to the session leader alone, and a batch scheduler may
 * signal each process that it finds. The witness is in the same place as the job: one more process of the group. A
 * signal that the witness got, the job got. A signal that the witness did not get was for the tracker alone, and the
 * tracker forwards it.
 *
 * Example: `timeout 5 resource-tracker ./job`. timeout (100) leads the process group. The tracker (101), the witness
 * (102) and the job (103) are in it. `sent` is the witness's count of SIGTERM, `used` the number of those that the
 * tracker has matched with a signal of its own (credits_used). The times are microseconds, as an example:
 *
 *	  0  timeout calls kill(101, SIGTERM): only the tracker gets it.
 *	 40  The tracker takes it and notes it as undecided: process 100 still runs, so it may signal again.
 *	 60  timeout calls kill(-100, SIGTERM): 101, 102 and 103 get it. The job has its signal.
 *	 90  The tracker takes a second SIGTERM from 100, which has not slept since the first: the same signal, dropped.
 *	100  SIGTERM is pending in the witness: the tracker asks question 1 (asked = 1, SIGCHLD to 102).
 *	130  The witness takes what is pending (sent = 1) and writes answered = 1.
 *	300  The tracker sees the answer. sent 1 - used 0 = 1: the job got it. used = 1; nothing is forwarded.
 *
 * Later a shell (90) calls kill(101, SIGTERM):
 *
 *	  0  Only the tracker gets it.
 *	 40  The tracker takes it. Process 90 sleeps, so it is done: question 2.
 *	 70  Nothing is pending in the witness: sent stays 1, answered = 2.
 *	240  sent 1 - used 1 = 0: the job did not get it. The tracker calls kill(103, SIGTERM).
 *
 * A question is a number in the shared page and a SIGCHLD, which is never forwarded. The witness answers with that
 * number when it has taken every pending signal. judge.c has the rules for signals that merge and for late answers.
 *
 * While the tracker is stopped together with the job, the witness watches the job. If the job alone is continued or
 * killed, the witness continues the tracker.
 *
 * It holds no descriptor, dies with the tracker (PR_SET_PDEATHSIG) and has a name of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/close_descriptors.h"
#include "base/debug.h"
#include "base/wait_child.h"
#include "wrap/peek.h"
#include "wrap/state.h"
#include "wrap/witness.h"

enum { MOST_LOST = 16 };

#define WITNESS_NAME "rt-witness"
#define LOOK_AT_JOB_EVERY_NS (20 * NSEC_PER_MSEC)
#define LAST_WORDS_NS (20 * NSEC_PER_MSEC)

static void note_sighting(struct shared_page *page, const siginfo_t *info, pid_t tracker)
{
	struct sighting *sighting = &page->sightings[info->si_signo];

	if (info->si_signo == SIGCONT && info->si_pid == tracker)
		return;
	/* The time first: the tracker drops a new count at an old time. */
	atomic_store(&sighting->last_ns, monotonic_now_ns());
	atomic_fetch_add(info->si_code == SI_QUEUE ? &sighting->queued : &sighting->sent, 1);
}

static _Noreturn void witness_main(struct shared_page *page, pid_t tracker)
{
	for (;;) {
		uint32_t question = atomic_load(&page->asked);
		siginfo_t info;
		pid_t job;

		while (take_signal(ALL_SIGNALS, &info, 0))
			note_sighting(page, &info, tracker);
		atomic_store(&page->answered, question);
		job = atomic_load(&page->stopped_job);
		if (job && !is_stopped(job))
			kill(tracker, SIGCONT);
		if (atomic_load(&page->asked) != question)
			continue;
		if (take_signal(ALL_SIGNALS, &info, job ? LOOK_AT_JOB_EVERY_NS : INT64_MAX))
			note_sighting(page, &info, tracker);
	}
}

/* The command line's memory is a private copy after the fork, so the tracker's own stays as it is. */
static void rename_process(char *const *argv)
{
	char *start, *end;

	prctl(PR_SET_NAME, WITNESS_NAME);
	if (!argv || !argv[0])
		return;
	start = argv[0];
	end = start + strlen(start);
	for (int i = 1; argv[i] && argv[i] == end + 1; i++)
		end = argv[i] + strlen(argv[i]);
	memset(start, 0, (size_t)(end - start));
	for (const char *name = WITNESS_NAME; *name && start < end; name++)
		*start++ = *name;
}

void witness_start(struct wrap *wrap)
{
	int64_t begun_ns = debug_now_ns();
	pid_t pid = fork();

	if (pid < 0) {
		debug_say("witness", begun_ns, "cannot be started: %d", errno);
		return;
	}
	if (pid) {
		debug_say("witness", begun_ns, "is process %d", (int)pid);
		wrap->witness = pid;
		return;
	}
	mask_signals(SIG_SETMASK, ALL_SIGNALS, NULL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != wrap->own_pid)
		_exit(0);
	rename_process(wrap->main_argv);
	close_descriptors(0, -1, -1);
	witness_main(wrap->page, wrap->own_pid);
}

void witness_lost(struct wrap *wrap)
{
	const struct wrap_hooks *hooks = wrap->hooks;

	debug_say("witness", 0, "process %d has gone", (int)wrap->witness);
	wrap->witness = 0;
	if (wrap->witness_killed || !wrap->job || wrap->witnesses_lost++ >= MOST_LOST)
		return;
	witness_start(wrap);
	if (wrap->witness && hooks->own_child)
		hooks->own_child(hooks->context, wrap->witness);
}

uint32_t witness_ask(struct wrap *wrap)
{
	uint32_t question = atomic_fetch_add(&wrap->page->asked, 1) + 1;

	witness_wake(wrap);
	return question;
}

void witness_wake(const struct wrap *wrap)
{
	if (wrap->witness)
		kill(wrap->witness, SIGCHLD);
}

bool witness_has_answered(const struct wrap *wrap, uint32_t question)
{
	return (int32_t)(atomic_load(&wrap->page->answered) - question) >= 0;
}

void witness_kill(struct wrap *wrap)
{
	if (wrap->witness && !wrap->witness_killed)
		kill(wrap->witness, SIGKILL);
	wrap->witness_killed = true;
}

/*
 * Waits for the witness, usually a few microseconds. Left unreaped, it would be a zombie until PID 1 reaps
 * it.
 */
void witness_reap(struct wrap *wrap)
{
	int64_t deadline_ns = monotonic_now_ns() + LAST_WORDS_NS;
	siginfo_t info;

	while (wrap->witness) {
		int64_t left_ns = deadline_ns - monotonic_now_ns();

		if (wait_child(wrap->witness, NULL, WNOHANG, NULL) != 0 || left_ns <= 0)
			wrap->witness = 0;
		else
			take_signal(SIGNAL_BIT(SIGCHLD), &info, left_ns);
	}
}
