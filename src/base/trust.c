/* Checks ownership and privileges. See trust.h. */
#include "base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/read_file.h"
#include "base/scan.h"

/* A larger list of accounts comes from a directory service, where private groups are unusual. */
enum { ACCOUNTS_BYTES = 1 << 20, FIELDS_MOST = 4 };

/* The first fields of a line of /etc/passwd or /etc/group. False if there are fewer than FIELDS_MOST. */
static bool split_fields(struct scan line, struct scan *ret_fields)
{
	for (int i = 0; i + 1 < FIELDS_MOST; i++)
		if (!scan_until(&line, ':', &ret_fields[i]))
			return false;
	if (!scan_until(&line, ':', &ret_fields[FIELDS_MOST - 1]))
		ret_fields[FIELDS_MOST - 1] = line;
	return true;
}

static bool is_whole_number(struct scan field, uint64_t number)
{
	uint64_t value;

	return scan_u64(&field, &value) && !scan_left(&field) && value == number;
}

/* "name:password:uid:gid:...": the name of the one account that has the group as its primary one. */
static bool find_only_account(struct scan passwd, uid_t user, gid_t group, struct scan *ret_name)
{
	struct scan line, fields[FIELDS_MOST];
	size_t found = 0;

	while (scan_line(&passwd, &line)) {
		if (!split_fields(line, fields) || !is_whole_number(fields[3], group))
			continue;
		if (!is_whole_number(fields[2], user))
			return false;
		*ret_name = fields[0];
		found++;
	}
	return found == 1;
}

bool is_private_group(uid_t user, gid_t group, const char *passwd, size_t passwd_length, const char *groups,
		      size_t groups_length)
{
	struct scan text = scan_bytes(groups, groups_length), line, fields[FIELDS_MOST], name = {0};
	bool listed = false;

	if (!find_only_account(scan_bytes(passwd, passwd_length), user, group, &name))
		return false;
	/* "name:password:gid:member,member" */
	while (scan_line(&text, &line)) {
		if (!split_fields(line, fields) || !is_whole_number(fields[2], group))
			continue;
		listed = true;
		if (scan_left(&fields[3]) && (scan_left(&fields[3]) != scan_left(&name) ||
					      memcmp(fields[3].at, name.at, scan_left(&name)) != 0))
			return false;
	}
	return listed;
}

static bool is_private_group_here(uid_t user, gid_t group)
{
	CLEANUP_BUFFER struct buffer passwd = BUFFER(ACCOUNTS_BYTES), groups = BUFFER(ACCOUNTS_BYTES);

	return read_whole_file("/etc/passwd", &passwd) == 0 && read_whole_file("/etc/group", &groups) == 0 &&
	       is_private_group(user, group, passwd.data, passwd.length, groups.data, groups.length);
}

bool is_under_our_control(const char *path, const struct stat *status)
{
	if ((status->st_uid != geteuid() && status->st_uid != 0) || status->st_mode & S_IWOTH)
		return false;
	if (!(status->st_mode & S_IWGRP))
		return true;
	/* With an access control list, the group's bits are the most that any listed user or group may do. */
	return getxattr(path, "system.posix_acl_access", NULL, 0) < 0 &&
	       is_private_group_here(status->st_uid, status->st_gid);
}

bool has_more_rights_than_caller(void)
{
	return getauxval(AT_SECURE) != 0;
}
