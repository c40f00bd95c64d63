/* The reservations of the policies, for peaks with a known answer, and for many random peaks. */
#include "unit.h"

#include <math.h>
#include <stdint.h>

#include "recommend/recommend_policy.h"

enum { RUNS = 400, JOBS = 250 };

static void fill(struct peak *peaks, size_t count, double first, double step)
{
	for (size_t i = 0; i < count; i++)
		peaks[i] = (struct peak){first + step * (double)i, 60};
}

static void the_largest_of_the_last_fifty_and_a_fifth(void **state)
{
	struct peak peaks[60];

	(void)state;
	fill(peaks, 60, 100, 0);
	peaks[30].mib = 300; /* within the last 50 */
	peaks[5].mib = 900;  /* before them */
	assert_true(fabs(policy_reserve(RT_POLICY_MAX, peaks, 60).mib - 360) < 1e-9);
	assert_int_equal(policy_reserve(RT_POLICY_MAX, peaks, 60).runs, 50);
	assert_true(isnan(policy_reserve(RT_POLICY_MAX, peaks, 0).mib));
}

static void peaks_that_rise_are_followed_and_scatter_is_not(void **state)
{
	struct peak peaks[20];
	struct reservation answer;

	(void)state;
	fill(peaks, 20, 100, 100);
	answer = policy_reserve(RT_POLICY_MAX, peaks, 20);
	assert_int_equal(answer.drift, DRIFT_UP);
	assert_true(fabs(answer.base - 2100) < 1e-6);
	for (size_t i = 0; i < 20; i++)
		peaks[i].mib = i % 2 ? 100 : 150;
	answer = policy_reserve(RT_POLICY_MAX, peaks, 20);
	assert_int_equal(answer.drift, DRIFT_NONE);
	assert_true(answer.base == 150);
}

static void runs_before_a_lasting_fall_are_forgotten(void **state)
{
	struct peak peaks[40];
	struct reservation answer;

	(void)state;
	fill(peaks, 40, 1000, 1);
	for (size_t i = 28; i < 40; i++)
		peaks[i].mib = 200 + (double)i;
	answer = policy_reserve(RT_POLICY_MAX, peaks, 40);
	assert_int_equal(answer.drift, DRIFT_DOWN);
	assert_int_equal(answer.runs, 12);
	assert_true(answer.base == 239);
	/* Nine low runs may be chance. */
	for (size_t i = 28; i < 31; i++)
		peaks[i].mib = 1000;
	assert_true(policy_reserve(RT_POLICY_MAX, peaks, 40).base >= 1000);
}

static void one_large_run_of_many_is_worth_running_again(void **state)
{
	struct peak peaks[40];
	struct reservation cost, p95;

	(void)state;
	fill(peaks, 40, 100, 0);
	peaks[20].mib = 4000;
	cost = policy_reserve(RT_POLICY_COST, peaks, 40);
	assert_true(fabs(cost.mib - 105) < 1e-9);
	p95 = policy_reserve(RT_POLICY_P95, peaks, 40);
	assert_true(fabs(p95.mib - 115) < 1e-9);
	assert_int_equal(policy_backtest(RT_POLICY_COST, peaks, 40).killed, 1);
	/* It needs more than two runs. */
	assert_true(fabs(policy_reserve(RT_POLICY_COST, peaks, 2).mib - 120) < 1e-9);
}

/* Of 40 runs, the last two weigh 2.0 of 24.5, and the first two 0.7: half of what a run 25 later weighs. */
static void later_runs_weigh_more(void **state)
{
	struct peak peaks[40];

	(void)state;
	fill(peaks, 40, 100, 0);
	peaks[0].mib = peaks[1].mib = 1000;
	assert_true(fabs(policy_reserve(RT_POLICY_P95, peaks, 40).base - 100) < 1e-9);
	fill(peaks, 40, 100, 0);
	peaks[38].mib = peaks[39].mib = 1000;
	assert_true(fabs(policy_reserve(RT_POLICY_P95, peaks, 40).base - 1000) < 1e-9);
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

/* 100,000 runs of 250 jobs; peaks log-normal with a sigma of 0.12, every fourth job growing by 0.1 % a run. */
static void policies_kill_few_of_many_runs_and_reserve_little(void **state)
{
	static struct peak peaks[RUNS];
	uint64_t seed = 4711;
	size_t runs = 0, killed[3] = {0};
	double reserved[3] = {0};

	(void)state;
	for (int job = 0; job < JOBS; job++) {
		for (int i = 0; i < RUNS; i++)
			peaks[i] = (struct peak){
				1000 * exp(0.12 * random_normal(&seed) + (job % 4 ? 0 : 0.001 * i)), 60};
		for (int end = POLICY_RUNS; end <= RUNS; end += POLICY_RUNS) {
			runs += (size_t)POLICY_RUNS - (end == POLICY_RUNS);
			for (int policy = RT_POLICY_MAX; policy <= RT_POLICY_COST; policy++) {
				struct backtest result =
					policy_backtest((enum rt_policy)policy, peaks, (size_t)end);

				killed[policy] += result.killed;
				reserved[policy] += result.reserved_per_used * (double)result.runs;
			}
		}
	}
	for (int policy = RT_POLICY_MAX; policy <= RT_POLICY_COST; policy++)
		print_message("policy %d: %.3f %% of %zu runs killed, %.3f of the used reserved\n", policy,
			      100 * (double)killed[policy] / (double)runs, runs,
			      reserved[policy] / (double)runs);
	assert_true((double)killed[RT_POLICY_MAX] <= 0.003 * (double)runs);
	/* 1.6 by the policy, and the steps of an advice. */
	assert_true(reserved[RT_POLICY_MAX] <= 1.61 * (double)runs);
	assert_true((double)killed[RT_POLICY_P95] <= 0.02 * (double)runs);
	assert_true(reserved[RT_POLICY_P95] < reserved[RT_POLICY_MAX]);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_of_the_last_fifty_and_a_fifth),
		cmocka_unit_test(peaks_that_rise_are_followed_and_scatter_is_not),
		cmocka_unit_test(runs_before_a_lasting_fall_are_forgotten),
		cmocka_unit_test(later_runs_weigh_more),
		cmocka_unit_test(one_large_run_of_many_is_worth_running_again),
		cmocka_unit_test(policies_kill_few_of_many_runs_and_reserve_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
