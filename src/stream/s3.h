/*
 * Stores an object with a PUT request, signed with an AWS Signature Version 4 that covers the session token.
 *
 * Signing: sigv4.h. If the store has refused our time, its own time is signed.
 *
 * Addresses: ENDPOINT/BUCKET/KEY if an endpoint is set (MinIO, Ceph, R2), else
 * https://BUCKET.s3.REGION.amazonaws.com/KEY (.cn in China). A bucket with dots is part of the path, because no
 * certificate would match the host name.
 *
 * The region is that of the credentials, else the bucket's answer (HEAD, x-amz-bucket-region), else eu-central-1.
 * A refusal corrects a wrong region, and the object is sent again at once.
 */
#pragma once

#include "net/outcome.h"
#include "stream/sentinel_text.h"
#include "net/uri.h"

enum { S3_REGION_SIZE = 64, S3_CODE_SIZE = 64, S3_MESSAGE_SIZE = 200 };

struct s3_store {
	struct http_client *http;
	const char *endpoint;        /* NULL: Amazon */
	char region[S3_REGION_SIZE]; /* learnt from answers. "": not known yet */
	bool asked_region;           /* the bucket has answered in some way */
	int64_t clock_ahead_secs; /* how far the store's clock is ahead of ours, corrected after a refusal */
};

/* Stores bytes as PREFIX-of-uri/name. VERDICT_EXPIRED: the credentials were not accepted. */
void s3_put(struct s3_store *store, const struct s3_uri *uri, const char *name,
	    const struct credentials *credentials, const void *bytes, size_t length,
	    struct outcome *ret_outcome);

/* ---- pure ------------------------------------------------------------------------------------------- */

/* Appends the address of an object, its key percent-encoded once. Name "" is the bucket itself. */
void s3_url(struct buffer *out, const char *endpoint, const char *region, const struct s3_uri *uri,
	    const char *name);

/*
 * Fields of an error document: <Error><Code>..</Code><Message>..</Message><Region>..</Region>. "" where missing.
 */
struct s3_error {
	char code[S3_CODE_SIZE];
	char message[S3_MESSAGE_SIZE];
	char region[S3_REGION_SIZE];
};
void s3_parse_error(const char *bytes, size_t length, struct s3_error *ret_error);

/* A region id: 1 to 63 of a-z 0-9 and dashes. It becomes part of a host name. */
bool s3_is_region(const char *region);
