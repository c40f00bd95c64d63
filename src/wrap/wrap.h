/*
 * Wrapping a job: all that belongs to the whole process and therefore to the command alone.
 *
 * Signals, waits, process groups, rlimits and the exit status are process-global, so the library may not
 * touch them; this folder does, and the command tells the library what it needs to know. One process wraps
 * once: `struct wrap` has a single instance. Call order of a wrapping command:
 *
 *   wrap_prepare()   early, before outputs are opened and helpers are started
 *   wrap_spawn()     after the baseline; returns while the job is still on its way through exec
 *   wrap_run()       returns when the job has ended and was reaped
 *   wrap_exit()      ends this process as the job ended
 *
 * and of one that attaches or watches the host: wrap_prepare(), wrap_watch().
 *
 * Times are CLOCK_MONOTONIC in nanoseconds. Functions return 0 or a negative errno unless they say
 * otherwise. Everything runs in the thread that called wrap_prepare(), hooks too; no signal handler is
 * installed. Threads and helper processes that are started after wrap_prepare() inherit a mask in which all
 * forwarded signals are blocked.
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
 * Captures what was inherited (signal mask and dispositions, RLIMIT_NOFILE, interval timers, parent-death
 * signal, subreaper flag, children from before) and sets what we need instead:
 *   - every forwarded signal and SIGCHLD blocked; SIGCHLD default; SIGPIPE, SIGTTOU, SIGXFSZ ignored;
 *   - descriptors 0-2 that were closed are /dev/null, close-on-exec, so that no output lands on them;
 *   - the soft RLIMIT_NOFILE raised to the hard one;
 *   - WRAP_JOB: subreaper, and the witness is forked. If it cannot be, or if the limit on processes is so low that the job
 *     may need them all, signals are judged by their origin.
 * `main_argv` is main()'s argv (or NULL): the witness gives itself a command line of its own, so that it is
 * not met by those who look for ours by name.
 */
int wrap_prepare(enum wrap_mode mode, char *const *main_argv, struct wrap **ret_wrap);

/* Ends the witness. Only needed when wrap_exit() will not be called; may be called twice. */
void wrap_finish(struct wrap *wrap);

/*
 * A child of the command's own (a helper): reaped without any hook, and no descendant of the job. Whoever
 * wants its status may still wait for it by pid, and then finds it reaped at times.
 */
int wrap_disown(struct wrap *wrap, pid_t pid);

/* The witness's pid, or 0. It is no member of the job's tree. */
pid_t wrap_witness(const struct wrap *wrap);

/* Whether `pid` is the witness, disowned, or was our child before we started. */
bool wrap_is_foreign(const struct wrap *wrap, pid_t pid);

struct wrap_job {
	char *const *argv; /* execvp semantics: PATH, and a file without #! runs through sh */
	const char *const
		*environment; /* "NAME=value" additions or replacements, NULL-terminated; may be NULL */
	int cgroup_fd;        /* start in this cgroup v2 directory where the kernel can; 0: no */
	int (*in_child)(void *context); /* before exec, async-signal-safe only; negative errno: do not exec */
	void *context;
};

struct wrap_started {
	pid_t pid;
	int64_t start_ns; /* just before the fork */
	bool in_cgroup;   /* cgroup_fd was honoured */
};

/*
 * Starts the job with everything inherited as we found it: mask, dispositions, rlimits, timers and
 * descriptors (0-2 closed if they were). That exec failed is known when the job has ended (wrap_end).
 * A negative errno means that nothing runs: -EAGAIN when no process can be had, after one attempt without
 * the witness.
 */
int wrap_spawn(struct wrap *wrap, const struct wrap_job *job, struct wrap_started *ret_started);

/*
 * Points stdin, and stdout unless `keep_stdout`, at /dev/null for the rest of our life: a pipe that the job
 * closes is then closed, not kept open by us. For after wrap_spawn().
 */
void wrap_release_stdio(bool keep_stdout);

/* A signal that was sent to us while the job ran. */
struct wrap_signal {
	int signo;
	pid_t sender; /* 0: the kernel, or a process of another PID namespace */
	int64_t seen_ns;
	bool forwarded; /* by us; false: it reached the job directly, with its process group */
};

/* What the loops call. Members may be NULL, but for next_deadline_ns and tick, which go together. */
struct wrap_hooks {
	void *context;
	/* When tick() is due next, or INT64_MAX; asked after every tick. */
	int64_t (*next_deadline_ns)(void *context);
	void (*tick)(void *context);
	/*
	 * A child of ours is a zombie and will be reaped when this returns: its /proc/PID and CPU clock can
	 * be read for the last time. `usage` is what the kernel will say of it.
	 */
	void (*reaping)(void *context, pid_t pid, const struct rusage *usage);
	/* A child that is not the job's was started while the job runs: another witness. */
	void (*own_child)(void *context, pid_t pid);
	/* It was reaped: the job, or an orphan that we adopted. */
	void (*reaped)(void *context, pid_t pid, int status, const struct rusage *usage);
	void (*signalled)(void *context, const struct wrap_signal *signal);
	/* wrap_watch() only, asked after every tick: true ends it. */
	bool (*done)(void *context);
};

struct wrap_end {
	pid_t pid;
	int status; /* as from wait4() */
	struct rusage usage;
	int64_t end_ns; /* when we noticed */
	/*
	 * 0, or why the job's program never ran: the errno of exec (status is then exit 127 for ENOENT, else
	 * 126) or the negative errno of in_child (exit 125).
	 */
	int exec_error;
};

/*
 * Waits until the job ends, forwards signals, mirrors its stops and reaps every orphan that comes to us.
 * Everything that was dead by then is reaped when this returns. With `wait_descendants` it goes on until no
 * descendant is left or SIGHUP, SIGINT, SIGQUIT or SIGTERM arrives.
 */
int wrap_run(struct wrap *wrap, const struct wrap_hooks *hooks, bool wait_descendants,
	     struct wrap_end *ret_end);

/*
 * How many descendants of the job still run. Only for after wrap_run(). -ENOENT where the kernel does not
 * list children.
 */
int wrap_count_descendants(struct wrap *wrap);

/*
 * Ends this process as the job ended: the same exit code, or death by the same signal without a core
 * (exit 128+N where that is impossible: PID 1). Flushes nothing but what exit() does.
 */
void wrap_exit(struct wrap *wrap, const struct wrap_end *end) __attribute__((noreturn));

/* The exit code that a shell would show for this end. */
int wrap_exit_code(const struct wrap_end *end);

enum wrap_watch_end {
	WRAP_STOPPED,       /* by a signal; ret_signo says which */
	WRAP_TARGET_EXITED, /* and keep_running was not asked for */
	WRAP_DONE,          /* hooks->done() said so */
};

/*
 * Ticks until something of the above. pid 0: the host. A target that is gone already is found at once.
 * SIGHUP stops only if it was not ignored when we started (nohup), and a terminal's SIGINT only if SIGINT
 * was not (a background job of a script).
 */
enum wrap_watch_end wrap_watch(struct wrap *wrap, pid_t pid, bool keep_running,
			       const struct wrap_hooks *hooks, int *ret_signo);
