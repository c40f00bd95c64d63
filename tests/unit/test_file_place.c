/* Tests of src/base/file_place.c, read_file.c and is_page.c: files before they are read or written. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_place.h"
#include "base/is_page.h"
#include "base/read_file.h"
#include "scratch.h"

static void a_path_becomes_absolute(void **state)
{
	char path[DESCRIPTOR_PATH_BYTES], wanted[100];
	CLEANUP_FREE char *here = absolute_path("a/b"), *there = absolute_path("/a/b");

	(void)state;
	snprintf(wanted, sizeof wanted, "%s/a/b", scratch_folder);
	assert_string_equal(here, wanted);
	assert_string_equal(there, "/a/b");
	assert_string_equal(descriptor_path(70, path), "/proc/self/fd/70");
	assert_ptr_equal(descriptor_path(INT_MAX, path), path);
	assert_string_equal(path, "/proc/self/fd/2147483647");
}

static void the_folder_must_take_a_file(void **state)
{
	char absolute[100];

	(void)state;
	put_text("file", "");
	assert_int_equal(mkdir("folder", 0777), 0);
	snprintf(absolute, sizeof absolute, "%s/new", scratch_folder);
	assert_int_equal(check_file_place("new"), 0);
	assert_int_equal(check_file_place("file"), 0);
	assert_int_equal(check_file_place("folder/new"), 0);
	assert_int_equal(check_file_place(absolute), 0);
	assert_int_equal(check_file_place("folder"), -EISDIR);
	assert_int_equal(check_file_place("none/new"), -ENOENT);
	assert_int_equal(check_file_place("file/new"), -ENOTDIR);
	if (access("/proc/sys", W_OK) < 0 && errno == EROFS)
		assert_int_equal(check_file_place("/proc/sys/new"), -EROFS);
	assert_int_equal(access("new", F_OK), -1);
}

static void each_mistake_has_its_words(void **state)
{
	(void)state;
	assert_string_equal(file_place_fault(-ENOENT), "its folder does not exist; create it first");
	assert_string_equal(file_place_fault(-ENOTDIR),
			    "a part of its path is a file, not a folder; choose another name");
	assert_string_equal(file_place_fault(-EACCES),
			    "its folder takes no new file from this user; choose another folder");
	assert_string_equal(file_place_fault(-EROFS),
			    "its folder takes no new file from this user; choose another folder");
	assert_string_equal(file_place_fault(-EISDIR), "it is a folder; name a file in it");
	assert_string_equal(file_place_fault(-ETIMEDOUT), "its file system does not answer");
	assert_string_equal(file_place_fault(-ENOSPC), strerror(ENOSPC));
}

static void trouble_of_the_machine_is_told_from_mistakes(void **state)
{
	static const int MISTAKES[] = {EACCES, EBADF,        EBUSY,   EEXIST, EINVAL, EISDIR, ELOOP,
				       ENOENT, ENAMETOOLONG, ENOTDIR, ENXIO,  EROFS,  ESRCH};
	static const int TROUBLE[] = {0,      EIO,       ENOSPC, EDQUOT, ENOMEM, EMFILE,
				      ENFILE, ETIMEDOUT, ESTALE, 254,    255};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(MISTAKES); i++) {
		assert_true(is_place_mistake(-MISTAKES[i]));
		assert_false(is_place_mistake(-MISTAKES[i] - 256));
	}
	for (size_t i = 0; i < ARRAY_SIZE(TROUBLE); i++)
		assert_false(is_place_mistake(-TROUBLE[i]));
}

static void room_is_kept_without_a_longer_file(void **state)
{
	int fd = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0666),
	    null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct stat status;

	(void)state;
	assert_true(has_room_for_recording(fd));
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_size, 0);
	/* A device has no room of its own, and takes each write. */
	assert_true(has_room_for_recording(null));
	close(fd);
	close(null);
}

static int look_for_room_below(rlim_t most_bytes)
{
	const struct rlimit no_core = {0, 0}, limit = {most_bytes, most_bytes};
	/* tmpfs counts what is reserved. */
	int fd = memfd_create("recording", MFD_CLOEXEC);

	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGXFSZ, SIG_DFL);
	return setrlimit(RLIMIT_FSIZE, &limit) == 0 && has_room_for_recording(fd) ? 0 : 1;
}

static void a_limit_on_the_size_of_files_ends_no_program(void **state)
{
	(void)state;
	for (rlim_t most = 65535; most <= 65536; most++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			_exit(look_for_room_below(most));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

static void a_whole_file_is_read_up_to_the_ceiling(void **state)
{
	static char bytes[10000];
	CLEANUP_BUFFER struct buffer text = BUFFER(20000), small = BUFFER(9000);

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)('a' + i % 23);
	put_file("file", bytes, sizeof bytes);
	buffer_add_text(&text, "before");
	assert_int_equal(read_whole_file("file", &text), 0);
	assert_int_equal(text.length, 6 + sizeof bytes);
	assert_memory_equal(text.data + 6, bytes, sizeof bytes);
	assert_int_equal(read_whole_file("file", &small), -EFBIG);
	assert_int_equal(read_whole_file("none", &text), -ENOENT);
	assert_int_equal(read_whole_file(".", &text), -EISDIR);
}

static bool is_page_of(const char *text)
{
	put_text("page", text);
	return is_page("page");
}

static void a_page_begins_with_its_first_mark(void **state)
{
	char late[100];

	(void)state;
	assert_true(is_page_of(""));
	assert_true(is_page_of("<!DOCTYPE html>\n<title>"));
	assert_true(is_page_of("<!doctype HTML"));
	assert_true(is_page_of(" \t\r\n<Html lang=en>"));
	assert_false(is_page_of("<htm"));
	assert_false(is_page_of("<!doctype svg>"));
	assert_false(is_page_of("x<html>"));
	assert_false(is_page_of("{\"timestamp_secs\":1}"));
	/* It is looked for in 63 bytes. */
	snprintf(late, sizeof late, "%58s<html>", "");
	assert_true(is_page_of(late));
	snprintf(late, sizeof late, "%59s<html>", "");
	assert_false(is_page_of(late));
	assert_false(is_page("none"));
	assert_false(is_page("."));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(a_path_becomes_absolute),
		unit_test_in_scratch(the_folder_must_take_a_file),
		cmocka_unit_test(each_mistake_has_its_words),
		cmocka_unit_test(trouble_of_the_machine_is_told_from_mistakes),
		unit_test_in_scratch(room_is_kept_without_a_longer_file),
		cmocka_unit_test(a_limit_on_the_size_of_files_ends_no_program),
		unit_test_in_scratch(a_whole_file_is_read_up_to_the_ceiling),
		unit_test_in_scratch(a_page_begins_with_its_first_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
