/* /proc/cpuinfo: the number and model of the online CPUs. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/root.h"

/* Texts are "" if the architecture lacks them. */
struct proc_cpuinfo {
	int64_t cpu_count;  /* logical CPUs, -1 if absent */
	char model[128];    /* "AMD EPYC", "ARM Neoverse-N1", "4 ARM Cortex-A55 + 2 ARM Cortex-A78" */
	char hardware[128]; /* some ARM boards: "Raspberry Pi 4 Model B Rev 1.4" */
};

/* Returns 0, or -EBADMSG if no line is known (ret_cpuinfo is then untouched). */
int parse_proc_cpuinfo(const char *bytes, size_t length, struct proc_cpuinfo *ret_cpuinfo);
int read_proc_cpuinfo(struct root *root, struct proc_cpuinfo *ret_cpuinfo);
