/* Handles pieces of URIs. See uri.h. */
#include "net/uri.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/scan.h"

static bool is_alphanumeric(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void uri_escape(struct buffer *out, const char *bytes, size_t length, bool keep_slashes)
{
	for (size_t i = 0; i < length; i++) {
		char c = bytes[i];

		if (is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~' ||
		    (c == '/' && keep_slashes))
			buffer_add_char(out, c);
		else
			buffer_printf(out, "%%%02X", (unsigned char)c);
	}
}

int parse_s3_uri(const char *text, size_t length, struct s3_uri *ret_uri)
{
	struct scan scan = scan_bytes(text, length), bucket;

	if (!scan_literal(&scan, "s3://"))
		return -EBADMSG;
	if (!scan_until(&scan, '/', &bucket)) {
		bucket = scan;
		scan.at = scan.end;
	}
	if (scan_left(&bucket) == 0 || scan_left(&bucket) > 63)
		return -EBADMSG;
	for (const char *at = bucket.at; at < bucket.end; at++)
		if (!is_alphanumeric(*at) && *at != '.' && *at != '-' && *at != '_')
			return -EBADMSG;
	for (const char *at = scan.at; at < scan.end; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return -EBADMSG;
	if (scan_left(&scan) && scan.end[-1] == '/')
		scan.end--;
	*ret_uri = (struct s3_uri){bucket.at, scan_left(&bucket), scan.at, scan_left(&scan)};
	return 0;
}

static const char *after_scheme(const char *url)
{
	if (strncasecmp(url, "http://", 7) == 0)
		return url + 7;
	if (strncasecmp(url, "https://", 8) == 0)
		return url + 8;
	return NULL;
}

bool is_http_url(const char *url)
{
	const char *host = after_scheme(url);

	if (!host || !*host || *host == '/' || *host == ':')
		return false;
	for (const char *at = host; *at; at++)
		if ((unsigned char)*at <= 0x20 || *at == 0x7f || *at == '#' || *at == '?')
			return false;
	return true;
}

size_t url_origin_length(const char *url)
{
	const char *host = after_scheme(url);

	if (!host)
		return 0;
	return (size_t)(host - url) + strcspn(host, "/?#");
}

void url_moved_to(struct buffer *out, const char *url, const char *base)
{
	size_t length;

	if (!base) {
		buffer_add_text(out, url);
		return;
	}
	length = strlen(base);
	while (length && base[length - 1] == '/')
		length--;
	buffer_add(out, base, length);
	buffer_add_text(out, url + url_origin_length(url));
}
