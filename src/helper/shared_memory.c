/* A memfd, or its substitute before Linux 3.17. See shared_memory.h. */
#include "helper/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1U
#endif
#ifndef MFD_ALLOW_SEALING
#define MFD_ALLOW_SEALING 2U
#endif

static int new_descriptor(void)
{
	static const char *const FOLDERS[] = {"/dev/shm", "/tmp"};
	int fd = (int)syscall(SYS_memfd_create, "resource-tracker", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	for (size_t i = 0; i < ARRAY_SIZE(FOLDERS) && fd < 0; i++)
		fd = open(FOLDERS[i], O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

int shared_memory_new(size_t size, void **ret_memory)
{
	CLEANUP_CLOSE int fd = new_descriptor();
	void *memory;

	if (fd < 0)
		return fd;
	if (ftruncate(fd, (off_t)size) < 0)
		return -errno;
	/* Only a memfd can be sealed. Without a seal, only a safeguard is missing. */
	(void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	*ret_memory = memory;
	return take_fd(&fd);
}
