/* Lists and numbers of the command line: src/analysis/words.c. */
#include "scratch.h"

#include "analysis/words.h"

static void try_parts(const char *text, const char *joined)
{
	struct text_list list = {0};
	char found[256] = "";

	assert_true(text_list_add_parts(&list, text));
	assert_int_equal(list.count, list.owned_count);
	for (size_t i = 0; i < list.count; i++)
		snprintf(found + strlen(found), sizeof found - strlen(found), "<%s>", list.texts[i]);
	assert_string_equal(found, joined);
	text_list_done(&list);
	assert_true(!list.texts && !list.owned && !list.count && !list.owned_count);
}

static void commas_inside_brackets_separate_nothing(void **state)
{
	(void)state;
	try_parts("a", "<a>");
	try_parts("a,b,cd", "<a><b><cd>");
	try_parts(",a,,b,", "<a><b>");
	try_parts("", "");
	try_parts(",", "");
	try_parts("disk[a,b].x,c", "<disk[a,b].x><c>");
	try_parts("d[a[b,c],e],f", "<d[a[b,c],e]><f>");
	/* A bracket that closes nothing opens none either. */
	try_parts("a],b[c,d", "<a]><b[c,d>");
}

static void copies_outlive_their_text(void **state)
{
	struct text_list list = {0};
	char text[] = "one";

	(void)state;
	assert_true(text_list_add_copy(&list, text) && text_list_add(&list, text));
	text[0] = 'x';
	assert_int_equal(list.count, 2);
	assert_string_equal(list.texts[0], "one");
	assert_string_equal(list.texts[1], "xne");
	text_list_done(&list);
}

static void numbers_are_whole_words(void **state)
{
	static const char *const NO_COUNTS[] = {"", "1x", "x", "1.5", "1 ", "9223372036854775808"},
				 *const NO_REALS[] = {"", "1x", "x", "1.5.", "1 "};
	int64_t count = 7;
	double real = 7;

	(void)state;
	for (size_t i = 0; i < sizeof NO_COUNTS / sizeof *NO_COUNTS; i++)
		if (parse_count(NO_COUNTS[i], &count) || count != 7)
			fail_msg("\"%s\" is %lld", NO_COUNTS[i], (long long)count);
	for (size_t i = 0; i < sizeof NO_REALS / sizeof *NO_REALS; i++)
		if (parse_real(NO_REALS[i], &real) || real != 7)
			fail_msg("\"%s\" is %g", NO_REALS[i], real);
	assert_true(parse_count("-12", &count) && count == -12);
	assert_true(parse_count("9223372036854775807", &count) && count == INT64_MAX);
	assert_true(parse_real("-1.5e2", &real) && real == -150);
	assert_true(parse_real("3", &real) && real == 3);
}

static void a_side_has_a_name_before_its_path_unless_there_is_such_a_file(void **state)
{
	static const char *const WORDS[] = {"plain", "before=run.jsonl", "a=b=c", "is=file"};
	struct run_list list = {0};

	(void)state;
	put_text("is=file", "");
	assert_true(run_list_fill(&list, WORDS, 4));
	assert_int_equal(list.count, 4);
	assert_string_equal(list.runs[0].side, "plain");
	assert_string_equal(list.runs[0].path, "plain");
	assert_string_equal(list.runs[1].side, "before");
	assert_string_equal(list.runs[1].path, "run.jsonl");
	assert_string_equal(list.runs[2].side, "a");
	assert_string_equal(list.runs[2].path, "b=c");
	assert_string_equal(list.runs[3].side, "is=file");
	assert_string_equal(list.runs[3].path, "is=file");
	run_list_done(&list);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_inside_brackets_separate_nothing),
		cmocka_unit_test(copies_outlive_their_text),
		cmocka_unit_test(numbers_are_whole_words),
		cmocka_unit_test(a_side_has_a_name_before_its_path_unless_there_is_such_a_file),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
