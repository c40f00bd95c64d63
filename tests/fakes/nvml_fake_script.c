/*
 * The script that NVML_FAKE_SCRIPT names: one fact a line, read again when the file changes.
 *
 *   gpus 8                                 how many there are
 *   gone 2                                 of these, device 2 is no longer counted; those after it move up
 *   result nvmlDeviceGetPowerUsage 3       what a function answers, of all devices
 *   result nvmlDeviceGetPowerUsage 3 2     of device 2 alone
 *   hang nvmlDeviceGetMemoryInfo           it never comes back
 *   crash nvmlDeviceGetMemoryInfo          the process dies in it
 *   utilization DEVICE GPU MEMORY          percent
 *   memory DEVICE TOTAL RESERVED USED      MiB
 *   energy DEVICE MILLIJOULES
 *   process DEVICE PID LISTS MIB SM        LISTS of c, g, m; SM percent, -1: no sample
 *   instance_process DEVICE INSTANCE PID MIB
 *   sample DEVICE PID AGE_SECS SM          a sample that the ring buffer still holds
 *   sampling_secs 1                        utilisation of processes is sampled so seldom
 *   mig DEVICE INSTANCES
 *   gpm DEVICE PERCENT                     how busy GPM finds the device, or each of its instances
 *   gpm_step MICROSECONDS                  two samples of GPM are so far apart, whatever the clock says
 *   gpm_lacks METRIC                       GPM of the device does not count this
 *   gpm_nan METRIC                         it answers this with a number that is none
 *   ecc DEVICE CORRECTED UNCORRECTED       more errors of its memory than the 3 and 1 that it always has
 *   remapped DEVICE CORRECTED UNCORRECTED PENDING FAILED
 *   xid DEVICE NUMBER TIMES                 the driver tells so many errors of that kind, once
 *   record_bytes 32                        of the process lists, instead of what the version says
 *   utilization_call new                   only the newer of the two calls answers (Blackwell)
 *   all_bits 32                            numbers of a device have all bits set (64: those of 64 bits have 64)
 *   log FILE                               a line for each call
 */
#include "nvml_fake_script.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct nvml_script script;

enum { MIB_SHIFT = 20 };

uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void read_line(const char *line)
{
	struct process *process = &script.processes[script.process_count];
	struct rule *rule = &script.rules[script.rule_count];
	unsigned long long a, b, c;
	unsigned more[4];
	int device, instances;
	char word[256];
	double real;

	*process = (struct process){.instance = -1, .lists = "c", .sm = -1};
	*rule = (struct rule){.device = -1};
	if (sscanf(line, "gpus %d", &script.gpus) == 1)
		return;
	if (sscanf(line, "gone %d", &device) == 1) {
		script.gone[device] = true;
		return;
	}
	if (sscanf(line, "utilization %d %llu %llu", &device, &a, &b) == 3) {
		script.utilization[device][0] = (unsigned)a;
		script.utilization[device][1] = (unsigned)b;
	} else if (sscanf(line, "memory %d %llu %llu %llu", &device, &a, &b, &c) == 4) {
		script.memory[device][0] = a << MIB_SHIFT;
		script.memory[device][1] = b << MIB_SHIFT;
		script.memory[device][2] = c << MIB_SHIFT;
	} else if (sscanf(line, "energy %d %llu", &device, &a) == 2) {
		script.energy[device] = a;
	} else if (sscanf(line, "process %d %u %7s %llu %d", &process->device, &process->pid, process->lists,
			  &a, &process->sm) == 5) {
		process->bytes = a << MIB_SHIFT;
		script.process_count++;
	} else if (sscanf(line, "instance_process %d %d %u %llu", &process->device, &process->instance,
			  &process->pid, &a) == 4) {
		process->bytes = a << MIB_SHIFT;
		script.process_count++;
	} else if (sscanf(line, "sample %d %u %lf %d", &process->device, &process->pid, &process->age_secs,
			  &process->sm) == 4) {
		process->lists[0] = '\0';
		script.process_count++;
	} else if (sscanf(line, "sampling_secs %lf", &script.sampling_secs) == 1) {
		return;
	} else if (sscanf(line, "mig %d %d", &device, &instances) == 2) {
		script.instances[device] = instances;
	} else if (sscanf(line, "gpm %d %lf", &device, &real) == 2) {
		script.gpm[device] = real;
	} else if (sscanf(line, "ecc %d %u %u", &device, &more[0], &more[1]) == 3) {
		memcpy(script.ecc[device], more, sizeof script.ecc[0]);
	} else if (sscanf(line, "remapped %d %u %u %u %u", &device, &more[0], &more[1], &more[2], &more[3]) ==
		   5) {
		memcpy(script.remapped[device], more, sizeof script.remapped[0]);
	} else if (sscanf(line, "xid %d %llu %d", &device, &a, &instances) == 3) {
		script.xid[device] = (unsigned)a;
		script.xids[device] = instances;
	} else if (sscanf(line, "gpm_step %llu", &script.gpm_us) == 1 ||
		   sscanf(line, "gpm_lacks %d", &script.gpm_lacks) == 1 ||
		   sscanf(line, "gpm_nan %d", &script.gpm_nan) == 1) {
		return;
	} else if (sscanf(line, "all_bits %d", &script.all_bits) == 1) {
		return;
	} else if (sscanf(line, "record_bytes %d", &script.record_bytes) == 1) {
		return;
	} else if (strcmp(line, "utilization_call new") == 0) {
		script.only_new_utilization = true;
	} else if (sscanf(line, "log %255s", script.log) == 1) {
		return;
	} else if (sscanf(line, "result %63s %d %d", rule->function, &rule->result, &rule->device) >= 2) {
		strcpy(rule->what, "result");
		script.rule_count++;
	} else if (sscanf(line, "hang %63s", rule->function) == 1 ||
		   sscanf(line, "crash %63s", rule->function) == 1) {
		sscanf(line, "%7s", rule->what);
		script.rule_count++;
	} else if (sscanf(line, " %255s", word) == 1 && word[0] != '#') {
		fprintf(stderr, "nvml_fake: not understood: %s\n", line);
		abort();
	}
}

void read_script(void)
{
	const char *path = getenv("NVML_FAKE_SCRIPT");
	struct stat status;
	char line[512];
	FILE *file;

	if (!path || stat(path, &status) < 0 ||
	    (status.st_mtim.tv_sec == script.changed.tv_sec &&
	     status.st_mtim.tv_nsec == script.changed.tv_nsec))
		return;
	memset(&script, 0, sizeof script);
	script.changed = status.st_mtim;
	script.loaded_us = now_us();
	for (int i = 0; i < DEVICES; i++) {
		script.gpm[i] = -1;
		script.memory[i][0] = UINT64_C(81920) << MIB_SHIFT;
		script.memory[i][1] = UINT64_C(600) << MIB_SHIFT;
	}
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof line, file)) {
		line[strcspn(line, "\n")] = '\0';
		read_line(line);
	}
	fclose(file);
}

static void log_call(const char *function)
{
	FILE *file = script.log[0] ? fopen(script.log, "ae") : NULL;

	if (!file)
		return;
	fprintf(file, "%s\n", function);
	fclose(file);
}

int device_numbered(int number)
{
	for (int i = 0; i < script.gpus && i < DEVICES; i++)
		if (!script.gone[i] && number-- == 0)
			return i;
	return DEVICES;
}

int index_of(nvml_device device)
{
	uintptr_t handle = (uintptr_t)device;

	return handle >= INSTANCE_BASE ? (int)((handle - INSTANCE_BASE) / INSTANCES) : (int)handle - 1;
}

int instance_of(nvml_device device)
{
	uintptr_t handle = (uintptr_t)device;

	return handle >= INSTANCE_BASE ? (int)((handle - INSTANCE_BASE) % INSTANCES) : -1;
}

int enter(const char *function, nvml_device device)
{
	log_call(function);
	for (int i = 0; i < script.rule_count; i++) {
		const struct rule *rule = &script.rules[i];

		if (strcmp(rule->function, function) != 0 ||
		    (rule->device >= 0 && rule->device != index_of(device)))
			continue;
		while (strcmp(rule->what, "hang") == 0)
			pause();
		if (strcmp(rule->what, "crash") == 0)
			raise(SIGSEGV);
		return rule->result;
	}
	return NVML_SUCCESS;
}
