/* Tests of src/cli/config_show.c: `resource-tracker config show`. */
#include "captured.h"
#include "command_words.h"

#include "cli/subcommands.h"

#ifdef HAVE_TOML
#define NEEDS_TOML() (void)0
#else
#define NEEDS_TOML() SKIP("the program is built without TOML")
#endif

static int without_variables(void **state)
{
	unsetenv("TRACKER_INTERVAL");
	unsetenv("TRACKER_TAG");
	unsetenv("TRACKER_QUIET");
	unsetenv("TRACKER_CONFIG");
	return capture_streams(state);
}

static size_t lines_of(const char *path, const char *line)
{
	char *text = get_file(path, NULL);
	size_t count = 0;

	for (const char *at = text; (at = strstr(at, line)); at++)
		count += at == text || at[-1] == '\n';
	free(text);
	return count;
}

static void each_setting_has_a_row_with_its_default(void **state)
{
	(void)state;
	assert_int_equal(run_config(words_of("config show")), 0);
	assert_int_equal(lines_of("out", "tracker.interval_secs       1s                        default\n"),
			 1);
	assert_int_equal(lines_of("out", "tracker.quiet               -                         default\n"),
			 1);
	/* Options without a key are left out. */
	assert_int_equal(lines_of("out", "  "), 0);
	assert_printed("err", "");
}

static void the_strongest_origin_is_named(void **state)
{
	(void)state;
	NEEDS_TOML();
	put_text("resource-tracker.toml",
		 "[tracker]\ninterval_secs = 5\nquiet = true\n[job]\ntag = ['a=1', 'b=2']\n");
	setenv("TRACKER_INTERVAL", "7", 1);
	assert_int_equal(run_config(words_of("config show")), 0);
	assert_int_equal(
		lines_of("out", "tracker.interval_secs       7                         TRACKER_INTERVAL\n"),
		1);
	assert_int_equal(lines_of("out", "tracker.interval_secs "), 1);
	assert_int_equal(
		lines_of("out",
			 "tracker.quiet               1                         resource-tracker.toml:3\n"),
		1);
	/* Each element of a list, unless a stronger origin has one. */
	assert_int_equal(
		lines_of("out",
			 "job.tag                     a=1                       resource-tracker.toml:5\n"),
		1);
	assert_int_equal(
		lines_of("out",
			 "job.tag                     b=2                       resource-tracker.toml:5\n"),
		1);
	assert_int_equal(truncate("out", 0), 0);
	setenv("TRACKER_TAG", "c=3", 1);
	assert_int_equal(run_config(words_of("config show")), 0);
	assert_int_equal(lines_of("out", "job.tag "), 1);
	assert_printed("err", "");
}

static void the_file_is_that_of_the_option_or_of_the_variable(void **state)
{
	(void)state;
	NEEDS_TOML();
	put_text("one.toml", "[tracker]\nprograms = 1\n");
	put_text("two.toml", "[tracker]\n\nprograms = 2\n");
	setenv("TRACKER_CONFIG", "one.toml", 1);
	assert_int_equal(run_config(words_of("config show")), 0);
	assert_int_equal(
		lines_of("out", "tracker.programs            1                         one.toml:2\n"), 1);
	assert_int_equal(run_config(words_of("config show --config=two.toml")), 0);
	assert_int_equal(
		lines_of("out", "tracker.programs            2                         two.toml:3\n"), 1);
	assert_printed("err", "");
	/* A file that was named must be there. */
	assert_int_equal(run_config(words_of("config show --config=three.toml")), 0);
	assert_printed_has("err", "three.toml: ");
	setenv("TRACKER_CONFIG", "three.toml", 1);
	assert_int_equal(run_config(words_of("config show")), 0);
	assert_printed_has("err", "three.toml: ");
}

static void a_value_that_is_not_valid_is_told(void **state)
{
	(void)state;
	setenv("TRACKER_INTERVAL", "never\033", 1);
	assert_int_equal(run_config(words_of("config show")), 0);
	assert_int_equal(lines_of("out", "tracker.interval_secs       never?                    "
					 "TRACKER_INTERVAL; not valid: interval"),
			 1);
}

static void json_has_an_object_for_each_row(void **state)
{
	(void)state;
	setenv("TRACKER_INTERVAL", "never", 1);
	setenv("TRACKER_QUIET", "1", 1);
	assert_int_equal(run_config(words_of("config show --json")), 0);
	assert_int_equal(lines_of("out", "["), 1);
	assert_int_equal(lines_of("out", "]\n"), 1);
	assert_int_equal(lines_of("out", ",{\"option\":\"quiet\",\"key\":\"tracker.quiet\",\"value\":\"1\","
					 "\"from\":\"TRACKER_QUIET\","
					 "\"problem\":null}\n"),
			 1);
	assert_int_equal(
		lines_of("out",
			 ",{\"option\":\"interval\",\"key\":\"tracker.interval_secs\",\"value\":\"never\","
			 "\"from\":\"TRACKER_INTERVAL\",\"problem\":\"interval"),
		1);
	assert_int_equal(lines_of("out", ",{\"option\":\"runs\",\"key\":\"tracker.runs\",\"value\":null,"
					 "\"from\":\"default\",\"problem\":null}\n"),
			 1);
}

static void show_is_its_only_word(void **state)
{
	(void)state;
	assert_int_equal(run_config(words_of("config")), 2);
	assert_printed("err", "resource-tracker config: give show (see resource-tracker config --help)\n");
	assert_int_equal(run_config(words_of("config hide")), 2);
	assert_printed_has("err", "is not known here; give show");
	assert_int_equal(run_config(words_of("config show show")), 2);
	assert_printed_has("err", "is not known here; give show");
	assert_printed("out", "");
	assert_int_equal(run_config(words_of("config --help")), 0);
	assert_printed_has("out", "Show each setting of the recorder");
}

#define unit_test_of_config(test) cmocka_unit_test_setup_teardown(test, without_variables, free_streams)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_config(each_setting_has_a_row_with_its_default),
		unit_test_of_config(the_strongest_origin_is_named),
		unit_test_of_config(the_file_is_that_of_the_option_or_of_the_variable),
		unit_test_of_config(a_value_that_is_not_valid_is_told),
		unit_test_of_config(json_has_an_object_for_each_row),
		unit_test_of_config(show_is_its_only_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
