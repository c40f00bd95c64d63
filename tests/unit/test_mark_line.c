/* Tests of src/format/mark_line.c: the line of a mark, and the file that takes it. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/scan.h"
#include "format/mark_line.h"
#include "scratch.h"

enum { OTHER_USER = 4711 };

static int64_t taken_number(struct scan *text, const char *before)
{
	int64_t number = -1;

	assert_true(scan_literal(text, before) && scan_i64(text, &number));
	return number;
}

static void assert_line(const struct mark *mark, const char *behind_times)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(10000);
	int64_t real_ns = SYSTEM_CLOCKS.realtime_ns(SYSTEM_CLOCKS.context),
		monotonic_ns = SYSTEM_CLOCKS.monotonic_ns(SYSTEM_CLOCKS.context), written_ns;
	struct scan text;

	mark_line(&out, mark);
	text = scan_bytes(out.data, out.length);
	/* A person may set the clock of the wall. An hour is far more than this takes. */
	written_ns = taken_number(&text, "{\"timestamp_ns\":");
	assert_true(written_ns > real_ns - 3600 * NSEC_PER_SEC && written_ns < real_ns + 3600 * NSEC_PER_SEC);
	written_ns = taken_number(&text, ",\"monotonic_ns\":");
	assert_true(written_ns >= monotonic_ns && written_ns < monotonic_ns + 3600 * NSEC_PER_SEC);
	assert_true(scan_is(&text, behind_times));
}

static void a_line_tells_event_name_and_process(void **state)
{
	(void)state;
	assert_line(&(struct mark){MARK_START, "load \"x\"", "7-1", 42, "node-1"},
		    ",\"event\":\"start\",\"name\":\"load "
		    "\\\"x\\\"\",\"id\":\"7-1\",\"pid\":42,\"host\":\"node-1\"}\n");
	assert_line(&(struct mark){MARK_STOP, "", NULL, 1, ""},
		    ",\"event\":\"stop\",\"name\":\"\",\"id\":null,\"pid\":1,\"host\":\"\"}\n");
	assert_line(&(struct mark){MARK_NEXT, "n", "", 7, "h"},
		    ",\"event\":\"next\",\"name\":\"n\",\"id\":\"\",\"pid\":7,\"host\":\"h\"}\n");
}

static void a_name_has_1024_bytes_at_most(void **state)
{
	char longest[MARK_NAME_BYTES + 2];
	struct mark mark = {MARK_START, "n", NULL, 7, "h"};
	int fd = open("marks", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	off_t length;

	(void)state;
	memset(longest, '\001', sizeof longest);
	longest[MARK_NAME_BYTES + 1] = '\0';
	mark.name = longest;
	assert_int_equal(mark_write(fd, &mark), -ENAMETOOLONG);
	mark.name = "n";
	mark.id = longest;
	assert_int_equal(mark_write(fd, &mark), -ENAMETOOLONG);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	/* Each byte of both becomes six. */
	longest[MARK_NAME_BYTES] = '\0';
	mark.name = longest;
	assert_int_equal(mark_write(fd, &mark), 0);
	length = lseek(fd, 0, SEEK_END);
	assert_true(length > 12 * MARK_NAME_BYTES && length < 12 * MARK_NAME_BYTES + 300);
	/* No name of a host is so long. */
	mark.id = mark.host = longest;
	assert_int_equal(mark_write(fd, &mark), -ENOBUFS);
	assert_int_equal(lseek(fd, 0, SEEK_END), length);
	close(fd);
}

static void a_failed_write_is_told(void **state)
{
	const struct mark mark = {MARK_START, "n", NULL, 7, "h"};
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC), closed = open("marks", O_RDONLY | O_CREAT, 0666);

	(void)state;
	assert_int_equal(mark_write(full, &mark), -ENOSPC);
	assert_int_equal(mark_write(closed, &mark), -EBADF);
	close(full);
	close(closed);
}

static void assert_opens(const char *path)
{
	const struct mark mark = {MARK_START, "n", NULL, 7, "h"};
	int fd = mark_open(path);
	struct stat before, after;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &before), 0);
	assert_int_equal(mark_write(fd, &mark), 0);
	assert_int_equal(stat(path, &after), 0);
	assert_true(after.st_size > before.st_size && after.st_ino == before.st_ino);
	assert_true(marks_can_be_read(path));
	close(fd);
}

static void a_file_is_made_once_and_appended_to(void **state)
{
	char absolute[100];

	(void)state;
	snprintf(absolute, sizeof absolute, "%s/run.marks", scratch_folder);
	assert_opens("run.marks");
	assert_opens("run.marks");
	assert_opens(absolute);
	assert_int_equal(mark_open(NULL), -ENOENT);
	assert_int_equal(mark_open(""), -ENOENT);
	assert_int_equal(mark_open("none/run.marks"), -ENOENT);
	assert_int_equal(mark_open("run.marks/run.marks"), -ENOTDIR);
	assert_false(marks_can_be_read("other.marks"));
	assert_false(marks_can_be_read("none/other.marks"));
}

/* As other new files: the mask of the process takes rights away. */
static void everyone_may_write_to_a_new_file(void **state)
{
	mode_t mask = umask(0);
	struct stat status;

	(void)state;
	assert_int_equal(symlink("target", "link"), 0);
	close(mark_open("run.marks"));
	close(mark_open("link"));
	umask(mask);
	assert_int_equal(stat("run.marks", &status), 0);
	assert_int_equal(status.st_mode, S_IFREG | 0666);
	assert_int_equal(stat("target", &status), 0);
	assert_int_equal(status.st_mode, S_IFREG | 0666);
}

static void only_a_regular_file_takes_marks(void **state)
{
	int reader;

	(void)state;
	assert_int_equal(mkdir("folder", 0777), 0);
	assert_int_equal(mark_open("folder"), -EISDIR);
	assert_int_equal(mkfifo("pipe", 0666), 0);
	assert_int_equal(mark_open("pipe"), -ENXIO);
	reader = open("pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(mark_open("pipe"), -EINVAL);
	assert_false(marks_can_be_read("pipe"));
	close(reader);
}

/* In a folder of our own, a link is our own will. In one that all may write to, it may be a trap. */
static void links_are_followed_in_a_folder_of_our_own(void **state)
{
	(void)state;
	assert_int_equal(symlink("target", "a.marks"), 0);
	assert_opens("a.marks");
	assert_int_equal(link("target", "b.marks"), 0);
	assert_opens("b.marks");
	assert_int_equal(chmod(".", 0777), 0);
	assert_int_equal(mark_open("a.marks"), -ELOOP);
	assert_false(marks_can_be_read("a.marks"));
	assert_int_equal(mark_open("b.marks"), -EACCES);
	assert_false(marks_can_be_read("b.marks"));
	assert_opens("c.marks");
	assert_opens("c.marks");
}

static void files_of_other_users_are_left_alone(void **state)
{
	struct stat status;

	(void)state;
	put_text("run", "");
	if (geteuid() != 0 || chown("run", OTHER_USER, (gid_t)-1) < 0)
		SKIP("only root gives files away");
	/* Beside a recording of another user, root makes the marks that user's own. */
	assert_opens("run.marks");
	assert_int_equal(stat("run.marks", &status), 0);
	assert_int_equal(status.st_uid, OTHER_USER);
	put_text("lone.marks", "");
	assert_int_equal(chown("lone.marks", OTHER_USER, (gid_t)-1), 0);
	assert_opens("lone.marks");
	assert_int_equal(chmod(".", 0777), 0);
	assert_opens("run.marks");
	assert_int_equal(mark_open("lone.marks"), -EACCES);
	assert_false(marks_can_be_read("lone.marks"));
	/* A recording is a regular file. */
	assert_int_equal(mkdir("lone", 0777), 0);
	assert_int_equal(chown("lone", OTHER_USER, (gid_t)-1), 0);
	assert_int_equal(mark_open("lone.marks"), -EACCES);
	/* The owner of the folder may have a file there. */
	assert_int_equal(chown(".", OTHER_USER, (gid_t)-1), 0);
	assert_opens("lone.marks");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_tells_event_name_and_process),
		unit_test_in_scratch(a_name_has_1024_bytes_at_most),
		unit_test_in_scratch(a_failed_write_is_told),
		unit_test_in_scratch(a_file_is_made_once_and_appended_to),
		unit_test_in_scratch(everyone_may_write_to_a_new_file),
		unit_test_in_scratch(only_a_regular_file_takes_marks),
		unit_test_in_scratch(links_are_followed_in_a_folder_of_our_own),
		unit_test_in_scratch(files_of_other_users_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
