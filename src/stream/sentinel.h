/*
 * The three calls of the Sentinel API.
 *
 *   POST BASE/runs                                 registers a run
 *   POST BASE/runs/ID/refresh-credentials          new keys for its objects
 *   POST BASE/runs/ID/finish                       the end, with the rows or the addresses of the objects
 *
 * Answers are limited (10 s to connect, 30 s in all, 1 MiB). Redirects are refused, because the token would go
 * along.
 */
#pragma once

#include "net/outcome.h"
#include "stream/sentinel_text.h"

struct sentinel {
	struct http_client *http;
	const char *base_url;
	const char *token;
	/* How far the server's clock is ahead of ours, from its last answer, 0 before that. */
	int64_t clock_ahead_secs;
};

/*
 * With VERDICT_DONE the result belongs to the caller. Otherwise it is untouched. `run_name` is the same each time
 * that the same run is registered: its hash is sent as Idempotency-Key, so that a server can recognise the run.
 */
void sentinel_start(struct sentinel *sentinel, const char *payload, const char *run_name,
		    struct registration *ret_registration, struct outcome *ret_outcome);
void sentinel_refresh(struct sentinel *sentinel, const char *run_id, struct credentials *ret_credentials,
		      struct outcome *ret_outcome);

/*
 * If the server already has the run as finished (409), that counts as done, too. *ret_answer is the JSON object of
 * the server's answer in one line, which the caller frees, NULL for none.
 */
void sentinel_finish(struct sentinel *sentinel, const char *run_id, const struct buffer *body,
		     char **ret_answer, struct outcome *ret_outcome);
