/*
 * src/wrap alone, for the tests: wraps a command (or watches) and writes a line for every hook to a file.
 *
 *   wrap-driver [OPTION...] [--] COMMAND [ARG...]
 *     --log FILE           one line per event (default: none)
 *     --interval MS        ticks
 *     --ticks N            watch: done after N ticks
 *     --env NAME=VALUE     added to the job's environment
 *     --cgroup DIR         start the job in this cgroup
 *     --helper             a child of our own that sleeps, disowned
 *     --no-witness         decide by the signals' origin
 *     --in-child-fails     the job's set-up hook fails
 *     --wait-descendants
 *     --release-stdio
 *     --watch PID          instead of wrapping; 0: the host
 *     --keep-running
 *     --startup-ms MS      sleep between preparing and spawning
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/scan.h"
#include "wrap/wrap.h"

struct driver {
	int log_fd;
	int64_t interval_ns;
	int64_t next_ns;
	int64_t ticks_left;
};

static struct {
	const char *log, *env, *cgroup;
	int64_t interval_ms, ticks, watch, startup_ms;
	bool helper, no_witness, in_child_fails, wait_descendants, release_stdio, keep_running;
} options = {.ticks = -1, .watch = -1};

static void say(const struct driver *driver, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(const struct driver *driver, const char *format, ...)
{
	char line[256];
	va_list arguments;
	int length;

	if (driver->log_fd < 0)
		return;
	va_start(arguments, format);
	length = vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	(void)!write(driver->log_fd, line, (size_t)length);
}

static int64_t now_ns(void)
{
	return SYSTEM_CLOCKS.monotonic_ns(NULL);
}

static int64_t next_deadline(void *context)
{
	return ((struct driver *)context)->next_ns;
}

static void tick(void *context)
{
	struct driver *driver = context;
	int64_t now = now_ns();

	say(driver, "tick %lld late %lld\n", (long long)now, (long long)(now - driver->next_ns));
	while (driver->next_ns <= now_ns())
		driver->next_ns += driver->interval_ns;
	if (driver->ticks_left > 0)
		driver->ticks_left--;
}

static bool done(void *context)
{
	return ((struct driver *)context)->ticks_left == 0;
}

static char state_of(pid_t pid)
{
	char path[64], text[512] = "", state = '?';
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file && fread(text, 1, sizeof text - 1, file) > 0) {
		char *end = strrchr(text, ')');

		state = end ? end[2] : '?';
	}
	if (file)
		fclose(file);
	return state;
}

static void reaping(void *context, pid_t pid)
{
	struct timespec cpu = {0};

	/* The CPU clock of another process (clock_getcpuclockid). */
	clock_gettime((clockid_t)(~(unsigned)pid << 3 | 2), &cpu);
	say(context, "reaping %d state %c clock_us %lld\n", (int)pid, state_of(pid),
	    cpu.tv_sec * 1000000LL + cpu.tv_nsec / 1000);
}

static void own_child(void *context, pid_t pid)
{
	say(context, "own-child %d\n", (int)pid);
}

static void reaped(void *context, pid_t pid, int status, const struct rusage *usage)
{
	long long cpu_us = (long long)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000 +
			   usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;

	say(context, "reaped %d status %d cpu_us %lld\n", (int)pid, status, cpu_us);
}

static void signalled(void *context, const struct wrap_signal *signal)
{
	say(context, "signal %d sender %d ns %lld %s\n", signal->signo, (int)signal->sender,
	    (long long)signal->seen_ns, signal->forwarded ? "forwarded" : "direct");
}

static int fail(void *context)
{
	(void)context;
	return -EIO;
}

static int64_t number(const char *text)
{
	struct scan scan = scan_bytes(text, strlen(text));
	int64_t value;

	if (!scan_i64(&scan, &value) || scan_left(&scan))
		_exit(125);
	return value;
}

static char **parse(char **argv)
{
	while (*++argv && strncmp(*argv, "--", 2) == 0) {
		const char *name = *argv + 2;

		if (!*name)
			return argv + 1;
		else if (strcmp(name, "log") == 0)
			options.log = *++argv;
		else if (strcmp(name, "env") == 0)
			options.env = *++argv;
		else if (strcmp(name, "cgroup") == 0)
			options.cgroup = *++argv;
		else if (strcmp(name, "interval") == 0)
			options.interval_ms = number(*++argv);
		else if (strcmp(name, "ticks") == 0)
			options.ticks = number(*++argv);
		else if (strcmp(name, "watch") == 0)
			options.watch = number(*++argv);
		else if (strcmp(name, "startup-ms") == 0)
			options.startup_ms = number(*++argv);
		else if (strcmp(name, "helper") == 0)
			options.helper = true;
		else if (strcmp(name, "no-witness") == 0)
			options.no_witness = true;
		else if (strcmp(name, "in-child-fails") == 0)
			options.in_child_fails = true;
		else if (strcmp(name, "wait-descendants") == 0)
			options.wait_descendants = true;
		else if (strcmp(name, "release-stdio") == 0)
			options.release_stdio = true;
		else if (strcmp(name, "keep-running") == 0)
			options.keep_running = true;
		else
			_exit(125);
	}
	return argv;
}

static void start_helper(struct wrap *wrap, const struct driver *driver)
{
	pid_t pid = fork();

	if (pid == 0) {
		sigset_t none;

		/* A helper starts with our signal mask and must set its own. */
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	wrap_disown(wrap, pid);
	say(driver, "helper %d\n", (int)pid);
}

static int watch(struct wrap *wrap, struct driver *driver, const struct wrap_hooks *hooks)
{
	int signo;
	enum wrap_watch_end end = wrap_watch(wrap, (pid_t)options.watch, options.keep_running, hooks, &signo);

	say(driver, "watched %s signo %d\n",
	    end == WRAP_STOPPED ? "stopped"
	    : end == WRAP_DONE  ? "done"
				: "target_exited",
	    signo);
	return 0;
}

static _Noreturn void wrap_job(struct wrap *wrap, struct driver *driver, const struct wrap_hooks *hooks,
			       char **argv)
{
	const char *additions[] = {options.env, NULL};
	struct wrap_job job = {
		.argv = argv,
		.environment = additions,
		.cgroup_fd = options.cgroup ? open(options.cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : 0,
		.in_child = options.in_child_fails ? fail : NULL,
	};
	struct wrap_started started;
	struct wrap_end end;
	int result;

	say(driver, "witness %d\n", (int)wrap_witness(wrap));
	if (options.no_witness)
		wrap_finish(wrap);
	if (options.helper)
		start_helper(wrap, driver);
	if (options.startup_ms)
		usleep((useconds_t)options.startup_ms * 1000);
	result = wrap_spawn(wrap, &job, &started);
	if (result < 0) {
		wrap_finish(wrap);
		say(driver, "spawn failed %s\n", strerror(-result));
		exit(125);
	}
	say(driver, "started %d ns %lld cgroup %d\n", (int)started.pid, (long long)started.start_ns,
	    started.in_cgroup);
	if (options.release_stdio)
		wrap_release_stdio(false);
	result = wrap_run(wrap, hooks, options.wait_descendants, &end);
	say(driver, "end %d status %d ns %lld exec_error %d result %d\n", (int)end.pid, end.status,
	    (long long)end.end_ns, end.exec_error, result);
	say(driver, "descendants %d\n", wrap_count_descendants(wrap));
	wrap_exit(wrap, &end);
}

int main(int argc, char **argv)
{
	char **command = parse(argv);
	struct driver driver = {.log_fd = -1, .next_ns = INT64_MAX};
	struct wrap_hooks hooks = {
		.context = &driver,
		.next_deadline_ns = next_deadline,
		.tick = tick,
		.reaping = reaping,
		.own_child = own_child,
		.reaped = reaped,
		.signalled = signalled,
		.done = done,
	};
	struct wrap *wrap;

	if (argc < 2 || wrap_prepare(options.watch >= 0 ? WRAP_WATCH : WRAP_JOB, argv, &wrap) < 0)
		return 125;
	if (options.log)
		driver.log_fd = open(options.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	driver.interval_ns = options.interval_ms * NSEC_PER_MSEC;
	driver.ticks_left = options.ticks;
	if (driver.interval_ns)
		driver.next_ns = now_ns() + driver.interval_ns;
	if (options.watch >= 0)
		return watch(wrap, &driver, &hooks);
	wrap_job(wrap, &driver, &hooks, command);
}
