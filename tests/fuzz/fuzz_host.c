/* Feeds any bytes as the files of a host. */
#include "fuzz.h"

#include "base/cleanup.h"
#include "kernel/cpu_list.h"
#include "kernel/dev_kmsg.h"
#include "kernel/os_release.h"
#include "kernel/proc_cpuinfo.h"
#include "kernel/proc_diskstats.h"
#include "kernel/proc_loadavg.h"
#include "kernel/proc_meminfo.h"
#include "kernel/proc_net_dev.h"
#include "kernel/proc_net_route.h"
#include "kernel/proc_pressure.h"
#include "kernel/proc_stat.h"
#include "kernel/proc_vmstat.h"
#include "kernel/sock_diag.h"
#include "kernel/spl_zfs.h"
#include "kernel/sys_block.h"
#include "kernel/sys_class_net.h"

static void fuzz_stat(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_proc_stat, struct proc_stat, stat)
	{
		struct cpu_ticks ticks;
		int id;

		must_lie_in(&stat.cpus, bytes, length);
		must_hold(stat.total.user >= -1 && stat.forks >= -1);
		while (proc_stat_next_cpu(&stat.cpus, &id, &ticks))
			must_hold(id >= 0 && ticks.user >= -1 && ticks.guest_nice >= -1);
	}
}

static void fuzz_kmsg(const char *bytes, size_t length)
{
	pid_t pid = 0;

	must_hold(!parse_dev_kmsg_kill(bytes, length, &pid) || pid > 0);
}

static void fuzz_meminfo(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_proc_meminfo, struct proc_meminfo, meminfo)
	must_hold(meminfo.total_kib >= -1 && meminfo.slab_reclaimable_kib >= -1);
}

static void fuzz_loadavg(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_proc_loadavg, struct proc_loadavg, loadavg)
	must_hold(loadavg.load_1m == loadavg.load_1m && loadavg.thread_count >= -1);
}

static void fuzz_diskstats(const char *bytes, size_t length)
{
	struct scan disks = parse_proc_diskstats(bytes, length);
	struct diskstats_device disk;
	struct diskstats stats;

	while (proc_diskstats_next(&disks, &disk)) {
		must_lie_in(&disk.name, bytes, length);
		must_lie_in(&disk.counters, bytes, length);
		must_hold(scan_left(&disk.name));
		if (parse_diskstats(&disk.counters, &stats) == 0)
			must_hold(stats.read_bytes >= -1 && stats.discard_bytes >= -1);
	}
}

static void fuzz_net_dev(const char *bytes, size_t length)
{
	struct scan interfaces = parse_proc_net_dev(bytes, length);
	struct net_dev interface;

	while (proc_net_dev_next(&interfaces, &interface)) {
		must_lie_in(&interface.name, bytes, length);
		must_hold(scan_left(&interface.name) && interface.transmit_drops >= -1);
	}
}

static void fuzz_routes(const char *bytes, size_t length)
{
	struct scan routes = parse_proc_net_route(bytes, length);
	struct default_route route;

	while (proc_net_route_next_default(&routes, &route))
		must_lie_in(&route.interface, bytes, length);
	routes = parse_proc_net_ipv6_route(bytes, length);
	while (proc_net_ipv6_route_next_default(&routes, &route))
		must_lie_in(&route.interface, bytes, length);
}

static void fuzz_cpuinfo(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_proc_cpuinfo, struct proc_cpuinfo, cpuinfo)
	must_hold(cpuinfo.cpu_count >= -1 && strlen(cpuinfo.model) < sizeof cpuinfo.model);
}

static void fuzz_os_release(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_os_release, struct os_release, release)
	must_hold(strlen(release.pretty_name) < sizeof release.pretty_name);
}

static void fuzz_zfs(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_spl_zfs_arcstats, struct spl_zfs_arcstats, arcstats)
	must_hold(arcstats.size_bytes >= -1);
}

static void fuzz_pressure(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_proc_pressure, struct proc_pressure, pressure)
	must_hold(pressure.some_usec >= -1 && pressure.full_usec >= -1);
}

static void fuzz_cpu_list(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_cpu_list, int64_t, count)
	must_hold(count >= 0 && count <= INT32_MAX);
}

static void fuzz_vmstat(const char *bytes, size_t length)
{
	FUZZ_PARSE(parse_proc_vmstat, struct proc_vmstat, vmstat)
	must_hold(vmstat.oom_kills >= 0);
}

static void fuzz_small(const char *bytes, size_t length)
{
	char text[16] = "before";

	if (parse_vpd_serial(bytes, length, text, sizeof text) < 0)
		must_hold(strcmp(text, "before") == 0);
	must_hold(memchr(text, '\0', sizeof text) != NULL);
	(void)parse_uevent_devtype(bytes, length, text, sizeof text);
	must_hold(memchr(text, '\0', sizeof text) != NULL);
}

static void fuzz_sock_diag(const char *bytes, size_t length)
{
	struct scan datagram = scan_bytes(bytes, length);
	uint8_t request[DIAG_REQUEST_BYTES];
	struct diag_message message;

	while (sock_diag_next(&datagram, &message)) {
		must_lie_in(&datagram, bytes, length);
		must_hold(message.error <= 0 && message.error >= -4095);
		if (!message.is_socket)
			continue;
		must_hold(message.socket.received >= -1 && message.socket.sent >= -1 &&
			  message.socket.retransmits >= -1);
		must_hold(sock_diag_single_request(&message.socket, request) <= sizeof request);
		(void)diag_is_from(&message.socket, &message.socket);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static const fuzz_parser PARSERS[] = {
		fuzz_stat,     fuzz_meminfo, fuzz_loadavg,    fuzz_diskstats, fuzz_net_dev,
		fuzz_routes,   fuzz_cpuinfo, fuzz_os_release, fuzz_zfs,       fuzz_pressure,
		fuzz_cpu_list, fuzz_small,   fuzz_vmstat,     fuzz_kmsg,      fuzz_sock_diag,
	};

	fuzz_one_of(PARSERS, ARRAY_SIZE(PARSERS), bytes, length);
	return 0;
}
