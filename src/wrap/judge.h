/* Whether a signal to the tracker reached the job as well. */
#pragma once

#include "wrap/peek.h"
#include "wrap/state.h"

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
