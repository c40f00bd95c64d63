/* Tests of src/history/list_text.c: the cells of the table of runs. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "history/list_text.h"

#define STRONG "\x1b[1m"
#define BAD "\x1b[1;31m"
#define END "\x1b[0m"

static struct buffer out;

static int begin(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	out = BUFFER(100000);
	return 0;
}

static int end(void **state)
{
	(void)state;
	buffer_done(&out);
	return 0;
}

/* Returns the table of these lines, each of which is an object without its braces. */
static const char *table_of(const char *const *texts, size_t count, bool colour)
{
	struct screen screen = {.columns = 200, .colour = colour};
	json_t *lines[16];

	for (size_t i = 0; i < count; i++) {
		char text[1000];

		snprintf(text, sizeof text, "{%s}", texts[i]);
		lines[i] = json_loads(text, 0, NULL);
		assert_non_null(lines[i]);
	}
	buffer_clear(&out);
	run_list_add_text(&out, (const json_t *const *)lines, count, &screen);
	for (size_t i = 0; i < count; i++)
		json_decref(lines[i]);
	return out.data;
}

#define TABLE(colour, ...) \
	table_of((const char *const[]){__VA_ARGS__}, \
		 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), colour)

static void a_row_has_the_figures_of_its_run(void **state)
{
	const char *table =
		TABLE(false, "\"number\":12,\"started\":86400,\"name\":\"make\",\"folder\":\"/src\","
			     "\"outcome\":\"ok\",\"wall_secs\":2.5,\"tree_wall_secs\":3.5,\"cpu_secs\":7,"
			     "\"memory_peak_mib\":100,\"gpus\":1,\"gpu_mean\":0.5");

	(void)state;
	assert_string_equal(table,
			    "RUN  STARTED     NAME (FOLDER)  OUTCOME    WALL     CPU   MEMORY  GPUS\n"
			    " 12  1970-01-02  make (/src)    ok       3.50 s  7.00 s  100 MiB  0.50\n");
}

static const char OUTCOMES[] =
	STRONG "RUN" END "  " STRONG "STARTED" END "  " STRONG "NAME (FOLDER)" END "  " STRONG "OUTCOME" END
	       "         " STRONG "WALL" END "  " STRONG "CPU" END "  " STRONG "MEMORY" END "\n"
	       "  1  ?        a              ok                 -    -       -\n"
	       "  2  ?        ?              running            -    -       -\n"
	       "  3  ?        ?              stopped            -    -       -\n"
	       "  4  ?        ?              " BAD "exit 3" END "             -    -       -\n"
	       "  5  ?        ?              " BAD "SIGSEGV" END "            -    -       -\n"
	       "  6  ?        ?              " BAD "out of memory" END "      -    -       -\n"
	       "  7  ?        ?              " BAD "tracker killed" END "     -    -       -\n"
	       "  8  ?        ?              " BAD "?" END "                  -    -       -\n";

static void an_outcome_has_its_words(void **state)
{
	const char *table =
		TABLE(true, "\"number\":1,\"name\":\"a\",\"outcome\":\"ok\"",
		      "\"number\":2,\"outcome\":\"running\"", "\"number\":3,\"outcome\":\"stopped\"",
		      "\"number\":4,\"outcome\":\"failed\",\"exit_code\":3",
		      "\"number\":5,\"outcome\":\"killed\",\"signal\":11", "\"number\":6,\"outcome\":\"oom\"",
		      "\"number\":7,\"outcome\":\"lost\"", "\"number\":8");

	(void)state;
	assert_string_equal(table, OUTCOMES);
}

/* Names come from recordings. The name of a run without a script has its folder already. */
static void a_name_is_printable_and_has_its_task_and_folder(void **state)
{
	const char *table = TABLE(false,
				  "\"number\":9,\"name\":\"run "
				  "(folder)\",\"task\":\"t\",\"folder\":\"/f\",\"outcome\":\"n\\u001b\"",
				  "\"number\":10,\"name\":\"n\\u001b\",\"task\":\"t\",\"folder\":\"/"
				  "f\",\"gpus\":0,\"gpu_mean\":1,\"wall_secs\":1,"
				  "\"outcome\":\"ok\"");

	(void)state;
	assert_string_equal(table, "RUN  STARTED  NAME (FOLDER)   OUTCOME    WALL  CPU  MEMORY\n"
				   "  9  ?        run (folder) t  n?            -    -       -\n"
				   " 10  ?        n? t (/f)       ok       1.00 s    -       -\n");
}

static void assert_started(time_t started, const char *format)
{
	char line[100], wanted[100];

	snprintf(line, sizeof line, "\"number\":1,\"started\":%lld", (long long)started);
	assert_true(strftime(wanted, sizeof wanted, format, gmtime(&started)) > 0);
	assert_non_null(strstr(TABLE(false, line), wanted));
}

static void a_start_of_half_a_year_has_its_time(void **state)
{
	enum { DAY = 24 * 3600 };
	const time_t now = time(NULL);

	(void)state;
	assert_started(now - DAY, "  %b %d %H:%M  ");
	assert_started(now - 182 * DAY, "  %b %d %H:%M  ");
	assert_started(now - 184 * DAY, "  %Y-%m-%d  ");
	assert_started(now + 2 * DAY, "  %Y-%m-%d  ");
	assert_started(0, "  1970-01-01  ");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_row_has_the_figures_of_its_run, begin, end),
		cmocka_unit_test_setup_teardown(an_outcome_has_its_words, begin, end),
		cmocka_unit_test_setup_teardown(a_name_is_printable_and_has_its_task_and_folder, begin, end),
		cmocka_unit_test_setup_teardown(a_start_of_half_a_year_has_its_time, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
