/* Tests of src/base/nearest.c: which known word a person meant. */
#include "unit.h"

#include <string.h>

#include "base/nearest.h"

static void edits_are_counted(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned edits;
	} CASES[] = {
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "ab", 1},
		{"abc", "xabc", 1},
		{"abcd", "acbd", 1},
		{"ab", "ba", 1},
		{"abc", "cab", 2},
		{"kitten", "sitting", 3},
		{"abcd", "badc", 2},
		{"interval", "inteval", 1},
		{"output", "input", 3},
		{"a", "b", 1},
		{"flaw", "lawn", 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		assert_int_equal(edit_distance(CASES[i].a, CASES[i].b), CASES[i].edits);
		assert_int_equal(edit_distance(CASES[i].b, CASES[i].a), CASES[i].edits);
	}
}

static void long_words_are_cut(void **state)
{
	char a[101] = "", b[101] = "";

	(void)state;
	memset(a, 'x', 100);
	memset(b, 'x', 100);
	b[60] = 'y';
	assert_int_equal(edit_distance(a, b), 0);
	b[59] = 'y';
	assert_int_equal(edit_distance(a, b), 1);
}

static void a_close_word_is_found(void **state)
{
	static const char *const KNOWN[] = {"csv-layout", "output", "interval", "pid", "pss", "append"};
	static const struct {
		const char *given, *meant; /* NULL: none */
	} CASES[] = {
		{"outptu", "output"}, /* a swap */
		{"ouput", "output"},
		{"csv", "csv-layout"},
		{"cs", "csv-layout"},
		{"c", NULL},
		{"intervla", "interval"},
		{"nitrevla", "interval"}, /* three in eight letters */
		{"xxxxrval", NULL},       /* four */
		{"otptu", "output"},      /* two in five */
		{"oxtx", NULL},           /* two in four */
		{"pi", "pid"},
		{"px", NULL},
		{"psd", "pid"}, /* the first of two that are as close */
		{"pss", "pss"},
		{"xyz", NULL},
		{"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct nearest nearest = {0};

		for (size_t k = 0; k < sizeof KNOWN / sizeof KNOWN[0]; k++)
			(void)nearest_consider(&nearest, CASES[i].given, KNOWN[k]);
		if (!CASES[i].meant)
			assert_null(nearest.word);
		else if (!nearest.word || strcmp(nearest.word, CASES[i].meant) != 0)
			fail_msg("%s: %s", CASES[i].given, nearest.word ? nearest.word : "none");
	}
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edits_are_counted),
		cmocka_unit_test(long_words_are_cut),
		cmocka_unit_test(a_close_word_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
