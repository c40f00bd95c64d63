/* The end of a request, for deciding whether to retry. */
#pragma once

#include <stdbool.h>

#include "net/http.h"

enum verdict {
	VERDICT_DONE,
	VERDICT_RETRY,   /* may succeed later: no connection, time-out, 408, 425, 429, 5xx */
	VERDICT_REFUSED, /* will not succeed: the server has understood and refused */
	VERDICT_EXPIRED, /* credentials are too old, and new ones may help */
};

struct outcome {
	enum verdict verdict;
	int retry_after_secs; /* -1: not given by the server */
	char reason[400];     /* one line for people, without secrets, or "" when done */
};

/* Judges by the status (or its absence) alone, and fills every field that does not need the body. 2xx is done. */
void outcome_of_answer(const struct http_answer *answer, struct outcome *ret_outcome);

/* Adds ": " and redacted foreign text to the reason. */
void outcome_add_detail(struct outcome *outcome, const char *text, size_t length);

/*
 * Pauses between attempts: doubling from 1 s to 60 s, each drawn from the upper half of its range (jitter), so
 * that many machines do not retry at the same time. At least as long as the server asks for.
 */
struct backoff {
	int failures;
	int64_t not_before_ns; /* monotonic */
	uint64_t random;
};

void backoff_reset(struct backoff *backoff);
/* `hurried`: the job has ended and time is short: 0.25 s, 0.5 s, 1 s, then 2 s. */
void backoff_failed(struct backoff *backoff, const struct outcome *outcome, bool hurried);
