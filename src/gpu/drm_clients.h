/*
 * Reads how much the job's members use GPUs that kernel drivers run, from the fdinfo of their descriptors,
 * which has the same form for every driver. Each client of a device counts once, however many descriptors of
 * however many members lead to it.
 */
#pragma once

#include "gpu/member_files.h"
#include "gpu/survey.h"
#include "kernel/proc_pid_fdinfo.h"

struct drm_clients;

int drm_clients_new(struct drm_clients **ret_clients);
void drm_clients_free(struct drm_clients *clients);
/* The devices have moved to other places in the survey. */
void drm_clients_forget(struct drm_clients *clients);

/*
 * Adds the processes of devices [first, first + count) of the survey. Busy time is the time that compute and
 * graphics engines worked since the last pass. When a client is first seen, only as much of its earlier busy
 * time counts as fits into `elapsed_ns`, and nothing in the first pass (elapsed_ns 0).
 */
void drm_clients_read(struct drm_clients *clients, struct root *root, struct member_files *files,
		      struct gpu_survey *survey, int64_t first, int64_t count, int64_t elapsed_ns);

/* The kind of an engine, from its name. */
enum drm_engine_use { DRM_ENGINE_COMPUTES, DRM_ENGINE_ENCODES, DRM_ENGINE_DECODES, DRM_ENGINE_OTHER };
enum drm_engine_use drm_engine_use(const char *name);

/* Bytes of device memory that a client holds. */
struct gpu_number drm_client_vram(const struct proc_pid_fdinfo *fdinfo);
