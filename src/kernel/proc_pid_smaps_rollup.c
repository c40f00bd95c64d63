/*
 * /proc/PID/smaps_rollup
 *
 *   55b5401e2000-7ffe6248e000 ---p 00000000 00:00 0                          [rollup]
 *   Rss:                1728 kB
 *   Pss:                 394 kB
 *   Pss_Anon:            112 kB
 */
#include "kernel/proc_pid_smaps_rollup.h"

#include <errno.h>

#include "base/cleanup.h"
#include "kernel/key_values.h"

static const struct key_field FIELDS[] = {
	KEY_FIELD("Rss", struct proc_pid_smaps_rollup, rss_kib),
	KEY_FIELD("Pss", struct proc_pid_smaps_rollup, pss_kib),
	KEY_FIELD("Pss_Anon", struct proc_pid_smaps_rollup, pss_anon_kib),
	KEY_FIELD("Pss_File", struct proc_pid_smaps_rollup, pss_file_kib),
	KEY_FIELD("Pss_Shmem", struct proc_pid_smaps_rollup, pss_shmem_kib),
	KEY_FIELD("Shared_Clean", struct proc_pid_smaps_rollup, shared_clean_kib),
	KEY_FIELD("Shared_Dirty", struct proc_pid_smaps_rollup, shared_dirty_kib),
	KEY_FIELD("Private_Clean", struct proc_pid_smaps_rollup, private_clean_kib),
	KEY_FIELD("Private_Dirty", struct proc_pid_smaps_rollup, private_dirty_kib),
	KEY_FIELD("Anonymous", struct proc_pid_smaps_rollup, anonymous_kib),
	KEY_FIELD("AnonHugePages", struct proc_pid_smaps_rollup, anon_huge_kib),
	KEY_FIELD("ShmemPmdMapped", struct proc_pid_smaps_rollup, shmem_huge_kib),
	KEY_FIELD("FilePmdMapped", struct proc_pid_smaps_rollup, file_huge_kib),
	KEY_FIELD("Shared_Hugetlb", struct proc_pid_smaps_rollup, shared_hugetlb_kib),
	KEY_FIELD("Private_Hugetlb", struct proc_pid_smaps_rollup, private_hugetlb_kib),
	KEY_FIELD("Swap", struct proc_pid_smaps_rollup, swap_kib),
	KEY_FIELD("SwapPss", struct proc_pid_smaps_rollup, swap_pss_kib),
};

int parse_proc_pid_smaps_rollup(const char *bytes, size_t length, struct proc_pid_smaps_rollup *ret_rollup)
{
	struct proc_pid_smaps_rollup rollup;

	clear_key_values(FIELDS, ARRAY_SIZE(FIELDS), &rollup);
	if (!sum_key_values(scan_bytes(bytes, length), ':', FIELDS, ARRAY_SIZE(FIELDS), &rollup))
		return -EBADMSG;
	limit_key_values(FIELDS, ARRAY_SIZE(FIELDS), &rollup, KIB_MOST);
	*ret_rollup = rollup;
	return 0;
}

int read_proc_pid_smaps_rollup(struct root *root, pid_t pid, struct proc_pid_smaps_rollup *ret_rollup)
{
	ssize_t length = root_read_pid(root, pid, "smaps_rollup");

	return length < 0 ? (int)length
			  : parse_proc_pid_smaps_rollup(root->text.data, (size_t)length, ret_rollup);
}
