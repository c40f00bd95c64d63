/* Tests of src/cli/command_line.c: the words up to the command. */
#include "captured.h"
#include "command_words.h"

#include "cli/command_line.h"
#include "cli/given.h"

static void the_first_operand_begins_the_command(void **state)
{
	char **words = words_of("resource-tracker -i 0.5 --output=run.jsonl make -j2 --quiet");
	struct given_list list = {0};
	char **command;
	bool separated = true;

	(void)state;
	assert_int_equal(read_arguments(words, &list, &command, &separated), 0);
	assert_ptr_equal(command, words + 4);
	assert_false(separated);
	assert_false(list.is_short);
	assert_int_equal(list.count, 2);
	assert_string_equal(given_by_name(&list, "interval")->text, "0.5");
	assert_int_equal(list.items[1].origin, ORIGIN_COMMAND_LINE);
	assert_int_equal(list.items[1].line, 0);
	assert_string_equal(list.items[1].text, "run.jsonl");
	given_done(&list);
}

static void two_dashes_end_the_options(void **state)
{
	char **words = words_of("resource-tracker -q -- -i");
	struct given_list list = {0};
	char **command;
	bool separated = false;

	(void)state;
	assert_int_equal(read_arguments(words, &list, &command, &separated), 0);
	assert_ptr_equal(command, words + 3);
	assert_true(separated);
	given_done(&list);
	separated = false;
	assert_int_equal(read_arguments(words_of("resource-tracker -q --"), &list, &command, &separated), 0);
	assert_true(separated);
	assert_null(command);
	given_done(&list);
	assert_printed("err", "");
}

static void a_mistake_is_told_with_the_way_to_help(void **state)
{
	char **words = words_of("resource-tracker --interval");
	struct given_list list = {0};
	char **command;
	bool separated;

	(void)state;
	assert_int_equal(read_arguments(words, &list, &command, &separated), -1);
	assert_printed_has("err", " (see resource-tracker --help)\n");
	given_done(&list);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_captured(the_first_operand_begins_the_command),
		unit_test_captured(two_dashes_end_the_options),
		unit_test_captured(a_mistake_is_told_with_the_way_to_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
