/* Tests of src/history/history.c, history_store.c and history_tidy.c, with a folder of runs. */
#include "scratch.h"

#include <errno.h>
#include <limits.h>
#include <sys/file.h>
#include <time.h>
#include <utime.h>

#include "base/buffer.h"
#include "history/history.h"
#include "history/history_store.h"

#define LINE_OF(number, name) "{\"number\":" #number ",\"name\":\"" name "\",\"outcome\":\"ok\"}\n"

static struct history history;
static struct rt_problem problem;

static int begin(void **state)
{
	history = (struct history){.fd = -1};
	unsetenv("TRACKER_HISTORY_MIB");
	if (scratch_enter(state) < 0 || mkdir("h", 0700) < 0 || chdir("h") < 0)
		return -1;
	return setenv("TRACKER_HISTORY", ".", 1);
}

static int end(void **state)
{
	history_close(&history);
	return scratch_leave(state);
}

static int open_history(void)
{
	history_close(&history);
	problem.text[0] = '\0';
	return history_open(&history, false, &problem);
}

static const char *name_of(struct history_run *run)
{
	return json_string_value(json_object_get(history_line(&history, run), "name"));
}

/* ---- opening ------------------------------------------------------------------------------------------------- */

static void assert_not_opened(int error, const char *reason)
{
	assert_int_equal(open_history(), error);
	assert_string_equal(problem.text, reason);
	assert_int_equal(history.fd, -1);
}

static void a_history_that_cannot_be_used_is_told(void **state)
{
	(void)state;
	setenv("TRACKER_HISTORY", "off", 1);
	assert_not_opened(-ENXIO, "the history is off (TRACKER_HISTORY=off)");
	setenv("TRACKER_HISTORY", "absent", 1);
	assert_not_opened(-ENOENT,
			  "no run has been kept yet: on a terminal, resource-tracker COMMAND keeps one");
	put_text("file", "");
	setenv("TRACKER_HISTORY", "file", 1);
	assert_not_opened(-ENOTDIR, "the history cannot be used: file: it is not a folder");
	/* Without a home folder, as without one that has been made. */
	unsetenv("HOME");
	unsetenv("XDG_STATE_HOME");
	setenv("TRACKER_HISTORY", "", 1);
	assert_not_opened(-ENOENT,
			  "no run has been kept yet: on a terminal, resource-tracker COMMAND keeps one");
}

static void a_quota_is_a_number_of_mib(void **state)
{
	static const char *const WRONG[] = {"0", "1048577", "1x", "-1", "x", " "};
	char text[200];

	(void)state;
	assert_int_equal(open_history(), 0);
	assert_int_equal(history.bytes_most, INT64_C(1) << 30);
	for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
		setenv("TRACKER_HISTORY_MIB", WRONG[i], 1);
		snprintf(text, sizeof text,
			 "TRACKER_HISTORY_MIB: '%s' must be a whole number of MiB from 1 to 1048576",
			 WRONG[i]);
		assert_not_opened(-EINVAL, text);
	}
	setenv("TRACKER_HISTORY_MIB", "1", 1);
	assert_int_equal(open_history(), 0);
	assert_int_equal(history.bytes_most, 1 << 20);
	setenv("TRACKER_HISTORY_MIB", "1048576", 1);
	assert_int_equal(open_history(), 0);
	assert_int_equal(history.bytes_most, INT64_C(1) << 40);
	setenv("TRACKER_HISTORY_MIB", "", 1);
	assert_int_equal(open_history(), 0);
	assert_int_equal(history.bytes_most, INT64_C(1) << 30);
}

/* Files come in any order, and lines too. */
static void runs_are_sorted_by_their_number(void **state)
{
	static const unsigned WANTED[] = {2, 3, 5, 9, 10, 11};

	(void)state;
	put_text("10.jsonl", "abc");
	put_text("9.jsonl.gz", "abcd");
	put_text("9.jsonl.gz.marks", "ab");
	put_text("2.jsonl.marks", "a");
	put_text("4.removed", "");
	put_text("other", "abc");
	put_text("runs.jsonl", LINE_OF(11, "k") LINE_OF(3, "c") LINE_OF(10, "j") LINE_OF(5, "e"));
	assert_int_equal(open_history(), 0);
	assert_true(history.locked);
	assert_false(history.changed);
	assert_int_equal(history.count, 6);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(history.runs[i].number, WANTED[i]);
		assert_false(history.runs[i].live);
	}
	assert_int_equal(history.runs[0].bytes, 1);
	assert_null(history.runs[0].path);
	assert_int_equal(history.runs[3].bytes, 6);
	assert_true(history.runs[3].compressed);
	assert_null(history.runs[3].line);
	assert_string_equal(strrchr(history.runs[3].path, '/'), "/9.jsonl.gz");
	assert_int_equal(history.runs[4].bytes, 3);
	assert_false(history.runs[4].compressed);
	assert_string_equal(strrchr(history.runs[4].path, '/'), "/10.jsonl");
	assert_string_equal(name_of(&history.runs[4]), "j");
	assert_int_equal(history.removed_count, 1);
	assert_int_equal(history.removed[0], 4);
}

static void the_compressed_one_of_two_recordings_counts(void **state)
{
	(void)state;
	put_text("1.jsonl", "a");
	put_text("1.jsonl.gz", "ab");
	assert_int_equal(open_history(), 0);
	assert_int_equal(history.count, 1);
	assert_true(history.runs[0].compressed);
	assert_string_equal(strrchr(history.runs[0].path, '/'), "/1.jsonl.gz");
	assert_int_equal(history.runs[0].bytes, 3);
}

static void links_and_fifos_are_skipped(void **state)
{
	(void)state;
	assert_int_equal(symlink("/etc/passwd", "1.jsonl") | mkfifo("2.jsonl", 0600) | mkdir("3.jsonl", 0700),
			 0);
	assert_int_equal(open_history(), 0);
	assert_int_equal(history.count, 0);
	/* Nor is a link the file of lines. */
	put_text("target", LINE_OF(1, "a"));
	assert_int_equal(symlink("target", "runs.jsonl"), 0);
	assert_true(open_history() < 0);
}

/* A user's history has files of that user and of root. */
static void files_of_other_users_are_skipped(void **state)
{
	enum { USER = 65534, OTHER = 65533 };

	(void)state;
	if (geteuid() != 0)
		skip();
	put_text("1.jsonl", "a");
	put_text("2.jsonl", "a");
	put_text("3.jsonl", "a");
	assert_int_equal(chmod("..", 0755) | chown(".", USER, (gid_t)-1) | chown("2.jsonl", USER, (gid_t)-1) |
				 chown("3.jsonl", OTHER, (gid_t)-1),
			 0);
	assert_int_equal(seteuid(USER), 0);
	if (open_history() < 0) {
		(void)!seteuid(0);
		fail_msg("%s", problem.text);
	}
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(history.count, 2);
	assert_int_equal(history.runs[0].number, 1);
	assert_int_equal(history.runs[1].number, 2);
}

static void damaged_and_foreign_lines_are_left_out_for_good(void **state)
{
	(void)state;
	put_text("runs.jsonl", LINE_OF(1, "a") "{\"number\":2\n" LINE_OF(0, "b") LINE_OF(1000000000, "c")
				       LINE_OF(999999999, "d"));
	assert_int_equal(open_history(), 0);
	assert_int_equal(history.count, 2);
	assert_true(history.changed);
	assert_int_equal(history_save(&history), 0);
	assert_file_text("runs.jsonl", LINE_OF(1, "a") LINE_OF(999999999, "d"));
	assert_false(history.changed);
	/* A later line of a run is the right one. */
	put_text("runs.jsonl", LINE_OF(1, "a") LINE_OF(1, "b"));
	assert_int_equal(open_history(), 0);
	assert_string_equal(name_of(&history.runs[0]), "b");
}

static void a_run_is_live_while_it_is_locked(void **state)
{
	struct utimbuf old = {1, 1};
	int fd;

	(void)state;
	put_text("1.jsonl", "a");
	fd = open("1.jsonl", O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(open_history(), 0);
	assert_true(history.runs[0].live);
	assert_int_equal(history_remove(&history, &history.runs[0]), -EBUSY);
	close(fd);
	assert_int_equal(open_history(), 0);
	assert_false(history.runs[0].live);
	/* Empty for long: its recorder was killed at once. */
	put_text("1.jsonl", "");
	assert_int_equal(utime("1.jsonl", &old), 0);
	assert_int_equal(open_history(), 0);
	assert_false(history.runs[0].live);
}

static void a_folder_that_another_command_changes_is_read_alone(void **state)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	put_text("runs.jsonl", LINE_OF(1, "a") "x\n");
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(open_history(), 0);
	assert_false(history.locked);
	assert_int_equal(history.count, 1);
	assert_int_equal(history_save(&history), 0);
	assert_file_text("runs.jsonl", LINE_OF(1, "a") "x\n");
	close(fd);
}

/* A command left it that was killed more than an hour ago. */
static void unfinished_files_go_after_an_hour(void **state)
{
	const time_t now = time(NULL);

	(void)state;
	put_text("0.12.partial", "");
	put_text("0.13.partial", "");
	put_text("notes", "");
	assert_int_equal(utime("0.12.partial", &(struct utimbuf){now - 3500, now - 3500}), 0);
	assert_int_equal(utime("0.13.partial", &(struct utimbuf){now - 3700, now - 3700}), 0);
	assert_int_equal(utime("notes", &(struct utimbuf){1, 1}), 0);
	assert_int_equal(open_history(), 0);
	assert_int_equal(access("0.12.partial", F_OK) | access("notes", F_OK), 0);
	assert_int_equal(access("0.13.partial", F_OK), -1);
}

/* ---- finding ------------------------------------------------------------------------------------------------- */

static void assert_found(const char *word, enum history_match match, unsigned number)
{
	struct history_run *run = NULL;

	assert_int_equal(history_find(&history, word, &run), match);
	assert_int_equal(run ? run->number : 0, number);
}

static void a_run_is_found_by_place_number_or_name(void **state)
{
	(void)state;
	put_text("runs.jsonl",
		 LINE_OF(3, "build") LINE_OF(5, "test") LINE_OF(6, "rebuild") LINE_OF(8, "8x 3"));
	/* Without a line, as it has no sample. */
	put_text("9.jsonl", "");
	assert_int_equal(utime("9.jsonl", &(struct utimbuf){1, 1}), 0);
	assert_int_equal(open_history(), 0);
	assert_found("last", HISTORY_ONE, 8);
	assert_found("last~0", HISTORY_ONE, 8);
	assert_found("last~3", HISTORY_ONE, 3);
	assert_found("last~4", HISTORY_NONE, 0);
	assert_found("last~", HISTORY_NONE, 0);
	assert_found("last~1x", HISTORY_NONE, 0);
	assert_found("lasts", HISTORY_NONE, 0);
	assert_found("5", HISTORY_ONE, 5);
	assert_found("9", HISTORY_ONE, 9);
	assert_found("4", HISTORY_NONE, 0);
	assert_found("8x", HISTORY_ONE, 8);
	/* A number begins with a digit. */
	assert_found(" 3", HISTORY_ONE, 8);
	assert_found("tes", HISTORY_ONE, 5);
	assert_found("build", HISTORY_SEVERAL, 6);
	assert_found("reb", HISTORY_ONE, 6);
	assert_found("", HISTORY_NONE, 0);
	assert_found("absent", HISTORY_NONE, 0);
	assert_true(history_is_called(&history, &history.runs[0], "build"));
	assert_false(history_is_called(&history, &history.runs[2], "build"));
	assert_false(history_is_called(&history, &history.runs[4], "build"));
	/* A removed run is not found in any way. */
	assert_int_equal(history_remove(&history, &history.runs[2]), 0);
	assert_int_equal(history_remove(&history, &history.runs[3]), 0);
	assert_found("last", HISTORY_ONE, 5);
	assert_found("6", HISTORY_NONE, 0);
	assert_found("build", HISTORY_ONE, 3);
}

/* ---- changes ------------------------------------------------------------------------------------------------- */

static void tags_are_set_and_taken_away(void **state)
{
	struct history_run *run;

	(void)state;
	put_text("runs.jsonl", LINE_OF(1, "a"));
	put_text("2.jsonl", "");
	assert_int_equal(utime("2.jsonl", &(struct utimbuf){1, 1}), 0);
	assert_int_equal(open_history(), 0);
	run = &history.runs[0];
	assert_int_equal(history_tag(&history, run, "x", ""), -ENOENT);
	assert_int_equal(history_tag(&history, run, "x", "1"), 0);
	assert_int_equal(history_tag(&history, run, "y", "2"), 0);
	assert_int_equal(history_tag(&history, run, "x", ""), 0);
	assert_int_equal(history_tag(&history, run, "y", "\xff"), -EINVAL);
	assert_int_equal(history_tag(&history, &history.runs[1], "x", "1"), -ENODATA);
	assert_int_equal(history_save(&history), 0);
	assert_file_text("runs.jsonl",
			 "{\"number\":1,\"name\":\"a\",\"outcome\":\"ok\",\"tags\":{\"y\":\"2\"}}\n");
}

/* 0.1 is not written as 0.100000000000000006. */
static void numbers_of_a_tagged_line_stay_as_they_were(void **state)
{
	(void)state;
	put_text("runs.jsonl", "{\"number\":1,\"wall_secs\":0.1,\"started\":1700000000.123}\n");
	assert_int_equal(open_history(), 0);
	assert_int_equal(history_tag(&history, &history.runs[0], "x", "1"), 0);
	assert_int_equal(history_save(&history), 0);
	assert_file_text("runs.jsonl", "{\"number\":1,\"wall_secs\":0.1,\"started\":1700000000.123,"
				       "\"tags\":{\"x\":\"1\"}}\n");
}

static void the_sign_of_a_removed_run_is_that_of_the_newest(void **state)
{
	(void)state;
	put_text("runs.jsonl", LINE_OF(1, "a") LINE_OF(2, "b") LINE_OF(3, "c"));
	put_text("1.jsonl.gz", "");
	put_text("3.jsonl.gz", "");
	put_text("3.jsonl.gz.marks", "");
	assert_int_equal(open_history(), 0);
	assert_int_equal(history_remove(&history, &history.runs[0]), 0);
	assert_int_equal(history_remove(&history, &history.runs[2]), 0);
	/* Nothing is gone before it is saved. */
	assert_int_equal(access("1.jsonl.gz", F_OK), 0);
	assert_int_equal(history_save(&history), 0);
	assert_file_text("runs.jsonl", LINE_OF(2, "b"));
	assert_true(access("1.jsonl.gz", F_OK) < 0 && access("3.jsonl.gz", F_OK) < 0 &&
		    access("3.jsonl.gz.marks", F_OK) < 0);
	assert_int_equal(access("3.removed", F_OK), 0);
	assert_int_equal(access("1.removed", F_OK), -1);
	/* The sign stays without a newer run, and goes with one. */
	assert_int_equal(open_history(), 0);
	history_tidy(&history);
	assert_int_equal(access("3.removed", F_OK), 0);
	put_text("runs.jsonl", LINE_OF(2, "b") LINE_OF(4, "d"));
	assert_int_equal(open_history(), 0);
	history_tidy(&history);
	assert_int_equal(access("3.removed", F_OK), -1);
}

static void put_recording(const char *name)
{
	char path[PATH_MAX], *text;
	size_t length;

	snprintf(path, sizeof path, "%s/runs/idle-1.jsonl", getenv("TEST_GOLDEN"));
	text = get_file(path, &length);
	put_file(name, text, length);
	free(text);
}

static void a_run_that_has_ended_is_completed(void **state)
{
	char *path = NULL, *lines;
	struct stat status, lines_status;

	(void)state;
	put_recording("4.jsonl");
	put_text("4.jsonl.marks", "");
	put_text("5.jsonl", "");
	assert_int_equal(utime("5.jsonl", &(struct utimbuf){1, 1}), 0);
	assert_int_equal(history_own_lines(&path, &problem), 0);
	assert_string_equal(strrchr(path, '/'), "/runs.jsonl");
	lines = get_file("runs.jsonl", NULL);
	assert_non_null(strstr(lines, "\"number\":4,"));
	assert_non_null(strstr(lines, "/h/4.jsonl.gz\""));
	assert_int_equal(strcspn(lines, "\n") + 1, strlen(lines));
	assert_true(access("4.jsonl", F_OK) < 0 && access("4.jsonl.marks", F_OK) < 0);
	assert_int_equal(access("4.jsonl.gz", F_OK) | access("4.jsonl.gz.marks", F_OK), 0);
	/* For the user alone. */
	assert_int_equal(stat("4.jsonl.gz", &status) | stat("runs.jsonl", &lines_status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(lines_status.st_mode & 0777, 0600);
	/* It has no sample. */
	assert_int_equal(access("5.jsonl", F_OK), -1);
	free(path);
	/* The second time, nothing is left to do. */
	assert_int_equal(open_history(), 0);
	history_tidy(&history);
	assert_file_text("runs.jsonl", lines);
	assert_true(history.runs[0].compressed && history.runs[0].bytes > 100);
	free(lines);
}

/* The program that completes it goes on with the compressed one. */
static void a_completed_run_is_known_by_its_compressed_recording(void **state)
{
	struct stat status;
	int fd;

	(void)state;
	put_recording("1.jsonl");
	put_recording("2.jsonl");
	put_text("runs.jsonl", LINE_OF(1, "kept"));
	fd = open("2.jsonl", O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(open_history(), 0);
	history_tidy(&history);
	assert_true(history.runs[0].compressed);
	assert_string_equal(strrchr(history.runs[0].path, '/'), "/1.jsonl.gz");
	assert_int_equal(stat("1.jsonl.gz", &status), 0);
	assert_int_equal(history.runs[0].bytes, status.st_size);
	assert_file_text("runs.jsonl", LINE_OF(1, "kept"));
	/* A recorder still writes to the other one. */
	assert_true(history.runs[1].live && !history.runs[1].compressed);
	assert_int_equal(access("2.jsonl", F_OK), 0);
	assert_int_equal(access("2.jsonl.gz", F_OK), -1);
	close(fd);
}

static void a_run_that_has_a_line_keeps_it(void **state)
{
	(void)state;
	put_recording("1.jsonl");
	put_recording("2.jsonl");
	put_text("runs.jsonl", LINE_OF(1, "kept"));
	assert_int_equal(open_history(), 0);
	assert_string_equal(name_of(&history.runs[0]), "kept");
	assert_string_not_equal(name_of(&history.runs[1]), "kept");
	/* The other one is made once. */
	assert_ptr_equal(history_line(&history, &history.runs[1]), history.runs[1].line);
}

static void without_a_line_the_file_of_lines_is_absent(void **state)
{
	char *path = NULL;

	(void)state;
	assert_int_equal(history_own_lines(&path, &problem), -ENOENT);
	assert_string_equal(problem.text, "no run has been kept yet; name a file of runs");
	assert_null(path);
	/* `rm --all` has left it without a line. */
	put_text("runs.jsonl", "");
	problem.text[0] = 0;
	assert_int_equal(history_own_lines(&path, &problem), -ENOENT);
	assert_string_equal(problem.text, "no run has been kept yet; name a file of runs");
	assert_null(path);
}

/* ---- the file of lines --------------------------------------------------------------------------------------- */

static void a_line_of_more_than_a_mib_is_skipped(void **state)
{
	enum { MIB = 1 << 20 };
	struct buffer text = BUFFER(16 * MIB);
	char *file = malloc(4 * MIB + 100);
	size_t length;
	int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_non_null(file);
	memset(file, 'a', 3 * MIB);
	memcpy(file + 3 * MIB, "\nshort\n", 7);
	/* With its newline, a MiB is not too much. */
	memset(file + 3 * MIB + 7, 'b', MIB - 1);
	length = 4 * MIB + 7;
	file[length - 1] = '\n';
	put_file("runs.jsonl", file, length);
	assert_int_equal(history_read_lines(fd, &text), 1);
	assert_int_equal(text.length, 6 + MIB);
	assert_memory_equal(text.data, "short\nb", 7);
	buffer_done(&text);
	/* Nor does one without an end leave anything. */
	text = BUFFER(16 * MIB);
	memcpy(file, "short\n", 6);
	put_file("runs.jsonl", file, 3 * MIB);
	assert_int_equal(history_read_lines(fd, &text), 1);
	assert_string_equal(text.data, "short\n");
	buffer_done(&text);
	/* A file that is larger than the buffer may be. */
	text = BUFFER(MIB);
	assert_int_equal(history_read_lines(fd, &text), 1);
	buffer_done(&text);
	free(file);
	close(fd);
}

static void lines_are_appended_and_replaced(void **state)
{
	struct buffer text = BUFFER(100), none = BUFFER(1 << 20), failed = BUFFER(1);
	int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	buffer_add_text(&text, "a\n");
	buffer_add_text(&failed, "ab");
	assert_int_equal(history_read_lines(fd, &none), 0);
	assert_int_equal(none.length, 0);
	assert_int_equal(history_append(fd, &none), 0);
	assert_int_equal(history_append(fd, &text), 0);
	assert_int_equal(history_append(fd, &text), 0);
	assert_true(history_append(fd, &failed) < 0);
	assert_file_text("runs.jsonl", "a\na\n");
	assert_true(history_replace_lines(fd, &failed) < 0);
	assert_file_text("runs.jsonl", "a\na\n");
	assert_int_equal(history_replace_lines(fd, &text), 0);
	assert_file_text("runs.jsonl", "a\n");
	assert_int_equal(history_read_lines(fd, &none), 0);
	assert_string_equal(none.data, "a\n");
	buffer_done(&text);
	buffer_done(&none);
	buffer_done(&failed);
	close(fd);
}

#define unit_test_of_history(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_history(a_history_that_cannot_be_used_is_told),
		unit_test_of_history(a_quota_is_a_number_of_mib),
		unit_test_of_history(runs_are_sorted_by_their_number),
		unit_test_of_history(the_compressed_one_of_two_recordings_counts),
		unit_test_of_history(links_and_fifos_are_skipped),
		unit_test_of_history(files_of_other_users_are_skipped),
		unit_test_of_history(damaged_and_foreign_lines_are_left_out_for_good),
		unit_test_of_history(a_run_is_live_while_it_is_locked),
		unit_test_of_history(a_folder_that_another_command_changes_is_read_alone),
		unit_test_of_history(unfinished_files_go_after_an_hour),
		unit_test_of_history(a_run_is_found_by_place_number_or_name),
		unit_test_of_history(tags_are_set_and_taken_away),
		unit_test_of_history(numbers_of_a_tagged_line_stay_as_they_were),
		unit_test_of_history(the_sign_of_a_removed_run_is_that_of_the_newest),
		unit_test_of_history(a_run_that_has_ended_is_completed),
		unit_test_of_history(a_completed_run_is_known_by_its_compressed_recording),
		unit_test_of_history(a_run_that_has_a_line_keeps_it),
		unit_test_of_history(without_a_line_the_file_of_lines_is_absent),
		unit_test_of_history(a_line_of_more_than_a_mib_is_skipped),
		unit_test_of_history(lines_are_appended_and_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
