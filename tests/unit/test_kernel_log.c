/* Tests of src/kernel/dev_kmsg.c: which file is the kernel's log. This program tells the number of the namespace in the kernel's place. */
#include "kernel.h"
#include "scratch.h"

#include <sys/socket.h>

#include "kernel/dev_kmsg.h"

static struct {
	bool was_asked;
	int error;
	ino_t inode;
} first_namespace;

/* Some versions of the C library have it as a macro, and then the test is left out. */
int fstatat(int folder_fd, const char *path, struct stat *ret_status, int flags)
{
	(void)folder_fd, (void)path, (void)flags;
	first_namespace.was_asked = true;
	*ret_status = (struct stat){.st_ino = first_namespace.inode};
	errno = first_namespace.error;
	return first_namespace.error ? -1 : 0;
}

static int open_log(struct root *root, const char *target)
{
	int fd = -7, error;

	unlink("dev/kmsg");
	if (target)
		assert_int_equal(symlink(target, "dev/kmsg"), 0);
	error = open_dev_kmsg(root, &fd);
	if (error < 0) {
		assert_int_equal(fd, -7);
		return error;
	}
	assert_true(fd > 2);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	close(fd);
	return error;
}

/* Its records name processes of the first namespace. Only there do they name the job's. */
static void the_log_is_a_device_of_the_first_namespace(void **state)
{
	struct root root;

	(void)state;
	assert_int_equal(mkdir("dev", 0755), 0);
	put_text("plain", "");
	assert_int_equal(root_open(&root, ".", NULL), 0);
	first_namespace.inode = 0xEFFFFFFC;
	assert_int_equal(open_log(&root, "/dev/null"), -EOPNOTSUPP);
	root.live = true;
	if (open_log(&root, "/dev/null") != 0 && !first_namespace.was_asked)
		SKIP("the C library asks for a file's status in another way");
	assert_int_equal(open_log(&root, "/dev/null"), 0);
	assert_int_equal(open_log(&root, NULL), -ENOENT);
	assert_int_equal(open_log(&root, "../plain"), -EOPNOTSUPP);
	/* A device that cannot be read from its end. */
	assert_int_equal(open_log(&root, "/dev/ptmx"), -EOPNOTSUPP);
	first_namespace.inode++;
	assert_int_equal(open_log(&root, "/dev/null"), -EOPNOTSUPP);
	first_namespace.inode--;
	first_namespace.error = EACCES;
	assert_int_equal(open_log(&root, "/dev/null"), -EOPNOTSUPP);
	root_close(&root);
}

/* The log ends with a read of 0 bytes in some sandboxes. */
static void a_log_without_records_has_no_kill(void **state)
{
	static const char KILL[] = "3,2,2,-;Out of memory: Killed process 7 (x)\n";
	int ends[2];
	pid_t pid = 0;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(write(ends[1], KILL, sizeof KILL - 1), sizeof KILL - 1);
	close(ends[1]);
	assert_int_equal(read_dev_kmsg_kill(ends[0], &pid), 1);
	assert_int_equal(pid, 7);
	assert_int_equal(read_dev_kmsg_kill(ends[0], &pid), 0);
	close(ends[0]);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(the_log_is_a_device_of_the_first_namespace),
		cmocka_unit_test(a_log_without_records_has_no_kill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
