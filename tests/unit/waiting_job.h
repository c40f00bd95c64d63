/* A job in a scratch folder, whose files of /proc a test lays out, and the end of its chain of waits. */
#pragma once

#include "scratch.h"

#include <sys/syscall.h>

#include "job/waits/wait_chain.h"

enum { SHELL = 100, WORKER, OTHER, THREAD = 110, SECOND_THREAD };

static struct root root;
static struct process_tree tree;

static inline void make_folder(const char *path)
{
	assert_true(mkdir(path, 0755) == 0 || access(path, F_OK) == 0);
}

static inline int begin_job(void **state)
{
	int error = scratch_enter(state);

	if (!error)
		error = mkdir("proc", 0755) | root_open(&root, ".", NULL);
	tree = (struct process_tree){.root = &root, .with_children = true, .root_pid = SHELL};
	return error;
}

static inline int end_job(void **state)
{
	free(tree.members);
	free(tree.slots);
	root_close(&root);
	return scratch_leave(state);
}

static inline void add_file(pid_t pid, pid_t tid, const char *name, const char *text)
{
	char path[64];

	snprintf(path, sizeof path, "proc/%d/task/%d", (int)pid, (int)tid);
	make_folder(path);
	snprintf(path, sizeof path, "proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	put_text(path, text);
}

static inline void add_state(pid_t pid, pid_t tid, char state, int threads)
{
	char text[128];

	snprintf(text, sizeof text,
		 "%d (x) %c 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 %d 0 5 0 0 0 0 0 0 0 0 0 0 0 0\n", (int)tid,
		 state, threads);
	add_file(pid, tid, "stat", text);
}

/* A thread that waits in a call with up to four arguments. */
static inline void add_thread(pid_t pid, pid_t tid, char state, long call, const uint64_t arguments[4])
{
	char text[160];

	add_state(pid, tid, state, 1);
	snprintf(text, sizeof text, "%ld 0x%llx 0x%llx 0x%llx 0x%llx 0x0 0x0 0x1 0x1\n", call,
		 (unsigned long long)arguments[0], (unsigned long long)arguments[1],
		 (unsigned long long)arguments[2], (unsigned long long)arguments[3]);
	add_file(pid, tid, "syscall", text);
}

#define CALL(...) ((const uint64_t[4]){__VA_ARGS__})

static inline void add_process(pid_t pid, pid_t parent, const char *name)
{
	struct member member = {.pid = pid, .parent_pid = parent};
	char path[64];

	snprintf(member.program.comm, sizeof member.program.comm, "%s", name);
	assert_int_equal(process_tree_reserve(&tree), 0);
	process_tree_append(&tree, &member);
	for (size_t i = 0; i < 4; i++) {
		const char *folders[] = {"", "/task", "/fd", "/fdinfo"};

		snprintf(path, sizeof path, "proc/%d%s", (int)pid, folders[i]);
		make_folder(path);
	}
}

static inline void add_waiting(pid_t pid, pid_t parent, long call, const uint64_t arguments[4])
{
	add_process(pid, parent, "job");
	add_thread(pid, pid, 'S', call, arguments);
}

static inline void add_descriptor(pid_t pid, int fd, const char *link, const char *info)
{
	char path[64];

	snprintf(path, sizeof path, "proc/%d/fd/%d", (int)pid, fd);
	assert_int_equal(symlink(link, path), 0);
	snprintf(path, sizeof path, "proc/%d/fdinfo/%d", (int)pid, fd);
	put_text(path, info);
}

/* A file of /data, which is on the disk vda. */
static inline void add_file_of_data(pid_t pid, int fd)
{
	char path[64];

	add_descriptor(pid, fd, "/data/table", "pos:\t0\nmnt_id:\t31\n");
	snprintf(path, sizeof path, "proc/%d/mountinfo", (int)pid);
	put_text(path, "30 1 0:5 / /proc rw - proc proc rw\n31 1 254:0 / /data rw - ext4 /dev/vda rw\n");
	make_folder("sys");
	make_folder("sys/dev");
	make_folder("sys/dev/block");
	if (access("sys/dev/block/254:0", F_OK) < 0)
		(void)!symlink("../../devices/virtio1/block/vda", "sys/dev/block/254:0");
}

static struct found_wait found;

static inline void expect_wait(enum wait_class class, pid_t pid, const char *target)
{
	int error = 0;

	assert_true(wait_chain_end(&tree, &found, &error));
	assert_int_equal(error, 0);
	assert_int_equal(found.class, class);
	assert_int_equal(found.pid, pid);
	assert_string_equal(found.target, target);
}

static inline void expect_none(void)
{
	int error = 0;

	assert_false(wait_chain_end(&tree, &found, &error));
	assert_int_equal(error, 0);
}

#define unit_test_of_job(test) cmocka_unit_test_setup_teardown(test, begin_job, end_job)
