/* The list of vendors; see vendor.h. */
#include "gpu/vendor.h"

extern const struct gpu_vendor NVIDIA_VENDOR;
extern const struct gpu_vendor AMD_VENDOR;
extern const struct gpu_vendor INTEL_VENDOR;
extern const struct gpu_vendor OTHER_DRM_VENDOR;

const struct gpu_vendor *const GPU_VENDORS[] = {
	&NVIDIA_VENDOR, &AMD_VENDOR, &INTEL_VENDOR, &OTHER_DRM_VENDOR, NULL,
};
