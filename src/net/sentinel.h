/*
 * The three calls of the Sentinel API.
 *
 *   POST BASE/runs                                 registers a run
 *   POST BASE/runs/ID/refresh-credentials          new keys for its objects
 *   POST BASE/runs/ID/finish                       the end, with the rows or the addresses of the objects
 *
 * Answers are read with bounds (10 s to connect, 30 s in all, 1 MiB); redirects are refused, because the token
 * would go along.
 */
#pragma once

#include "net/outcome.h"
#include "net/sentinel_text.h"

struct sentinel {
	struct http_client *http;
	const char *base_url;
	const char *token;
	/* By how much the server's clock is ahead of ours, from its last answer; 0 until then. */
	int64_t clock_ahead_secs;
};

/*
 * On VERDICT_DONE the result is the caller's; else it is untouched. `run_name` is the same however often the same run is
 * registered: a hash of it goes along as Idempotency-Key, so that a server may know it again.
 */
void sentinel_start(struct sentinel *sentinel, const char *payload, const char *run_name,
		    struct registration *ret_registration, struct outcome *ret_outcome);
void sentinel_refresh(struct sentinel *sentinel, const char *run_id, struct credentials *ret_credentials,
		      struct outcome *ret_outcome);

/*
 * A run that the server already knows as finished (409) is done, too. *ret_answer is the object that the server answered
 * with, as one line of JSON, to be freed; NULL: it answered with none.
 */
void sentinel_finish(struct sentinel *sentinel, const char *run_id, const struct buffer *body,
		     char **ret_answer, struct outcome *ret_outcome);
