/* How a process ended, by a descriptor of it. See end_descriptor.h. */
#include "job/programs/end_descriptor.h"

#include <errno.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* struct pidfd_info of the kernel, as Linux 6.15 has it. Newer ones are longer, and take this length as well. */
struct end_info {
	uint64_t mask; /* what is asked for, and what is told */
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t wait_status;
};
_Static_assert(sizeof(struct end_info) == 64, "the kernel knows the request by this size");
#define GET_INFO _IOWR(0xFF, 11, struct end_info)
#define INFO_EXIT (UINT64_C(1) << 3)

/* The request is an int in musl, and an unsigned long in glibc. */
static int ask_end(int fd, struct end_info *ret_info)
{
	*ret_info = (struct end_info){.mask = INFO_EXIT};
	return (int)syscall(SYS_ioctl, fd, GET_INFO, ret_info);
}

int end_descriptor_open(pid_t pid)
{
	struct end_info info;
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return -errno;
	/* Before Linux 6.13 it has no such request. 6.13 and 6.14 tell nothing after the end. */
	if (ask_end(fd, &info) < 0) {
		int error = errno;

		(void)close(fd);
		return -error;
	}
	return fd;
}

int end_descriptor_status(int fd)
{
	struct end_info info;
	int result = ask_end(fd, &info);

	(void)close(fd);
	return result == 0 && info.mask & INFO_EXIT ? info.wait_status : 0;
}
