/* Tests of src/base/screen.c: text that is folded, coloured and written in ASCII. */
#include "unit.h"

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/screen.h"
#include "terminal.h"

static void assert_screen(const char *text, struct screen screen, size_t hanging, const char *wanted)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(10000);

	screen_add(&out, text, &screen, hanging);
	assert_string_equal(out.data ? out.data : "", wanted);
}

static void long_lines_are_folded_at_blanks(void **state)
{
	const struct screen narrow = {.columns = 10};

	(void)state;
	assert_screen("", narrow, 4, "");
	assert_screen("one two\nthree\n", narrow, 4, "one two\nthree\n");
	/* Ten columns fit, eleven do not. */
	assert_screen("vwxyz abcd", narrow, 4, "vwxyz abcd");
	assert_screen("vwxyz abcde", narrow, 4, "vwxyz\n  abcde");
	/* A line with an indent hangs as far as it is told. */
	assert_screen(" wxyz abcdef gh", narrow, 4, " wxyz\n    abcdef\n    gh");
	assert_screen("a bb ccc dddd eeeee", narrow, 4, "a bb ccc\n  dddd\n  eeeee");
	/* A longer word than a line stays whole. */
	assert_screen("abcdefghijklmn op", narrow, 4, "abcdefghijklmn\n  op");
	assert_screen("  abcdefghijklmn op", narrow, 2, "  abcdefghijklmn\n  op");
	/* Code points count, not bytes. */
	assert_screen("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 abcd", narrow, 4,
		      "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 abcd");
	/* Each line begins anew. */
	assert_screen("abcdefghi\n abcd efgh", narrow, 3, "abcdefghi\n abcd efgh");
}

static void a_number_stays_with_its_unit(void **state)
{
	const struct screen narrow = {.columns = 10};

	(void)state;
	assert_screen("abcdef 12 GiB", narrow, 4, "abcdef\n  12 GiB");
	assert_screen("abcdef 12 %", narrow, 4, "abcdef\n  12 %");
	assert_screen("abcdef 12 (b", narrow, 4, "abcdef 12\n  (b");
	assert_screen("abcdef xx GiB", narrow, 4, "abcdef xx\n  GiB");
}

static void marks_are_colours_or_nothing(void **state)
{
	static const char TEXT[] = STYLE_BAD "bad" STYLE_END " " STYLE_GOOD "good" STYLE_END " " STYLE_STRONG
					     "strong" STYLE_END " " STYLE_FAINT "faint" STYLE_END;
	const struct screen plain = {.columns = 21}, colour = {.columns = 21, .colour = true};

	(void)state;
	/* They take no columns: 21 letters and blanks. */
	assert_screen(TEXT, plain, 4, "bad good strong faint");
	assert_screen(TEXT, colour, 4,
		      "\033[1;31mbad\033[0m \033[32mgood\033[0m \033[1mstrong\033[0m \033[2mfaint\033[0m");
	assert_screen(TEXT, (struct screen){.columns = 20}, 4, "bad good strong\n  faint");
	assert_int_equal(screen_columns(TEXT, strlen(TEXT)), 21);
	assert_int_equal(screen_columns("\xc3\xa4\x06", 3), 2);
	assert_screen("a\x06\x1f\x7f"
		      "b",
		      plain, 4, "a???b");
}

static void without_utf8_there_are_other_signs(void **state)
{
	const struct screen ascii = {.columns = 80, .ascii = true}, utf8 = {.columns = 80};
	CLEANUP_BUFFER struct buffer out = BUFFER(100);

	(void)state;
	assert_screen("\xe2\x96\x81\xe2\x96\x82\xe2\x96\x83\xe2\x96\x84\xe2\x96\x85\xe2\x96\x86\xe2\x96\x87"
		      "\xe2\x96\x88",
		      ascii, 4, "_.-:=+*#");
	assert_screen("a\xc3\xa4\xe2\x96\x80\xe2\x96\x89z", ascii, 4, "a???z");
	assert_screen("\xe2\x96\x81", utf8, 4, "\xe2\x96\x81");
	/* Signs that change the direction of text. */
	assert_screen("a\xe2\x80\xaezb", utf8, 4, "a?zb");
	screen_add_line(&out, "a b" STYLE_BAD "c def", 6, &ascii);
	assert_string_equal(out.data, "a bc ");
}

static void columns_are_those_of_the_variable_or_80(void **state)
{
	static const struct {
		const char *variable;
		size_t columns, table;
	} CASES[] = {{NULL, 80, SIZE_MAX}, {"", 80, SIZE_MAX}, {"100", 100, 100},
		     {"40", 40, 40},       {"39", 40, 40},     {"1000", 1000, 1000},
		     {"1001", 1000, 1000}, {"x", 80, 80},      {"0", 80, 80}};
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		if (CASES[i].variable)
			setenv("COLUMNS", CASES[i].variable, 1);
		else
			unsetenv("COLUMNS");
		assert_int_equal(screen_of(fd, "auto").columns, CASES[i].columns);
		assert_int_equal(table_screen_of(fd, "auto").columns, CASES[i].table);
	}
	unsetenv("COLUMNS");
	/* A file gets colours only if a person says so, and no other signs. */
	assert_false(screen_of(fd, "auto").colour || screen_of(fd, "never").colour ||
		     screen_of(fd, "auto").ascii);
	assert_true(screen_of(fd, "always").colour);
	assert_true(is_colour_choice("auto") && is_colour_choice("always") && is_colour_choice("never"));
	assert_false(is_colour_choice("") || is_colour_choice("yes"));
	close(fd);
}

static void set_or_unset(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static void a_terminal_has_colours_unless_a_person_wants_none(void **state)
{
	static const struct {
		const char *terminal, *no_colour;
		bool colour;
	} CASES[] = {{"xterm", NULL, true}, {NULL, NULL, true},    {"xterm", "", true},
		     {"dumb", NULL, false}, {"xterm", "1", false}, {"dumb", "1", false}};
	struct terminal terminal = open_terminal();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		set_or_unset("TERM", CASES[i].terminal);
		set_or_unset("NO_COLOR", CASES[i].no_colour);
		assert_int_equal(screen_of(terminal.slave, "auto").colour, CASES[i].colour);
		assert_true(screen_of(terminal.slave, "always").colour);
		assert_false(screen_of(terminal.slave, "never").colour);
	}
	unsetenv("TERM");
	unsetenv("NO_COLOR");
	close_terminal(&terminal);
}

static void a_terminal_has_its_own_width_and_signs(void **state)
{
	static const struct {
		unsigned short width;
		size_t columns;
	} CASES[] = {{120, 120}, {39, 40}, {40, 40}, {0, 80}, {1001, 1000}};
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	struct terminal terminal = open_terminal();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct winsize size = {.ws_row = 7, .ws_col = CASES[i].width};

		assert_int_equal(ioctl(terminal.slave, TIOCSWINSZ, &size), 0);
		assert_int_equal(screen_of(terminal.slave, "auto").columns, CASES[i].columns);
		assert_int_equal(table_screen_of(terminal.slave, "auto").columns, CASES[i].columns);
	}
	setenv("COLUMNS", "50", 1);
	assert_int_equal(table_screen_of(terminal.slave, "auto").columns, 50);
	unsetenv("COLUMNS");
	setenv("LC_ALL", "C", 1);
	assert_true(screen_of(terminal.slave, "auto").ascii);
	setenv("LC_ALL", "C.UTF-8", 1);
	assert_int_equal(screen_of(terminal.slave, "auto").ascii, !utf8);
	unsetenv("LC_ALL");
	if (utf8)
		freelocale(utf8);
	close_terminal(&terminal);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_lines_are_folded_at_blanks),
		cmocka_unit_test(a_number_stays_with_its_unit),
		cmocka_unit_test(marks_are_colours_or_nothing),
		cmocka_unit_test(without_utf8_there_are_other_signs),
		cmocka_unit_test(columns_are_those_of_the_variable_or_80),
		cmocka_unit_test(a_terminal_has_colours_unless_a_person_wants_none),
		cmocka_unit_test(a_terminal_has_its_own_width_and_signs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
