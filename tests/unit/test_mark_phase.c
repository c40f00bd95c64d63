/* Tests of src/tracker/mark_phase.c: phases that a job marks itself; and of numbers that stand for no metric. */
#include "scratch.h"

#include <errno.h>

#include "resource_tracker.h"

/* The lines have the event, the name and the number of the phase. */
static void a_phase_begins_and_ends_in_the_file(void **state)
{
	rt_marks *marks = NULL;
	char wanted[100], *text;
	int64_t first, second;

	(void)state;
	assert_int_equal(rt_marks_open("m.marks", &marks), 0);
	first = rt_mark_start(marks, "load");
	second = rt_mark_start(marks, "train");
	assert_true(first >> 32 == getpid() && (first & UINT32_MAX) == 1);
	assert_true(second >> 32 == getpid() && (second & UINT32_MAX) == 2);
	assert_int_equal(rt_mark_stop(marks, "load", first), 0);
	rt_marks_close(marks);
	text = get_file("m.marks", NULL);
	for (int i = 1; i <= 2; i++) {
		snprintf(wanted, sizeof wanted, "\"%d-%d\"", (int)getpid(), i);
		assert_non_null(strstr(text, wanted));
	}
	assert_non_null(strstr(text, "\"event\":\"start\",\"name\":\"train\""));
	assert_non_null(strstr(text, "\"event\":\"stop\",\"name\":\"load\""));
	assert_null(strstr(text, "\"event\":\"stop\",\"name\":\"train\""));
	free(text);
}

static void without_a_file_nothing_is_marked(void **state)
{
	rt_marks *marks = NULL;

	(void)state;
	assert_int_equal(rt_marks_open("no/such/folder/m.marks", &marks), -ENOENT);
	assert_null(marks);
	assert_int_equal(rt_mark_start(NULL, "load"), 0);
	assert_int_equal(rt_mark_stop(NULL, "load", 7), 0);
	rt_marks_close(NULL);
	setenv("RESOURCE_TRACKER_MARKS", "named.marks", 1);
	assert_int_equal(rt_marks_open(NULL, &marks), 0);
	unsetenv("RESOURCE_TRACKER_MARKS");
	/* A phase that was never started has no number, and an error is none. */
	assert_int_equal(rt_mark_stop(marks, "load", 0), 0);
	assert_int_equal(rt_mark_stop(marks, "load", -ENOSPC), -EINVAL);
	assert_int_equal(rt_mark_start(marks, ""), -EINVAL);
	assert_int_equal(rt_mark_start(marks, NULL), -EINVAL);
	assert_int_equal(rt_mark_stop(marks, NULL, 7), -EINVAL);
	assert_file_text("named.marks", "");
	rt_marks_close(marks);
}

static void numbers_beyond_the_metrics_are_none(void **state)
{
	struct rt_metric_info info = {.size = sizeof info};
	uint32_t kind = 0, last = 0;

	(void)state;
	for (rt_metric metric = rt_metric_next(0); metric; metric = rt_metric_next(metric)) {
		assert_int_equal(rt_metric_get_info(metric, &info), 0);
		assert_int_equal(rt_metric_find(info.name), metric);
		/* The last metric of each kind, before one that is in no sample or in none at all. */
		if (metric >> 16 != kind && last)
			assert_int_equal(rt_metric_get_info((kind << 16) + 0xffff, &info), -ENOENT);
		kind = metric >> 16;
		last = metric;
	}
	for (uint32_t past = last + 1; past < last + 200; past++)
		assert_int_equal(rt_metric_get_info(past, &info), -ENOENT);
	for (uint32_t past = kind + 1; past < kind + 9; past++)
		assert_int_equal(rt_metric_get_info(past << 16 | 1, &info), -ENOENT);
	assert_int_equal(rt_metric_get_info(0, &info), -ENOENT);
	assert_int_equal(rt_metric_get_info(1, &info), -ENOENT);
	assert_int_equal(rt_metric_get_info(1 << 16, &info), -ENOENT);
	assert_int_equal(rt_metric_get_info(UINT32_MAX, &info), -ENOENT);
	assert_int_equal(rt_metric_find("no.such"), 0);
	assert_int_equal(rt_metric_find(NULL), 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(a_phase_begins_and_ends_in_the_file),
		unit_test_in_scratch(without_a_file_nothing_is_marked),
		cmocka_unit_test(numbers_beyond_the_metrics_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
