/* The figures of a run in gpu_tracker's tree: facts that were made by hand. */
#include "unit.h"

#include <errno.h>
#include <math.h>

#include "metric/absent.h"
#include "verdict/run_summary.h"

static rt_summary summary;

/* A figure with this maximum, and with half of it as its mean. */
static struct figure figure_to(double most)
{
	return (struct figure){.weighted = most, .weights = 2, .most = most};
}

static struct parts parts_of(double main, double descendants, double combined)
{
	return (struct parts){figure_to(main), figure_to(descendants), figure_to(combined)};
}

static void make_facts(void)
{
	struct run_facts *facts = &summary.facts;

	memset(&summary, 0, sizeof summary);
	facts->wall_secs = 7200;
	facts->total_memory_mib = 1000;
	facts->host_memory = figure_to(500);
	facts->had_descendants = true;
	facts->rss = parts_of(10, 20, 30);
	facts->private_mib = parts_of(4, 5, 9);
	facts->shared_mib = parts_of(6, 7, -1);
	facts->descendants_mib = figure_to(15);
	facts->memory = figure_to(25);
	facts->gpu_memory_mib = 64;
	facts->host_gpu_vram_mib = figure_to(32);
	facts->vram = parts_of(1, 2, 3);
	facts->core_count = 8;
	facts->host_cores = figure_to(4);
	facts->cpu_cores = parts_of(1, 2, 3);
	facts->thread_count = parts_of(5, 6, 11);
	facts->gpu_count = 4;
	facts->gpu_cores = figure_to(2);
}

static void try_tree(const struct rt_gpu_tracker_options *options, bool json, const char *part)
{
	char *text = NULL;

	assert_int_equal(rt_summary_to_gpu_tracker(&summary, options, json, &text, NULL), 0);
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
	free(text);
}

static const struct rt_gpu_tracker_options BYTES = {
	.size = sizeof BYTES, .ram_unit = "bytes", .gpu_ram_unit = "bytes", .time_unit = "minutes"};

static void the_whole_tree_as_json(void **state)
{
	(void)state;
	make_facts();
	try_tree(&BYTES, true,
		 "{\n \"max_ram\": {\n"
		 "  \"unit\": \"bytes\",\n"
		 "  \"system_capacity\": 1048576000.0,\n"
		 "  \"system\": 524288000.0,\n"
		 "  \"main\": {\n   \"total_rss\": 10485760.0,\n   \"private_rss\": 4194304.0,\n   "
		 "\"shared_rss\": 6291456.0\n  },\n"
		 "  \"descendants\": {\n   \"total_rss\": 15728640.0,\n   \"private_rss\": 5242880.0,\n   "
		 "\"shared_rss\": 7340032.0\n  },\n"
		 "  \"combined\": {\n   \"total_rss\": 26214400.0,\n   \"private_rss\": 9437184.0,\n   "
		 "\"shared_rss\": 0.0\n  }\n"
		 " },\n \"max_gpu_ram\": {\n"
		 "  \"unit\": \"bytes\",\n"
		 "  \"system_capacity\": 67108864.0,\n"
		 "  \"system\": 33554432.0,\n"
		 "  \"main\": 1048576.0,\n"
		 "  \"descendants\": 2097152.0,\n"
		 "  \"combined\": 3145728.0\n"
		 " },\n \"cpu_utilization\": {\n"
		 "  \"system_core_count\": 8,\n"
		 "  \"n_expected_cores\": 8,\n"
		 "  \"system\": {\n   \"max_sum_percent\": 400.0,\n   \"max_hardware_percent\": 50.0,\n"
		 "   \"mean_sum_percent\": 200.0,\n   \"mean_hardware_percent\": 25.0\n  },\n"
		 "  \"main\": {\n   \"max_sum_percent\": 100.0,\n   \"max_hardware_percent\": 12.5,\n"
		 "   \"mean_sum_percent\": 50.0,\n   \"mean_hardware_percent\": 6.25\n  },\n");
	try_tree(&BYTES, true,
		 "  \"main_n_threads\": 5,\n"
		 "  \"descendants_n_threads\": 6,\n"
		 "  \"combined_n_threads\": 11\n"
		 " },\n \"gpu_utilization\": {\n"
		 "  \"system_gpu_count\": 4,\n"
		 "  \"n_expected_gpus\": 4,\n"
		 "  \"gpu_percentages\": {\n   \"max_sum_percent\": 200.0,\n   \"max_hardware_percent\": "
		 "50.0,\n"
		 "   \"mean_sum_percent\": 100.0,\n   \"mean_hardware_percent\": 25.0\n  }\n"
		 " },\n \"compute_time\": {\n  \"unit\": \"minutes\",\n  \"time\": 120.0\n }\n}");
}

static void the_whole_tree_for_people(void **state)
{
	(void)state;
	make_facts();
	try_tree(NULL, false,
		 "Max RAM:\n"
		 "   Unit: gigabytes\n"
		 "   System capacity: 1.049\n"
		 "   System: 0.524\n"
		 "   Main:\n"
		 "      Total RSS: 0.01\n"
		 "      Private RSS: 0.004\n"
		 "      Shared RSS: 0.006\n"
		 "   Descendants:\n");
	try_tree(NULL, false,
		 "   Combined:\n"
		 "      Max sum percent: 300.0\n"
		 "      Max hardware percent: 37.5\n"
		 "      Mean sum percent: 150.0\n"
		 "      Mean hardware percent: 18.75\n"
		 "   Main number of threads: 5\n"
		 "   Descendants number of threads: 6\n"
		 "   Combined number of threads: 11\n"
		 "GPU utilization:\n"
		 "   System GPU count: 4\n"
		 "   Number of expected GPUs: 4\n");
	try_tree(NULL, false, "Compute time:\n   Unit: hours\n   Time: 2.0");
}

/* One core is as good an expectation as any. */
static void expected_cores_and_gpus_are_the_hardware_of_the_job(void **state)
{
	const struct rt_gpu_tracker_options one = {
		.size = sizeof one, .expected_cores = 1, .expected_gpus = 1};

	(void)state;
	make_facts();
	try_tree(&one, true, "\"n_expected_cores\": 1,\n");
	try_tree(&one, true, "\"n_expected_gpus\": 1,\n");
	try_tree(&one, true,
		 "\"max_sum_percent\": 100.0,\n   \"max_hardware_percent\": 100.0,\n   \"mean_sum_percent\": "
		 "50.0,\n"
		 "   \"mean_hardware_percent\": 50.0\n");
	try_tree(&one, true, "\"max_sum_percent\": 200.0,\n   \"max_hardware_percent\": 200.0,\n");
	/* The machine has its own. */
	try_tree(&one, true,
		 "\"system\": {\n   \"max_sum_percent\": 400.0,\n   \"max_hardware_percent\": 50.0,\n");
	/* Without a wish, the GPUs that were chosen for the percentages are expected. */
	summary.facts.gpu_uuid_count = 2;
	try_tree(NULL, true, "\"system_gpu_count\": 4,\n  \"n_expected_gpus\": 2,\n");
}

static void a_machine_without_gpus_has_zeroes(void **state)
{
	(void)state;
	make_facts();
	summary.facts.gpu_count = 0;
	summary.facts.gpu_cores = (struct figure){.most = NAN};
	try_tree(NULL, true,
		 "\"system_gpu_count\": 0,\n  \"n_expected_gpus\": 0,\n  \"gpu_percentages\": {\n"
		 "   \"max_sum_percent\": 0.0,\n   \"max_hardware_percent\": 0.0,\n"
		 "   \"mean_sum_percent\": 0.0,\n   \"mean_hardware_percent\": 0.0\n");
}

static void unknown_figures_are_null(void **state)
{
	(void)state;
	make_facts();
	summary.facts.core_count = no_count(ABSENT_NOT_COLLECTED);
	summary.facts.total_memory_mib = NAN;
	summary.facts.descendants_mib.most = NAN;
	try_tree(&BYTES, true, "\"system_core_count\": null,\n  \"n_expected_cores\": null,\n");
	try_tree(&BYTES, true, "\"system_capacity\": null,\n");
	/* The sum of their resident sets is the only figure that is left. */
	try_tree(&BYTES, true, "\"descendants\": {\n   \"total_rss\": 20971520.0,\n");
	try_tree(NULL, false, "System core count: unknown\n");
	try_tree(NULL, false, "System capacity: unknown\n");
}

static void a_single_process_has_the_memory_of_all(void **state)
{
	(void)state;
	make_facts();
	summary.facts.had_descendants = false;
	summary.facts.shared_mib.main.most = NAN;
	/* 10 MiB resident, and 9 private: 1 is shared. */
	try_tree(&BYTES, true,
		 "  \"main\": {\n   \"total_rss\": 10485760.0,\n   \"private_rss\": 9437184.0,\n   "
		 "\"shared_rss\": 1048576.0\n  },\n"
		 "  \"descendants\": {\n   \"total_rss\": 0.0,\n   \"private_rss\": 0.0,\n   \"shared_rss\": "
		 "0.0\n  },\n");
	summary.facts.shared_mib.main.most = 0.5;
	try_tree(&BYTES, true, "\"private_rss\": 9437184.0,\n   \"shared_rss\": 524288.0\n");
	summary.facts.shared_mib.main.most = 3;
	try_tree(&BYTES, true, "\"private_rss\": 9437184.0,\n   \"shared_rss\": 3145728.0\n");
}

static void units_have_their_factors(void **state)
{
	static const struct {
		struct rt_gpu_tracker_options options;
		const char *part;
	} CASES[] = {
		{{.ram_unit = "kilobytes"}, "\"kilobytes\",\n  \"system_capacity\": 1048576.0,\n"},
		{{.ram_unit = "megabytes"}, "\"megabytes\",\n  \"system_capacity\": 1048.576,\n"},
		{{.ram_unit = "terabytes"}, "\"terabytes\",\n  \"system_capacity\": 0.001048576,\n"},
		{{.gpu_ram_unit = "megabytes"}, "\"megabytes\",\n  \"system_capacity\": 67.108864,\n"},
		{{.time_unit = "seconds"}, "\"seconds\",\n  \"time\": 7200.0\n"},
		{{.time_unit = "hours"}, "\"hours\",\n  \"time\": 2.0\n"},
		{{.time_unit = "days"}, "\"days\",\n  \"time\": 0.0833333333333"},
	};

	(void)state;
	make_facts();
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct rt_gpu_tracker_options options = CASES[i].options;

		options.size = sizeof options;
		try_tree(&options, true, CASES[i].part);
	}
}

static void wrong_units_are_named_beside_the_right_ones(void **state)
{
	const struct rt_gpu_tracker_options ram = {.size = sizeof ram, .ram_unit = "hours"},
					    gpu_ram = {.size = sizeof gpu_ram, .gpu_ram_unit = "MiB"},
					    secs = {.size = sizeof secs, .time_unit = "weeks"};
	struct rt_problem problem;
	char *text = NULL;

	(void)state;
	make_facts();
	assert_int_equal(rt_summary_to_gpu_tracker(&summary, &ram, true, &text, &problem), -EINVAL);
	assert_string_equal(
		problem.text,
		"'hours' is not a unit; there are bytes, gigabytes, kilobytes, megabytes, terabytes");
	assert_int_equal(rt_summary_to_gpu_tracker(&summary, &gpu_ram, true, &text, &problem), -EINVAL);
	assert_string_equal(
		problem.text,
		"'MiB' is not a unit; there are bytes, gigabytes, kilobytes, megabytes, terabytes");
	assert_int_equal(rt_summary_to_gpu_tracker(&summary, &secs, true, &text, &problem), -EINVAL);
	assert_string_equal(problem.text, "'weeks' is not a unit; there are days, hours, minutes, seconds");
	assert_null(text);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_whole_tree_as_json),
		cmocka_unit_test(the_whole_tree_for_people),
		cmocka_unit_test(expected_cores_and_gpus_are_the_hardware_of_the_job),
		cmocka_unit_test(a_machine_without_gpus_has_zeroes),
		cmocka_unit_test(unknown_figures_are_null),
		cmocka_unit_test(a_single_process_has_the_memory_of_all),
		cmocka_unit_test(units_have_their_factors),
		cmocka_unit_test(wrong_units_are_named_beside_the_right_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
