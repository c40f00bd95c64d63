/* Judges the end of a request. See outcome.h. */
#include "net/outcome.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "net/redacted_message.h"

enum {
	FIRST_WAIT_MS = 1000,
	FIRST_HURRIED_WAIT_MS = 250,
	LONGEST_WAIT_MS = 60000,
	LONGEST_HURRIED_WAIT_MS = 2000
};

static enum verdict verdict_of_status(long status)
{
	if (status >= 200 && status < 300)
		return VERDICT_DONE;
	if (status == 408 || status == 425 || status == 429 || status >= 500)
		return VERDICT_RETRY;
	return VERDICT_REFUSED;
}

static void describe_redirect(const struct http_answer *answer, struct outcome *outcome)
{
	CLEANUP_BUFFER struct buffer place = BUFFER(512);
	char location[256] = "";

	if (!http_header(answer, "Location", location, sizeof(location)))
		return;
	/* Shows the address without its query. */
	location[strcspn(location, "?#")] = '\0';
	buffer_add_text(&place, "redirected to ");
	add_redacted(&place, location, strlen(location), 200);
	outcome_add_detail(outcome, place.data, place.length);
}

void outcome_of_answer(const struct http_answer *answer, struct outcome *ret_outcome)
{
	struct outcome outcome = {.retry_after_secs = -1};

	if (answer->error) {
		/* A repeated request would get an answer as large as this one. */
		outcome.verdict = answer->error == -EMSGSIZE ? VERDICT_REFUSED : VERDICT_RETRY;
		*ret_outcome = outcome;
		ret_outcome->reason[0] = '\0';
		outcome_add_detail(ret_outcome, answer->error_text, strlen(answer->error_text));
		return;
	}
	outcome.verdict = verdict_of_status(answer->status);
	outcome.retry_after_secs = http_retry_after_secs(answer);
	if (outcome.verdict != VERDICT_DONE)
		snprintf(outcome.reason, sizeof(outcome.reason), "HTTP %ld", answer->status);
	if (answer->status >= 300 && answer->status < 400)
		describe_redirect(answer, &outcome);
	*ret_outcome = outcome;
}

void outcome_add_detail(struct outcome *outcome, const char *text, size_t length)
{
	CLEANUP_BUFFER struct buffer clean = BUFFER(sizeof(outcome->reason) * 2);
	size_t used = strlen(outcome->reason);

	add_redacted(&clean, text, length, 250);
	if (!clean.length || buffer_error(&clean))
		return;
	snprintf(outcome->reason + used, sizeof(outcome->reason) - used, "%s%s", used ? ": " : "",
		 clean.data);
}

void backoff_reset(struct backoff *backoff)
{
	backoff->failures = 0;
	backoff->not_before_ns = 0;
}

/* xorshift64*: good enough to spread a fleet, and needs no global state. */
static uint64_t next_random(struct backoff *backoff)
{
	if (!backoff->random && getrandom(&backoff->random, sizeof(backoff->random), GRND_NONBLOCK) < 0)
		backoff->random = (uint64_t)monotonic_ns();
	backoff->random |= 1;
	backoff->random ^= backoff->random >> 12;
	backoff->random ^= backoff->random << 25;
	backoff->random ^= backoff->random >> 27;
	return backoff->random * UINT64_C(2685821657736338717) >> 32;
}

void backoff_failed(struct backoff *backoff, const struct outcome *outcome, bool hurried)
{
	int64_t wait_ms = hurried ? FIRST_HURRIED_WAIT_MS : FIRST_WAIT_MS, asked_ms;
	int64_t longest_ms = hurried ? LONGEST_HURRIED_WAIT_MS : LONGEST_WAIT_MS;

	for (int i = 0; i < backoff->failures && wait_ms < longest_ms; i++)
		wait_ms *= 2;
	if (wait_ms > longest_ms)
		wait_ms = longest_ms;
	wait_ms = wait_ms / 2 + (int64_t)(next_random(backoff) % (uint64_t)(wait_ms / 2 + 1));
	asked_ms = (int64_t)outcome->retry_after_secs * 1000;
	if (asked_ms > wait_ms)
		wait_ms = asked_ms;
	backoff->failures++;
	backoff->not_before_ns = monotonic_ns() + wait_ms * NSEC_PER_MSEC;
}
