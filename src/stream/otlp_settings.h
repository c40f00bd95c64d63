/*
 * The settings of --stream otlp: the variables of OpenTelemetry's exporters, and two of ours. An empty variable counts as
 * unset. They are read only if OTLP was asked for: in containers they may be set for the job's own telemetry.
 *
 *   OTEL_EXPORTER_OTLP_ENDPOINT          address without /v1/metrics; default: http://localhost:4318
 *   OTEL_EXPORTER_OTLP_HEADERS           KEY=VALUE,KEY=VALUE with %XX
 *   OTEL_EXPORTER_OTLP_CERTIFICATE       file of certificates to trust
 *   OTEL_EXPORTER_OTLP_TIMEOUT           milliseconds for a request; default: 10000
 *   OTEL_EXPORTER_OTLP_COMPRESSION       gzip (default) or none
 *   OTEL_EXPORTER_OTLP_PROTOCOL          http/protobuf; other values get one warning
 *   OTEL_EXPORTER_OTLP_METRICS_..., _LOGS_...   the same for one of the two; an ENDPOINT is then used as it is
 *   OTEL_METRICS_EXPORTER, OTEL_LOGS_EXPORTER   none: do not send them
 *   OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME
 *   TRACKER_OTLP_STEP                    time between two points, 15 s by default. 0: one for each sample
 *   TRACKER_OTLP_MACHINE                 1: also send the series of the machine
 *   TRACKER_OTLP_PROGRAMS                1: also send those of the job's programs
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/otlp_resource.h"

struct settings;

enum { OTLP_MOST_HEADERS = 16 };

struct otlp_signal {
	bool on;
	bool has_own_url; /* the user has named it, so that it must exist */
	const char *url;
	char *joined_url; /* `url` where it is the common address with the signal's path. NULL: the user's own */
	char *headers[OTLP_MOST_HEADERS]; /* "Name: value" */
	size_t header_count;
	const char *certificate; /* NULL: those of other requests */
	int timeout_ms;
	bool gzip;
};

struct otlp_settings {
	struct otlp_signal metrics;
	struct otlp_signal logs;
	int64_t step_ns;
	unsigned extras; /* OTLP_WITH_... */
};

/*
 * Reads them, and makes the settings of streaming point to them. They live until the next call. Returns 0, -ENOMEM, or -EINVAL after it has said which variable is invalid and why.
 */
int otlp_settings_use(struct settings *settings);

/* Sets the attributes of the environment. The identity of the run stays. */
void otlp_set_given_attributes(struct otlp_resource *resource);
