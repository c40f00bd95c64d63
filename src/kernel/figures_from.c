/*
 * Signs of figures that are not a kernel's own. See figures_from.h.
 *
 *   /proc/version            Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016   gVisor says the same everywhere
 *                            Linux version 4.4.0-19041-Microsoft                       WSL 1; WSL 2 says microsoft-standard
 *   /proc/self/mountinfo     ... /proc/meminfo rw,nosuid - fuse.lxcfs lxcfs ...
 *   /proc/stat               cpu  0 0 0 0 0 0 0 0 0 0
 */
#include "kernel/figures_from.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/runs_once.h"
#include "kernel/proc_pid_mountinfo.h"
#include "kernel/proc_stat.h"

static void add_maker_word(char *text, size_t size, const char *word)
{
	size_t length = strlen(text);

	snprintf(text + length, size - length, "%s%s", length ? "+" : "", word);
}

/* A file system of a program that lies over files of /proc. */
static bool is_overlay_of_proc(const struct mount *mount)
{
	struct scan point = mount->point, type = mount->type;

	return scan_literal(&point, "/proc/") && scan_literal(&type, "fuse");
}

static bool counts_time(struct root *root)
{
	struct kept_file file = KEPT_FILE("proc/stat");
	struct proc_stat stat;
	int r = read_proc_stat(root, &file, &stat);
	/* A process that may open no more files knows nothing about this one. */
	bool counts = r == -EMFILE || r == -ENFILE ||
		      (r == 0 && (stat.total.idle > 0 || stat.total.user > 0 || stat.total.system > 0));

	kept_file_close(&file);
	return counts;
}

RUNS_ONCE void read_figures_from(struct root *root, char *ret_text, size_t size)
{
	char version[256] = "", name[32];
	struct mount mount;

	*ret_text = '\0';
	(void)root_read_word(root, "proc/version", version, sizeof version);
	if (strstr(version, "gvisor") || strstr(version, "Sun Jan 10 15:06:54 PST 2016"))
		add_maker_word(ret_text, size, "gvisor");
	if (strstr(version, "-Microsoft"))
		add_maker_word(ret_text, size, "wsl1");
	if (find_own_mount(root, is_overlay_of_proc, &mount)) {
		scan_copy(&mount.source, name, sizeof name);
		add_maker_word(ret_text, size, name);
	}
	if (!root_exists(root, "sys/class") && !root_exists(root, "sys/devices") &&
	    !root_exists(root, "sys/fs"))
		add_maker_word(ret_text, size, "no-sys");
	if (!counts_time(root))
		add_maker_word(ret_text, size, "no-proc-stat");
	if (!*ret_text)
		add_maker_word(ret_text, size, "kernel");
}
