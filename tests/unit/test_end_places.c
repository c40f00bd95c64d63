/* Tests of src/cli/end_places.c: where --report and --runs write, and the recording that is kept without a page. */
#include "captured.h"
#include "small_disk.h"

#include <sys/mman.h>

#include "cli/end_places.h"

static void a_new_file_or_an_html_page_is_written(void **state)
{
	static const char *const GOOD[] = {"", "-", "new.html", "page.html", "empty.html", "/dev/null"};

	(void)state;
	put_text("page.html", "<!DOCTYPE html><p>");
	put_text("empty.html", "");
	for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++)
		assert_null(why_no_page(GOOD[i]));
	/* It creates nothing. */
	assert_int_equal(access("new.html", F_OK), -1);
	assert_int_equal(access("-", F_OK), -1);
	/* That name means stdout, whatever is there. */
	put_text("-", "text");
	assert_null(why_no_page("-"));
}

static void a_page_replaces_no_other_content_and_no_folder(void **state)
{
	(void)state;
	put_text("notes", "text");
	mkdir("folder", 0700);
	assert_string_equal(
		why_no_page("notes"),
		"has content that is not an HTML page, so it is not overwritten; choose another name");
	assert_string_equal(why_no_page("folder"), "cannot be written: it is a folder; name a file in it");
	assert_string_equal(why_no_page("missing/page.html"),
			    "cannot be written: its folder does not exist; create it first");
	assert_string_equal(
		why_no_page("notes/page.html"),
		"cannot be written: a part of its path is a file, not a folder; choose another name");
}

static void a_line_is_appended_to_a_new_or_a_regular_file(void **state)
{
	(void)state;
	put_text("notes", "text");
	mkdir("folder", 0700);
	mkfifo("fifo", 0600);
	assert_null(why_no_line(""));
	assert_null(why_no_line("new.jsonl"));
	assert_null(why_no_line("notes"));
	assert_int_equal(access("new.jsonl", F_OK), -1);
	assert_string_equal(why_no_line("fifo"),
			    "is not a regular file; name one to which a line can be appended");
	assert_string_equal(why_no_line("/dev/null"),
			    "is not a regular file; name one to which a line can be appended");
	assert_string_equal(why_no_line("folder"), "cannot be written: it is a folder; name a file in it");
	assert_string_equal(why_no_line("missing/runs"),
			    "cannot be written: its folder does not exist; create it first");
}

static void a_file_or_folder_that_may_not_be_written_is_told(void **state)
{
	const char *line, *page;

	(void)state;
	if (geteuid())
		skip();
	put_text("runs", "");
	mkdir("folder", 0755);
	put_text("folder/page.html", "<html>");
	put_text("folder/runs", "");
	assert_int_equal(chmod("folder/runs", 0666), 0);
	assert_int_equal(chmod(".", 0755), 0);
	assert_int_equal(seteuid(65534), 0);
	line = why_no_line("runs");
	page = line ? "" : NULL;
	assert_string_equal(line ? line : "", "takes no line from this user; choose another file");
	/* A line needs the file alone. A page is written beside it first. */
	assert_null(why_no_line("folder/runs"));
	page = why_no_page("folder/page.html");
	assert_string_equal(
		page ? page : "",
		"cannot be written: its folder takes no new file from this user; choose another folder");
	assert_int_equal(seteuid(0), 0);
}

/* ---- the recording that is kept ---- */

static void a_recording_without_a_page_is_kept_beside_it(void **state)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct stat kept;

	(void)state;
	assert_int_equal(write(fd, "one\ntwo\n", 8), 8);
	rescue_recording(fd, "page.html");
	assert_printed("err", "resource-tracker: the recording is kept in page.html.jsonl\n");
	assert_file_text("page.html.jsonl", "one\ntwo\n");
	assert_int_equal(stat("page.html.jsonl", &kept), 0);
	assert_int_equal(kept.st_mode & 0111, 0);
	/* Earlier ones stay. */
	rescue_recording(fd, "page.html");
	assert_printed("err", "resource-tracker: the recording is kept in page.html.1.jsonl\n");
	rescue_recording(fd, "page.html");
	assert_printed("err", "resource-tracker: the recording is kept in page.html.2.jsonl\n");
	close(fd);
}

static void at_most_a_hundred_are_kept(void **state)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	char name[40];

	(void)state;
	put_text("page.jsonl", "");
	for (int i = 1; i < 99; i++) {
		snprintf(name, sizeof name, "page.%d.jsonl", i);
		put_text(name, "");
	}
	rescue_recording(fd, "page");
	assert_printed("err", "resource-tracker: the recording is kept in page.99.jsonl\n");
	assert_int_equal(setenv("TMPDIR", "missing", 1), 0);
	rescue_recording(fd, "page");
	assert_printed("err", "resource-tracker: the recording cannot be kept in page.jsonl: File exists\n");
	unsetenv("TMPDIR");
	close(fd);
}

/* Reads the name of the file in the temporary folder from the message, and returns the file's text. */
static char *text_in_temporary_folder(const char *before, const char *after)
{
	char *said = get_file("err", NULL), *name = strstr(said, before), *end, *text;

	assert_non_null(name);
	name += strlen(before);
	assert_int_equal(strncmp(name, "temporary/resource-tracker-", 27), 0);
	end = strstr(name, ".jsonl");
	assert_non_null(end);
	assert_string_equal(end + 6, after);
	end[6] = '\0';
	text = get_file(name, NULL);
	assert_int_equal(unlink(name), 0);
	free(said);
	assert_int_equal(truncate("err", 0), 0);
	return text;
}

static void a_recording_is_kept_in_the_temporary_folder_if_the_page_has_no_folder(void **state)
{
	static const char *const PAGES[] = {"missing/page", "/dev/full", "/dev/stdin", "/proc/self/fd/0"};
	static const char KEPT[] = "resource-tracker: the recording is kept in ";
	int fd = memfd_create("recording", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(write(fd, "one\ntwo\n", 8), 8);
	assert_int_equal(mkdir("temporary", 0700), 0);
	assert_int_equal(setenv("TMPDIR", "temporary", 1), 0);
	for (size_t i = 0; i < sizeof PAGES / sizeof *PAGES; i++) {
		char *text;

		rescue_recording(fd, PAGES[i]);
		text = text_in_temporary_folder(KEPT, "\n");
		assert_string_equal(text, "one\ntwo\n");
		free(text);
	}
	assert_int_equal(setenv("TMPDIR", "missing", 1), 0);
	rescue_recording(fd, "missing/page");
	assert_printed("err", "resource-tracker: the recording cannot be kept in missing/page.jsonl: No such "
			      "file or directory\n");
	unsetenv("TMPDIR");
	close(fd);
}

/* The page's folder and the temporary one are on a disk with 8 KiB left. */
static void a_part_that_is_kept_is_told(void **state)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	char *text;

	(void)state;
	assert_int_equal(mount_small_disk(), 0);
	require_small_disk();
	fill_small_disk("disk/filler", 8192);
	assert_int_equal(mkdir("temporary", 0700), 0);
	assert_int_equal(ftruncate(fd, SMALL_DISK_BYTES), 0);
	assert_int_equal(setenv("TMPDIR", "disk", 1), 0);
	rescue_recording(fd, "disk/page");
	assert_int_equal(access("disk/page.jsonl", F_OK), -1);
	text = get_file("err", NULL);
	assert_non_null(strstr(text, "resource-tracker: disk/resource-tracker-"));
	assert_non_null(
		strstr(text, ".jsonl: only a part of the recording is kept: No space left on device\n"));
	free(text);
	/* The other folder has room. */
	assert_int_equal(truncate("err", 0), 0);
	assert_int_equal(setenv("TMPDIR", "temporary", 1), 0);
	rescue_recording(fd, "disk/page");
	text = text_in_temporary_folder("resource-tracker: the recording is kept in ", "\n");
	free(text);
	unsetenv("TMPDIR");
	close(fd);
	assert_int_equal(unmount_small_disk(), 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_captured(a_new_file_or_an_html_page_is_written),
		unit_test_captured(a_page_replaces_no_other_content_and_no_folder),
		unit_test_captured(a_line_is_appended_to_a_new_or_a_regular_file),
		unit_test_captured(a_file_or_folder_that_may_not_be_written_is_told),
		unit_test_captured(a_recording_without_a_page_is_kept_beside_it),
		unit_test_captured(at_most_a_hundred_are_kept),
		unit_test_captured(a_recording_is_kept_in_the_temporary_folder_if_the_page_has_no_folder),
		unit_test_captured(a_part_that_is_kept_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
