/* Feeds any bytes as the files of a cgroup. */
#include "fuzz.h"

#include "base/cleanup.h"
#include "kernel/cgroup_v1.h"
#include "kernel/cgroup_v2.h"

static void fuzz_v2_cpu(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_cgroup_v2_cpu_stat, struct cgroup_v2_cpu_stat, stat)
	must_hold(stat.usage_usec >= -1 && stat.throttled_usec >= -1);
	FUZZ_PARSE(parse_cgroup_v2_cpu_max, struct cgroup_v2_cpu_max, max)
	must_hold(max.quota_usec >= 0 && max.period_usec > 0);
}

static void fuzz_v2_limit(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_cgroup_v2_limit, int64_t, limit)
	must_hold(limit >= 0);
}

static void fuzz_v2_memory(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_cgroup_v2_memory_stat, struct cgroup_v2_memory_stat, stat)
	must_hold(stat.anon_bytes >= -1 && stat.anon_refaults >= -1);
	FUZZ_PARSE(parse_cgroup_v2_memory_events, struct cgroup_v2_memory_events, events)
	must_hold(events.oom_kill >= -1);
}

static void fuzz_v2_io(const char *bytes, size_t length)
{
	struct scan devices = parse_cgroup_v2_io_stat(bytes, length);
	struct cgroup_v2_io io;

	while (cgroup_v2_io_stat_next(&devices, &io))
		must_hold(io.read_bytes >= -1 && io.writes >= -1);
}

static void fuzz_v1_blkio(const char *bytes, size_t length)
{
	struct scan lines = scan_bytes(bytes, length);
	struct cgroup_v1_blkio one;

	while (cgroup_v1_blkio_next(&lines, &one))
		must_hold(one.value >= 0);
}

static void fuzz_v1_cpu(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_cgroup_v1_cpu_stat, struct cgroup_v1_cpu_stat, stat)
	must_hold(stat.throttled_ns >= -1);
}

static void fuzz_v1_limit(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_cgroup_v1_limit, int64_t, limit)
	must_hold(limit >= 0);
}

static void fuzz_v1_memory(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_cgroup_v1_memory_stat, struct cgroup_v1_memory_stat, stat)
	must_hold(stat.limit_bytes >= -1 && stat.rss_bytes >= -1);
	FUZZ_PARSE(parse_cgroup_v1_oom_control, struct cgroup_v1_oom_control, control)
	must_hold(control.oom_kills >= -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static const fuzz_parser PARSERS[] = {
		fuzz_v2_cpu, fuzz_v2_limit, fuzz_v2_memory, fuzz_v2_io,
		fuzz_v1_cpu, fuzz_v1_limit, fuzz_v1_memory, fuzz_v1_blkio,
	};

	fuzz_one_of(PARSERS, ARRAY_SIZE(PARSERS), bytes, length);
	return 0;
}
