/* The tables of programs and waits: src/verdict/summary_text.c and wait_table.c. */
#include "made_summary.h"

static void try_table(int result, char *text, const char *expected)
{
	assert_int_equal(result, 0);
	if (strcmp(text, expected) != 0)
		fail_msg("\"%s\" is not \"%s\"", text, expected);
	free(text);
}

/* A program has a row, and an unknown figure is a dash. */
static void the_table_of_programs(void **state)
{
	char *text = NULL;
	int result;

	(void)state;
	facts->programs = (struct summary_programs){.cpu_secs = 4, .count = 2};
	facts->programs.list[0] = (struct program_figures){"make", 3, 1, 0.5, 0};
	facts->programs.list[1] = (struct program_figures){"cc1", 1, 0, 0, -1};
	result = rt_summary_programs_for_screen(summary, -1, "never", &text);
	try_table(result, text,
		  "program  CPU time   share  estimated  memory max  processes\n"
		  "make       3.00 s  75.0 %     1.00 s     512 KiB          0\n"
		  "cc1        1.00 s  25.0 %          0           -          -\n");
	assert_int_equal(rt_summary_programs_for_screen(summary, -1, "mauve", &text), -EINVAL);
	assert_int_equal(rt_summary_for_screen(summary, RT_SIZE_AUTO, -1, "mauve", &text), -EINVAL);
}

/* So has a wait. */
static void the_table_of_waits(void **state)
{
	char *text = NULL;
	int result;

	(void)state;
	facts->waits.by_program =
		(struct summary_wait_list){{{"sleep", "", "sh", 25, 4}, {"pipe", "x", "cat", 0, 1}}, 2};
	result = rt_summary_waits_for_screen(summary, -1, "never", &text);
	try_table(result, text,
		  "wait   target  program    time  of the run  samples\n"
		  "sleep  -       sh       25.0 s      25.0 %        4\n"
		  "pipe   x       cat           0       0.0 %        1\n");
	facts->waits.by_program.count = 1;
	facts->recorded_secs = 0;
	result = rt_summary_waits_for_screen(summary, -1, "never", &text);
	try_table(result, text,
		  "wait   target  program    time  of the run  samples\n"
		  "sleep  -       sh       25.0 s           -        4\n");
	assert_int_equal(rt_summary_waits_for_screen(summary, -1, "mauve", &text), -EINVAL);
	assert_int_equal(rt_summary_waits_to_json(summary, &text), 0);
	assert_string_equal(text, "[{\"class\":\"sleep\",\"target\":null,\"program\":\"sh\",\"wait_secs\":25."
				  "0,\"run_pct\":null,\"look_count\":4}]\n");
	free(text);
}

/* On a narrow screen, the name stands in each part of a table, and nothing else does. */
static void a_table_that_is_too_wide_has_parts(void **state)
{
	char *text = NULL;
	int result;

	(void)state;
	facts->programs = (struct summary_programs){.cpu_secs = 4, .count = 1};
	facts->programs.list[0] = (struct program_figures){"make", 3, 1, 0.5, 1};
	facts->waits.by_program = (struct summary_wait_list){{{"sleep", "", "sh", 25, 4}}, 1};
	setenv("COLUMNS", "24", 1);
	result = rt_summary_programs_for_screen(summary, -1, "never", &text);
	try_table(result, text,
		  "            CPU\n"
		  "program    time   share  estimated\n"
		  "make     3.00 s  75.0 %     1.00 s\n"
		  "\n"
		  "          memory\n"
		  "program      max  processes\n"
		  "make     512 KiB          1\n");
	result = rt_summary_waits_for_screen(summary, -1, "never", &text);
	try_table(result, text,
		  "                                of the\n"
		  "wait   target  program    time     run\n"
		  "sleep  -       sh       25.0 s  25.0 %\n"
		  "\n"
		  "wait   samples\n"
		  "sleep        4\n");
	unsetenv("COLUMNS");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		PAGE_TEST(the_table_of_programs),
		PAGE_TEST(the_table_of_waits),
		PAGE_TEST(a_table_that_is_too_wide_has_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
