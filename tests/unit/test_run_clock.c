/* Tests of src/summary: the clock of a run, sums of samples, launchers, and names from command lines. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "summary/launcher.h"
#include "summary/run_clock.h"
#include "summary/sums.h"
#include "summary/summary.h"

static struct run_clock run_clock;

static int end_clock(void **state)
{
	(void)state;
	run_clock_done(&run_clock);
	return 0;
}

static void assert_placed(double timestamp, double earlier, double wanted)
{
	double placed = run_clock_place(&run_clock, timestamp, earlier);

	if (isnan(wanted) ? !isnan(placed) : !(fabs(placed - wanted) < 1e-6))
		fail_msg("%.4f is placed at %.4f, not at %.4f", timestamp, placed, wanted);
}

/* Samples at 0 to 3 s. The clock is set from 1002 to 5002 before the third. */
static void a_clock_that_is_set_forward_has_two_states(void **state)
{
	(void)state;
	assert_true(isnan(run_clock_at(&run_clock, 1)));
	assert_placed(1000, 0, NAN);
	assert_int_equal(run_clock_add(&run_clock, 0, 1000), 0);
	assert_int_equal(run_clock_add(&run_clock, 1, 1001.01), 0);
	assert_int_equal(run_clock.count, 1);
	assert_int_equal(run_clock_add(&run_clock, 2, 5002), 0);
	assert_int_equal(run_clock_add(&run_clock, 3, 5002.995), 0);
	assert_int_equal(run_clock_add(&run_clock, 4, NAN), 0);
	assert_int_equal(run_clock.count, 2);
	assert_true(run_clock_at(&run_clock, 2.5) == 1002.5);
	assert_placed(1000.5, 0, 1000.5);
	/* The clock may have been set at any time after the sample before: both clocks hold up to the next one. */
	assert_placed(1001.5, 0, 1001.5);
	assert_placed(1002.0005, 0, 1002.0005);
	assert_placed(1002.0015, 0, NAN);
	assert_placed(5000.9985, 0, NAN);
	assert_placed(5000.9995, 0, 1000.9995);
	assert_placed(5002.5, 0, 1002.5);
	assert_placed(5003.0005, 0, 1003.0005);
	assert_placed(5003.0015, 0, NAN);
	run_clock_clear(&run_clock);
	assert_true(isnan(run_clock_at(&run_clock, 1)));
}

/* The clock goes back from 1010 to 1000: a time stamp in between occurs twice. */
static void a_time_that_occurs_twice_is_the_first_that_is_late_enough(void **state)
{
	(void)state;
	for (int i = 0; i <= 10; i++)
		assert_int_equal(run_clock_add(&run_clock, i, 1000 + i), 0);
	for (int i = 11; i <= 20; i++)
		assert_int_equal(run_clock_add(&run_clock, i, 990 + i), 0);
	assert_int_equal(run_clock.count, 2);
	assert_placed(1005, 0, 1005);
	assert_placed(1005, 1005.0005, 1005);
	assert_placed(1005, 1005.5, 1015);
	/* If none is late enough, the first one counts. */
	assert_placed(1005, 1019, 1005);
	assert_placed(1009.5, 1012, 1019.5);
}

static void small_steps_and_many_of_them_are_followed(void **state)
{
	(void)state;
	for (int i = 0; i < 4200; i++)
		assert_int_equal(run_clock_add(&run_clock, i, 1000 + 1.02 * i), 0);
	assert_int_equal(run_clock.count, 4096);
	assert_true(run_clock.elapsed_secs == 4199);
	assert_true(run_clock.list[0].before == (double)-INFINITY);
	assert_true(run_clock.list[9].before == 8 && run_clock.list[9].first == 9);
	assert_placed(1000 + 1.02 * 4000, 0, 1000 + 4000);
}

/* ---- sums -------------------------------------------------------------------------------------------- */

static void a_figure_weighs_its_samples_by_their_time(void **state)
{
	struct figure figure = {.most = NAN};

	(void)state;
	assert_true(isnan(figure_mean(&figure)));
	figure_add(&figure, &(struct moment){1, 1}, NAN);
	assert_false(figure.has_gap); /* nothing was known before */
	figure_add(&figure, &(struct moment){2, 0}, 7);
	assert_true(figure.most == 7 && isnan(figure_mean(&figure)));
	figure_add(&figure, &(struct moment){3, 3}, 8);
	figure_add(&figure, &(struct moment){4, 0.5}, 8);
	figure_add(&figure, &(struct moment){5, 0.5}, -4);
	assert_true(figure_mean(&figure) == 6.5); /* 24 + 4 - 2 of 4 s */
	assert_true(figure.most == 8 && figure.most_elapsed_secs == 3);
	assert_false(figure.has_gap);
	figure_add(&figure, &(struct moment){6, 1}, NAN);
	assert_true(figure.has_gap);
	assert_true(figure_mean(&figure) == 6.5);
}

static void a_sum_of_nothing_after_a_gap_is_unknown(void **state)
{
	struct total total = {0};

	(void)state;
	assert_true(isnan(total_of(&total)));
	total_add(&total, NAN);
	assert_false(total.has_gap || total.present);
	total_add(&total, 0);
	assert_true(total_of(&total) == 0);
	total_add(&total, NAN);
	assert_true(isnan(total_of(&total)));
	total_add(&total, 2);
	total_add(&total, 3);
	assert_true(total_of(&total) == 5);
}

/* ---- names ------------------------------------------------------------------------------------------- */

static void launchers_are_known_by_their_name(void **state)
{
	static const char *const OTHERS[] = {"",        "sr",        "srun2",         "/opt/srun/",
					     "python3", "ssh-agent", "docker-compose"};

	(void)state;
	assert_string_equal(find_launcher("srun")->name, "srun");
	assert_string_equal(find_launcher("/opt/slurm/bin/srun")->name, "srun");
	assert_string_equal(find_launcher("../systemd-run")->name, "systemd-run");
	assert_string_equal(find_launcher("sbatch")->name, "sbatch");
	for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
		assert_null(find_launcher(OTHERS[i]));
}

static void assert_command(const char *json, const char *wanted)
{
	CLEANUP_BUFFER struct buffer words = BUFFER(1000);

	add_command_words(&words, json);
	buffer_add_char(&words, '\0');
	assert_string_equal(words.data, wanted);
}

static void a_command_is_shown_without_its_quotes(void **state)
{
	(void)state;
	assert_command("", "");
	assert_command("[\"ls\"]", "ls");
	assert_command("[\"ls\",\"-l\",\"a,b\"]", "ls -l a,b");
	assert_command("[\"a\\\"b\",\"c\\\\d\\/e\"]", "a\"b c\\d/e");
	assert_command("[\"a\\nb\",\"c\\u001bd\",\"\\u00", "a b c d  00");
	assert_command("[\"end\\", "end\\");
}

static void assert_cut(const char *text, size_t times, bool is_long, size_t length)
{
	CLEANUP_BUFFER struct buffer name = BUFFER(10000);

	for (size_t i = 0; i < times; i++)
		buffer_add_text(&name, text);
	assert_int_equal(cut_run_name(&name), is_long);
	assert_int_equal(name.length, length);
	assert_true(!name.data || strlen(name.data) == length);
}

/* A character of three bytes is kept whole or left out. */
static void a_long_name_is_cut_between_characters(void **state)
{
	(void)state;
	assert_cut("", 0, false, 0);
	assert_cut("x", RUN_NAME_SHOWN, false, RUN_NAME_SHOWN);
	assert_cut("x", RUN_NAME_SHOWN + 1, true, RUN_NAME_SHOWN);
	assert_cut("\u20ac", RUN_NAME_SHOWN, true, RUN_NAME_SHOWN / 3 * 3);
	assert_cut("\u00e9", RUN_NAME_SHOWN, true, RUN_NAME_SHOWN / 2 * 2);
}

#define TEST(function) cmocka_unit_test_teardown(function, end_clock)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(a_clock_that_is_set_forward_has_two_states),
		TEST(a_time_that_occurs_twice_is_the_first_that_is_late_enough),
		TEST(small_steps_and_many_of_them_are_followed),
		TEST(a_figure_weighs_its_samples_by_their_time),
		TEST(a_sum_of_nothing_after_a_gap_is_unknown),
		TEST(launchers_are_known_by_their_name),
		TEST(a_command_is_shown_without_its_quotes),
		TEST(a_long_name_is_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
