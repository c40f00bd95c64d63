/* Reads the facts of this machine. See host.h. */
#include "discover/host.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "base/scan.h"
#include "kernel/proc_cpuinfo.h"
#include "kernel/proc_meminfo.h"
#include "kernel/proc_net_route.h"
#include "kernel/sys_block.h"
#include "kernel/sys_dmi.h"
#include "metric/typed_rows.h"

static void set_fact_text(struct facts *facts, enum fact_id id, const char *text)
{
	fact_set_text(facts, id, text, strlen(text));
}

/* "i-" and 8 or 17 hexadecimal digits. */
static bool is_instance_id(const char *tag)
{
	size_t digits;

	if (strncmp(tag, "i-", 2) != 0)
		return false;
	digits = strspn(tag + 2, "0123456789abcdef");
	return (digits == 8 || digits == 17) && !tag[2 + digits];
}

/* 32 hexadecimal digits, or "uninitialized" in images that were never started. */
static bool is_machine_id(const char *id)
{
	return strlen(id) == 32 && strspn(id, "0123456789abcdef") == 32;
}

static void find_id(struct root *root, struct facts *facts)
{
	char id[DMI_TEXT_SIZE];
	struct sys_dmi dmi;

	if (read_sys_dmi(root, &dmi) == 0 && is_instance_id(dmi.board_asset_tag))
		set_fact_text(facts, HOST_ID, dmi.board_asset_tag);
	else if (root_read_word(root, "etc/machine-id", id, sizeof(id)) == 0 && is_machine_id(id))
		set_fact_text(facts, HOST_ID, id);
}

static void find_hostname(struct root *root, struct facts *facts)
{
	char name[256];

	if (root->live && gethostname(name, sizeof(name)) == 0) {
		name[sizeof(name) - 1] = '\0';
		set_fact_text(facts, HOST_HOSTNAME, name);
	} else if (root_read_word(root, "proc/sys/kernel/hostname", name, sizeof(name)) == 0) {
		set_fact_text(facts, HOST_HOSTNAME, name);
	}
}

static void find_cpus(struct root *root, struct facts *facts)
{
	struct proc_cpuinfo cpuinfo;

	if (read_proc_cpuinfo(root, &cpuinfo) < 0)
		return;
	if (cpuinfo.cpu_count > 0)
		fact_set_count(facts, HOST_VCPUS, cpuinfo.cpu_count);
	set_fact_text(facts, HOST_CPU_MODEL, cpuinfo.model[0] ? cpuinfo.model : cpuinfo.hardware);
}

static void find_memory(struct root *root, struct facts *facts)
{
	struct kept_file file = KEPT_FILE("proc/meminfo");
	struct proc_meminfo meminfo;

	if (read_proc_meminfo(root, &file, &meminfo) == 0 && meminfo.total_kib > 0) {
		fact_set_count(facts, HOST_MEMORY_MIB, meminfo.total_kib / 1024);
		facts->items[HOST_MEMORY_MIB].real = (double)meminfo.total_kib / 1024;
	}
	kept_file_close(&file);
}

static void find_storage(struct root *root, struct facts *facts)
{
	CLEANUP_ROOT_DIR struct root_dir dir = ROOT_DIR;
	int64_t bytes = 0;
	const char *name;

	if (root_dir_open(root, "sys/class/block", &dir) < 0)
		return;
	while ((name = root_dir_next(&dir))) {
		struct sys_block block;
		char head[NAME_MAX];

		if (!sys_block_is_path(name, head, sizeof head) && read_sys_block(root, name, &block) == 0 &&
		    sys_block_is_leaf(&block) && block.kind != BLOCK_OPTICAL && block.size_bytes > 0)
			bytes += block.size_bytes;
	}
	if (bytes)
		fact_set_real(facts, HOST_STORAGE_GB, (double)bytes / 1e9);
}

/* ---- the address ------------------------------------------------------------------------------------ */

/* The interface of the default route with the lowest metric. */
static bool default_interface(struct root *root, int family, char ret_name[IF_NAMESIZE])
{
	struct default_route route;
	uint32_t lowest = UINT32_MAX;
	struct scan routes;
	bool found = false;
	int r = family == AF_INET ? read_proc_net_route(root, &routes)
				  : read_proc_net_ipv6_route(root, &routes);

	while (r == 0 && (family == AF_INET ? proc_net_route_next_default(&routes, &route)
					    : proc_net_ipv6_route_next_default(&routes, &route))) {
		if (found && route.metric >= lowest)
			continue;
		lowest = route.metric;
		scan_copy(&route.interface, ret_name, IF_NAMESIZE);
		found = true;
	}
	return found;
}

static bool is_global(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *inet = (const struct sockaddr_in *)(const void *)address;
		uint32_t ip = ntohl(inet->sin_addr.s_addr);

		return ip >> 24 != 127 && ip >> 16 != 0xa9fe && ip != 0;
	}
	if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *inet6 = (const struct sockaddr_in6 *)(const void *)address;

		return !IN6_IS_ADDR_LINKLOCAL(&inet6->sin6_addr) && !IN6_IS_ADDR_LOOPBACK(&inet6->sin6_addr);
	}
	return false;
}

static bool first_address(const char *interface, int family, char ret_text[INET6_ADDRSTRLEN])
{
	struct ifaddrs *addresses;
	bool found = false;

	if (getifaddrs(&addresses) < 0)
		return false;
	for (const struct ifaddrs *at = addresses; at && !found; at = at->ifa_next) {
		const void *bytes;

		if (!at->ifa_addr || at->ifa_addr->sa_family != family ||
		    strcmp(at->ifa_name, interface) != 0 || !is_global(at->ifa_addr))
			continue;
		bytes = family == AF_INET
				? (const void *)&((const struct sockaddr_in *)(const void *)at->ifa_addr)
					  ->sin_addr
				: (const void *)&((const struct sockaddr_in6 *)(const void *)at->ifa_addr)
					  ->sin6_addr;
		found = inet_ntop(family, bytes, ret_text, INET6_ADDRSTRLEN) != NULL;
	}
	freeifaddrs(addresses);
	return found;
}

static void find_address(struct root *root, struct facts *facts)
{
	static const int FAMILIES[] = {AF_INET, AF_INET6};

	/* Addresses are not in files, so a captured tree has none. */
	if (!root->live)
		return;
	for (size_t i = 0; i < sizeof(FAMILIES) / sizeof(FAMILIES[0]); i++) {
		char interface[IF_NAMESIZE], text[INET6_ADDRSTRLEN];

		if (!default_interface(root, FAMILIES[i], interface) ||
		    !first_address(interface, FAMILIES[i], text))
			continue;
		set_fact_text(facts, HOST_IP, text);
		return;
	}
}

void host_discover(struct root *root, struct facts *facts)
{
	find_id(root, facts);
	find_hostname(root, facts);
	find_address(root, facts);
	find_cpus(root, facts);
	find_memory(root, facts);
	find_storage(root, facts);
}

/* ---- from a recording ------------------------------------------------------------------------------- */

static void gpus_from_recording(const struct frame *first, struct facts *facts)
{
	const struct run_start_gpu_row *name = (const void *)first->first[ROW_run_start_gpu];
	int64_t count = 0, vram_bytes = 0;

	for (const struct row *row = first->first[ROW_run_start_gpu]; row; row = row->next)
		count++;
	for (const struct row *row = first->first[ROW_gpu]; row; row = row->next) {
		const struct gpu_row *gpu = (const struct gpu_row *)(const void *)row;

		vram_bytes += count_absent(gpu->vram_total_bytes) ? 0 : gpu->vram_total_bytes;
	}
	if (!count)
		return;
	if (!text_absent(name->name))
		set_fact_text(facts, HOST_GPU_MODEL, name->name);
	fact_set_count(facts, HOST_GPU_COUNT, count);
	if (vram_bytes)
		fact_set_count(facts, HOST_GPU_MEMORY_MIB, vram_bytes >> 20);
}

void host_from_recording(const struct frame *first, struct facts *facts)
{
	const struct run_start_row *start = (const void *)first->first[ROW_run_start];

	if (!text_absent(first->sample->host))
		set_fact_text(facts, HOST_HOSTNAME, first->sample->host);
	gpus_from_recording(first, facts);
	if (!start)
		return;
	if (!count_absent(start->cpu_count))
		fact_set_count(facts, HOST_VCPUS, start->cpu_count);
	if (!text_absent(start->cpu_model))
		set_fact_text(facts, HOST_CPU_MODEL, start->cpu_model);
	if (!real_absent(start->memory_total_mib))
		fact_set_count(facts, HOST_MEMORY_MIB, (int64_t)start->memory_total_mib);
}

bool host_is_same_boot(struct root *root, const struct frame *first)
{
	const struct run_start_row *start = (const void *)first->first[ROW_run_start];
	char boot_id[64];

	return start && !text_absent(start->boot_id) &&
	       root_read_word(root, "proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id)) == 0 &&
	       strcmp(boot_id, start->boot_id) == 0;
}
