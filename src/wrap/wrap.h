/*
 * Wrapping a job: everything that belongs to the whole process, and therefore to the command alone.
 *
 * Signals, waits, process groups, rlimits and the exit status are global to a process, so the library may not
 * touch them. This folder handles them, and the command tells the library the results. One process wraps
 * once: `struct wrap` has a single instance. A wrapping command calls, in this order:
 *
 *   wrap_prepare()   early, before outputs are opened and helpers are started
 *   wrap_spawn()     after the baseline; returns before the job has completed its exec
 *   wrap_run()       returns when the job has ended and was reaped
 *   wrap_exit()      ends this process as the job ended
 *
 * A command that attaches or watches the host calls wrap_prepare() and wrap_watch().
 *
 * Times are CLOCK_MONOTONIC in nanoseconds. Functions return 0 or a negative errno unless they say otherwise.
 * Call all of them from the thread that called wrap_prepare(). Hooks run in that thread, too. No signal
 * handler is installed. Threads and helper processes that are started after wrap_prepare() inherit a mask in
 * which all forwarded signals are blocked.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct wrap;

enum wrap_mode {
	WRAP_JOB,   /* a job will be spawned */
	WRAP_WATCH, /* attach or host: runs until SIGINT, SIGTERM or SIGHUP */
};

/*
 * Captures the inherited attributes (signal mask and dispositions, RLIMIT_NOFILE, interval timers,
 * parent-death signal, subreaper flag, existing children) and sets those that the tracker needs:
 * - every forwarded signal and SIGCHLD blocked; SIGCHLD default; SIGPIPE, SIGTTOU, SIGXFSZ ignored;
 * - descriptors 0-2 that were closed are opened on /dev/null, close-on-exec, so that no output file gets
 *   their numbers;
 * - the soft RLIMIT_NOFILE raised to the hard one;
 * - WRAP_JOB: subreaper, and the witness is forked. If fork fails, or the limit on processes is so low that
 *   the job may need them all, signals are judged by their origin.
 * `main_argv` is main()'s argv or NULL. The witness overwrites its copy with a name of its own, so that a
 * search for the tracker's name does not find the witness.
 */
int wrap_prepare(enum wrap_mode mode, char *const *main_argv, struct wrap **ret_wrap);

/*
 * Gives this process back what it inherited, for an exec in the place of the job. Does nothing if wrap_prepare() was not called.
 * By system calls alone.
 */
void wrap_undo(void);

/* Ends the witness. Needed only if wrap_exit() will not be called. May be called twice. */
void wrap_finish(struct wrap *wrap);

/*
 * Marks a child as the command's own (a helper): it is reaped without calling a hook and does not count as a
 * descendant of the job. The caller may still wait for it by pid, but may find it reaped already.
 */
int wrap_disown(struct wrap *wrap, pid_t pid);

/* Returns the witness's pid, or 0. The witness does not belong to the job's tree. */
pid_t wrap_witness(const struct wrap *wrap);

/* Whether `pid` is the witness, was disowned, or was our child before wrap_prepare(). */
bool wrap_is_foreign(const struct wrap *wrap, pid_t pid);

struct wrap_job {
	char *const *argv; /* as for execvp(): uses PATH, and runs a file without #! with sh */
	const char *const
		*environment; /* "NAME=value" additions or replacements, NULL-terminated; may be NULL */
	int cgroup_fd;        /* cgroup v2 directory to start in, where the kernel can, 0 for none */
	int (*in_child)(void *context); /* before exec, async-signal-safe; negative errno: no exec */
	void *context;
};

struct wrap_started {
	pid_t pid;
	int64_t start_ns; /* just before the fork */
	bool in_cgroup;   /* the job started in cgroup_fd */
};

/*
 * Starts the job with the attributes that this process inherited: mask, dispositions, rlimits, timers and
 * descriptors (0-2 closed if they were). A failed exec shows only when the job has ended (struct wrap_end). A
 * negative errno means that nothing was started; -EAGAIN that no process was available, even after the
 * witness was ended to make room.
 */
int wrap_spawn(struct wrap *wrap, const struct wrap_job *job, struct wrap_started *ret_started);

/*
 * Points stdin, and stdout unless `keep_stdout`, at /dev/null until this process exits. Otherwise the tracker
 * would keep a pipe open after the job closed its end. Call after wrap_spawn().
 */
void wrap_release_stdio(bool keep_stdout);

/* A signal that was sent to the tracker while the job ran. */
struct wrap_signal {
	int signo;
	pid_t sender; /* 0: the kernel, or a process of another PID namespace */
	int64_t seen_ns;
	bool forwarded; /* by the tracker. false: it reached the job with its process group */
};

/* Called by the loops. Members may be NULL, except that next_deadline_ns and tick go together. */
struct wrap_hooks {
	void *context;
	/* When the next tick() is due, or INT64_MAX. Asked after every tick. */
	int64_t (*next_deadline_ns)(void *context);
	void (*tick)(void *context);
	/*
	 * A child is a zombie and will be reaped when this returns: the last chance to read its /proc/PID and
	 * its CPU clock. The kernel may still be counting the end of its exit: wait4() reports up to 40 us more than
	 * the clock shows here (seen in 12 % of 3,000 exits).
	 */
	void (*reaping)(void *context, pid_t pid);
	/* A child that does not belong to the job was started while the job runs: a new witness. */
	void (*own_child)(void *context, pid_t pid);
	/* A child was reaped: the job, or an orphan that we adopted. */
	void (*reaped)(void *context, pid_t pid, int status, const struct rusage *usage);
	void (*signalled)(void *context, const struct wrap_signal *signal);
	/* wrap_watch() only, asked after every tick. True ends the watch. */
	bool (*done)(void *context);
};

struct wrap_end {
	pid_t pid;
	int status; /* as from wait4() */
	struct rusage usage;
	int64_t end_ns; /* when the tracker noticed the end */
	/*
	 * 0, or the reason why the job's program never ran: the errno of exec (status is then exit 127 for
	 * ENOENT, else 126) or the negative errno of in_child (exit 125).
	 */
	int exec_error;
};

/*
 * Waits until the job ends. Forwards signals, mirrors the job's stops, and reaps every orphan that comes to
 * this process. When it returns, every child that was dead by then has been reaped. With `wait_descendants`
 * it continues until no descendant is left or until SIGHUP, SIGINT, SIGQUIT or SIGTERM arrives.
 */
int wrap_run(struct wrap *wrap, const struct wrap_hooks *hooks, bool wait_descendants,
	     struct wrap_end *ret_end);

/*
 * Returns how many descendants of the job still run, or -ENOENT if the kernel does not list children. Call
 * after wrap_run().
 */
int wrap_count_descendants(struct wrap *wrap);

/*
 * Ends this process as the job ended: with the same exit code, or killed by the same signal without a core
 * dump (as PID 1, where that is impossible: exit 128+N). Flushes only what exit() flushes.
 */
void wrap_exit(struct wrap *wrap, const struct wrap_end *end) __attribute__((noreturn));

/* The exit code that a shell would show for this end. */
int wrap_exit_code(const struct wrap_end *end);

enum wrap_watch_end {
	WRAP_STOPPED,       /* by a signal; ret_signo says which */
	WRAP_TARGET_EXITED, /* and keep_running is false */
	WRAP_DONE,          /* hooks->done() returned true */
};

/*
 * Ticks until one of the above. pid 0: watches the host. A target that has exited already is noticed at once.
 * SIGHUP ends the watch only if it was not ignored at the start (nohup). The terminal's SIGINT ends it only
 * if SIGINT was not ignored (a background job of a script).
 */
enum wrap_watch_end wrap_watch(struct wrap *wrap, pid_t pid, bool keep_running,
			       const struct wrap_hooks *hooks, int *ret_signo);
