/*
 * /sys/class/powercap: counters of the energy that parts of the machine use (Intel and AMD processors: RAPL).
 *
 * Zones are the CPU sockets (package-0) and parts of them: core and uncore, which the package includes, and dram, which it
 * does not. psys is the whole platform, packages included. Since Linux 5.10 only root may read the counters.
 */
#pragma once

#include <stdint.h>

#include "kernel/root.h"

enum { POWER_ZONE_NAME_SIZE = 48, POWER_ZONES_MOST = 32 };

struct power_zone {
	char folder[POWER_ZONE_NAME_SIZE]; /* "intel-rapl:0:2" */
	char name[POWER_ZONE_NAME_SIZE];   /* "package-0", "package-0/dram", "psys" */
	int64_t range_uj;                  /* the counter begins again after this value, -1 if unknown */
};

/*
 * Lists sockets, their memory, and the platform. The same zones of the second interface to them (intel-rapl-mmio) are left
 * out. Returns how many there are (the first `most` are in ret_zones), or a negative errno.
 */
int read_sys_powercap(struct root *root, struct power_zone *ret_zones, int most);

/* Opens the counter of a zone for root_pread(). Returns a descriptor, or -EACCES, ... */
int open_power_counter(struct root *root, const struct power_zone *zone);
/* Microjoules since some time, modulo the zone's range. */
int read_power_counter(struct root *root, int fd, int64_t *ret_uj);
