/* Activity of a device's units by GPM; see nvidia_gpm.h. */
#include "gpu/nvidia_gpm.h"

#include <errno.h>
#include <math.h>

#include "base/cleanup.h"

#define MIB 1048576.0

static const struct {
	enum gpu_reading reading;
	uint32_t metric;
	double scale;
} GPM_READINGS[] = {
#define NVML_GPM(id, metric, scale) {id, metric, scale},
#include "gpu/readings.def"
};

_Static_assert(ARRAY_SIZE(GPM_READINGS) <= NVML_GPM_METRICS, "room in a request");

static int free_samples(const struct nvml *nvml, struct nvidia_gpm *gpm, int error)
{
	for (int i = 0; i < GPM_SAMPLES; i++) {
		if (gpm->samples[i])
			nvml->gpm_free(gpm->samples[i]);
		gpm->samples[i] = NULL;
	}
	return error;
}

static int open_gpm(const struct nvml *nvml, struct nvidia_gpm *gpm)
{
	struct nvml_gpm_support support = {.version = NVML_GPM_VERSION};
	int result = NVML_SUCCESS;

	if (!nvml->gpm_support || !nvml->gpm_alloc || !nvml->gpm_free || !nvml->gpm_metrics ||
	    !(gpm->is_instance ? nvml->gpm_mig_sample != NULL : nvml->gpm_sample != NULL))
		return EOPNOTSUPP;
	result = nvml->gpm_support(gpm->whole, &support);
	if (result != NVML_SUCCESS || !support.supported)
		return result != NVML_SUCCESS ? nvml_errno(result) : EOPNOTSUPP;
	for (int i = 0; i < GPM_SAMPLES && result == NVML_SUCCESS; i++)
		result = nvml->gpm_alloc(&gpm->samples[i]);
	return result == NVML_SUCCESS ? 0 : free_samples(nvml, gpm, nvml_errno(result));
}

void nvidia_gpm_open(const struct nvml *nvml, nvml_device whole, struct nvidia_gpm *gpm)
{
	*gpm = (struct nvidia_gpm){.whole = whole, .latest = -1};
	gpm->error = open_gpm(nvml, gpm);
}

void nvidia_gpm_open_instance(const struct nvml *nvml, nvml_device whole, unsigned gpu_instance,
			      struct nvidia_gpm *gpm)
{
	*gpm = (struct nvidia_gpm){
		.whole = whole, .is_instance = true, .gpu_instance = gpu_instance, .latest = -1};
	gpm->error = open_gpm(nvml, gpm);
}

void nvidia_gpm_close(const struct nvml *nvml, struct nvidia_gpm *gpm)
{
	if (nvml->gpm_free)
		gpm->error = free_samples(nvml, gpm, EOPNOTSUPP);
}

/* A throughput that GPM lacks keeps the value of an older call. */
static void set_gpm_readings(struct gpu_device *device, const struct nvml_gpm_request *request, int error)
{
	for (size_t i = 0; i < ARRAY_SIZE(GPM_READINGS); i++) {
		struct gpu_number *reading = &device->readings[GPM_READINGS[i].reading];
		const struct nvml_gpm_metric *metric = &request->metrics[i];
		int own_error = error ? error : nvml_errno((int)metric->result);

		if (!own_error && isfinite(metric->value))
			*reading = gpu_value(metric->value * GPM_READINGS[i].scale);
		else if (GPM_READINGS[i].scale == 1)
			*reading = gpu_absent(own_error ? own_error : EIO);
	}
}

/* Takes a sample. *ret_before is the one of the last pass. Returns an errno, EAGAIN for the first one. */
static int take_gpm_sample(const struct nvml *nvml, struct nvidia_gpm *gpm, int64_t sampled_ns,
			   int *ret_before)
{
	int before = gpm->latest, next = 0, result;

	if (!sampled_ns || sampled_ns != gpm->sampled_ns)
		gpm->base = before;
	gpm->sampled_ns = sampled_ns;
	while (before >= 0 && (next == before || next == gpm->base))
		next++;
	result = gpm->is_instance ? nvml->gpm_mig_sample(gpm->whole, gpm->gpu_instance, gpm->samples[next])
				  : nvml->gpm_sample(gpm->whole, gpm->samples[next]);
	/* The next sample is the first again: the counters of the time between belong to another tool. */
	gpm->latest = result == NVML_SUCCESS ? next : -1;
	if (before < 0)
		gpm->base = gpm->latest;
	*ret_before = before;
	return result != NVML_SUCCESS ? nvml_errno(result) : before < 0 ? EAGAIN : 0;
}

static int compare_samples(const struct nvml *nvml, const struct nvidia_gpm *gpm, int earlier,
			   struct nvml_gpm_request *request)
{
	request->version = NVML_GPM_VERSION;
	request->earlier = gpm->samples[earlier];
	request->later = gpm->samples[gpm->latest];
	return nvml_errno(nvml->gpm_metrics(request));
}

/* Utilisation is added up over the passes, so it is that since the last pass. */
static struct gpu_number instance_utilization(const struct nvml *nvml, const struct nvidia_gpm *gpm,
					      int before)
{
	struct nvml_gpm_request request = {
		.metric_count = 1,
		.metrics[0] = {.metric = NVML_GPM_GRAPHICS_UTILIZATION},
	};
	int error = compare_samples(nvml, gpm, before, &request);

	if (!error)
		error = nvml_errno((int)request.metrics[0].result);
	return error ? gpu_absent(error) : gpu_value(request.metrics[0].value);
}

void nvidia_read_gpm(const struct nvml *nvml, struct nvidia_gpm *gpm, struct gpu_device *device,
		     int64_t sampled_ns)
{
	struct nvml_gpm_request request = {.metric_count = ARRAY_SIZE(GPM_READINGS)};
	struct gpu_number utilization = gpu_absent(gpm->error);
	int before = -1, error = gpm->error;

	if (!error) {
		error = take_gpm_sample(nvml, gpm, sampled_ns, &before);
		utilization = gpu_absent(error);
	}
	if (!error && gpm->is_instance)
		utilization = instance_utilization(nvml, gpm, before);
	for (size_t i = 0; i < ARRAY_SIZE(GPM_READINGS); i++)
		request.metrics[i].metric = GPM_READINGS[i].metric;
	if (!error)
		error = compare_samples(nvml, gpm, gpm->base, &request);
	set_gpm_readings(device, &request, error);
	if (gpm->is_instance)
		device->readings[GPU_UTILIZATION_PCT] = utilization;
}
