/*
 * Shared by the tests of src/job: the processes of a /proc that the test writes below its current folder, and a clock that stands still.
 * Their numbers are beyond those of a kernel, so that none is a process of this machine.
 */
#pragma once

#include "scratch.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "job/memory/process_memory.h"
#include "job/new_members.h"
#include "job/pass.h"
#include "job/tree/process_files.h"
#include "kernel/proc_pid_stat.h"

enum { PIDS = 7000000, TICKS_PER_SEC = 100 };

static struct root job_root;
static struct process_tree *tree;
static int64_t clock_ns;

/* Columns of /proc/PID/stat. Numbers of processes count from PIDS, except parents below 0: those are outside of the tree. */
struct written {
	int pid, parent;
	int real_parent; /* the pid of a real process, instead of `parent` */
	long long start;
	char state;  /* 0: S */
	int threads; /* 0: one */
	long long flags, ignored, user_ticks, waited_ticks;
};

static inline int64_t standing_clock(void *context)
{
	(void)context;
	return clock_ns;
}

static inline void put_below_proc(int number, const char *file, const char *text)
{
	char path[100];

	(void)mkdir("proc", 0700);
	snprintf(path, sizeof path, "proc/%d", number);
	(void)mkdir(path, 0700);
	snprintf(path, sizeof path, "proc/%d/%s", number, file);
	for (char *slash = strchr(path + 5, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	put_text(path, text);
}

static inline void put_process(struct written process)
{
	int parent = process.real_parent  ? process.real_parent
		     : process.parent < 0 ? 1
					  : PIDS + process.parent;
	char text[500];

	snprintf(text, sizeof text,
		 "%d (job) %c %d 1 1 0 -1 %lld 0 0 0 0 %lld 0 %lld 0 20 0 %d 0 %lld 4096 10 0 1 2 3 0 0 0 0 "
		 "%lld 0\n",
		 PIDS + process.pid, process.state ? process.state : 'S', parent, process.flags,
		 process.user_ticks, process.waited_ticks, process.threads ? process.threads : 1,
		 process.start, process.ignored);
	put_below_proc(PIDS + process.pid, "stat", text);
}

/* Its children in the words of the kernel: "7000200 7000300 ". */
static inline void put_children(int pid, int thread, const char *children)
{
	char file[60];

	snprintf(file, sizeof file, "task/%d/children", PIDS + thread);
	put_below_proc(PIDS + pid, file, children);
}

static inline void remove_process(int pid)
{
	char path[60];

	snprintf(path, sizeof path, "proc/%d", PIDS + pid);
	assert_int_equal(nftw(path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline int begin_job(void **state)
{
	static const struct clocks clocks = {.monotonic_ns = standing_clock, .realtime_ns = standing_clock};

	if (scratch_enter(state) < 0 || mkdir("proc", 0700) < 0)
		return -1;
	clock_ns = 100 * NSEC_PER_SEC;
	put_text(".root", "clock_ticks 100\npage_bytes 4096\n");
	return root_open(&job_root, ".", &clocks) < 0 ? -1 : process_tree_new(&job_root, true, &tree);
}

static inline int end_job(void **state)
{
	process_tree_free(tree);
	root_close(&job_root);
	return scratch_leave(state);
}

/* Until the clock of a stopped process stands still. */
static inline void wait_for_still_clock(pid_t pid)
{
	int64_t before_ns;

	do {
		before_ns = process_clock_ns(pid);
		usleep(1000);
	} while (process_clock_ns(pid) != before_ns);
}

/* Starts a real process that is stopped. */
static inline pid_t start_still_process(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)raise(SIGSTOP);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	wait_for_still_clock(pid);
	return pid;
}

/* Lets it run for a moment, so that its clock has moved. */
static inline void let_run(pid_t pid)
{
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	wait_for_still_clock(pid);
}

static inline void end_still_process(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The members in the order of the table: "100 200 300". */
static inline void assert_members(const char *wanted)
{
	char found[4000] = "";

	for (size_t i = 0; i < tree->count; i++)
		snprintf(found + strlen(found), sizeof found - strlen(found), "%s%d", i ? " " : "",
			 (int)tree->members[i].pid - PIDS);
	assert_string_equal(found, wanted);
}

static inline struct member *member_of(int pid)
{
	struct member *member = process_tree_find(tree, PIDS + pid);

	assert_non_null(member);
	return member;
}

#define JOB_TEST(function) cmocka_unit_test_setup_teardown(function, begin_job, end_job)
