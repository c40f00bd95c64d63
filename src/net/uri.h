/* Pieces of URIs: percent-encoding, object addresses, and addresses moved to another server. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/*
 * Appends bytes with everything but A-Z a-z 0-9 - . _ ~ as %XX. With keep_slashes "/" stays as well: the form
 * of an object's path, encoded once, in which S3 wants it both on the request line and in the signature.
 */
void uri_escape(struct buffer *out, const char *bytes, size_t length, bool keep_slashes);

/* s3://BUCKET/PREFIX: pieces of the text that was parsed. The prefix may be empty and has no slash at its end. */
struct s3_uri {
	const char *bucket;
	size_t bucket_length;
	const char *prefix;
	size_t prefix_length;
};

/*
 * 0 or -EBADMSG. A bucket has 1-63 of a-z A-Z 0-9 . - _ : it becomes part of a host name, so that nothing
 * else may get through.
 */
int parse_s3_uri(const char *text, size_t length, struct s3_uri *ret_uri);

/* A server's address as users may give it: "http://host", "https://host:port", then maybe a path. */
bool is_http_url(const char *url);

/* The part of an address before the path: "https://host:port". Its length. */
size_t url_origin_length(const char *url);

/*
 * Appends `url` with its scheme, host and port replaced by those of `base`, which may have a path of its own
 * that is put in front. base NULL: `url` as it is.
 */
void url_moved_to(struct buffer *out, const char *url, const char *base);

/* Appends an address without the user name and password that it may carry, for messages. */
void url_without_secrets(struct buffer *out, const char *url);
