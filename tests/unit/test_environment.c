/* Tests of src/tracker/environment.c and texts.c: variables of a tracker's own, and texts that it keeps. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>

#include "tracker/config.h"
#include "tracker/texts.h"

static struct rt_config *config;

static int begin_config(void **state)
{
	(void)state;
	setenv("TEST_AB", "outside", 1);
	unsetenv("TEST_A");
	return rt_config_new(&config);
}

static int end_config(void **state)
{
	(void)state;
	rt_config_free(config);
	unsetenv("TEST_AB");
	unsetenv("TEST_A");
	return 0;
}

static void a_variable_of_the_tracker_hides_that_of_the_process(void **state)
{
	(void)state;
	assert_string_equal(config_variable(config, "TEST_AB"), "outside");
	assert_null(config_variable(config, "TEST_A"));
	assert_int_equal(rt_config_set_variable(config, "TEST_AB", "inside"), 0);
	assert_int_equal(rt_config_set_variable(config, "TEST_A", "x=y"), 0);
	assert_string_equal(config_variable(config, "TEST_AB"), "inside");
	assert_string_equal(config_variable(config, "TEST_A"), "x=y");
	assert_null(config_variable(config, "TEST_"));
	assert_null(config_variable(config, "TEST_ABC"));
	/* An empty one is none, and hides the other. */
	assert_int_equal(rt_config_set_variable(config, "TEST_AB", ""), 0);
	assert_null(config_variable(config, "TEST_AB"));
	assert_int_equal(rt_config_set_variable(config, "TEST_AB", NULL), 0);
	assert_string_equal(config_variable(config, "TEST_AB"), "outside");
	assert_string_equal(config_variable(config, "TEST_A"), "x=y");
	assert_int_equal(config->variable_count, 1);
	assert_string_equal(getenv("TEST_AB"), "outside");
}

static void the_last_value_of_a_variable_counts(void **state)
{
	(void)state;
	assert_int_equal(rt_config_set_variable(config, "TEST_A", "1"), 0);
	assert_int_equal(rt_config_set_variable(config, "TEST_B", "2"), 0);
	assert_int_equal(rt_config_set_variable(config, "TEST_C", "3"), 0);
	assert_int_equal(rt_config_set_variable(config, "TEST_A", "4"), 0);
	assert_int_equal(config->variable_count, 3);
	assert_string_equal(config->variables[0], "TEST_B=2");
	assert_string_equal(config->variables[1], "TEST_C=3");
	assert_string_equal(config->variables[2], "TEST_A=4");
}

static void a_name_has_letters_and_no_equals_sign(void **state)
{
	static const char *const WRONG[] = {NULL, "", "=", "A=", "A=B"};

	(void)state;
	for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++)
		assert_int_equal(rt_config_set_variable(config, WRONG[i], "1"), -EINVAL);
	assert_string_equal(rt_config_message(config), "'A=B' is not a name of a variable");
	assert_int_equal(config->variable_count, 0);
}

/* The first one of a name counts for a program. */
static void a_program_gets_the_tracker_s_variables_first(void **state)
{
	extern char **environ;
	size_t count = 0;
	char **list;

	(void)state;
	while (environ[count])
		count++;
	assert_int_equal(rt_config_set_variable(config, "TEST_AB", "inside"), 0);
	assert_int_equal(rt_config_set_variable(config, "TEST_A", "1"), 0);
	list = config_environment(config);
	assert_string_equal(list[0], "TEST_AB=inside");
	assert_string_equal(list[1], "TEST_A=1");
	for (size_t i = 0; i < count; i++)
		assert_ptr_equal(list[2 + i], environ[i]);
	assert_null(list[2 + count]);
	free(list);
}

static void a_text_is_kept_once(void **state)
{
	enum { COUNT = 1000 };
	static const char *kept[COUNT];
	struct texts texts = {0};
	char text[16];

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < COUNT; i++) {
			const char *one;

			snprintf(text, sizeof text, "text %d", i);
			one = texts_keep(&texts, text);
			assert_string_equal(one, text);
			assert_ptr_not_equal(one, text);
			if (round)
				assert_ptr_equal(one, kept[i]);
			kept[i] = one;
		}
		assert_int_equal(texts.count, COUNT);
	}
	/* A quarter of the places stays free, and no more than is needed is taken. */
	assert_int_equal(texts.size, 2048);
	texts_done(&texts);
	assert_int_equal(texts.size, 0);
	assert_string_equal(texts_keep(&texts, ""), "");
	assert_int_equal(texts.size, 64);
	texts_done(&texts);
}

#define unit_test_of_config(test) cmocka_unit_test_setup_teardown(test, begin_config, end_config)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_config(a_variable_of_the_tracker_hides_that_of_the_process),
		unit_test_of_config(the_last_value_of_a_variable_counts),
		unit_test_of_config(a_name_has_letters_and_no_equals_sign),
		unit_test_of_config(a_program_gets_the_tracker_s_variables_first),
		cmocka_unit_test(a_text_is_kept_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
