/* Judges the process ids that devices list; see tenants.h. */
#include "gpu/tenants.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "kernel/proc_pid_status.h"

enum { MEMBERS_ASKED_MAX = 512 };

bool in_first_pid_namespace(const struct root *root)
{
	char target[64];

	/* The kernel's headers fix this number. A captured tree without the link counts as a whole machine. */
	return root_link(root, "proc/self/ns/pid", target, sizeof target) < 0 ||
	       strcmp(target, "pid:[4026531836]") == 0;
}

static bool process_exists(const struct root *root, int64_t pid)
{
	char path[32];

	snprintf(path, sizeof path, "proc/%lld", (long long)pid);
	return root_exists(root, path);
}

static bool all_exist(const struct gpu_survey *survey, const struct root *root, int64_t device)
{
	for (int64_t i = 0; i < survey->process_count; i++)
		if (survey->processes[i].device == device && !process_exists(root, survey->processes[i].pid))
			return false;
	return true;
}

/* The only member that has this id in an inner namespace; 0: none or several. */
static pid_t find_by_inner_pid(struct root *root, const pid_t *members, size_t member_count, int64_t pid)
{
	pid_t found = 0;

	for (size_t i = 0; i < member_count && i < MEMBERS_ASKED_MAX; i++) {
		struct proc_pid_status status;

		if (read_proc_pid_status(root, members[i], &status) < 0)
			continue;
		for (int n = 1; n < status.namespace_pid_count; n++) {
			if (status.namespace_pids[n] != pid)
				continue;
			if (found && found != members[i])
				return 0;
			found = members[i];
		}
	}
	return found;
}

static void map_pids(struct gpu_survey *survey, struct root *root, int64_t device, const pid_t *members,
		     size_t member_count)
{
	bool mapped = false;

	for (int64_t i = 0; i < survey->process_count; i++) {
		struct gpu_process *process = &survey->processes[i];
		pid_t member;

		if (process->device != device || process_exists(root, process->pid))
			continue;
		member = find_by_inner_pid(root, members, member_count, process->pid);
		if (!member)
			continue;
		process->pid = member;
		mapped = true;
	}
	survey->devices[device].pids = mapped ? GPU_PIDS_MAPPED : GPU_PIDS_FOREIGN;
}

/* Counts the members that hold the file of a device open; -1: some members cannot be searched. */
static int64_t count_holders(const struct member_files *files, int64_t number)
{
	int64_t count = 0;

	for (size_t i = 0; i < files->count; i++) {
		const struct file_holder *holder = &files->holders[i];

		if (holder->denied == EACCES || holder->denied == EPERM)
			return -1;
		for (int f = 0; f < holder->count; f++) {
			if (holder->files[f].kind != GPU_FILE_NVIDIA || holder->files[f].number != number)
				continue;
			count++;
			break;
		}
	}
	return count;
}

static bool in_doubt(const struct gpu_device *device, bool first_namespace)
{
	/* Only NVML lists processes. For drivers in the kernel the surveyor reads the members' own fdinfo. */
	if (strcasecmp(device->vendor, "NVIDIA") != 0 || device->file_number < 0)
		return false;
	return device->pids == GPU_PIDS_UNKNOWN || device->pids == GPU_PIDS_FOREIGN || !first_namespace;
}

bool gpu_tenants_in_doubt(const struct gpu_survey *survey, bool first_namespace)
{
	for (int64_t i = 0; i < survey->device_count; i++)
		if (in_doubt(&survey->devices[i], first_namespace))
			return true;
	return false;
}

void gpu_judge_tenants(struct gpu_survey *survey, struct root *root, const pid_t *members,
		       size_t member_count, const struct member_files *files, bool first_namespace)
{
	for (int64_t i = 0; i < survey->device_count; i++) {
		struct gpu_device *device = &survey->devices[i];

		if (!in_doubt(device, first_namespace))
			continue;
		device->holder_count = count_holders(files, device->file_number);
		if (device->pids != GPU_PIDS_OURS)
			continue;
		if (device->tenant_count > 0 && !all_exist(survey, root, i))
			map_pids(survey, root, i, members, member_count);
		/* An empty list while a member uses the device means that its processes are hidden from us. */
		if (device->tenant_count == 0 && device->holder_count != 0)
			device->pids = GPU_PIDS_FOREIGN;
	}
}
