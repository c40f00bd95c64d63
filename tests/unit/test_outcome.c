/* Tests of src/net/outcome.c: answers that are retried, and when. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "net/outcome.h"

static enum verdict verdict_of(long status, int error)
{
	struct http_answer answer = {.status = status, .error = error};
	struct outcome outcome;

	outcome_of_answer(&answer, &outcome);
	return outcome.verdict;
}

static void which_answers_are_retried(void **state)
{
	static const long AGAIN[] = {408, 425, 429, 500, 502, 503, 504, 599},
			  NEVER[] = {302, 400, 401, 403, 404, 409, 422};

	(void)state;
	for (size_t i = 0; i < sizeof(AGAIN) / sizeof(AGAIN[0]); i++)
		assert_int_equal(verdict_of(AGAIN[i], 0), VERDICT_RETRY);
	for (size_t i = 0; i < sizeof(NEVER) / sizeof(NEVER[0]); i++)
		assert_int_equal(verdict_of(NEVER[i], 0), VERDICT_REFUSED);
	assert_int_equal(verdict_of(200, 0), VERDICT_DONE);
	assert_int_equal(verdict_of(201, 0), VERDICT_DONE);
	assert_int_equal(verdict_of(0, -ETIMEDOUT), VERDICT_RETRY);
	/* Cut off in the middle: the status is 200, but there is no answer. */
	assert_int_equal(verdict_of(200, -EIO), VERDICT_RETRY);
	assert_int_equal(verdict_of(200, -EMSGSIZE), VERDICT_REFUSED);
}

static int64_t wait_ms(struct backoff *backoff, int retry_after_secs, bool hurried)
{
	struct outcome outcome = {.retry_after_secs = retry_after_secs};
	int64_t before = monotonic_ns();

	backoff_failed(backoff, &outcome, hurried);
	return (backoff->not_before_ns - before) / NSEC_PER_MSEC;
}

static void waits_double_up_to_a_minute(void **state)
{
	struct backoff backoff = {0};

	(void)state;
	for (int64_t span = 1000; span < 60000; span *= 2) {
		int64_t wait = wait_ms(&backoff, -1, false);

		assert_true(wait >= span / 2 && wait <= span + 50);
	}
	for (int i = 0; i < 100; i++) {
		int64_t wait = wait_ms(&backoff, -1, false);

		assert_true(wait >= 30000 && wait <= 60050);
	}
	backoff_reset(&backoff);
	assert_true(wait_ms(&backoff, -1, false) <= 1050);
}

static void no_two_machines_are_in_step(void **state)
{
	struct backoff a = {.random = 1}, b = {.random = 2};
	int different = 0;

	(void)state;
	for (int i = 0; i < 8; i++)
		different += wait_ms(&a, -1, false) != wait_ms(&b, -1, false);
	assert_true(different >= 6);
}

static void a_server_that_asks_for_time_gets_it(void **state)
{
	struct backoff backoff = {0};

	(void)state;
	assert_true(wait_ms(&backoff, 20, true) >= 20000);
	backoff_reset(&backoff);
	assert_true(wait_ms(&backoff, 0, true) <= 300);
}

static void headers_of_an_answer(void **state)
{
	struct http_answer answer = {.headers = BUFFER(1000)};
	char text[32];

	(void)state;
	assert_false(http_header(&answer, "Date", text, sizeof(text)));
	buffer_add_text(&answer.headers,
			"HTTP/1.1 503 Busy\r\nretry-after:  7 \r\nX-Amz-Bucket-Region: eu-west-1\r\n\r\n");
	assert_int_equal(http_retry_after_secs(&answer), 7);
	assert_true(http_header(&answer, "x-amz-bucket-region", text, sizeof(text)));
	assert_string_equal(text, "eu-west-1");
	assert_false(http_header(&answer, "Retry", text, sizeof(text)));
	buffer_clear(&answer.headers);
	buffer_add_text(&answer.headers, "Retry-After: 99999\r\n");
	assert_int_equal(http_retry_after_secs(&answer), 300);
	buffer_clear(&answer.headers);
	/* A date refers to the server's clock. */
	buffer_add_text(
		&answer.headers,
		"Retry-After: Wed, 01 Apr 2026 12:00:00 GMT\r\nDate: Wed, 01 Apr 2026 11:59:30 GMT\r\n");
	assert_int_equal(http_retry_after_secs(&answer), 30);
	buffer_clear(&answer.headers);
	buffer_add_text(&answer.headers, "Retry-After: Wed, 01 Apr 2026 12:00:00 GMT\r\n");
	assert_int_equal(http_retry_after_secs(&answer), 0);
	buffer_clear(&answer.headers);
	buffer_add_text(&answer.headers, "Retry-After: soon\r\n");
	assert_int_equal(http_retry_after_secs(&answer), -1);
	http_answer_done(&answer);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_answers_are_retried),
		cmocka_unit_test(waits_double_up_to_a_minute),
		cmocka_unit_test(no_two_machines_are_in_step),
		cmocka_unit_test(a_server_that_asks_for_time_gets_it),
		cmocka_unit_test(headers_of_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
