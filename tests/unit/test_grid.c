/* Tests of src/base/grid.c: cells in columns, on screens of every width. */
#include "unit.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/grid.h"

/* `right` has a letter for each column: r (numbers), l, or s (shrinks). */
static struct grid grid_of(size_t keys, const char *right, const char *const *texts)
{
	struct grid grid = {.keys = keys};

	for (const char *kind = right; *kind; kind++, texts++)
		if (*kind == 's')
			grid_add_shrinking(&grid, *texts);
		else
			grid_add_column(&grid, *texts, *kind == 'r');
	for (; *texts; texts++)
		grid_add_cell(&grid, *texts);
	return grid;
}

static void assert_grid(size_t keys, const char *right, const char *const *texts, size_t columns,
			const char *wanted)
{
	CLEANUP_GRID struct grid grid = grid_of(keys, right, texts);
	CLEANUP_BUFFER struct buffer out = BUFFER(10000);

	grid_print(&grid, &out, &(struct screen){.columns = columns});
	assert_int_equal(buffer_error(&out), 0);
	assert_string_equal(out.data, wanted);
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
	(void)state;
	assert_grid(0, "lrr", TEXTS("phase", "calls", "time", "load", "1", "1.83 s"), SIZE_MAX,
		    "phase  calls    time\n"
		    "load       1  1.83 s\n");
	assert_grid(0, "ll", TEXTS("n", "v", "\xc3\xa4", "1", "bb", "22"), 80,
		    "n   v\n"
		    "\xc3\xa4   1\n"
		    "bb  22\n");
	/* No blanks stand at the end of a line. */
	assert_grid(0, "lll", TEXTS("a", "b", "c", "", "xx", "", "y", "", "z", "", "", ""), 80,
		    "a  b   c\n"
		    "   xx\n"
		    "y      z\n"
		    "\n");
}

static void one_column_may_have_no_heading(void **state)
{
	(void)state;
	assert_grid(0, "l", TEXTS("", "one", "two"), 80, "one\ntwo\n");
	assert_grid(0, "l", TEXTS("phase"), 80, "phase\n");
	assert_grid(0, "lr", TEXTS("", "b", "one", "2"), 80,
		    "     b\n"
		    "one  2\n");
}

static void headings_are_strong_and_take_no_more_room(void **state)
{
	CLEANUP_GRID struct grid grid = grid_of(0, "lr", TEXTS("ab", "c", "x", "10"));
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);

	(void)state;
	buffer_add_text(grid_cell(&grid), STYLE_BAD "y" STYLE_END);
	grid_add_cell(&grid, "9");
	grid_print(&grid, &out, &(struct screen){.columns = 6, .colour = true});
	assert_string_equal(out.data, "\033[1mab\033[0m   \033[1mc\033[0m\n"
				      "x   10\n"
				      "\033[1;31my\033[0m    9\n");
}

static void more_cells_than_room_at_first(void **state)
{
	CLEANUP_GRID struct grid grid = {0};
	CLEANUP_BUFFER struct buffer out = BUFFER(10000);

	(void)state;
	grid_add_column(&grid, "", true);
	for (int i = 0; i < 200; i++)
		buffer_printf(grid_cell(&grid), "%03d", i);
	grid_print(&grid, &out, &(struct screen){.columns = 80});
	assert_int_equal(out.length, 200 * 4);
	assert_memory_equal(out.data + 63 * 4, "063\n064\n065\n", 12);
	assert_memory_equal(out.data + 199 * 4, "199\n", 4);
	grid_done(&grid);
	assert_null(grid.cells);
	assert_int_equal(grid.column_count + grid.cell_count, 0);
}

/* The name is cut before the table is, down to 12 columns. */
static void the_shrinking_column_gives_way_first(void **state)
{
	const char *const *texts = TEXTS("name", "n", "abcdefghijklmnopqrst", "12345", "short", "1");

	(void)state;
	assert_grid(0, "sr", texts, 27,
		    "name                      n\n"
		    "abcdefghijklmnopqrst  12345\n"
		    "short                     1\n");
	assert_grid(0, "sr", texts, 20,
		    "name               n\n"
		    "abcdefghij...  12345\n"
		    "short              1\n");
	assert_grid(0, "sr", texts, 19,
		    "name              n\n"
		    "abcdefghi...  12345\n"
		    "short             1\n");
	assert_grid(0, "sr", texts, 18,
		    "name\n"
		    "abcdefghi...\n"
		    "short\n"
		    "\n"
		    "    n\n"
		    "12345\n"
		    "    1\n");
	assert_grid(0, "sr",
		    TEXTS("name", "n",
			  "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
			  "\xc3\xa4\xc3\xa4\xc3\xa4",
			  "1"),
		    15,
		    "name          n\n"
		    "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4...  1\n");
	/* One of twelve columns stays whole. */
	assert_grid(0, "sr", TEXTS("name", "n", "abcdefghijkl", "1"), 14,
		    "name\n"
		    "abcdefghijkl\n"
		    "\n"
		    "n\n"
		    "1\n");
}

static void further_tables_begin_with_the_keys(void **state)
{
	const char *const *texts = TEXTS("phase", "calls", "memory", "load", "1", "93.4 MiB");

	(void)state;
	assert_grid(1, "lrr", texts, 22,
		    "phase  calls    memory\n"
		    "load       1  93.4 MiB\n");
	assert_grid(1, "lrr", texts, 21,
		    "phase  calls\n"
		    "load       1\n"
		    "\n"
		    "phase    memory\n"
		    "load   93.4 MiB\n");
	/* A column that is too wide for any screen stays whole. */
	assert_grid(1, "lrr", texts, 3,
		    "phase  calls\n"
		    "load       1\n"
		    "\n"
		    "phase    memory\n"
		    "load   93.4 MiB\n");
}

static void columns_of_a_group_stay_together(void **state)
{
	(void)state;
	assert_grid(1, "lrrrr", TEXTS("t", "a_x", "a_y", "b_x", "b_y", "0", "1", "2", "3", "4"), 16,
		    "t  a_x  a_y\n"
		    "0    1    2\n"
		    "\n"
		    "t  b_x  b_y\n"
		    "0    3    4\n");
	assert_grid(1, "lrrrr", TEXTS("t", "a.x", "a_y", "b.x", "b.y", "0", "1", "2", "3", "4"), 16,
		    "t  a.x  a_y\n"
		    "0    1    2\n"
		    "\n"
		    "t  b.x  b.y\n"
		    "0    3    4\n");
	/* Columns without a group are none. A group that is alone in its table is cut. */
	assert_grid(1, "lrrr", TEXTS("t", "a_x", "ppp", "qqq", "0", "1", "2", "3"), 13,
		    "t  a_x  ppp\n"
		    "0    1    2\n"
		    "\n"
		    "t  qqq\n"
		    "0    3\n");
	assert_grid(1, "lrrr", TEXTS("t", "a_x", "a_y", "a_z", "0", "1", "2", "3"), 13,
		    "t  a_x  a_y\n"
		    "0    1    2\n"
		    "\n"
		    "t  a_z\n"
		    "0    3\n");
}

/* Behind "_", "." or a blank, and at the bottom, next to the cells. */
static void long_headings_have_two_lines_on_a_narrow_screen(void **state)
{
	(void)state;
	assert_grid(1, "lr", TEXTS("k", "system_utime", "x", "1"), 15,
		    "k  system_utime\n"
		    "x             1\n");
	assert_grid(1, "lr", TEXTS("k", "system_utime", "x", "1"), 14,
		    "   system_\n"
		    "k    utime\n"
		    "x        1\n");
	assert_grid(1, "lr", TEXTS("k", "CPU time", "x", "1"), 10,
		    "    CPU\n"
		    "k  time\n"
		    "x     1\n");
	/* The blank behind a part may hang over. */
	assert_grid(1, "ll", TEXTS("k", "ab cdef gh", "x", "1"), 12,
		    "   ab cdef\n"
		    "k  gh\n"
		    "x  1\n");
	/* A cell is wider, so that the heading has its room. A key's heading is a name, which stays whole. */
	assert_grid(1, "lll", TEXTS("k_of.x y", "a_b c", "CPU time", "x", "12345", "y"), 21,
		    "                 CPU\n"
		    "k_of.x y  a_b c  time\n"
		    "x         12345  y\n");
}

static void a_grid_without_memory_fails_the_text(void **state)
{
	CLEANUP_GRID struct grid grid = grid_of(0, "l", TEXTS("a", "b"));
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);

	(void)state;
	grid.failed = true;
	grid_print(&grid, &out, &(struct screen){.columns = 80});
	assert_int_equal(buffer_error(&out), -ENOBUFS);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
		cmocka_unit_test(one_column_may_have_no_heading),
		cmocka_unit_test(headings_are_strong_and_take_no_more_room),
		cmocka_unit_test(more_cells_than_room_at_first),
		cmocka_unit_test(the_shrinking_column_gives_way_first),
		cmocka_unit_test(further_tables_begin_with_the_keys),
		cmocka_unit_test(columns_of_a_group_stay_together),
		cmocka_unit_test(long_headings_have_two_lines_on_a_narrow_screen),
		cmocka_unit_test(a_grid_without_memory_fails_the_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
