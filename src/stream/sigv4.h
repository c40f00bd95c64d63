/*
 * AWS Signature Version 4 for a PUT to S3. Pure.
 *
 * libcurl's own signer (CURLOPT_AWS_SIGV4) is not reliable enough. Version 7.88 signs the session token only if
 * the hash of the body is given as a header, signs headers that are not sent, and sends x-amz-date twice if the
 * time is given, which is necessary with a wrong clock (seen). Older versions do not sign the token at all.
 */
#pragma once

#include "base/buffer.h"
#include "stream/sha256.h"
#include "net/timestamps.h"

struct sigv4_request {
	const char *method;
	const char *host; /* as in the Host header: with the port unless it is the scheme's own */
	const char *path; /* encoded as on the request line, never normalised */
	const char *region;
	const char *access_key;
	const char *secret_key;
	const char *session_token;       /* NULL: none */
	char date[TIME_TEXT_SIZE];       /* x-amz-date: "20260401T123456Z" */
	char body_hash[SHA256_HEX_SIZE]; /* x-amz-content-sha256 */
};

/* The text whose hash is signed: method, path, query (none), signed headers, their names, the body's hash. */
void sigv4_canonical_request(struct buffer *out, const struct sigv4_request *request);

/*
 * Appends the value of the Authorization header. Returns 0, -ENOBUFS (a key or token of absurd length) or -ENOMEM.
 */
int sigv4_authorization(struct buffer *out, const struct sigv4_request *request);
