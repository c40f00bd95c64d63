/*
 * /proc/PID/fdinfo/FD of a GPU's device node: the use of one client of a DRM driver (Linux 5.19).
 *
 * Several descriptors, of several processes, may belong to the same client: count each (device, client) once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/root.h"

enum { DRM_ENGINES_MAX = 16, DRM_REGIONS_MAX = 16, DRM_NAME_SIZE = 32 };

/* -1 absent. Drivers report either busy time or cycles, since the client was opened. */
struct drm_engine {
	char name[DRM_NAME_SIZE]; /* "gfx", "compute", "render", "video", "rcs" */
	int64_t busy_ns;
	int64_t capacity; /* identical engines behind this name; 1 if not reported */
	int64_t cycles;
	int64_t total_cycles; /* of the engine, by all clients */
};

/* Bytes, -1 if absent. */
struct drm_region {
	char name[DRM_NAME_SIZE]; /* "vram", "gtt", "system0", "local0" */
	int64_t total_bytes;      /* of all buffers, shared ones included */
	int64_t shared_bytes;
	int64_t resident_bytes; /* falls back to the older drm-memory- key */
	int64_t purgeable_bytes;
	int64_t active_bytes;
};

struct proc_pid_fdinfo {
	char driver[DRM_NAME_SIZE]; /* "amdgpu", "i915", "xe", "msm" */
	char device[DRM_NAME_SIZE]; /* PCI address "0000:03:00.0", or "" for devices elsewhere */
	int64_t client_id;          /* -1 absent */
	int engine_count;
	struct drm_engine engines[DRM_ENGINES_MAX]; /* in order of appearance; more are left out */
	int region_count;
	struct drm_region regions[DRM_REGIONS_MAX];
};

/* Returns 0, or -EBADMSG for the fdinfo of anything else (ret_fdinfo is then untouched). */
int parse_proc_pid_fdinfo(const char *bytes, size_t length, struct proc_pid_fdinfo *ret_fdinfo);
int read_proc_pid_fdinfo(struct root *root, pid_t pid, int fd, struct proc_pid_fdinfo *ret_fdinfo);
