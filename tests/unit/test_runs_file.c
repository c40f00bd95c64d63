/* Tests of src/history/runs_file.c: which files take a line, and how. */
#include "small_disk.h"

#include <limits.h>
#include <sys/file.h>

#include "base/buffer.h"
#include "history/runs_file.h"

enum { OTHER_USER = 65534 };
#define LINE "{\"schema\":1,\"outcome\":\"ok\"}\n"

static struct rt_problem problem;

/* Appends LINE. */
static int append(const char *name)
{
	struct buffer line = BUFFER(1000);
	int result;

	problem.text[0] = '\0';
	buffer_add_text(&line, LINE);
	result = runs_file_append(name, &line, &problem);
	buffer_done(&line);
	return result;
}

static void assert_refused(const char *name, const char *reason)
{
	char text[512];

	assert_int_equal(append(name), -EINVAL);
	snprintf(text, sizeof text, "%s: no line is appended: %s", name, reason);
	assert_string_equal(problem.text, text);
}

/* ---- names -------------------------------------------------------------------------------------------------- */

static void assert_name(const char *template, const char *wanted)
{
	char *name = runs_file_name(template);

	assert_string_equal(name, wanted);
	free(name);
}

static void a_name_has_the_host_and_percent_signs(void **state)
{
	char host[HOST_NAME_MAX + 1] = "", wanted[1000];

	(void)state;
	assert_int_equal(gethostname(host, sizeof host - 1), 0);
	for (char *at = host; *at; at++)
		*at = *at == '/' ? '_' : *at;
	snprintf(wanted, sizeof wanted, "%s-%s.jsonl", host, host);
	assert_name("%h-%h.jsonl", wanted);
	assert_name("", "");
	assert_name("runs.jsonl", "runs.jsonl");
	assert_name("100%", "100%");
	assert_name("%j%%h%%%", "%j%h%%");
	snprintf(wanted, sizeof wanted, "a%%%s", host);
	assert_name("a%%%h", wanted);
}

/* ---- appending ---------------------------------------------------------------------------------------------- */

static void lines_follow_each_other(void **state)
{
	(void)state;
	assert_int_equal(append("runs"), 0);
	assert_file_text("runs", LINE);
	assert_int_equal(append("runs"), 0);
	assert_file_text("runs", LINE LINE);
	/* An empty file is one of runs. */
	put_text("empty", "");
	assert_int_equal(append("empty"), 0);
	assert_file_text("empty", LINE);
	assert_int_equal(append("100%%"), 0);
	assert_file_text("100%", LINE);
}

static void a_torn_line_gets_its_end_first(void **state)
{
	(void)state;
	put_text("runs", LINE "{\"schema\":1,\"outc");
	assert_int_equal(append("runs"), 0);
	assert_file_text("runs", LINE "{\"schema\":1,\"outc\n" LINE);
	put_text("runs", "{\"schema\":1");
	assert_int_equal(append("runs"), 0);
	assert_file_text("runs", "{\"schema\":1\n" LINE);
}

/* The other writer may be about to write the rest of that line. */
static void a_lock_that_is_kept_does_not_stop_the_writer(void **state)
{
	int fd;

	(void)state;
	put_text("runs", LINE "{\"schema\":1,");
	fd = open("runs", O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(append("runs"), 0);
	assert_file_text("runs", LINE "{\"schema\":1," LINE);
	close(fd);
	/* Its own lock has gone. */
	fd = open("runs", O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	close(fd);
}

static void a_line_without_memory_is_not_appended(void **state)
{
	struct buffer line = BUFFER(10);

	(void)state;
	buffer_add_text(&line, LINE);
	assert_true(buffer_error(&line) < 0);
	assert_int_equal(runs_file_append("runs", &line, &problem), -ENOMEM);
	assert_file_text("runs", "");
	buffer_done(&line);
}

static void a_full_disk_leaves_no_part_of_a_line(void **state)
{
	struct buffer line = BUFFER(10000);
	struct stat before, after;

	(void)state;
	require_small_disk();
	assert_int_equal(append("disk/runs"), 0);
	assert_int_equal(stat("disk/runs", &before), 0);
	fill_small_disk("disk/filler", 0);
	buffer_add_text(&line, "{\"schema\":1,\"outcome\":\"ok\",\"name\":\"");
	for (int i = 0; i < 6000; i++)
		buffer_add_char(&line, 'x');
	buffer_add_text(&line, "\"}\n");
	/* The page of the first line has room for a part. */
	assert_int_equal(runs_file_append("disk/runs", &line, &problem), -ENOSPC);
	assert_string_equal(problem.text, "disk/runs: no line is appended: No space left on device");
	assert_int_equal(stat("disk/runs", &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	/* A file without a page takes nothing. */
	assert_int_equal(runs_file_append("disk/new", &line, &problem), -ENOSPC);
	buffer_done(&line);
}

/* ---- files that are refused --------------------------------------------------------------------------------- */

static void files_of_another_kind_are_refused(void **state)
{
	char path[PATH_MAX], *text;
	size_t length;

	(void)state;
	put_file("gz", "\x1f\x8b\x08\0", 4);
	assert_refused("gz",
		       "it is compressed; append to a new file, and name both to resource-tracker history");
	snprintf(path, sizeof path, "%s/runs/idle-1.jsonl", getenv("TEST_GOLDEN"));
	text = get_file(path, &length);
	put_file("recording", text, length);
	free(text);
	assert_refused("recording", "it is a recording, not a file of runs");
	put_text("other", "x");
	assert_refused("other", "it has content other than lines of runs; choose another file");
	assert_file_text("other", "x");
	put_file("short", "\x1f", 1);
	assert_refused("short", "it has content other than lines of runs; choose another file");
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_refused("fifo", "it is not a regular file");
	assert_refused("/dev/null", "it is not a regular file");
}

static void the_reason_of_a_file_that_cannot_be_opened_is_told(void **state)
{
	(void)state;
	assert_int_equal(append("absent/runs"), -ENOENT);
	assert_string_equal(problem.text, "absent/runs: no line is appended: its folder does not exist; "
					  "create it first");
	assert_int_equal(append("."), -EISDIR);
	assert_string_equal(problem.text, ".: no line is appended: it is a folder; name a file in it");
	if (geteuid()) {
		assert_int_equal(mkdir("closed", 0500), 0);
		assert_int_equal(append("closed/runs"), -EACCES);
		assert_string_equal(problem.text, "closed/runs: no line is appended: Permission denied");
		/* It need not be readable. */
		put_text("written", "");
		assert_int_equal(chmod("written", 0200), 0);
		assert_int_equal(append("written"), 0);
		assert_int_equal(chmod("written", 0600), 0);
		assert_file_text("written", LINE);
	}
}

static void a_second_name_is_refused_where_everyone_may_write(void **state)
{
	(void)state;
	assert_int_equal(mkdir("all", 0700), 0);
	put_text("all/own", LINE);
	assert_int_equal(link("all/own", "all/runs"), 0);
	assert_int_equal(append("all/runs"), 0);
	assert_int_equal(chmod("all", 01777), 0);
	assert_refused("all/runs", "it has a second name, in a folder that everyone may write to");
	assert_int_equal(unlink("all/own"), 0);
	assert_int_equal(append("all/runs"), 0);
	assert_file_text("all/runs", LINE LINE LINE);
	/* The same of a name in the current folder. */
	assert_int_equal(chdir("all"), 0);
	assert_int_equal(link("runs", "own"), 0);
	assert_refused("runs", "it has a second name, in a folder that everyone may write to");
	/* Nothing was opened, and nothing else is closed. */
	assert_true(fcntl(STDOUT_FILENO, F_GETFD) >= 0);
}

static void a_file_of_another_user_is_refused_where_everyone_may_write(void **state)
{
	(void)state;
	if (geteuid())
		SKIP("only root has files of other users");
	put_text("runs", LINE);
	if (chown("runs", OTHER_USER, OTHER_USER) < 0)
		SKIP("this user is the only one that there is");
	assert_int_equal(append("runs"), 0);
	assert_int_equal(chmod(".", 0777), 0);
	assert_refused("runs", "it belongs to another user, in a folder that everyone may write to");
	/* The folder's owner may have made it. */
	assert_int_equal(chown(".", OTHER_USER, OTHER_USER), 0);
	assert_int_equal(append("runs"), 0);
	/* A link of another user is not followed, whatever it leads to. */
	assert_int_equal(chown(".", 0, 0), 0);
	put_text("target", LINE);
	assert_int_equal(symlink("target", "link"), 0);
	assert_int_equal(lchown("link", OTHER_USER, OTHER_USER), 0);
	assert_refused("link", "it belongs to another user, in a folder that everyone may write to");
	assert_file_text("target", LINE);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_has_the_host_and_percent_signs),
		unit_test_in_scratch(lines_follow_each_other),
		unit_test_in_scratch(a_torn_line_gets_its_end_first),
		unit_test_in_scratch(a_lock_that_is_kept_does_not_stop_the_writer),
		unit_test_in_scratch(a_line_without_memory_is_not_appended),
		unit_test_on_small_disk(a_full_disk_leaves_no_part_of_a_line),
		unit_test_in_scratch(files_of_another_kind_are_refused),
		unit_test_in_scratch(the_reason_of_a_file_that_cannot_be_opened_is_told),
		unit_test_in_scratch(a_second_name_is_refused_where_everyone_may_write),
		unit_test_in_scratch(a_file_of_another_user_is_refused_where_everyone_may_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
