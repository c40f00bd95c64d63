/* The tables of system calls and of functions of the kernel. See wait_call.h. */
#include "job/waits/wait_call.h"

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

/* Newer than some of the C libraries that we build with. */
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_io_uring_enter
#define SYS_io_uring_enter 426
#endif

static const struct {
	int16_t number;
	uint8_t kind;
} CALLS[] = {
	{SYS_nanosleep, KIND_SLEEP},
	{SYS_clock_nanosleep, KIND_SLEEP},
	{SYS_wait4, KIND_CHILD},
	{SYS_waitid, KIND_CHILD_ID},
	{SYS_clone, KIND_SPAWN},
	{SYS_clone3, KIND_SPAWN},
	{SYS_read, KIND_READ},
	{SYS_readv, KIND_READ},
	{SYS_pread64, KIND_READ},
	{SYS_recvfrom, KIND_READ},
	{SYS_recvmsg, KIND_READ},
	{SYS_accept, KIND_READ},
	{SYS_accept4, KIND_READ},
	{SYS_connect, KIND_READ},
	{SYS_ioctl, KIND_READ},
	{SYS_splice, KIND_READ},
	{SYS_getdents64, KIND_READ},
	{SYS_write, KIND_WRITE},
	{SYS_writev, KIND_WRITE},
	{SYS_pwrite64, KIND_WRITE},
	{SYS_sendto, KIND_WRITE},
	{SYS_sendmsg, KIND_WRITE},
	{SYS_sendfile, KIND_WRITE},
	{SYS_fsync, KIND_WRITE},
	{SYS_fdatasync, KIND_WRITE},
	{SYS_sync_file_range, KIND_WRITE},
	{SYS_fallocate, KIND_WRITE},
	{SYS_ftruncate, KIND_WRITE},
	{SYS_flock, KIND_LOCK_FILE},
	{SYS_fcntl, KIND_CONTROL},
	{SYS_ppoll, KIND_POLL},
	{SYS_pselect6, KIND_SELECT},
	{SYS_epoll_pwait, KIND_EPOLL},
	{SYS_epoll_pwait2, KIND_EPOLL},
	{SYS_io_uring_enter, KIND_RING},
	{SYS_futex, KIND_FUTEX},
	{SYS_rt_sigsuspend, KIND_SIGNAL},
	{SYS_rt_sigtimedwait, KIND_SIGNAL},
	{SYS_semop, KIND_SEMAPHORE},
	{SYS_semtimedop, KIND_SEMAPHORE},
	{SYS_mmap, KIND_MAPPING},
	{SYS_munmap, KIND_MAPPING},
	{SYS_mprotect, KIND_MAPPING},
	{SYS_madvise, KIND_MAPPING},
	{SYS_brk, KIND_MAPPING},
	{SYS_openat, KIND_FILE},
#ifdef SYS_poll
	{SYS_open, KIND_FILE},
	{SYS_vfork, KIND_SPAWN},
	{SYS_poll, KIND_POLL},
	{SYS_select, KIND_SELECT},
	{SYS_epoll_wait, KIND_EPOLL},
	{SYS_pause, KIND_SIGNAL},
#endif
};

static const struct {
	const char *
		beginning; /* of the function: names get endings from compilers, and later kernels have longer ones */
	uint8_t class;
} FUNCTIONS[] = {
	{"hrtimer_nanosleep", WAIT_SLEEP},
	{"do_wait", WAIT_CHILD},
	{"anon_pipe_", WAIT_PIPE},
	{"pipe_", WAIT_PIPE},
	{"wait_for_partner", WAIT_PIPE},
	{"locks_lock_inode", WAIT_FILE_LOCK},
	{"flock_lock", WAIT_FILE_LOCK},
	{"fcntl_setlk", WAIT_FILE_LOCK},
	{"futex_", WAIT_LOCK},
	{"poll_schedule", WAIT_EVENTS},
	{"do_epoll_wait", WAIT_EVENTS},
	{"ep_poll", WAIT_EVENTS},
	{"unix_", WAIT_SOCKET},
	{"__skb_wait", WAIT_SOCKET},
	{"inet_csk_", WAIT_SOCKET},
	{"sk_wait", WAIT_SOCKET},
	{"wait_woken", WAIT_SOCKET},
	{"n_tty_", WAIT_TERMINAL},
	{"folio_wait", WAIT_STORAGE},
	{"wait_on_page", WAIT_STORAGE},
	{"io_schedule", WAIT_STORAGE},
	{"jbd2_", WAIT_STORAGE},
	{"rpc_", WAIT_STORAGE},
	{"nfs_", WAIT_STORAGE},
	{"request_wait", WAIT_STORAGE},
	{"blk_", WAIT_STORAGE},
	{"balance_dirty", WAIT_STORAGE},
	{"shrink_", WAIT_MEMORY},
	{"reclaim_", WAIT_MEMORY},
	{"try_to_free", WAIT_MEMORY},
	{"mem_cgroup", WAIT_MEMORY},
	{"do_signal_stop", WAIT_STOPPED},
	{"ptrace_stop", WAIT_STOPPED},
};

enum wait_kind wait_kind_of_call(int64_t number)
{
	for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++)
		if (CALLS[i].number == number)
			return CALLS[i].kind;
	return KIND_UNKNOWN;
}

enum wait_class wait_class_of_function(const char *function)
{
	for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++)
		if (strncmp(function, FUNCTIONS[i].beginning, strlen(FUNCTIONS[i].beginning)) == 0)
			return FUNCTIONS[i].class;
	return WAIT_OTHER;
}
