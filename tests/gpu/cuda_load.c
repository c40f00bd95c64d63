/*
 * A known load on a CUDA device: cuda_load MIB DUTY_PCT SECS [DEVICE]
 *
 * For a quarter of SECS it only holds a context, then it holds MIB more of device memory and keeps the device working for
 * DUTY_PCT of each tenth of a second. It prints each step with its time, a line for each: "NAME CLOCK_REALTIME_SECS".
 *
 * The driver's library (CUDA_LIBRARY, or libcuda.so.1) is all that is needed: no toolkit, no headers of NVIDIA's. The
 * kernel is PTX, which the driver compiles. https://docs.nvidia.com/cuda/cuda-driver-api
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PERIOD_NS INT64_C(100000000)
#define NSEC_PER_SEC INT64_C(1000000000)

enum { FAILED = 1, USAGE = 2, NO_CUDA = 77 };

/* Works until the device's own clock says that the time is over. */
#define SPIN \
	".address_size 64\n" \
	".visible .entry spin(.param .u64 nanoseconds)\n" \
	"{\n" \
	".reg .u64 %limit, %start, %now;\n" \
	".reg .pred %more;\n" \
	"ld.param.u64 %limit, [nanoseconds];\n" \
	"mov.u64 %start, %globaltimer;\n" \
	"again:\n" \
	"mov.u64 %now, %globaltimer;\n" \
	"sub.u64 %now, %now, %start;\n" \
	"setp.lt.u64 %more, %now, %limit;\n" \
	"@%more bra again;\n" \
	"ret;\n" \
	"}\n"

/* Newer devices may need a newer dialect. */
static const char *const KERNELS[] = {
	".version 6.0\n.target sm_50\n" SPIN,
	".version 6.3\n.target sm_75\n" SPIN,
	".version 7.8\n.target sm_90\n" SPIN,
	".version 8.6\n.target sm_100\n" SPIN,
};

typedef unsigned long long cuda_pointer;

static struct {
	int (*init)(unsigned flags);
	int (*error_name)(int error, const char **ret_name);
	int (*device_get)(int *ret_device, int ordinal);
	int (*device_name)(char *ret_name, int size, int device);
	int (*context_retain)(void **ret_context, int device);
	int (*context_set)(void *context);
	int (*synchronize)(void);
	int (*memory_alloc)(cuda_pointer *ret_pointer, size_t bytes);
	int (*memory_set)(cuda_pointer pointer, unsigned char value, size_t bytes);
	int (*memory_free)(cuda_pointer pointer);
	int (*module_load)(void **ret_module, const void *image);
	int (*module_function)(void **ret_function, void *module, const char *name);
	int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
		      unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
		      void **parameters, void **extra);
} cuda;

static const struct {
	void *function;
	const char *name;
} FUNCTIONS[] = {
	{&cuda.init, "cuInit"},
	{&cuda.error_name, "cuGetErrorName"},
	{&cuda.device_get, "cuDeviceGet"},
	{&cuda.device_name, "cuDeviceGetName"},
	{&cuda.context_retain, "cuDevicePrimaryCtxRetain"},
	{&cuda.context_set, "cuCtxSetCurrent"},
	{&cuda.synchronize, "cuCtxSynchronize"},
	{&cuda.memory_alloc, "cuMemAlloc_v2"},
	{&cuda.memory_set, "cuMemsetD8_v2"},
	{&cuda.memory_free, "cuMemFree_v2"},
	{&cuda.module_load, "cuModuleLoadData"},
	{&cuda.module_function, "cuModuleGetFunction"},
	{&cuda.launch, "cuLaunchKernel"},
};

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static void sleep_until(int64_t at_ns)
{
	const struct timespec at = {at_ns / NSEC_PER_SEC, at_ns % NSEC_PER_SEC};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void say(const char *step)
{
	printf("%s %.3f\n", step, (double)clock_ns(CLOCK_REALTIME) / (double)NSEC_PER_SEC);
	fflush(stdout);
}

static void check(int error, const char *what)
{
	const char *name = NULL;

	if (!error)
		return;
	if (cuda.error_name)
		cuda.error_name(error, &name);
	fprintf(stderr, "cuda_load: %s: %s (%d)\n", what, name ? name : "failed", error);
	exit(FAILED);
}

static void load_library(void)
{
	const char *given = getenv("CUDA_LIBRARY");
	void *library = dlopen(given && *given ? given : "libcuda.so.1", RTLD_NOW);

	if (!library) {
		fprintf(stderr, "cuda_load: %s\n", dlerror());
		exit(NO_CUDA);
	}
	for (size_t i = 0; i < sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]); i++) {
		void *function = dlsym(library, FUNCTIONS[i].name);

		if (!function) {
			fprintf(stderr, "cuda_load: the library has no %s\n", FUNCTIONS[i].name);
			exit(NO_CUDA);
		}
		memcpy(FUNCTIONS[i].function, &function, sizeof function);
	}
}

static void *load_kernel(void)
{
	void *module = NULL, *function = NULL;
	int error = FAILED;

	for (size_t i = 0; i < sizeof(KERNELS) / sizeof(KERNELS[0]) && error; i++)
		error = cuda.module_load(&module, KERNELS[i]);
	check(error, "cuModuleLoadData");
	check(cuda.module_function(&function, module, "spin"), "cuModuleGetFunction");
	return function;
}

static void work(void *kernel, int64_t until_ns, int duty_pct)
{
	uint64_t busy_ns = (uint64_t)(PERIOD_NS / 100 * duty_pct);
	void *parameters[] = {&busy_ns};

	for (int64_t next_ns = clock_ns(CLOCK_MONOTONIC); next_ns < until_ns; next_ns += PERIOD_NS) {
		sleep_until(next_ns);
		if (!duty_pct)
			continue;
		check(cuda.launch(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL), "cuLaunchKernel");
		check(cuda.synchronize(), "cuCtxSynchronize");
	}
}

static bool parse(const char *text, int most, int *ret_number)
{
	int number = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || number > most)
			return false;
		number = number * 10 + (*text - '0');
	}
	*ret_number = number;
	return number <= most;
}

int main(int argc, char **argv)
{
	int mib, duty_pct, secs, ordinal = 0, device = 0;
	char name[128] = "";
	void *context = NULL, *kernel;
	cuda_pointer memory = 0;
	int64_t began_ns;

	if (argc < 4 || argc > 5 || !parse(argv[1], 1 << 20, &mib) || !parse(argv[2], 100, &duty_pct) ||
	    !parse(argv[3], 3600, &secs) || (argc == 5 && !parse(argv[4], 128, &ordinal))) {
		fprintf(stderr, "usage: cuda_load MIB DUTY_PCT SECS [DEVICE]\n");
		return USAGE;
	}
	load_library();
	check(cuda.init(0), "cuInit");
	check(cuda.device_get(&device, ordinal), "cuDeviceGet");
	check(cuda.device_name(name, sizeof name, device), "cuDeviceGetName");
	fprintf(stderr, "cuda_load: %s\n", name);
	check(cuda.context_retain(&context, device), "cuDevicePrimaryCtxRetain");
	check(cuda.context_set(context), "cuCtxSetCurrent");
	kernel = load_kernel();
	/* The memory of the first launch belongs to the context. */
	work(kernel, clock_ns(CLOCK_MONOTONIC) + 1, 1);
	say("context");
	began_ns = clock_ns(CLOCK_MONOTONIC);
	sleep_until(began_ns + secs * NSEC_PER_SEC / 4);
	check(cuda.memory_alloc(&memory, (size_t)mib << 20), "cuMemAlloc");
	check(cuda.memory_set(memory, 1, (size_t)mib << 20), "cuMemsetD8");
	check(cuda.synchronize(), "cuCtxSynchronize");
	say("allocated");
	work(kernel, began_ns + secs * NSEC_PER_SEC, duty_pct);
	say("done");
	check(cuda.memory_free(memory), "cuMemFree");
	return 0;
}
