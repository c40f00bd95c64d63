/* Tests of src/net_cli/net_main.c: the subcommand that runs, and words and settings that are refused. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static char program[4096], printed[65536], said[65536];

static int begin(void **state)
{
	(void)state;
	if (is_emulated())
		return 0;
	snprintf(program, sizeof program, "%s/resource-tracker-net", getenv("TEST_BUILD"));
	unsetenv("SENTINEL_API_TOKEN");
	unsetenv("SENTINEL_API_URL");
	return 0;
}

static void take_text(int fd, char *text, size_t size)
{
	ssize_t length = pread(fd, text, size - 1, 0);

	assert_true(length >= 0);
	text[length] = '\0';
	close(fd);
}

static int unnamed_file(void)
{
	char path[] = "/tmp/rt-net-main-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

/* Returns the exit status; the texts are what the program wrote. */
static int run_words(const char *const *words)
{
	int out = unnamed_file(), err = unnamed_file(), status;
	pid_t pid;

	if (is_emulated())
		SKIP("an emulator starts no program of its machine");
	pid = fork();
	if (pid == 0) {
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		execv(program, (char *const *)(uintptr_t)words);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	take_text(out, printed, sizeof printed);
	take_text(err, said, sizeof said);
	return WEXITSTATUS(status);
}

#define RUN(...) run_words((const char *const[]){program __VA_OPT__(, ) __VA_ARGS__, NULL})

static void without_a_subcommand_it_shows_its_use(void **state)
{
	static const char USE[] =
		"resource-tracker: usage: resource-tracker-net follow|upload|discover|keeper ...\n";

	(void)state;
	assert_int_equal(RUN(), 2);
	assert_string_equal(said, USE);
	assert_int_equal(RUN("uploads"), 2);
	assert_string_equal(said, USE);
	/* The subcommand is the first word. */
	assert_int_equal(RUN("no", "discover", "host"), 2);
	assert_string_equal(said, USE);
	assert_string_equal(printed, "");
}

static void each_subcommand_gets_its_own_words(void **state)
{
	(void)state;
	assert_int_equal(RUN("discover", "host"), 0);
	assert_non_null(strstr(printed, "\"host_"));
	assert_string_equal(said, "");
	assert_int_equal(RUN("discover", "--lines", "host"), 0);
	assert_non_null(strstr(printed, "\nend\n"));
	assert_int_equal(RUN("discover", "moon"), 2);
	assert_non_null(strstr(said, "resource-tracker discover: "));
	assert_int_equal(RUN("keeper"), 2);
	/* People do not type this one, so its messages lack its name before the text. */
	assert_ptr_equal(strstr(said, "resource-tracker: keeper: "), said);
	assert_int_equal(RUN("follow"), 2);
	assert_ptr_equal(strstr(said, "resource-tracker: follow: "), said);
	assert_int_equal(RUN("upload", "--no-such-option"), 2);
	assert_ptr_equal(strstr(said, "resource-tracker upload: "), said);
}

/* Help needs no setting. */
static void help_comes_first(void **state)
{
	(void)state;
	setenv("SENTINEL_API_TOKEN", "two words", 1);
	assert_int_equal(RUN("upload", "--help"), 0);
	assert_non_null(strstr(printed, "resource-tracker upload"));
	assert_string_equal(said, "");
	assert_int_equal(RUN("discover", "--help"), 0);
	assert_non_null(strstr(printed, "host|cloud|all"));
	/* Those that people do not type have no help. */
	assert_int_equal(RUN("keeper", "--help"), 2);
	assert_string_equal(printed, "");
}

static void a_setting_that_is_wrong_is_named_with_its_rule(void **state)
{
	(void)state;
	setenv("SENTINEL_API_TOKEN", "two words", 1);
	assert_int_equal(RUN("discover", "host"), 2);
	assert_string_equal(said, "resource-tracker discover: SENTINEL_API_TOKEN is invalid: it must be one "
				  "word without blanks\n");
	assert_string_equal(printed, "");
	setenv("SENTINEL_API_TOKEN", "one-word", 1);
	setenv("SENTINEL_API_URL", "ftp://127.0.0.1", 1);
	assert_int_equal(RUN("keeper"), 2);
	assert_string_equal(said, "resource-tracker: SENTINEL_API_URL is invalid: it must be an address with "
				  "http:// or https://\n");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_a_subcommand_it_shows_its_use, begin),
		cmocka_unit_test_setup(each_subcommand_gets_its_own_words, begin),
		cmocka_unit_test_setup(help_comes_first, begin),
		cmocka_unit_test_setup(a_setting_that_is_wrong_is_named_with_its_rule, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
