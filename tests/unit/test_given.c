/* Tests of src/cli/given.c: which of several entries for an option counts, and the variables of the environment. */
#include "unit.h"

#include "cli/given.h"

static const struct option_row *option(const char *name)
{
	return option_by_name(name, strlen(name));
}

static void add(struct given_list *list, const char *name, enum origin origin, const char *text)
{
	assert_int_equal(given_add(list, option(name), origin, text, 7), 0);
}

static void an_entry_keeps_a_copy_of_its_text(void **state)
{
	struct given_list list = {0};
	char text[] = "1.5";

	(void)state;
	add(&list, "interval", ORIGIN_CONFIG, text);
	text[0] = '9';
	add(&list, "summary", ORIGIN_COMMAND_LINE, NULL);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.items[0].text, "1.5");
	assert_int_equal(list.items[0].line, 7);
	assert_int_equal(list.items[0].origin, ORIGIN_CONFIG);
	assert_null(list.items[1].text);
	given_done(&list);
	assert_int_equal(list.count, 0);
	assert_null(list.items);
}

static void the_last_entry_of_the_strongest_origin_counts(void **state)
{
	struct given_list list = {0};

	(void)state;
	assert_null(given_by_name(&list, "interval"));
	add(&list, "interval", ORIGIN_ENVIRONMENT, "1");
	add(&list, "interval", ORIGIN_ENVIRONMENT, "2");
	add(&list, "interval", ORIGIN_CONFIG, "3");
	add(&list, "quiet", ORIGIN_COMMAND_LINE, "1");
	add(&list, "interval", ORIGIN_SITE, "4");
	assert_ptr_equal(given_by_name(&list, "interval"), &list.items[1]);
	assert_ptr_equal(given_for(&list, option("quiet")), &list.items[3]);
	assert_null(given_by_name(&list, "output"));
	/* Both of the strongest origin count, for an option that may be given several times. */
	assert_true(given_counts(&list, &list.items[0]));
	assert_true(given_counts(&list, &list.items[1]));
	assert_false(given_counts(&list, &list.items[2]));
	assert_false(given_counts(&list, &list.items[4]));
	assert_true(given_counts(&list, &list.items[3]));
	given_done(&list);
}

static void an_output_is_told_by_its_name(void **state)
{
	struct given output = {.row = option("output")}, quiet = {.row = option("quiet")};

	(void)state;
	assert_true(given_is_output(&output));
	assert_false(given_is_output(&quiet));
}

/* ---- the environment ---- */

static int without_variables(void **state)
{
	(void)state;
	unsetenv("TRACKER_TAG");
	unsetenv("TRACKER_INTERVAL");
	unsetenv("TRACKER_QUIET");
	unsetenv("TRACKER_CONFIG");
	unsetenv("TRACKER_VERSION");
	return 0;
}

static const char *text_from_environment(struct given_list *list, const char *name)
{
	const struct given *item;

	assert_int_equal(read_environment(list), 0);
	item = given_by_name(list, name);
	return item ? item->text : NULL;
}

static void variables_are_options(void **state)
{
	struct given_list list = {0};

	(void)state;
	assert_int_equal(read_environment(&list), 0);
	assert_int_equal(list.count, 0);
	setenv("TRACKER_INTERVAL", "2", 1);
	setenv("TRACKER_QUIET", "", 1);
	setenv("TRACKER_CONFIG", "job.toml", 1);
	setenv("TRACKER_VERSION", "1", 1); /* no setting */
	assert_string_equal(text_from_environment(&list, "interval"), "2");
	assert_int_equal(list.count, 2);
	assert_string_equal(given_by_name(&list, "config")->text, "job.toml");
	assert_int_equal(list.items[0].origin, ORIGIN_ENVIRONMENT);
	assert_int_equal(list.items[0].line, 0);
	assert_null(given_by_name(&list, "quiet"));
	given_done(&list);
}

static void lines_of_a_variable_are_the_elements_of_a_list(void **state)
{
	struct given_list list = {0};

	(void)state;
	setenv("TRACKER_TAG", "\na=1\n\nb=2\n", 1);
	assert_string_equal(text_from_environment(&list, "tag"), "b=2");
	assert_int_equal(list.count, 2);
	assert_string_equal(list.items[0].text, "a=1");
	given_done(&list);
	/* Other values keep their lines, and are refused later. */
	unsetenv("TRACKER_TAG");
	setenv("TRACKER_INTERVAL", "2\n3", 1);
	assert_string_equal(text_from_environment(&list, "interval"), "2\n3");
	assert_int_equal(list.count, 1);
	given_done(&list);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_entry_keeps_a_copy_of_its_text),
		cmocka_unit_test(the_last_entry_of_the_strongest_origin_counts),
		cmocka_unit_test(an_output_is_told_by_its_name),
		cmocka_unit_test_setup_teardown(variables_are_options, without_variables, without_variables),
		cmocka_unit_test_setup_teardown(lines_of_a_variable_are_the_elements_of_a_list,
						without_variables, without_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
