/* The table of options is consistent, and unknown names get good suggestions. */
#include <string.h>

#include "base/nearest.h"
#include "options/options.h"
#include "resource_tracker.h"
#include "unit.h"

static bool is_setting(const char *name)
{
	for (size_t i = 0; rt_config_name(i); i++) {
		if (strcmp(rt_config_name(i), name) == 0)
			return true;
	}
	return false;
}

static void every_row_is_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &OPTIONS[i];
		size_t length = strlen(row->help);

		if (row->heading)
			continue;
		assert_ptr_equal(option_by_name(row->name, strlen(row->name)), row);
		if (row->letter)
			assert_ptr_equal(find_letter(recorder_options(), row->letter), row);
		if (*row->toml_key)
			assert_ptr_equal(option_by_toml_key(row->toml_key), row);
		assert_int_equal(row->owner == OWNER_SETTING, is_setting(row->name));
		assert_int_equal(row->kind == KIND_SWITCH, !*row->argument);
		assert_true(length > 0 && row->help[length - 1] != '.');
		assert_true(row->modes != 0 && row->modes <= MODE_ANY);
	}
	assert_null(OPTIONS[OPTION_COUNT].name);
}

static void every_setting_has_an_option(void **state)
{
	(void)state;
	for (size_t i = 0; rt_config_name(i); i++)
		assert_non_null(option_by_name(rt_config_name(i), strlen(rt_config_name(i))));
}

static void names_are_never_abbreviated(void **state)
{
	(void)state;
	assert_null(option_by_name("inter", 5));
	assert_null(option_by_name("interval2", 9));
	assert_non_null(option_by_name("interval=2", 8));
	assert_null(option_by_name("", 0));
	assert_null(find_letter(recorder_options(), '\0'));
	assert_null(option_by_toml_key(""));
}

static void edits_are_counted(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned edits;
	} CASES[] = {
		{"", "", 0},           {"", "abc", 3},
		{"abc", "", 3},        {"interval", "interval", 0},
		{"quite", "quiet", 1}, {"formal", "format", 1},
		{"tag", "stage", 2},   {"ouptut", "output", 1},
	};
	char word[300];

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
		assert_int_equal(edit_distance(CASES[i].a, CASES[i].b), CASES[i].edits);
	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_int_equal(edit_distance(word, ""), 60);
}

static void the_nearest_name_is_the_one_that_was_meant(void **state)
{
	static const char *const CASES[][2] = {
		{"intervall", "interval"},    {"out", "output"},         {"job", "job-name"},
		{"ouput", "output"},          {"quite", "quiet"},        {"csvlayout", "csv-layout"},
		{"no-childs", "no-children"}, {"durations", "duration"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
		assert_string_equal(nearest_option(recorder_options(), CASES[i][0])->name, CASES[i][1]);
}

static void nothing_is_near_a_word_that_is_unlike_all(void **state)
{
	static const char *const CASES[] = {"", "x", "q", "xy", "nosuch", "foo", "hunter"};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		assert_null(nearest_option(recorder_options(), CASES[i]));
		assert_null(option_nearest_toml_key(CASES[i]));
	}
}

static void a_key_is_found_without_its_table_or_by_the_name_of_its_option(void **state)
{
	static const char *const CASES[][2] = {
		{"interval", "tracker.interval_secs"},
		{"intervall", "tracker.interval_secs"},
		{"interval_secs", "tracker.interval_secs"},
		{"tracker.interval", "tracker.interval_secs"},
		{"job.interval_secs", "tracker.interval_secs"},
		{"output", "tracker.output"},
		{"tracker.job_name", "job.name"},
		{"tracker.ouput", "tracker.output"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
		assert_string_equal(option_nearest_toml_key(CASES[i][0]), CASES[i][1]);
}

static void variables_are_the_names_in_capitals(void **state)
{
	char name[64], room[8];

	(void)state;
	option_variable(option_by_name("job-name", 8), name, sizeof(name));
	assert_string_equal(name, "TRACKER_JOB_NAME");
	option_variable(option_by_name("job-name", 8), room, sizeof(room));
	assert_string_equal(room, "TRACKER");
	assert_true(option_has_variable(option_by_name("config", 6)));
	assert_false(option_has_variable(option_by_name("help", 4)));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_complete),
		cmocka_unit_test(every_setting_has_an_option),
		cmocka_unit_test(names_are_never_abbreviated),
		cmocka_unit_test(edits_are_counted),
		cmocka_unit_test(the_nearest_name_is_the_one_that_was_meant),
		cmocka_unit_test(nothing_is_near_a_word_that_is_unlike_all),
		cmocka_unit_test(a_key_is_found_without_its_table_or_by_the_name_of_its_option),
		cmocka_unit_test(variables_are_the_names_in_capitals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
