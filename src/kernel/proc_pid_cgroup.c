/*
 * /proc/PID/cgroup
 *
 *   9:name=systemd:/user.slice/user-1000.slice/session-3.scope
 *   4:cpu,cpuacct:/kubepods/burstable/pod8d1c.slice:cri-containerd:7f3a
 *   0::/user.slice/user-1000.slice/session-3.scope
 */
#include "kernel/proc_pid_cgroup.h"

struct scan parse_proc_pid_cgroup(const char *bytes, size_t length)
{
	return scan_bytes(bytes, length);
}

static bool cut_suffix(struct scan *text, const char *suffix)
{
	size_t length = strlen(suffix);

	if (scan_left(text) < length || memcmp(text->end - length, suffix, length) != 0)
		return false;
	text->end -= length;
	return true;
}

bool proc_pid_cgroup_next(struct scan *lines, struct cgroup_membership *ret_membership)
{
	struct scan line;

	while (scan_line(lines, &line)) {
		struct cgroup_membership membership;
		uint64_t hierarchy;

		if (!scan_u64(&line, &hierarchy) || hierarchy > INT32_MAX || !scan_literal(&line, ":") ||
		    !scan_until(&line, ':', &membership.controllers) || !scan_left(&line) || *line.at != '/')
			continue;
		membership.hierarchy = (int64_t)hierarchy;
		membership.path = membership.whole_path = line;
		membership.deleted = cut_suffix(&membership.path, " (deleted)");
		*ret_membership = membership;
		return true;
	}
	return false;
}

static bool lists_controller(struct scan controllers, const char *controller)
{
	struct scan one;

	while (scan_until(&controllers, ',', &one))
		if (scan_is(&one, controller))
			return true;
	return scan_is(&controllers, controller);
}

bool proc_pid_cgroup_find(struct scan lines, const char *controller, struct cgroup_membership *ret_membership)
{
	struct cgroup_membership membership;

	while (proc_pid_cgroup_next(&lines, &membership)) {
		if (controller ? !lists_controller(membership.controllers, controller)
			       : membership.hierarchy != 0 || scan_left(&membership.controllers) != 0)
			continue;
		*ret_membership = membership;
		return true;
	}
	return false;
}

int read_proc_pid_cgroup(struct root *root, pid_t pid, struct scan *ret_lines)
{
	ssize_t length = root_read_pid(root, pid, "cgroup");

	if (length < 0)
		return (int)length;
	*ret_lines = parse_proc_pid_cgroup(root->text.data, (size_t)length);
	return 0;
}
