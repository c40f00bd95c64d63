/* Any bytes as /proc/meminfo. */
#include <stdint.h>

#include "kernel/proc_meminfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct proc_meminfo meminfo;

	(void)parse_proc_meminfo((const char *)bytes, length, &meminfo);
	return 0;
}
