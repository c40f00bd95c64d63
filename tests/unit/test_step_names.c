/* Tests of src/workflow/step_names.c: the step that made a name. */
#include "unit.h"

#include <stdio.h>

#include "base/scan.h"
#include "workflow/step_names.h"

static struct scan text_of(const char *text)
{
	return scan_bytes(text, strlen(text));
}

static void the_last_step_before_that_makes_a_name_is_found(void **state)
{
	CLEANUP_STEP_NAMES struct step_names names = {0};

	(void)state;
	/* Not in the order of the steps. */
	assert_int_equal(step_names_add(&names, text_of("b"), 7), 0);
	assert_int_equal(step_names_add(&names, text_of("b"), 2), 0);
	assert_int_equal(step_names_add(&names, text_of("a"), 9), 0);
	assert_int_equal(step_names_add(&names, text_of("b"), 4), 0);
	step_names_sort(&names);
	assert_int_equal(step_names_find(&names, text_of("b"), 8), 7);
	assert_int_equal(step_names_find(&names, text_of("b"), 7), 4);
	assert_int_equal(step_names_find(&names, text_of("b"), 4), 2);
	assert_int_equal(step_names_find(&names, text_of("b"), 2), SIZE_MAX);
	assert_int_equal(step_names_find(&names, text_of("a"), 10), 9);
	assert_int_equal(step_names_find(&names, text_of("a"), 9), SIZE_MAX);
	assert_int_equal(step_names_find(&names, text_of("c"), 10), SIZE_MAX);
}

static void a_name_that_begins_with_another_is_its_own(void **state)
{
	static const char *const NAMES[] = {"abc", "ab", "a", "abd", "b"};
	CLEANUP_STEP_NAMES struct step_names names = {0};

	(void)state;
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(step_names_add(&names, text_of(NAMES[i]), i), 0);
	step_names_sort(&names);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(step_names_find(&names, text_of(NAMES[i]), 9), i);
	assert_int_equal(step_names_find(&names, text_of("abcd"), 9), SIZE_MAX);
	assert_int_equal(step_names_find(&names, text_of("ac"), 9), SIZE_MAX);
}

static void each_word_of_a_text_is_a_name(void **state)
{
	CLEANUP_STEP_NAMES struct step_names names = {0};

	(void)state;
	step_names_sort(&names);
	assert_int_equal(step_names_find(&names, text_of("x"), 9), SIZE_MAX);
	assert_int_equal(step_names_add_words(&names, " ", 1), 0);
	assert_int_equal(names.count, 0);
	assert_int_equal(step_names_add_words(&names, "  out/x.bam y ", 1), 0);
	assert_int_equal(names.count, 2);
	step_names_sort(&names);
	assert_int_equal(step_names_find(&names, text_of("out/x.bam"), 9), 1);
	assert_int_equal(step_names_find(&names, text_of("y"), 9), 1);
}

static void hundreds_of_names_are_all_found(void **state)
{
	enum { MANY = 700 };
	static char texts[MANY][8];
	CLEANUP_STEP_NAMES struct step_names names = {0};

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		snprintf(texts[i], sizeof texts[i], "%zu", 1000 - i);
		assert_int_equal(step_names_add(&names, text_of(texts[i]), i), 0);
	}
	step_names_sort(&names);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(step_names_find(&names, text_of(texts[i]), MANY), i);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_step_before_that_makes_a_name_is_found),
		cmocka_unit_test(a_name_that_begins_with_another_is_its_own),
		cmocka_unit_test(each_word_of_a_text_is_a_name),
		cmocka_unit_test(hundreds_of_names_are_all_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
