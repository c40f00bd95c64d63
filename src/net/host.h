/*
 * The facts of this machine: host_*.
 *
 *   host_id          the instance id that Amazon puts on the board (i-...), else /etc/machine-id. Other asset tags are
 *                    constants of a vendor or a platform.
 *   host_ip          first global address of the interface that the default route takes: not docker0, not link-local
 *   host_vcpus, host_cpu_model, host_memory_mib   /proc/cpuinfo, /proc/meminfo: the whole machine's, even where a
 *                    container may use only a part
 *   host_storage_gb  sum of the leaf physical disks; a volume on a disk is left out
 *   host_gpu_*       from a recording, or by the recorder (host_gpus.h): drivers are asked by its helper, never here
 */
#pragma once

#include <stdbool.h>

#include "kernel/root.h"
#include "metric/frame.h"
#include "net/machine_facts.h"

/* Asks the machine below `root`. A fact that cannot be read stays unknown. */
void host_discover(struct root *root, struct facts *facts);

/*
 * Takes the machine's facts from a run's first sample, for recordings that come from elsewhere or have GPUs.
 */
void host_from_recording(const struct frame *first, struct facts *facts);

/* Whether a recording was made by this machine since it was last started. */
bool host_is_same_boot(struct root *root, const struct frame *first);
