/* Gives a file a numbered name. See rename_aside.h. */
#include "sink/rename_aside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"

enum { NUMBERS = 1000000, NOREPLACE = 1 };

/* RENAME_NOREPLACE needs Linux 3.15 and the file system's support, and some C libraries lack the function. */
static int rename_noreplace(int dir_fd, const char *from, const char *to)
{
#ifdef SYS_renameat2
	return syscall(SYS_renameat2, dir_fd, from, dir_fd, to, NOREPLACE) < 0 ? -errno : 0;
#else
	(void)dir_fd, (void)from, (void)to;
	return -ENOSYS;
#endif
}

static int link_and_unlink(int dir_fd, const char *from, const char *to)
{
	if (linkat(dir_fd, from, dir_fd, to, 0) < 0)
		return -errno;
	if (unlinkat(dir_fd, from, 0) < 0) {
		int error = -errno;

		unlinkat(dir_fd, to, 0);
		return error;
	}
	return 0;
}

/* For file systems without hard links: takes the name with an empty file, then replaces that file. */
static int reserve_and_rename(int dir_fd, const char *from, const char *to)
{
	CLEANUP_CLOSE int reserved_fd = openat(dir_fd, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (reserved_fd < 0)
		return -errno;
	if (renameat(dir_fd, from, dir_fd, to) < 0) {
		int error = -errno;

		unlinkat(dir_fd, to, 0);
		return error;
	}
	return 0;
}

static int rename_to_free(int dir_fd, const char *from, const char *to)
{
	static int (*const WAYS[])(int, const char *, const char *) = {rename_noreplace, link_and_unlink,
								       reserve_and_rename};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(WAYS); i++) {
		r = WAYS[i](dir_fd, from, to);
		if (r == 0 || r == -EEXIST || r == -ENOENT || r == -EACCES || r == -EROFS || r == -ENOSPC)
			break;
	}
	return r;
}

int rename_aside(int dir_fd, const char *name)
{
	CLEANUP_BUFFER struct buffer aside = BUFFER(PATH_MAX);

	for (int number = 1; number < NUMBERS; number++) {
		int r;

		buffer_clear(&aside);
		buffer_printf(&aside, "%s.%d", name, number);
		if (buffer_error(&aside))
			return buffer_error(&aside);
		r = rename_to_free(dir_fd, name, aside.data);
		if (r != -EEXIST)
			return r < 0 ? r : number;
	}
	return -EEXIST;
}
