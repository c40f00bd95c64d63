/* Switches to a larger stack. See enough_stack.h. */
#include "base/enough_stack.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { STACK_BYTES = 512 << 10, GUARD_BYTES = 64 << 10 };

#if defined(__SANITIZE_ADDRESS__)
#define STACK_IS_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STACK_IS_WATCHED 1
#endif
#endif

#if defined(__x86_64__) && !defined(STACK_IS_WATCHED)
#define CAN_SWITCH 1
static int call_on(void *top, int (*run)(char **), char **argv)
{
	int result;

	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %[top], %%rsp\n\t"
			 "callq *%[run]\n\t"
			 "movq %%rbx, %%rsp"
			 : "=a"(result), "+D"(argv)
			 : [top] "r"(top), [run] "r"(run)
			 : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2",
			   "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
			   "xmm13", "xmm14", "xmm15", "cc", "memory");
	return result;
}
#elif defined(__aarch64__) && !defined(STACK_IS_WATCHED)
#define CAN_SWITCH 1
static int call_on(void *top, int (*run)(char **), char **argv)
{
	register uint64_t x0 __asm__("x0") = (uint64_t)(uintptr_t)argv;

	__asm__ volatile("mov x19, sp\n\t"
			 "mov sp, %[top]\n\t"
			 "blr %[run]\n\t"
			 "mov sp, x19"
			 : "+r"(x0)
			 : [top] "r"(top), [run] "r"(run)
			 : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
			   "x14", "x15", "x16", "x17", "x19", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6",
			   "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18",
			   "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",
			   "v31", "cc", "memory");
	return (int)x0;
}
#endif

int run_with_enough_stack(int (*run)(char **argv), char **argv)
{
#ifdef CAN_SWITCH
	struct rlimit limit;
	char *memory;

	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < STACK_BYTES) {
		memory = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
		if (memory != MAP_FAILED && mprotect(memory, GUARD_BYTES, PROT_NONE) == 0)
			return call_on(memory + STACK_BYTES, run, argv);
	}
#endif
	return run(argv);
}
