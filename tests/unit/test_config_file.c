/* Tests of src/cli/config_file.c: which configuration files are read, and what is told of those that are not. */
#include "captured.h"

#include <sys/wait.h>

#include "base/clock.h"
#include "cli/config_file.h"

#ifdef HAVE_TOML
#define NEEDS_TOML() (void)0
#else
#define NEEDS_TOML() SKIP("the program is built without TOML")
#endif

enum { MOST_BYTES = 1 << 20 };

static struct given_list list;

static int done(void **state)
{
	given_done(&list);
	return free_streams(state);
}

static void read_named(const char *path)
{
	assert_int_equal(read_config_file(path, ORIGIN_CONFIG, true, true, &list), 0);
}

static void read_found(const char *path)
{
	assert_int_equal(read_config_file(path, ORIGIN_CONFIG, false, true, &list), 0);
}

static void settings_have_their_origin_and_line(void **state)
{
	(void)state;
	NEEDS_TOML();
	put_text("a.toml", "[job]\nname = \"nightly\"\ntag = [\"a=1\",\n \"b=2\"]\n[tracker]\ninterval_secs "
			   "= 10\nquiet = true\n");
	assert_int_equal(read_config_file("a.toml", ORIGIN_SITE, true, true, &list), 0);
	assert_printed("err", "");
	assert_int_equal(list.count, 5);
	assert_string_equal(given_by_name(&list, "job-name")->text, "nightly");
	assert_int_equal(given_by_name(&list, "job-name")->line, 2);
	assert_int_equal(given_by_name(&list, "job-name")->origin, ORIGIN_SITE);
	assert_string_equal(given_by_name(&list, "tag")->text, "b=2");
	assert_string_equal(given_by_name(&list, "quiet")->text, "1");
	assert_string_equal(given_by_name(&list, "interval")->text, "10");
}

static void unknown_keys_are_told_with_the_nearest(void **state)
{
	char text[400] = "top = 1\n[tracker]\nintervall_secs = 10\nquiet = true\n";
	size_t length = strlen(text);

	(void)state;
	NEEDS_TOML();
	put_text("a.toml", text);
	read_named("a.toml");
	assert_printed(
		"err",
		"resource-tracker: a.toml:1: unknown key top is ignored\n"
		"resource-tracker: a.toml:3: unknown key tracker.intervall_secs is ignored; the nearest is "
		"tracker.interval_secs\n");
	assert_int_equal(list.count, 1);
	memset(text + length, 'x', 250);
	strcpy(text + length + 250, " = 1\n");
	put_text("a.toml", text);
	read_named("a.toml");
	assert_printed_has("err", "resource-tracker: a.toml:5: unknown key with a very long name is ignored");
	assert_int_equal(list.count, 2);
	/* Unless no warnings are wanted. */
	assert_int_equal(read_config_file("a.toml", ORIGIN_CONFIG, true, false, &list), 0);
	assert_int_equal(list.count, 3);
	assert_printed("err", "");
}

static void a_list_within_a_list_is_left_out(void **state)
{
	(void)state;
	NEEDS_TOML();
	put_text("a.toml", "[job]\ntag = [[\"a=1\"]]\n");
	read_named("a.toml");
	assert_printed("err", "resource-tracker: a.toml:2: job.tag has an invalid value; ignored\n");
	assert_int_equal(read_config_file("a.toml", ORIGIN_CONFIG, true, false, &list), 0);
	assert_printed("err", "");
	assert_int_equal(list.count, 0);
}

static void several_values_are_left_out_where_one_is_taken(void **state)
{
	(void)state;
	NEEDS_TOML();
	put_text("a.toml", "[tracker]\ninterval_secs = [1, 2, 3]\nquiet = {a = 1, b = 2}\n"
			   "duration = [60]\n[job]\ntag = [\"a=1\", \"b=2\"]\n");
	read_named("a.toml");
	assert_printed(
		"err",
		"resource-tracker: a.toml:2: tracker.interval_secs takes one value, and this is a list; "
		"ignored\n"
		"resource-tracker: a.toml:3: tracker.quiet takes one value, and this is a list; ignored\n");
	assert_null(given_by_name(&list, "interval"));
	assert_null(given_by_name(&list, "quiet"));
	/* A list of one value is like the value. */
	assert_string_equal(given_by_name(&list, "duration")->text, "60");
	assert_int_equal(list.count, 3);
}

static void an_unknown_list_is_told_once(void **state)
{
	(void)state;
	NEEDS_TOML();
	put_text("a.toml", "[tracker]\nzzzzzzzz = [1, 2, 3]\n[top]\nlevel = {a = 1, b = 2}\n");
	read_named("a.toml");
	assert_printed("err", "resource-tracker: a.toml:4: unknown key top.level is ignored\n"
			      "resource-tracker: a.toml:2: unknown key tracker.zzzzzzzz is ignored\n");
	assert_int_equal(list.count, 0);
}

static void a_list_without_elements_is_one_of_a_repeatable_option(void **state)
{
	(void)state;
	NEEDS_TOML();
	put_text("a.toml", "[job]\ntag = []\n[tracker]\nquiet = []\n");
	read_named("a.toml");
	assert_printed("err", "resource-tracker: a.toml:4: tracker.quiet has an invalid value; ignored\n");
	assert_int_equal(list.count, 0);
}

static void a_file_that_is_not_toml_is_told_with_the_place(void **state)
{
	(void)state;
	NEEDS_TOML();
	put_text("a.toml", "[tracker]\nquiet = \n");
	read_named("a.toml");
	assert_printed_has("err", "resource-tracker: a.toml:2:");
	read_named("a.toml");
	assert_printed_has("err", "; going on without this file\n");
	assert_int_equal(read_config_file("a.toml", ORIGIN_CONFIG, true, false, &list), 0);
	assert_printed("err", "");
	assert_int_equal(list.count, 0);
}

static void a_file_that_is_absent_is_told_if_it_was_named(void **state)
{
	(void)state;
	put_text("file", "");
	read_found("missing.toml");
	read_found("file/a.toml");
	assert_printed("err", "");
	read_named("missing.toml");
	assert_printed("err",
		       "resource-tracker: missing.toml: No such file or directory; going on without it\n");
	read_named("file/a.toml");
	assert_printed("err", "resource-tracker: file/a.toml: Not a directory; going on without it\n");
	read_named(".");
	assert_printed("err", "resource-tracker: .: Is a directory; going on without it\n");
	assert_int_equal(read_config_file(".", ORIGIN_CONFIG, true, false, &list), 0);
	assert_printed("err", "");
}

static void a_file_has_less_than_a_mebibyte(void **state)
{
	char *text = malloc(MOST_BYTES);

	(void)state;
	NEEDS_TOML();
	memset(text, '\n', MOST_BYTES);
	put_file("a.toml", text, MOST_BYTES);
	read_named("a.toml");
	assert_printed("err", "resource-tracker: a.toml: File too large; going on without it\n");
	memcpy(text + MOST_BYTES - 30, "[tracker]\nquiet = true\n", 23);
	put_file("a.toml", text, MOST_BYTES - 1);
	read_named("a.toml");
	assert_printed("err", "");
	assert_int_equal(list.count, 1);
	free(text);
}

/* ---- pipes ---- */

static void a_fifo_is_waited_for_one_second(void **state)
{
	int64_t begun_ns = SYSTEM_CLOCKS.monotonic_ns(NULL), took_ns;

	(void)state;
	mkfifo("fifo", 0600);
	read_named("fifo");
	took_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) - begun_ns;
	assert_printed_has("err", "resource-tracker: fifo: ");
	assert_true(took_ns >= NSEC_PER_SEC - 10 * NSEC_PER_MSEC && took_ns < 2 * NSEC_PER_SEC);
}

static void a_pipe_is_read_to_its_end(void **state)
{
	int ends[2];
	char path[40];

	(void)state;
	NEEDS_TOML();
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "[tracker]\nquiet = true\n", 23), 23);
	close(ends[1]);
	snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
	read_named(path);
	assert_printed("err", "");
	assert_int_equal(list.count, 1);
	close(ends[0]);
}

/* Its end shows at first, and nothing between the two parts. */
static void a_fifo_is_read_from_when_a_writer_has_opened_it(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	NEEDS_TOML();
	mkfifo("fifo", 0600);
	pid = fork();
	if (pid == 0) {
		int fd = open("fifo", O_WRONLY);

		(void)!write(fd, "[tracker]\nquiet = ", 18);
		usleep(20000);
		_exit(write(fd, "true\n", 5) != 5);
	}
	read_named("fifo");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_printed("err", "");
	assert_int_equal(list.count, 1);
}

/* ---- a file in the current folder ---- */

static void assert_distrusted(const char *reason)
{
	char text[300];

	snprintf(text, sizeof text, "resource-tracker: a.toml is ignored: %s; to use it: --config a.toml\n",
		 reason);
	read_found("a.toml");
	assert_printed("err", text);
	assert_int_equal(list.count, 0);
	assert_int_equal(read_config_file("a.toml", ORIGIN_CONFIG, false, false, &list), 0);
	assert_printed("err", "");
	/* No descriptor was taken for that of the file. */
	assert_true(fcntl(STDOUT_FILENO, F_GETFD) >= 0);
}

static void a_file_that_was_found_is_ours_alone(void **state)
{
	(void)state;
	NEEDS_TOML();
	put_text("a.toml", "[tracker]\nquiet = true\n");
	assert_int_equal(chmod("a.toml", 0644), 0);
	read_found("a.toml");
	assert_printed("err", "");
	assert_int_equal(list.count, 1);
	given_done(&list);
	assert_int_equal(chmod("a.toml", 0646), 0);
	assert_distrusted("another user owns it or may write to it");
	read_named("a.toml");
	assert_printed("err", "");
	assert_int_equal(list.count, 1);
	given_done(&list);
	assert_int_equal(chmod("a.toml", 0644), 0);
	assert_int_equal(chmod(".", 0777), 0);
	assert_distrusted("another user owns this folder or may write to it");
	assert_int_equal(chmod(".", 0700), 0);
	assert_int_equal(unlink("a.toml"), 0);
	assert_int_equal(mkfifo("a.toml", 0600), 0);
	assert_distrusted("it is not a regular file");
}

#define unit_test_of_file(test) cmocka_unit_test_setup_teardown(test, capture_streams, done)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_file(settings_have_their_origin_and_line),
		unit_test_of_file(unknown_keys_are_told_with_the_nearest),
		unit_test_of_file(a_list_within_a_list_is_left_out),
		unit_test_of_file(several_values_are_left_out_where_one_is_taken),
		unit_test_of_file(an_unknown_list_is_told_once),
		unit_test_of_file(a_list_without_elements_is_one_of_a_repeatable_option),
		unit_test_of_file(a_file_that_is_not_toml_is_told_with_the_place),
		unit_test_of_file(a_file_that_is_absent_is_told_if_it_was_named),
		unit_test_of_file(a_file_has_less_than_a_mebibyte),
		unit_test_of_file(a_fifo_is_waited_for_one_second),
		unit_test_of_file(a_pipe_is_read_to_its_end),
		unit_test_of_file(a_fifo_is_read_from_when_a_writer_has_opened_it),
		unit_test_of_file(a_file_that_was_found_is_ours_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
