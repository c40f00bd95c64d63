/* Tests of src/kernel/root.c: whole files in few calls, however the kernel splits them. */
#include "scratch.h"
#include "in_child.h"
#include "kernel.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "kernel/proc_pid_io.h"
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

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

static struct root scratch_root(void)
{
	struct root root;

	assert_int_equal(root_open(&root, ".", NULL), 0);
	return root;
}

/* The file .root. Lines that are odd, and numbers that no machine has, leave the tester's own value. */
static void constants_of_a_tree_are_numbers_above_zero(void **state)
{
	struct root root;

	(void)state;
	put_text(".root", "page_bytes 16384\nclock_ticks 250\nother 7\n");
	root = scratch_root();
	assert_int_equal(root.page_bytes, 16384);
	assert_int_equal(root.clock_ticks, 250);
	root_close(&root);
	put_text(".root", "clock_ticks 2147483647\n\npage_bytes\nclock_ticks 0\nclock_ticks "
			  "2147483648\nclock_ticks x\n");
	root = scratch_root();
	assert_int_equal(root.clock_ticks, INT32_MAX);
	assert_int_equal(root.page_bytes, sysconf(_SC_PAGESIZE));
	root_close(&root);
}

static int64_t seven(void *context)
{
	return *(const int64_t *)context;
}

static int64_t ticks_of(clockid_t clock, int64_t per_second)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * per_second + now.tv_nsec / (1000000000 / per_second);
}

/* A machine that was captured has no clock of its own. */
static void times_are_the_kernels_on_the_live_machine_alone(void **state)
{
	int64_t told = 7, before, after, found;
	const struct clocks clocks = {seven, seven, &told};
	struct root root;

	(void)state;
	assert_int_equal(root_open(&root, ".", &clocks), 0);
	assert_int_equal(root_boot_ticks(&root), 0);
	assert_int_equal(root_thread_cpu_ns(&root), 7);
	root_close(&root);
	root = live_root();
	for (int64_t per_second = 100; per_second <= 1000000; per_second *= 100) {
		root.clock_ticks = per_second;
		before = ticks_of(CLOCK_BOOTTIME, per_second);
		found = root_boot_ticks(&root);
		after = ticks_of(CLOCK_BOOTTIME, per_second);
		assert_true(found >= before && found <= after);
	}
	before = ticks_of(CLOCK_THREAD_CPUTIME_ID, 1000000000);
	found = root_thread_cpu_ns(&root);
	after = ticks_of(CLOCK_THREAD_CPUTIME_ID, 1000000000);
	assert_true(found >= before && found <= after);
	root_close(&root);
}

/* A path that is cut would lead to another file. */
static void a_path_that_is_too_long_is_refused_whole(void **state)
{
	struct root root = scratch_root();
	char path[4100] = "", name[200] = "";

	(void)state;
	put_text("a", "short\n");
	while (strlen(path) < 4094)
		strcat(path, "./");
	strcat(path, "a");
	assert_int_equal(root_readf(&root, "%s", path), 6);
	strcat(path, "b");
	assert_int_equal(root_readf(&root, "%s", path), -ENAMETOOLONG);
	assert_int_equal(root_readf(&root, "%s%d", "a", 1), -ENOENT);
	root_close(&root);
	put_below("proc/7/a", "short\n");
	root = scratch_root();
	while (strlen(name) < 124)
		strcat(name, "./");
	strcat(name, "a");
	assert_int_equal(root_read_pid(&root, 7, name), 6);
	strcat(name, "b");
	assert_int_equal(root_read_pid(&root, 7, name), -ENAMETOOLONG);
	assert_int_equal(root_open_pid(&root, 7, name, 0), -ENAMETOOLONG);
	assert_int_equal(root.text.length, 0);
	root_close(&root);
}

static void a_failed_read_leaves_no_text(void **state)
{
	struct root root = scratch_root();
	struct kept_file missing = KEPT_FILE("missing"), folder = KEPT_FILE("folder"),
			 file = KEPT_FILE("file");
	int64_t value = 7;
	char word[8] = "old";

	(void)state;
	assert_int_equal(mkdir("folder", 0700), 0);
	put_text("file", "1 2\n3");
	assert_int_equal(root_read(&root, "file"), 5);
	assert_int_equal(root_read(&root, "missing"), -ENOENT);
	assert_int_equal(root.text.length, 0);
	assert_int_equal(root_read(&root, "folder"), -EISDIR);
	assert_int_equal(root_reread(&root, &file), 5);
	assert_int_equal(root_reread(&root, &missing), -ENOENT);
	assert_int_equal(root_reread(&root, &folder), -EISDIR);
	assert_int_equal(folder.fd, -1);
	/* The last line has no end, so it may have been cut. */
	assert_int_equal(root_reread_beginning(&root, &file), 4);
	assert_string_equal(root.text.data, "1 2\n");
	assert_int_equal(root_reread_beginning(&root, &missing), -ENOENT);
	assert_int_equal(root.text.length, 0);
	assert_int_equal(root_reread_beginning(&root, &folder), -EISDIR);
	kept_file_close(&folder);
	kept_file_close(&file);
	put_text("file", "no end");
	assert_int_equal(root_reread_beginning(&root, &file), 0);
	assert_string_equal(root.text.data, "");
	kept_file_close(&file);
	put_text("file", "");
	assert_int_equal(root_read_i64(&root, "file", &value), -EBADMSG);
	assert_int_equal(value, 7);
	assert_int_equal(root_read_i64(&root, "missing", &value), -ENOENT);
	assert_int_equal(root_read_word(&root, "missing", word, sizeof word), -ENOENT);
	assert_string_equal(word, "old");
	assert_int_equal(root_read_word(&root, "file", word, sizeof word), 0);
	assert_string_equal(word, "");
	root_close(&root);
	assert_int_equal(root.dir_fd, -1);
	assert_int_equal(root.proc_fd, -1);
}

static void the_last_part_of_a_link_is_its_name(void **state)
{
	struct root root = scratch_root();
	char name[16] = "old", target[16];

	(void)state;
	assert_int_equal(symlink("a", "one"), 0);
	assert_int_equal(symlink("/x/yz", "two"), 0);
	assert_int_equal(symlink("x/", "three"), 0);
	assert_int_equal(root_link_name_at(root.dir_fd, "missing", name, sizeof name), -ENOENT);
	assert_string_equal(name, "old");
	assert_int_equal(root_link_name_at(root.dir_fd, "one", name, sizeof name), 1);
	assert_string_equal(name, "a");
	assert_int_equal(root_link(&root, "one", target, sizeof target), 1);
	assert_string_equal(target, "a");
	assert_int_equal(root_link_name_at(root.dir_fd, "two", name, sizeof name), 2);
	assert_string_equal(name, "yz");
	assert_int_equal(root_link_name_at(root.dir_fd, "three", name, sizeof name), 0);
	assert_int_equal(root_link_name_at(root.dir_fd, "two", name, 2), 1);
	assert_string_equal(name, "y");
	root_close(&root);
}

/* Twelve stay open at most, and a file of the same name in another folder is another file. */
static void kept_files_are_few_and_told_apart_by_their_folder(void **state)
{
	static const char *const NAMES[] = {"f0", "f1", "f2", "f3",  "f4",  "f5", "f6",
					    "f7", "f8", "f9", "f10", "f11", "f12"};
	struct root root = scratch_root();
	struct kept_files files;
	int folder;

	(void)state;
	assert_int_equal(mkdir("below", 0700), 0);
	put_text("below/f0", "below\n");
	put_text("empty", "");
	for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++)
		put_text(NAMES[i], "above\n");
	folder = open("below", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	kept_files_init(&files);
	root.keep_in = &files;
	assert_int_equal(root_read_at(&root, root.dir_fd, "empty"), 0);
	assert_int_equal(root_read_at(&root, root.dir_fd, "empty"), 0);
	assert_int_equal(files.count, 1);
	assert_int_equal(root_read_at(&root, root.dir_fd, "below"), -EISDIR);
	assert_int_equal(files.count, 1);
	for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++)
		assert_int_equal(root_read_at(&root, root.dir_fd, NAMES[i]), 6);
	assert_int_equal(files.count, KEPT_FILES_MOST);
	kept_files_close(&files);
	assert_int_equal(files.count, 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(root_read_at(&root, root.dir_fd, "f0"), 6);
		assert_string_equal(root.text.data, "above\n");
		assert_int_equal(root_read_at(&root, folder, "f0"), 6);
		assert_string_equal(root.text.data, "below\n");
		assert_int_equal(files.count, 2);
	}
	kept_files_close(&files);
	/* The next descriptor is the first that is left to others. */
	files.first_not_kept = dup(0);
	close(files.first_not_kept);
	assert_int_equal(root_read_at(&root, root.dir_fd, "f0"), 6);
	assert_int_equal(files.count, 0);
	files.first_not_kept++;
	assert_int_equal(root_read_at(&root, root.dir_fd, "f0"), 6);
	assert_int_equal(files.count, 1);
	kept_files_close(&files);
	close(folder);
	root_close(&root);
}

static int keep_with_few_descriptors(void)
{
	static const struct {
		rlim_t most;
		int first_not_kept;
	} CASES[] = {{1025, 1024}, {1024, 960}, {100, 36}};
	struct kept_files files = {.count = 3};
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		if (CASES[i].most > limit.rlim_max)
			continue;
		limit.rlim_cur = CASES[i].most;
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
			return 10;
		kept_files_init(&files);
		if (files.count != 0 || files.first_not_kept != CASES[i].first_not_kept)
			return 1 + (int)i;
	}
	return 0;
}

static void the_last_descriptors_are_left_to_others(void **state)
{
	(void)state;
	assert_int_equal(in_child(keep_with_few_descriptors), 0);
}

/* Less than half a page may be the whole of a file. Half a page or more may be a part of one, and a second call asks. */
static void half_a_page_is_asked_about_again(void **state)
{
	struct root root = scratch_root(), live;
	char text[2048];
	int64_t calls[2];

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	live = live_root();
	memset(text, 'x', sizeof text);
	for (size_t i = 0; i < 2; i++) {
		int64_t before;
		int fd;

		put_file("value", text, 2047 + i);
		fd = root_open_file(&root, "value", 0);
		before = read_calls(&live);
		for (int times = 0; times < 10; times++)
			assert_int_equal(root_pread(&root, fd), 2047 + i);
		calls[i] = read_calls(&live) - before;
		close(fd);
	}
	assert_int_equal(calls[1] - calls[0], 10);
	root_close(&live);
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
		unit_test_in_scratch(constants_of_a_tree_are_numbers_above_zero),
		unit_test_in_scratch(times_are_the_kernels_on_the_live_machine_alone),
		unit_test_in_scratch(a_path_that_is_too_long_is_refused_whole),
		unit_test_in_scratch(a_failed_read_leaves_no_text),
		unit_test_in_scratch(the_last_part_of_a_link_is_its_name),
		unit_test_in_scratch(kept_files_are_few_and_told_apart_by_their_folder),
		unit_test_in_scratch(the_last_descriptors_are_left_to_others),
		unit_test_in_scratch(half_a_page_is_asked_about_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
