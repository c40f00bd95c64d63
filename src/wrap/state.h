/*
 * What the files of this folder share: the one wrap of this process, and the page that it has in common with
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

/* The dispositions that we change for ourselves and give back to the job. */
enum changed_signal { CHANGED_CHLD, CHANGED_PIPE, CHANGED_TTOU, CHANGED_XFSZ, CHANGED_SIGNALS };

/* What we found, as far as we change it or a forked job would not have it. */
struct inherited {
	signal_set mask;
	struct sigaction dispositions[CHANGED_SIGNALS];
	struct rlimit open_files;
	struct itimerval timers[INHERITED_TIMERS];
	int64_t timers_read_ns;
	int death_signal;
	int is_subreaper;
};

/* How often the witness got one signal. A standard signal that comes while it is pending is not counted. */
struct sighting {
	_Atomic uint32_t sent;   /* by kill() or the kernel */
	_Atomic uint32_t queued; /* with a value: sigqueue() and the like */
	_Atomic int64_t last_ns;
};

struct shared_page {
	_Atomic uint32_t asked;    /* questions put to the witness, counted by us */
	_Atomic uint32_t answered; /* the last question before which it had taken all that was pending */
	_Atomic pid_t
		stopped_job;    /* the witness continues us when this job runs again; 0: nothing to watch */
	_Atomic int exec_error; /* written by the job when it could not exec */
	struct sighting sightings[LAST_SIGNAL + 1];
};

/* A signal to us of which it is not known yet whether the job got it as well. */
struct undecided {
	int signo;
	int code;
	pid_t sender;
	uid_t sender_uid;
	union sigval value;
	int64_t seen_ns;
	int64_t quiet_ns;      /* when nothing was undecided nor pending before it came */
	int64_t drained_ns;    /* when nothing was pending before it came */
	int64_t sender_sleeps; /* how often its sender had slept when it was first looked at; -1: not yet */
	uint32_t question;
	int64_t asked_ns;  /* 0: its sender may still be about to send it to our group as well */
	bool sender_slept; /* since then */
	bool before_job;   /* came when there was no job yet: no group brought it there */
	bool refused;      /* ours alone, but the job's queue was full */
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
	struct pid_set foreign; /* children that are not the job's: inherited or disowned */

	struct undecided undecided[UNDECIDED_MAX];
	size_t undecided_count;
	uint32_t credits_used[LAST_SIGNAL + 1];
	uint32_t queued_credits_used[LAST_SIGNAL + 1];
	int64_t quiet_ns;
	int64_t drained_ns;

	pid_t job;            /* 0: none, or reaped */
	int64_t continued_ns; /* when we were; 0: nothing is to be done about it */
	uint32_t continued_question;
	int64_t continue_settled_ns;
	bool job_ended;
	struct wrap_end end;
	const struct wrap_hooks *hooks;
};

/*
 * prepare.c: our children before the job is started are not the job's. Whoever starts us by exec (a shell's last
 * command) leaves its children to us, and helpers of the recorder are ours when we are the subreaper.
 */
void note_earlier_children(struct wrap *wrap);

/* room.c: whether this user and our control group may have a process more than the job needs. */
bool has_room_for_witness(const struct wrap *wrap);

/* inherited.c */
void inherited_capture(struct wrap *wrap);
void inherited_restore_for_job(const struct wrap *wrap);

/* witness.c */
void witness_start(struct wrap *wrap);
/* It was reaped. If another process has killed it, a new one takes its place. */
void witness_lost(struct wrap *wrap);
void witness_kill(struct wrap *wrap);
void witness_reap(struct wrap *wrap);
/* Makes the witness take all that was sent to it until now; returns the number of the question. */
uint32_t witness_ask(struct wrap *wrap);
bool witness_has_answered(const struct wrap *wrap, uint32_t question);
void witness_wake(const struct wrap *wrap);

/* signals.c */
/* What is blocked, and taken by our loops. */
signal_set signals_blocked(enum wrap_mode mode);
/* Notes a forwarded signal that was taken. before_job: taken before the fork. */
void signals_note(struct wrap *wrap, const siginfo_t *info, bool before_job);
/* Which signals there is room for. */
signal_set signals_wanted(const struct wrap *wrap);
/* Passes on or drops what can be decided. Returns when to come again: INT64_MAX when nothing is left. */
int64_t signals_settle(struct wrap *wrap);
/* Continuing discards pending stops, ours too. */
void signals_drop_stops(struct wrap *wrap);

/* judge.c */
enum verdict { UNDECIDED, OURS_ALONE, REACHED_THE_JOB };

/* The last look at a sender, so that a burst from one costs one look. */
struct sender_look {
	pid_t sender;
	int result;
	struct peek peek;
};

bool is_real_time(int signo);
bool is_from_kernel(const struct undecided *signal);
/* Whether its sender will not send it once more to our group; notes whether it has slept since. */
bool sender_is_done(const struct wrap *wrap, struct undecided *signal, int64_t now_ns,
		    struct sender_look *look);
/* Whether the witness got one, or has one pending, that has not paid for one of ours yet. */
bool witness_was_sent(struct wrap *wrap, const struct undecided *signal);
/* Uses up what paid for it when it decides. */
enum verdict judge(struct wrap *wrap, const struct undecided *signal, int64_t now_ns);

/* job_control.c */
/* Stops us when the job has stopped. */
void mirror_stop(struct wrap *wrap);
/* Notes a SIGCONT that was taken. */
void note_continued(struct wrap *wrap, const siginfo_t *info);
/* Continues the job if we alone were. Returns when to come again. */
int64_t continue_job(struct wrap *wrap);

/* reap.c */
/* Reaps what is dead, the job first. True: there may be more. */
bool reap_children(struct wrap *wrap);
bool has_descendants(struct wrap *wrap);

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
/* Returns only on failure, with errno. Async-signal-safe. */
int exec_plan_run(const struct exec_plan *plan);
