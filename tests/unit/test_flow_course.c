/* Tests of src/workflow/flow_course.c and flow_api.c: the course of a step over its time, and the public calls. */
#include "made_flow.h"
#include "scratch.h"

#include <errno.h>

static struct rt_workflow *flow;
static struct rt_problem problem;

static int leave(void **state)
{
	rt_workflow_free(flow);
	flow = NULL;
	return scratch_leave(state);
}

/* Samples of a second each. A negative number of cores stands for an unknown one. */
static void put_samples(const char *path, const double *cores, int count)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	for (int i = 0; i < count; i++) {
		fprintf(file,
			"{\"timestamp\":%d.0,\"elapsed_secs\":%d.0,\"sample\":%d,\"tracked_pid\":7,\"job_"
			"name\":\"a\","
			"\"actual_interval_ms\":1000.0%s,\"cpu\":{",
			1000 + i, i + 1, i,
			i ? "" : ",\"run_start\":{\"run_id\":\"1\",\"interval_secs\":1.0}");
		if (cores[i] >= 0)
			fprintf(file, "\"process_cores_used\":%.1f,", cores[i]);
		fprintf(file, "\"process_memory_mib\":%d.0}}\n", 10 * (i + 1));
	}
	fclose(file);
}

static struct flow_step recorded_step(const char *path, double start, double secs)
{
	struct flow_step step = made_step("a", start, secs);

	step.path = strdup(path);
	step.memory_peak_mib = 25;
	assert_non_null(step.path);
	return step;
}

static void a_course_has_the_cores_and_the_memory_of_each_part(void **state)
{
	const double *course;

	(void)state;
	put_samples("r.jsonl", (const double[]){1, 2, 3, 4}, 4);
	flow = MADE_FLOW(recorded_step("r.jsonl", 1000, 4));
	assert_int_equal(rt_workflow_read_courses(flow), 0);
	assert_int_equal(flow->places[0].course_parts, 240);
	course = flow->places[0].course;
	assert_non_null(course);
	for (size_t i = 0; i < 4; i++) {
		assert_near(course[60 * i + 30], 1 + (double)i, 1e-9);
		assert_near(course[240 + 60 * i + 30], 10 + 10 * (double)i, 1e-9);
	}
	/* A second call reads no course again. */
	put_samples("r.jsonl", (const double[]){8, 8, 8, 8}, 4);
	assert_int_equal(rt_workflow_read_courses(flow), 0);
	assert_ptr_equal(flow->places[0].course, course);
	assert_near(course[30], 1, 1e-9);
}

static void a_part_without_a_sample_is_like_the_one_before(void **state)
{
	const double *course;

	(void)state;
	put_samples("r.jsonl", (const double[]){-1, -1, 3, -1}, 4);
	flow = MADE_FLOW(recorded_step("r.jsonl", 1000, 4));
	assert_int_equal(rt_workflow_read_courses(flow), 0);
	course = flow->places[0].course;
	assert_non_null(course);
	for (size_t i = 0; i < 240; i++)
		assert_near(course[i], 3, 1e-9);
	rt_workflow_free(flow);
	put_samples("r.jsonl", (const double[]){1, -1, -1, 4}, 4);
	flow = MADE_FLOW(recorded_step("r.jsonl", 1000, 4));
	assert_int_equal(rt_workflow_read_courses(flow), 0);
	course = flow->places[0].course;
	assert_near(course[30], 1, 1e-9);
	assert_near(course[150], 1, 1e-9);
	assert_near(course[230], 4, 1e-9);
	rt_workflow_free(flow);
	/* No sample has it. */
	put_samples("r.jsonl", (const double[]){-1, -1, -1, -1}, 4);
	flow = MADE_FLOW(recorded_step("r.jsonl", 1000, 4));
	assert_int_equal(rt_workflow_read_courses(flow), 0);
	assert_true(isnan(flow->places[0].course[0]) && isnan(flow->places[0].course[239]));
}

static void a_peak_between_two_samples_is_in_the_part_with_the_most(void **state)
{
	struct flow_step higher = recorded_step("r.jsonl", 1000, 4);
	size_t peaks = 0;

	(void)state;
	put_samples("r.jsonl", (const double[]){1, 1, 1, 1}, 4);
	higher.memory_peak_mib = 45;
	flow = MADE_FLOW(higher);
	assert_int_equal(rt_workflow_read_courses(flow), 0);
	for (size_t i = 0; i < 240; i++)
		peaks += flow->places[0].course[240 + i] == 45;
	assert_int_equal(peaks, 1);
	assert_true(flow->places[0].course[240 + 180] == 45);
	assert_true(flow->places[0].course[240 + 239] == 40);
	rt_workflow_free(flow);
	/* An unknown peak is not in any part. */
	higher = recorded_step("r.jsonl", 1000, 4);
	higher.memory_peak_mib = NAN;
	flow = MADE_FLOW(higher);
	assert_int_equal(rt_workflow_read_courses(flow), 0);
	assert_true(flow->places[0].course[240 + 180] == 40);
}

/* A step has its part of the 240 of the workflow, if it has two. */
static void a_short_step_has_no_course(void **state)
{
	(void)state;
	put_samples("r.jsonl", (const double[]){1, 2}, 2);
	flow = MADE_FLOW(made_step("long", 1000, 240), recorded_step("r.jsonl", 1000, 2),
			 recorded_step("r.jsonl", 1000, 1.9));
	assert_int_equal(rt_workflow_read_courses(flow), 0);
	assert_null(flow->places[0].course);
	assert_int_equal(flow->places[1].course_parts, 2);
	assert_near(flow->places[1].course[0], 1, 1e-9);
	assert_near(flow->places[1].course[1], 2, 1e-9);
	assert_near(flow->places[1].course[3], 25, 1e-9);
	assert_null(flow->places[2].course);
}

static void many_steps_at_once_share_the_parts_of_all(void **state)
{
	enum { MANY = 250 };
	struct flow_step list[MANY];

	(void)state;
	put_samples("r.jsonl", (const double[]){1, 2}, 2);
	for (size_t i = 0; i < MANY; i++)
		list[i] = made_step("a", 1000, 10);
	list[0] = recorded_step("r.jsonl", 1000, 10);
	flow = made_flow(list, MANY);
	assert_int_equal(rt_workflow_read_courses(flow), 0);
	assert_int_equal(flow->places[0].course_parts, 100);
}

static void a_recording_that_is_gone_leaves_the_others(void **state)
{
	(void)state;
	put_samples("r.jsonl", (const double[]){1, 2}, 2);
	flow = MADE_FLOW(recorded_step("gone.jsonl", 1000, 2), recorded_step("r.jsonl", 1000, 2));
	assert_int_equal(rt_workflow_read_courses(flow), 0);
	assert_null(flow->places[0].course);
	assert_int_equal(flow->places[1].course_parts, 240);
}

static void a_workflow_is_read_and_printed(void **state)
{
	const char *path = "w", *none = "none";
	char *text = NULL;

	(void)state;
	rt_workflow_free(NULL);
	assert_int_equal(rt_workflow_read(&none, 1, &flow, &problem), -ENODATA);
	assert_non_null(strstr(problem.text, "no step of 1 could be read"));
	assert_null(flow);
	assert_int_equal(mkdir("w", 0755), 0);
	put_samples("w/r.jsonl", (const double[]){1, 2}, 2);
	assert_int_equal(rt_workflow_read(&path, 1, &flow, &problem), 0);
	assert_int_equal(flow->steps.count, 1);
	assert_int_equal(rt_workflow_to_json(flow, &text), 0);
	assert_ptr_equal(strstr(text, "{\"schema\":1,"), text);
	assert_string_equal(text + strlen(text) - 2, "]}");
	rt_free(text);
	text = NULL;
	assert_int_equal(rt_workflow_for_screen(flow, -1, "red", &text), -EINVAL);
	assert_null(text);
	assert_int_equal(rt_workflow_for_screen(flow, -1, "never", &text), 0);
	assert_ptr_equal(strstr(text, "1 step in "), text);
	rt_free(text);
}

#define unit_test_of_course(test) cmocka_unit_test_setup_teardown(test, scratch_enter, leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_course(a_course_has_the_cores_and_the_memory_of_each_part),
		unit_test_of_course(a_part_without_a_sample_is_like_the_one_before),
		unit_test_of_course(a_peak_between_two_samples_is_in_the_part_with_the_most),
		unit_test_of_course(a_short_step_has_no_course),
		unit_test_of_course(many_steps_at_once_share_the_parts_of_all),
		unit_test_of_course(a_recording_that_is_gone_leaves_the_others),
		unit_test_of_course(a_workflow_is_read_and_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
