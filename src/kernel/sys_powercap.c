/* /sys/class/powercap. See sys_powercap.h. */
#include "kernel/sys_powercap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/scan.h"

#define FOLDER "sys/class/powercap"

enum { PATH_SIZE = 128 };

/* "intel-rapl:0" is a zone of its own, "intel-rapl:0:2" a part of it. Returns the number of colons, 0 for neither. */
static int depth_of(const char *folder)
{
	struct scan text = scan_bytes(folder, strlen(folder));
	uint64_t number;
	int depth = 0;

	if (!scan_literal(&text, "intel-rapl"))
		return 0;
	while (scan_literal(&text, ":") && scan_u64(&text, &number))
		depth++;
	return scan_left(&text) ? 0 : depth;
}

static int read_name(struct root *root, const char *folder, char *ret_name)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof path, FOLDER "/%s/name", folder);
	return root_read_word(root, path, ret_name, POWER_ZONE_NAME_SIZE);
}

/* Returns false for folders that are not zones, and for zones that another one includes. */
static bool name_zone(struct root *root, struct power_zone *zone)
{
	char name[POWER_ZONE_NAME_SIZE], parent[POWER_ZONE_NAME_SIZE];
	int depth = depth_of(zone->folder);

	if (!depth || depth > 2 || read_name(root, zone->folder, name) < 0)
		return false;
	if (depth == 1) {
		memcpy(zone->name, name, sizeof name);
		return true;
	}
	if (strcmp(name, "dram") != 0)
		return false;
	memcpy(parent, zone->folder, sizeof parent);
	*strrchr(parent, ':') = '\0';
	if (read_name(root, parent, name) < 0)
		return false;
	return snprintf(zone->name, sizeof zone->name, "%.40s/dram", name) > 0;
}

static int zone_by_name(const void *a, const void *b)
{
	return strcmp(((const struct power_zone *)a)->name, ((const struct power_zone *)b)->name);
}

int read_sys_powercap(struct root *root, struct power_zone *ret_zones, int most)
{
	CLEANUP_ROOT_DIR struct root_dir folders = ROOT_DIR;
	int error = root_dir_open(root, FOLDER, &folders), count = 0;
	const char *folder;

	if (error < 0)
		return error;
	while ((folder = root_dir_next(&folders))) {
		struct power_zone zone = {.range_uj = -1};
		char path[PATH_SIZE];

		if (strlen(folder) >= sizeof zone.folder)
			continue;
		memcpy(zone.folder, folder, strlen(folder) + 1);
		if (!name_zone(root, &zone))
			continue;
		snprintf(path, sizeof path, FOLDER "/%s/max_energy_range_uj", zone.folder);
		if (root_read_i64(root, path, &zone.range_uj) < 0 || zone.range_uj <= 0)
			zone.range_uj = -1;
		if (count < most)
			ret_zones[count] = zone;
		count++;
	}
	qsort(ret_zones, (size_t)(count < most ? count : most), sizeof *ret_zones, zone_by_name);
	return count;
}

int open_power_counter(struct root *root, const struct power_zone *zone)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof path, FOLDER "/%s/energy_uj", zone->folder);
	return root_open_file(root, path, 0);
}

int read_power_counter(struct root *root, int fd, int64_t *ret_uj)
{
	ssize_t length = root_pread(root, fd);
	struct scan text;
	uint64_t value;

	if (length < 0)
		return (int)length;
	text = scan_bytes(root->text.data, (size_t)length);
	if (!scan_u64(&text, &value) || value > INT64_MAX)
		return -EBADMSG;
	*ret_uj = (int64_t)value;
	return 0;
}
