/* Fills surveys and packs them as bytes; see survey.h. */
#include "gpu/survey.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void gpu_copy_text(char *ret_text, size_t size, const char *text)
{
	size_t length = strnlen(text, size - 1);

	memcpy(ret_text, text, length);
	ret_text[length] = '\0';
}

struct gpu_device *gpu_survey_add_device(struct gpu_survey *survey, const char *vendor)
{
	struct gpu_device *device;

	if (survey->device_count == GPU_DEVICES_MAX) {
		survey->left_out_count++;
		return NULL;
	}
	device = &survey->devices[survey->device_count];
	memset(device, 0, sizeof *device);
	device->index = survey->device_count++;
	device->file_number = device->card_number = device->parent = device->gpu_instance =
		device->compute_instance = -1;
	device->visible = 1;
	device->tenant_count = device->holder_count = -1;
	gpu_copy_text(device->vendor, sizeof device->vendor, vendor);
	gpu_copy_text(device->device_type, sizeof device->device_type, "GPU");
	for (int i = 0; i < GPU_READINGS; i++)
		device->readings[i] = gpu_absent(EOPNOTSUPP);
	device->readings[GPU_SHARE] = gpu_value(1);
	return device;
}

void gpu_device_add_detail(struct gpu_device *device, const char *name, const char *value)
{
	struct gpu_detail *detail = &device->details[device->detail_count];

	if (device->detail_count == GPU_DETAILS_MAX)
		return;
	device->detail_count++;
	gpu_copy_text(detail->name, sizeof detail->name, name);
	gpu_copy_text(detail->value, sizeof detail->value, value);
}

struct gpu_process *gpu_survey_find(struct gpu_survey *survey, int64_t from, int64_t device, int64_t pid)
{
	for (int64_t i = from; i < survey->process_count; i++)
		if (survey->processes[i].pid == pid && survey->processes[i].device == device)
			return &survey->processes[i];
	return NULL;
}

struct gpu_process *gpu_survey_process(struct gpu_survey *survey, int64_t from, int64_t device, int64_t pid)
{
	struct gpu_process *process = gpu_survey_find(survey, from, device, pid);

	if (process)
		return process;
	if (survey->process_count == GPU_PROCESSES_MAX) {
		survey->left_out_count++;
		return NULL;
	}
	process = &survey->processes[survey->process_count++];
	*process = (struct gpu_process){
		.device = device,
		.pid = pid,
		.vram_bytes = gpu_absent(EOPNOTSUPP),
		.busy_secs = gpu_absent(EOPNOTSUPP),
		.utilization_pct = gpu_absent(EOPNOTSUPP),
		.memory_utilization_pct = gpu_absent(EOPNOTSUPP),
		.encoder_utilization_pct = gpu_absent(EOPNOTSUPP),
		.decoder_utilization_pct = gpu_absent(EOPNOTSUPP),
	};
	return process;
}

/* ---- as bytes -------------------------------------------------------------------------------------- */

size_t gpu_survey_pack(const struct gpu_survey *survey, void *ret_bytes)
{
	size_t head = offsetof(struct gpu_survey, devices);
	size_t devices = (size_t)survey->device_count * sizeof(survey->devices[0]);
	size_t processes = (size_t)survey->process_count * sizeof(survey->processes[0]);
	char *bytes = ret_bytes;

	memcpy(bytes, survey, head);
	memcpy(bytes + head, survey->devices, devices);
	memcpy(bytes + head + devices, survey->processes, processes);
	return head + devices + processes;
}

static void terminate_text(char *text, size_t size)
{
	text[size - 1] = '\0';
}

static void check_device(struct gpu_survey *survey, struct gpu_device *device)
{
	if (device->detail_count < 0 || device->detail_count > GPU_DETAILS_MAX)
		device->detail_count = 0;
	if (device->parent < -1 || device->parent >= survey->device_count)
		device->parent = -1;
	terminate_text(device->uuid, sizeof device->uuid);
	terminate_text(device->name, sizeof device->name);
	terminate_text(device->vendor, sizeof device->vendor);
	terminate_text(device->device_type, sizeof device->device_type);
	terminate_text(device->host_id, sizeof device->host_id);
	for (int64_t i = 0; i < device->detail_count; i++) {
		terminate_text(device->details[i].name, sizeof device->details[i].name);
		terminate_text(device->details[i].value, sizeof device->details[i].value);
	}
}

int gpu_survey_unpack(struct gpu_survey *survey, size_t length)
{
	size_t head = offsetof(struct gpu_survey, devices), devices, processes;

	if (length < head || survey->device_count < 0 || survey->device_count > GPU_DEVICES_MAX ||
	    survey->process_count < 0 || survey->process_count > GPU_PROCESSES_MAX)
		return -EBADMSG;
	devices = (size_t)survey->device_count * sizeof(survey->devices[0]);
	processes = (size_t)survey->process_count * sizeof(survey->processes[0]);
	if (length != head + devices + processes)
		return -EBADMSG;
	memmove(survey->processes, (char *)survey + head + devices, processes);
	terminate_text(survey->problem, sizeof survey->problem);
	for (int64_t i = 0; i < survey->device_count; i++)
		check_device(survey, &survey->devices[i]);
	for (int64_t i = 0; i < survey->process_count; i++)
		if (survey->processes[i].device < 0 || survey->processes[i].device >= survey->device_count)
			return -EBADMSG;
	return 0;
}
