/* The list of collectors, in the order of running. See collector.h. */
#include "collect/collector.h"

extern const struct collector CGROUP_USAGE_COLLECTOR;
extern const struct collector CLOUD_COLLECTOR;
extern const struct collector CPU_ENERGY_COLLECTOR;
extern const struct collector GPU_USAGE_COLLECTOR;
extern const struct collector HOST_CPU_COLLECTOR;
extern const struct collector HOST_DISK_COLLECTOR;
extern const struct collector HOST_MEMORY_COLLECTOR;
extern const struct collector HOST_NETWORK_COLLECTOR;
extern const struct collector JOB_DISK_COLLECTOR;
extern const struct collector JOB_NETWORK_COLLECTOR;
extern const struct collector JOB_WAITING_COLLECTOR;
extern const struct collector NUMA_COLLECTOR;
extern const struct collector PROCESS_USAGE_COLLECTOR;
extern const struct collector PROGRAM_USAGE_COLLECTOR;
extern const struct collector RUN_COLLECTOR;
extern const struct collector EARLY_SIGNAL_COLLECTOR;
extern const struct collector SELF_USAGE_COLLECTOR;

const struct collector *const COLLECTORS[] = {
	&PROCESS_USAGE_COLLECTOR, /* first: its clocks must be read close to the frame's */
	&CGROUP_USAGE_COLLECTOR,  /* adds to the tree's row */
	&JOB_NETWORK_COLLECTOR,   /* adds to the tree's row, too */
	&HOST_CPU_COLLECTOR,
	&CPU_ENERGY_COLLECTOR, /* divides by the CPU time of the two rows above */
	&HOST_MEMORY_COLLECTOR,
	&HOST_DISK_COLLECTOR,
	&NUMA_COLLECTOR,
	&JOB_DISK_COLLECTOR, /* in the folders that CGROUP_USAGE has found */
	&HOST_NETWORK_COLLECTOR,
	&GPU_USAGE_COLLECTOR,
	&CLOUD_COLLECTOR,
	&RUN_COLLECTOR,
	&PROGRAM_USAGE_COLLECTOR, /* needs the rows of the tree, the GPUs and the end of the run */
	&JOB_WAITING_COLLECTOR,   /* the same */
	&EARLY_SIGNAL_COLLECTOR,  /* needs the rows of the memory */
	&SELF_USAGE_COLLECTOR,    /* last: it measures the others */
	NULL,
};
