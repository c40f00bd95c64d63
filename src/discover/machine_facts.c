/* Facts about a machine by name. See machine_facts.h. */
#include "discover/machine_facts.h"

#include <stdio.h>

#include "base/scan.h"
#include "net/settings.h"

static const char *const NAMES[FACTS] = {
	[HOST_ID] = "host_id",
	[HOST_HOSTNAME] = "host_hostname",
	[HOST_IP] = "host_ip",
	[HOST_SERVER_ALLOCATION] = "host_server_allocation",
	[HOST_VCPUS] = "host_vcpus",
	[HOST_CPU_MODEL] = "host_cpu_model",
	[HOST_MEMORY_MIB] = "host_memory_mib",
	[HOST_GPU_MODEL] = "host_gpu_model",
	[HOST_GPU_COUNT] = "host_gpu_count",
	[HOST_GPU_MEMORY_MIB] = "host_gpu_memory_mib",
	[HOST_STORAGE_GB] = "host_storage_gb",
	[CLOUD_VENDOR_ID] = "cloud_vendor_id",
	[CLOUD_ACCOUNT_ID] = "cloud_account_id",
	[CLOUD_REGION_ID] = "cloud_region_id",
	[CLOUD_ZONE_ID] = "cloud_zone_id",
	[CLOUD_INSTANCE_TYPE] = "cloud_instance_type",
};

const char *fact_name(enum fact_id id)
{
	return NAMES[id];
}

void fact_set_text(struct facts *facts, enum fact_id id, const char *bytes, size_t length)
{
	struct scan text = scan_trim(scan_bytes(bytes, length));
	struct fact *fact = &facts->items[id];

	*fact = (struct fact){0};
	if (scan_left(&text) == 0)
		return;
	scan_copy(&text, fact->text, sizeof(fact->text));
	fact->type = FACT_TEXT;
}

void fact_set_count(struct facts *facts, enum fact_id id, int64_t count)
{
	facts->items[id] = (struct fact){.type = FACT_COUNT, .count = count};
}

void fact_set_real(struct facts *facts, enum fact_id id, double real)
{
	facts->items[id] = (struct fact){.type = FACT_REAL, .real = real};
}

void facts_suppress(struct facts *facts)
{
	for (enum fact_id id = 0; id < FACTS; id++) {
		char variable[64] = "TRACKER_";
		size_t length = strlen(variable);

		for (const char *at = NAMES[id]; *at; at++)
			variable[length++] = (char)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
		variable[length] = '\0';
		if (env_is_off(variable))
			facts->items[id] = (struct fact){0};
	}
}

void facts_write(struct json_writer *json, const struct facts *facts, enum fact_id first, enum fact_id end)
{
	for (enum fact_id id = first; id < end; id++) {
		const struct fact *fact = &facts->items[id];

		json_key(json, NAMES[id]);
		switch (fact->type) {
		case FACT_TEXT:
			json_text(json, fact->text);
			break;
		case FACT_COUNT:
			json_count(json, fact->count);
			break;
		case FACT_REAL:
			json_decimal(json, fact->real, 3);
			break;
		case FACT_UNKNOWN:
			json_absent(json);
			break;
		}
	}
}
