/* Feeds any bytes as the files of a process. */
#include "fuzz.h"

#include "base/cleanup.h"
#include "kernel/pid_list.h"
#include "kernel/proc_net_sockstat.h"
#include "kernel/proc_events.h"
#include "kernel/proc_pid_cgroup.h"
#include "kernel/proc_pid_children.h"
#include "kernel/proc_pid_fdinfo.h"
#include "kernel/proc_pid_io.h"
#include "kernel/proc_pid_maps.h"
#include "kernel/proc_pid_mountinfo.h"
#include "kernel/proc_pid_schedstat.h"
#include "kernel/proc_pid_smaps_rollup.h"
#include "kernel/proc_pid_stat.h"
#include "kernel/proc_pid_statm.h"
#include "kernel/proc_pid_status.h"
#include "kernel/proc_pid_syscall.h"
#include "kernel/proc_sysvipc_shm.h"
#include "kernel/taskstats.h"
#include "job/programs/program_name.h"

static void fuzz_stat(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_proc_pid_stat, struct proc_pid_stat, stat)
	{
		must_hold(stat.pid >= 0 && stat.parent_pid >= -1 && stat.resident_pages >= -1);
		must_hold(strlen(stat.comm) < sizeof stat.comm);
	}
}

static void fuzz_statm(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_proc_pid_statm, struct proc_pid_statm, statm)
	must_hold(statm.virtual_pages >= 0 && statm.shared_pages >= -1);
}

static void fuzz_io(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_proc_pid_io, struct proc_pid_io, io)
	must_hold(io.read_chars >= -1 && io.cancelled_write_bytes >= -1);
}

static void fuzz_smaps_rollup(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_proc_pid_smaps_rollup, struct proc_pid_smaps_rollup, rollup)
	must_hold(rollup.rss_kib >= -1 && rollup.swap_pss_kib >= -1);
}

static void fuzz_status(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_proc_pid_status, struct proc_pid_status, status)
	{
		must_hold(status.namespace_pid_count >= 0 &&
			  status.namespace_pid_count <= NAMESPACE_PIDS_MAX);
		must_hold(status.effective_uid >= -1 && status.allowed_cpu_count >= -1);
	}
}

static void fuzz_sockstat(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_proc_net_sockstat, struct proc_net_sockstat, sockstat)
	must_hold(sockstat.tcp_orphans >= -1 && sockstat.sockets >= -1 && sockstat.tcp_allocated >= -1);
}

static void fuzz_children(const char *bytes, size_t length)
{
	struct scan children = parse_proc_pid_children(bytes, length);
	size_t left = scan_left(&children);
	pid_t pid;

	while (scan_pid(&children, &pid)) {
		must_hold(pid >= 0 && scan_left(&children) < left);
		left = scan_left(&children);
	}
	must_hold(scan_left(&children) == 0);
}

static void fuzz_cgroup(const char *bytes, size_t length)
{
	struct scan lines = parse_proc_pid_cgroup(bytes, length);
	struct cgroup_membership membership;

	(void)proc_pid_cgroup_find(lines, "memory", &membership);
	(void)proc_pid_cgroup_find(lines, NULL, &membership);
	while (proc_pid_cgroup_next(&lines, &membership)) {
		must_lie_in(&membership.controllers, bytes, length);
		must_lie_in(&membership.path, bytes, length);
		must_hold(membership.hierarchy >= 0);
	}
}

static void fuzz_mountinfo(const char *bytes, size_t length)
{
	struct scan mounts = parse_proc_pid_mountinfo(bytes, length);
	struct mount mount;
	char text[32];

	while (proc_pid_mountinfo_next(&mounts, &mount)) {
		must_lie_in(&mount.root, bytes, length);
		must_lie_in(&mount.point, bytes, length);
		must_lie_in(&mount.type, bytes, length);
		must_lie_in(&mount.source, bytes, length);
		must_lie_in(&mount.options, bytes, length);
		must_hold(mount_text(&mount.point, text, sizeof text) <= scan_left(&mount.point));
		must_hold(memchr(text, '\0', sizeof text) != NULL);
		(void)mount_has_option(&mount, "memory");
	}
}

static void fuzz_fdinfo(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_proc_pid_fdinfo, struct proc_pid_fdinfo, fdinfo)
	{
		must_hold(fdinfo.engine_count <= DRM_ENGINES_MAX && fdinfo.region_count <= DRM_REGIONS_MAX);
		for (int i = 0; i < fdinfo.engine_count; i++)
			must_hold(*fdinfo.engines[i].name && fdinfo.engines[i].busy_ns >= -1);
		for (int i = 0; i < fdinfo.region_count; i++)
			must_hold(*fdinfo.regions[i].name && fdinfo.regions[i].resident_bytes >= -1);
	}
}

static void fuzz_maps(const char *bytes, size_t length)
{
	struct scan areas = parse_proc_pid_maps(bytes, length);
	struct memory_area area;

	while (proc_pid_maps_next(&areas, &area)) {
		must_hold(area.start < area.end);
		must_lie_in(&area.name, bytes, length);
	}
}

static void fuzz_sysvipc_shm(const char *bytes, size_t length)
{
	struct shm_segment segment;

	if (parse_proc_sysvipc_shm(bytes, length, 3, &segment))
		must_hold(segment.id == 3 && segment.size_bytes >= -1 && segment.swapped_bytes >= -1);
}

static void fuzz_schedstat(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_proc_pid_schedstat, struct proc_pid_schedstat, schedstat)
	must_hold(schedstat.run_ns >= 0 && schedstat.wait_ns >= 0 && schedstat.turns >= 0);
}

static void fuzz_syscall(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_proc_pid_syscall, struct proc_pid_syscall, call)
	must_hold(call.number >= -1);
}

static void fuzz_events(const char *bytes, size_t length)
{
	struct scan messages = scan_bytes(bytes, length);
	struct proc_event event;

	while (proc_events_next(&messages, &event))
		must_hold((event.pid > 0 || event.kind == PROC_EVENT_ACK) && event.parent_pid >= 0);
}

static void fuzz_taskstats(const char *bytes, size_t length)
{
	struct scan messages = scan_bytes(bytes, length);
	struct taskstats record;

	(void)parse_taskstats_family(messages);
	while (taskstats_next(&messages, 31, &record)) {
		must_hold(record.tid > 0 && record.pid >= 0 && record.cpu_ns >= 0);
		must_hold(strlen(record.comm) < sizeof record.comm);
	}
}

static void fuzz_program_name(const char *bytes, size_t length)
{
	char name[PROGRAM_NAME_BYTES];

	program_name(bytes, length, "x", name);
	must_hold(*name && memchr(name, '\0', sizeof name));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static const fuzz_parser PARSERS[] = {
		fuzz_stat,        fuzz_statm,     fuzz_io,        fuzz_smaps_rollup, fuzz_status,
		fuzz_children,    fuzz_cgroup,    fuzz_mountinfo, fuzz_fdinfo,       fuzz_maps,
		fuzz_sysvipc_shm, fuzz_schedstat, fuzz_events,    fuzz_taskstats,    fuzz_program_name,
		fuzz_sockstat,    fuzz_syscall,
	};

	fuzz_one_of(PARSERS, ARRAY_SIZE(PARSERS), bytes, length);
	return 0;
}
