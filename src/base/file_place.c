/* Looks at the folder of a file that is to be written. See file_place.h. */
#include "base/file_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { ROOM_BYTES = 64 << 10 };

const char *descriptor_path(int fd, char ret_path[DESCRIPTOR_PATH_BYTES])
{
	snprintf(ret_path, DESCRIPTOR_PATH_BYTES, "/proc/self/fd/%d", fd);
	return ret_path;
}

char *absolute_path(const char *path)
{
	CLEANUP_FREE char *folder = *path == '/' ? NULL : getcwd(NULL, 0);
	char *absolute;

	if (*path == '/' || !folder)
		return strdup(path);
	return asprintf(&absolute, "%s/%s", folder, path) < 0 ? NULL : absolute;
}

int check_file_place(const char *path)
{
	const char *slash = strrchr(path, '/');
	CLEANUP_FREE char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	struct stat status;

	if (!folder)
		return -ENOMEM;
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return -EISDIR;
	return faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

const char *file_place_fault(int error)
{
	switch (error) {
	case -ENOENT:
		return "its folder does not exist; create it first";
	case -ENOTDIR:
		return "a part of its path is a file, not a folder; choose another name";
	case -EACCES:
	case -EROFS:
		return "its folder takes no new file from this user; choose another folder";
	case -EISDIR:
		return "it is a folder; name a file in it";
	case -ETIMEDOUT:
		return "its file system does not answer";
	default:
		return strerror(-error);
	}
}

bool is_place_mistake(int error)
{
	static const unsigned char MISTAKES[] = {EACCES, EBADF,        EBUSY,   EEXIST, EINVAL, EISDIR, ELOOP,
						 ENOENT, ENAMETOOLONG, ENOTDIR, ENXIO,  EROFS,  ESRCH};

	return error > -UCHAR_MAX && memchr(MISTAKES, -error, sizeof MISTAKES);
}

bool has_room_for_recording(int fd)
{
	struct rlimit limit;

	/* tmpfs would end this process by SIGXFSZ. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < ROOM_BYTES)
		return true;
	return fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, ROOM_BYTES) == 0 || (errno != ENOSPC && errno != EDQUOT);
}
