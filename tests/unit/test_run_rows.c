/* Tests of src/collect/run_rows.c: the place of a sample in its run, and the facts of its first sample. */
#include "lone_collector.h"

#include <errno.h>
#include <math.h>

#include "resource_tracker.h"

extern const struct collector RUN_COLLECTOR;

static int begin(void **state)
{
	if (lone_enter(state) < 0)
		return -1;
	lone.context.progress.number = 0;
	lone.facts.rank = -1;
	lone_open(&RUN_COLLECTOR);
	return 0;
}

static const struct run_start_row *start_at(double secs)
{
	return FIRST(lone_sample(secs), run_start);
}

static void a_sample_has_its_place_in_the_run(void **state)
{
	const struct sample_row *row;

	(void)state;
	lone.context.progress.number = 7;
	lone.context.progress.missed = 2;
	lone.context.progress.previous_ns = lone.context.progress.started_ns + NSEC_PER_SEC;
	row = lone_begin(1.25)->sample;
	lone.frame.realtime_ns = 1700000000 * NSEC_PER_SEC + 123456789;
	(void)lone_fill();
	assert_int_equal(row->timestamp_secs, 1700000000);
	/* In whole microseconds. */
	assert_true(fabs(row->timestamp - 1700000000.123456) < 3e-7);
	assert_real(row->elapsed_secs, 1.25);
	assert_real(row->actual_interval_ms, 250);
	assert_int_equal(row->sample, 7);
	assert_int_equal(row->missed_ticks, 2);
	assert_int_equal(text_absent(row->host), ABSENT_NOT_GIVEN);
	assert_int_equal(text_absent(row->job_name), ABSENT_NOT_GIVEN);
	assert_int_equal(count_absent(row->rank), ABSENT_NOT_GIVEN);
	assert_int_equal(count_absent(row->tracked_pid), ABSENT_NOT_TRACKED);
	assert_null(FIRST(&lone.frame, run_start));
	lone.context.tree = &lone.tree;
	lone.facts.rank = 0;
	lone.facts.host = "h";
	lone.facts.job_name = "j";
	row = lone_sample(2)->sample;
	assert_int_equal(row->rank, 0);
	assert_string_equal(row->host, "h");
	assert_string_equal(row->job_name, "j");
	assert_int_equal(row->tracked_pid, LONE_JOB);
}

static void the_machine_is_told_once_it_was_read(void **state)
{
	const struct run_start_row *row = start_at(1);

	(void)state;
	assert_int_equal(text_absent(row->kernel), ABSENT_NOT_YET);
	assert_int_equal(text_absent(row->figures_from), ABSENT_NOT_YET);
	assert_int_equal(count_absent(row->cpu_count), ABSENT_NOT_YET);
	assert_int_equal(row->schema_version, RT_SCHEMA_VERSION);
	/* Nothing can be read. */
	lone.collector->prepare(lone.state, &lone.context);
	row = start_at(2);
	assert_int_equal(text_absent(row->kernel), ENOENT);
	assert_int_equal(text_absent(row->architecture), ENOENT);
	assert_int_equal(count_absent(row->cpu_count), ABSENT_NOT_A_VALUE);
	put_below("proc/sys/kernel/osrelease", "6.1.0\n");
	put_below("proc/sys/kernel/random/boot_id", "5f0c\n");
	put_below("etc/os-release", "NAME=\"Short\"\nPRETTY_NAME=\"Long 12\"\n");
	put_below("sys/class/dmi/id/product_name", "Server\n");
	put_below("proc/cpuinfo",
		  "processor\t: 0\nmodel name\t: CPU X\n\nprocessor\t: 1\nmodel name\t: CPU X\n\n");
	lone.root.live = true;
	lone.collector->prepare(lone.state, &lone.context);
	row = start_at(3);
	assert_string_equal(row->kernel, "6.1.0");
	assert_string_equal(row->boot_id, "5f0c");
	assert_string_equal(row->os, "Long 12");
	assert_string_equal(row->server, "Server");
	assert_string_equal(row->cpu_model, "CPU X");
	assert_int_equal(row->cpu_count, 2);
	assert_int_equal(text_absent(row->architecture), 0);
	put_text("etc/os-release", "NAME=\"Short\"\n");
	lone.collector->prepare(lone.state, &lone.context);
	assert_string_equal(start_at(4)->os, "Short");
}

static void facts_that_are_not_given_are_absent(void **state)
{
	const struct run_start_row *row = start_at(1);

	(void)state;
	assert_int_equal(count_absent(row->argument_count), ABSENT_NOT_GIVEN);
	assert_int_equal(count_absent(row->input_bytes), ABSENT_NOT_GIVEN);
	assert_absent_real(row->carbon_g_per_kwh, ABSENT_NOT_GIVEN);
	assert_int_equal(text_absent(row->run_id), ABSENT_NOT_GIVEN);
	assert_int_equal(text_absent(row->cpu_source), ABSENT_NOT_TRACKED);
	assert_null(FIRST(&lone.frame, run_start_tag));
	assert_false(row->children || row->aligned);
}

static void facts_of_the_run_are_told(void **state)
{
	static const struct name_value TAGS[] = {{"a", "1"}, {"b", NULL}}, IDS[] = {{"SLURM_JOB_ID", "7"}};
	const struct run_start_row *row;
	const struct run_start_tag_row *tag;

	(void)state;
	lone.facts.argc = 1;
	lone.facts.input_source = "option";
	lone.facts.input_size = 0;
	lone.facts.carbon_factor = 0.5;
	lone.facts.interval_seconds = 2.5;
	lone.facts.children = lone.facts.aligned = true;
	lone.facts.tags = TAGS;
	lone.facts.tag_count = 2;
	lone.facts.scheduler = IDS;
	lone.facts.scheduler_count = 1;
	lone.facts.run_id = "id";
	(void)lone_begin(1);
	SINGLE_ROW(&lone.frame, memory)->total_mib = 512;
	SINGLE_ROW(&lone.frame, limits)->cpuset_cores = 3;
	lone.context.first_cpu_limit_cores = 1.5;
	lone.context.first_memory_limit_mib = 256;
	row = FIRST(lone_fill(), run_start);
	assert_int_equal(row->argument_count, 1);
	assert_int_equal(row->input_bytes, 0);
	assert_string_equal(row->input_source, "option");
	assert_real(row->carbon_g_per_kwh, 0.5);
	assert_real(row->interval_secs, 2.5);
	assert_true(row->children && row->aligned);
	assert_string_equal(row->run_id, "id");
	assert_real(row->memory_total_mib, 512);
	assert_real(row->cpu_limit_cores, 1.5);
	assert_real(row->memory_limit_mib, 256);
	assert_int_equal(row->cpuset_cores, 3);
	tag = FIRST(&lone.frame, run_start_tag);
	assert_string_equal(tag->name, "a");
	assert_string_equal(tag->value, "1");
	tag = NEXT(tag, run_start_tag);
	assert_string_equal(tag->name, "b");
	assert_int_equal(text_absent(tag->value), ABSENT_NOT_GIVEN);
	assert_null(NEXT(tag, run_start_tag));
	assert_string_equal(FIRST(&lone.frame, run_start_scheduler)->value, "7");
}

static void names_of_gpus_are_those_of_the_first_sample(void **state)
{
	(void)state;
	frame_set_missing(lone_begin(1), ROW_gpu, ENODEV);
	(void)lone_fill();
	assert_int_equal(lone.frame.missing[ROW_run_start_gpu], ENODEV);
	ADD_ROW(lone_begin(2), gpu, NULL)->name = "X";
	ADD_ROW(&lone.frame, gpu, NULL)->name = "Y";
	(void)lone_fill();
	assert_string_equal(FIRST(&lone.frame, run_start_gpu)->name, "X");
	assert_string_equal(NEXT(FIRST(&lone.frame, run_start_gpu), run_start_gpu)->name, "Y");
}

static void the_baseline_tells_no_facts(void **state)
{
	(void)state;
	lone.context.progress.baseline = true;
	assert_null(start_at(0));
	lone.context.progress.baseline = false;
	assert_non_null(start_at(1));
	assert_null(FIRST(&lone.frame, run_end));
	lone.context.progress.number = 1;
	assert_null(start_at(2));
}

#define RUN_TEST(name) cmocka_unit_test_setup_teardown(name, begin, lone_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		RUN_TEST(a_sample_has_its_place_in_the_run),
		RUN_TEST(the_machine_is_told_once_it_was_read),
		RUN_TEST(facts_that_are_not_given_are_absent),
		RUN_TEST(facts_of_the_run_are_told),
		RUN_TEST(names_of_gpus_are_those_of_the_first_sample),
		RUN_TEST(the_baseline_tells_no_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
