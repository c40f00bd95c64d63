/* Reads the settings of --stream otlp. See otlp_settings.h. */
#include "stream/otlp_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/min_max.h"
#include "base/scan.h"
#include "format/otlp_series.h"
#include "net/redacted_message.h"
#include "net/settings.h"
#include "net/uri.h"

enum {
	NAME_SIZE = 64,
	DEFAULT_STEP_SECS = 15,
	LONGEST_STEP_SECS = 86400,
	DEFAULT_TIMEOUT_MS = 10000,
	MOST_TIMEOUT_MS = 600000
};

static const char ENDPOINT[] = "http://localhost:4318";

/* OTEL_EXPORTER_OTLP_METRICS_X, else OTEL_EXPORTER_OTLP_X. The name that was found is for messages. */
static const char *exporter_value(const char *signal, const char *what, char ret_name[NAME_SIZE])
{
	const char *value;

	snprintf(ret_name, NAME_SIZE, "OTEL_EXPORTER_OTLP_%s_%s", signal, what);
	value = env_value(ret_name);
	if (value)
		return value;
	snprintf(ret_name, NAME_SIZE, "OTEL_EXPORTER_OTLP_%s", what);
	return env_value(ret_name);
}

static int refuse_otlp_setting(const char *name, const char *rule)
{
	say_redacted("%s is invalid: it must be %s", name, rule);
	return -EINVAL;
}

static int read_signal_url(struct otlp_signal *signal, const char *name, const char *path)
{
	char variable[NAME_SIZE];
	const char *value;
	size_t length;

	snprintf(variable, sizeof variable, "OTEL_EXPORTER_OTLP_%s_ENDPOINT", name);
	value = env_value(variable);
	signal->has_own_url = value != NULL;
	if (!value)
		value = exporter_value(name, "ENDPOINT", variable);
	if (!value)
		value = ENDPOINT;
	if (!is_http_url(value))
		return refuse_otlp_setting(variable, "an address with http:// or https://");
	signal->url = value;
	if (signal->has_own_url)
		return 0;
	length = strlen(value);
	while (length && value[length - 1] == '/')
		length--;
	if (asprintf(&signal->joined_url, "%.*s%s", (int)length, value, path) < 0) {
		signal->joined_url = NULL;
		return -ENOMEM;
	}
	signal->url = signal->joined_url;
	return 0;
}

static bool is_header(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

/* Values are secrets: they are tokens as a rule. */
static int read_headers(struct otlp_signal *signal, const char *name)
{
	struct otlp_resource pairs = OTLP_RESOURCE;
	char variable[NAME_SIZE];
	const char *value = exporter_value(name, "HEADERS", variable), *key, *text;
	size_t at = 0;
	int r = value ? otlp_resource_parse(&pairs, value, strlen(value)) : 0;

	while (r == 0 && otlp_resource_next(&pairs, &at, &key, &text)) {
		char *header;

		if (signal->header_count == OTLP_MOST_HEADERS || strpbrk(key, " :") || !is_header(key) ||
		    !is_header(text))
			r = -EINVAL;
		else if (asprintf(&header, "%s: %s", key, text) < 0)
			r = -ENOMEM;
		if (r < 0)
			break;
		add_secret(header + strlen(key) + 2);
		signal->headers[signal->header_count++] = header;
	}
	otlp_resource_done(&pairs);
	return r < 0 && r != -ENOMEM ? refuse_otlp_setting(variable, "KEY=VALUE,KEY=VALUE, at most 16") : r;
}

static int read_timeout(struct otlp_signal *signal, const char *name)
{
	char variable[NAME_SIZE];
	const char *value = exporter_value(name, "TIMEOUT", variable);
	struct scan scan = scan_bytes(value, value ? strlen(value) : 0);
	uint64_t timeout = DEFAULT_TIMEOUT_MS;

	if (value && (!scan_u64(&scan, &timeout) || scan_left(&scan) || !timeout))
		return refuse_otlp_setting(variable, "a number of milliseconds");
	signal->timeout_ms = timeout < MOST_TIMEOUT_MS ? (int)timeout : MOST_TIMEOUT_MS;
	return 0;
}

/* Releases the values of an earlier call. */
static void forget_signal(struct otlp_signal *signal)
{
	for (size_t i = 0; i < signal->header_count; i++) {
		forget_secret(strchr(signal->headers[i], ' ') + 1);
		free(signal->headers[i]);
	}
	free(signal->joined_url);
	*signal = (struct otlp_signal){0};
}

static int read_signal(struct otlp_signal *signal, const char *name, const char *path)
{
	char variable[NAME_SIZE];
	const char *value;
	int r;

	forget_signal(signal);
	snprintf(variable, sizeof variable, "OTEL_%s_EXPORTER", name);
	value = env_value(variable);
	signal->on = !value || strcmp(value, "none") != 0;
	value = exporter_value(name, "COMPRESSION", variable);
	signal->gzip = !value || strcmp(value, "none") != 0;
	if (value && signal->gzip && strcmp(value, "gzip") != 0)
		return refuse_otlp_setting(variable, "gzip or none");
	value = exporter_value(name, "PROTOCOL", variable);
	if (value && strcmp(value, "http/protobuf") != 0)
		say_redacted("%s=%s: only http/protobuf is spoken, and the address must be one for it",
			     variable, value);
	signal->certificate = exporter_value(name, "CERTIFICATE", variable);
	r = read_signal_url(signal, name, path);
	if (r == 0)
		r = read_headers(signal, name);
	return r == 0 ? read_timeout(signal, name) : r;
}

static int read_extra(const char *variable, unsigned extra, unsigned *extras)
{
	const char *value = env_value(variable);
	struct scan flag = scan_bytes(value, value ? strlen(value) : 0);
	bool on = false;

	if (value && !scan_flag(&flag, &on))
		return refuse_otlp_setting(variable, "yes or no");
	if (on)
		*extras |= extra;
	return 0;
}

static int read_own(struct otlp_settings *settings)
{
	const char *step = env_value("TRACKER_OTLP_STEP");
	double secs = DEFAULT_STEP_SECS;
	int r;

	if (step && (!parse_duration(step, &secs) || !(secs >= 0) || secs > (double)LONGEST_STEP_SECS))
		return refuse_otlp_setting("TRACKER_OTLP_STEP", "a length of time up to a day");
	settings->step_ns = (int64_t)(secs * 1e9);
	settings->extras = 0;
	r = read_extra("TRACKER_OTLP_MACHINE", OTLP_WITH_MACHINE, &settings->extras);
	return r < 0 ? r : read_extra("TRACKER_OTLP_PROGRAMS", OTLP_WITH_PROGRAMS, &settings->extras);
}

/* A request for each step, at least one a minute, unless the user asks for another pace. */
static int64_t interval_of_step(int64_t step_ns)
{
	if (step_ns <= 0)
		return DEFAULT_STEP_SECS * NSEC_PER_SEC;
	return min_i64(max_i64(step_ns, NSEC_PER_SEC / 4), 60 * NSEC_PER_SEC);
}

int otlp_settings_use(struct settings *settings)
{
	static struct otlp_settings otlp;
	int r = read_own(&otlp);

	if (r == 0)
		r = read_signal(&otlp.metrics, "METRICS", "/v1/metrics");
	if (r == 0)
		r = read_signal(&otlp.logs, "LOGS", "/v1/logs");
	if (r < 0)
		return r;
	if (!env_value("TRACKER_UPLOAD_INTERVAL"))
		settings->upload_interval_ns = interval_of_step(otlp.step_ns);
	settings->of_destination = &otlp;
	return 0;
}

void otlp_set_given_attributes(struct otlp_resource *resource)
{
	static const char IDENTITY_KEY[] = "service.instance.id";
	const char *given = env_value("OTEL_RESOURCE_ATTRIBUTES");
	const char *identity = otlp_resource_get(resource, IDENTITY_KEY);
	CLEANUP_FREE char *kept = identity ? strdup(identity) : NULL;

	if (given && otlp_resource_parse(resource, given, strlen(given)) < 0)
		say_redacted("OTEL_RESOURCE_ATTRIBUTES: a pair without \"=\", or with a damaged %%XX, is "
			     "left out");
	otlp_resource_set(resource, "service.name", env_value("OTEL_SERVICE_NAME"));
	/* Two runs of one identity would be one series that jumps back and forth. */
	otlp_resource_set(resource, IDENTITY_KEY, kept);
}
