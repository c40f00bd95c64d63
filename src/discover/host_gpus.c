/* Asks the recorder for GPUs. See host_gpus.h. */
#include "discover/host_gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover/ask_recorder.h"
#include "metric/typed_rows.h"

enum { MIB_SHIFT = 20 };

static bool has_device_files(const struct root *root)
{
	const char *library = secure_getenv("TRACKER_NVML_LIBRARY");

	return (library && *library) || root_exists(root, "dev/nvidiactl") || root_exists(root, "dev/dxg") ||
	       root_exists(root, "dev/dri");
}

static void take_gpu_text(char *ret_text, size_t size, const char *text)
{
	snprintf(ret_text, size, "%s", text_absent(text) ? "" : text);
}

static void take_gpu(const struct gpu_row *row, struct host_gpu *ret_gpu)
{
	take_gpu_text(ret_gpu->uuid, sizeof ret_gpu->uuid, row->uuid);
	take_gpu_text(ret_gpu->name, sizeof ret_gpu->name, row->name);
	take_gpu_text(ret_gpu->vendor, sizeof ret_gpu->vendor, row->vendor);
	take_gpu_text(ret_gpu->host_id, sizeof ret_gpu->host_id, row->host_id);
	take_gpu_text(ret_gpu->memory_kind, sizeof ret_gpu->memory_kind, row->memory_kind);
	ret_gpu->vram_bytes = row->vram_total_bytes;
}

/* Whether the sample lists the GPUs. Without a sum of their memory it is too early. */
static bool take_gpu_sample(const struct frame *frame, void *context)
{
	struct host_gpus *gpus = context;
	const struct totals_row *totals = (const void *)frame->first[ROW_totals];

	for (const struct row *row = frame->first[ROW_gpu]; row && gpus->count < HOST_GPUS_MAX;
	     row = row->next) {
		const struct gpu_row *gpu = (const struct gpu_row *)(const void *)row;

		if (text_absent(gpu->mig_parent))
			take_gpu(gpu, &gpus->items[gpus->count++]);
	}
	gpus->known = gpus->count > 0 || (totals && !real_absent(totals->gpu_vram_mib));
	return gpus->known;
}

static void want_gpus(struct metric_set *wanted)
{
	WANT(wanted, gpu, uuid);
	WANT(wanted, gpu, name);
	WANT(wanted, gpu, vendor);
	WANT(wanted, gpu, host_id);
	WANT(wanted, gpu, mig_parent);
	WANT(wanted, gpu, memory_kind);
	WANT(wanted, gpu, vram_total_bytes);
	WANT(wanted, totals, gpu_vram_mib);
}

void host_gpus_discover(const struct root *root, const char *root_dir, struct host_gpus *ret_gpus)
{
	static const char *const OPTIONS[] = {"--metrics",  "gpu.*,totals.gpu_vram_mib",
					      "--gpus",     "all",
					      "--interval", "0.2",
					      "--duration", "5",
					      NULL};
	struct metric_set wanted = {0};

	*ret_gpus = (struct host_gpus){.known = !has_device_files(root)};
	if (ret_gpus->known)
		return;
	want_gpus(&wanted);
	ask_recorder(root_dir, OPTIONS, &wanted, take_gpu_sample, ret_gpus);
}

/* ---- telling --------------------------------------------------------------------------------------- */

void host_gpus_facts(const struct host_gpus *gpus, struct facts *facts)
{
	int64_t bytes = 0;

	if (!gpus->count)
		return;
	/* Unified memory belongs to the machine and does not count as additional. */
	for (size_t i = 0; i < gpus->count; i++)
		if (!count_absent(gpus->items[i].vram_bytes) &&
		    strcmp(gpus->items[i].memory_kind, "unified") != 0)
			bytes += gpus->items[i].vram_bytes;
	fact_set_text(facts, HOST_GPU_MODEL, gpus->items[0].name, strlen(gpus->items[0].name));
	fact_set_count(facts, HOST_GPU_COUNT, (int64_t)gpus->count);
	if (bytes)
		fact_set_count(facts, HOST_GPU_MEMORY_MIB, bytes >> MIB_SHIFT);
}

static void write_gpu_text(struct json_writer *json, const char *key, const char *text)
{
	json_key(json, key);
	if (*text)
		json_text(json, text);
	else
		json_absent(json);
}

void host_gpus_write(struct json_writer *json, const struct host_gpus *gpus)
{
	if (!gpus->known) {
		json_absent(json);
		return;
	}
	json_open(json, '[');
	for (size_t i = 0; i < gpus->count; i++) {
		const struct host_gpu *gpu = &gpus->items[i];

		json_open(json, '{');
		write_gpu_text(json, "uuid", gpu->uuid);
		write_gpu_text(json, "name", gpu->name);
		write_gpu_text(json, "vendor", gpu->vendor);
		write_gpu_text(json, "host_id", gpu->host_id);
		write_gpu_text(json, "memory_kind", gpu->memory_kind);
		json_key(json, "vram_total_bytes");
		if (count_absent(gpu->vram_bytes))
			json_absent(json);
		else
			json_count(json, gpu->vram_bytes);
		json_close(json, '}');
	}
	json_close(json, ']');
}

const char *host_gpus_usual_name(const struct host_gpus *gpus)
{
	const char *usual = NULL;
	size_t most = 0;

	for (size_t i = 0; i < gpus->count; i++) {
		size_t same = 0;

		for (size_t n = 0; n < gpus->count; n++)
			same += strcmp(gpus->items[i].name, gpus->items[n].name) == 0;
		if (same > most) {
			most = same;
			usual = gpus->items[i].name;
		}
	}
	return usual;
}
