/*
 * /proc/meminfo
 *
 *   MemTotal:       24684096 kB
 *   MemFree:        22973384 kB
 *   MemAvailable:   23330872 kB
 */
#include "kernel/proc_meminfo.h"

#include <errno.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/scan.h"

static const struct {
	const char *key;
	size_t offset;
} FIELDS[] = {
	{"MemTotal", offsetof(struct proc_meminfo, total_kib)},
	{"MemFree", offsetof(struct proc_meminfo, free_kib)},
	{"MemAvailable", offsetof(struct proc_meminfo, available_kib)},
	{"Buffers", offsetof(struct proc_meminfo, buffers_kib)},
	{"Cached", offsetof(struct proc_meminfo, cached_kib)},
	{"Active", offsetof(struct proc_meminfo, active_kib)},
	{"Inactive", offsetof(struct proc_meminfo, inactive_kib)},
	{"SwapTotal", offsetof(struct proc_meminfo, swap_total_kib)},
	{"SwapFree", offsetof(struct proc_meminfo, swap_free_kib)},
	{"Shmem", offsetof(struct proc_meminfo, shmem_kib)},
	{"SReclaimable", offsetof(struct proc_meminfo, slab_reclaimable_kib)},
};

int parse_proc_meminfo(const char *bytes, size_t length, struct proc_meminfo *ret_meminfo)
{
	struct scan text = scan_bytes(bytes, length), line, key;
	struct proc_meminfo meminfo;
	int known = 0;

	for (size_t i = 0; i < ARRAY_SIZE(FIELDS); i++)
		*(int64_t *)((char *)&meminfo + FIELDS[i].offset) = -1;
	while (scan_line(&text, &line)) {
		uint64_t value;

		if (!scan_until(&line, ':', &key) || !scan_u64(&line, &value) || value > INT64_MAX)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(FIELDS); i++) {
			if (!scan_is(&key, FIELDS[i].key))
				continue;
			*(int64_t *)((char *)&meminfo + FIELDS[i].offset) = (int64_t)value;
			known++;
			break;
		}
	}
	if (!known)
		return -EBADMSG;
	*ret_meminfo = meminfo;
	return 0;
}

int read_proc_meminfo(struct root *root, struct kept_file *file, struct proc_meminfo *ret_meminfo)
{
	ssize_t length = root_reread(root, file);

	return length < 0 ? (int)length : parse_proc_meminfo(root->text.data, (size_t)length, ret_meminfo);
}
