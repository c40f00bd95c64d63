/* Tests of src/net/http.c: headers of an answer, and requests to a server of the test's own. */
#include "loopback.h"

#include <errno.h>

#include "base/clock.h"
#include "net/http.h"

static struct http_answer answer_with(const char *headers)
{
	struct http_answer answer = {.status = 503, .headers = BUFFER(4096)};

	buffer_add_text(&answer.headers, headers);
	return answer;
}

static int retry_after(const char *headers)
{
	struct http_answer answer = answer_with(headers);
	int secs = http_retry_after_secs(&answer);

	http_answer_done(&answer);
	return secs;
}

static void headers_are_found_by_name(void **state)
{
	struct http_answer answer =
		answer_with("HTTP/1.1 200 OK\r\nX-A: one\r\nx-a:  two \r\nX-AB: no\r\nEmpty:\r\nX-A");
	char value[8];

	(void)state;
	assert_true(http_header(&answer, "X-a", value, sizeof value));
	assert_string_equal(value, "two"); /* the last one counts */
	assert_true(http_header(&answer, "empty", value, sizeof value));
	assert_string_equal(value, "");
	assert_false(http_header(&answer, "X", value, sizeof value));
	assert_false(http_header(&answer, "HTTP/1.1 200 OK", value, sizeof value));
	assert_true(http_header(&answer, "X-AB", value, 2));
	assert_string_equal(value, "n"); /* cut to fit */
	http_answer_done(&answer);
	assert_false(http_header(&answer, "X-A", value, sizeof value));
}

static void a_server_asks_for_at_most_five_minutes(void **state)
{
	(void)state;
	assert_int_equal(retry_after("Retry-After: 0\r\n"), 0);
	assert_int_equal(retry_after("Retry-After: 299\r\n"), 299);
	assert_int_equal(retry_after("Retry-After: 300\r\n"), 300);
	assert_int_equal(retry_after("Retry-After: 301\r\n"), 300);
	assert_int_equal(retry_after("Retry-After: 86400\r\n"), 300);
	assert_int_equal(retry_after("Retry-After: 20260401\r\n"), 300); /* a number, no date */
	assert_int_equal(retry_after("Retry-After: 7 s\r\n"), -1);
	assert_int_equal(retry_after("Retry-After: soon\r\n"), -1);
	assert_int_equal(retry_after("Date: Wed, 01 Apr 2026 12:00:00 GMT\r\n"), -1);
}

static void dates_are_those_of_the_servers_clock(void **state)
{
#define AT(time) "Retry-After: Wed, 01 Apr 2026 " time " GMT\r\nDate: Wed, 01 Apr 2026 12:00:00 GMT\r\n"
	(void)state;
	assert_int_equal(retry_after(AT("12:00:09")), 9);
	assert_int_equal(retry_after(AT("12:05:00")), 300);
	assert_int_equal(retry_after(AT("12:05:01")), 300);
	assert_int_equal(retry_after(AT("13:00:00")), 300);
	assert_int_equal(retry_after(AT("11:59:59")), 0);
	/* Without a date, ours. */
	assert_int_equal(retry_after("Retry-After: Thu, 01 Jan 1970 00:00:10 GMT\r\n"), 0);
	assert_int_equal(retry_after("Retry-After: Fri, 01 Jan 2100 00:00:00 GMT\r\n"), 300);
#undef AT
}

/* ---- requests ----------------------------------------------------------------------------------------------- */

static struct http_request request_of(const char *method, const char *url)
{
	return (struct http_request){.method = method,
				     .url = url,
				     .connect_timeout_ms = 10000,
				     .total_timeout_ms = 20000,
				     .most_answer_bytes = 64,
				     .direct = true};
}

static void a_request_says_only_what_it_should(void **state)
{
	static const char *const ANSWERS[] = {ANSWER("100 Continue", "X: early\r\n", "")
						      ANSWER("200 OK", "A: b\r\n", "hello"),
					      ANSWER("302 Found", "Location: http://127.0.0.1:1/\r\n", ""),
					      ANSWER("204 No Content", "", ""), NULL};
	struct http_client client;
	struct http_request request;
	struct http_answer answer = {0};
	struct loopback server;
	char value[16];

	(void)state;
	loopback_serve(&server, ANSWERS);
	assert_int_equal(http_open(&client, NULL), 0);
	request = request_of("POST", server.url);
	request.headers[0] = "X-Own: 1";
	request.headers[1] = "content-type: text/x";
	request.body = "body!ignored";
	request.body_length = 5;
	assert_int_equal(http_send(&client, &request, &answer), 0);
	assert_int_equal(answer.status, 200);
	assert_int_equal(answer.body.length, 5);
	assert_memory_equal(answer.body.data, "hello", 5);
	assert_true(http_header(&answer, "A", value, sizeof value));
	assert_false(http_header(&answer, "X", value, sizeof value)); /* of the status line before */
	/* It follows no redirect, and an answer can be used again. */
	request = request_of("GET", server.url);
	assert_int_equal(http_send(&client, &request, &answer), 0);
	assert_int_equal(answer.status, 302);
	assert_int_equal(answer.body.length, 0);
	request = request_of("PUT", server.url);
	assert_int_equal(http_send(&client, &request, &answer), 0);
	assert_int_equal(answer.status, 204);
	http_answer_done(&answer);
	http_close(&client);
	http_close(&client);
	loopback_end(&server);
	assert_non_null(strstr(server.asked, "POST / HTTP/1.1\r\n"));
	assert_non_null(strstr(server.asked, "User-Agent: resource-tracker/"));
	assert_non_null(strstr(server.asked, "X-Own: 1\r\ncontent-type: text/x\r\n"));
	assert_non_null(strstr(server.asked, "\r\n\r\nbody!\n~~~\nGET / HTTP/1.1\r\n"));
	assert_non_null(strstr(server.asked, "PUT / HTTP/1.1\r\n"));
	/* A body without a type is not declared a form. */
	assert_null(strstr(server.asked, "x-www-form"));
	assert_null(strstr(server.asked, "Content-Type"));
	free(server.asked);
}

static void an_answer_has_a_limit_and_a_time(void **state)
{
	static const char *const ANSWERS[] = {
		ANSWER("200 OK", "", "0123456789012345678901234567890123456789012345678901234567890123"),
		ANSWER("200 OK", "", "01234567890123456789012345678901234567890123456789012345678901234"),
		"-HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", NULL};
	struct http_client client;
	struct http_request request;
	struct http_answer answer = {0};
	struct loopback server;

	(void)state;
	loopback_serve(&server, ANSWERS);
	assert_int_equal(http_open(&client, NULL), 0);
	request = request_of("GET", server.url);
	assert_int_equal(http_send(&client, &request, &answer), 0);
	assert_int_equal(answer.body.length, 64);
	assert_int_equal(http_send(&client, &request, &answer), -EMSGSIZE);
	assert_string_equal(answer.error_text, "the answer is too large");
	request.total_timeout_ms = 300;
	assert_int_equal(http_send(&client, &request, &answer), -ETIMEDOUT);
	request.total_timeout_ms = 20000;
	assert_int_equal(http_send(&client, &request, &answer), -EIO);
	assert_true(answer.error_text[0]);
	loopback_end(&server);
	/* The server has gone. */
	assert_int_equal(http_send(&client, &request, &answer), -EIO);
	assert_int_equal(answer.status, 0);
	request.url = "file:///etc/passwd";
	assert_int_equal(http_send(&client, &request, &answer), -EIO);
	assert_int_equal(answer.body.length, 0);
	http_answer_done(&answer);
	http_close(&client);
	free(server.asked);
}

static void requests_side_by_side_end_with_the_patience(void **state)
{
	static const char *const ANSWERS[] = {ANSWER("200 OK", "", "a"), "-", NULL};
	struct http_transfer *first = NULL, *second = NULL;
	struct patience patience = PATIENCE;
	struct http_answer answers[2] = {0};
	struct http_client client;
	struct http_request request;
	struct loopback server;
	int64_t begun_ns;

	(void)state;
	loopback_serve(&server, ANSWERS);
	assert_int_equal(http_open(&client, &patience), 0);
	request = request_of("GET", server.url);
	assert_int_equal(http_start(&client, &request, &answers[0], &answers[0], &first), 0);
	assert_ptr_equal(http_next_done(&client, INT64_MAX), first);
	assert_ptr_equal(http_context(first), &answers[0]);
	assert_null(http_next_done(&client, INT64_MAX)); /* none is left */
	assert_int_equal(http_start(&client, &request, &answers[1], NULL, &second), 0);
	begun_ns = monotonic_ns();
	assert_null(http_next_done(&client, begun_ns + 50 * NSEC_PER_MSEC));
	assert_true(monotonic_ns() - begun_ns >= 50 * NSEC_PER_MSEC);
	patience_end(&patience);
	assert_null(http_next_done(&client, INT64_MAX));
	assert_true(monotonic_ns() - begun_ns < 15 * NSEC_PER_SEC);
	http_transfer_free(first);
	http_transfer_free(second);
	http_transfer_free(NULL);
	/* A whole request ends with it, too. */
	assert_int_equal(http_send(&client, &request, &answers[1]), -ETIMEDOUT);
	assert_string_equal(answers[1].error_text, "no time is left");
	http_answer_done(&answers[0]);
	http_answer_done(&answers[1]);
	http_close(&client);
	loopback_end(&server);
	free(server.asked);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_are_found_by_name),
		cmocka_unit_test(a_server_asks_for_at_most_five_minutes),
		cmocka_unit_test(dates_are_those_of_the_servers_clock),
		cmocka_unit_test_setup_teardown(a_request_says_only_what_it_should, scratch_enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(an_answer_has_a_limit_and_a_time, scratch_enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(requests_side_by_side_end_with_the_patience, scratch_enter,
						scratch_leave),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
