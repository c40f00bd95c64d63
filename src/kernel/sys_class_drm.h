/*
 * /sys/class/drm: the GPUs that kernel drivers run, each with its render node.
 *
 * Display adapters without one (server management chips, frame buffers) do not compute and are left out. So are
 * devices whose drivers do not report their use.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/root.h"

enum { DRM_DRIVER_SIZE = 32, DRM_ADDRESS_SIZE = 32 };

/* The number of the first render node (/dev/dri/renderD128). Lower numbers are those of cards. */
enum { DRM_RENDER_FIRST = 128 };

struct drm_card {
	int card;                     /* N of /sys/class/drm/cardN. -1: only a render node */
	int render;                   /* N of renderDN */
	char driver[DRM_DRIVER_SIZE]; /* "amdgpu", "i915" */
	char address
		[DRM_ADDRESS_SIZE]; /* "0000:03:00.0", or the platform's name for a device that is not on PCI */
	int64_t vendor_id;          /* PCI, -1 for none */
	int64_t device_id;
};

/*
 * Lists cards in the order of their render nodes. Returns how many there are, or a negative errno
 * without the folder. The first `max` are in ret_cards (NULL with 0 only counts).
 */
int read_sys_class_drm(struct root *root, struct drm_card *ret_cards, int max);
