/* Tests of src/job/waits/wait_call.c: functions as kernels of 4.18 to 6.12 name them, and system calls. */
#include "unit.h"

#include <sys/syscall.h>

#include "job/waits/wait_call.h"

static void functions_of_kernels_have_their_classes(void **state)
{
	static const struct {
		const char *function;
		enum wait_class class;
	} CASES[] = {
		{"hrtimer_nanosleep", WAIT_SLEEP},
		{"do_wait", WAIT_CHILD},
		{"pipe_read", WAIT_PIPE},
		{"pipe_write", WAIT_PIPE},
		{"anon_pipe_read", WAIT_PIPE},
		{"wait_for_partner", WAIT_PIPE},
		{"flock_lock_inode_wait", WAIT_FILE_LOCK},
		{"locks_lock_inode_wait", WAIT_FILE_LOCK},
		{"fcntl_setlk", WAIT_FILE_LOCK},
		{"futex_wait_queue_me", WAIT_LOCK},
		{"futex_wait_queue", WAIT_LOCK},
		{"poll_schedule_timeout.constprop.0", WAIT_EVENTS},
		{"ep_poll", WAIT_EVENTS},
		{"do_epoll_wait", WAIT_EVENTS},
		{"unix_stream_read_generic", WAIT_SOCKET},
		{"__skb_wait_for_more_packets", WAIT_SOCKET},
		{"inet_csk_accept", WAIT_SOCKET},
		{"sk_wait_data", WAIT_SOCKET},
		{"wait_woken", WAIT_SOCKET},
		{"n_tty_read", WAIT_TERMINAL},
		{"folio_wait_bit_common", WAIT_STORAGE},
		{"wait_on_page_bit", WAIT_STORAGE},
		{"io_schedule", WAIT_STORAGE},
		{"jbd2_log_wait_commit", WAIT_STORAGE},
		{"rpc_wait_bit_killable", WAIT_STORAGE},
		{"nfs_wait_bit_killable", WAIT_STORAGE},
		{"request_wait_answer", WAIT_STORAGE},
		{"blk_mq_get_tag", WAIT_STORAGE},
		{"balance_dirty_pages", WAIT_STORAGE},
		{"shrink_inactive_list", WAIT_MEMORY},
		{"reclaim_throttle", WAIT_MEMORY},
		{"try_to_free_pages", WAIT_MEMORY},
		{"mem_cgroup_handle_over_high", WAIT_MEMORY},
		{"do_signal_stop", WAIT_STOPPED},
		{"ptrace_stop", WAIT_STOPPED},
		{"do_wai", WAIT_OTHER},
		{"futex", WAIT_OTHER},
		{"0", WAIT_OTHER},
		{"", WAIT_OTHER},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
		if (wait_class_of_function(CASES[i].function) != CASES[i].class)
			fail_msg("%s is of class %d", CASES[i].function,
				 (int)wait_class_of_function(CASES[i].function));
}

static void calls_have_their_kinds(void **state)
{
	static const struct {
		long call;
		enum wait_kind kind;
	} CASES[] = {
		{SYS_clock_nanosleep, KIND_SLEEP},
		{SYS_wait4, KIND_CHILD},
		{SYS_waitid, KIND_CHILD_ID},
		{SYS_clone, KIND_SPAWN},
		{435 /* clone3 */, KIND_SPAWN},
		{SYS_read, KIND_READ},
		{SYS_accept4, KIND_READ},
		{SYS_write, KIND_WRITE},
		{SYS_fsync, KIND_WRITE},
		{SYS_flock, KIND_LOCK_FILE},
		{SYS_fcntl, KIND_CONTROL},
		{SYS_ppoll, KIND_POLL},
		{SYS_pselect6, KIND_SELECT},
		{SYS_epoll_pwait, KIND_EPOLL},
		{441 /* epoll_pwait2 */, KIND_EPOLL},
		{426 /* io_uring_enter */, KIND_RING},
		{SYS_futex, KIND_FUTEX},
		{SYS_rt_sigsuspend, KIND_SIGNAL},
		{SYS_semtimedop, KIND_SEMAPHORE},
		{SYS_munmap, KIND_MAPPING},
		{SYS_openat, KIND_FILE},
		{SYS_getpid, KIND_UNKNOWN},
		{-1, KIND_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
		if (wait_kind_of_call(CASES[i].call) != CASES[i].kind)
			fail_msg("call %ld is of kind %d", CASES[i].call,
				 (int)wait_kind_of_call(CASES[i].call));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_kernels_have_their_classes),
		cmocka_unit_test(calls_have_their_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
