/*
 * A source of GPU readings: plug-ins as const structs in one explicit array. A vendor lists its devices, then
 * reads them repeatedly. A device keeps its place in the survey from one pass to the next (roster.h), so its
 * sums (GPU_BUSY_SECS) stay with it.
 */
#pragma once

#include <stdbool.h>

#include "gpu/survey.h"
#include "kernel/root.h"

struct gpu_context {
	struct root *root;
	int64_t sampled_ns;  /* when the recorder last took a sample; 0: not yet, or no recorder asks */
	const char *problem; /* set with an error: one line for the user, constant until the next call */
};

struct gpu_vendor {
	const char *name; /* the value of --gpu-vendor */
	/* Must make at most a few system calls and touch no driver. */
	bool (*present)(struct root *root);
	/* Returns 0 and the state, or a negative errno; it is then tried again later. -ENOENT: nothing here. */
	int (*open)(struct gpu_context *context, void **ret_state);
	/*
	 * Adds the devices to an empty survey (gpu_survey_add_device), with their constant values. Called after
	 * open, and again when read() asks for it. A negative errno closes the vendor; so does an empty list.
	 * It is opened again later.
	 */
	int (*list)(void *state, struct gpu_context *context, struct gpu_survey *survey);
	/*
	 * Fills the readings of the devices and adds their processes. Device number i < count of the list has
	 * its place in places[i]; negative: no place, for want of room. Returns 0; -ESTALE if the devices must
	 * be listed again and nothing was added; or another negative errno, which closes the vendor.
	 */
	int (*read)(void *state, struct gpu_context *context, struct gpu_survey *survey,
		    const int64_t *places, int64_t count);
	void (*close)(void *state);
};

/* The only list; ends with NULL. */
extern const struct gpu_vendor *const GPU_VENDORS[];
