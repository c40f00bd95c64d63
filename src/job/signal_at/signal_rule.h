/*
 * When to send the job a signal, so that it can save its state before a limit ends it.
 *
 *   memory=90%:USR1            at 90 % of the memory limit, or when growth will reach the limit within a minute
 *   time=-120s:TERM:python3    120 s before the time limit, to the processes of the job that run python3
 *   time=-2m/4h:TERM           the same for a limit of 4 hours that the user knows
 *   time=90%:USR1  time=58m:USR1   at that part of the time limit, or so long after the start
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIGNAL_RULE_BYTES = 64 };

struct signal_rule {
	char text[SIGNAL_RULE_BYTES]; /* as given */
	bool of_memory;
	bool is_share; /* `value` is a part of the limit; else seconds: after the start, or negative: before the end */
	double value;
	double limit_secs; /* given, 0: the limit in force */
	int signal;
	size_t program; /* where its name begins in `text`; there is none: the job's first process */
};

/* Reads a rule. Returns NULL, or why not, as the end of a sentence about the text. */
const char *signal_rule_read(const char *text, size_t length, struct signal_rule *ret_rule);
