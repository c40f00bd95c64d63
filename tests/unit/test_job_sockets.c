/* Tests of src/job/network/job_sockets.c with connections over the loopback: which bytes are the job's. */
#include "own_network.h"

#include <fcntl.h>

static void each_byte_of_both_ends_counts(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	look_later(false);
	assert_int_equal(traffic.reason, 0);
	assert_int_equal(traffic.count, 0);
	connect_both();
	look_later(false);
	assert_int_equal(traffic.reason, 0);
	assert_int_equal(traffic.open_count, 2);
	assert_int_equal(traffic.count, 2);
	EXPECT_BYTES(traffic.known.sent, BYTES);
	EXPECT_BYTES(traffic.known.received, BYTES);
	assert_int_equal(traffic.known.retransmits, 0);
	send_bytes();
	look_later(false);
	EXPECT_BYTES(traffic.known.sent, 2 * BYTES);
	EXPECT_BOUND();
	assert_false(traffic.has_datagrams);
	/* The last figures come with the ends. */
	send_bytes();
	close_both();
	look_later(true);
	assert_int_equal(traffic.open_count, 0);
	assert_int_equal(traffic.count, 2);
	EXPECT_BYTES(traffic.known.sent, 3 * BYTES);
	EXPECT_BYTES(traffic.known.received, 3 * BYTES);
	assert_int_equal(traffic.unattributed_count, 0);
	EXPECT_BOUND();
	job_sockets_close(&sockets);
}

static void a_connection_from_before_the_start_counts_from_then_on(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	for (int attached = 0; attached < 2; attached++) {
		if (attached)
			assert_int_equal(end_machine(state) | begin_machine(state), 0);
		add_member(getpid());
		connect_both();
		begin_sockets(attached);
		look_later(false);
		assert_int_equal(traffic.known.sent + traffic.known.received, 0);
		send_bytes();
		look_later(false);
		EXPECT_BYTES(traffic.known.sent, BYTES);
		EXPECT_BYTES(traffic.known.received, BYTES);
		close_both();
		look_later(true);
		EXPECT_BYTES(traffic.known.sent, BYTES);
		job_sockets_close(&sockets);
	}
}

static void a_connection_that_ended_unseen_is_a_bound(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	connect_both();
	close_both();
	close_end(&listener);
	await_unseen_ends();
	look_later(true);
	assert_int_equal(traffic.known.sent + traffic.known.received, 0);
	assert_int_equal(traffic.unattributed_count, 2);
	EXPECT_BYTES(traffic.unattributed.sent, BYTES);
	EXPECT_BYTES(traffic.unattributed.received, BYTES);
	assert_int_equal(traffic.count, 0);
	EXPECT_BOUND();
	job_sockets_close(&sockets);
}

static void connections_to_a_server_of_the_job_are_the_jobs(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	listen_here();
	look_later(false);
	connect_both();
	close_both();
	look_later(true);
	/* The client's end was never seen, and may be another program's. */
	EXPECT_BYTES(traffic.known.received, BYTES);
	assert_true(traffic.known.sent <= SLACK);
	assert_int_equal(traffic.count, 1);
	assert_int_equal(traffic.unattributed_count, 1);
	EXPECT_BYTES(traffic.unattributed.sent, BYTES);
	job_sockets_close(&sockets);
}

/* The process that accepted it may have gone, or may not be seen. */
static void an_open_connection_to_a_server_of_the_job_is_the_jobs(void **state)
{
	int unconnected;
	pid_t job;

	(void)state;
	NEEDS_A_NETWORK();
	job = start_burner(0);
	add_member(getpid());
	begin_sockets(false);
	listen_here();
	/* The table of sockets is listed until it has this one. */
	unconnected = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	look_later(false);
	tree.members[0].pid = job;
	connect_both();
	look_later(false);
	/* The client's end may be another program's. */
	assert_int_equal(traffic.open_count, 1);
	EXPECT_BYTES(traffic.known.received, BYTES);
	close(unconnected);
	job_sockets_close(&sockets);
	end_child(job);
}

/* A socket of the program in which the recorder runs, which a job may inherit. */
static void own_sockets_are_noted_once_and_only_if_they_have_figures(void **state)
{
	int again, datagrams;

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	datagrams = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	connect_both();
	again = fcntl(client, F_DUPFD_CLOEXEC, 0);
	job_sockets_open(&sockets, &root, false);
	assert_int_equal(sockets.count, 3);
	job_sockets_close(&sockets);
	assert_int_equal(close(datagrams) | close(again), 0);
}

static void connections_of_others_never_count(void **state)
{
	pid_t job;

	(void)state;
	NEEDS_A_NETWORK();
	job = start_burner(0);
	add_member(job);
	connect_both();
	begin_sockets(false);
	send_bytes();
	look_later(false);
	close_both();
	look_later(true);
	assert_int_equal(traffic.known.sent + traffic.known.received, 0);
	assert_int_equal(traffic.unattributed_count, 0);
	assert_int_equal(traffic.count, 0);
	job_sockets_close(&sockets);
	end_child(job);
}

static void datagrams_have_no_counter(void **state)
{
	int datagrams;

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	datagrams = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	look_later(false);
	assert_true(traffic.has_datagrams);
	assert_int_equal(traffic.reason, ABSENT_NO_SUCH_COUNTER);
	/* A local socket is none. With a connection, its bytes are known. */
	connect_both();
	look_later(false);
	assert_int_equal(traffic.reason, 0);
	EXPECT_BYTES(traffic.known.sent, BYTES);
	close(datagrams);
	job_sockets_close(&sockets);
}

static void local_sockets_do_not_count(void **state)
{
	int ends[2];

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends), 0);
	look_later(false);
	assert_false(traffic.has_datagrams);
	assert_int_equal(traffic.reason, 0);
	close(ends[0]);
	close(ends[1]);
	job_sockets_close(&sockets);
}

static void ends_between_samples_are_taken_in_time(void **state)
{
	int64_t now_ns, next_ns;

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	connect_both();
	look_later(false);
	close_both();
	now_ns = later_ns(NULL);
	/* The kernel frees a socket when the other end has answered. */
	for (int i = 0; i < 1000 && sockets.ended_count < 2; i++) {
		usleep(1000);
		next_ns = job_sockets_attend(&sockets, now_ns);
		assert_true(next_ns >= now_ns + 10 * NSEC_PER_MSEC && next_ns <= now_ns + NSEC_PER_SEC);
	}
	assert_int_equal(sockets.ended_count, 2);
	job_sockets_total(&sockets, &traffic);
	assert_int_equal(traffic.open_count, 0);
	EXPECT_BYTES(traffic.known.sent, BYTES);
	job_sockets_close(&sockets);
	assert_int_equal(job_sockets_attend(&sockets, now_ns), INT64_MAX);
}

static void a_job_of_a_moment_is_over_before_the_first_look(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	job_sockets_open(&sockets, &root, false);
	if (sockets.ended_fd < 0)
		SKIP("the kernel has no sock_diag for this user");
	connect_both();
	close_both();
	await_unseen_ends();
	look_later(true);
	assert_int_equal(traffic.reason, 0);
	assert_int_equal(traffic.count, 0);
	assert_int_equal(traffic.unattributed_count, 2);
	EXPECT_BOUND();
	job_sockets_close(&sockets);
}

static void high_descriptors_are_found_behind_a_gap(void **state)
{
	int high;

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	connect_both();
	/* A shell leaves its script at 255. */
	high = fcntl(client, F_DUPFD_CLOEXEC, 255);
	assert_true(high >= 255);
	close(client);
	client = high;
	begin_sockets(false);
	send_bytes();
	look_later(false);
	EXPECT_BYTES(traffic.known.sent, BYTES);
	EXPECT_BYTES(traffic.known.received, BYTES);
	job_sockets_close(&sockets);
}

static void a_server_that_listens_has_no_bytes(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	listen_here();
	look_later(false);
	assert_int_equal(traffic.open_count, 0);
	assert_int_equal(traffic.count, 0);
	assert_int_equal(traffic.reason, 0);
	connect_both();
	look_later(false);
	assert_int_equal(traffic.open_count, 2);
	/* Its end adds nothing, and the connections stay. */
	close_end(&listener);
	look_later(false);
	assert_int_equal(traffic.open_count, 2);
	send_bytes();
	look_later(false);
	EXPECT_BYTES(traffic.known.sent, 2 * BYTES);
	job_sockets_close(&sockets);
}

static void a_kernel_that_refuses_gives_the_reason(void **state)
{
	(void)state;
	job_sockets_open(&sockets, &root, false);
	sockets.error = EPERM;
	look_later(true);
	assert_int_equal(traffic.reason, EPERM);
	assert_int_equal(job_sockets_attend(&sockets, 1), INT64_MAX);
	job_sockets_close(&sockets);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_machine(each_byte_of_both_ends_counts),
		unit_test_of_machine(a_connection_from_before_the_start_counts_from_then_on),
		unit_test_of_machine(a_connection_that_ended_unseen_is_a_bound),
		unit_test_of_machine(connections_to_a_server_of_the_job_are_the_jobs),
		unit_test_of_machine(an_open_connection_to_a_server_of_the_job_is_the_jobs),
		unit_test_of_machine(own_sockets_are_noted_once_and_only_if_they_have_figures),
		unit_test_of_machine(connections_of_others_never_count),
		unit_test_of_machine(datagrams_have_no_counter),
		unit_test_of_machine(local_sockets_do_not_count),
		unit_test_of_machine(ends_between_samples_are_taken_in_time),
		unit_test_of_machine(a_job_of_a_moment_is_over_before_the_first_look),
		unit_test_of_machine(high_descriptors_are_found_behind_a_gap),
		unit_test_of_machine(a_server_that_listens_has_no_bytes),
		unit_test_of_machine(a_kernel_that_refuses_gives_the_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
