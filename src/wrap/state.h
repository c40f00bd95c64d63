/*
 * Shared by the files of this folder: the one wrap of this process, and the memory page that it shares with
 * the witness and with the job before its exec.
 */
#pragma once

#include <stdatomic.h>
#include <sys/time.h>

#include "wrap/peek.h"
#include "wrap/pid_set.h"
#include "wrap/signal_set.h"
#include "wrap/wrap.h"

enum {
	INHERITED_TIMERS = 3, /* ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF */
	UNDECIDED_MAX = 256,
};

/* Signals whose disposition we change for the tracker and restore for the job. */
enum changed_signal { CHANGED_CHLD, CHANGED_PIPE, CHANGED_TTOU, CHANGED_XFSZ, CHANGED_SIGNALS };

/* Inherited attributes that we change, or that a forked job would not get. */
struct inherited {
	signal_set mask;
	struct sigaction dispositions[CHANGED_SIGNALS];
	struct rlimit open_files;
	struct itimerval timers[INHERITED_TIMERS];
	int64_t timers_read_ns;
	int death_signal;
	int is_subreaper;
};

/*
 * How often the witness got one signal. A standard signal that comes while the same one is pending is not
 * counted.
 */
struct sighting {
	_Atomic uint32_t sent;   /* by kill() or the kernel */
	_Atomic uint32_t queued; /* with a value: sigqueue() and the like */
	_Atomic int64_t last_ns;
};

struct shared_page {
	_Atomic uint32_t asked;    /* questions that the tracker put to the witness */
	_Atomic uint32_t answered; /* last question before which it had taken all pending signals */
	_Atomic pid_t stopped_job; /* job to watch while we are stopped, 0 for none */
	_Atomic int exec_error;    /* written by the job if its exec failed */
	struct sighting sightings[LAST_SIGNAL + 1];
};

/* A signal to the tracker. It is not known yet whether the job got it as well. */
struct undecided {
	int signo;
	int code;
	pid_t sender;
	uid_t sender_uid;
	union sigval value;
	int64_t seen_ns;
	int64_t quiet_ns;      /* time before it came at which no signal was undecided or pending */
	int64_t drained_ns;    /* time before it came at which no signal was pending */
	int64_t sender_sleeps; /* its sender's completed sleeps at the first look. -1: not looked at */
	uint32_t question;
	int64_t asked_ns;  /* 0: its sender may still send it to the process group */
	bool sender_slept; /* since the first look */
	bool before_job;   /* came before the job existed, so its group cannot have got it */
	bool refused;      /* must be forwarded, but the job's queue was full */
};

struct wrap {
	enum wrap_mode mode;
	bool prepared;
	bool has_own_proc; /* /proc shows our PID namespace */
	pid_t own_pid;
	struct inherited inherited;
	struct shared_page *page;
	pid_t witness; /* 0: none */
	bool witness_killed;
	int witnesses_lost;
	char *const *main_argv;
	struct pid_set foreign; /* children that do not belong to the job: inherited or disowned */

	struct undecided undecided[UNDECIDED_MAX];
	size_t undecided_count;
	uint32_t credits_used[LAST_SIGNAL + 1];
	uint32_t queued_credits_used[LAST_SIGNAL + 1];
	int64_t quiet_ns;
	int64_t drained_ns;

	pid_t job;            /* 0: none, or reaped */
	int64_t continued_ns; /* when SIGCONT came. 0: nothing to do */
	uint32_t continued_question;
	int64_t continue_settled_ns;
	bool job_ended;
	struct wrap_end end;
	const struct wrap_hooks *hooks;
};

/*
 * prepare.c: children from before the job's start do not belong to the job. A shell that runs the tracker as
 * its last command (exec) leaves its own children to the tracker; when the tracker is a subreaper, the
 * recorder's helpers are its children, too.
 */
void note_earlier_children(struct wrap *wrap);

/* inherited.c */
void inherited_capture(struct wrap *wrap);
void inherited_restore_for_job(const struct wrap *wrap);

/* witness.c */
void witness_start(struct wrap *wrap);
/* The witness was reaped. If another process killed it, starts a new one. */
void witness_lost(struct wrap *wrap);
void witness_kill(struct wrap *wrap);
void witness_reap(struct wrap *wrap);
/* Makes the witness take everything that was sent to it until now. Returns the number of the question. */
uint32_t witness_ask(struct wrap *wrap);
bool witness_has_answered(const struct wrap *wrap, uint32_t question);
void witness_wake(const struct wrap *wrap);

/* signals.c */
/* Signals that are blocked, and taken by the loops. */
signal_set signals_blocked(enum wrap_mode mode);
/* Notes a signal that was taken and may have to be forwarded. before_job: taken before the fork. */
void signals_note(struct wrap *wrap, const siginfo_t *info, bool before_job);
/* Signals for which the list of undecided ones has room. */
signal_set signals_wanted(const struct wrap *wrap);
/*
 * Forwards or drops each signal that can be decided. Returns when to call again; INT64_MAX: all are decided.
 */
int64_t signals_settle(struct wrap *wrap);
/* Drops undecided stop signals, as the kernel discards pending ones when a process is continued. */
void signals_drop_stops(struct wrap *wrap);

/* judge.c */
enum verdict { UNDECIDED, OURS_ALONE, REACHED_THE_JOB };

/* The last look at a sender, so that many signals from one sender cost one look. */
struct sender_look {
	pid_t sender;
	int result;
	struct peek peek;
};

bool is_real_time(int signo);
bool is_from_kernel(const struct undecided *signal);
/*
 * Whether its sender will not send it to the process group any more. Notes whether the sender has slept
 * since.
 */
bool sender_is_done(const struct wrap *wrap, struct undecided *signal, int64_t now_ns,
		    struct sender_look *look);
/* Whether the witness got this signal, or has it pending, and it is not matched with another one yet. */
bool witness_was_sent(struct wrap *wrap, const struct undecided *signal);
/* A verdict uses up the witness's signal on which it rests. */
enum verdict judge(struct wrap *wrap, const struct undecided *signal, int64_t now_ns);

/* job_control.c */
/* Stops the tracker if the job has stopped. */
void mirror_stop(struct wrap *wrap);
/* Notes a SIGCONT that was taken. */
void note_continued(struct wrap *wrap, const siginfo_t *info);
/* Continues the job if the SIGCONT came to the tracker alone. Returns when to call again. */
int64_t continue_job(struct wrap *wrap);

/* reap.c */
/* Reaps dead children, the job first. Returns true if there may be more. */
bool reap_children(struct wrap *wrap);
bool has_descendants(struct wrap *wrap);
/*
 * By wait4(2), where waitid(2) is refused: the signal of a stop of the job that was not taken yet, or 0. Since wait4 tells
 * ends as well, a job that has ended since the last look is reaped by it.
 */
int wait_for_stop_of_job(struct wrap *wrap);

/* exec_search.c */
struct exec_plan {
	char **paths; /* in the order of PATH */
	size_t path_count;
	bool is_search; /* the command was a plain name */
	char **argv;
	char **script_argv; /* for sh; [1] is set to the path */
	char **environment;
	char *memory;
};
int exec_plan_make(char *const *argv, const char *const *additions, struct exec_plan *ret_plan);
void exec_plan_free(struct exec_plan *plan);
/* Returns only on failure, with errno as a positive number. Async-signal-safe. */
int exec_plan_run(const struct exec_plan *plan);
