/* How a request ended, so that the caller can decide whether to retry. */
#pragma once

#include <stdbool.h>

#include "net/http.h"

enum verdict {
	VERDICT_DONE,
	VERDICT_RETRY,   /* may go better later: no connection, time-out, 408, 425, 429, 5xx */
	VERDICT_REFUSED, /* will not: the server has understood and says no */
	VERDICT_EXPIRED, /* credentials are too old; new ones may help */
};

struct outcome {
	enum verdict verdict;
	int retry_after_secs; /* -1: the server did not say */
	char reason[400];     /* one line for people, without secrets; "" when done */
};

/* By the status (or its lack) alone; fills all but what a body says. 2xx is done. */
void outcome_of_answer(const struct http_answer *answer, struct outcome *ret_outcome);

/* Puts ": " and redacted foreign text behind the reason. */
void outcome_add_detail(struct outcome *outcome, const char *text, size_t length);

/*
 * Times between attempts: doubling from 1 s to 60 s, each drawn from the upper half of its span (jitter), so that
 * a fleet does not come back in step; at least what the server asks for.
 */
struct backoff {
	int failures;
	int64_t not_before_ns; /* monotonic */
	uint64_t random;
};

void backoff_reset(struct backoff *backoff);
/* `hurried`: the job has ended and time is short: 0.25 s, 0.5 s, 1 s, ... */
void backoff_failed(struct backoff *backoff, const struct outcome *outcome, bool hurried);
