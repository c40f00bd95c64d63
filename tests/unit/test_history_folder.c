/* Tests of src/history/history_folder.c: whose folder is taken, which names are runs, and how a recording begins. */
#include "scratch.h"

#include <errno.h>
#include <limits.h>
#include <sys/file.h>

#include "history/history_folder.h"

enum { OTHER_USER = 65534 };

static char why[HISTORY_WHY_BYTES], *found;

static int begin(void **state)
{
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	umask(022);
	return scratch_enter(state);
}

static int find(const char *given, bool make)
{
	free(found);
	found = NULL;
	why[0] = '\0';
	return history_folder_find(given, make, &found, why);
}

static int end(void **state)
{
	free(found);
	found = NULL;
	return scratch_leave(state);
}

static const char *below(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", scratch_folder, name);
	return path;
}

/* The reason begins with the path. */
static void assert_refused(const char *given, bool make, int error, const char *name, const char *reason)
{
	char text[2 * PATH_MAX];

	assert_int_equal(find(given, make), error);
	snprintf(text, sizeof text, "%s: %s", name, reason);
	assert_string_equal(why, text);
	assert_null(found);
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_mode & 07777;
}

/* ---- words --------------------------------------------------------------------------------------------------- */

static void only_a_word_for_no_switches_it_off(void **state)
{
	static const char *const OFF[] = {"off", "no", "false", "0", " off "}, *const ON[] = {"",     "on",
											      "yes",  "1",
											      "/off", "offf"};

	(void)state;
	for (size_t i = 0; i < sizeof OFF / sizeof *OFF; i++)
		assert_true(history_is_off(OFF[i]));
	for (size_t i = 0; i < sizeof ON / sizeof *ON; i++)
		assert_false(history_is_off(ON[i]));
}

static void assert_place(const char *given, const char *wanted)
{
	char path[PATH_MAX];

	history_place(given, path);
	assert_string_equal(path, wanted);
}

static void the_place_is_the_nearest_that_is_named(void **state)
{
	(void)state;
	assert_place(NULL, "/.local/state/resource-tracker");
	setenv("HOME", "/h", 1);
	assert_place(NULL, "/h/.local/state/resource-tracker");
	assert_place("", "/h/.local/state/resource-tracker");
	/* The user has no home folder, or one that depends on the current folder. */
	setenv("XDG_STATE_HOME", "/", 1);
	assert_place(NULL, "/h/.local/state/resource-tracker");
	setenv("XDG_STATE_HOME", "state", 1);
	assert_place(NULL, "/h/.local/state/resource-tracker");
	setenv("XDG_STATE_HOME", "/state", 1);
	assert_place(NULL, "/state/resource-tracker");
	assert_place("given", "given");
}

/* ---- the folder ---------------------------------------------------------------------------------------------- */

static void folders_below_the_home_are_made_for_the_user_alone(void **state)
{
	char home[PATH_MAX], path[2 * PATH_MAX];

	(void)state;
	assert_refused(NULL, true, -ENXIO, "HOME", "there is no home folder");
	snprintf(home, sizeof home, "%s//", below("home"));
	setenv("HOME", home, 1);
	/* The home folder itself is never made. */
	assert_refused(NULL, true, -ENOENT, below("home"), "No such file or directory");
	assert_int_equal(mkdir("home", 0755), 0);
	assert_refused(NULL, false, -ENOENT, below("home/.local"), "No such file or directory");
	assert_int_equal(access("home/.local", F_OK), -1);
	assert_int_equal(find(NULL, true), 0);
	snprintf(path, sizeof path, "%s/.local/state/resource-tracker", below("home"));
	assert_string_equal(found, path);
	assert_int_equal(mode_of("home/.local"), 0700);
	assert_int_equal(mode_of("home/.local/state/resource-tracker"), 0700);
	assert_int_equal(find(NULL, false), 0);
	assert_string_equal(found, path);
}

static void a_folder_for_states_is_made(void **state)
{
	(void)state;
	setenv("XDG_STATE_HOME", below("state"), 1);
	assert_refused(NULL, false, -ENOENT, below("state"), "No such file or directory");
	assert_int_equal(find(NULL, true), 0);
	assert_string_equal(found, below("state/resource-tracker"));
	assert_int_equal(mode_of("state"), 0700);
}

static void a_given_folder_is_made_and_named_in_full(void **state)
{
	(void)state;
	assert_refused("given", false, -ENOENT, "given", "No such file or directory");
	assert_int_equal(find("given", true), 0);
	assert_string_equal(found, below("given"));
	assert_int_equal(mode_of("given"), 0700);
	assert_refused("absent/given", true, -ENOENT, "absent/given", "No such file or directory");
	put_text("file", "");
	assert_refused("file", true, -ENOTDIR, "file", "it is not a folder");
	/* A link of this user is followed. */
	assert_int_equal(symlink("given", "link"), 0);
	assert_int_equal(find("link", false), 0);
	assert_string_equal(found, below("given"));
}

static void others_may_not_write_to_it(void **state)
{
	(void)state;
	assert_int_equal(mkdir("given", 0700) | chmod("given", 0702), 0);
	assert_refused("given", false, -EPERM, "given", "another user may write to it");
	assert_int_equal(chmod("given", 01702), 0);
	assert_refused("given", false, -EPERM, "given", "another user may write to it");
	/* The home folder may be a group's, or everyone's if its sticky bit keeps the files of others. */
	setenv("HOME", below("home"), 1);
	assert_int_equal(mkdir("home", 0700) | chmod("home", 0770), 0);
	assert_int_equal(find(NULL, true), 0);
	assert_int_equal(chmod("home", 01777), 0);
	assert_int_equal(find(NULL, true), 0);
	assert_int_equal(chmod("home", 0702), 0);
	assert_refused(NULL, true, -EPERM, below("home"), "another user may write to it");
	assert_int_equal(chmod("home", 0700) | chmod("home/.local/state", 0702), 0);
	assert_refused(NULL, true, -EPERM, below("home/.local/state"), "another user may write to it");
}

static void a_folder_or_link_of_another_user_is_refused(void **state)
{
	(void)state;
	if (geteuid())
		SKIP("only root has folders of other users");
	assert_int_equal(mkdir("given", 0700) | symlink("given", "link"), 0);
	if (lchown("link", OTHER_USER, OTHER_USER) < 0)
		SKIP("this user is the only one that there is");
	assert_refused("link", false, -EPERM, "link", "another user has made this link");
	assert_int_equal(chown("given", OTHER_USER, OTHER_USER), 0);
	assert_refused("given", false, -EPERM, "given", "it belongs to another user");
}

/* It belongs to an ordinary user: root may write anywhere. */
static void a_folder_that_takes_no_file_is_read_alone(void **state)
{
	(void)state;
	if (!geteuid())
		SKIP("root may write to each folder");
	assert_int_equal(mkdir("given", 0500), 0);
	assert_refused("given", true, -EACCES, "given", "Permission denied");
	assert_int_equal(find("given", false), 0);
	setenv("XDG_STATE_HOME", scratch_folder, 1);
	assert_int_equal(mkdir("resource-tracker", 0500), 0);
	assert_refused(NULL, true, -EACCES, below("resource-tracker"), "Permission denied");
	assert_int_equal(find(NULL, false), 0);
}

/* ---- files --------------------------------------------------------------------------------------------------- */

static void names_are_a_number_and_a_known_ending(void **state)
{
	static const struct {
		const char *name;
		enum history_file kind;
		unsigned number;
	} CASES[] = {
		{"1.jsonl", HISTORY_RECORDING, 1},
		{"90.jsonl", HISTORY_RECORDING, 90},
		{"12.jsonl.gz", HISTORY_COMPRESSED, 12},
		{"12.jsonl.marks", HISTORY_MARKS, 12},
		{"12.jsonl.gz.marks", HISTORY_COMPRESSED_MARKS, 12},
		{"12.removed", HISTORY_REMOVED, 12},
		{"999999999.jsonl", HISTORY_RECORDING, 999999999},
		{"1000000000.jsonl", HISTORY_OTHER, 0},
		{"99999999999999999999.jsonl", HISTORY_OTHER, 0},
		{"0.jsonl", HISTORY_OTHER, 0},
		{"01.jsonl", HISTORY_OTHER, 0},
		{":1.jsonl", HISTORY_OTHER, 0},
		{"1.json", HISTORY_OTHER, 0},
		{"1.jsonl.gz2", HISTORY_OTHER, 0},
		{"1", HISTORY_OTHER, 0},
		{"", HISTORY_OTHER, 0},
		{"runs.jsonl", HISTORY_OTHER, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		unsigned number = 0;

		assert_int_equal(history_file_kind(CASES[i].name, &number), CASES[i].kind);
		assert_int_equal(number, CASES[i].number);
	}
}

/* Closes the new recording. */
static void assert_created(unsigned wanted)
{
	unsigned number = 0;
	int fd = history_create(".", &number);

	assert_true(fd > 2);
	assert_int_equal(number, wanted);
	close(fd);
}

/* NULs, and a line of 32 KiB whose number lies across the border of two pieces of 16 KiB. */
static void put_damaged_lines(void)
{
	enum { NULS = 20 << 10 };
	static const char LINE[] = "{\"number\":21,\"name\":\"";
	static char bytes[NULS + 1 + (32 << 10) + 5];
	FILE *file = fopen("runs.jsonl", "w");

	memcpy(bytes + NULS, LINE, sizeof(LINE) - 1);
	memset(bytes + NULS + sizeof(LINE) - 1, 'x', sizeof(bytes) - NULS - (sizeof(LINE) - 1));
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, sizeof(bytes), 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

static void a_recording_has_the_number_after_the_last_one(void **state)
{
	(void)state;
	assert_created(1);
	assert_int_equal(mode_of("1.jsonl"), 0600);
	put_text("7.removed", "");
	put_text("5.jsonl.gz", "");
	put_text("runs.jsonl", "");
	assert_created(8);
	/* A line without files, beside keys and texts that look like it. */
	put_text("runs.jsonl",
		 "{\"number\":11,\"a\":{\"number\":\"77\"},\"b\":\"\\\"number\\\":78\"}\n"
		 "{\"number\":9}\n{\"number\":1000000000}\n{\"number\":-4}\n{\"xnumber\":79}\n");
	assert_created(12);
	/* The file may have lost its beginning. */
	put_text("runs.jsonl", "\"number\":15}\n");
	assert_created(16);
	put_damaged_lines();
	assert_created(22);
	/* Behind the last number there is, whichever is free. */
	put_text("999999999.jsonl.gz", "");
	put_text("2.jsonl.gz", "");
	assert_created(3);
	assert_int_equal(access("2.jsonl", F_OK), -1);
	assert_int_equal(history_create("absent", &(unsigned){0}), -ENOENT);
	put_text("file", "");
	assert_int_equal(history_create("file", &(unsigned){0}), -ENOTDIR);
}

static void a_recording_is_locked_and_above_the_standard_streams(void **state)
{
	unsigned number;
	int kept = dup(0), other, fd;

	(void)state;
	close(0);
	fd = history_create(".", &number);
	if (kept >= 0) {
		dup2(kept, 0);
		close(kept);
	}
	assert_true(fd > 2);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	other = open("1.jsonl", O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(other, LOCK_SH | LOCK_NB), -1);
	assert_int_equal(errno, EWOULDBLOCK);
	close(fd);
	assert_int_equal(flock(other, LOCK_SH | LOCK_NB), 0);
	close(other);
}

#define unit_test_of_folder(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_folder(only_a_word_for_no_switches_it_off),
		unit_test_of_folder(the_place_is_the_nearest_that_is_named),
		unit_test_of_folder(folders_below_the_home_are_made_for_the_user_alone),
		unit_test_of_folder(a_folder_for_states_is_made),
		unit_test_of_folder(a_given_folder_is_made_and_named_in_full),
		unit_test_of_folder(others_may_not_write_to_it),
		unit_test_of_folder(a_folder_or_link_of_another_user_is_refused),
		unit_test_of_folder(a_folder_that_takes_no_file_is_read_alone),
		unit_test_of_folder(names_are_a_number_and_a_known_ending),
		unit_test_of_folder(a_recording_has_the_number_after_the_last_one),
		unit_test_of_folder(a_recording_is_locked_and_above_the_standard_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
