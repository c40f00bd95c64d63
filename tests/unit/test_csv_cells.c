/* Tests of src/format/csv_cells.c: the cells of a line, and numbers as people's tools write them. */
#include "unit.h"
#include "guarded.h"

#include <errno.h>

#include "base/cleanup.h"
#include "format/csv_cells.h"

#define QUOTED "\001" /* before a cell that stood in quotes */

/* `wanted`: the cells, then NULL, after which the line ends or is damaged. */
static void assert_cells(const char *line, int end, const char *const *wanted)
{
	CLEANUP_CELLS struct cells cells = CELLS(scan_bytes(line, strlen(line)));
	struct cell_text cell;

	for (; *wanted; wanted++) {
		bool quoted = **wanted == *QUOTED;

		assert_int_equal(cells_next(&cells, &cell), 1);
		assert_true(scan_is(&cell.text, *wanted + quoted));
		assert_int_equal(cell.quoted, quoted);
	}
	assert_int_equal(cells_next(&cells, &cell), end);
}

#define CELLS_ARE(line, end, ...) assert_cells(line, end, (const char *const[]){__VA_ARGS__})

static void cells_stand_between_commas(void **state)
{
	(void)state;
	CELLS_ARE("a,b c,", 0, "a", "b c", "", NULL);
	CELLS_ARE("", 0, "", NULL);
	CELLS_ARE(",,1", 0, "", "", "1", NULL);
	CELLS_ARE("a\"b,2", 0, "a\"b", "2", NULL);
}

static void quotes_hold_commas_and_quotes(void **state)
{
	(void)state;
	CELLS_ARE("\"a,b\",c", 0, QUOTED "a,b", "c", NULL);
	CELLS_ARE("x,\"\"", 0, "x", QUOTED "", NULL);
	CELLS_ARE("\"a\"\"b\"", 0, QUOTED "a\"b", NULL);
	CELLS_ARE("\"\"\"\"\"\",\"\"\"c\"", 0, QUOTED "\"\"", QUOTED "\"c", NULL);
	CELLS_ARE("\"one\",", 0, QUOTED "one", "", NULL);
}

static void other_cells_are_damage(void **state)
{
	(void)state;
	CELLS_ARE("a,\"b", -EBADMSG, "a", NULL);
	CELLS_ARE("a,\"", -EBADMSG, "a", NULL);
	CELLS_ARE("\"a\"\"b", -EBADMSG, NULL);
	CELLS_ARE("\"a\"x", -EBADMSG, NULL);
	CELLS_ARE("\"a\"x,b", -EBADMSG, NULL);
}

/* Each cell has a bound of its own: 1 MiB with doubled quotes. */
static void a_huge_quoted_cell_is_refused(void **state)
{
	static char line[(1 << 20) + 100];
	CLEANUP_CELLS struct cells cells = CELLS(scan_bytes(line, sizeof line));
	struct cell_text cell;

	(void)state;
	memset(line, 'x', sizeof line);
	memcpy(line, "\"\"\"", 3);
	line[sizeof line - 1] = '"';
	assert_int_equal(cells_next(&cells, &cell), -ENOBUFS);
}

static int64_t whole_count(const char *text)
{
	return scan_whole_count(scan_bytes(text, strlen(text)));
}

static void a_count_may_have_a_fraction_of_zeros(void **state)
{
	static const char *const BAD[] = {"",    "x",    "12x",  "12.5", "12.0x", "12.0 ",
					  "1e3", "12,0", "None", "nan",  "12.x",  "9223372036854775808"};

	(void)state;
	assert_int_equal(whole_count("12"), 12);
	assert_int_equal(whole_count("12.0"), 12);
	assert_int_equal(whole_count("-7.000"), -7);
	assert_int_equal(whole_count("9223372036854775807"), INT64_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(BAD); i++)
		assert_int_equal(count_absent(whole_count(BAD[i])), ABSENT_NOT_A_VALUE);
	/* The lowest integers stand for absent ones, so no file may bring one in with a reason of its own. */
	assert_int_equal(count_absent(whole_count("-9223372036854774804")), ABSENT_NOT_A_VALUE);
}

static void a_real_is_the_whole_text(void **state)
{
	static const char *const BAD[] = {"", "nan", "inf", "None", "1.5x", "1.5 ", "-"};

	(void)state;
	assert_true(scan_whole_real(scan_bytes("1.5", 3)) == 1.5);
	assert_true(scan_whole_real(scan_bytes("-2e3", 4)) == -2000);
	for (size_t i = 0; i < ARRAY_SIZE(BAD); i++)
		assert_int_equal(real_absent(scan_whole_real(scan_bytes(BAD[i], strlen(BAD[i])))),
				 ABSENT_NOT_A_VALUE);
}

static void cells_stay_in_their_line(void **state)
{
	static const char LINE[] = "\"a\"\"b\",\"c\",1.5,-2.0,\"\"";
	char *end = guarded_begin();

	(void)state;
	for (size_t length = 0; length < sizeof LINE; length++) {
		CLEANUP_CELLS struct cells cells = CELLS(scan_bytes(guarded_text(end, LINE, length), length));
		struct cell_text cell;
		int count = 0;

		while (cells_next(&cells, &cell) > 0) {
			count++;
			(void)scan_whole_count(cell.text);
			(void)scan_whole_real(cell.text);
		}
		assert_true(count <= 5);
		if (length == sizeof LINE - 1)
			assert_int_equal(count, 5);
	}
	guarded_end(end);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_stand_between_commas),
		cmocka_unit_test(quotes_hold_commas_and_quotes),
		cmocka_unit_test(other_cells_are_damage),
		cmocka_unit_test(a_huge_quoted_cell_is_refused),
		cmocka_unit_test(a_count_may_have_a_fraction_of_zeros),
		cmocka_unit_test(a_real_is_the_whole_text),
		cmocka_unit_test(cells_stay_in_their_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
