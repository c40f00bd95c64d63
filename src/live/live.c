/* Runs the live view. See live.h. */
#include "live/live.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/printable.h"
#include "history/history.h"
#include "launch/in_time.h"
#include "live/feed.h"
#include "live/notify.h"
#include "live/recorder.h"
#include "live/terminal.h"
#include "live/view.h"
#include "live/writers.h"

enum { IDLE_MS = 1000, LOOK_MS = 200, SOON_MS = 50, FEEDS_MOST = 256, KEYS_AT_ONCE = 64, PIPE_READS = 8 };
#define HISTORY_LOOK_NS (2 * NSEC_PER_SEC)
#define HUNG_LOOK_NS (30 * NSEC_PER_SEC)
/* A recorder that inherits a lock from a process that has ended is in no list of locks. */
#define UNCHANGED_LOOK_NS (30 * NSEC_PER_SEC)
#define REDRAW_NS NSEC_PER_SEC
#define SOONEST_REDRAW_NS (50 * NSEC_PER_MSEC)
/* `resource-tracker CMD &` writes its summary to this terminal soon after its run has ended. */
#define SUMMARY_COMES_NS (5 * NSEC_PER_SEC)

struct live {
	const struct live_options *options;
	struct feed *feeds[FEEDS_MOST];
	size_t feed_count;
	struct own_recorder recorder;
	struct view view;
	struct canvas canvas;
	int signals_fd;
	sigset_t mask_before;
	int64_t writers_ns;   /* no earlier look for recorders, because a file system hangs */
	int64_t unchanged_ns; /* nor while the locks are these */
	uint64_t locks;
	int64_t history_ns, drawn_ns, run_end_ns; /* 0: never */
	bool dirty;                               /* there is something new to draw */
	bool urgent;                              /* the user waits for it */
	bool ended;                               /* all that has been written is read */
};

bool live_is_built(void)
{
	return terminal_is_built();
}

static int64_t live_now_ns(void)
{
	return SYSTEM_CLOCKS.monotonic_ns(SYSTEM_CLOCKS.context);
}

/* ---- feeds ------------------------------------------------------------------------------------------- */

static int add_feed(struct live *live, const char *path, bool is_pipe, const char *name, unsigned number)
{
	struct feed *feed = live->feed_count < FEEDS_MOST ? calloc(1, sizeof(*feed)) : NULL;
	int r = feed ? feed_begin(feed, path, is_pipe, name, number, live_now_ns()) : -ENOMEM;

	if (r == 0)
		r = view_add(&live->view, &feed->run);
	if (r < 0) {
		if (feed)
			feed_done(feed);
		free(feed);
		return r;
	}
	live->feeds[live->feed_count++] = feed;
	return 0;
}

static bool is_followed(const struct live *live, unsigned number)
{
	for (size_t i = 0; i < live->feed_count; i++)
		if (live->feeds[i]->run.number == number)
			return true;
	return false;
}

static void look_into_history(struct live *live)
{
	struct history history = {.fd = -1};
	char name[32];

	if (history_open(&history, false, NULL) < 0)
		return;
	for (size_t i = 0; i < history.count; i++) {
		const struct history_run *run = &history.runs[i];

		if (!run->live || !run->path || is_followed(live, run->number))
			continue;
		snprintf(name, sizeof(name), "run %u", run->number);
		if (add_feed(live, run->path, false, name, run->number) == 0)
			live->dirty = true;
	}
	history_close(&history);
}

static void follow_written(void *context, const char *path, const struct stat *status)
{
	struct live *live = context;
	const char *slash = strrchr(path, '/');
	struct stat followed;

	for (size_t i = 0; i < live->feed_count; i++)
		if (stat(live->feeds[i]->path, &followed) == 0 && followed.st_dev == status->st_dev &&
		    followed.st_ino == status->st_ino)
			return;
	if (add_feed(live, path, false, slash ? slash + 1 : path, 0) == 0)
		live->dirty = true;
}

/* The screen stands still while a file system does not answer. To look at each process costs more than to draw the screen. */
static void look_for_writers(struct live *live)
{
	uint64_t locks = writers_locks();
	bool changed = !locks || locks != live->locks;

	if (live_now_ns() < live->writers_ns || (!changed && live_now_ns() < live->unchanged_ns))
		return;
	live->locks = locks;
	live->unchanged_ns = live_now_ns() + UNCHANGED_LOOK_NS;
	if (!writers_find(follow_written, live))
		live->writers_ns = live_now_ns() + HUNG_LOOK_NS;
}

/* Runs that have begun since the last look: those of the history, and those that are recorded to other files. */
static void look_for_runs(struct live *live)
{
	if (!live->options->follows_history ||
	    (live->history_ns && live_now_ns() - live->history_ns < HISTORY_LOOK_NS))
		return;
	live->history_ns = live_now_ns();
	allow_work_aside(JOB_LOOK_MS);
	look_into_history(live);
	look_for_writers(live);
}

static int begin_feeds(struct live *live, struct rt_problem *problem)
{
	const struct live_options *options = live->options;
	char path[32];
	int r = 0;

	for (size_t i = 0; i < options->path_count && r == 0; i++) {
		const char *slash = strrchr(options->paths[i], '/');

		r = add_feed(live, options->paths[i], false, slash ? slash + 1 : options->paths[i],
			     options->numbers[i]);
	}
	if (options->recorder && r == 0) {
		r = recorder_start(&live->recorder, options->recorder);
		if (r < 0)
			return problem_set(problem, r, "the recorder cannot be started: %s", strerror(-r));
		snprintf(path, sizeof(path), "/dev/fd/%d", live->recorder.samples_fd);
		r = add_feed(live, path, true, options->recorder_name, 0);
	}
	if (r < 0)
		return problem_set(problem, r, "%s", r == -ENOMEM ? "out of memory" : strerror(-r));
	look_for_runs(live);
	live->view.several = live->view.lists = options->follows_history || live->feed_count > 1;
	return 0;
}

static void tell_of_end(struct live *live, const struct feed *feed)
{
	if (live->options->notifies && feed->was_live)
		notify_of_end(&feed->run);
}

/* The only source is not a recording: an error. One of several: its line says so. */
static int read_feed(struct live *live, struct feed *feed, struct rt_problem *problem)
{
	bool was_going_on = run_is_live(&feed->run);
	struct rt_problem own = {"it cannot be read"};
	int r = 0;

	/* A pipe is emptied, but a recorder that is faster than this must not keep the keys waiting. */
	for (int i = 0; i < (feed->is_pipe ? PIPE_READS : 1); i++) {
		r = feed_read(feed, live_now_ns(), &own);
		live->dirty |= r > 0;
		if (r <= 0)
			break;
	}
	live->ended &= r <= 0;
	if (live->options->notifies)
		notify_if_overdue(&feed->run);
	if (r < 0) {
		if (live->feed_count == 1 && !feed->run.timeline.count && !live->options->follows_history)
			return problem_set(problem, r, "%s", own.text);
		/* The history compresses a recording that has ended, which changes its name. */
		run_lose(&feed->run, r == -ENOENT && live->options->follows_history
					     ? "it ended before this view had read it"
					     : own.text);
	}
	if (was_going_on && !run_is_live(&feed->run)) {
		live->dirty = true;
		live->run_end_ns = live_now_ns();
		tell_of_end(live, feed);
	}
	return 0;
}

/* A recorder that ends before its first sample says why on its standard error. */
static int read_recorder(struct live *live, struct rt_problem *problem)
{
	struct own_recorder *recorder = &live->recorder;
	struct feed *feed;
	char *line_end;

	if (!live->options->recorder)
		return 0;
	recorder_listen(recorder);
	if (recorder->samples_fd < 0 || !recorder_has_ended(recorder))
		return 0;
	/* The pipe holds its last samples. */
	feed = live->feeds[0];
	read_feed(live, feed, problem);
	recorder_listen(recorder);
	close(recorder->samples_fd);
	recorder->samples_fd = -1;
	live->dirty = true;
	if (feed->run.timeline.count) {
		if (run_is_live(&feed->run)) {
			run_lose(&feed->run, "the recorder has gone");
			tell_of_end(live, feed);
		}
		return 0;
	}
	if (!recorder->messages.length)
		return problem_set(problem, -EIO, "the recorder ended without a sample");
	make_printable(recorder->messages.data, recorder->messages.length);
	line_end = strchr(recorder->messages.data, '\n');
	if (line_end)
		*line_end = '\0';
	return problem_set(problem, -EIO, "%s", recorder->messages.data);
}

static int read_all_runs(struct live *live, struct rt_problem *problem)
{
	int r = read_recorder(live, problem);

	live->ended = true;
	look_for_runs(live);
	for (size_t i = 0; i < live->feed_count && r == 0; i++)
		r = read_feed(live, live->feeds[i], problem);
	return r;
}

/* ---- signals ----------------------------------------------------------------------------------------- */

static int watch_signals(struct live *live)
{
	static const int WATCHED[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH, SIGCHLD};
	sigset_t watched;

	sigemptyset(&watched);
	for (size_t i = 0; i < ARRAY_SIZE(WATCHED); i++)
		sigaddset(&watched, WATCHED[i]);
	/* A parent may have passed it on as ignored, which would hide the end of a child. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &watched, &live->mask_before);
	live->signals_fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	return live->signals_fd < 0 ? -errno : 0;
}

/* Stops as the shell wants it: the terminal is the shell's meanwhile. */
static void stop_for_shell(struct live *live)
{
	sigset_t stop;

	terminal_suspend();
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL); /* here it stops, and goes on after SIGCONT */
	sigprocmask(SIG_BLOCK, &stop, NULL);
	terminal_resume();
	live->urgent = true;
}

/* notify-send. The recorder is waited for by its pid. */
static void reap_others(const struct live *live)
{
	siginfo_t child = {0};

	while (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0 && child.si_pid &&
	       child.si_pid != live->recorder.pid) {
		waitpid(child.si_pid, NULL, WNOHANG);
		child.si_pid = 0;
	}
}

static void take_live_signals(struct live *live)
{
	struct signalfd_siginfo taken;

	while (read(live->signals_fd, &taken, sizeof(taken)) == (ssize_t)sizeof(taken)) {
		switch (taken.ssi_signo) {
		case SIGWINCH:
			terminal_resize();
			live->urgent = true;
			break;
		case SIGTSTP:
			stop_for_shell(live);
			break;
		case SIGCHLD:
			reap_others(live);
			break;
		default:
			live->view.quits = true;
		}
	}
}

/* ---- the loop ---------------------------------------------------------------------------------------- */

static void draw_live(struct live *live)
{
	size_t rows, columns;
	struct timespec wall;

	/* Once a second, a silent recording shows how long it has been silent. */
	if (!live->urgent && live_now_ns() - live->drawn_ns < (live->dirty ? SOONEST_REDRAW_NS : REDRAW_NS))
		return;
	terminal_size(&rows, &columns);
	clock_gettime(CLOCK_REALTIME, &wall);
	live->view.now_ns = live_now_ns();
	live->view.now_secs = (double)wall.tv_sec;
	live->dirty = live->urgent = false;
	live->drawn_ns = live_now_ns();
	if (!rows || !columns || canvas_begin(&live->canvas, rows, columns) < 0)
		return;
	view_draw(&live->view, &live->canvas);
	terminal_show(&live->canvas, live->run_end_ns && live_now_ns() - live->run_end_ns < SUMMARY_COMES_NS);
}

static void take_keys(struct live *live)
{
	uint32_t key;

	for (int i = 0; i < KEYS_AT_ONCE && (key = terminal_key()); i++) {
		if (key != UINT32_MAX)
			view_press(&live->view, key);
		live->urgent = true;
	}
}

/* While a file is read for the first time, keys are only looked at. */
static void wait_for_event(struct live *live)
{
	struct pollfd events[] = {
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = live->signals_fd, .events = POLLIN},
		{.fd = live->options->recorder ? live->recorder.samples_fd : -1, .events = POLLIN},
		{.fd = live->options->recorder ? live->recorder.messages_fd : -1, .events = POLLIN},
	};
	int wait_ms = !live->feed_count ? IDLE_MS : !live->ended ? 0 : live->dirty ? SOON_MS : LOOK_MS;
	int ready = poll(events, ARRAY_SIZE(events), wait_ms);

	if (ready <= 0)
		return;
	if (events[1].revents)
		take_live_signals(live);
	if (events[0].revents & POLLIN)
		take_keys(live);
	/* The terminal has gone. */
	if (events[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		live->view.quits = true;
	/* The writer's end is closed. Its exit status follows. */
	if (events[2].revents & POLLHUP && !(events[2].revents & POLLIN))
		poll(NULL, 0, 1);
}

static int run_loop(struct live *live, struct rt_problem *problem)
{
	int r = 0;

	live->urgent = true;
	while (r == 0 && !live->view.quits) {
		r = read_all_runs(live, problem);
		if (r == 0) {
			draw_live(live);
			wait_for_event(live);
		}
	}
	return r;
}

static void live_done(struct live *live)
{
	for (size_t i = 0; i < live->feed_count; i++) {
		feed_done(live->feeds[i]);
		free(live->feeds[i]);
	}
	/* Nothing reads its pipe any more. */
	if (live->recorder.samples_fd >= 0 || live->recorder.pid)
		recorder_stop(&live->recorder);
	buffer_done(&live->recorder.messages);
	view_done(&live->view);
	canvas_done(&live->canvas);
	if (live->signals_fd >= 0)
		close(live->signals_fd);
	sigprocmask(SIG_SETMASK, &live->mask_before, NULL);
}

int live_show(const struct live_options *options, struct rt_problem *ret_problem)
{
	struct live *live = calloc(1, sizeof(*live));
	int r;

	if (!live)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	live->options = options;
	live->signals_fd = live->recorder.samples_fd = live->recorder.messages_fd = -1;
	view_begin(&live->view);
	r = watch_signals(live);
	if (r == 0)
		r = terminal_open(options->colour);
	if (r == 0) {
		live->view.style = live->view.style_most = terminal_style();
		r = begin_feeds(live, ret_problem);
		if (r == 0)
			r = run_loop(live, ret_problem);
		terminal_close();
	}
	live_done(live);
	free(live);
	return r;
}
