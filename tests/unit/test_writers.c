/* Tests of src/live/writers.c: a shell under the recorder's name holds locks on files, or does not. */
#include "scratch.h"

#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "live/writers.h"

static char found[4][PATH_MAX];
static size_t found_count;

/* Other recorders of this machine are left out. */
static void take_own(void *context, const char *path, const struct stat *status)
{
	const struct stat *wanted = context;

	if (status->st_dev != wanted->st_dev || status->st_ino != wanted->st_ino)
		return;
	assert_true(found_count < 4);
	snprintf(found[found_count++], PATH_MAX, "%s", path);
}

static void copy_shell(const char *to)
{
	size_t length;
	char *bytes = get_file("/bin/sh", &length);

	put_file(to, bytes, length);
	assert_int_equal(chmod(to, 0700), 0);
	free(bytes);
}

/* A process of that program with the open file, which is locked by `operation` (0: not at all). It ends when its input is closed. */
static pid_t start_writer(const char *program, const char *path, int flags, int operation, int *ret_input)
{
	int input[2], output[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	assert_int_equal(pipe2(output, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		int fd = open(path, flags);

		if (fd < 0 || (operation && flock(fd, operation) < 0))
			_exit(1);
		alarm(60);
		dup2(input[0], STDIN_FILENO);
		dup2(output[1], STDOUT_FILENO);
		execl(program, program, "-c", "echo; read word", (char *)NULL);
		_exit(2);
	}
	close(input[0]);
	close(output[1]);
	assert_int_equal(read(output[0], &byte, 1), 1);
	close(output[0]);
	*ret_input = input[1];
	return pid;
}

/* How often the file is found as one that such a process writes. */
static size_t writers_of(const char *program, const char *path, int flags, int operation, bool removes)
{
	struct stat status;
	int input, ended;
	pid_t pid = start_writer(program, path, flags, operation, &input);

	assert_int_equal(stat(path, &status), 0);
	if (removes)
		assert_int_equal(rename(path, "removed"), 0);
	found_count = 0;
	(void)writers_find(take_own, &status);
	close(input);
	assert_int_equal(waitpid(pid, &ended, 0), pid);
	return found_count;
}

static void a_recorder_is_found_by_its_lock(void **state)
{
	char whole[PATH_MAX];

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	copy_shell("resource-tracker");
	put_text("out.jsonl", "");
	assert_non_null(realpath("out.jsonl", whole));
	if (writers_of("./resource-tracker", "out.jsonl", O_WRONLY, LOCK_EX, false) != 1)
		SKIP("locks are not told by descriptor");
	assert_string_equal(found[0], whole);
	assert_int_equal(writers_of("./resource-tracker", "out.jsonl", O_RDONLY, LOCK_SH, false), 1);
	assert_int_equal(writers_of("./resource-tracker", "out.jsonl", O_WRONLY, 0, false), 0);
	/* Only regular files are recordings. */
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_int_equal(writers_of("./resource-tracker", "folder", O_RDONLY | O_DIRECTORY, LOCK_EX, false),
			 0);
	/* Another file may have its name now. */
	assert_int_equal(writers_of("./resource-tracker", "out.jsonl", O_WRONLY, LOCK_EX, true), 1);
	assert_string_equal(found[0] + strlen(found[0]) - strlen("/removed"), "/removed");
}

static void programs_with_other_names_are_left_out(void **state)
{
	static const char *const NAMES[] = {"./sh", "./resource-tracker-x", "./resource-track",
					    "./my-resource-tracker"};

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_text("out.jsonl", "");
	for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
		copy_shell(NAMES[i]);
		assert_int_equal(writers_of(NAMES[i], "out.jsonl", O_WRONLY, LOCK_EX, false), 0);
	}
}

/* After an upgrade the kernel names it "resource-tracker (deleted)", and a removed recording is reached by its descriptor. */
static void a_removed_recording_is_still_found(void **state)
{
	char wanted[PATH_MAX];
	struct stat status, again;
	int input, ended;
	pid_t pid;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	copy_shell("resource-tracker");
	put_text("out.jsonl", "");
	pid = start_writer("./resource-tracker", "out.jsonl", O_WRONLY, LOCK_EX, &input);
	assert_int_equal(stat("out.jsonl", &status), 0);
	assert_int_equal(unlink("resource-tracker"), 0);
	assert_int_equal(unlink("out.jsonl"), 0);
	put_text("out.jsonl", "another one");
	found_count = 0;
	(void)writers_find(take_own, &status);
	snprintf(wanted, sizeof wanted, "/proc/%d/fd/", (int)pid);
	if (found_count) {
		assert_memory_equal(found[0], wanted, strlen(wanted));
		assert_int_equal(stat(found[0], &again), 0);
		assert_int_equal(again.st_ino, status.st_ino);
	}
	close(input);
	assert_int_equal(waitpid(pid, &ended, 0), pid);
	if (!found_count)
		SKIP("locks are not told by descriptor");
}

/* Other processes may take and leave locks meanwhile. */
static void another_lock_has_another_number(void **state)
{
	uint64_t before, locked;
	int fd;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_text("out.jsonl", "");
	fd = open("out.jsonl", O_RDONLY);
	before = writers_locks();
	if (!before)
		SKIP("/proc/locks cannot be read");
	assert_int_equal(flock(fd, LOCK_EX), 0);
	locked = writers_locks();
	assert_true(locked && locked != before);
	close(fd);
	assert_true(writers_locks() != locked);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(a_recorder_is_found_by_its_lock),
		unit_test_in_scratch(programs_with_other_names_are_left_out),
		unit_test_in_scratch(a_removed_recording_is_still_found),
		unit_test_in_scratch(another_lock_has_another_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
