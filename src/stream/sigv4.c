/* AWS Signature Version 4. See sigv4.h. */
#include "stream/sigv4.h"

#include <string.h>

enum { DAY_LENGTH = 8, MOST_TEXT_BYTES = 64 << 10 };

static const char ALGORITHM[] = "AWS4-HMAC-SHA256";

static const char *signed_headers(const struct sigv4_request *request)
{
	return request->session_token ? "host;x-amz-content-sha256;x-amz-date;x-amz-security-token"
				      : "host;x-amz-content-sha256;x-amz-date";
}

void sigv4_canonical_request(struct buffer *out, const struct sigv4_request *request)
{
	buffer_printf(out, "%s\n%s\n\nhost:%s\nx-amz-content-sha256:%s\nx-amz-date:%s\n", request->method,
		      request->path, request->host, request->body_hash, request->date);
	if (request->session_token)
		buffer_printf(out, "x-amz-security-token:%s\n", request->session_token);
	buffer_printf(out, "\n%s\n%s", signed_headers(request), request->body_hash);
}

/* "20260401/eu-central-1/s3/aws4_request" */
static void add_scope(struct buffer *out, const struct sigv4_request *request)
{
	buffer_printf(out, "%.*s/%s/s3/aws4_request", DAY_LENGTH, request->date, request->region);
}

/* A key for one day, region and service, made from the secret by a chain of hashes. */
static int make_key(const struct sigv4_request *request, unsigned char key[SHA256_SIZE])
{
	CLEANUP_BUFFER struct buffer secret = BUFFER(1 << 10);
	int r;

	buffer_printf(&secret, "AWS4%s", request->secret_key);
	if (buffer_error(&secret))
		return buffer_error(&secret);
	r = hmac_sha256(secret.data, secret.length, request->date, DAY_LENGTH, key);
	if (r == 0)
		r = hmac_sha256(key, SHA256_SIZE, request->region, strlen(request->region), key);
	if (r == 0)
		r = hmac_sha256(key, SHA256_SIZE, "s3", 2, key);
	return r < 0 ? r : hmac_sha256(key, SHA256_SIZE, "aws4_request", 12, key);
}

int sigv4_authorization(struct buffer *out, const struct sigv4_request *request)
{
	CLEANUP_BUFFER struct buffer canonical = BUFFER(MOST_TEXT_BYTES), text = BUFFER(MOST_TEXT_BYTES);
	unsigned char key[SHA256_SIZE], signature[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];
	int r;

	sigv4_canonical_request(&canonical, request);
	if (buffer_error(&canonical))
		return buffer_error(&canonical);
	sha256_hex(canonical.data, canonical.length, hex);
	buffer_printf(&text, "%s\n%s\n", ALGORITHM, request->date);
	add_scope(&text, request);
	buffer_printf(&text, "\n%s", hex);
	if (buffer_error(&text))
		return buffer_error(&text);
	r = make_key(request, key);
	if (r == 0)
		r = hmac_sha256(key, sizeof(key), text.data, text.length, signature);
	if (r < 0)
		return r;
	sha256_to_hex(signature, hex);
	buffer_printf(out, "%s Credential=%s/", ALGORITHM, request->access_key);
	add_scope(out, request);
	buffer_printf(out, ", SignedHeaders=%s, Signature=%s", signed_headers(request), hex);
	return buffer_error(out);
}
