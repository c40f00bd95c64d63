/* Mounts a file system of 64 KiB at "disk" below the scratch folder during a test. Needs root. */
#pragma once

#include "scratch.h"

#include <errno.h>
#include <sys/mount.h>

enum { SMALL_DISK_BYTES = 65536 };

static int small_disk_error;

static inline int mount_small_disk(void)
{
	if (mkdir("disk", 0777) < 0)
		return -1;
	small_disk_error = mount("none", "disk", "tmpfs", MS_NODEV | MS_NOSUID, "size=64k") < 0 ? errno : 0;
	return 0;
}

static inline int unmount_small_disk(void)
{
	return small_disk_error ? 0 : umount2("disk", MNT_DETACH);
}

static inline int small_disk_enter(void **state)
{
	return scratch_enter(state) < 0 ? -1 : mount_small_disk();
}

static inline int small_disk_leave(void **state)
{
	return unmount_small_disk() < 0 ? -1 : scratch_leave(state);
}

static inline void require_small_disk(void)
{
	if (small_disk_error) {
		print_message("a small file system cannot be mounted: %s\n", strerror(small_disk_error));
		skip();
	}
}

/* Takes all remaining room except `spare_bytes` (whole pages), with a file that the test can remove. */
static inline void fill_small_disk(const char *filler, size_t spare_bytes)
{
	static char zeros[4096];
	int fd = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	struct stat status;

	assert_true(fd >= 0);
	while (write(fd, zeros, sizeof zeros) == (ssize_t)sizeof zeros)
		;
	assert_int_equal(fstat(fd, &status), 0);
	assert_true((size_t)status.st_size >= spare_bytes);
	assert_int_equal(ftruncate(fd, status.st_size - (off_t)spare_bytes), 0);
	close(fd);
}

#define unit_test_on_small_disk(test) \
	cmocka_unit_test_setup_teardown(test, small_disk_enter, small_disk_leave)
