/* Stores an object. See s3.h. */
#include "stream/s3.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/scan.h"
#include "stream/sigv4.h"
#include "net/timestamps.h"

enum {
	CONNECT_TIMEOUT_MS = 10000,
	TOTAL_TIMEOUT_MS = 60000,
	HEAD_TIMEOUT_MS = 3000,
	MOST_ANSWER_BYTES = 64 << 10,
	MOST_URL_BYTES = 8 << 10,
	MOST_ATTEMPTS = 3, /* the first one, with the right region, with the right time */
};

static const char FALLBACK_REGION[] = "eu-central-1";

bool s3_is_region(const char *region)
{
	size_t length = strlen(region);

	return length && length < S3_REGION_SIZE &&
	       strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

void s3_url(struct buffer *out, const char *endpoint, const char *region, const struct s3_uri *uri,
	    const char *name)
{
	const char *china = strncmp(region, "cn-", 3) == 0 ? ".cn" : "";
	bool in_path = endpoint || memchr(uri->bucket, '.', uri->bucket_length);

	if (endpoint)
		url_moved_to(out, "", endpoint);
	else if (in_path)
		buffer_printf(out, "https://s3.%s.amazonaws.com%s", region, china);
	else
		buffer_printf(out, "https://%.*s.s3.%s.amazonaws.com%s", (int)uri->bucket_length, uri->bucket,
			      region, china);
	if (in_path) {
		buffer_add_char(out, '/');
		uri_escape(out, uri->bucket, uri->bucket_length, false);
	}
	if (!*name) {
		if (!in_path)
			buffer_add_char(out, '/');
		return;
	}
	if (uri->prefix_length) {
		buffer_add_char(out, '/');
		uri_escape(out, uri->prefix, uri->prefix_length, true);
	}
	buffer_add_char(out, '/');
	uri_escape(out, name, strlen(name), true);
}

/* ---- answers ---------------------------------------------------------------------------------------- */

/* The text between <tag> and the next "<". Entities stay as they are. */
static void copy_xml_element(const char *bytes, size_t length, const char *tag, char *ret_text, size_t size)
{
	const char *at = memmem(bytes, length, tag, strlen(tag)), *end;
	struct scan text;

	ret_text[0] = '\0';
	if (!at)
		return;
	at += strlen(tag);
	end = memchr(at, '<', length - (size_t)(at - bytes));
	if (!end)
		return;
	text = scan_bytes(at, (size_t)(end - at));
	scan_copy(&text, ret_text, size);
}

void s3_parse_error(const char *bytes, size_t length, struct s3_error *ret_error)
{
	*ret_error = (struct s3_error){0};
	if (!length)
		return;
	copy_xml_element(bytes, length, "<Code>", ret_error->code, sizeof(ret_error->code));
	copy_xml_element(bytes, length, "<Message>", ret_error->message, sizeof(ret_error->message));
	copy_xml_element(bytes, length, "<Region>", ret_error->region, sizeof(ret_error->region));
	if (!s3_is_region(ret_error->region))
		ret_error->region[0] = '\0';
}

static bool is_code_among(const char *code, const char *const *codes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(code, codes[i]) == 0)
			return true;
	return false;
}

static enum verdict verdict_of_error(const struct s3_error *error, long status, enum verdict verdict)
{
	static const char *const EXPIRED[] = {"ExpiredToken",       "ExpiredTokenException",
					      "InvalidToken",       "TokenRefreshRequired",
					      "InvalidAccessKeyId", "RequestExpired"};
	static const char *const PASSING[] = {"SlowDown",           "RequestTimeout",   "InternalError",
					      "ServiceUnavailable", "OperationAborted", "Throttling",
					      "TooManyRequests"};

	if (is_code_among(error->code, EXPIRED, ARRAY_SIZE(EXPIRED)))
		return VERDICT_EXPIRED;
	if (is_code_among(error->code, PASSING, ARRAY_SIZE(PASSING)))
		return VERDICT_RETRY;
	/* Stores name this error in different ways, but after a 403 only new keys can help. */
	if (status == 401 || status == 403)
		return VERDICT_EXPIRED;
	return verdict;
}

/* Returns the region in an answer, if it differs from the one used. */
static bool learn_region(struct s3_store *store, const struct http_answer *answer,
			 const struct s3_error *error, const char *used)
{
	char region[S3_REGION_SIZE] = "";

	if (!http_header(answer, "x-amz-bucket-region", region, sizeof(region)) || !s3_is_region(region))
		snprintf(region, sizeof(region), "%s", error->region);
	if (!*region || strcmp(region, used) == 0)
		return false;
	snprintf(store->region, sizeof(store->region), "%s", region);
	return true;
}

static bool learn_clock(struct s3_store *store, const struct http_answer *answer,
			const struct s3_error *error)
{
	char date[64];
	int64_t secs, ahead;

	if (strcmp(error->code, "RequestTimeTooSkewed") != 0 ||
	    !http_header(answer, "Date", date, sizeof(date)) || parse_http_date(date, &secs) < 0)
		return false;
	ahead = secs - (int64_t)time(NULL);
	if (ahead == store->clock_ahead_secs)
		return false;
	store->clock_ahead_secs = ahead;
	return true;
}

/* ---- requests --------------------------------------------------------------------------------------- */

/* Asks the bucket itself. Refusals and redirects name the region, too. A failed request is not remembered. */
static void ask_region(struct s3_store *store, const struct s3_uri *uri)
{
	CLEANUP_BUFFER struct buffer url = BUFFER(MOST_URL_BYTES);
	struct http_answer answer = {0};
	struct http_request request = {
		.method = "HEAD",
		.connect_timeout_ms = HEAD_TIMEOUT_MS,
		.total_timeout_ms = HEAD_TIMEOUT_MS,
		.most_answer_bytes = MOST_ANSWER_BYTES,
	};
	char region[S3_REGION_SIZE];

	s3_url(&url, store->endpoint, "us-east-1", uri, "");
	request.url = url.data;
	if (!buffer_error(&url) && http_send(store->http, &request, &answer) == 0 && answer.status < 500) {
		store->asked_region = true;
		if (http_header(&answer, "x-amz-bucket-region", region, sizeof(region)) &&
		    s3_is_region(region))
			snprintf(store->region, sizeof(store->region), "%s", region);
	}
	http_answer_done(&answer);
}

/* The host as libcurl says it: without what may stand before it, and with the port unless that is the usual one. */
static void add_s3_host(struct buffer *out, const char *url)
{
	size_t length = url_origin_length(url);
	bool tls = strncasecmp(url, "https", 5) == 0;
	const char *host = url + (tls ? 8 : 7), *at = memrchr(host, '@', length - (tls ? 8 : 7));
	const char *usual = tls ? ":443" : ":80", *end = url + length;

	if (at)
		host = at + 1;
	if ((size_t)(end - host) > strlen(usual) && memcmp(end - strlen(usual), usual, strlen(usual)) == 0)
		end -= strlen(usual);
	buffer_add(out, host, (size_t)(end - host));
}

/* The headers of a signed request. Texts that http_send() is given must live until it is done. */
struct s3_headers {
	struct buffer host;
	struct buffer authorization;
	struct buffer token;
	char hash[32 + SHA256_HEX_SIZE];
	char date[16 + TIME_TEXT_SIZE];
};

static int make_headers(struct s3_headers *headers, const char *url, const struct sigv4_request *signing)
{
	struct sigv4_request request = *signing;
	int r;

	*headers = (struct s3_headers){BUFFER(1 << 10), BUFFER(4 << 10), BUFFER(32 << 10), "", ""};
	buffer_add_text(&headers->host, "Host: ");
	add_s3_host(&headers->host, url);
	if (buffer_error(&headers->host))
		return buffer_error(&headers->host);
	request.host = headers->host.data + strlen("Host: ");
	request.path = url + url_origin_length(url);
	buffer_add_text(&headers->authorization, "Authorization: ");
	r = sigv4_authorization(&headers->authorization, &request);
	if (request.session_token)
		buffer_printf(&headers->token, "x-amz-security-token: %s", request.session_token);
	snprintf(headers->hash, sizeof(headers->hash), "x-amz-content-sha256: %s", request.body_hash);
	snprintf(headers->date, sizeof(headers->date), "x-amz-date: %s", request.date);
	return r < 0 ? r : buffer_error(&headers->token);
}

static void put_once(struct s3_store *store, const char *url, const char *region,
		     const struct credentials *credentials, const void *bytes, size_t length,
		     struct http_answer *answer)
{
	struct sigv4_request signing = {
		.method = "PUT",
		.region = region,
		.access_key = credentials->access_key,
		.secret_key = credentials->secret_key,
		.session_token = credentials->session_token,
	};
	struct s3_headers headers;
	int r;

	sha256_hex(bytes, length, signing.body_hash);
	format_iso8601_basic((int64_t)time(NULL) + store->clock_ahead_secs, signing.date);
	r = make_headers(&headers, url, &signing);
	if (r == 0) {
		const struct http_request request = {
			.method = "PUT",
			.url = url,
			.headers = {headers.host.data, headers.authorization.data, headers.hash, headers.date,
				    "Content-Type: application/gzip", headers.token.data},
			.body = bytes,
			.body_length = length,
			.connect_timeout_ms = CONNECT_TIMEOUT_MS,
			.total_timeout_ms = TOTAL_TIMEOUT_MS,
			.most_answer_bytes = MOST_ANSWER_BYTES,
		};

		http_send(store->http, &request, answer);
	} else {
		answer->error = r;
		snprintf(answer->error_text, sizeof(answer->error_text), "the request cannot be signed");
	}
	buffer_done(&headers.host);
	buffer_done(&headers.authorization);
	buffer_done(&headers.token);
}

/* Judges an answer. Returns true if it corrected the region or time, so that the same request may succeed now. */
static bool judge_s3_answer(struct s3_store *store, const struct http_answer *answer, const char *region,
			    struct outcome *ret_outcome)
{
	struct s3_error error;

	outcome_of_answer(answer, ret_outcome);
	if (answer->error || ret_outcome->verdict == VERDICT_DONE)
		return false;
	s3_parse_error(answer->body.data, answer->body.length, &error);
	outcome_add_detail(ret_outcome, error.code, strlen(error.code));
	outcome_add_detail(ret_outcome, error.message, strlen(error.message));
	ret_outcome->verdict = verdict_of_error(&error, answer->status, ret_outcome->verdict);
	return learn_region(store, answer, &error, region) || learn_clock(store, answer, &error);
}

void s3_put(struct s3_store *store, const struct s3_uri *uri, const char *name,
	    const struct credentials *credentials, const void *bytes, size_t length,
	    struct outcome *ret_outcome)
{
	struct http_answer answer = {0};
	bool again = true;

	if (!credentials->region[0] && !store->region[0] && !store->asked_region)
		ask_region(store, uri);
	for (int attempt = 0; again && attempt < MOST_ATTEMPTS; attempt++) {
		CLEANUP_BUFFER struct buffer url = BUFFER(MOST_URL_BYTES);
		const char *region = store->region[0]         ? store->region
				     : credentials->region[0] ? credentials->region
							      : FALLBACK_REGION;
		char used[S3_REGION_SIZE];

		snprintf(used, sizeof(used), "%s", region);
		s3_url(&url, store->endpoint, used, uri, name);
		if (buffer_error(&url)) {
			*ret_outcome = (struct outcome){.verdict = VERDICT_REFUSED, .retry_after_secs = -1};
			outcome_add_detail(ret_outcome, "the object's address is too long", 32);
			break;
		}
		put_once(store, url.data, used, credentials, bytes, length, &answer);
		again = judge_s3_answer(store, &answer, used, ret_outcome);
	}
	http_answer_done(&answer);
}
