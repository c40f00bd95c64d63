/* Tests of src/launch/input_size.c: the bytes of the files, folders and patterns that a user or a command names. */
#include "scratch.h"

#include <limits.h>

#include "launch/input_size.h"

static const char *unknown;

/* The size of words with blanks between them. `unknown` is the word whose size is unknown, or NULL. */
static int64_t size_of(const char *text)
{
	static char copy[200];
	const char *words[20];
	size_t count = 0;

	snprintf(copy, sizeof copy, "%s", text);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		words[count++] = word;
	return size_of_inputs(words, count, &unknown);
}

static void put_files(void)
{
	put_text("a.txt", "12345");
	put_text("b.txt", "1234567");
	assert_int_equal(link("a.txt", "again"), 0);
	assert_int_equal(symlink("a.txt", "link"), 0);
	assert_int_equal(mkdir("d", 0700), 0);
	assert_int_equal(mkdir("d/e", 0700), 0);
	put_text("d/x", "123");
	put_text("d/e/y", "1234");
	assert_int_equal(symlink("../b.txt", "d/l"), 0);
}

static void files_count_once_and_folders_whole(void **state)
{
	(void)state;
	put_files();
	assert_int_equal(size_of("a.txt"), 5);
	assert_int_equal(size_of("a.txt b.txt"), 12);
	assert_int_equal(size_of("a.txt again a.txt link b.txt"), 12);
	assert_int_equal(size_of("d"), 7);
	assert_int_equal(size_of("d a.txt"), 12);
	assert_int_equal(size_of("*.txt"), 12);
	assert_int_equal(size_of("[ab].txt again"), 12);
	assert_int_equal(size_of("?.txt d"), 19);
	assert_null(unknown);
	assert_int_equal(size_of(""), 0);
	assert_null(unknown);
}

static void the_first_word_of_unknown_size_is_told(void **state)
{
	(void)state;
	put_files();
	assert_int_equal(size_of("a.txt missing b.txt gone"), -1);
	assert_string_equal(unknown, "missing");
	assert_int_equal(size_of("a.txt *.csv"), -1);
	assert_string_equal(unknown, "*.csv");
	assert_int_equal(size_of("/dev/null"), -1);
	assert_string_equal(unknown, "/dev/null");
	/* A pattern that matches what has no size. */
	assert_int_equal(symlink("nowhere", "c.txt"), 0);
	assert_int_equal(size_of("*.txt"), -1);
	assert_string_equal(unknown, "*.txt");
	/* A file of such a name comes before the pattern. */
	put_text("[ab]", "1");
	assert_int_equal(size_of("[ab]"), 1);
}

/* 32 folders below the one that is named. */
static void folders_are_entered_to_a_depth(void **state)
{
	char path[200] = "d";

	(void)state;
	assert_int_equal(mkdir(path, 0700), 0);
	for (int i = 0; i < 32; i++) {
		strcat(path, "/d");
		assert_int_equal(mkdir(path, 0700), 0);
	}
	strcat(path, "/x");
	put_text(path, "123");
	assert_int_equal(size_of("d"), 3);
	path[strlen(path) - 1] = 'd';
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(size_of("d"), -1);
	assert_string_equal(unknown, "d");
}

/* Only the first 256 files are compared by inode. */
static void later_files_count_each_time(void **state)
{
	static char names[258][8];
	const char *words[2 * 258];

	(void)state;
	for (size_t i = 0; i < 258; i++) {
		snprintf(names[i], sizeof names[i], "%zu", i);
		put_text(names[i], "1");
		words[i] = words[258 + i] = names[i];
	}
	assert_int_equal(size_of_inputs(words, 256, &unknown), 256);
	assert_int_equal(size_of_inputs(words, 2 * 258, &unknown), 258 + 2);
	assert_null(unknown);
}

static int64_t size_of_command(char *first, char *second, char *third)
{
	char *words[] = {(char[]){"a.txt"}, first, second, third};

	return size_of_named_files(words, (size_t)(1 + !!first + !!second + !!third));
}

static void a_command_names_files_behind_its_first_word(void **state)
{
	static char a[] = "a.txt", b[] = "b.txt", again[] = "again", script[] = "script",
		    missing[] = "missing", option[] = "-x", empty[] = "", folder[] = "d";

	(void)state;
	put_files();
	put_text("-x", "1");
	put_text("script", "12");
	assert_int_equal(chmod("script", 0700), 0);
	assert_int_equal(size_of_command(NULL, NULL, NULL), -1);
	assert_int_equal(size_of_command(a, NULL, NULL), 5);
	assert_int_equal(size_of_command(a, b, again), 12);
	assert_int_equal(size_of_command(script, option, empty), -1);
	assert_int_equal(size_of_command(missing, folder, b), 7);
	put_text("none", "");
	assert_int_equal(size_of_command((char[]){"none"}, NULL, NULL), 0);
	/* A shell would read these words. */
	for (const char *at = "\n;|&<>$`"; *at; at++) {
		char name[] = {'x', *at, 'y', 0};

		put_text(name, "1");
		assert_int_equal(size_of_command(name, NULL, NULL), -1);
	}
}

static void a_command_with_too_many_words_has_no_size(void **state)
{
	static char a[] = "a.txt", missing[] = "missing", option[] = "-o";
	char *words[INPUT_FILES_MOST + 3] = {a, a, option};

	(void)state;
	put_files();
	for (size_t i = 3; i < INPUT_FILES_MOST + 3; i++)
		words[i] = missing;
	assert_int_equal(size_of_named_files(words, INPUT_FILES_MOST + 2), 5);
	assert_int_equal(size_of_named_files(words, INPUT_FILES_MOST + 3), -1);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(files_count_once_and_folders_whole),
		unit_test_in_scratch(the_first_word_of_unknown_size_is_told),
		unit_test_in_scratch(folders_are_entered_to_a_depth),
		unit_test_in_scratch(later_files_count_each_time),
		unit_test_in_scratch(a_command_names_files_behind_its_first_word),
		unit_test_in_scratch(a_command_with_too_many_words_has_no_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
