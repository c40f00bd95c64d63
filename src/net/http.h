/*
 * HTTP requests that end: every one has a time limit for connecting and one for all of it, name resolution
 * included, and a limit on the size of the answer. None follows a redirect, because that would send a token or a
 * signature to another server. libcurl resolves names in a thread that is left alone when it does not come back.
 * Where no thread can be had (pids.max), the request fails and is retried like any other. One client is used by
 * one thread. Answers are complete or marked failed, never half.
 */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "net/patience.h"

enum { HTTP_MOST_HEADERS = 24, HTTP_ERROR_SIZE = CURL_ERROR_SIZE };

struct http_request {
	const char *method; /* "GET", "POST", "PUT", "HEAD" */
	const char *url;
	const char *headers[HTTP_MOST_HEADERS]; /* "Name: value" */
	const void *body;
	size_t body_length;
	int connect_timeout_ms;
	int total_timeout_ms;
	size_t most_answer_bytes;
	bool direct;             /* never through a proxy */
	const char *certificate; /* file of certificates to trust instead of the usual ones, NULL for none */
};

struct http_answer {
	long status; /* 0: none */
	int error;   /* 0, or -ETIMEDOUT, -EMSGSIZE, -ENOMEM or -EIO if the answer is missing or incomplete */
	struct buffer headers;
	struct buffer body;
	char error_text[HTTP_ERROR_SIZE]; /* one line, if there is an error */
};

/* Zero is a valid initial state, and http_answer_done() accepts it. An answer may be used again. */
void http_answer_done(struct http_answer *answer);

/* Copies the value of a header, cut to fit. Returns false if it is missing. The last one counts. */
bool http_header(const struct http_answer *answer, const char *name, char *ret_value, size_t size);

/* Seconds of a Retry-After header, between 0 and 300, or -1 if there is none. */
int http_retry_after_secs(const struct http_answer *answer);

struct http_client {
	CURLM *multi;
	struct patience *patience; /* NULL: only the limits of each request */
};

/* Sets libcurl up for the process. 0 or -ENOMEM. */
int http_open(struct http_client *ret_client, struct patience *patience);
void http_close(struct http_client *client);

/* One request from start to end. Returns answer->error. The status may still be one that means failure. */
int http_send(struct http_client *client, const struct http_request *request, struct http_answer *ret_answer);

/*
 * Several requests at once: start them, then take the completed ones. A request's texts must live until it is
 * done. http_next_done() waits until `until_ns` and returns a transfer with a complete answer, or NULL.
 */
struct http_transfer;
int http_start(struct http_client *client, const struct http_request *request, struct http_answer *answer,
	       void *context, struct http_transfer **ret_transfer);
struct http_transfer *http_next_done(struct http_client *client, int64_t until_ns);
void *http_context(const struct http_transfer *transfer);
/* Frees a transfer, done or not. */
void http_transfer_free(struct http_transfer *transfer);
