/*
 * /proc/PID/fdinfo/FD
 *
 *   pos:    0
 *   flags:  02100002
 *   drm-driver:     amdgpu
 *   drm-client-id:  17
 *   drm-pdev:       0000:03:00.0
 *   drm-memory-vram:        141300 KiB
 *   drm-engine-gfx: 91827364 ns
 *   drm-engine-capacity-video:      2
 *   drm-cycles-rcs: 28257900
 *   drm-total-cycles-rcs:   7655183225
 */
#include "kernel/proc_pid_fdinfo.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/scan.h"

/*
 * A key is a prefix followed by the name of an engine or region. If one prefix begins with another, the longer
 * one comes first.
 */
struct drm_key {
	const char *prefix;
	size_t offset;
};

static const struct drm_key ENGINE_KEYS[] = {
	{"drm-engine-capacity-", offsetof(struct drm_engine, capacity)},
	{"drm-engine-", offsetof(struct drm_engine, busy_ns)},
	{"drm-cycles-", offsetof(struct drm_engine, cycles)},
	{"drm-total-cycles-", offsetof(struct drm_engine, total_cycles)},
};

static const struct drm_key REGION_KEYS[] = {
	{"drm-total-", offsetof(struct drm_region, total_bytes)},
	{"drm-shared-", offsetof(struct drm_region, shared_bytes)},
	{"drm-resident-", offsetof(struct drm_region, resident_bytes)},
	{"drm-purgeable-", offsetof(struct drm_region, purgeable_bytes)},
	{"drm-active-", offsetof(struct drm_region, active_bytes)},
};

static bool scan_fdinfo_number(struct scan value, int64_t *ret_number)
{
	uint64_t number;

	if (!scan_u64(&value, &number) || number > INT64_MAX)
		return false;
	*ret_number = (int64_t)number;
	return true;
}

static bool scan_memory(struct scan value, int64_t *ret_bytes)
{
	struct scan unit;
	uint64_t number, scale = 1;

	if (!scan_u64(&value, &number))
		return false;
	if (scan_word(&value, &unit)) {
		if (scan_is(&unit, "KiB"))
			scale = 1 << 10;
		else if (scan_is(&unit, "MiB"))
			scale = 1 << 20;
		else
			return false;
	}
	if (number > INT64_MAX / scale)
		return false;
	*ret_bytes = (int64_t)(number * scale);
	return true;
}

static bool is_engine_name(const struct scan *name)
{
	return scan_left(name) > 0 && scan_left(name) < DRM_NAME_SIZE &&
	       !memchr(name->at, '\0', scan_left(name));
}

static struct drm_engine *find_engine(struct proc_pid_fdinfo *fdinfo, const struct scan *name)
{
	struct drm_engine *engine;

	for (int i = 0; i < fdinfo->engine_count; i++)
		if (scan_is(name, fdinfo->engines[i].name))
			return &fdinfo->engines[i];
	if (fdinfo->engine_count == DRM_ENGINES_MAX || !is_engine_name(name))
		return NULL;
	engine = &fdinfo->engines[fdinfo->engine_count++];
	*engine = (struct drm_engine){.busy_ns = -1, .capacity = 1, .cycles = -1, .total_cycles = -1};
	scan_copy(name, engine->name, sizeof engine->name);
	return engine;
}

static struct drm_region *find_region(struct proc_pid_fdinfo *fdinfo, const struct scan *name)
{
	struct drm_region *region;

	for (int i = 0; i < fdinfo->region_count; i++)
		if (scan_is(name, fdinfo->regions[i].name))
			return &fdinfo->regions[i];
	if (fdinfo->region_count == DRM_REGIONS_MAX || !is_engine_name(name))
		return NULL;
	region = &fdinfo->regions[fdinfo->region_count++];
	*region = (struct drm_region){
		.total_bytes = -1,
		.shared_bytes = -1,
		.resident_bytes = -1,
		.purgeable_bytes = -1,
		.active_bytes = -1,
	};
	scan_copy(name, region->name, sizeof region->name);
	return region;
}

/* Both return whether they handle the key. */
static bool take_engine_line(struct scan key, struct scan value, struct proc_pid_fdinfo *fdinfo)
{
	for (size_t i = 0; i < ARRAY_SIZE(ENGINE_KEYS); i++) {
		struct drm_engine *engine;
		int64_t number;

		if (!scan_literal(&key, ENGINE_KEYS[i].prefix))
			continue;
		if (scan_fdinfo_number(value, &number) && (engine = find_engine(fdinfo, &key)))
			*(int64_t *)((char *)engine + ENGINE_KEYS[i].offset) = number;
		return true;
	}
	return false;
}

static bool take_region_line(struct scan key, struct scan value, struct proc_pid_fdinfo *fdinfo)
{
	struct drm_region *region;
	int64_t bytes;

	for (size_t i = 0; i < ARRAY_SIZE(REGION_KEYS); i++) {
		if (!scan_literal(&key, REGION_KEYS[i].prefix))
			continue;
		if (scan_memory(value, &bytes) && (region = find_region(fdinfo, &key)))
			*(int64_t *)((char *)region + REGION_KEYS[i].offset) = bytes;
		return true;
	}
	if (!scan_literal(&key, "drm-memory-"))
		return false;
	if (scan_memory(value, &bytes) && (region = find_region(fdinfo, &key)) && region->resident_bytes < 0)
		region->resident_bytes = bytes;
	return true;
}

static bool find_driver(struct scan text, struct scan *ret_driver)
{
	struct scan line;

	while (scan_line(&text, &line)) {
		if (!scan_literal(&line, "drm-driver:"))
			continue;
		*ret_driver = scan_trim(line);
		return true;
	}
	return false;
}

int parse_proc_pid_fdinfo(const char *bytes, size_t length, struct proc_pid_fdinfo *ret_fdinfo)
{
	struct scan text = scan_bytes(bytes, length), line, key, driver;

	/* Most descriptors do not belong to a GPU: decide that before anything is filled. */
	if (!find_driver(text, &driver))
		return -EBADMSG;
	scan_copy(&driver, ret_fdinfo->driver, sizeof ret_fdinfo->driver);
	ret_fdinfo->device[0] = '\0';
	ret_fdinfo->client_id = -1;
	ret_fdinfo->engine_count = ret_fdinfo->region_count = 0;
	while (scan_line(&text, &line)) {
		struct scan value;

		if (!scan_until(&line, ':', &key))
			continue;
		value = scan_trim(line);
		if (scan_is(&key, "drm-pdev"))
			scan_copy(&value, ret_fdinfo->device, sizeof ret_fdinfo->device);
		else if (scan_is(&key, "drm-client-id"))
			(void)scan_fdinfo_number(value, &ret_fdinfo->client_id);
		else if (!take_engine_line(key, value, ret_fdinfo))
			(void)take_region_line(key, value, ret_fdinfo);
	}
	return 0;
}

int read_proc_pid_fdinfo(struct root *root, pid_t pid, int fd, struct proc_pid_fdinfo *ret_fdinfo)
{
	char name[32];
	ssize_t length;

	snprintf(name, sizeof name, "fdinfo/%d", fd);
	length = root_read_pid(root, pid, name);
	return length < 0 ? (int)length : parse_proc_pid_fdinfo(root->text.data, (size_t)length, ret_fdinfo);
}
