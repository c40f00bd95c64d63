/*
 * Tests of src/tracker/int_columns.c: every value is returned, whatever its shape, and rows keep their
 * numbers.
 */
#include "unit.h"

#include <string.h>

#include "tracker/int_columns.h"

enum { COLUMNS = 9, MANY_ROWS = 5 * INT_COLUMNS_PAGE_ROWS + 17 };

static uint64_t noise(uint64_t seed)
{
	seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
	return seed ^ seed >> 31;
}

/* Constant, even, rising with jitter, noisy, extreme, absent, with gaps, negative, growing by leaps. */
static int64_t value_of(size_t column, int64_t row)
{
	uint64_t random = noise((uint64_t)row * 16 + column + 1);

	switch (column) {
	case 0:
		return 42;
	case 1:
		return 1795262400000000 + row * 1000000;
	case 2:
		return 1795262400000000 + row * 1000000 + (int64_t)(random % 300);
	case 3:
		return (int64_t)(random % 5000);
	case 4:
		return random % 3 == 0 ? INT64_MAX : random % 3 == 1 ? INT64_MIN + 1 : (int64_t)random / 3;
	case 5:
		return INT_COLUMNS_ABSENT;
	case 6:
		return random % 4 ? -(int64_t)(random % 100) : INT_COLUMNS_ABSENT;
	case 7:
		return -row * 3;
	default:
		return (int64_t)(UINT64_C(1) << row % 62);
	}
}

static void add_row(struct int_columns *columns, int64_t row)
{
	int64_t values[COLUMNS];

	for (size_t i = 0; i < COLUMNS; i++)
		values[i] = value_of(i, row);
	int_columns_add(columns, values);
}

static void expect_rows(const struct int_columns *columns, size_t column, int64_t first, int64_t end)
{
	int64_t values[INT_COLUMNS_PAGE_ROWS];

	for (int64_t row = first; row < end;) {
		size_t got = int_columns_read(columns, column, row, (size_t)(end - row), values);

		assert_true(got > 0);
		for (size_t i = 0; i < got; i++, row++)
			if (values[i] != value_of(column, row))
				fail_msg("column %zu, row %lld is %lld", column, (long long)row,
					 (long long)values[i]);
	}
}

static void every_value_comes_back(void **state)
{
	struct int_columns columns;
	int64_t value;

	(void)state;
	assert_int_equal(int_columns_init(&columns, COLUMNS, INT64_MAX), 0);
	assert_int_equal(int_columns_read(&columns, 0, 0, 1, &value), 0);
	for (int64_t row = 0; row < MANY_ROWS; row++)
		add_row(&columns, row);
	assert_int_equal(columns.row_count, MANY_ROWS);
	assert_int_equal(columns.first_row, 0);
	for (size_t i = 0; i < COLUMNS; i++) {
		expect_rows(&columns, i, 0, MANY_ROWS);
		expect_rows(&columns, i, 300, 1000);
		expect_rows(&columns, i, MANY_ROWS - 1, MANY_ROWS);
	}
	assert_int_equal(int_columns_read(&columns, 0, MANY_ROWS, 1, &value), 0);
	assert_int_equal(int_columns_read(&columns, 0, -1, 1, &value), 0);
	assert_int_equal(int_columns_read(&columns, COLUMNS, 0, 1, &value), 0);
	int_columns_done(&columns);
}

static void old_rows_make_room(void **state)
{
	struct int_columns columns;
	int64_t value;

	(void)state;
	assert_int_equal(int_columns_init(&columns, COLUMNS, 300), 0);
	for (int64_t row = 0; row < MANY_ROWS; row++) {
		add_row(&columns, row);
		assert_true(columns.row_count >= (row < 300 ? row + 1 : 300));
		assert_true(columns.row_count < 300 + INT_COLUMNS_PAGE_ROWS);
		assert_int_equal(columns.first_row + columns.row_count, row + 1);
	}
	for (size_t i = 0; i < COLUMNS; i++)
		expect_rows(&columns, i, columns.first_row, MANY_ROWS);
	assert_int_equal(int_columns_read(&columns, 0, columns.first_row - 1, 1, &value), 0);
	int_columns_done(&columns);
}

/* The list of pages, and the page: its size, the heads of its columns of 24 bytes, their bytes, and 8 more. */
static size_t bytes_of_pages(size_t pages, size_t columns, size_t bytes)
{
	return pages * (sizeof(void *) + sizeof(size_t) + columns * 24 + bytes + 8);
}

/* A page of values that are constant or change evenly needs only the head of their column. */
static void even_columns_are_nearly_free(void **state)
{
	struct int_columns columns;
	size_t empty;

	(void)state;
	assert_int_equal(int_columns_init(&columns, 3, INT64_MAX), 0);
	empty = columns.bytes;
	for (int64_t row = 0; row < 64 * INT_COLUMNS_PAGE_ROWS; row++)
		int_columns_add(&columns, (int64_t[]){7, row * 1000003, INT_COLUMNS_ABSENT});
	assert_int_equal(columns.bytes - empty, bytes_of_pages(64, 3, 0));
	int_columns_done(&columns);
}

/* 13 bits hold 0 to 5000, and a gap takes a bit. */
static void narrow_columns_take_the_bits_of_their_range(void **state)
{
	enum { ROWS = 32 * INT_COLUMNS_PAGE_ROWS };
	struct int_columns columns;
	size_t empty;

	(void)state;
	assert_int_equal(int_columns_init(&columns, 1, INT64_MAX), 0);
	empty = columns.bytes;
	for (int64_t row = 0; row < ROWS; row++)
		int_columns_add(&columns, (int64_t[]){row % 3 ? value_of(3, row) : INT_COLUMNS_ABSENT});
	assert_int_equal(columns.bytes - empty, bytes_of_pages(32, 1, (1 + 13) * INT_COLUMNS_PAGE_ROWS / 8));
	int_columns_done(&columns);
}

static void a_single_gap_of_a_page_comes_back(void **state)
{
	static const int64_t GAPS[] = {0, 1, 7, INT_COLUMNS_PAGE_ROWS - 1};

	(void)state;
	for (size_t i = 0; i < sizeof GAPS / sizeof *GAPS; i++) {
		struct int_columns columns;
		int64_t value;

		assert_int_equal(int_columns_init(&columns, 1, INT64_MAX), 0);
		for (int64_t row = 0; row < 2 * INT_COLUMNS_PAGE_ROWS; row++)
			int_columns_add(&columns, (int64_t[]){row == GAPS[i] ? INT_COLUMNS_ABSENT : row});
		for (int64_t row = 0; row < INT_COLUMNS_PAGE_ROWS; row++) {
			assert_int_equal(int_columns_read(&columns, 0, row, 1, &value), 1);
			assert_true(value == (row == GAPS[i] ? INT_COLUMNS_ABSENT : row));
		}
		int_columns_done(&columns);
	}
}

static void int_columns_accept_zero_columns(void **state)
{
	struct int_columns columns;
	int64_t value;

	(void)state;
	assert_int_equal(int_columns_init(&columns, 0, 10), 0);
	for (int64_t row = 0; row < 2 * INT_COLUMNS_PAGE_ROWS; row++)
		int_columns_add(&columns, NULL);
	assert_int_equal(int_columns_read(&columns, 0, 400, 1, &value), 0);
	int_columns_done(&columns);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value_comes_back),
		cmocka_unit_test(old_rows_make_room),
		cmocka_unit_test(even_columns_are_nearly_free),
		cmocka_unit_test(narrow_columns_take_the_bits_of_their_range),
		cmocka_unit_test(a_single_gap_of_a_page_comes_back),
		cmocka_unit_test(int_columns_accept_zero_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
