/*
 * /proc/PID/mountinfo
 *
 *   36 35 98:0 /mnt1 /mnt\0402 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue
 *
 * Columns are separated by single blanks, and a source may be empty ("- tmpfs  rw"): two blanks in a row.
 */
#include "kernel/proc_pid_mountinfo.h"

#include <string.h>

struct scan parse_proc_pid_mountinfo(const char *bytes, size_t length)
{
	return scan_bytes(bytes, length);
}

/* The text up to the next blank, possibly empty. The last column of a line has no blank after it. */
static bool scan_column(struct scan *line, struct scan *ret_column)
{
	if (!scan_left(line))
		return false;
	if (!scan_until(line, ' ', ret_column)) {
		*ret_column = *line;
		line->at = line->end;
	}
	return true;
}

static bool scan_mount_device(struct scan *line, struct mount *mount)
{
	struct scan column;
	uint64_t major, minor;

	if (!scan_column(line, &column) || !scan_u64(&column, &major) || !scan_literal(&column, ":") ||
	    !scan_u64(&column, &minor) || scan_left(&column) || major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	mount->major = (uint32_t)major;
	mount->minor = (uint32_t)minor;
	return true;
}

static bool scan_id(struct scan *line, int64_t *ret_id)
{
	struct scan column;

	return scan_column(line, &column) && scan_i64(&column, ret_id) && !scan_left(&column);
}

/* Optional columns ("shared:7") stand before a lone dash, in any number. */
static bool skip_optional(struct scan *line)
{
	struct scan column;

	while (scan_column(line, &column))
		if (scan_is(&column, "-"))
			return true;
	return false;
}

static bool scan_mount(struct scan *line, struct mount *mount)
{
	struct scan mount_options;

	if (!scan_id(line, &mount->id) || !scan_id(line, &mount->parent_id) ||
	    !scan_mount_device(line, mount) || !scan_column(line, &mount->root) ||
	    !scan_column(line, &mount->point) || !scan_column(line, &mount_options) || !skip_optional(line) ||
	    !scan_column(line, &mount->type))
		return false;
	mount->source = mount->options = (struct scan){line->end, line->end};
	if (scan_column(line, &mount->source))
		(void)scan_column(line, &mount->options);
	return true;
}

bool proc_pid_mountinfo_next(struct scan *mounts, struct mount *ret_mount)
{
	struct scan line;
	struct mount mount;

	while (scan_line(mounts, &line)) {
		if (!scan_mount(&line, &mount))
			continue;
		*ret_mount = mount;
		return true;
	}
	return false;
}

static bool scan_octal_escape(struct scan *text, char *ret_byte)
{
	const char *at = text->at;

	if (scan_left(text) < 4 || at[0] != '\\' || at[1] < '0' || at[1] > '3' || at[2] < '0' ||
	    at[2] > '7' || at[3] < '0' || at[3] > '7')
		return false;
	*ret_byte = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
	text->at += 4;
	return true;
}

size_t mount_text(const struct scan *text, char *ret_text, size_t size)
{
	struct scan left = *text;
	size_t length = 0;

	while (scan_left(&left)) {
		char byte;

		if (!scan_octal_escape(&left, &byte))
			byte = *left.at++;
		if (length + 1 < size)
			ret_text[length] = byte;
		length++;
	}
	if (size)
		ret_text[length < size ? length : size - 1] = '\0';
	return length;
}

bool mount_has_option(const struct mount *mount, const char *option)
{
	struct scan left = mount->options, one;

	while (scan_until(&left, ',', &one))
		if (scan_is(&one, option))
			return true;
	return scan_is(&left, option);
}

static const char SERVED[] =
	"nfs nfs4 cifs smb3 autofs 9p ceph afs gpfs gfs2 ocfs2 lustre coda beegfs vboxsf virtiofs ";
static const char KERNELS[] = "cgroup tmpfs proc sysfs devpts cgroup2 devtmpfs mqueue ramfs rootfs overlay "
			      "aufs btrfs zfs bcachefs ";

static bool list_has_type(const char *list, const struct scan *type)
{
	size_t length = scan_left(type);
	const char *found = memmem(list, strlen(list), type->at, length);

	return found && found[length] == ' ' && (found == list || found[-1] == ' ');
}

bool mount_is_served(const struct mount *mount)
{
	struct scan type = mount->type;

	return scan_literal(&type, "fuse") ||
	       list_has_type(mount->major ? SERVED : KERNELS, &type) == (mount->major != 0);
}

bool mount_line_is_kernels(const struct scan *line)
{
	struct scan left = *line, type;

	while (scan_until(&left, '-', &type) &&
	       (type.at == type.end || type.end[-1] != ' ' || !scan_literal(&left, " ")))
		;
	return scan_until(&left, ' ', &type) && list_has_type(KERNELS, &type);
}

int read_proc_pid_mountinfo(struct root *root, struct kept_file *file, struct scan *ret_mounts)
{
	ssize_t length = root_reread_to_end(root, file);

	if (length < 0)
		return (int)length;
	*ret_mounts = parse_proc_pid_mountinfo(root->text.data, (size_t)length);
	return 0;
}

bool find_own_mount(struct root *root, bool (*is_wanted)(const struct mount *), struct mount *ret_mount)
{
	struct kept_file file = KEPT_FILE("proc/self/mountinfo");
	struct scan mounts;
	bool found = false;

	if (read_proc_pid_mountinfo(root, &file, &mounts) < 0)
		return false;
	while (!found && proc_pid_mountinfo_next(&mounts, ret_mount))
		found = is_wanted(ret_mount);
	kept_file_close(&file);
	return found;
}
