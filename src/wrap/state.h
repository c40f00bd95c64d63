/*
 * Shared by the files of this folder: the one wrap of this process, and the memory page that it shares with
 * the witness and with the job before its exec.
 */
#pragma once

#include <stdatomic.h>
#include <sys/time.h>

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
