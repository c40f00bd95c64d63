/* Tests of src/helper/kind_gpu.c: when the next survey is made. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "nvml_script.h"
#include "unit.h"

#include "base/clock.h"
#include "gpu/survey.h"
#include "helper/helper_kind.h"

static struct gpu_setup setup;
static struct gpu_request *request;
static struct gpu_survey survey;
/* A worker ends without closing anything, so all are kept: none is a leak. */
static void *works[16], *work;
static int work_count;
static int64_t before_ns, next_ns, after_ns; /* of the last pass */

static int64_t now_ns(void)
{
	return SYSTEM_CLOCKS.monotonic_ns(NULL);
}

static int begin(void **state)
{
	(void)state;
	nvml_script_begin("nvml_fake");
	nvml_script_set("gpus 1\n");
	request = calloc(1, sizeof *request);
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(request);
	nvml_script_end();
	return 0;
}

static void open_work(int64_t interval_ns)
{
	setup = (struct gpu_setup){.interval_ns = interval_ns};
	assert_int_equal(GPU_HELPER.open(&setup, &work), 0);
	works[work_count++ % 16] = work;
}

static ssize_t make_pass(size_t request_bytes)
{
	ssize_t length;

	before_ns = now_ns();
	length = GPU_HELPER.pass(work, request, request_bytes, &survey, &next_ns);
	after_ns = now_ns();
	return length;
}

/* The next pass is so much later than some moment of this one. */
static void assert_next_in(int64_t delay_ns)
{
	if (next_ns < before_ns + delay_ns || next_ns > after_ns + delay_ns)
		fail_msg("%.1f to %.1f ms, not %.1f", (double)(next_ns - after_ns) / 1e6,
			 (double)(next_ns - before_ns) / 1e6, (double)delay_ns / 1e6);
}

/* A job may be short, so a quarter of 250 ms at first, and then of a second, whatever the interval. */
static void without_a_sample_it_is_asked_in_a_quarter_of_its_period(void **state)
{
	(void)state;
	open_work(60 * NSEC_PER_SEC);
	assert_true(make_pass(0) > 0);
	assert_next_in(250 * NSEC_PER_MSEC / 4);
	/* A sample that is yet to come is none. */
	request->sampled_ns = now_ns() + 3600 * NSEC_PER_SEC;
	assert_true(make_pass(gpu_request_bytes(request)) > 0);
	assert_next_in(250 * NSEC_PER_MSEC / 4);
	nanosleep(&(struct timespec){2, 100 * NSEC_PER_MSEC}, NULL);
	assert_true(make_pass(0) > 0);
	assert_next_in(NSEC_PER_SEC / 4);
	open_work(0); /* a second */
	assert_true(make_pass(0) > 0);
	assert_next_in(250 * NSEC_PER_MSEC / 4);
}

static void drivers_are_asked_ten_times_a_second_at_most(void **state)
{
	(void)state;
	open_work(20 * NSEC_PER_MSEC);
	request->sampled_ns = now_ns();
	assert_true(make_pass(gpu_request_bytes(request)) > 0);
	/* 100 ms after the pass began, or 5 ms after one that took longer. */
	assert_true(next_ns >= before_ns + 100 * NSEC_PER_MSEC);
	assert_true(next_ns <= after_ns + 100 * NSEC_PER_MSEC);
}

/* How long before the next sample the last pass will be, 5 ms and twice the time of a pass, but at most half of its period. */
static void assert_lead(int64_t lead_ns)
{
	int64_t most_ns = 5 * NSEC_PER_MSEC + 2 * (after_ns - before_ns);

	assert_true(lead_ns >= 5 * NSEC_PER_MSEC);
	assert_true(lead_ns <= (most_ns < 125 * NSEC_PER_MSEC ? most_ns : 125 * NSEC_PER_MSEC));
}

static void passes_are_whole_periods_before_the_next_sample(void **state)
{
	static const int64_t SINCE_MS[] = {0, 300, 2000, 4000, 9000, 10300, 27000};
	int64_t period_ns = 250 * NSEC_PER_MSEC, interval_ns = 10 * NSEC_PER_SEC;

	(void)state;
	open_work(interval_ns);
	for (size_t i = 0; i < sizeof SINCE_MS / sizeof SINCE_MS[0]; i++) {
		int64_t sample_ns;

		request->sampled_ns = now_ns() - SINCE_MS[i] * NSEC_PER_MSEC;
		assert_true(make_pass(gpu_request_bytes(request)) > 0);
		sample_ns = request->sampled_ns;
		while (sample_ns <= after_ns)
			sample_ns += interval_ns;
		assert_lead((sample_ns - next_ns) % period_ns);
		/* Neither at once nor later than needed. */
		assert_true(next_ns >= before_ns + period_ns / 4);
		assert_true(next_ns <= after_ns + period_ns / 4 + period_ns);
	}
}

/* The next sample is in 30 ms: that is too early for a pass, so the next one serves the sample after it. */
static void a_sample_that_is_near_gets_no_pass_of_its_own(void **state)
{
	int64_t interval_ns = 10 * NSEC_PER_SEC, sample_ns;

	(void)state;
	open_work(interval_ns);
	do {
		request->sampled_ns = now_ns() - interval_ns + 30 * NSEC_PER_MSEC;
		assert_true(make_pass(gpu_request_bytes(request)) > 0);
		sample_ns = request->sampled_ns + interval_ns;
	} while (after_ns >= sample_ns); /* a pass took longer than that */
	assert_lead(sample_ns + 250 * NSEC_PER_MSEC - next_ns);
}

static void requests_that_cannot_be_are_left_out(void **state)
{
	(void)state;
	open_work(10 * NSEC_PER_SEC);
	for (int i = 0; i < 4; i++) {
		/* With a request, the next pass is at another time. */
		request->sampled_ns = now_ns() - NSEC_PER_SEC;
		request->member_count = i == 0 ? -1 : i == 1 ? GPU_MEMBERS_MAX + 1 : 1;
		assert_true(make_pass(i == 2   ? offsetof(struct gpu_request, members) - 1
				      : i == 3 ? gpu_request_bytes(request) - 1
					       : sizeof *request) > 0);
		assert_next_in(250 * NSEC_PER_MSEC / 4);
	}
}

static void without_a_device_no_pass_follows(void **state)
{
	(void)state;
	setup = (struct gpu_setup){.vendor = "none", .interval_ns = NSEC_PER_SEC};
	assert_int_equal(GPU_HELPER.open(&setup, &works[15]), 0);
	work = works[15];
	survey.device_count = 7;
	assert_int_equal(make_pass(0), offsetof(struct gpu_survey, devices));
	assert_int_equal(survey.device_count, 0);
	assert_true(survey.at_ns >= before_ns && survey.at_ns <= after_ns);
	assert_true(next_ns == INT64_MAX);
	snprintf(setup.root_dir, sizeof setup.root_dir, "/no/such/folder");
	assert_int_equal(GPU_HELPER.open(&setup, &work), -ENOENT);
}

UNIT_TESTS
{
#define WITH_FAKE(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		WITH_FAKE(without_a_sample_it_is_asked_in_a_quarter_of_its_period),
		WITH_FAKE(drivers_are_asked_ten_times_a_second_at_most),
		WITH_FAKE(passes_are_whole_periods_before_the_next_sample),
		WITH_FAKE(a_sample_that_is_near_gets_no_pass_of_its_own),
		WITH_FAKE(requests_that_cannot_be_are_left_out),
		WITH_FAKE(without_a_device_no_pass_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
