/* Decides which files and environment this process may obey: those that only its user or root controls. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Whether a file or a folder belongs to this user or root, and no other user may write to it. The write bit of a group
 * is accepted if the group is private to the owner (is_private_group() on /etc/passwd and /etc/group), because a umask
 * of 002 sets it on every file. `status` is that of `path`, which is read for an access control list.
 */
bool is_under_our_control(const char *path, const struct stat *status);

/*
 * Whether `user` is the only user in the group, by the texts of /etc/passwd and /etc/group: the group is listed, one
 * account alone has it as its primary group, that account is the user's, and the group has no other member.
 */
bool is_private_group(uid_t user, gid_t group, const char *passwd, size_t passwd_length, const char *groups,
		      size_t groups_length);

/*
 * Whether this program runs with privileges that its caller does not have (set-user-ID, set-group-ID, file
 * capabilities: AT_SECURE). Then the environment and the folder of the program are under the caller's control, and
 * neither chooses files or programs.
 */
bool has_more_rights_than_caller(void);
