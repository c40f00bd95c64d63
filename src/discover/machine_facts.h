/*
 * Facts about a machine, by the names of the Sentinel API. Discovery finds them, the start of a run sends them,
 * and `discover` prints them.
 *
 * A fact that is unknown, or that the user hides (TRACKER_HOST_IP=0), is null.
 */
#pragma once

#include <stdint.h>

#include "base/json_write.h"

enum { FACT_TEXT_SIZE = 160 };

enum fact_id {
	HOST_ID,
	HOST_HOSTNAME,
	HOST_IP,
	HOST_SERVER_ALLOCATION,
	HOST_VCPUS,
	HOST_CPU_MODEL,
	HOST_MEMORY_MIB,
	HOST_GPU_MODEL,
	HOST_GPU_COUNT,
	HOST_GPU_MEMORY_MIB,
	HOST_STORAGE_GB,
	HOST_FACTS,
	CLOUD_VENDOR_ID = HOST_FACTS,
	CLOUD_ACCOUNT_ID,
	CLOUD_REGION_ID,
	CLOUD_ZONE_ID,
	CLOUD_INSTANCE_TYPE,
	FACTS
};

enum fact_type { FACT_UNKNOWN, FACT_TEXT, FACT_COUNT, FACT_REAL };

struct fact {
	enum fact_type type;
	char text[FACT_TEXT_SIZE];
	int64_t count;
	double real; /* written with at most 3 decimals. HOST_MEMORY_MIB has the exact value beside the count */
};

struct facts {
	struct fact items[FACTS];
};

/* "host_id", "cloud_region_id", ... */
const char *fact_name(enum fact_id id);

/* Blanks around the text are removed. An empty text means unknown. */
void fact_set_text(struct facts *facts, enum fact_id id, const char *bytes, size_t length);
void fact_set_count(struct facts *facts, enum fact_id id, int64_t count);
void fact_set_real(struct facts *facts, enum fact_id id, double real);

static inline const char *fact_text(const struct facts *facts, enum fact_id id)
{
	return facts->items[id].type == FACT_TEXT ? facts->items[id].text : NULL;
}

/* Hides the facts that the environment switches off: TRACKER_ and the name in capitals, set to 0. */
void facts_suppress(struct facts *facts);

/* Members "name": value of the open object, from `first` to before `end`. */
void facts_write(struct json_writer *json, const struct facts *facts, enum fact_id first, enum fact_id end);
