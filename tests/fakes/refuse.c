/*
 * Runs a command under a filter (seccomp) that refuses one system call, as containers and sandboxes do.
 *
 *   refuse CALL ERRNO COMMAND [ARG...]     CALL by its name, ERRNO by its number
 *   refuse                                 prints the names, one a line
 *
 * Exit status 99: the filter could not be set up.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/scan.h"

#define CALL(name) \
	{ \
#name, SYS_##name \
	}
#define ALLOW_ALL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

enum { CANNOT = 99 };

/* System calls that the programs use. Not every architecture has all of them. */
static const struct {
	const char *name;
	long number;
} CALLS[] = {
#ifdef SYS_access
	CALL(access),
#endif
	CALL(bind),
	CALL(clock_gettime),
	CALL(clock_nanosleep),
	CALL(clone3),
	CALL(close_range),
	CALL(dup3),
	CALL(faccessat),
	CALL(faccessat2),
	CALL(fchmod),
	CALL(fcntl),
	CALL(fdatasync),
	CALL(flock),
	CALL(fstatfs),
	CALL(fsync),
	CALL(ftruncate),
	CALL(getcwd),
	CALL(getdents64),
	CALL(getpgid),
	CALL(getppid),
	CALL(getrandom),
	CALL(getrlimit),
	CALL(getrusage),
	CALL(getsid),
	CALL(getsockopt),
	CALL(getxattr),
	CALL(ioctl),
	CALL(kcmp),
	CALL(kill),
	CALL(lseek),
	CALL(madvise),
	CALL(memfd_create),
	CALL(mkdirat),
#ifdef SYS_mkdir
	CALL(mkdir),
#endif
	CALL(mremap),
	CALL(munmap),
	CALL(nanosleep),
	CALL(newfstatat),
	CALL(pidfd_open),
	CALL(pipe2),
#ifdef SYS_poll
	CALL(poll),
#endif
	CALL(ppoll),
	CALL(prctl),
	CALL(pread64),
	CALL(prlimit64),
	CALL(readlinkat),
#ifdef SYS_readlink
	CALL(readlink),
#endif
#ifdef SYS_rename
	CALL(rename),
#endif
	CALL(recvfrom),
	CALL(renameat2),
	CALL(rt_sigaction),
	CALL(rt_sigpending),
	CALL(rt_sigqueueinfo),
	CALL(sched_getaffinity),
	CALL(sendto),
	CALL(set_robust_list),
	CALL(setitimer),
	CALL(setrlimit),
	CALL(setsid),
	CALL(setsockopt),
	CALL(signalfd4),
	CALL(socket),
	CALL(socketpair),
	CALL(splice),
	CALL(statfs),
	CALL(statx),
	CALL(sysinfo),
	CALL(tgkill),
	CALL(timerfd_create),
	CALL(timerfd_settime),
	CALL(uname),
	CALL(unlinkat),
#ifdef SYS_unlink
	CALL(unlink),
#endif
#ifdef SYS_vfork
	CALL(vfork),
#endif
	CALL(wait4),
	CALL(waitid),
	CALL(write),
	CALL(writev),
};

static long number_of(const char *name)
{
	for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++)
		if (strcmp(CALLS[i].name, name) == 0)
			return CALLS[i].number;
	return -1;
}

static int refuse(long call, unsigned error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		ALLOW_ALL,
	};
	struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

int main(int argc, char **argv)
{
	struct scan text = argc > 3 ? scan_bytes(argv[2], strlen(argv[2])) : scan_bytes("", 0);
	long call = argc > 3 ? number_of(argv[1]) : -1;
	uint64_t error;

	for (size_t i = 0; argc == 1 && i < sizeof CALLS / sizeof CALLS[0]; i++)
		puts(CALLS[i].name);
	if (argc == 1)
		return 0;
	if (call < 0 || !scan_u64(&text, &error) || error > 4095 || refuse(call, (unsigned)error) < 0)
		return CANNOT;
	execvp(argv[3], argv + 3);
	return CANNOT;
}
