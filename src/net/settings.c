/* Reads the settings of streaming from the environment. See settings.h. */
#include "net/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/scan.h"
#include "net/redacted_message.h"
#include "net/uri.h"

enum { DEFAULT_INTERVAL_SECS = 60, LONGEST_INTERVAL_SECS = 86400 };

static const char SENTINEL_URL[] = "https://api.sentinel.sparecores.net";
static const char KEEPER_URL[] = "https://keeper.sparecores.net";
static const int64_t SHORTEST_INTERVAL_NS = 250 * NSEC_PER_MSEC;

const char *env_value(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

bool env_is_off(const char *name)
{
	static const char *const OFF[] = {"0", "false", "no", "off"};
	const char *value = env_value(name);

	for (size_t i = 0; value && i < ARRAY_SIZE(OFF); i++)
		if (strcasecmp(value, OFF[i]) == 0)
			return true;
	return false;
}

static int64_t upload_interval_ns(void)
{
	const char *text = env_value("TRACKER_UPLOAD_INTERVAL");
	double secs;

	if (!text)
		return DEFAULT_INTERVAL_SECS * NSEC_PER_SEC;
	if (!parse_duration(text, &secs) || !(secs >= 0) || secs > (double)LONGEST_INTERVAL_SECS) {
		say_redacted(
			"TRACKER_UPLOAD_INTERVAL=%s is not a length of time up to a day; using %d seconds",
			text, DEFAULT_INTERVAL_SECS);
		return DEFAULT_INTERVAL_SECS * NSEC_PER_SEC;
	}
	if (secs * 1e9 < (double)SHORTEST_INTERVAL_NS)
		return SHORTEST_INTERVAL_NS;
	return (int64_t)(secs * 1e9);
}

/* Copies the token without blanks around it: one that ends in a newline would break the header. */
static int read_token(const char **ret_token)
{
	const char *value = env_value("SENTINEL_API_TOKEN");
	struct scan token;
	char *copy;

	if (!value)
		return 0;
	token = scan_trim(scan_bytes(value, strlen(value)));
	if (scan_left(&token) == 0)
		return 0;
	for (const char *at = token.at; at < token.end; at++)
		if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 0x7f)
			return -EINVAL;
	copy = strndup(token.at, scan_left(&token));
	if (!copy)
		return -ENOMEM;
	add_secret(copy);
	*ret_token = copy;
	return 0;
}

static int read_url_setting(const char *name, const char *fallback, const char **ret_url,
			    const char **ret_wrong)
{
	const char *value = env_value(name);

	*ret_url = value ? value : fallback;
	if (!value || is_http_url(value))
		return 0;
	*ret_wrong = name;
	return -EINVAL;
}

int settings_read(struct settings *ret_settings, const char **ret_wrong)
{
	struct settings settings = {0};
	const char *s3 = env_value("AWS_ENDPOINT_URL_S3") ? "AWS_ENDPOINT_URL_S3" : "AWS_ENDPOINT_URL";
	int r = read_token(&settings.token);

	if (r < 0) {
		*ret_wrong = "SENTINEL_API_TOKEN";
		return r;
	}
	r = read_url_setting("SENTINEL_API_URL", SENTINEL_URL, &settings.sentinel_url, ret_wrong);
	if (r == 0)
		r = read_url_setting(s3, NULL, &settings.s3_endpoint, ret_wrong);
	if (r == 0)
		r = read_url_setting("TRACKER_METADATA_URL", NULL, &settings.metadata_url, ret_wrong);
	if (r == 0)
		r = read_url_setting("KEEPER_API_URL", KEEPER_URL, &settings.keeper_url, ret_wrong);
	if (r < 0)
		return r;
	settings.upload_interval_ns = upload_interval_ns();
	*ret_settings = settings;
	return 0;
}
