/* How much the next run needs: series with a known answer, and what must hold for any. */
#include "unit.h"

#include <math.h>
#include <stdint.h>

#include "recommend/sizing.h"

enum { RUNS = 400, JOBS = 100 };

#define assert_near(value, expected, tolerance) assert_true(fabs((value) - (expected)) <= (tolerance))

static const struct sizing_question SAFE = {AIM_SAFE, NAN, 1, false}, P95 = {AIM_P95, NAN, 1, false},
				    COST = {AIM_COST, NAN, 1, false};

static void fill(struct sized_run *runs, size_t count, double first, double step)
{
	for (size_t i = 0; i < count; i++)
		runs[i] = (struct sized_run){first + step * (double)i, NAN, 60};
}

static struct sizing_answer need_for(struct sizing_question question, double input,
				     const struct sized_run *runs, size_t count)
{
	question.input_bytes = input;
	return size_need(&SIZING_MEMORY, &question, runs, count, NULL, 0);
}

static void one_run_gets_a_fifth_and_many_like_it_two_percent(void **state)
{
	struct sized_run runs[200];

	(void)state;
	fill(runs, 200, 100, 0);
	assert_true(isnan(need_for(SAFE, NAN, runs, 0).need));
	assert_near(need_for(SAFE, NAN, runs, 1).need, 120, 1e-6);
	assert_near(need_for(SAFE, NAN, runs, 4).need, 110, 1e-6);
	assert_near(need_for(SAFE, NAN, runs, 200).need, 102, 1e-6);
	assert_near(need_for(P95, NAN, runs, 200).need, 102, 1e-6);
	assert_near(need_for(COST, NAN, runs, 200).need, 102, 1e-6);
}

static void two_runs_that_differ_get_half_more(void **state)
{
	struct sized_run runs[2] = {{100, NAN, 60}, {150, NAN, 60}};

	(void)state;
	assert_near(need_for(SAFE, NAN, runs, 2).need, 150 * 1.52, 1e-6);
}

static void the_margin_grows_with_the_scatter_up_to_fifteen_percent(void **state)
{
	struct sized_run runs[200];

	(void)state;
	fill(runs, 200, 100, 0);
	runs[30].need = 110;
	assert_near(need_for(SAFE, NAN, runs, 200).need,
		    110 * (1 + 0.02 + 0.3 * log(1.1) + 0.005 * log(1.1) / 0.1), 1e-6);
	runs[30].need = 300;
	assert_near(need_for(SAFE, NAN, runs, 200).need, 300 * (1.15 + 0.005), 1e-6);
}

static void the_newest_two_hundred_count(void **state)
{
	static struct sized_run runs[RUNS];

	(void)state;
	fill(runs, 300, 100, 0);
	runs[99].need = 900;
	assert_true(need_for(SAFE, NAN, runs, 300).base == 100);
	runs[100].need = 300;
	assert_true(need_for(SAFE, NAN, runs, 300).base == 300);
	assert_int_equal(need_for(SAFE, NAN, runs, 300).runs, 200);
	/* Runs without a need leave their places to others. */
	runs[299].need = NAN;
	assert_true(need_for(SAFE, NAN, runs, 300).base == 900);
}

static void runs_before_a_lasting_fall_are_forgotten(void **state)
{
	struct sized_run runs[40];
	struct sizing_answer answer;

	(void)state;
	fill(runs, 40, 1000, 1);
	for (size_t i = 28; i < 40; i++)
		runs[i].need = i % 2 ? 230 : 239;
	answer = need_for(SAFE, NAN, runs, 40);
	assert_int_equal(answer.drift, DRIFT_DOWN);
	assert_int_equal(answer.runs, 12);
	assert_int_equal(answer.forgotten, 28);
	assert_true(answer.base == 239);
	/* One of them, wherever it is, that took as much as before. */
	for (size_t i = 28; i < 40; i++) {
		double need = runs[i].need;

		runs[i].need = 1000;
		assert_int_equal(need_for(SAFE, NAN, runs, 40).forgotten, i == 28 ? 29 : 0);
		runs[i].need = need;
	}
	/* Nine low runs may be chance. */
	for (size_t i = 28; i < 31; i++)
		runs[i].need = 1000;
	assert_true(need_for(SAFE, NAN, runs, 40).base >= 1000);
}

static void one_large_run_of_many_is_worth_running_again(void **state)
{
	struct sized_run runs[40];
	struct sizing_answer answer;

	(void)state;
	fill(runs, 40, 100, 0);
	runs[20].need = 4000;
	answer = need_for(COST, NAN, runs, 40);
	assert_near(answer.need, 102, 1e-6);
	assert_near(answer.killed_share, 1 / 40.0, 1e-9);
	assert_true(answer.is_outlying);
	assert_int_equal(size_backtest(&COST, runs, 40).killed, 1);
	/* It needs more than three runs. */
	assert_true(need_for(COST, NAN, runs, 3).need > 110);
	/* A run that costs much when it is killed is not. */
	runs[20].weight = 60000;
	assert_true(need_for(COST, NAN, runs, 40).need > 4000);
}

/* Of 40 runs, the last two weigh 2.0 of 24.5, and the first two 0.7: half of what a run 25 later weighs. */
static void later_runs_weigh_more(void **state)
{
	struct sized_run runs[40];

	(void)state;
	fill(runs, 40, 100, 0);
	runs[0].need = runs[1].need = 101;
	assert_near(need_for(P95, NAN, runs, 40).base, 100, 1e-9);
	fill(runs, 40, 100, 0);
	runs[38].need = runs[39].need = 101;
	assert_near(need_for(P95, NAN, runs, 40).base, 101, 1e-9);
}

static void cost_follows_a_rise_and_a_step(void **state)
{
	struct sized_run runs[100];

	(void)state;
	fill(runs, 100, 100, 1);
	assert_true(need_for(COST, NAN, runs, 100).need >= 200);
	assert_int_equal(need_for(COST, NAN, runs, 100).drift, DRIFT_UP);
	fill(runs, 100, 100, 0);
	for (size_t i = 97; i < 100; i++)
		runs[i].need = 200;
	assert_true(need_for(COST, NAN, runs, 100).need >= 200);
	runs[97].need = 100; /* two of five may be chance */
	assert_true(need_for(COST, NAN, runs, 100).need < 110);
}

/* Ten runs on a new level, or one, tell of no further rise. */
static void a_step_is_not_followed_beyond_its_level(void **state)
{
	struct sized_run runs[20];
	struct sizing_answer answer;

	(void)state;
	for (size_t high = 1; high < 20; high++) {
		fill(runs, 20, 100, 0);
		for (size_t i = 20 - high; i < 20; i++)
			runs[i].need = 800;
		answer = need_for(SAFE, NAN, runs, 20);
		assert_true(answer.base == 800);
		assert_int_equal(answer.drift, DRIFT_NONE);
	}
	/* Five steps of four runs each are a rise. */
	for (size_t i = 0; i < 20; i++)
		runs[i].need = 100 + 50 * (double)(i / 4);
	answer = need_for(SAFE, NAN, runs, 20);
	assert_true(answer.base > 300);
	assert_int_equal(answer.drift, DRIFT_UP);
}

/* 200 MiB and 3 bytes for each byte of input. */
static void fill_line(struct sized_run *runs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double input = 1e6 * (double)(1 + i * 37 % 100);

		runs[i] = (struct sized_run){200 + 3 * input / 1048576, input, 60};
	}
}

static void a_line_is_found_and_followed_beyond_the_largest_size(void **state)
{
	struct sized_run runs[40];
	struct sizing_answer answer;

	(void)state;
	fill_line(runs, 40);
	answer = need_for(SAFE, 5e7, runs, 40);
	assert_int_equal(answer.shape, SHAPE_LINE);
	assert_near(answer.fixed, 200, 0.01);
	assert_near(answer.per_byte * 1048576, 3, 0.001);
	assert_true(answer.need >= 200 + 150e6 / 1048576 && answer.need < 1.06 * (200 + 150e6 / 1048576));
	assert_false(answer.is_beyond);
	answer = need_for(SAFE, 2e8, runs, 40);
	assert_true(answer.is_beyond);
	assert_near(answer.base, 200 + 600e6 / 1048576, 1);
	/* A line is held at four times the largest need. */
	assert_true(need_for(SAFE, 1e12, runs, 40).base <= 4 * 1.01 * 495);
	/* Eight sizes make a line, seven do not. */
	assert_int_equal(need_for(SAFE, 5e7, runs, 7).shape, SHAPE_SAME);
	assert_int_equal(need_for(SAFE, 5e7, runs, 8).shape, SHAPE_LINE);
	/* Without the size of the question, all runs count alike. */
	assert_int_equal(need_for(SAFE, NAN, runs, 40).shape, SHAPE_SAME);
}

static void steps_in_size_are_found_by_the_nearest_runs(void **state)
{
	struct sized_run runs[60];
	struct sizing_question formula = SAFE;
	struct sizing_answer answer;

	(void)state;
	for (size_t i = 0; i < 60; i++)
		runs[i] = (struct sized_run){i % 3 ? 100 : 800,
					     1e6 * (i % 3 ? 1 + (double)i : 1e3 + (double)i), 60};
	for (size_t i = 0; i < 60; i += 6)
		runs[i].input_bytes *= 1e4;
	answer = need_for(SAFE, 2e7, runs, 60);
	assert_int_equal(answer.shape, SHAPE_NEAREST);
	assert_true(answer.need < 110);
	assert_true(need_for(SAFE, 1e9, runs, 60).need >= 800);
	/* Twice as many as are near are needed. */
	assert_int_equal(need_for(SAFE, 2e7, runs, 14).shape, SHAPE_NEAREST);
	assert_int_not_equal(need_for(SAFE, 2e7, runs, 13).shape, SHAPE_NEAREST);
	/* An engine cannot compute it. */
	formula.only_formula = true;
	assert_int_not_equal(need_for(formula, 2e7, runs, 60).shape, SHAPE_NEAREST);
}

static void sizes_of_some_runs_say_less_than_all_runs(void **state)
{
	struct sized_run runs[40];

	(void)state;
	fill_line(runs, 40);
	for (size_t i = 0; i < 40; i += 2)
		runs[i].input_bytes = NAN;
	assert_int_equal(need_for(SAFE, 5e7, runs, 40).shape, SHAPE_LINE);
	assert_int_equal(need_for(SAFE, 5e7, runs, 40).runs, 20);
	/* Sizes that hardly differ are one size. */
	for (size_t i = 0; i < 40; i++)
		runs[i].input_bytes = 1e8 + (double)i;
	assert_int_equal(need_for(SAFE, 1e8, runs, 40).shape, SHAPE_SAME);
}

static void safe_is_never_below_a_run_of_this_size_or_less(void **state)
{
	struct sized_run runs[100];
	uint64_t seed = 4711;

	(void)state;
	for (int job = 0; job < JOBS; job++) {
		size_t count = 2 + (size_t)job % 99;
		double input;

		for (size_t i = 0; i < count; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			runs[i] = (struct sized_run){1 + (double)(seed >> 50), (double)(seed >> 30 & 0xfffff),
						     1};
		}
		input = runs[count / 2].input_bytes;
		assert_true(need_for(SAFE, input, runs, count).need >= runs[count / 2].need ||
			    need_for(SAFE, input, runs, count).forgotten);
	}
}

static void an_attempt_has_half_more_than_the_one_before(void **state)
{
	struct sized_run runs[20];
	struct sized_kill kill = {400, NAN};
	struct sizing_question question = COST;
	double first, second;

	(void)state;
	fill(runs, 20, 100, 0);
	runs[3].need = 130;
	first = need_for(COST, NAN, runs, 20).need;
	question.attempt = 2;
	second = need_for(question, NAN, runs, 20).need;
	assert_near(second, fmax(1.1 * 130, 1.5 * first), 1e-6);
	assert_true(need_for(question, NAN, runs, 20).is_retry);
	question.attempt = 3;
	assert_near(need_for(question, NAN, runs, 20).need, 1.5 * second, 1e-6);
	question.attempt = 4;
	assert_near(need_for(question, NAN, runs, 20).need, 2 * 1.5 * second, 1e-6);
	/* A kill in the history says what the attempt before had. */
	question.attempt = 2;
	assert_near(size_need(&SIZING_MEMORY, &question, runs, 20, &kill, 1).need, 600, 1e-6);
	question.attempt = 4;
	assert_near(size_need(&SIZING_MEMORY, &question, runs, 20, &kill, 1).need, 800, 1e-6);
}

static void a_kill_asks_for_half_more_for_its_size_up_to_twice_it(void **state)
{
	struct sized_run runs[20];
	struct sized_kill kill = {400, 1e6};
	struct sizing_question question = SAFE;

	(void)state;
	fill(runs, 20, 100, 0);
	assert_near(size_need(&SIZING_MEMORY, &question, runs, 20, &kill, 1).need, 600, 1e-6);
	question.input_bytes = 1e6 / 1.02 + 1;
	assert_near(size_need(&SIZING_MEMORY, &question, runs, 20, &kill, 1).need, 600, 1e-6);
	question.input_bytes = 2e6;
	assert_near(size_need(&SIZING_MEMORY, &question, runs, 20, &kill, 1).kill_had, 400, 1e-6);
	question.input_bytes = 2.1e6;
	assert_true(size_need(&SIZING_MEMORY, &question, runs, 20, &kill, 1).need < 110);
	question.input_bytes = 0.9e6;
	assert_true(size_need(&SIZING_MEMORY, &question, runs, 20, &kill, 1).need < 110);
	/* Without any good run it is all that is known. */
	question.input_bytes = 1e6;
	kill = (struct sized_kill){0.5, 1e6};
	assert_near(size_need(&SIZING_MEMORY, &question, runs, 0, &kill, 1).need, 0.75, 1e-6);
	question.attempt = 2;
	assert_near(size_need(&SIZING_MEMORY, &question, runs, 0, &kill, 1).need, 0.75, 1e-6);
	question.attempt = 1;
	kill = (struct sized_kill){400, 1e6};
	assert_near(size_need(&SIZING_MEMORY, &question, runs, 0, &kill, 1).need, 600, 1e-6);
	assert_true(settles_kill(1e6, 1e6) && settles_kill(2e6, 1e6) && settles_kill(NAN, 1e6) &&
		    settles_kill(0.99e6, 1e6));
	assert_false(settles_kill(0.95e6, 1e6));
	assert_true(settles_kill(50, 51) && settles_kill(0, 0));
	assert_false(settles_kill(49.9, 51));
	kill.input_bytes = 51;
	question.input_bytes = 50;
	assert_near(size_need(&SIZING_MEMORY, &question, runs, 20, &kill, 1).need, 600, 1e-6);
	question.input_bytes = 49.9;
	assert_true(size_need(&SIZING_MEMORY, &question, runs, 20, &kill, 1).need < 110);
	question.input_bytes = 102;
	assert_near(size_need(&SIZING_MEMORY, &question, runs, 20, &kill, 1).need, 600, 1e-6);
	question.input_bytes = 102.1;
	assert_true(size_need(&SIZING_MEMORY, &question, runs, 20, &kill, 1).need < 110);
}

static void time_has_wider_margins_and_doubles_for_each_attempt(void **state)
{
	struct sized_run runs[200];
	struct sizing_question question = SAFE;

	(void)state;
	fill(runs, 200, 1000, 0);
	assert_near(size_need(&SIZING_TIME, &question, runs, 200, NULL, 0).need, 1300, 1e-6);
	question.attempt = 3;
	assert_near(size_need(&SIZING_TIME, &question, runs, 200, NULL, 0).need, 5200, 1e-6);
	question.attempt = 1;
	runs[30].need = 9000;
	assert_near(size_need(&SIZING_TIME, &question, runs, 200, NULL, 0).need, 9000 * 1.605, 1e-6);
}

/* Some small inputs take long, so that a line costs more than the same for every size. */
static void time_for_an_input_beyond_all_others_grows_with_the_line(void **state)
{
	struct sized_run runs[40];
	struct sizing_question question = SAFE;
	struct sizing_answer answer;

	(void)state;
	for (size_t i = 0; i < 40; i++)
		runs[i] = (struct sized_run){i % 10 == 3 ? 1500 : 500 + 20 * (double)i, 1e6 * (double)(i + 1),
					     1};
	question.input_bytes = 40e6;
	answer = size_need(&SIZING_TIME, &question, runs, 40, NULL, 0);
	assert_int_equal(answer.shape, SHAPE_SAME);
	question.input_bytes = 41e6;
	assert_near(size_need(&SIZING_TIME, &question, runs, 40, NULL, 0).need, answer.need, 1);
	question.input_bytes = 160e6;
	answer = size_need(&SIZING_TIME, &question, runs, 40, NULL, 0);
	assert_int_equal(answer.shape, SHAPE_LINE);
	assert_near(answer.base, 500 + 20 * 160, 200);
	assert_near(answer.base, answer.fixed + answer.per_byte * 160e6, 1);
	assert_near(answer.need, answer.base * (1 + answer.margin), 1);
	assert_int_equal(size_need(&SIZING_MEMORY, &question, runs, 40, NULL, 0).shape, SHAPE_SAME);
}

/* Seconds of 2 x (size / 1e6) ^ 0.7, scattered by up to a half, over four decades of sizes. */
static void time_follows_a_power_of_the_size(void **state)
{
	struct sized_run runs[60];
	struct sizing_question question = SAFE, formula = SAFE;
	struct sizing_answer answer;

	(void)state;
	for (size_t i = 0; i < 60; i++) {
		double input = 1e6 * pow(10, 4 * (double)(i * 37 % 60) / 59);
		double scatter = 1 + 0.5 * (double)(i * 7 % 11) / 10;

		runs[i] = (struct sized_run){2 * pow(input / 1e6, 0.7) * scatter, input, 1};
	}
	for (double input = 3e6; input < 1e10; input *= 10) {
		double most = 3 * pow(input / 1e6, 0.7);

		question.input_bytes = input;
		answer = size_need(&SIZING_TIME, &question, runs, 60, NULL, 0);
		assert_int_equal(answer.shape, SHAPE_POWER);
		assert_true(answer.need >= 1.3 * most && answer.need <= 2 * most);
		assert_true(answer.per_byte == 0);
	}
	/* Engines compute lines, and memory knows no power. */
	formula.only_formula = true;
	formula.input_bytes = 3e6;
	assert_int_not_equal(size_need(&SIZING_TIME, &formula, runs, 60, NULL, 0).shape, SHAPE_POWER);
	assert_int_not_equal(need_for(SAFE, 3e6, runs, 60).shape, SHAPE_POWER);
	/* It is held at a quarter of the smallest and at four times the largest need, as a line is, which is followed beyond. */
	question.input_bytes = 0;
	answer = size_need(&SIZING_TIME, &question, runs, 60, NULL, 0);
	assert_true(answer.base >= 0.25 * 2 && answer.base <= 0.25 * 2 * 1.5 * 1.5);
	question.input_bytes = 1e14;
	answer = size_need(&SIZING_TIME, &question, runs, 60, NULL, 0);
	assert_true(answer.base >= 4 * 1261 && answer.base <= 4 * 1261 * 1.5 * 2);
}

static void a_formula_is_the_answer_for_each_size_without_the_nearest_runs(void **state)
{
	struct sized_run runs[60];
	struct sized_kill kill = {900, 1e8};
	struct sizing_question question = SAFE;
	struct sizing_formula formula;

	(void)state;
	fill_line(runs, 40);
	assert_false(size_formula(&SIZING_MEMORY, AIM_SAFE, runs, 7, NULL, 0).has_sizes);
	formula = size_formula(&SIZING_MEMORY, AIM_SAFE, runs, 40, NULL, 0);
	question.only_formula = true;
	assert_true(formula.has_sizes && formula.per_byte > 0);
	for (double input = 5e7; input < 4e8; input += 5e7)
		assert_near(formula.fixed + formula.per_byte * input,
			    need_for(question, input, runs, 40).need, 1e-6);
	assert_near(formula.second, 1.1 * need_for(SAFE, NAN, runs, 40).largest, 1e-6);
	assert_true(formula.least > 200 && formula.most > 4 * formula.second / 1.1);
	/* An unsettled kill is the least of all sizes. */
	assert_near(size_formula(&SIZING_MEMORY, AIM_SAFE, runs, 40, &kill, 1).least, 1350, 1e-6);
	/* The safe rule takes no line that falls. */
	for (size_t i = 0; i < 40; i++)
		runs[i].need = 1000 - runs[i].input_bytes / 1e6;
	assert_true(size_formula(&SIZING_MEMORY, AIM_SAFE, runs, 40, NULL, 0).per_byte == 0);
	assert_true(size_formula(&SIZING_MEMORY, AIM_COST, runs, 40, NULL, 0).per_byte < 0);
	/* A step in size is known to the nearest runs alone. */
	for (size_t i = 0; i < 60; i++)
		runs[i] = (struct sized_run){i * 7 % 60 < 30 ? 100 : 800, 1e6 * (double)(1 + i * 7 % 60), 60};
	formula = size_formula(&SIZING_MEMORY, AIM_SAFE, runs, 60, NULL, 0);
	assert_true(formula.nearest_saves > 0.01 && formula.nearest_saves < 1);
}

static void memory_is_rounded_up_to_sixteen_mib(void **state)
{
	(void)state;
	assert_int_equal(round_reservation_mib(NAN), 32);
	assert_int_equal(round_reservation_mib(0), 32);
	assert_int_equal(round_reservation_mib(32.1), 48);
	assert_int_equal(round_reservation_mib(1600), 1600);
	assert_int_equal(round_reservation_mib(1600.5), 1616);
	assert_true(round_reservation_mib(1e300) > 0);
}

static double random_normal(uint64_t *seed)
{
	double sum = 0;

	for (int i = 0; i < 12; i++) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		sum += (double)(*seed >> 11) / 9007199254740992.0;
	}
	return sum - 6;
}

/* 40,000 runs of 100 jobs with needs log-normal with a sigma of 0.12, every fourth job growing by 0.1 % a run. */
static void the_aims_kill_few_of_many_runs_and_reserve_little(void **state)
{
	static const struct sizing_question *const AIMS[] = {&SAFE, &P95, &COST};
	static struct sized_run runs[RUNS];
	uint64_t seed = 4711;
	double killed[3] = {0}, reserved[3] = {0}, tried = 0;

	(void)state;
	for (int job = 0; job < JOBS; job++) {
		for (int i = 0; i < RUNS; i++)
			runs[i] = (struct sized_run){
				1000 * exp(0.12 * random_normal(&seed) + (job % 4 ? 0 : 0.001 * i)), NAN, 60};
		for (size_t end = RUNS / 4; end <= RUNS; end += RUNS / 4) {
			tried += 50;
			for (int aim = 0; aim < 3; aim++) {
				struct backtest result = size_backtest(AIMS[aim], runs, end);

				killed[aim] += (double)result.killed;
				reserved[aim] += result.reserved_per_used * (double)result.runs;
			}
		}
	}
	for (int aim = 0; aim < 3; aim++)
		print_message("# aim %d: %.3f %% of %.0f runs killed, %.3f of the used reserved\n", aim,
			      100 * killed[aim] / tried, tried, reserved[aim] / tried);
	assert_true(killed[0] <= 0.003 * tried && reserved[0] <= 1.6 * tried);
	assert_true(killed[1] <= 0.02 * tried && reserved[1] < reserved[0]);
	assert_true(killed[2] <= 0.05 * tried && reserved[2] < reserved[1]);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_run_gets_a_fifth_and_many_like_it_two_percent),
		cmocka_unit_test(two_runs_that_differ_get_half_more),
		cmocka_unit_test(the_margin_grows_with_the_scatter_up_to_fifteen_percent),
		cmocka_unit_test(the_newest_two_hundred_count),
		cmocka_unit_test(runs_before_a_lasting_fall_are_forgotten),
		cmocka_unit_test(one_large_run_of_many_is_worth_running_again),
		cmocka_unit_test(later_runs_weigh_more),
		cmocka_unit_test(cost_follows_a_rise_and_a_step),
		cmocka_unit_test(a_step_is_not_followed_beyond_its_level),
		cmocka_unit_test(a_line_is_found_and_followed_beyond_the_largest_size),
		cmocka_unit_test(steps_in_size_are_found_by_the_nearest_runs),
		cmocka_unit_test(sizes_of_some_runs_say_less_than_all_runs),
		cmocka_unit_test(safe_is_never_below_a_run_of_this_size_or_less),
		cmocka_unit_test(an_attempt_has_half_more_than_the_one_before),
		cmocka_unit_test(a_kill_asks_for_half_more_for_its_size_up_to_twice_it),
		cmocka_unit_test(time_has_wider_margins_and_doubles_for_each_attempt),
		cmocka_unit_test(time_for_an_input_beyond_all_others_grows_with_the_line),
		cmocka_unit_test(time_follows_a_power_of_the_size),
		cmocka_unit_test(a_formula_is_the_answer_for_each_size_without_the_nearest_runs),
		cmocka_unit_test(memory_is_rounded_up_to_sixteen_mib),
		cmocka_unit_test(the_aims_kill_few_of_many_runs_and_reserve_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
