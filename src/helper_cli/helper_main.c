/*
 * resource-tracker-helper KIND MEMORY_FD SOCKET_FD
 * resource-tracker-helper exec PROGRAM ARG0 ARG...
 * resource-tracker-helper record
 *
 * Started by the recorder only. See helper.h. It first closes everything that belongs to the job: a descriptor
 * held here would keep the reader of a pipe waiting after the job has ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/close_descriptors.h"
#include "base/debug.h"
#include "base/scan.h"
#include "helper/supervisor.h"
#include "helper_cli/remote_recorder.h"
#include "launch/exec_detached.h"
#include "remote/remote_message.h"

enum { FIRST_FREE_FD = 3, USAGE_STATUS = 2 };

static bool parse_fd(const char *text, int *ret_fd)
{
	struct scan scan = scan_bytes(text, strlen(text));
	uint64_t fd;

	if (!scan_u64(&scan, &fd) || scan_left(&scan) || fd > INT_MAX)
		return false;
	/* The recorder may have been started with 0, 1 or 2 closed. */
	*ret_fd = fcntl((int)fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	return *ret_fd >= 0;
}

static void let_go_of_descriptors(int keep)
{
	int null_fd = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < FIRST_FREE_FD; fd++) {
		/* Debugging is worth that a reader of stderr may wait for the helper's end. */
		if (fd == STDERR_FILENO && debug_is_on())
			continue;
		if (null_fd < 0)
			close(fd);
		else if (null_fd != fd)
			dup2(null_fd, fd);
	}
	close_descriptors(FIRST_FREE_FD, keep, -1);
}

/*
 * Signals of the terminal and of service managers are meant for the job. The helper ends when the recorder
 * does.
 */
static void set_helper_signals(void)
{
	static const int IGNORED[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE,
				      SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU};
	sigset_t none;

	for (int signo = 1; signo < NSIG; signo++)
		(void)signal(signo, SIG_DFL);
	for (size_t i = 0; i < ARRAY_SIZE(IGNORED); i++)
		(void)signal(IGNORED[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* With a limit of one byte, a crash of a vendor's library reaches neither a core file nor a core handler. */
static void leave_no_cores(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CORE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max < 1 ? limit.rlim_max : 1;
		(void)setrlimit(RLIMIT_CORE, &limit);
	}
}

static bool fits_in_memory(uint64_t offset, uint64_t bytes, uint64_t total)
{
	return offset <= total && bytes <= total - offset && offset % 8 == 0;
}

static bool map_page(int memory_fd, const struct helper_kind *kind, struct helper_view *ret_view)
{
	struct helper_page *page;
	struct stat memory;
	size_t total;
	char *base;

	if (fstat(memory_fd, &memory) < 0 || memory.st_size < (off_t)sizeof(*page))
		return false;
	total = (size_t)memory.st_size;
	page = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
	if (page == MAP_FAILED)
		return false;
	close(memory_fd);
	if (page->magic != HELPER_MAGIC || page->setup_bytes != kind->setup_bytes ||
	    page->request_bytes != kind->request_bytes || page->answer_bytes != kind->answer_bytes ||
	    !fits_in_memory(page->setup_offset, page->setup_bytes, total) ||
	    !fits_in_memory(page->request_offset, latest_footprint(page->request_bytes), total) ||
	    !fits_in_memory(page->answer_offset, latest_footprint(page->answer_bytes), total))
		return false;
	base = (char *)page;
	*ret_view = (struct helper_view){
		.page = page,
		.setup = base + page->setup_offset,
		.request = latest_at(base + page->request_offset, page->request_bytes),
		.answer = latest_at(base + page->answer_offset, page->answer_bytes),
	};
	return true;
}

/*
 * The recorder waits for the process that it has started, and must not get another child that its own wait()
 * could meet. So a second process does the work. The process that adopts orphans becomes its parent. Returns
 * only in that second process.
 */
static void leave_the_recorder(struct helper_page *page)
{
	pid_t pid = fork();

	if (pid < 0)
		page->start_error = errno;
	else if (pid > 0)
		page->supervisor_pid = pid;
	if (pid)
		_exit(0);
	setsid();
	/*
	 * While this process is stopped, it cannot see that the recorder has ended. The exit of its parent
	 * continues it.
	 */
	prctl(PR_SET_PDEATHSIG, SIGCONT);
}

int main(int argc, char **argv)
{
	const struct helper_kind *kind =
		argc == 4 && strcmp(argv[1], GPU_HELPER.name) == 0 ? &GPU_HELPER : NULL;
	struct helper_view view;
	int memory_fd, socket_fd;

	if (argc > 1 && strcmp(argv[1], "exec") == 0)
		return exec_detached(argv + 2);
	if (argc == 2 && strcmp(argv[1], REMOTE_WORD) == 0 && parse_fd("0", &socket_fd)) {
		let_go_of_descriptors(socket_fd);
		set_helper_signals();
		return remote_recorder_main(socket_fd);
	}
	if (!kind || !parse_fd(argv[2], &memory_fd) || !parse_fd(argv[3], &socket_fd)) {
		fprintf(stderr, "%s is started by resource-tracker; it does nothing by itself.\n", argv[0]);
		return USAGE_STATUS;
	}
	if (!map_page(memory_fd, kind, &view)) {
		debug_say("helper", 0, "the recorder's memory is not that of version " RT_VERSION);
		return USAGE_STATUS;
	}
	leave_the_recorder(view.page);
	let_go_of_descriptors(socket_fd);
	set_helper_signals();
	leave_no_cores();
	/* If the kernel refuses, the helper stays in the job's folder, which only keeps a mount busy. */
	(void)!chdir("/");
	prctl(PR_SET_NAME, "rt-helper");
	debug_say("helper", 0, "process %d of resource-tracker-helper " RT_VERSION " is there for kind %s",
		  (int)getpid(), kind->name);
	/* _exit(), not exit(): the deadline leaves no time for handlers. */
	_exit(supervise(&view, kind, socket_fd));
}
