/*
 * The witness: a process in our group that blocks every signal and counts what it is sent.
 *
 * Whether a signal reached the job directly, with its process group, cannot be told from the signal that we
 * get: `timeout` sends to us and then to the group, a hang-up from the kernel may be for the session leader
 * alone, a scheduler may signal every process that it finds. The witness is what the job was: one more
 * process of the group. What it got, the job got; what it did not get was for us, and is passed on.
 *
 * It is asked by a SIGCHLD (which nobody passes on) after a number was put into the shared page, and answers
 * there with that number when it has taken everything that was pending.
 *
 * While we are stopped with the job, it watches the job for us: nobody else would wake us if the job alone
 * were continued or killed.
 *
 * It holds no descriptor, dies with us (PR_SET_PDEATHSIG) and does not go by our name.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "wrap/peek.h"
#include "wrap/state.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { MOST_LOST = 16 };

#define WITNESS_NAME "rt-witness"
#define LOOK_AT_JOB_EVERY_NS (20 * NSEC_PER_MSEC)
#define LAST_WORDS_NS (20 * NSEC_PER_MSEC)

static void note_sighting(struct shared_page *page, const siginfo_t *info, pid_t tracker)
{
	struct sighting *sighting = &page->sightings[info->si_signo];

	if (info->si_signo == SIGCONT && info->si_pid == tracker)
		return;
	atomic_fetch_add(info->si_code == SI_QUEUE ? &sighting->queued : &sighting->sent, 1);
	atomic_store(&sighting->last_ns, monotonic_now_ns());
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

static void close_everything(void)
{
	struct rlimit open_files;

	if (syscall(SYS_close_range, 0, ~0U, 0) == 0)
		return;
	if (getrlimit(RLIMIT_NOFILE, &open_files) < 0 || open_files.rlim_cur > 65536)
		open_files.rlim_cur = 65536;
	for (int fd = 0; fd < (int)open_files.rlim_cur; fd++)
		close(fd);
}

/* Our copy of the command line is our own memory: the tracker's stays as it is. */
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
	pid_t pid = fork();

	if (pid < 0)
		return;
	if (pid) {
		wrap->witness = pid;
		return;
	}
	mask_signals(SIG_SETMASK, ALL_SIGNALS, NULL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != wrap->own_pid)
		_exit(0);
	rename_process(wrap->main_argv);
	close_everything();
	witness_main(wrap->page, wrap->own_pid);
}

void witness_lost(struct wrap *wrap)
{
	const struct wrap_hooks *hooks = wrap->hooks;

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

/* A zombie would stay with whatever is PID 1 after us, so that a few microseconds are spent on waiting. */
void witness_reap(struct wrap *wrap)
{
	int64_t deadline_ns = monotonic_now_ns() + LAST_WORDS_NS;
	siginfo_t info;

	while (wrap->witness) {
		int64_t left_ns = deadline_ns - monotonic_now_ns();

		if (waitpid(wrap->witness, NULL, WNOHANG) != 0 || left_ns <= 0)
			wrap->witness = 0;
		else
			take_signal(SIGNAL_BIT(SIGCHLD), &info, left_ns);
	}
}
