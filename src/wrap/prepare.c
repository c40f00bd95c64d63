/* Prepares this process for wrapping. See wrap.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/process_room.h"
#include "base/scan.h"
#include "wrap/inherited.h"
#include "wrap/peek.h"
#include "wrap/prepare.h"
#include "wrap/signals.h"
#include "wrap/state.h"
#include "wrap/witness.h"

static struct wrap the_wrap;

/*
 * If a standard stream is closed, the next file that is opened would get its number, and printed text would
 * land in that file. Occupy the number instead. Close-on-exec gives the job its closed descriptor back. The
 * stand-in for stdout is read-only, so that writing samples to it fails instead of losing them silently.
 */
static void occupy_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		if (open("/dev/null", (fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) | O_CLOEXEC) < 0)
			(void)!open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
}

/* If /proc belongs to another PID namespace, its numbers name other processes. */
static bool proc_is_ours(pid_t own_pid)
{
	char target[24];
	ssize_t length = readlink("/proc/self", target, sizeof target);
	struct scan text;
	int64_t pid;

	text = scan_bytes(target, length > 0 ? (size_t)length : 0);
	return scan_i64(&text, &pid) && pid == own_pid;
}

void note_earlier_children(struct wrap *wrap)
{
	siginfo_t info;

	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD)
		return;
	if (wrap->has_own_proc)
		add_thread_children(wrap->own_pid, wrap->own_pid, &wrap->foreign);
}

int wrap_prepare(enum wrap_mode mode, char *const *main_argv, struct wrap **ret_wrap)
{
	struct wrap *wrap = &the_wrap;
	void *page;

	if (wrap->prepared)
		return -EBUSY;
	occupy_standard_streams();
	page = mmap(NULL, sizeof *wrap->page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return -errno;
	wrap->prepared = true;
	wrap->mode = mode;
	wrap->page = page;
	wrap->own_pid = getpid();
	wrap->has_own_proc = proc_is_ours(wrap->own_pid);
	mask_signals(SIG_BLOCK, signals_blocked(mode), &wrap->inherited.mask);
	inherited_capture(wrap);
	note_earlier_children(wrap);
	wrap->main_argv = main_argv;
	if (mode == WRAP_JOB && has_room_for_processes(wrap->has_own_proc))
		witness_start(wrap);
	*ret_wrap = wrap;
	return 0;
}

void wrap_undo(void)
{
	struct wrap *wrap = &the_wrap;

	if (!wrap->prepared)
		return;
	witness_kill(wrap);
	witness_reap(wrap);
	if (!wrap->inherited.is_subreaper)
		prctl(PR_SET_CHILD_SUBREAPER, 0);
	inherited_restore_for_job(wrap);
}

void wrap_finish(struct wrap *wrap)
{
	witness_kill(wrap);
	witness_reap(wrap);
	pid_set_free(&wrap->foreign);
}

int wrap_disown(struct wrap *wrap, pid_t pid)
{
	return pid_set_add(&wrap->foreign, pid);
}

pid_t wrap_witness(const struct wrap *wrap)
{
	return wrap->witness;
}

bool wrap_is_foreign(const struct wrap *wrap, pid_t pid)
{
	return pid == wrap->witness || pid_set_has(&wrap->foreign, pid);
}

void wrap_release_stdio(bool keep_stdout)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	dup3(null, STDIN_FILENO, O_CLOEXEC);
	if (!keep_stdout)
		dup3(null, STDOUT_FILENO, O_CLOEXEC);
	close(null);
}
