/* Pieces of URIs: percent-encoding, object addresses, and addresses moved to another server. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/*
 * Appends bytes with everything except A-Z a-z 0-9 - . _ ~ as %XX. With keep_slashes "/" stays, too. S3 wants an
 * object's path in that form, encoded once, both on the request line and in the signature.
 */
void uri_escape(struct buffer *out, const char *bytes, size_t length, bool keep_slashes);

/* s3://BUCKET/PREFIX as pieces of the parsed text. The prefix may be empty and does not end in a slash. */
struct s3_uri {
	const char *bucket;
	size_t bucket_length;
	const char *prefix;
	size_t prefix_length;
};

/*
 * Returns 0 or -EBADMSG. A bucket has 1-63 of a-z A-Z 0-9 . - _ and nothing else, because it becomes part of a
 * host name.
 */
int parse_s3_uri(const char *text, size_t length, struct s3_uri *ret_uri);

/* A server's address as users may give it: "http://host", "https://host:port", then maybe a path. */
bool is_http_url(const char *url);

/* The part of an address before the path: "https://host:port". Returns its length. */
size_t url_origin_length(const char *url);

/*
 * Appends `url` with its scheme, host and port replaced by those of `base`, whose path (if any) is put in front.
 * base NULL: `url` unchanged.
 */
void url_moved_to(struct buffer *out, const char *url, const char *base);
