/* Tests of src/job/waits/wait_chain.c, wait_target.c and job_waits.c: for what a job waits, by files of /proc that a test lays out. */
#include "waiting_job.h"

#include "job/tree/process_files.h"
#include "job/waits/job_waits.h"
#include "job/waits/wait_detail.h"
#include "job/waits/waits_tuning.h"

enum { LOCKED_WITH_WAITERS = 2, OF_PROCESS = 128, LOCK_OF_KERNEL = 6, SET_LOCK = 6, SET_LOCK_AND_WAIT };

static void a_shell_waits_with_its_child(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_wait4, CALL(UINT32_MAX));
	add_waiting(WORKER, SHELL, SYS_clock_nanosleep, CALL(0));
	expect_wait(WAIT_SLEEP, WORKER, "");
	assert_int_equal(found.fd, -1);
	/* A job without its children ends at the first process. */
	tree.with_children = false;
	expect_wait(WAIT_CHILD, SHELL, "");
}

static void a_wait_for_one_child_is_not_a_wait_for_the_others(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_wait4, CALL(WORKER));
	add_waiting(WORKER, SHELL, SYS_clock_nanosleep, CALL(0));
	add_waiting(OTHER, SHELL, SYS_munmap, CALL(0));
	expect_wait(WAIT_SLEEP, WORKER, "");
	add_thread(SHELL, SHELL, 'S', SYS_waitid, CALL(1, WORKER));
	expect_wait(WAIT_SLEEP, WORKER, "");
	/* Any child: the newest that waits for something. */
	add_thread(SHELL, SHELL, 'S', SYS_waitid, CALL(0, WORKER));
	expect_wait(WAIT_MEMORY, OTHER, "");
	add_thread(SHELL, SHELL, 'S', SYS_clone, CALL(0));
	expect_wait(WAIT_MEMORY, OTHER, "");
	/* One that has ended and was not waited for yet. */
	process_tree_find(&tree, OTHER)->is_zombie = true;
	expect_wait(WAIT_SLEEP, WORKER, "");
}

/* A chain of processes that wait for their children has twelve at most. */
static void a_long_chain_has_an_end_that_is_not_looked_for(void **state)
{
	(void)state;
	for (pid_t pid = SHELL; pid < SHELL + 11; pid++)
		add_waiting(pid, pid == SHELL ? 1 : pid - 1, SYS_wait4, CALL((uint64_t)pid + 1));
	add_waiting(SHELL + 11, SHELL + 10, SYS_clock_nanosleep, CALL(0));
	expect_wait(WAIT_SLEEP, SHELL + 11, "");
	add_thread(SHELL + 11, SHELL + 11, 'S', SYS_wait4, CALL(SHELL + 12));
	add_waiting(SHELL + 12, SHELL + 11, SYS_clock_nanosleep, CALL(0));
	/* From its end, it is short. */
	expect_wait(WAIT_SLEEP, SHELL + 12, "");
	tree.members[12].is_zombie = true;
	add_thread(SHELL + 12, SHELL + 12, 'Z', SYS_wait4, CALL(0));
	expect_none();
}

static void a_job_of_which_a_part_runs_does_not_wait(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_wait4, CALL(UINT32_MAX));
	add_waiting(WORKER, SHELL, SYS_clock_nanosleep, CALL(0));
	add_state(WORKER, WORKER, 'R', 1);
	expect_none();
	add_state(WORKER, WORKER, 'S', 1);
	add_file(WORKER, WORKER, "syscall", "running\n");
	expect_none();
	add_file(WORKER, WORKER, "syscall", "something else\n");
	expect_none();
}

static void a_stopped_process_waits_for_the_one_that_stopped_it(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_wait4, CALL(UINT32_MAX));
	add_waiting(WORKER, SHELL, SYS_clock_nanosleep, CALL(0));
	add_state(WORKER, WORKER, 'T', 1);
	expect_wait(WAIT_STOPPED, WORKER, "");
	add_state(WORKER, WORKER, 't', 1);
	expect_wait(WAIT_STOPPED, WORKER, "");
}

static void processes_that_the_first_one_left_behind_are_the_job(void **state)
{
	(void)state;
	add_process(SHELL, 1, "sh");
	add_state(SHELL, SHELL, 'Z', 1);
	add_waiting(WORKER, 1, SYS_clock_nanosleep, CALL(0));
	expect_wait(WAIT_SLEEP, WORKER, "");
}

static void a_main_thread_that_has_ended_leaves_the_others(void **state)
{
	(void)state;
	add_process(SHELL, 1, "java");
	add_state(SHELL, SHELL, 'Z', 2);
	add_thread(SHELL, THREAD, 'S', SYS_munmap, CALL(0));
	expect_wait(WAIT_MEMORY, SHELL, "");
}

static void calls_without_a_descriptor_have_their_classes(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_rt_sigsuspend, CALL(0));
	expect_wait(WAIT_EVENTS, SHELL, "a signal");
	add_thread(SHELL, SHELL, 'S', SYS_semop, CALL(0));
	expect_wait(WAIT_LOCK, SHELL, "a System V semaphore");
	add_thread(SHELL, SHELL, 'S', SYS_brk, CALL(0));
	expect_wait(WAIT_MEMORY, SHELL, "");
	add_thread(SHELL, SHELL, 'D', SYS_openat, CALL(0));
	expect_wait(WAIT_STORAGE, SHELL, "");
	add_thread(SHELL, SHELL, 'D', -1, CALL(0));
	expect_wait(WAIT_STORAGE, SHELL, "a page of a mapped file or of swap");
	add_thread(SHELL, SHELL, 'S', SYS_openat, CALL(0));
	expect_wait(WAIT_OTHER, SHELL, "");
	add_file(SHELL, SHELL, "wchan", "mem_cgroup_handle_over_high");
	expect_wait(WAIT_MEMORY, SHELL, "");
	/* The thread has ended between two readings. */
	add_file(SHELL, SHELL, "stat", "");
	expect_none();
}

/* ---- threads ---- */

static void a_main_thread_that_joins_another_waits_for_its_disk(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_futex, CALL(0x7000, 0, THREAD));
	add_thread(SHELL, THREAD, 'D', SYS_read, CALL(4));
	add_file_of_data(SHELL, 4);
	expect_wait(WAIT_STORAGE, SHELL, "disk vda (ext4)");
	assert_int_equal(found.fd, 4);
}

static void the_holder_of_a_lock_is_the_thread_that_waits_for_something_else(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_futex, CALL(0x7000, OF_PROCESS, LOCKED_WITH_WAITERS));
	add_thread(SHELL, THREAD, 'D', SYS_pread64, CALL(4));
	add_thread(SHELL, SECOND_THREAD, 'S', SYS_futex, CALL(0x7000, OF_PROCESS, LOCKED_WITH_WAITERS));
	add_file_of_data(SHELL, 4);
	expect_wait(WAIT_STORAGE, SHELL, "disk vda (ext4)");
	/* All wait for the lock: none of them holds it. */
	add_thread(SHELL, THREAD, 'S', SYS_futex, CALL(0x7000, OF_PROCESS, LOCKED_WITH_WAITERS));
	expect_wait(WAIT_LOCK, SHELL, "");
	/* A lock that is held over a sleep. */
	add_thread(SHELL, THREAD, 'S', SYS_clock_nanosleep, CALL(0));
	expect_wait(WAIT_SLEEP, SHELL, "");
}

static void a_pool_does_not_wait_for_a_heartbeat(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_futex, CALL(0x7000, OF_PROCESS, 0));
	add_thread(SHELL, THREAD, 'S', SYS_clock_nanosleep, CALL(0));
	/* The timer of a single other thread is the work itself. */
	expect_wait(WAIT_SLEEP, SHELL, "");
	add_thread(SHELL, SECOND_THREAD, 'S', SYS_futex, CALL(0x7000, OF_PROCESS, 0));
	expect_wait(WAIT_THREAD, SHELL, "");
	add_thread(SHELL, SECOND_THREAD, 'D', SYS_read, CALL(4));
	add_file_of_data(SHELL, 4);
	expect_wait(WAIT_STORAGE, SHELL, "disk vda (ext4)");
}

static void two_threads_that_wait_for_two_things_tell_nothing(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_futex, CALL(0x7000, OF_PROCESS, 0));
	add_thread(SHELL, THREAD, 'D', SYS_read, CALL(4));
	add_thread(SHELL, SECOND_THREAD, 'S', SYS_munmap, CALL(0));
	add_file_of_data(SHELL, 4);
	expect_wait(WAIT_THREAD, SHELL, "");
	/* The same thing twice is one. */
	add_thread(SHELL, SECOND_THREAD, 'D', SYS_read, CALL(4));
	expect_wait(WAIT_STORAGE, SHELL, "disk vda (ext4)");
	/* The kernel gives such a lock away, and its value is something else. */
	add_thread(SHELL, SECOND_THREAD, 'S', SYS_munmap, CALL(0));
	add_thread(SHELL, SHELL, 'S', SYS_futex, CALL(0x7000, OF_PROCESS | LOCK_OF_KERNEL, THREAD));
	expect_wait(WAIT_LOCK, SHELL, "");
	add_thread(SHELL, SHELL, 'S', SYS_futex, CALL(0x7000, OF_PROCESS, 0));
	/* One that waits for a child counts, whatever the others do. */
	add_thread(SHELL, SECOND_THREAD, 'S', SYS_wait4, CALL(WORKER));
	add_waiting(WORKER, SHELL, SYS_munmap, CALL(0));
	expect_wait(WAIT_MEMORY, WORKER, "");
	/* One that runs is the job at work. */
	add_state(SHELL, THREAD, 'R', 1);
	expect_none();
}

/* The place of a thread in the list of its process, from the end: 1 for the newest. */
static pid_t thread_from_end(size_t place)
{
	pid_t tids[WAIT_THREADS_LISTED];
	size_t count = process_list_threads(&root, SHELL, tids, WAIT_THREADS_LISTED);

	assert_true(place <= count);
	return tids[count - place];
}

static void the_twelve_newest_threads_are_asked(void **state)
{
	const size_t most = WAIT_SIBLINGS_MOST;
	pid_t newest = THREAD;

	(void)state;
	add_waiting(SHELL, 1, SYS_futex, CALL(0x7000, OF_PROCESS, 0));
	add_file_of_data(SHELL, 4);
	/* File systems list folders in different orders, and the first thread is not asked again. */
	while (newest < THREAD + (pid_t)most + 2 || thread_from_end(most) == SHELL ||
	       thread_from_end(most + 1) == SHELL)
		add_thread(SHELL, newest++, 'S', SYS_futex, CALL(0x7000, OF_PROCESS, 0));
	add_thread(SHELL, thread_from_end(most + 1), 'D', SYS_read, CALL(4));
	expect_wait(WAIT_THREAD, SHELL, "");
	add_thread(SHELL, thread_from_end(most), 'D', SYS_read, CALL(4));
	expect_wait(WAIT_STORAGE, SHELL, "disk vda (ext4)");
}

/* The first process and its newest children. */
static void a_look_reads_so_many_threads_at_most(void **state)
{
	const pid_t children = WAIT_THREADS_MOST;

	(void)state;
	add_waiting(SHELL, 1, SYS_wait4, CALL(UINT32_MAX));
	for (pid_t i = 1; i <= children; i++) {
		add_process(SHELL + i, SHELL, "job");
		add_state(SHELL + i, SHELL + i, 'Z', 1);
	}
	add_thread(SHELL + 1, SHELL + 1, 'S', SYS_munmap, CALL(0));
	expect_none();
	add_thread(SHELL + 2, SHELL + 2, 'S', SYS_munmap, CALL(0));
	expect_wait(WAIT_MEMORY, SHELL + 2, "");
}

static void a_lock_of_several_processes_leads_to_a_child(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_futex, CALL(0x7000, 0, 0));
	expect_wait(WAIT_LOCK, SHELL, "shared by processes");
	add_waiting(WORKER, SHELL, SYS_clock_nanosleep, CALL(0));
	expect_wait(WAIT_SLEEP, WORKER, "");
	/* A lock of one process leads to none. */
	add_thread(SHELL, SHELL, 'S', SYS_futex, CALL(0x7000, OF_PROCESS, 0));
	expect_wait(WAIT_THREAD, SHELL, "");
}

static void a_condition_with_a_time_limit_is_a_sleep(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_futex, CALL(0x7000, OF_PROCESS | 9, 0, 0x7fff));
	expect_wait(WAIT_SLEEP, SHELL, "");
	add_thread(SHELL, SHELL, 'S', SYS_futex, CALL(0x7000, OF_PROCESS, LOCKED_WITH_WAITERS, 0x7fff));
	expect_wait(WAIT_LOCK, SHELL, "");
}

/* ---- descriptors ---- */

static void an_empty_poll_is_a_sleep(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_ppoll, CALL(0x7000, 0, 1));
	add_descriptor(SHELL, 0, "/dev/pts/3", "");
	expect_wait(WAIT_SLEEP, SHELL, "");
	add_thread(SHELL, SHELL, 'S', SYS_pselect6, CALL(0, 1, 1, 1));
	expect_wait(WAIT_SLEEP, SHELL, "");
}

static void a_poll_waits_for_the_descriptor_that_names_a_reason(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_ppoll, CALL(0x7000, 2, 0));
	add_descriptor(SHELL, 0, "/dev/pts/3", "");
	add_descriptor(SHELL, 3, "anon_inode:[eventfd]", "");
	add_descriptor(SHELL, 5, "anon_inode:[timerfd]", "");
	expect_wait(WAIT_TERMINAL, SHELL, "");
	assert_int_equal(found.fd, 0);
	/* A select names the highest one. */
	add_descriptor(SHELL, 8, "/dev/tty1", "");
	expect_wait(WAIT_TERMINAL, SHELL, "");
	assert_int_equal(found.fd, 8);
	add_thread(SHELL, SHELL, 'S', SYS_pselect6, CALL(8, 1));
	expect_wait(WAIT_TERMINAL, SHELL, "");
	assert_int_equal(found.fd, 0);
}

/* The look takes twelve descriptors at most: the highest of a poll, the first of an epoll. */
static void a_poll_of_many_descriptors_ends_early(void **state)
{
	char info[400] = "";
	size_t length = 0;

	(void)state;
	add_waiting(SHELL, 1, SYS_ppoll, CALL(0x7000, 2, 0));
	for (int fd = 1; fd <= WAIT_POLLED_MOST - 1; fd++) {
		add_descriptor(SHELL, fd, "anon_inode:[eventfd]", "");
		length += (size_t)snprintf(info + length, sizeof info - length, "tfd: %d\n", fd);
	}
	snprintf(info + length, sizeof info - length, "tfd: 0\n");
	add_descriptor(SHELL, 0, "/dev/pts/3", "");
	expect_wait(WAIT_TERMINAL, SHELL, "");
	add_descriptor(SHELL, 50, "anon_inode:[eventpoll]", info);
	expect_wait(WAIT_EVENTS, SHELL, "");
	add_thread(SHELL, SHELL, 'S', SYS_epoll_pwait, CALL(50, 0x7000, 16, UINT32_MAX));
	expect_wait(WAIT_TERMINAL, SHELL, "");
	snprintf(info + length, sizeof info - length, "tfd: 50\ntfd: 0\n");
	put_text("proc/100/fdinfo/50", info);
	expect_wait(WAIT_EVENTS, SHELL, "");
}

static void an_event_loop_without_a_reason_waits_for_events_or_a_time(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_epoll_pwait, CALL(3, 0x7000, 16, UINT32_MAX));
	add_descriptor(SHELL, 3, "anon_inode:[eventpoll]",
		       "pos:\t0\ntfd:        4 events: 19\ntfd:        6 events: 19\n");
	add_descriptor(SHELL, 4, "anon_inode:[eventfd]", "");
	add_descriptor(SHELL, 6, "/data/table", "");
	expect_wait(WAIT_EVENTS, SHELL, "");
	add_thread(SHELL, SHELL, 'S', SYS_epoll_pwait, CALL(3, 0x7000, 16, 500));
	expect_wait(WAIT_SLEEP, SHELL, "");
	add_thread(SHELL, SHELL, 'S', SYS_ppoll, CALL(0x7000, 1, 0x7fff, 0));
	expect_wait(WAIT_SLEEP, SHELL, "");
	add_thread(SHELL, SHELL, 'S', SYS_ppoll, CALL(0x7000, 1, 0, 0x7fff));
	expect_wait(WAIT_EVENTS, SHELL, "");
	add_thread(SHELL, SHELL, 'S', SYS_epoll_pwait, CALL(3, 0x7000, 16, 500));
	/* A child that is at work just now. */
	add_process(WORKER, SHELL, "worker");
	expect_none();
	add_thread(WORKER, WORKER, 'S', SYS_munmap, CALL(0));
	expect_wait(WAIT_MEMORY, WORKER, "");
	/* A terminal among its descriptors. */
	add_descriptor(SHELL, 5, "/dev/pts/3", "");
	put_text("proc/100/fdinfo/3", "pos:\t0\ntfd:        4 events: 19\ntfd:        5 events: 19\n");
	expect_wait(WAIT_TERMINAL, SHELL, "");
}

static void an_event_loop_waits_for_its_thread_that_works(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_epoll_pwait, CALL(3, 0x7000, 16, UINT32_MAX));
	add_descriptor(SHELL, 3, "anon_inode:[eventpoll]", "");
	add_thread(SHELL, THREAD, 'D', SYS_fsync, CALL(4));
	add_file_of_data(SHELL, 4);
	expect_wait(WAIT_STORAGE, SHELL, "disk vda (ext4)");
	add_thread(SHELL, THREAD, 'S', SYS_clock_nanosleep, CALL(0));
	expect_wait(WAIT_EVENTS, SHELL, "");
}

static void a_ring_may_wait_for_a_file(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_ppoll, CALL(0x7000, 1, 0));
	add_file_of_data(SHELL, 4);
	expect_wait(WAIT_EVENTS, SHELL, "");
	add_thread(SHELL, SHELL, 'S', 426, CALL(3, 0, 1));
	expect_wait(WAIT_STORAGE, SHELL, "disk vda (ext4)");
}

static void files_have_the_disk_or_the_kind_of_their_file_system(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_read, CALL(4));
	add_file_of_data(SHELL, 4);
	expect_wait(WAIT_STORAGE, SHELL, "disk vda (ext4)");
	put_text("proc/100/mountinfo",
		 "30 1 0:5 / /proc rw - proc proc rw\n31 1 0:48 / /data rw - nfs4 server:/data rw\n");
	expect_wait(WAIT_STORAGE, SHELL, "nfs4");
	put_text("proc/100/mountinfo", "30 1 254:0 / /data rw - ext4 /dev/vda rw\n");
	expect_wait(WAIT_STORAGE, SHELL, "");
	put_text("proc/100/fdinfo/4", "pos:\t0\n");
	expect_wait(WAIT_STORAGE, SHELL, "");
}

static void devices_are_told_apart(void **state)
{
	(void)state;
	make_folder("sys");
	make_folder("sys/class");
	make_folder("sys/class/block");
	assert_int_equal(symlink("../../devices/virtio1/block/vdb", "sys/class/block/vdb"), 0);
	add_waiting(SHELL, 1, SYS_read, CALL(4));
	add_descriptor(SHELL, 4, "/dev/vdb", "");
	expect_wait(WAIT_STORAGE, SHELL, "disk vdb");
	assert_int_equal(unlink("proc/100/fd/4"), 0);
	expect_wait(WAIT_OTHER, SHELL, "");
	add_descriptor(SHELL, 4, "/dev/console", "");
	expect_wait(WAIT_TERMINAL, SHELL, "");
	assert_int_equal(unlink("proc/100/fd/4"), 0);
	add_descriptor(SHELL, 4, "/dev/fuse", "");
	expect_wait(WAIT_OTHER, SHELL, "a device");
	assert_int_equal(unlink("proc/100/fd/4"), 0);
	add_descriptor(SHELL, 4, "anon_inode:[timerfd]", "");
	expect_wait(WAIT_SLEEP, SHELL, "");
	assert_int_equal(unlink("proc/100/fd/4"), 0);
	add_descriptor(SHELL, 4, "anon_inode:inotify", "");
	expect_wait(WAIT_EVENTS, SHELL, "");
}

static void the_holder_of_a_file_lock_is_followed(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_flock, CALL(4));
	add_descriptor(SHELL, 4, "/data/lock", "");
	expect_wait(WAIT_FILE_LOCK, SHELL, "held by another process");
	assert_int_equal(found.fd, 4);
	/* A process that has it open does not hold the lock. */
	add_waiting(WORKER, SHELL, SYS_munmap, CALL(0));
	add_descriptor(WORKER, 7, "/data/lock", "pos:\t0\n");
	expect_wait(WAIT_FILE_LOCK, SHELL, "held by another process");
	put_text("proc/101/fdinfo/7", "pos:\t0\nlock:\t1: FLOCK  ADVISORY  WRITE 101 fe:00:12 0 EOF\n");
	expect_wait(WAIT_MEMORY, WORKER, "");
	/* It waits for a lock of ours. */
	add_thread(WORKER, WORKER, 'S', SYS_flock, CALL(8));
	add_descriptor(WORKER, 8, "/data/other", "");
	add_descriptor(SHELL, 5, "/data/other", "lock:\t1: FLOCK  ADVISORY  WRITE 100 fe:00:13 0 EOF\n");
	expect_wait(WAIT_FILE_LOCK, WORKER, "held in the job");
}

static void only_a_call_that_waits_for_a_lock_is_a_lock(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_fcntl, CALL(4, SET_LOCK_AND_WAIT));
	add_descriptor(SHELL, 4, "/data/lock", "");
	expect_wait(WAIT_FILE_LOCK, SHELL, "held by another process");
	add_thread(SHELL, SHELL, 'S', SYS_fcntl, CALL(4, 38));
	expect_wait(WAIT_FILE_LOCK, SHELL, "held by another process");
	add_thread(SHELL, SHELL, 'D', SYS_fcntl, CALL(4, SET_LOCK));
	expect_wait(WAIT_STORAGE, SHELL, "");
}

static void make_waits_for_a_job_slot(void **state)
{
	(void)state;
	add_process(SHELL, 1, "gmake");
	add_thread(SHELL, SHELL, 'S', SYS_read, CALL(3));
	add_descriptor(SHELL, 3, "pipe:[77]", "");
	expect_wait(WAIT_JOBSERVER, SHELL, "");
	snprintf(tree.members[0].program.comm, sizeof tree.members[0].program.comm, "sh");
	expect_wait(WAIT_PIPE, SHELL, "its own");
	/* Its own pipe does not end a poll. */
	add_thread(SHELL, SHELL, 'S', SYS_ppoll, CALL(0x7000, 1, 0));
	expect_wait(WAIT_EVENTS, SHELL, "");
	/* The other process that has it open. */
	add_thread(SHELL, SHELL, 'S', SYS_read, CALL(3));
	add_waiting(WORKER, SHELL, SYS_clock_nanosleep, CALL(0));
	add_descriptor(WORKER, 1, "pipe:[78]", "");
	expect_wait(WAIT_PIPE, SHELL, "its own");
	add_descriptor(WORKER, 4, "pipe:[77]", "");
	expect_wait(WAIT_SLEEP, WORKER, "");
	/* It is a job of make, and the reason why no slot is free. */
	snprintf(tree.members[0].program.comm, sizeof tree.members[0].program.comm, "make");
	expect_wait(WAIT_SLEEP, WORKER, "");
}

/* 400 links are read at most: what is behind the others is unknown, but may be in the job. */
static void a_search_of_many_descriptors_ends_early(void **state)
{
	char link[40];

	(void)state;
	add_waiting(SHELL, 1, SYS_read, CALL(3));
	add_descriptor(SHELL, 3, "pipe:[77]", "");
	for (pid_t pid = WORKER; pid < WORKER + 4; pid++) {
		add_waiting(pid, SHELL, SYS_clock_nanosleep, CALL(0));
		for (int fd = 1; fd <= 130; fd++) {
			snprintf(link, sizeof link, "socket:[%d]", 1000 * (int)pid + fd);
			add_descriptor(pid, fd, link, "");
		}
	}
	expect_wait(WAIT_PIPE, SHELL, "another process of the job");
}

static void a_named_pipe_is_a_pipe(void **state)
{
	(void)state;
	add_waiting(SHELL, 1, SYS_read, CALL(4));
	add_file_of_data(SHELL, 4);
	add_file(SHELL, SHELL, "wchan", "anon_pipe_read");
	expect_wait(WAIT_PIPE, SHELL, "its own");
	add_file(SHELL, SHELL, "wchan", "folio_wait_bit_common");
	expect_wait(WAIT_STORAGE, SHELL, "disk vda (ext4)");
}

static void a_detail_is_the_path_of_a_file(void **state)
{
	char text[WAIT_DETAIL_SIZE];

	(void)state;
	add_waiting(SHELL, 1, SYS_read, CALL(4));
	add_file_of_data(SHELL, 4);
	add_descriptor(SHELL, 5, "pipe:[77]", "");
	expect_wait(WAIT_STORAGE, SHELL, "disk vda (ext4)");
	wait_detail(&root, &found, text);
	assert_string_equal(text, "/data/table");
	found.fd = 5;
	wait_detail(&root, &found, text);
	assert_string_equal(text, "");
	found.fd = -1;
	text[0] = 'x';
	wait_detail(&root, &found, text);
	assert_string_equal(text, "");
}

/* ---- how long ---- */

static struct job_waits waits;

/* A look after `secs` of the recording, in which the job has used `cpu_secs`. */
static void look(double secs, double cpu_secs, bool is_last)
{
	tree.pass_ns = (int64_t)(secs * 1e9);
	tree.cpu.account.published.of[USAGE_CPU_NS] = (int64_t)(cpu_secs * 1e9);
	job_waits_look(&waits, &tree, NSEC_PER_SEC, is_last ? tree.pass_ns : 0);
}

static void expect_row(size_t place, enum wait_class class, double secs, int64_t looks)
{
	assert_true(place < waits.count);
	assert_int_equal(waits.rows[place].wait.class, class);
	assert_int_equal(waits.rows[place].ns, (int64_t)(secs * 1e9));
	assert_int_equal(waits.rows[place].looks, looks);
}

static void begin_with_a_wait_for_a_disk(void)
{
	waits = (struct job_waits){0};
	root.live = true;
	add_waiting(SHELL, 1, SYS_read, CALL(4));
	add_file_of_data(SHELL, 4);
}

static void the_time_without_cpu_time_is_a_wait(void **state)
{
	(void)state;
	begin_with_a_wait_for_a_disk();
	look(2, 0, false);
	expect_row(0, WAIT_STORAGE, 1, 1);
	assert_string_equal(waits.rows[0].program, "job");
	assert_null(waits.rows[0].detail);
	look(4, 0.5, false);
	expect_row(0, WAIT_STORAGE, 2.5, 2);
	assert_int_equal(waits.found_ns, 1500 * NSEC_PER_MSEC);
	assert_int_equal(waits.idle_ns, 2500 * NSEC_PER_MSEC);
	/* Less than a twentieth of a sample is none. */
	look(6, 2.41, false);
	assert_int_equal(waits.found_ns, 0);
	assert_int_equal(waits.idle_ns, 2500 * NSEC_PER_MSEC);
	look(8, 2.41, false);
	expect_row(0, WAIT_STORAGE, 4.5, 3);
	job_waits_done(&waits);
}

static void a_wait_for_a_cpu_is_not_counted_again(void **state)
{
	(void)state;
	begin_with_a_wait_for_a_disk();
	tree.cpu.waiting.has_times = true;
	tree.cpu.waiting.total.wait_ns = 300 * NSEC_PER_MSEC;
	tree.cpu.waiting.total.run_ns = 100 * NSEC_PER_MSEC;
	look(2, 0.1, false);
	expect_row(0, WAIT_STORAGE, 0.6, 1);
	tree.cpu.waiting.total.wait_ns = 500 * NSEC_PER_MSEC;
	tree.cpu.waiting.total.run_ns = 200 * NSEC_PER_MSEC;
	look(3, 0.2, false);
	expect_row(0, WAIT_STORAGE, 1.3, 2);
	/* Processes that ended unread had 0.2 s, and may have waited for a CPU as long. */
	look(4, 0.4, false);
	expect_row(0, WAIT_STORAGE, 1.9, 3);
	job_waits_done(&waits);
}

static void idle_time_before_a_job_that_runs_belongs_to_its_next_wait(void **state)
{
	(void)state;
	begin_with_a_wait_for_a_disk();
	add_state(SHELL, SHELL, 'R', 1);
	look(2, 0.5, false);
	assert_int_equal(waits.count, 0);
	assert_int_equal(waits.idle_ns, 500 * NSEC_PER_MSEC);
	add_state(SHELL, SHELL, 'D', 1);
	look(3, 0.5, false);
	expect_row(0, WAIT_STORAGE, 1.5, 1);
	/* The last look reads nothing: the job has ended. */
	add_state(SHELL, SHELL, 'R', 1);
	look(4, 0.75, true);
	expect_row(0, WAIT_STORAGE, 2.25, 1);
	job_waits_done(&waits);
}

static void as_long_as_no_process_has_run_all_wait_for_the_same(void **state)
{
	(void)state;
	begin_with_a_wait_for_a_disk();
	waits.wants_detail = true;
	tree.members[0].quiet_ticks = 3;
	look(2, 0, false);
	expect_row(0, WAIT_STORAGE, 1, 1);
	assert_string_equal(waits.rows[0].detail, "/data/table");
	add_thread(SHELL, SHELL, 'S', SYS_clock_nanosleep, CALL(0));
	look(3, 0, false);
	expect_row(0, WAIT_STORAGE, 2, 2);
	tree.members[0].quiet_ticks = 0;
	look(4, 0, false);
	expect_row(0, WAIT_STORAGE, 2, 2);
	expect_row(1, WAIT_SLEEP, 1, 1);
	job_waits_done(&waits);
	assert_null(waits.rows[0].detail);
}

static void a_captured_machine_tells_of_no_wait(void **state)
{
	(void)state;
	begin_with_a_wait_for_a_disk();
	root.live = false;
	look(2, 0, false);
	assert_int_equal(waits.count + (size_t)waits.idle_ns, 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_job(a_shell_waits_with_its_child),
		unit_test_of_job(a_wait_for_one_child_is_not_a_wait_for_the_others),
		unit_test_of_job(a_long_chain_has_an_end_that_is_not_looked_for),
		unit_test_of_job(a_job_of_which_a_part_runs_does_not_wait),
		unit_test_of_job(a_stopped_process_waits_for_the_one_that_stopped_it),
		unit_test_of_job(processes_that_the_first_one_left_behind_are_the_job),
		unit_test_of_job(a_main_thread_that_has_ended_leaves_the_others),
		unit_test_of_job(calls_without_a_descriptor_have_their_classes),
		unit_test_of_job(a_main_thread_that_joins_another_waits_for_its_disk),
		unit_test_of_job(the_holder_of_a_lock_is_the_thread_that_waits_for_something_else),
		unit_test_of_job(a_pool_does_not_wait_for_a_heartbeat),
		unit_test_of_job(two_threads_that_wait_for_two_things_tell_nothing),
		unit_test_of_job(the_twelve_newest_threads_are_asked),
		unit_test_of_job(a_look_reads_so_many_threads_at_most),
		unit_test_of_job(a_lock_of_several_processes_leads_to_a_child),
		unit_test_of_job(a_condition_with_a_time_limit_is_a_sleep),
		unit_test_of_job(an_empty_poll_is_a_sleep),
		unit_test_of_job(a_poll_waits_for_the_descriptor_that_names_a_reason),
		unit_test_of_job(a_poll_of_many_descriptors_ends_early),
		unit_test_of_job(an_event_loop_without_a_reason_waits_for_events_or_a_time),
		unit_test_of_job(an_event_loop_waits_for_its_thread_that_works),
		unit_test_of_job(a_ring_may_wait_for_a_file),
		unit_test_of_job(files_have_the_disk_or_the_kind_of_their_file_system),
		unit_test_of_job(devices_are_told_apart),
		unit_test_of_job(the_holder_of_a_file_lock_is_followed),
		unit_test_of_job(only_a_call_that_waits_for_a_lock_is_a_lock),
		unit_test_of_job(make_waits_for_a_job_slot),
		unit_test_of_job(a_search_of_many_descriptors_ends_early),
		unit_test_of_job(a_named_pipe_is_a_pipe),
		unit_test_of_job(a_detail_is_the_path_of_a_file),
		unit_test_of_job(the_time_without_cpu_time_is_a_wait),
		unit_test_of_job(a_wait_for_a_cpu_is_not_counted_again),
		unit_test_of_job(idle_time_before_a_job_that_runs_belongs_to_its_next_wait),
		unit_test_of_job(as_long_as_no_process_has_run_all_wait_for_the_same),
		unit_test_of_job(a_captured_machine_tells_of_no_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
