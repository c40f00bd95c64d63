/*
 * The settings of streaming in the environment. An empty variable counts as unset.
 *
 *   SENTINEL_API_TOKEN        bearer token. Without one nothing is streamed
 *   SENTINEL_API_URL          the Sentinel API; a path prefix is kept
 *   AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL   object storage with the bucket in the path (MinIO, Ceph, R2)
 *   TRACKER_METADATA_URL      replaces scheme, host and port of every metadata probe
 *   KEEPER_API_URL            the Keeper API
 *   TRACKER_UPLOAD_INTERVAL   seconds between batches
 *   TRACKER_STREAM_METADATA   a JSON object whose members are added to what POST /runs says of the run
 *   CURL_CA_BUNDLE, SSL_CERT_FILE, SSL_CERT_DIR   certificates instead of the system's
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The value of a variable, or NULL when it is unset or empty. */
const char *env_value(const char *name);

/* Whether the variable is set to 0, false, no or off. */
bool env_is_off(const char *name);

struct destination;

struct settings {
	const char *token; /* without blanks around it, NULL for none */
	const char *sentinel_url;
	const char *s3_endpoint;  /* NULL: Amazon */
	const char *metadata_url; /* NULL: each vendor's own */
	const char *keeper_url;
	int64_t upload_interval_ns;
	const struct destination *destination; /* of runs (stream/destination.h) */
	const void *of_destination;            /* its own settings */
};

/*
 * Reads the environment. The texts belong to the settings and live as long as the process. Returns 0, or -EINVAL
 * if an address or the token is invalid: *ret_wrong then names the variable.
 */
int settings_read(struct settings *ret_settings, const char **ret_wrong);
