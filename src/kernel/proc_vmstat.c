/*
 * /proc/vmstat
 *
 *   nr_free_pages 5743346
 *   pgalloc_dma32 81922
 *   pgalloc_normal 92134409
 *   oom_kill 3
 */
#include "kernel/proc_vmstat.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "kernel/key_values.h"

static const struct key_field FIELDS[] = {
	KEY_FIELD("oom_kill", struct proc_vmstat, oom_kills),
};

int parse_proc_vmstat(const char *bytes, size_t length, struct proc_vmstat *ret_vmstat)
{
	struct proc_vmstat vmstat;

	clear_key_values(FIELDS, ARRAY_SIZE(FIELDS), &vmstat);
	if (!scan_key_values(scan_bytes(bytes, length), ' ', FIELDS, ARRAY_SIZE(FIELDS), &vmstat))
		return -EBADMSG;
	*ret_vmstat = vmstat;
	return 0;
}

int64_t proc_vmstat_allocated_pages(const struct root *root)
{
	struct scan text = scan_bytes(root->text.data, root->text.length), zone;
	int64_t sum = 0;
	uint64_t pages;

	while ((text.at = strstr(text.at, "\npgalloc_"))) {
		(void)scan_until(&text, ' ', &zone);
		if (!scan_u64(&text, &pages))
			break;
		sum += (int64_t)pages;
	}
	return sum;
}

int read_proc_vmstat(struct root *root, struct kept_file *file, struct proc_vmstat *ret_vmstat)
{
	/* The kernel sums up all CPUs for each piece that it returns: 22 us. Both counts are in the first one. */
	ssize_t length = root_reread_beginning(root, file);

	if (length >= 0 && parse_proc_vmstat(root->text.data, (size_t)length, ret_vmstat) == 0)
		return 0;
	length = root_reread(root, file);
	return length < 0 ? (int)length : parse_proc_vmstat(root->text.data, (size_t)length, ret_vmstat);
}
