/* Tests of src/format/formats.c: which format a name or a path means. */
#include "unit.h"

#include "base/cleanup.h"
#include "format/sample_format.h"

static void names_and_extensions_choose_the_format(void **state)
{
	static const struct {
		const char *path;
		const struct sample_format *format;
	} CASES[] = {
		{"run.json", &JSONL_FORMAT},
		{"run.jsonl", &JSONL_FORMAT},
		{"a/b.ndjson", &JSONL_FORMAT},
		{"run.csv", &CSV_FORMAT},
		{"run.csv.gz", &CSV_FORMAT},
		{"run.jsonl.gz", &JSONL_FORMAT},
		{"x.json.csv", &CSV_FORMAT},
		{".csv", &CSV_FORMAT},
		{"csv", NULL},
		{"run_csv", NULL},
		{"run.csv.", NULL},
		{"run.CSV", NULL},
		{"", NULL},
		{".gz", NULL},
		{"csv.gz", NULL},
		{"run.gz", NULL},
		{"run.csv.gz.gz", NULL},
		{"run.xcsv", NULL},
		{"run.json/x", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++)
		assert_ptr_equal(sample_format_for_path(CASES[i].path), CASES[i].format);
	assert_ptr_equal(sample_format_find("json"), &JSONL_FORMAT);
	assert_ptr_equal(sample_format_find("jsonl"), &JSONL_FORMAT);
	assert_ptr_equal(sample_format_find("ndjson"), &JSONL_FORMAT);
	assert_ptr_equal(sample_format_find("csv"), &CSV_FORMAT);
	assert_null(sample_format_find("cs"));
	assert_null(sample_format_find(""));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_extensions_choose_the_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
