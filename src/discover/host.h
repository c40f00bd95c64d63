/*
 * The facts of this machine: host_*.
 *
 *   host_id          the instance id that Amazon puts on the board (i-...), else /etc/machine-id. Other asset tags are
 *                    constants of a vendor or a platform.
 *   host_ip          first global address of the interface of the default route: not docker0, not link-local
 *   host_vcpus, host_cpu_model, host_memory_mib   /proc/cpuinfo, /proc/meminfo: the whole machine's, even if a
 *                    container may use only a part
 *   host_storage_gb  sum of the leaf physical disks, without volumes built on them
 *   host_gpu_*       from a recording, or from the recorder (host_gpus.h): only its helper talks to drivers
 */
#pragma once

#include <stdbool.h>

#include "kernel/root.h"
#include "metric/frame.h"
#include "discover/machine_facts.h"

/* Reads the facts of the machine below `root`. A fact that cannot be read stays unknown. */
void host_discover(struct root *root, struct facts *facts);

/* Takes the machine's facts from a run's first sample: for recordings of other machines, and for GPUs. */
void host_from_recording(const struct frame *first, struct facts *facts);

/* Whether a recording was made by this machine since it was last started. */
bool host_is_same_boot(struct root *root, const struct frame *first);
