/*
 * /proc/cpuinfo
 *
 *   processor	: 0                            every architecture has its own lines; these are
 *   model name	: AMD EPYC                     common to x86, ARM, POWER, RISC-V and LoongArch
 *
 *   CPU implementer	: 0x41                 64-bit ARM: numbers instead of a name
 *   CPU part	: 0xd0c
 *
 *   # processors    : 4                           s390
 */
#include "kernel/proc_cpuinfo.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/scan.h"

struct arm_part {
	uint64_t implementer;
	uint64_t part;
	const char *name;
};

/* Servers, boards and cloud machines, from the MIDR_EL1 listings of Arm and the makers. */
static const struct arm_part ARM_PARTS[] = {
	{0x41, 0xc07, "ARM Cortex-A7"},
	{0x41, 0xc08, "ARM Cortex-A8"},
	{0x41, 0xc09, "ARM Cortex-A9"},
	{0x41, 0xc0f, "ARM Cortex-A15"},
	{0x41, 0xd03, "ARM Cortex-A53"},
	{0x41, 0xd04, "ARM Cortex-A35"},
	{0x41, 0xd05, "ARM Cortex-A55"},
	{0x41, 0xd07, "ARM Cortex-A57"},
	{0x41, 0xd08, "ARM Cortex-A72"},
	{0x41, 0xd09, "ARM Cortex-A73"},
	{0x41, 0xd0a, "ARM Cortex-A75"},
	{0x41, 0xd0b, "ARM Cortex-A76"},
	{0x41, 0xd0c, "ARM Neoverse-N1"},
	{0x41, 0xd0d, "ARM Cortex-A77"},
	{0x41, 0xd0e, "ARM Cortex-A76AE"},
	{0x41, 0xd40, "ARM Neoverse-V1"},
	{0x41, 0xd41, "ARM Cortex-A78"},
	{0x41, 0xd42, "ARM Cortex-A78AE"},
	{0x41, 0xd44, "ARM Cortex-X1"},
	{0x41, 0xd46, "ARM Cortex-A510"},
	{0x41, 0xd47, "ARM Cortex-A710"},
	{0x41, 0xd48, "ARM Cortex-X2"},
	{0x41, 0xd49, "ARM Neoverse-N2"},
	{0x41, 0xd4a, "ARM Neoverse-E1"},
	{0x41, 0xd4d, "ARM Cortex-A715"},
	{0x41, 0xd4e, "ARM Cortex-X3"},
	{0x41, 0xd4f, "ARM Neoverse-V2"},
	{0x41, 0xd83, "ARM Neoverse-V3AE"},
	{0x41, 0xd84, "ARM Neoverse-V3"},
	{0x41, 0xd8e, "ARM Neoverse-N3"},
	{0x42, 0x516, "Broadcom ThunderX2"},
	{0x43, 0x0a1, "Cavium ThunderX"},
	{0x43, 0x0af, "Cavium ThunderX2"},
	{0x46, 0x001, "Fujitsu A64FX"},
	{0x48, 0xd01, "HiSilicon Kunpeng-920"},
	{0x48, 0xd02, "HiSilicon Kunpeng-920B"},
	{0x4e, 0x004, "NVIDIA Carmel"},
	{0x50, 0x000, "APM X-Gene"},
	{0x51, 0xc00, "Qualcomm Falkor"},
	{0x61, 0x022, "Apple M1"},
	{0x61, 0x023, "Apple M1"},
	{0x61, 0x032, "Apple M2"},
	{0x61, 0x033, "Apple M2"},
	{0x6d, 0xd49, "Microsoft Azure Cobalt 100"},
	{0x70, 0x662, "Phytium FT-2000"},
	{0xc0, 0xac3, "Ampere-1"},
	{0xc0, 0xac4, "Ampere-1a"},
};

/* A machine may have cores of several types: big and little ones. */
enum { ARM_TYPES_MOST = 8 };

struct cpuinfo_scan {
	struct proc_cpuinfo cpuinfo;
	uint64_t implementer;
	struct {
		uint64_t implementer;
		uint64_t part;
		int cores;
	} types[ARM_TYPES_MOST];
	int type_count;
	int known;
};

static bool scan_prefixed_hex(struct scan value, uint64_t *ret_number)
{
	return scan_literal(&value, "0x") && scan_hex(&value, ret_number);
}

static void keep_first(const struct scan *value, char *text, size_t size, int *known)
{
	if (*text || !scan_left(value))
		return;
	scan_copy(value, text, size);
	(*known)++;
}

static void count_cpu(struct scan value, struct cpuinfo_scan *found)
{
	uint64_t number;

	/* Old 32-bit ARM kernels have one "Processor" line with the model beside the numbered ones. */
	if (!scan_u64(&value, &number) || scan_left(&value))
		return;
	found->cpuinfo.cpu_count = found->cpuinfo.cpu_count < 0 ? 1 : found->cpuinfo.cpu_count + 1;
	found->known++;
}

static void count_arm_core(struct scan value, struct cpuinfo_scan *found)
{
	uint64_t part;
	int i = 0;

	if (!scan_prefixed_hex(value, &part))
		return;
	while (i < found->type_count &&
	       (found->types[i].part != part || found->types[i].implementer != found->implementer))
		i++;
	if (i == ARM_TYPES_MOST)
		return;
	found->type_count += i == found->type_count;
	found->types[i].implementer = found->implementer;
	found->types[i].part = part;
	found->types[i].cores++;
}

static void take_cpuinfo_line(const struct scan *key, struct scan value, struct cpuinfo_scan *found)
{
	struct proc_cpuinfo *cpuinfo = &found->cpuinfo;
	uint64_t number;

	if (scan_is(key, "processor"))
		count_cpu(value, found);
	else if (scan_is(key, "model name") || scan_is(key, "cpu") || scan_is(key, "Model Name"))
		keep_first(&value, cpuinfo->model, sizeof cpuinfo->model, &found->known);
	else if (scan_is(key, "Model") || scan_is(key, "Hardware"))
		keep_first(&value, cpuinfo->hardware, sizeof cpuinfo->hardware, &found->known);
	else if (scan_is(key, "CPU implementer"))
		found->known += scan_prefixed_hex(value, &found->implementer);
	else if (scan_is(key, "CPU part"))
		count_arm_core(value, found);
	else if (scan_is(key, "# processors") && scan_u64(&value, &number) && number <= INT32_MAX)
		cpuinfo->cpu_count = (int64_t)number;
}

static int name_arm_type(uint64_t implementer, uint64_t part, char *ret_text, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(ARM_PARTS); i++)
		if (ARM_PARTS[i].implementer == implementer && ARM_PARTS[i].part == part)
			return snprintf(ret_text, size, "%s", ARM_PARTS[i].name);
	return snprintf(ret_text, size, "ARM implementer 0x%02llx part 0x%03llx",
			(unsigned long long)implementer, (unsigned long long)part);
}

/* "ARM Neoverse-N1", or "4 ARM Cortex-A55 + 2 ARM Cortex-A78" of a machine with several types. */
static void name_arm_types(struct cpuinfo_scan *found)
{
	char *model = found->cpuinfo.model;
	size_t size = sizeof found->cpuinfo.model, length = 0;

	if (*model)
		return;
	for (int i = 0; i < found->type_count && length < size; i++) {
		if (found->type_count > 1)
			length += (size_t)snprintf(model + length, size - length, "%s%d ", i ? " + " : "",
						   found->types[i].cores);
		if (length < size)
			length += (size_t)name_arm_type(found->types[i].implementer, found->types[i].part,
							model + length, size - length);
	}
}

int parse_proc_cpuinfo(const char *bytes, size_t length, struct proc_cpuinfo *ret_cpuinfo)
{
	struct scan text = scan_bytes(bytes, length), line, key;
	struct cpuinfo_scan found = {.cpuinfo = {.cpu_count = -1}};

	while (scan_line(&text, &line)) {
		if (!scan_until(&line, ':', &key))
			continue;
		key = scan_trim(key);
		take_cpuinfo_line(&key, scan_trim(line), &found);
	}
	if (!found.known && found.cpuinfo.cpu_count < 0)
		return -EBADMSG;
	name_arm_types(&found);
	*ret_cpuinfo = found.cpuinfo;
	return 0;
}

int read_proc_cpuinfo(struct root *root, struct proc_cpuinfo *ret_cpuinfo)
{
	struct kept_file file = KEPT_FILE("proc/cpuinfo");
	/* The flags of a CPU alone may take 2 KiB. */
	ssize_t length = root_reread_to_end(root, &file);

	kept_file_close(&file);
	return length < 0 ? (int)length : parse_proc_cpuinfo(root->text.data, (size_t)length, ret_cpuinfo);
}
