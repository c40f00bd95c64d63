/*
 * Lists this machine's GPUs. It runs the recorder for a moment, because only the recorder's helper talks to
 * drivers. Without a GPU's device file it starts nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_write.h"
#include "kernel/root.h"
#include "metric/absent.h"
#include "discover/machine_facts.h"

enum { HOST_GPUS_MAX = 64, HOST_GPU_TEXT_SIZE = 96 };

/* If the driver does not report a value, a text is empty and a number is an absent count. */
struct host_gpu {
	char uuid[HOST_GPU_TEXT_SIZE];
	char name[HOST_GPU_TEXT_SIZE];
	char vendor[HOST_GPU_TEXT_SIZE];
	char host_id[HOST_GPU_TEXT_SIZE]; /* PCI address, else an index */
	char memory_kind[16];
	int64_t vram_bytes;
};

struct host_gpus {
	bool known; /* false: there may be GPUs, but no source answered */
	size_t count;
	struct host_gpu items[HOST_GPUS_MAX]; /* whole devices, not their MIG instances */
};

/* Takes a few system calls without a GPU, otherwise as long as the driver needs to initialise, at most 6 s. */
void host_gpus_discover(const struct root *root, const char *root_dir, struct host_gpus *ret_gpus);

/* HOST_GPU_MODEL (of the first), HOST_GPU_COUNT and HOST_GPU_MEMORY_MIB. Nothing without a GPU. */
void host_gpus_facts(const struct host_gpus *gpus, struct facts *facts);

/* An array of objects, or null if unknown. */
void host_gpus_write(struct json_writer *json, const struct host_gpus *gpus);
/* The most frequent name. NULL: no GPU. */
const char *host_gpus_usual_name(const struct host_gpus *gpus);
