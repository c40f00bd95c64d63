/* Tests of src/record/odd_text.c: what spreadsheets and Windows make of a file, and what only looks like that. */
#include <errno.h>

#include "unit.h"

#include "record/odd_text.h"

static void other_forms_are_named(void **state)
{
	static const struct {
		const char *text;
		size_t length;
		const char *cause; /* NULL: it may be read */
	} CASES[] = {
		{"\xff\xfe"
		 "a\0",
		 4, "iconv -f UTF-16 -t UTF-8"},
		{"\xfe\xff\0a", 4, "iconv -f UTF-16 -t UTF-8"},
		{"\0a\0b", 4, "iconv -f UTF-16BE"},
		{"a\0b\0", 4, "iconv -f UTF-16LE"},
		{"\xff\xff", 2, NULL},
		{"\xfe\xfe", 2, NULL},
		{"\xff\xfe", 1, NULL},
		{"\0\0", 2, NULL},
		{"ab", 2, NULL},
		{"", 0, NULL},
		{"a;b\n1,2\n", 8, "separated by semicolons"},
		{"a;b\r\n1;2\r\n", 10, "separated by semicolons"},
		{"a\tb\n", 4, "separated by tabs"},
		{"a\tb;c\n", 6, "separated by semicolons"},
		{"a b\n1;2\n", 8, NULL}, /* only the first line counts */
		{"a,b;c\n", 6, NULL},
		{"{a;b\n", 5, NULL},
		{"[a;b\n", 5, NULL},
		{"a;\x01\n", 4, NULL}, /* a program */
		{"a;\x1f\n", 4, NULL},
		{"a; b\n", 5, "separated by semicolons"},
		{"\n;\n", 3, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
		struct rt_problem problem = {.text = ""};
		struct scan start = scan_bytes(CASES[i].text, CASES[i].length);

		assert_int_equal(refuse_odd_text(start, "a file", &problem), CASES[i].cause ? -EBADMSG : 0);
		if (!CASES[i].cause) {
			assert_string_equal(problem.text, "");
			continue;
		}
		assert_memory_equal(problem.text, "a file: ", 8);
		assert_non_null(strstr(problem.text, CASES[i].cause));
		assert_int_equal(refuse_odd_text(start, "a file", NULL), -EBADMSG);
	}
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_forms_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
