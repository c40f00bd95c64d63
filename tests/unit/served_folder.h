/* A file system of FUSE that has no server, in a child with mounts of its own: each look at it waits for ever. */
#pragma once

#include "scratch.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "kernel/may_hang.h"

static int fuse_fd = -1;

static inline int mount_served(const char *point)
{
	char options[100];

	fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse_fd);
	return fuse_fd < 0 || mount("nobody", point, "fuse", 0, options) < 0 ? -errno : 0;
}

/* Runs a test in a child. The folder `served` is such a file system, `plain` and `plain/in` are beside it. */
static inline void with_served_folder(void (*body)(void))
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		alarm(60);
		if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mkdir("served", 0755) < 0 || mkdir("plain", 0755) < 0 || mkdir("plain/in", 0755) < 0 ||
		    mount_served("served") < 0)
			_exit(77);
		paths_look_again();
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		SKIP("no file system of FUSE can be mounted");
	assert_int_equal(status, 0);
}
