/*
 * Signs of a container. See in_container.h.
 *
 *   /proc/self/ns/pid -> pid:[4026531836]   the kernel's fixed number of the first PID namespace
 *   /.dockerenv, /run/.containerenv         Docker, Podman
 *   /run/systemd/container                  any that runs systemd: LXC, nspawn
 *   /proc/1/cgroup                          8:pids:/docker/7f3a...; "/" and "/init.scope" on a host
 *   /proc/self/mountinfo                    lxcfs lies over /proc/meminfo, or the root is an overlay
 */
#include "kernel/in_container.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/runs_once.h"
#include "kernel/proc_pid_cgroup.h"
#include "kernel/proc_pid_mountinfo.h"

static bool first_process_is_in_group(struct root *root)
{
	struct cgroup_membership membership;
	struct scan lines;

	if (read_proc_pid_cgroup(root, 1, &lines) < 0)
		return false;
	while (proc_pid_cgroup_next(&lines, &membership))
		if (!scan_is(&membership.path, "/") && !scan_is(&membership.path, "/init.scope"))
			return true;
	return false;
}

static bool is_mount_of_container(const struct mount *mount)
{
	return scan_is(&mount->point, "/proc/meminfo") ||
	       (scan_is(&mount->point, "/") && scan_is(&mount->type, "overlay"));
}

RUNS_ONCE bool root_is_in_container(struct root *root)
{
	static const char *const FILES[] = {".dockerenv", "run/.containerenv", "run/systemd/container"};
	char namespace[32];
	struct mount mount;

	if (root_link(root, "proc/self/ns/pid", namespace, sizeof namespace) > 0)
		return strcmp(namespace, "pid:[4026531836]") != 0;
	for (size_t i = 0; i < ARRAY_SIZE(FILES); i++)
		if (root_exists(root, FILES[i]))
			return true;
	return first_process_is_in_group(root) || find_own_mount(root, is_mount_of_container, &mount);
}
