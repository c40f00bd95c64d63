/* Tests of src/kernel/root.c: whole files in few calls, however the kernel splits them. */
#include "kernel.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "kernel/proc_pid_io.h"

static struct root live_root(void)
{
	struct root root;

	assert_int_equal(root_open(&root, NULL, NULL), 0);
	return root;
}

/* Reads until read(2) returns 0. */
static size_t plain_read(const char *path, char *bytes, size_t size)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t got;

	assert_true(fd >= 0);
	while ((got = read(fd, bytes + length, size - length)) > 0)
		length += (size_t)got;
	assert_int_equal(got, 0);
	return length;
}

static void a_missing_folder_is_an_error(void **state)
{
	struct root root;

	(void)state;
	assert_int_equal(root_open(&root, "/nowhere/at/all", NULL), -ENOENT);
	assert_int_equal(root_open(&root, "/dev/null", NULL), -ENOTDIR);
}

/* A machine whose /proc is not there has no processes. */
static void a_machine_without_proc_has_no_processes(void **state)
{
	char folder[] = "/tmp/rt-root-XXXXXX", target[8] = "old";
	struct root root;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(root_open(&root, folder, NULL), 0);
	assert_int_equal(root_open_pid(&root, 1, "stat", 0), -ENOENT);
	assert_int_equal(root_read_pid(&root, 1, "stat"), -ENOENT);
	assert_int_equal(root_link(&root, "x", target, 0), -EINVAL);
	assert_int_equal(root_link(&root, "x", target, sizeof target), -ENOENT);
	assert_string_equal(target, "old");
	assert_int_equal(symlinkat("longer than that", root.dir_fd, "x"), 0);
	assert_int_equal(root_link(&root, "x", target, sizeof target), 7);
	assert_string_equal(target, "longer ");
	assert_int_equal(unlinkat(root.dir_fd, "x", 0), 0);
	root_close(&root);
	rmdir(folder);
}

static void only_the_slash_is_live(void **state)
{
	struct root root = live_root();

	(void)state;
	assert_true(root.live);
	root_close(&root);
	root = test_root("hand-made-vm-3.10/t0");
	assert_false(root.live);
	root_close(&root);
}

static void a_tree_brings_its_tick_and_page_size(void **state)
{
	struct root root = test_root("hand-made-altra-256cpu-6.8/t0");

	(void)state;
	assert_int_equal(root.page_bytes, 65536);
	assert_int_equal(root.clock_ticks, 100);
	root_close(&root);
	root = live_root();
	assert_int_equal(root.page_bytes, sysconf(_SC_PAGESIZE));
	root_close(&root);
}

/* seq_file returns it in hundreds of pieces of less than a page. */
static void long_files_are_complete(void **state)
{
	enum { ROOM = 15 << 20 };
	CLEANUP_FREE char *bytes = NULL;
	struct root root;
	ssize_t length;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	bytes = malloc(ROOM);
	root = live_root();
	assert_non_null(bytes);
	length = (ssize_t)plain_read("/proc/kallsyms", bytes, ROOM);
	if (length < 100000 || length == ROOM) {
		root_close(&root);
		SKIP("this kernel's /proc/kallsyms is not long enough, or too long");
	}
	assert_int_equal(root_read(&root, "proc/kallsyms"), length);
	assert_memory_equal(root.text.data, bytes, (size_t)length);
	assert_int_equal(root.text.data[length], '\0');
	/* Read it again, into the buffer that has grown, by the quick way. */
	CLEANUP_CLOSE int fd = root_open_file(&root, "proc/kallsyms", 0);
	assert_int_equal(root_pread(&root, fd), length);
	assert_memory_equal(root.text.data, bytes, (size_t)length);
	root_close(&root);
}

static int read_long_mount(const char *source)
{
	struct kept_file file = KEPT_FILE("proc/self/mountinfo");
	struct root root = live_root();
	bool found;

	if (unshare(CLONE_NEWNS) < 0 || mount("", "/", "", MS_REC | MS_PRIVATE, "") < 0 ||
	    mount(source, "/tmp", "tmpfs", 0, "") < 0)
		return 77;
	found = root_reread_to_end(&root, &file) > 0 && strstr(root.text.data, source) &&
		strstr(root.text.data, source)[strlen(source)] == ' ';
	kept_file_close(&file);
	root_close(&root);
	return found ? 0 : 1;
}

/* A record of nearly a page follows less than half a page of short ones: the first read(2) leaves it out. */
static void a_long_record_after_short_ones_is_not_lost(void **state)
{
	char source[3600];
	int status;
	pid_t child;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	memset(source, 'x', sizeof source - 1);
	source[sizeof source - 1] = '\0';
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(read_long_mount(source));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		SKIP("not allowed to mount");
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int64_t read_calls(struct root *root)
{
	struct proc_pid_io io;

	assert_int_equal(read_proc_pid_io(root, getpid(), &io), 0);
	return io.read_calls;
}

/* Compared with as many plain calls, so that the reads for counting cancel out. */
static void a_small_file_costs_one_call(void **state)
{
	static const char *const SMALL[] = {"proc/self/statm", "proc/self/stat", "proc/loadavg",
					    "proc/meminfo", "proc/net/dev"};
	struct root root;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	root = live_root();
	for (size_t i = 0; i < ARRAY_SIZE(SMALL); i++) {
		struct kept_file file = KEPT_FILE(SMALL[i]);
		int64_t before, plain, ours;
		char bytes[4096];

		assert_true(root_reread(&root, &file) > 0);
		if (root.text.length < 2048) {
			before = read_calls(&root);
			for (int times = 0; times < 10; times++)
				assert_true(pread(file.fd, bytes, sizeof bytes, 0) > 0);
			plain = read_calls(&root) - before;
			before = read_calls(&root);
			for (int times = 0; times < 10; times++)
				assert_true(root_reread(&root, &file) > 0);
			ours = read_calls(&root) - before;
			assert_int_equal(ours, plain);
		}
		kept_file_close(&file);
	}
	root_close(&root);
}

static void kept_files_are_read_anew(void **state)
{
	char path[] = "/tmp/root-test-XXXXXX", text[64];
	char *dir = mkdtemp(path);
	struct kept_file file = KEPT_FILE("value");
	struct root root;
	FILE *out;

	(void)state;
	assert_non_null(dir);
	assert_int_equal(root_open(&root, dir, NULL), 0);
	assert_int_equal(root_reread(&root, &file), -ENOENT);
	snprintf(text, sizeof text, "%s/value", dir);
	for (int i = 0; i < 3; i++) {
		out = fopen(text, "we");
		assert_non_null(out);
		fprintf(out, "%d\n", 10 - i);
		fclose(out);
		assert_true(root_reread(&root, &file) > 0);
		assert_int_equal(root.text.data[0], i ? '0' + 10 - i : '1');
	}
	assert_int_equal(root_read_i64(&root, "value", &(int64_t){0}), 0);
	unlink(text);
	rmdir(dir);
	kept_file_close(&file);
	root_close(&root);
}

static void files_of_a_folder_stay_open_while_they_are_kept(void **state)
{
	struct root root = live_root();
	CLEANUP_CLOSE int self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct kept_files files;

	(void)state;
	kept_files_init(&files);
	root.keep_in = &files;
	for (int i = 0; i < 3; i++) {
		assert_true(root_read_at(&root, self, "comm") > 0);
		assert_true(root_read_at(&root, self, "statm") > 0);
		assert_int_equal(root_read_at(&root, self, "no-such-file"), -ENOENT);
		assert_int_equal(files.count, 2);
	}
	root.keep_in = NULL;
	assert_true(root_read_at(&root, self, "limits") > 0);
	assert_int_equal(files.count, 2);
	kept_files_close(&files);
	/* If descriptors are scarce, none is kept. */
	files.first_not_kept = 0;
	root.keep_in = &files;
	assert_true(root_read_at(&root, self, "comm") > 0);
	assert_int_equal(files.count, 0);
	root_close(&root);
}

static void a_kept_file_that_fails_is_opened_again(void **state)
{
	struct root root;
	struct kept_files files;
	pid_t child;
	char name[32];

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	root = live_root();
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	snprintf(name, sizeof name, "%d/statm", (int)child);
	kept_files_init(&files);
	root.keep_in = &files;
	assert_true(root_read_at(&root, root.proc_fd, name) > 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(root_read_at(&root, root.proc_fd, name), -ESRCH);
	assert_int_equal(files.count, 0);
	assert_int_equal(root_read_at(&root, root.proc_fd, name), -ENOENT);
	kept_files_close(&files);
	root_close(&root);
}

static void vanished_processes_are_errors(void **state)
{
	struct root root;
	pid_t child;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	root = live_root();
	child = fork();
	if (child == 0)
		pause();
	CLEANUP_CLOSE int fd = root_open_pid(&root, child, "stat", 0);
	assert_true(root_pread(&root, fd) > 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(root_pread(&root, fd), -ESRCH);
	assert_int_equal(root.text.length, 0);
	assert_int_equal(root_read_pid(&root, child, "stat"), -ENOENT);
	root_close(&root);
}

static void directories_are_listed_without_dots(void **state)
{
	CLEANUP_ROOT_DIR struct root_dir dir = ROOT_DIR;
	struct root root = test_root("hand-made-vm-3.10/t0");
	const char *name;
	int names = 0;

	(void)state;
	assert_int_equal(root_dir_open(&root, "sys/class/net", &dir), 0);
	while ((name = root_dir_next(&dir))) {
		assert_true(strcmp(name, "lo") == 0 || strcmp(name, "ens33") == 0);
		names++;
	}
	assert_int_equal(names, 2);
	root_dir_close(&dir);
	assert_int_equal(root_dir_open(&root, "sys/class/none", &dir), -ENOENT);
	assert_int_equal(root_dir_open(&root, "proc/stat", &dir), -ENOTDIR);
	root_close(&root);
}

static void links_are_read_and_words_trimmed(void **state)
{
	struct root root = test_root("hand-made-workstation-6.1/t0");
	char text[64], tiny[4];
	int64_t value;

	(void)state;
	assert_true(root_link(&root, "sys/class/block/sda", text, sizeof text) > 0);
	assert_memory_equal(text, "../../devices/", 14);
	assert_int_equal(root_link_name_at(root.dir_fd, "sys/class/block/sda", text, sizeof text), 3);
	assert_string_equal(text, "sda");
	assert_int_equal(root_link_name_at(root.dir_fd, "proc/stat", text, sizeof text), -EINVAL);
	assert_int_equal(root_read_word(&root, "sys/class/block/sda/device/vendor", text, sizeof text), 0);
	assert_string_equal(text, "ATA");
	assert_int_equal(root_read_word(&root, "sys/class/block/sda/device/model", tiny, sizeof tiny), 0);
	assert_string_equal(tiny, "ST4");
	assert_int_equal(root_read_i64(&root, "sys/class/block/sda/size", &value), 0);
	assert_int_equal(value, 7814037168);
	assert_int_equal(root_read_i64(&root, "etc/os-release", &value), -EBADMSG);
	assert_int_equal(root_read_i64(&root, "sys/none", &value), -ENOENT);
	assert_true(root_exists(&root, "proc/stat"));
	assert_false(root_exists(&root, "proc/none"));
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_folder_is_an_error),
		cmocka_unit_test(a_machine_without_proc_has_no_processes),
		cmocka_unit_test(only_the_slash_is_live),
		cmocka_unit_test(a_tree_brings_its_tick_and_page_size),
		cmocka_unit_test(long_files_are_complete),
		cmocka_unit_test(a_long_record_after_short_ones_is_not_lost),
		cmocka_unit_test(a_small_file_costs_one_call),
		cmocka_unit_test(kept_files_are_read_anew),
		cmocka_unit_test(files_of_a_folder_stay_open_while_they_are_kept),
		cmocka_unit_test(a_kept_file_that_fails_is_opened_again),
		cmocka_unit_test(vanished_processes_are_errors),
		cmocka_unit_test(directories_are_listed_without_dots),
		cmocka_unit_test(links_are_read_and_words_trimmed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
