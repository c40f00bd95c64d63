/*
 * cpu.stat                      cpu.max: max 100000          memory.events
 *   usage_usec 9731840          cpu.max: 150000 100000         low 0
 *   user_usec 6121012                                          high 0
 *   system_usec 3610828         memory.stat                    max 112
 *   nr_periods 120                anon 1052672                 oom 1
 *   nr_throttled 7                file 98304                   oom_kill 1
 *   throttled_usec 113402         kernel 262144                oom_group_kill 0
 *
 * io.stat: 8:0 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0
 */
#include "kernel/cgroup_v2.h"

#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "base/min_max.h"
#include "kernel/key_values.h"

static const struct key_field CPU_STAT[] = {
	KEY_FIELD("usage_usec", struct cgroup_v2_cpu_stat, usage_usec),
	KEY_FIELD("user_usec", struct cgroup_v2_cpu_stat, user_usec),
	KEY_FIELD("system_usec", struct cgroup_v2_cpu_stat, system_usec),
	KEY_FIELD("nr_periods", struct cgroup_v2_cpu_stat, period_count),
	KEY_FIELD("nr_throttled", struct cgroup_v2_cpu_stat, throttled_count),
	KEY_FIELD("throttled_usec", struct cgroup_v2_cpu_stat, throttled_usec),
};

static const struct key_field MEMORY_STAT[] = {
	KEY_FIELD("anon", struct cgroup_v2_memory_stat, anon_bytes),
	KEY_FIELD("file", struct cgroup_v2_memory_stat, file_bytes),
	KEY_FIELD("kernel", struct cgroup_v2_memory_stat, kernel_bytes),
	KEY_FIELD("kernel_stack", struct cgroup_v2_memory_stat, kernel_stack_bytes),
	KEY_FIELD("pagetables", struct cgroup_v2_memory_stat, pagetables_bytes),
	KEY_FIELD("percpu", struct cgroup_v2_memory_stat, percpu_bytes),
	KEY_FIELD("sock", struct cgroup_v2_memory_stat, sock_bytes),
	KEY_FIELD("shmem", struct cgroup_v2_memory_stat, shmem_bytes),
	KEY_FIELD("slab", struct cgroup_v2_memory_stat, slab_bytes),
	KEY_FIELD("workingset_refault_anon", struct cgroup_v2_memory_stat, anon_refaults),
	KEY_FIELD("workingset_refault_file", struct cgroup_v2_memory_stat, file_refaults),
	/* Linux before 5.9 counts refaults of files alone, under this name. */
	KEY_FIELD("workingset_refault", struct cgroup_v2_memory_stat, file_refaults),
};

static const struct key_field MEMORY_EVENTS[] = {
	KEY_FIELD("low", struct cgroup_v2_memory_events, low),
	KEY_FIELD("high", struct cgroup_v2_memory_events, high),
	KEY_FIELD("max", struct cgroup_v2_memory_events, max),
	KEY_FIELD("oom", struct cgroup_v2_memory_events, oom),
	KEY_FIELD("oom_kill", struct cgroup_v2_memory_events, oom_kill),
	KEY_FIELD("oom_group_kill", struct cgroup_v2_memory_events, oom_group_kill),
};

/* 35 years of CPU time: nanoseconds fit into a count, too. */
#define USEC_MOST (INT64_C(1) << 50)

int parse_cgroup_v2_cpu_stat(const char *bytes, size_t length, struct cgroup_v2_cpu_stat *ret_stat)
{
	struct cgroup_v2_cpu_stat stat;

	clear_key_values(CPU_STAT, ARRAY_SIZE(CPU_STAT), &stat);
	if (!scan_key_values(scan_bytes(bytes, length), ' ', CPU_STAT, ARRAY_SIZE(CPU_STAT), &stat))
		return -EBADMSG;
	limit_key_values(CPU_STAT, ARRAY_SIZE(CPU_STAT), &stat, USEC_MOST);
	*ret_stat = stat;
	return 0;
}

int read_cgroup_v2_cpu_stat(struct root *root, int dir_fd, struct cgroup_v2_cpu_stat *ret_stat)
{
	ssize_t length = root_read_at(root, dir_fd, "cpu.stat");

	return length < 0 ? (int)length : parse_cgroup_v2_cpu_stat(root->text.data, (size_t)length, ret_stat);
}

int reread_cgroup_v2_cpu_stat(struct root *root, int dir_fd, int *fd, struct cgroup_v2_cpu_stat *ret_stat)
{
	ssize_t length;

	if (dir_fd < 0)
		return -ENOENT;
	if (*fd < 0)
		*fd = openat(dir_fd, "cpu.stat", O_RDONLY | O_CLOEXEC);
	length = *fd < 0 ? -errno : root_pread(root, *fd);
	return length < 0 ? (int)length : parse_cgroup_v2_cpu_stat(root->text.data, (size_t)length, ret_stat);
}

static bool scan_v2_limit(struct scan *text, int64_t *ret_limit)
{
	struct scan word;
	uint64_t value;

	if (!scan_word(text, &word))
		return false;
	if (scan_is(&word, "max")) {
		*ret_limit = CGROUP_NO_LIMIT;
		return true;
	}
	if (!scan_u64(&word, &value) || scan_left(&word) || value > INT64_MAX)
		return false;
	*ret_limit = (int64_t)value;
	return true;
}

int parse_cgroup_v2_cpu_max(const char *bytes, size_t length, struct cgroup_v2_cpu_max *ret_max)
{
	struct scan text = scan_bytes(bytes, length);
	struct cgroup_v2_cpu_max max;
	uint64_t period;

	/* The kernel refuses a quota of 0. */
	if (!scan_v2_limit(&text, &max.quota_usec) || !max.quota_usec || !scan_u64(&text, &period) ||
	    !period || period > INT64_MAX)
		return -EBADMSG;
	max.period_usec = (int64_t)period;
	*ret_max = max;
	return 0;
}

int read_cgroup_v2_cpu_max(struct root *root, int dir_fd, struct cgroup_v2_cpu_max *ret_max)
{
	ssize_t length = root_read_at(root, dir_fd, "cpu.max");

	return length < 0 ? (int)length : parse_cgroup_v2_cpu_max(root->text.data, (size_t)length, ret_max);
}

int parse_cgroup_v2_limit(const char *bytes, size_t length, int64_t *ret_limit)
{
	struct scan text = scan_bytes(bytes, length);

	return scan_v2_limit(&text, ret_limit) ? 0 : -EBADMSG;
}

int read_cgroup_v2_limit(struct root *root, int dir_fd, const char *file, int64_t *ret_limit)
{
	ssize_t length = root_read_at(root, dir_fd, file);

	return length < 0 ? (int)length : parse_cgroup_v2_limit(root->text.data, (size_t)length, ret_limit);
}

int parse_cgroup_v2_memory_stat(const char *bytes, size_t length, struct cgroup_v2_memory_stat *ret_stat)
{
	struct cgroup_v2_memory_stat stat;

	clear_key_values(MEMORY_STAT, ARRAY_SIZE(MEMORY_STAT), &stat);
	if (!scan_key_values(scan_bytes(bytes, length), ' ', MEMORY_STAT, ARRAY_SIZE(MEMORY_STAT), &stat))
		return -EBADMSG;
	*ret_stat = stat;
	return 0;
}

int read_cgroup_v2_memory_stat(struct root *root, int dir_fd, struct cgroup_v2_memory_stat *ret_stat)
{
	ssize_t length = root_read_at(root, dir_fd, "memory.stat");

	return length < 0 ? (int)length
			  : parse_cgroup_v2_memory_stat(root->text.data, (size_t)length, ret_stat);
}

int parse_cgroup_v2_memory_events(const char *bytes, size_t length,
				  struct cgroup_v2_memory_events *ret_events)
{
	struct cgroup_v2_memory_events events;

	clear_key_values(MEMORY_EVENTS, ARRAY_SIZE(MEMORY_EVENTS), &events);
	if (!scan_key_values(scan_bytes(bytes, length), ' ', MEMORY_EVENTS, ARRAY_SIZE(MEMORY_EVENTS),
			     &events))
		return -EBADMSG;
	*ret_events = events;
	return 0;
}

int read_cgroup_v2_memory_events(struct root *root, int dir_fd, const char *file,
				 struct cgroup_v2_memory_events *ret_events)
{
	ssize_t length = root_read_at(root, dir_fd, file);

	return length < 0 ? (int)length
			  : parse_cgroup_v2_memory_events(root->text.data, (size_t)length, ret_events);
}

struct scan parse_cgroup_v2_io_stat(const char *bytes, size_t length)
{
	return scan_bytes(bytes, length);
}

static bool scan_io_device(struct scan word, struct cgroup_v2_io *io)
{
	uint64_t major, minor;

	if (!scan_u64(&word, &major) || !scan_literal(&word, ":") || !scan_u64(&word, &minor) ||
	    scan_left(&word) || major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	io->major = (uint32_t)major;
	io->minor = (uint32_t)minor;
	return true;
}

static void take_io_pair(struct scan pair, struct cgroup_v2_io *io)
{
	struct scan key;
	uint64_t value;

	if (!scan_until(&pair, '=', &key) || !scan_u64(&pair, &value) || scan_left(&pair) ||
	    value > INT64_MAX)
		return;
	if (scan_is(&key, "rbytes"))
		io->read_bytes = (int64_t)value;
	else if (scan_is(&key, "wbytes"))
		io->write_bytes = (int64_t)value;
	else if (scan_is(&key, "rios"))
		io->reads = (int64_t)value;
	else if (scan_is(&key, "wios"))
		io->writes = (int64_t)value;
}

bool cgroup_v2_io_stat_next(struct scan *devices, struct cgroup_v2_io *ret_io)
{
	struct scan line, word;

	while (scan_line(devices, &line)) {
		struct cgroup_v2_io io = {.read_bytes = -1, .write_bytes = -1, .reads = -1, .writes = -1};

		if (!scan_word(&line, &word) || !scan_io_device(word, &io))
			continue;
		/* Some 5.x kernels forget the newline after a device without I/O: "8:16 8:0 rbytes=...". */
		while (scan_word(&line, &word))
			if (!scan_io_device(word, &io))
				take_io_pair(word, &io);
		*ret_io = io;
		return true;
	}
	return false;
}

static int read_group_text(struct root *root, int dir_fd, const char *file, struct scan *ret_text)
{
	ssize_t length = root_read_at(root, dir_fd, file);

	if (length < 0)
		return (int)length;
	*ret_text = scan_bytes(root->text.data, (size_t)length);
	return 0;
}

int read_cgroup_v2_io_stat(struct root *root, int dir_fd, struct scan *ret_devices)
{
	return read_group_text(root, dir_fd, "io.stat", ret_devices);
}

int read_cgroup_procs(struct root *root, int dir_fd, struct scan *ret_pids)
{
	return read_group_text(root, dir_fd, "cgroup.procs", ret_pids);
}

int64_t cgroup_v2_kernel_bytes(const struct cgroup_v2_memory_stat *stat)
{
	const int64_t parts[] = {stat->kernel_stack_bytes, stat->pagetables_bytes, stat->percpu_bytes,
				 stat->sock_bytes, stat->slab_bytes};
	int64_t sum = 0;

	if (stat->kernel_bytes >= 0)
		return stat->kernel_bytes;
	if (stat->kernel_stack_bytes < 0 || stat->slab_bytes < 0)
		return -1;
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (__builtin_add_overflow(sum, max_i64(0, parts[i]), &sum))
			return -1;
	return sum;
}
