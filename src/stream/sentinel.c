/* Makes the three calls of the Sentinel API. See sentinel.h. */
#include "stream/sentinel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "net/redacted_message.h"
#include "stream/sha256.h"
#include "net/timestamps.h"
#include "net/uri.h"

enum {
	CONNECT_TIMEOUT_MS = 10000,
	TOTAL_TIMEOUT_MS = 30000,
	MOST_ANSWER_BYTES = 1 << 20,
	MOST_URL_BYTES = 8 << 10
};

static void note_clock(struct sentinel *sentinel, const struct http_answer *answer)
{
	char date[64];
	int64_t secs;

	if (http_header(answer, "Date", date, sizeof(date)) && parse_http_date(date, &secs) == 0)
		sentinel->clock_ahead_secs = secs - (int64_t)time(NULL);
}

/* FastAPI describes the fault. From other servers only the status is shown. */
static void describe_sentinel_answer(const struct http_answer *answer, struct outcome *outcome)
{
	CLEANUP_BUFFER struct buffer detail = BUFFER(64 << 10);

	if (answer->error || outcome->verdict == VERDICT_DONE || !answer->body.length)
		return;
	add_error_detail(&detail, answer->body.data, answer->body.length);
	if (detail.length)
		outcome_add_detail(outcome, detail.data, detail.length);
}

/* `header`: one more, NULL for none. */
static void post_json(struct sentinel *sentinel, const char *url, const struct buffer *body,
		      const char *header, struct http_answer *answer, struct outcome *ret_outcome)
{
	CLEANUP_BUFFER struct buffer authorization = BUFFER(16 << 10);
	struct http_request request = {
		.method = "POST",
		.url = url,
		.headers = {NULL, "Accept: application/json", body ? "Content-Type: application/json" : NULL,
			    header},
		.body = body ? body->data : NULL,
		.body_length = body ? body->length : 0,
		.connect_timeout_ms = CONNECT_TIMEOUT_MS,
		.total_timeout_ms = TOTAL_TIMEOUT_MS,
		.most_answer_bytes = MOST_ANSWER_BYTES,
	};

	buffer_printf(&authorization, "Authorization: Bearer %s", sentinel->token);
	request.headers[0] = buffer_error(&authorization) ? "" : authorization.data;
	http_send(sentinel->http, &request, answer);
	outcome_of_answer(answer, ret_outcome);
	describe_sentinel_answer(answer, ret_outcome);
	note_clock(sentinel, answer);
}

static void add_run_url(struct buffer *url, const struct sentinel *sentinel, const char *run_id,
			const char *call)
{
	url_moved_to(url, "", sentinel->base_url);
	buffer_add_text(url, "/runs");
	if (!run_id)
		return;
	buffer_add_char(url, '/');
	uri_escape(url, run_id, strlen(run_id), false);
	buffer_printf(url, "/%s", call);
}

static void cannot_read(struct outcome *outcome, const char *wrong, size_t length)
{
	outcome->verdict = VERDICT_REFUSED;
	snprintf(outcome->reason, sizeof(outcome->reason), "%s (%zu bytes)", wrong, length);
}

void sentinel_start(struct sentinel *sentinel, const char *payload, const char *run_name,
		    struct registration *ret_registration, struct outcome *ret_outcome)
{
	char hash[SHA256_HEX_SIZE], key[64];
	CLEANUP_BUFFER struct buffer url = BUFFER(MOST_URL_BYTES), body = BUFFER(4 << 20);
	struct http_answer answer = {0};
	const char *wrong;

	add_run_url(&url, sentinel, NULL, NULL);
	buffer_add_text(&body, payload);
	sha256_hex(run_name, strlen(run_name), hash);
	snprintf(key, sizeof(key), "Idempotency-Key: %.32s", hash);
	post_json(sentinel, url.data, &body, key, &answer, ret_outcome);
	if (ret_outcome->verdict == VERDICT_DONE &&
	    parse_registration(answer.body.data, answer.body.length, ret_registration, &wrong) < 0)
		cannot_read(ret_outcome, wrong, answer.body.length);
	http_answer_done(&answer);
}

void sentinel_refresh(struct sentinel *sentinel, const char *run_id, struct credentials *ret_credentials,
		      struct outcome *ret_outcome)
{
	CLEANUP_BUFFER struct buffer url = BUFFER(MOST_URL_BYTES);
	struct http_answer answer = {0};
	const char *wrong;

	add_run_url(&url, sentinel, run_id, "refresh-credentials");
	post_json(sentinel, url.data, NULL, NULL, &answer, ret_outcome);
	if (ret_outcome->verdict == VERDICT_DONE &&
	    parse_credentials(answer.body.data, answer.body.length, ret_credentials, &wrong) < 0)
		cannot_read(ret_outcome, wrong, answer.body.length);
	http_answer_done(&answer);
}

void sentinel_finish(struct sentinel *sentinel, const char *run_id, const struct buffer *body,
		     char **ret_answer, struct outcome *ret_outcome)
{
	CLEANUP_BUFFER struct buffer url = BUFFER(MOST_URL_BYTES);
	struct http_answer answer = {0};

	*ret_answer = NULL;
	add_run_url(&url, sentinel, run_id, "finish");
	post_json(sentinel, url.data, body, NULL, &answer, ret_outcome);
	if (ret_outcome->verdict == VERDICT_DONE)
		*ret_answer = object_as_line(answer.body.data, answer.body.length);
	if (answer.status == 409 && !answer.error)
		*ret_outcome = (struct outcome){.verdict = VERDICT_DONE, .retry_after_secs = -1};
	http_answer_done(&answer);
}
