/* Starts repeated runs, and keeps them. See repeat_runs.h. */
#include "analysis/repeat_runs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/read_file.h"
#include "base/wait_child.h"
#include "base/write_all.h"
#include "history/history.h"
#include "history/history_folder.h"
#include "launch/find_program.h"
#include "launch/run_server.h"

enum { RECORDER_WORDS = 12, PATH_BYTES = 2 * PATH_MAX, BAR_COLUMNS = 20 };

static const int ENDING[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const size_t RECORDING_MOST = (size_t)1 << 30;

extern char **environ;

/* The recorder that forks those of one command. */
struct run_server {
	int fd; /* -1: there is none */
	pid_t pid;
	bool was_tried;
};

struct series_of_runs {
	const struct repeat_plan *plan;
	const char *folder;
	char recorder[PATH_MAX];
	char tag[48]; /* "repeat=1a2b3c4d-A"; its last letter is the side */
	struct repeat *repeat;
	struct repeat_stop *stop;
	struct rt_problem *problem;
	const char *runs_file; /* TRACKER_RUNS of this run. NULL: none */
	struct run_server servers[2];
	int signals; /* of signalfd(), or -1 */
	sigset_t watched, before;
	struct instruction_counter counter;  /* of the run that is next or runs */
	struct counted_instructions counted; /* by it, in the run before */
	int64_t started_ns, done;            /* runs, warm-ups included */
	bool shows_progress;
};

/* ---- one child --------------------------------------------------------------------------------------- */

static int spawn_run(const struct series_of_runs *series, const char *program, const char *const *argv,
		     pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t usual;
	int error;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return -ENOMEM;
	if (posix_spawnattr_init(&attributes) != 0) {
		posix_spawn_file_actions_destroy(&actions);
		return -ENOMEM;
	}
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	posix_spawnattr_setsigmask(&attributes, &series->before);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!series->plan->shows_output) {
		posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	}
	error = posix_spawn(ret_pid, program, &actions, &attributes, (char *const *)(uintptr_t)argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -error;
}

/* The kernel sends the terminal's signals to the whole process group, so the run has them already. */
static void pass_signal(struct series_of_runs *series, int signo, int code, pid_t pid)
{
	if (signo == SIGCHLD)
		return;
	series->stop->signo = signo;
	if (code != SI_KERNEL)
		(void)kill(pid, signo);
}

static int wait_for_run(struct series_of_runs *series, pid_t pid, int *ret_status)
{
	siginfo_t info;

	for (;;) {
		pid_t ended = wait_child(pid, ret_status, WNOHANG, NULL);

		if (ended == pid)
			return 0;
		if (ended < 0 && errno != EINTR)
			return -errno;
		if (sigwaitinfo(&series->watched, &info) > 0)
			pass_signal(series, info.si_signo, info.si_code, pid);
	}
}

static int run_repeat_child(struct series_of_runs *series, const char *program, const char *const *argv,
			    int *ret_status)
{
	pid_t pid;
	int error = spawn_run(series, program, argv, &pid);

	if (error == 0)
		error = wait_for_run(series, pid, ret_status);
	return error < 0 ? problem_set(series->problem, error, "%s: %s", program, strerror(-error)) : 0;
}

/* ---- progress ---------------------------------------------------------------------------------------- */

/* Between runs only, so that a run has the machine for itself. */
static void show_progress(const struct series_of_runs *series, int64_t total)
{
	char bar[BAR_COLUMNS + 1], left[40] = "";
	int filled = (int)(BAR_COLUMNS * series->done / total);
	double secs = ns_to_secs(SYSTEM_CLOCKS.monotonic_ns(NULL) - series->started_ns);

	if (!series->shows_progress)
		return;
	memset(bar, '.', BAR_COLUMNS);
	memset(bar, '#', (size_t)filled);
	bar[BAR_COLUMNS] = '\0';
	if (series->done)
		snprintf(left, sizeof(left), ", about %.0f s left",
			 secs / (double)series->done * (double)(total - series->done));
	fprintf(stderr, "\r\033[K[%s] run %lld of %lld%s", bar, (long long)series->done + 1, (long long)total,
		left);
	fflush(stderr);
}

static void clear_progress(const struct series_of_runs *series)
{
	if (series->shows_progress)
		fputs("\r\033[K", stderr);
}

/* ---- one run ----------------------------------------------------------------------------------------- */

/* The recorder takes a name for a pattern, in which %% is a percent sign. */
static int name_repeat_recording(const struct series_of_runs *series, int64_t index, char *ret_path,
				 char *ret_pattern)
{
	size_t length = 0;

	if (snprintf(ret_path, PATH_MAX, "%s/%lld.jsonl", series->folder, (long long)index) >= PATH_MAX)
		return -ENAMETOOLONG;
	for (const char *at = ret_path; *at; at++) {
		ret_pattern[length++] = *at;
		if (*at == '%')
			ret_pattern[length++] = '%';
	}
	ret_pattern[length] = '\0';
	return 0;
}

/* `serve`: the word of a server, or NULL. NULL: out of memory */
static const char **words_of_recorder(struct series_of_runs *series, size_t side, const char *serve,
				      const char *pattern)
{
	const char *const *command = series->plan->commands[side];
	const char *const OPTIONS[] = {"--output", pattern, "--quiet", "--no-warnings", "--no-summary",
				       "--format", "json",  "--tag",   series->tag,     "--"};
	const char **words;
	size_t count = 0, i = 0;

	while (command[count])
		count++;
	words = calloc(RECORDER_WORDS + count + 1, sizeof(*words));
	if (!words)
		return NULL;
	series->tag[strlen(series->tag) - 1] = side ? 'B' : 'A';
	words[i++] = "resource-tracker";
	if (serve)
		words[i++] = serve;
	memcpy(words + i, OPTIONS, sizeof(OPTIONS));
	memcpy(words + i + ARRAY_SIZE(OPTIONS), command, count * sizeof(*words));
	return words;
}

/* Returns whether there is a server for the command. */
static bool start_run_server(struct series_of_runs *series, size_t side)
{
	struct run_server *server = &series->servers[side];
	CLEANUP_FREE const char **words = NULL;
	int ends[2];
	char serve[40];

	if (server->was_tried)
		return server->fd >= 0;
	server->was_tried = true;
	if (series->signals < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return false;
	snprintf(serve, sizeof(serve), SERVE_RUNS "%d", ends[1]);
	words = words_of_recorder(series, side, serve, "");
	if (words && fcntl(ends[1], F_SETFD, 0) == 0 &&
	    spawn_run(series, series->recorder, words, &server->pid) == 0)
		server->fd = ends[0];
	else
		close(ends[0]);
	close(ends[1]);
	return server->fd >= 0;
}

static void stop_run_server(struct run_server *server)
{
	int status;

	if (server->fd < 0)
		return;
	close(server->fd);
	(void)wait_child(server->pid, &status, 0, NULL);
	server->fd = -1;
}

/* Waits for the end of the run that was asked for, and passes signals on. -EPIPE: the server has ended */
static int wait_for_answer(struct series_of_runs *series, int fd, struct serve_answer *ret_answer)
{
	struct pollfd polled[] = {{fd, POLLIN, 0}, {series->signals, POLLIN, 0}};
	struct signalfd_siginfo info;

	for (*ret_answer = (struct serve_answer){0}; !ret_answer->has_ended;) {
		/* Until the run has a pid, signals wait. */
		if (poll(polled, ret_answer->pid ? 2 : 1, -1) < 0) {
			if (errno != EINTR)
				return -errno;
		} else if (polled[0].revents) {
			if (recv(fd, ret_answer, sizeof(*ret_answer), 0) != sizeof(*ret_answer))
				return -EPIPE;
			if (ret_answer->job_ended) {
				series->counted = instructions_end(&series->counter);
				(void)send(fd, "", 1, MSG_NOSIGNAL);
			}
		} else if (polled[1].revents && read(series->signals, &info, sizeof(info)) == sizeof(info)) {
			pass_signal(series, (int)info.ssi_signo, info.ssi_code, ret_answer->pid);
		}
	}
	return 0;
}

/* Attaches the counter to the recorder that waits for a request. Returns false if there is none. */
static bool count_in_server(struct series_of_runs *series, int fd)
{
	struct serve_answer waiting;

	if (recv(fd, &waiting, sizeof(waiting), 0) != sizeof(waiting) || waiting.pid <= 0)
		return false;
	instructions_begin(&series->counter, waiting.pid);
	return true;
}

/* Returns false if the server has not begun the run, which needs a recorder of its own then. */
static bool serve_one_run(struct series_of_runs *series, size_t side, const char *pattern, int *ret_status,
			  int *ret_error)
{
	const char *runs = series->runs_file ? series->runs_file : "";
	size_t length = strlen(pattern) + 1, whole = length + strlen(runs) + 1;
	struct serve_answer answer = {0};
	char request[SERVE_REQUEST_BYTES];
	int fd;

	if (whole > sizeof(request) || !start_run_server(series, side))
		return false;
	fd = series->servers[side].fd;
	memcpy(request, pattern, length);
	memcpy(request + length, runs, whole - length);
	*ret_error = !count_in_server(series, fd) || send(fd, request, whole, MSG_NOSIGNAL) < 0
			     ? -EPIPE
			     : wait_for_answer(series, fd, &answer);
	*ret_status = answer.status;
	if (*ret_error == 0 && answer.pid > 0)
		return true;
	stop_run_server(&series->servers[side]);
	return answer.pid > 0;
}

static int record_one_run(struct series_of_runs *series, size_t side, int64_t index, char *ret_path,
			  int *ret_status)
{
	char pattern[PATH_BYTES];
	CLEANUP_FREE const char **words = NULL;
	int error;

	if (name_repeat_recording(series, index, ret_path, pattern) < 0)
		return problem_set(series->problem, -ENAMETOOLONG,
				   "%.200s…: the path of the folder is too long", series->folder);
	if (serve_one_run(series, side, pattern, ret_status, &error))
		return error < 0 ? problem_set(series->problem, error, "%s: %s", series->recorder,
					       strerror(-error))
				 : 0;
	words = words_of_recorder(series, side, NULL, pattern);
	if (!words)
		return problem_set(series->problem, -ENOMEM, "out of memory");
	return run_repeat_child(series, series->recorder, words, ret_status);
}

/* True: go on. */
static bool prepare_run(struct series_of_runs *series, int *ret_error)
{
	const char *const WORDS[] = {"sh", "-c", series->plan->prepare, NULL};
	int status = 0;

	*ret_error = 0;
	if (!series->plan->prepare)
		return true;
	*ret_error = run_repeat_child(series, "/bin/sh", WORDS, &status);
	if (*ret_error == 0 && status) {
		series->stop->status = status;
		series->stop->what = "--prepare";
	}
	return *ret_error == 0 && !status && !series->stop->signo;
}

/* True: go on. A warm-up leaves no recording, and no line in the user's file of runs. */
static bool make_run(struct series_of_runs *series, size_t side, bool is_warmup, int *ret_error)
{
	char path[PATH_MAX];
	struct repeat_run run = {.side = side, .path = path};

	if (!prepare_run(series, ret_error))
		return false;
	series->counted.unknown = "the recorder did not say when the command ended";
	*ret_error = record_one_run(series, side, series->done, path, &run.status);
	run.instructions = series->counted;
	if (*ret_error < 0)
		return false;
	series->done++;
	if (is_warmup)
		(void)unlink(path);
	else
		*ret_error = repeat_add(series->repeat, run, series->problem);
	series->stop->what = series->repeat->commands[side];
	if (run.status && !series->plan->ignores_failure)
		series->stop->status = run.status;
	/* A recorder that a signal met before the job's start has recorded nothing. */
	if (*ret_error < 0 && (series->stop->signo || series->stop->status))
		*ret_error = 0;
	return *ret_error == 0 && !series->stop->signo && !series->stop->status;
}

static int run_all_in_turn(struct series_of_runs *series)
{
	const struct repeat_plan *plan = series->plan;
	int64_t sides = plan->commands[1] ? 2 : 1, total = sides * (plan->warmups + plan->runs);
	CLEANUP_FREE char *runs = getenv("TRACKER_RUNS") ? strdup(getenv("TRACKER_RUNS")) : NULL;
	int error = 0;

	unsetenv("TRACKER_RUNS");
	for (int64_t i = 0; i < total; i++) {
		int64_t round = i / sides;
		size_t side = sides < 2 ? 0 : (size_t)((i + round) % 2);

		if (round == plan->warmups && i % sides == 0 && runs) {
			setenv("TRACKER_RUNS", runs, 1);
			series->runs_file = runs;
		}
		show_progress(series, total);
		if (!make_run(series, side, round < plan->warmups, &error))
			break;
	}
	clear_progress(series);
	for (size_t i = 0; i < ARRAY_SIZE(series->servers); i++)
		stop_run_server(&series->servers[i]);
	return error;
}

int repeat_run_all(const struct repeat_plan *plan, const char *folder, struct repeat *repeat,
		   struct repeat_stop *ret_stop, struct rt_problem *ret_problem)
{
	struct series_of_runs series = {
		.plan = plan,
		.folder = folder,
		.repeat = repeat,
		.stop = ret_stop,
		.problem = ret_problem,
		.servers = {{.fd = -1}, {.fd = -1}},
		.counter.fd = -1,
		.started_ns = SYSTEM_CLOCKS.monotonic_ns(NULL),
		.shows_progress = isatty(STDERR_FILENO) && !plan->shows_output,
	};
	int error = find_sister_program(&RECORDER_PROGRAM, series.recorder);

	if (error < 0)
		return problem_set(ret_problem, error, "needs resource-tracker, which is not installed");
	snprintf(series.tag, sizeof(series.tag), "repeat=%x-%d-A", (unsigned)time(NULL), (int)getpid());
	(void)signal(SIGCHLD, SIG_DFL);
	sigemptyset(&series.watched);
	sigaddset(&series.watched, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(ENDING); i++)
		sigaddset(&series.watched, ENDING[i]);
	sigprocmask(SIG_BLOCK, &series.watched, &series.before);
	series.signals = signalfd(-1, &series.watched, SFD_CLOEXEC | SFD_NONBLOCK);
	error = run_all_in_turn(&series);
	if (series.signals >= 0)
		close(series.signals);
	return error;
}

/* ---- the history ------------------------------------------------------------------------------------- */

static int copy_to(int fd, const char *path)
{
	CLEANUP_BUFFER struct buffer bytes = BUFFER(RECORDING_MOST);
	int result = read_whole_file(path, &bytes);

	return result < 0 ? result : write_all(fd, bytes.data, bytes.length);
}

/* The phases that the job marked. */
static void copy_marks(const char *folder, unsigned number, const char *recording)
{
	char from[PATH_BYTES], to[PATH_BYTES];
	CLEANUP_CLOSE int fd = -1;

	snprintf(from, sizeof(from), "%s.marks", recording);
	snprintf(to, sizeof(to), "%s/%u.jsonl.marks", folder, number);
	if (access(from, F_OK) < 0)
		return;
	fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		(void)copy_to(fd, from);
}

static int keep_one(struct repeat_run *run, const char *folder)
{
	CLEANUP_CLOSE int fd = history_create(folder, &run->number);

	return fd < 0 ? fd : copy_to(fd, run->path);
}

/* A command that cannot be started does not count as a run. */
static int keep_in_folder(struct repeat *repeat, const char *folder, struct rt_problem *problem)
{
	for (size_t i = 0; i < repeat->count; i++) {
		struct repeat_run *run = &repeat->runs[i];
		int result;

		if (run->never_began)
			continue;
		result = keep_one(run, folder);
		if (result < 0)
			return problem_set(problem, result, "%s: %s", folder, strerror(-result));
		copy_marks(folder, run->number, run->path);
	}
	return 0;
}

int repeat_keep(struct repeat *repeat, struct rt_problem *ret_problem)
{
	const char *given = secure_getenv("TRACKER_HISTORY");
	char why[HISTORY_WHY_BYTES];
	CLEANUP_FREE char *folder = NULL;
	struct history history;
	int result;

	if (!repeat->count || (given && history_is_off(given)))
		return 0;
	result = history_look(given, ret_problem);
	if (result < 0)
		return result;
	result = history_folder_find(given && *given ? given : NULL, true, &folder, why);
	if (result < 0)
		return problem_set(ret_problem, result, "%s", why);
	result = keep_in_folder(repeat, folder, ret_problem);
	if (result == 0 && history_open(&history, true, ret_problem) == 0) {
		history_tidy(&history);
		history_close(&history);
	}
	return result;
}
