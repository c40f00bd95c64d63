/*
 * /proc/meminfo
 *
 *   MemTotal:       24684096 kB
 *   MemFree:        22973384 kB
 *   MemAvailable:   23330872 kB
 */
#include "kernel/proc_meminfo.h"

#include <errno.h>

#include "base/cleanup.h"
#include "kernel/key_values.h"

static const struct key_field FIELDS[] = {
	KEY_FIELD("MemTotal", struct proc_meminfo, total_kib),
	KEY_FIELD("MemFree", struct proc_meminfo, free_kib),
	KEY_FIELD("MemAvailable", struct proc_meminfo, available_kib),
	KEY_FIELD("Buffers", struct proc_meminfo, buffers_kib),
	KEY_FIELD("Cached", struct proc_meminfo, cached_kib),
	KEY_FIELD("Active", struct proc_meminfo, active_kib),
	KEY_FIELD("Inactive", struct proc_meminfo, inactive_kib),
	KEY_FIELD("Active(anon)", struct proc_meminfo, active_anon_kib),
	KEY_FIELD("Inactive(anon)", struct proc_meminfo, inactive_anon_kib),
	KEY_FIELD("SwapTotal", struct proc_meminfo, swap_total_kib),
	KEY_FIELD("SwapFree", struct proc_meminfo, swap_free_kib),
	KEY_FIELD("AnonPages", struct proc_meminfo, anon_pages_kib),
	KEY_FIELD("Mapped", struct proc_meminfo, mapped_kib),
	KEY_FIELD("Shmem", struct proc_meminfo, shmem_kib),
	KEY_FIELD("SReclaimable", struct proc_meminfo, slab_reclaimable_kib),
	KEY_FIELD("ShmemHugePages", struct proc_meminfo, shmem_huge_kib),
	KEY_FIELD("HugePages_Total", struct proc_meminfo, huge_pages_total),
	KEY_FIELD("HugePages_Free", struct proc_meminfo, huge_pages_free),
	KEY_FIELD("Hugepagesize", struct proc_meminfo, huge_page_kib),
	KEY_FIELD("Hugetlb", struct proc_meminfo, hugetlb_kib),
};

int parse_proc_meminfo(const char *bytes, size_t length, struct proc_meminfo *ret_meminfo)
{
	struct proc_meminfo meminfo;

	clear_key_values(FIELDS, ARRAY_SIZE(FIELDS), &meminfo);
	if (!scan_key_values(scan_bytes(bytes, length), ':', FIELDS, ARRAY_SIZE(FIELDS), &meminfo))
		return -EBADMSG;
	/* lxcfs writes limits that are not set as sizes near 2^53 or 2^64 KiB. */
	limit_key_values(FIELDS, ARRAY_SIZE(FIELDS), &meminfo, KIB_MOST);
	*ret_meminfo = meminfo;
	return 0;
}

int read_proc_meminfo(struct root *root, struct kept_file *file, struct proc_meminfo *ret_meminfo)
{
	ssize_t length = root_reread(root, file);

	return length < 0 ? (int)length : parse_proc_meminfo(root->text.data, (size_t)length, ret_meminfo);
}
