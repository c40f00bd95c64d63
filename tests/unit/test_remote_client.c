/* Tests of src/remote/remote_client.c, and of messages of src/remote/remote_message.c that signals interrupt. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "remote/remote_client.h"

/* ---- the client ------------------------------------------------------------------------------------------- */

/* A client whose recorder is this test, by `other`. */
static struct remote_client client;
static int other;

static int begin(void **state)
{
	const struct timeval patience = {.tv_usec = 1000};
	int ends[2];

	(void)state;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ||
	    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0)
		return -1;
	client = REMOTE_CLIENT;
	client.socket = ends[0];
	other = ends[1];
	return 0;
}

static int end(void **state)
{
	(void)state;
	remote_client_close(&client);
	close(other);
	return 0;
}

static void put_answer(int64_t result, const char *text)
{
	const struct remote_message answer = {
		.what = result, .first = 3, .count = 4, .payload_bytes = strlen(text)};

	assert_int_equal(remote_send(other, &answer, text), 0);
}

/* Returns the result of a question without a payload. */
static int64_t ask(struct remote_message *message)
{
	*message = (struct remote_message){.what = REMOTE_WARNING, .first = 1, .count = 2};
	return remote_client_ask(&client, message, NULL);
}

static void an_answer_is_its_result_its_numbers_and_its_text(void **state)
{
	CLEANUP_BUFFER struct buffer payload = BUFFER(100);
	struct remote_message message = {.what = REMOTE_VALUE, .first = 1, .count = 2, .payload_bytes = 4};
	struct remote_message asked;

	(void)state;
	put_answer(5, "text");
	assert_int_equal(remote_client_ask(&client, &message, "name"), 5);
	assert_true(message.what == 5 && message.first == 3 && message.count == 4);
	assert_string_equal(client.answer.data, "text");
	assert_int_equal(remote_receive(other, &asked, &payload), 0);
	assert_true(asked.what == REMOTE_VALUE && asked.first == 1 && asked.count == 2);
	assert_string_equal(payload.data, "name");
	/* 0 and a refusal are results, too. The next question replaces the text. */
	put_answer(0, "");
	assert_int_equal(ask(&message), 0);
	assert_int_equal(client.answer.length, 0);
	put_answer(-ENOENT, "");
	assert_int_equal(ask(&message), -ENOENT);
	assert_false(client.broken);
}

/* A late answer would be taken for that of the next question. */
static void after_no_answer_in_time_nothing_is_asked_any_more(void **state)
{
	struct remote_message message;

	(void)state;
	assert_int_equal(ask(&message), -ETIMEDOUT);
	assert_true(client.broken);
	put_answer(1, "");
	assert_int_equal(ask(&message), -EPIPE);
	/* The first question alone has arrived. */
	assert_int_equal(recv(other, &message, sizeof message, MSG_DONTWAIT), sizeof message);
	assert_int_equal(recv(other, &message, sizeof message, MSG_DONTWAIT), -1);
}

static void a_question_that_cannot_be_sent_is_the_last_one(void **state)
{
	struct remote_message message;

	(void)state;
	put_answer(1, "");
	assert_int_equal(shutdown(client.socket, SHUT_WR), 0);
	assert_int_equal(ask(&message), -EPIPE);
	assert_true(client.broken);
	assert_int_equal(ask(&message), -EPIPE);
}

static void the_answer_has_a_most(void **state)
{
	static const char bytes[101];
	const struct remote_message answer = {.what = 1, .payload_bytes = sizeof bytes};
	struct remote_message message;

	(void)state;
	client.answer.ceiling = 100;
	assert_int_equal(remote_send(other, &answer, bytes), 0);
	assert_int_equal(ask(&message), -EMSGSIZE);
	assert_true(client.broken);
}

static void a_closed_client_closes_no_other_descriptor(void **state)
{
	int number = client.socket;

	(void)state;
	remote_client_close(&client);
	assert_int_equal(client.socket, -1);
	/* Another file has its number by now. */
	assert_int_equal(dup2(other, number), number);
	remote_client_close(&client);
	assert_int_equal(close(number), 0);
}

static void a_closed_client_lets_its_recorder_go(void **state)
{
	char byte;

	(void)state;
	remote_client_close(&client);
	assert_int_equal(recv(other, &byte, 1, MSG_DONTWAIT), 0);
}

static void a_text_of_one_byte_arrives(void **state)
{
	struct remote_message message;

	(void)state;
	put_answer(1, "x");
	assert_int_equal(ask(&message), 1);
	assert_string_equal(client.answer.data, "x");
}

static int64_t patience_of(int option)
{
	struct timeval patience;
	socklen_t length = sizeof patience;

	assert_int_equal(getsockopt(client.socket, SOL_SOCKET, option, &patience, &length), 0);
	return patience.tv_sec;
}

static void a_recorder_has_20_s_for_an_answer(void **state)
{
	char helper[4096];

	(void)state;
	if (is_emulated())
		SKIP("an emulator starts no program of its machine");
	remote_client_close(&client);
	snprintf(helper, sizeof helper, "%s/resource-tracker-helper", getenv("TEST_BUILD"));
	setenv("TRACKER_HELPER", helper, 1);
	assert_int_equal(remote_client_start(&client, NULL), 0);
	assert_int_equal(patience_of(SO_RCVTIMEO), 20);
	assert_int_equal(patience_of(SO_SNDTIMEO), 20);
	remote_client_close(&client);
	setenv("TRACKER_HELPER", "/nonexistent", 1);
	assert_true(remote_client_start(&client, NULL) < 0);
}

/* ---- signals ---------------------------------------------------------------------------------------------- */

enum { LONG = 3000000, SIGNALS = 20 };

static volatile sig_atomic_t signals;

/* Each signal asks for the next one, so that a slow machine does more than take signals. */
static void ask_for_signal(void)
{
	const struct itimerval next = {.it_value = {.tv_usec = 2000}};

	setitimer(ITIMER_REAL, &next, NULL);
}

/* The other end does its part after many signals, so that the first ones interrupt the call that waits for it. */
static void read_late(int number)
{
	static char bytes[65536];
	int before = errno;

	(void)number;
	if (++signals >= SIGNALS)
		while (recv(other, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
			continue;
	ask_for_signal();
	errno = before;
}

static void write_late(int number)
{
	static const struct remote_message answer = {.what = 7, .payload_bytes = 2};
	int before = errno;

	(void)number;
	signals++;
	if (signals == SIGNALS)
		(void)!write(other, &answer, sizeof answer);
	if (signals == 2 * SIGNALS)
		(void)!write(other, "ab", 2);
	ask_for_signal();
	errno = before;
}

static void begin_signals(void (*handler)(int number))
{
	const struct sigaction action = {.sa_handler = handler};
	const struct timeval patience = {.tv_sec = 60};

	signals = 0;
	assert_int_equal(setsockopt(client.socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	ask_for_signal();
}

static void end_signals(void)
{
	const struct itimerval none = {{0, 0}, {0, 0}};

	/* One that is asked for by then is ignored. */
	signal(SIGALRM, SIG_IGN);
	assert_int_equal(setitimer(ITIMER_REAL, &none, NULL), 0);
}

static void a_signal_ends_no_wait_for_a_message(void **state)
{
	CLEANUP_BUFFER struct buffer payload = BUFFER(100);
	struct remote_message message;
	int error;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	begin_signals(write_late);
	error = remote_receive(client.socket, &message, &payload);
	end_signals();
	assert_int_equal(error, 0);
	assert_int_equal(message.what, 7);
	assert_string_equal(payload.data, "ab");
}

static void a_signal_ends_no_message_that_is_sent(void **state)
{
	const struct remote_message message = {.payload_bytes = LONG};
	char *bytes;
	int error;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	bytes = calloc(1, LONG);
	assert_non_null(bytes);
	begin_signals(read_late);
	error = remote_send(client.socket, &message, bytes);
	end_signals();
	assert_int_equal(error, 0);
	free(bytes);
}

static void other_errors_are_those_of_the_kernel(void **state)
{
	CLEANUP_BUFFER struct buffer payload = BUFFER(100);
	struct remote_message message = {.payload_bytes = 1};

	(void)state;
	assert_int_equal(remote_send(-1, &message, "a"), -EBADF);
	assert_int_equal(remote_receive(-1, &message, &payload), -EBADF);
}

#define unit_test_of_client(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_client(an_answer_is_its_result_its_numbers_and_its_text),
		unit_test_of_client(after_no_answer_in_time_nothing_is_asked_any_more),
		unit_test_of_client(a_question_that_cannot_be_sent_is_the_last_one),
		unit_test_of_client(the_answer_has_a_most),
		unit_test_of_client(a_closed_client_closes_no_other_descriptor),
		unit_test_of_client(a_closed_client_lets_its_recorder_go),
		unit_test_of_client(a_text_of_one_byte_arrives),
		unit_test_of_client(a_recorder_has_20_s_for_an_answer),
		unit_test_of_client(a_signal_ends_no_wait_for_a_message),
		unit_test_of_client(a_signal_ends_no_message_that_is_sent),
		unit_test_of_client(other_errors_are_those_of_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
