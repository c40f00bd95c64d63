/*
 * The attributes of a run: which run it is, of which job, on which machine. As text they have the form of
 * OTEL_RESOURCE_ATTRIBUTES: KEY=VALUE,KEY=VALUE with %XX for other bytes.
 */
#pragma once

#include "base/buffer.h"
#include "metric/frame.h"

struct otlp_resource {
	struct buffer pairs; /* KEY NUL VALUE NUL ... */
};

#define OTLP_RESOURCE ((struct otlp_resource){.pairs = BUFFER(256 << 10)})

void otlp_resource_done(struct otlp_resource *resource);

/* Replaces an attribute of the same key. An empty key or value is left out. */
void otlp_resource_set(struct otlp_resource *resource, const char *key, const char *value);
/* NULL: not there. */
const char *otlp_resource_get(const struct otlp_resource *resource, const char *key);
/* Steps through the attributes, from *at = 0. Returns false after the last one. */
bool otlp_resource_next(const struct otlp_resource *resource, size_t *at, const char **ret_key,
			const char **ret_value);

/* Sets all that a run's first sample says. `fallback_id` stands for the run's identity in recordings without one. */
void otlp_resource_of_run(struct otlp_resource *resource, const struct frame *first, const char *fallback_id);

/* Sets the attributes of a text. Returns 0 or -EBADMSG: a pair was left out, because it has no "=" or a damaged %XX. */
int otlp_resource_parse(struct otlp_resource *resource, const char *text, size_t length);
void otlp_resource_format(const struct otlp_resource *resource, struct buffer *out);

/* Appends the Resource message as `field`. */
void otlp_resource_encode(const struct otlp_resource *resource, struct buffer *out, unsigned field);
