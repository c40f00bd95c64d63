/*
 * The part of libcuda.so.1 that tests/gpu/cuda_load needs, without a device: kernels sleep, and allocations
 * go into the script of the fake NVML (NVML_FAKE_SCRIPT), busy for half of the requested time.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { CONTEXT_MIB = 400, INVALID_VALUE = 1, DUTY_PCT = 50 };

/* In one step, because half a script would lack the device. */
static void replace_script(const char *text)
{
	const char *path = getenv("NVML_FAKE_SCRIPT");
	char beside[4096];
	FILE *file;

	if (!path)
		return;
	snprintf(beside, sizeof beside, "%s.new", path);
	file = fopen(beside, "we");
	if (!file)
		return;
	fputs(text, file);
	if (fclose(file) == 0)
		(void)rename(beside, path);
}

static void tell(size_t mib)
{
	char text[256];

	snprintf(text, sizeof text,
		 "gpus 1\nutilization 0 %d 10\nmemory 0 81920 600 %zu\nprocess 0 %d c %zu %d\n", DUTY_PCT,
		 mib, (int)getpid(), mib, DUTY_PCT);
	replace_script(text);
}

static void forget(void)
{
	replace_script("gpus 1\nmemory 0 81920 600 0\n");
}

EXPORT int cuInit(unsigned flags)
{
	return flags ? INVALID_VALUE : 0;
}

EXPORT int cuGetErrorName(int error, const char **name)
{
	*name = error ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_SUCCESS";
	return 0;
}

EXPORT int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return ordinal ? INVALID_VALUE : 0;
}

EXPORT int cuDeviceGetName(char *name, int size, int device)
{
	snprintf(name, (size_t)size, "Fake CUDA device %d", device);
	return 0;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
	*context = (void *)(uintptr_t)(device + 1);
	atexit(forget);
	tell(CONTEXT_MIB);
	return 0;
}

EXPORT int cuCtxSetCurrent(void *context)
{
	return context ? 0 : INVALID_VALUE;
}

EXPORT int cuCtxSynchronize(void)
{
	return 0;
}

EXPORT int cuMemAlloc_v2(unsigned long long *pointer, size_t bytes)
{
	*pointer = 0x1000;
	tell(CONTEXT_MIB + (bytes >> 20));
	return 0;
}

EXPORT int cuMemsetD8_v2(unsigned long long pointer, unsigned char value, size_t bytes)
{
	(void)value;
	return pointer && bytes ? 0 : INVALID_VALUE;
}

EXPORT int cuMemFree_v2(unsigned long long pointer)
{
	return pointer ? 0 : INVALID_VALUE;
}

/* Like a driver that no longer supports old devices: it refuses the first dialect. */
EXPORT int cuModuleLoadData(void **module, const void *image)
{
	*module = (void *)(uintptr_t)1;
	return strstr(image, ".target sm_50") ? INVALID_VALUE : 0;
}

EXPORT int cuModuleGetFunction(void **function, void *module, const char *name)
{
	*function = module;
	return strcmp(name, "spin") == 0 ? 0 : INVALID_VALUE;
}

EXPORT int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
			  unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
			  void **parameters, void **extra)
{
	const uint64_t *ns = parameters[0];
	const struct timespec time = {(time_t)(*ns / 1000000000), (long)(*ns % 1000000000)};

	if (!function || grid_x * grid_y * grid_z * block_x * block_y * block_z != 1 || shared_bytes ||
	    stream || extra)
		return INVALID_VALUE;
	nanosleep(&time, NULL);
	return 0;
}
