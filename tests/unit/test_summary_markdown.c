/* The Markdown form of a summary: src/verdict/summary_markdown.c. */
#include "made_summary.h"

#include "base/screen.h"

static char *markdown;

static void write_markdown(void)
{
	free(markdown);
	assert_int_equal(rt_summary_to_markdown(summary, RT_SIZE_AUTO, &markdown), 0);
}

static void try_part(const char *part)
{
	write_markdown();
	if (!strstr(markdown, part))
		fail_msg("\"%s\" is not in\n%s", part, markdown);
}

static void try_begin(const char *expected)
{
	write_markdown();
	if (strncmp(markdown, expected, strlen(expected)) != 0)
		fail_msg("\"%s\" does not begin\n%s", expected, markdown);
}

static int done_markdown(void **state)
{
	free(markdown);
	markdown = NULL;
	return done(state);
}

static void the_name_is_the_heading_and_each_label_a_row(void **state)
{
	(void)state;
	facts->started = 0;
	try_begin("### **a process**\n"
		  "\n1970-01-01 00:00:00 UTC, 1 min 40 s: exit status 0\n"
		  "\n| | |\n|---|---|\n"
		  "| **CPU** | 1.00 of the machine's 4 cores on average, 2.00 at most; 1 min 40 s of CPU "
		  "time, 25 % in the "
		  "kernel |\n"
		  "| **Memory** | peak 100 MiB, 10 % of 1000 MiB (machine) |\n"
		  "| **Bottleneck** | Unknown: Its CPU use is not recorded. |\n");
	assert_string_equal(markdown + strlen(markdown) - 3, " |\n");
	assert_null(strpbrk(markdown, STYLE_BAD STYLE_GOOD STYLE_STRONG STYLE_FAINT STYLE_END));
}

static void a_failure_is_the_heading(void **state)
{
	(void)state;
	begin_with("\"signal\":9");
	facts->started = 0;
	try_begin("### **Failed: killed by SIGKILL (9)**\n\n**a process**\n\n1970-01-01 00:00:00 UTC, 1 min "
		  "40 s: failed\n\n| | |\n");
}

/* A line below a label is a line of its row, without the blanks before it. */
static void further_lines_of_a_label_are_in_its_row(void **state)
{
	(void)state;
	facts->measured.disproved_samples = 2;
	facts->measured.disproved_mib = 512;
	try_part("| **Memory** | peak 100 MiB, 10 % of 1000 MiB (machine)<br>left out: 2 samples of up to "
		 "512 MiB, which "
		 "counted shared pages in each process |\n");
}

/* The scale of a course is faint on a terminal. Markdown has no such style. */
static void only_names_and_failures_are_bold(void **state)
{
	(void)state;
	facts->samples = 4;
	facts->cores_history = (struct time_bins){.bin_secs = 50, .count = 2};
	facts->cores_history.bins[0].weights = facts->cores_history.bins[0].weighted = 2;
	facts->cores_history.bins[1].weights = facts->cores_history.bins[1].weighted = 2;
	try_part("<br>▄");
	try_part("▄  0 to 2.00 cores |\n");
}

/* A job chooses names. They show as they are. */
static void characters_of_the_syntax_are_escaped(void **state)
{
	(void)state;
	snprintf(facts->job_name, sizeof facts->job_name, "%s", "<b>&\\`*_{}[]#|~!x=(1).$-+");
	try_begin("### **a process**, job &lt;b&gt;&amp;\\\\\\`\\*\\_\\{\\}\\[\\]\\#\\|\\~\\!x=(1).$-+\n");
	snprintf(facts->signals.words, sizeof facts->signals.words, "a|b");
	try_part("\n| **Signals** | a\\|b |\n");
}

/* Nothing but the heading is known of a command that could not be executed. */
static void a_command_that_did_not_start_has_no_table(void **state)
{
	(void)state;
	begin_with("\"reason\":\"exec_failed\"");
	write_markdown();
	assert_null(strstr(markdown, "| |"));
	assert_string_equal(markdown + strlen(markdown) - 7, "failed\n");
}

#define MARKDOWN_TEST(name) cmocka_unit_test_setup_teardown(name, begin, done_markdown)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		MARKDOWN_TEST(the_name_is_the_heading_and_each_label_a_row),
		MARKDOWN_TEST(a_failure_is_the_heading),
		MARKDOWN_TEST(further_lines_of_a_label_are_in_its_row),
		MARKDOWN_TEST(only_names_and_failures_are_bold),
		MARKDOWN_TEST(characters_of_the_syntax_are_escaped),
		MARKDOWN_TEST(a_command_that_did_not_start_has_no_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
