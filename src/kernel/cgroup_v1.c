/*
 * cpuacct.stat      cpu.stat                     memory.oom_control     memory.stat
 *   user 612          nr_periods 120               oom_kill_disable 0     cache 98304
 *   system 361        nr_throttled 7               under_oom 0            ...
 *                     throttled_time 113402117     oom_kill 1             hierarchical_memory_limit 536870912
 *                                                                         total_cache 98304
 * memory.limit_in_bytes: 9223372036854771712 without a limit
 */
#include "kernel/cgroup_v1.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/scan.h"
#include "kernel/key_values.h"

/*
 * Without a limit the kernel shows the largest number it can count in pages; 64 KiB is the largest page.
 * Between Linux 3.13 and 3.19 it was the largest unsigned number instead.
 */
#define FIRST_NO_LIMIT ((uint64_t)INT64_MAX - 65535)

static const struct key_field CPU_STAT[] = {
	KEY_FIELD("nr_periods", struct cgroup_v1_cpu_stat, period_count),
	KEY_FIELD("nr_throttled", struct cgroup_v1_cpu_stat, throttled_count),
	KEY_FIELD("throttled_time", struct cgroup_v1_cpu_stat, throttled_ns),
};

static const struct key_field MEMORY_STAT[] = {
	KEY_FIELD("hierarchical_memory_limit", struct cgroup_v1_memory_stat, limit_bytes),
	KEY_FIELD("total_cache", struct cgroup_v1_memory_stat, cache_bytes),
	KEY_FIELD("total_rss", struct cgroup_v1_memory_stat, rss_bytes),
	KEY_FIELD("total_shmem", struct cgroup_v1_memory_stat, shmem_bytes),
	KEY_FIELD("total_workingset_refault_anon", struct cgroup_v1_memory_stat, anon_refaults),
	KEY_FIELD("total_workingset_refault_file", struct cgroup_v1_memory_stat, file_refaults),
};

static const struct key_field OOM_CONTROL[] = {
	KEY_FIELD("oom_kill_disable", struct cgroup_v1_oom_control, kill_disabled),
	KEY_FIELD("under_oom", struct cgroup_v1_oom_control, under_oom),
	KEY_FIELD("oom_kill", struct cgroup_v1_oom_control, oom_kills),
};

static bool scan_v1_limit(struct scan *text, int64_t *ret_limit)
{
	uint64_t value;
	int64_t negative;

	if (scan_u64(text, &value)) {
		*ret_limit = value >= FIRST_NO_LIMIT ? CGROUP_NO_LIMIT : (int64_t)value;
		return true;
	}
	if (!scan_i64(text, &negative))
		return false;
	*ret_limit = CGROUP_NO_LIMIT;
	return true;
}

int parse_cgroup_v1_limit(const char *bytes, size_t length, int64_t *ret_limit)
{
	struct scan text = scan_bytes(bytes, length);

	return scan_v1_limit(&text, ret_limit) ? 0 : -EBADMSG;
}

int read_cgroup_v1_limit(struct root *root, int dir_fd, const char *file, int64_t *ret_limit)
{
	ssize_t length = root_read_at(root, dir_fd, file);

	return length < 0 ? (int)length : parse_cgroup_v1_limit(root->text.data, (size_t)length, ret_limit);
}

int read_cgroup_v1_cpuacct_usage(struct root *root, int dir_fd, int64_t *ret_usage_ns)
{
	return root_read_i64_at(root, dir_fd, "cpuacct.usage", ret_usage_ns);
}

int parse_cgroup_v1_cpu_stat(const char *bytes, size_t length, struct cgroup_v1_cpu_stat *ret_stat)
{
	struct cgroup_v1_cpu_stat stat;

	clear_key_values(CPU_STAT, ARRAY_SIZE(CPU_STAT), &stat);
	if (!scan_key_values(scan_bytes(bytes, length), ' ', CPU_STAT, ARRAY_SIZE(CPU_STAT), &stat))
		return -EBADMSG;
	*ret_stat = stat;
	return 0;
}

int read_cgroup_v1_cpu_stat(struct root *root, int dir_fd, struct cgroup_v1_cpu_stat *ret_stat)
{
	ssize_t length = root_read_at(root, dir_fd, "cpu.stat");

	return length < 0 ? (int)length : parse_cgroup_v1_cpu_stat(root->text.data, (size_t)length, ret_stat);
}

int parse_cgroup_v1_memory_stat(const char *bytes, size_t length, struct cgroup_v1_memory_stat *ret_stat)
{
	struct cgroup_v1_memory_stat stat;

	clear_key_values(MEMORY_STAT, ARRAY_SIZE(MEMORY_STAT), &stat);
	if (!scan_key_values(scan_bytes(bytes, length), ' ', MEMORY_STAT, ARRAY_SIZE(MEMORY_STAT), &stat))
		return -EBADMSG;
	if (stat.limit_bytes >= (int64_t)FIRST_NO_LIMIT)
		stat.limit_bytes = CGROUP_NO_LIMIT;
	*ret_stat = stat;
	return 0;
}

int read_cgroup_v1_memory_stat(struct root *root, int dir_fd, struct cgroup_v1_memory_stat *ret_stat)
{
	ssize_t length = root_read_at(root, dir_fd, "memory.stat");

	return length < 0 ? (int)length
			  : parse_cgroup_v1_memory_stat(root->text.data, (size_t)length, ret_stat);
}

int parse_cgroup_v1_oom_control(const char *bytes, size_t length, struct cgroup_v1_oom_control *ret_control)
{
	struct cgroup_v1_oom_control control;

	clear_key_values(OOM_CONTROL, ARRAY_SIZE(OOM_CONTROL), &control);
	if (!scan_key_values(scan_bytes(bytes, length), ' ', OOM_CONTROL, ARRAY_SIZE(OOM_CONTROL), &control))
		return -EBADMSG;
	*ret_control = control;
	return 0;
}

int read_cgroup_v1_oom_control(struct root *root, int dir_fd, struct cgroup_v1_oom_control *ret_control)
{
	ssize_t length = root_read_at(root, dir_fd, "memory.oom_control");

	return length < 0 ? (int)length
			  : parse_cgroup_v1_oom_control(root->text.data, (size_t)length, ret_control);
}

int read_cgroup_v1_blkio(struct root *root, int dir_fd, const char *file, struct scan *ret_lines)
{
	ssize_t length = root_read_at(root, dir_fd, file);

	if (length < 0)
		return (int)length;
	*ret_lines = scan_bytes(root->text.data, (size_t)length);
	return 0;
}

bool cgroup_v1_blkio_next(struct scan *lines, struct cgroup_v1_blkio *ret_blkio)
{
	struct scan line, operation;
	uint64_t major, minor, value;

	while (scan_line(lines, &line)) {
		if (!scan_u64(&line, &major) || !scan_literal(&line, ":") || !scan_u64(&line, &minor) ||
		    !scan_word(&line, &operation) ||
		    (!scan_is(&operation, "Read") && !scan_is(&operation, "Write")))
			continue;
		scan_blanks(&line);
		if (!scan_u64(&line, &value) || value > INT64_MAX || major > UINT32_MAX || minor > UINT32_MAX)
			continue;
		*ret_blkio = (struct cgroup_v1_blkio){(uint32_t)major, (uint32_t)minor,
						      scan_is(&operation, "Write"), (int64_t)value};
		return true;
	}
	return false;
}
