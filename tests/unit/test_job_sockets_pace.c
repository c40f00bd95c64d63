/* Tests of src/job/network/job_sockets.c: when it works, handed-over connections, and ends that were not told. */
#include "own_network.h"

#include <linux/filter.h>
#include <netinet/tcp.h>

#include "job/network/network_tuning.h"

/* Looks at a time that the test chooses, so many nanoseconds after the last look. */
static void look_after(int64_t ns)
{
	static int64_t now_ns;

	if (!stopped_ns)
		now_ns = later_ns(NULL);
	now_ns += ns;
	stopped_ns = now_ns;
	job_sockets_update(&sockets, &tree, false);
	job_sockets_total(&sockets, &traffic);
}

static void an_unconnected_socket_is_tried_less_and_less_often(void **state)
{
	static const int SECS_10[] = {1, 2, 4, 8, 16, 32, 64, 128, 160, 160};
	int64_t dumped_ns;

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	look_after(60 * NSEC_PER_SEC);
	for (size_t i = 0; i < sizeof SECS_10 / sizeof *SECS_10; i++) {
		int64_t pause_ns = SECS_10[i] * NSEC_PER_SEC / 10;

		assert_int_equal(sockets.try_pause_ns, pause_ns);
		dumped_ns = sockets.dumped_ns;
		look_after(pause_ns - 1);
		assert_int_equal(sockets.dumped_ns, dumped_ns);
		/* Its allowance never ends in this test. */
		sockets.for_dumps.left_ns = NSEC_PER_SEC;
		look_after(1);
		assert_int_equal(sockets.dumped_ns, dumped_ns + pause_ns);
	}
	/* It is known from the first dump after its connection. */
	listen_here();
	assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
	server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	send_bytes();
	look_after(17 * NSEC_PER_SEC);
	assert_int_equal(sockets.try_pause_ns, 0);
	assert_int_equal(traffic.open_count, 2);
	dumped_ns = sockets.dumped_ns;
	look_after(60 * NSEC_PER_SEC);
	assert_int_equal(sockets.dumped_ns, dumped_ns);
	job_sockets_close(&sockets);
}

static void work_waits_for_its_allowance(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	look_after(60 * NSEC_PER_SEC);
	connect_both();
	sockets.for_searches.left_ns = -NSEC_PER_SEC;
	look_after(NSEC_PER_SEC);
	assert_int_equal(sockets.count, 0);
	sockets.for_searches.left_ns = NSEC_PER_SEC;
	sockets.for_dumps.left_ns = -NSEC_PER_SEC;
	look_after(NSEC_PER_SEC);
	assert_int_equal(sockets.count, 3);
	assert_int_equal(traffic.open_count, 0);
	/* A tenth of a per mille: one second of work comes back in 10,000 seconds. */
	look_after(9990 * NSEC_PER_SEC);
	assert_int_equal(traffic.open_count, 0);
	look_after(20 * NSEC_PER_SEC);
	assert_int_equal(traffic.open_count, 2);
	assert_true(sockets.for_dumps.left_ns < 2 * NSEC_PER_MSEC);
	/* Too many ends: the recorder stops hearing of them, and no bound is known from then on. */
	assert_true(traffic.has_bound);
	sockets.for_ends.left_ns = -NSEC_PER_SEC;
	assert_true(job_sockets_attend(&sockets, stopped_ns) > stopped_ns);
	assert_int_equal(job_sockets_attend(&sockets, stopped_ns), INT64_MAX);
	look_after(NSEC_PER_SEC);
	assert_false(traffic.has_bound);
	assert_int_equal(traffic.reason, 0);
	job_sockets_close(&sockets);
}

static void a_look_pays_for_its_work(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	look_after(60 * NSEC_PER_SEC);
	assert_true(sockets.for_searches.left_ns < SEARCHES_SAVED_NS);
	assert_true(sockets.for_dumps.left_ns < DUMPS_SAVED_NS);
	assert_true(sockets.for_ends.left_ns < ENDS_SAVED_NS);
	job_sockets_close(&sockets);
}

/* An end that was not told may hide a new socket. */
static void without_all_ends_each_look_searches(void **state)
{
	size_t searches;

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	sockets.lost_ends = true;
	look_after(NSEC_PER_SEC);
	searches = sockets.holders.searches;
	look_after(NSEC_PER_SEC);
	look_after(NSEC_PER_SEC);
	assert_int_equal(sockets.holders.searches, searches + 2);
	job_sockets_close(&sockets);
}

static void a_connection_that_is_handed_over_counts_from_then_on(void **state)
{
	pid_t job;

	(void)state;
	NEEDS_A_NETWORK();
	job = start_burner(0);
	add_member(job);
	connect_both();
	begin_sockets(true);
	send_bytes();
	look_later(false);
	assert_int_equal(traffic.open_count, 0);
	add_member(getpid());
	look_later(false);
	assert_int_equal(traffic.known.sent + traffic.known.received, 0);
	send_bytes();
	look_later(false);
	EXPECT_BYTES(traffic.known.sent, BYTES);
	EXPECT_BYTES(traffic.known.received, BYTES);
	assert_int_equal(traffic.open_count, 2);
	/* The server that it came with is one that others may accept from, too. */
	close_both();
	look_later(false);
	connect_both();
	close_both();
	close_end(&listener);
	await_unseen_ends();
	assert_int_equal(traffic.unattributed_count, 2);
	look_later(true);
	EXPECT_BYTES(traffic.known.sent, BYTES);
	assert_int_equal(traffic.count, 2);
	job_sockets_close(&sockets);
	end_child(job);
}

static void others_may_accept_from_a_server_from_before_an_attachment(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	listen_here();
	begin_sockets(true);
	look_later(false);
	connect_both();
	close_both();
	close_end(&listener);
	await_unseen_ends();
	look_later(true);
	assert_int_equal(traffic.unattributed_count, 2);
	assert_int_equal(traffic.count, 0);
	job_sockets_close(&sockets);
}

/* Its own group tells whose a connection is, though no member of the tree is seen to hold it. */
static void connections_made_in_the_jobs_group_are_the_jobs(void **state)
{
	uint64_t group = 0;
	pid_t job;

	(void)state;
	NEEDS_A_NETWORK();
	job = start_burner(0);
	connect_both();
	add_member(getpid());
	begin_sockets(false);
	for (size_t i = 0; i < sockets.count; i++)
		group = group ? group : sockets.sockets[i].socket.cgroup_id;
	job_sockets_close(&sockets);
	if (!group) {
		end_child(job);
		SKIP("the kernel does not tell the group of a socket");
	}
	close_end(&client);
	close_end(&server);
	tree.members[0].pid = job;
	begin_sockets(false);
	sockets.cgroup_id = group;
	sockets.is_selected = true;
	look_after(60 * NSEC_PER_SEC);
	connect_both();
	/* A group that did not run made nothing. */
	tree.changed_ns = sockets.dumped_ns - 1;
	look_after(60 * NSEC_PER_SEC);
	assert_int_equal(traffic.open_count, 0);
	tree.changed_ns = stopped_ns;
	look_after(0);
	assert_int_equal(traffic.open_count, 2);
	EXPECT_BYTES(traffic.known.sent, BYTES);
	/* Every 10 s, or every 2 s if descriptors are denied. */
	sockets.for_dumps.left_ns = NSEC_PER_SEC;
	for (int denied = 0; denied < 2; denied++) {
		int64_t every_ns = (denied ? 2 : 10) * NSEC_PER_SEC, dumped_ns = sockets.dumped_ns;

		sockets.holders.denied = denied;
		tree.changed_ns = INT64_MAX;
		look_after(every_ns - 1);
		assert_int_equal(sockets.dumped_ns, dumped_ns);
		look_after(1);
		assert_int_equal(sockets.dumped_ns, dumped_ns + every_ns);
	}
	/* Denied descriptors hide nothing then. */
	assert_true(traffic.has_bound);
	assert_int_equal(traffic.reason, 0);
	job_sockets_close(&sockets);
	end_child(job);
}

/* Takes the notifications of ends away. Fences of an earlier test may end as well, which have sent nothing. */
static void ignore_end(void *times, const struct diag_socket *last)
{
	if (last->sent > 0 || last->received > 0)
		++*(int *)times;
}

/* Ends the connection, and takes both notifications away. */
static void end_untold(void)
{
	int ends = 0;

	close_end(&client);
	close_end(&server);
	for (int i = 0; i < 1000 && ends < 2; i++) {
		(void)sock_diag_wait(sockets.ended_fd, 10);
		assert_true(sock_diag_take_ended(sockets.ended_fd, ignore_end, &ends) >= 0);
	}
	assert_int_equal(ends, 2);
}

static void an_end_that_the_kernel_did_not_tell_loses_the_last_bytes(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	connect_both();
	look_later(false);
	assert_int_equal(traffic.open_count, 2);
	send_bytes();
	end_untold();
	/* It may still be told at the next two looks. */
	look_later(false);
	look_later(false);
	assert_int_equal(traffic.open_count, 2);
	assert_true(traffic.has_bound);
	look_later(false);
	assert_int_equal(traffic.open_count, 0);
	assert_int_equal(traffic.count, 2);
	assert_false(traffic.has_bound);
	EXPECT_BYTES(traffic.known.sent, BYTES);
	job_sockets_close(&sockets);
}

/* The last look waits for a moment, and then takes the last bytes for lost. */
static void an_end_that_is_not_told_at_the_end_of_the_run_leaves_no_bound(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	connect_both();
	look_later(false);
	end_untold();
	look_later(true);
	assert_int_equal(traffic.count, 2);
	EXPECT_BYTES(traffic.known.sent, BYTES);
	assert_false(traffic.has_bound);
	job_sockets_close(&sockets);
}

/* It waits for half a second. */
static void ends_that_the_kernel_does_not_tell_in_time_leave_no_bound(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	connect_both();
	look_later(false);
	close(sockets.ended_fd);
	/* This one hears of no end. */
	sockets.ended_fd = sock_diag_open();
	assert_true(sockets.ended_fd >= 0);
	assert_true(traffic.has_bound);
	leap_ns = 100 * NSEC_PER_MSEC;
	look_later(true);
	leap_ns = 0;
	assert_int_equal(traffic.open_count, 2);
	assert_false(traffic.has_bound);
	assert_null(sockets.fences);
	job_sockets_close(&sockets);
}

static void without_notifications_a_gap_is_known_at_once(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	close(sockets.ended_fd);
	sockets.ended_fd = -1;
	connect_both();
	look_later(false);
	assert_true(traffic.has_bound);
	close_both();
	look_later(false);
	assert_int_equal(traffic.open_count, 0);
	assert_int_equal(traffic.count, 2);
	assert_false(traffic.has_bound);
	EXPECT_BYTES(traffic.known.sent, BYTES);
	job_sockets_close(&sockets);
}

static void others_stay_when_one_connection_ends(void **state)
{
	int first, first_server;

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	connect_both();
	first = client;
	first_server = server;
	connect_both();
	look_later(false);
	assert_int_equal(traffic.open_count, 4);
	assert_int_equal(close(first) | close(first_server), 0);
	for (int i = 0; i < 1000 && traffic.open_count > 2; i++) {
		(void)sock_diag_wait(sockets.ended_fd, 10);
		look_later(false);
	}
	assert_int_equal(traffic.open_count, 2);
	assert_int_equal(sockets.count, 3);
	send_bytes();
	look_later(false);
	assert_int_equal(sockets.count, 3);
	EXPECT_BYTES(traffic.known.sent, 3 * BYTES);
	EXPECT_BYTES(traffic.known.received, 3 * BYTES);
	close_both();
	close_end(&listener);
	look_later(true);
	assert_int_equal(traffic.count, 4);
	EXPECT_BYTES(traffic.known.sent, 3 * BYTES);
	job_sockets_close(&sockets);
}

enum { PAIRS = 20 };

/* Two ends each, of which a look asks for 32. The last look asks for all. */
static void many_connections_are_asked_in_turn(void **state)
{
	int clients[PAIRS], servers[PAIRS];

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	for (int i = 0; i < PAIRS; i++) {
		connect_both();
		clients[i] = client;
		servers[i] = server;
	}
	look_later(false);
	assert_int_equal(traffic.open_count, 2 * PAIRS);
	for (int last = 0; last < 2; last++) {
		struct traffic_count before = traffic.known;

		for (int i = 0; i < PAIRS; i++) {
			client = clients[i];
			server = servers[i];
			send_bytes();
		}
		look_later(last);
		/* The client has sent them, and the server has received them. */
		assert_int_equal(traffic.known.sent + traffic.known.received - before.sent - before.received,
				 (last ? 40 : 32) * BYTES);
		look_later(false);
		assert_int_equal(traffic.known.sent - before.sent, PAIRS * BYTES);
		assert_int_equal(traffic.known.received - before.received, PAIRS * BYTES);
	}
	for (int i = 0; i < PAIRS; i++)
		assert_int_equal(close(clients[i]) | close(servers[i]), 0);
	client = server = -1;
	job_sockets_close(&sockets);
}

/* The server drops the first packet of each client. */
static void an_attempt_to_connect_is_not_a_connection(void **state)
{
	struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = {1, &drop};

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	listen_here();
	assert_int_equal(setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program), 0);
	client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), -1);
	assert_int_equal(errno, EINPROGRESS);
	look_later(false);
	assert_int_equal(sockets.count, 2);
	assert_int_equal(traffic.open_count, 0);
	close_end(&client);
	look_later(false);
	assert_int_equal(traffic.count, 0);
	job_sockets_close(&sockets);
}

/* The server's end drops what comes for a while. */
static void bytes_that_were_sent_again_are_told(void **state)
{
	struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = {1, &drop};
	struct tcp_info info = {0};
	socklen_t length = sizeof info;
	int none = 0;

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	connect_both();
	assert_int_equal(setsockopt(server, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program), 0);
	assert_int_equal(send(client, "x", 1, 0), 1);
	for (int i = 0; i < 1000 && !info.tcpi_total_retrans; i++) {
		usleep(10000);
		assert_int_equal(getsockopt(client, IPPROTO_TCP, TCP_INFO, &info, &length), 0);
	}
	assert_int_equal(setsockopt(server, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof none), 0);
	assert_true(info.tcpi_total_retrans > 0);
	assert_int_equal(recv(server, &none, 1, MSG_WAITALL), 1);
	assert_int_equal(getsockopt(client, IPPROTO_TCP, TCP_INFO, &info, &length), 0);
	look_later(false);
	assert_int_equal(traffic.known.retransmits, info.tcpi_total_retrans);
	close_both();
	look_later(true);
	assert_int_equal(traffic.known.retransmits, info.tcpi_total_retrans);
	job_sockets_close(&sockets);
}

static void a_quarter_of_the_room_is_left_until_the_next_look(void **state)
{
	static const struct {
		int64_t room, pause_ns;
	} CASES[] = {{800, NSEC_PER_SEC / 2}, {1, 10 * NSEC_PER_MSEC}, {1000000, NSEC_PER_SEC}};
	int64_t now_ns;

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	/* 400 ends a second are expected at least. */
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		sockets.room = CASES[i].room;
		now_ns = later_ns(NULL);
		assert_int_equal(job_sockets_attend(&sockets, now_ns), now_ns + CASES[i].pause_ns);
	}
	/* N ends in 1 ms are N * 1000 a second. */
	connect_both();
	look_later(false);
	close_both();
	sockets.notified_count = 0;
	now_ns = later_ns(NULL);
	sockets.taken_ns = now_ns - NSEC_PER_MSEC;
	sockets.room = 2000;
	now_ns = job_sockets_attend(&sockets, now_ns) - now_ns;
	assert_true(sockets.notified_count > 0);
	assert_int_equal(now_ns, NSEC_PER_SEC / 2 / sockets.notified_count);
	job_sockets_close(&sockets);
}

static void hidden_connections_are_unknown(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	look_later(false);
	assert_true(traffic.has_bound);
	sockets.holders.denied = true;
	look_later(false);
	assert_int_equal(traffic.reason, EACCES);
	assert_false(traffic.has_bound);
	/* A connection that is seen is known. */
	connect_both();
	look_later(false);
	assert_int_equal(traffic.reason, 0);
	assert_false(traffic.has_bound);
	sockets.holders.denied = false;
	job_sockets_total(&sockets, &traffic);
	assert_true(traffic.has_bound);
	sockets.overflowed = true;
	job_sockets_total(&sockets, &traffic);
	assert_false(traffic.has_bound);
	job_sockets_close(&sockets);
}

/* More sockets than the table holds are not followed, and no bound is known. */
static void sockets_that_find_no_place_leave_no_bound(void **state)
{
	int first, first_server;

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	free(sockets.sockets);
	sockets.sockets = calloc(SOCKETS_MOST, sizeof *sockets.sockets);
	assert_non_null(sockets.sockets);
	sockets.capacity = SOCKETS_MOST;
	sockets.count = SOCKETS_MOST - 3;
	connect_both();
	look_later(false);
	assert_int_equal(sockets.count, SOCKETS_MOST);
	assert_int_equal(traffic.open_count, 2);
	assert_true(traffic.has_bound);
	first = client;
	first_server = server;
	connect_both();
	look_later(false);
	assert_int_equal(sockets.count, SOCKETS_MOST);
	assert_int_equal(traffic.open_count, 2);
	assert_false(traffic.has_bound);
	job_sockets_close(&sockets);
	assert_int_equal(close(first) | close(first_server), 0);
}

/* The kernel has room for few notifications here, and says once that it dropped some. */
static void ends_that_found_no_room_leave_no_bound(void **state)
{
	const int least = 1;

	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	begin_sockets(false);
	assert_int_equal(setsockopt(sockets.ended_fd, SOL_SOCKET, SO_RCVBUF, &least, sizeof least), 0);
	for (int i = 0; i < 8; i++) {
		connect_both();
		close_end(&client);
		close_end(&server);
	}
	for (int i = 0; i < 1000 && !sockets.lost_ends; i++) {
		usleep(1000);
		(void)job_sockets_attend(&sockets, root_monotonic_ns(&root));
	}
	job_sockets_total(&sockets, &traffic);
	assert_false(traffic.has_bound);
	assert_int_equal(traffic.reason, 0);
	job_sockets_close(&sockets);
}

/* The last look is the first. */
static void a_first_look_at_the_end_finds_open_connections(void **state)
{
	(void)state;
	NEEDS_A_NETWORK();
	add_member(getpid());
	job_sockets_open(&sockets, &root, false);
	if (sockets.ended_fd < 0)
		SKIP("the kernel has no sock_diag for this user");
	connect_both();
	look_later(true);
	assert_int_equal(traffic.open_count, 2);
	EXPECT_BYTES(traffic.known.sent, BYTES);
	assert_int_equal(traffic.reason, 0);
	job_sockets_close(&sockets);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_machine(an_unconnected_socket_is_tried_less_and_less_often),
		unit_test_of_machine(work_waits_for_its_allowance),
		unit_test_of_machine(a_look_pays_for_its_work),
		unit_test_of_machine(without_all_ends_each_look_searches),
		unit_test_of_machine(a_connection_that_is_handed_over_counts_from_then_on),
		unit_test_of_machine(others_may_accept_from_a_server_from_before_an_attachment),
		unit_test_of_machine(connections_made_in_the_jobs_group_are_the_jobs),
		unit_test_of_machine(an_end_that_the_kernel_did_not_tell_loses_the_last_bytes),
		unit_test_of_machine(an_end_that_is_not_told_at_the_end_of_the_run_leaves_no_bound),
		unit_test_of_machine(ends_that_the_kernel_does_not_tell_in_time_leave_no_bound),
		unit_test_of_machine(without_notifications_a_gap_is_known_at_once),
		unit_test_of_machine(others_stay_when_one_connection_ends),
		unit_test_of_machine(many_connections_are_asked_in_turn),
		unit_test_of_machine(an_attempt_to_connect_is_not_a_connection),
		unit_test_of_machine(bytes_that_were_sent_again_are_told),
		unit_test_of_machine(a_quarter_of_the_room_is_left_until_the_next_look),
		unit_test_of_machine(hidden_connections_are_unknown),
		unit_test_of_machine(sockets_that_find_no_place_leave_no_bound),
		unit_test_of_machine(ends_that_found_no_room_leave_no_bound),
		unit_test_of_machine(a_first_look_at_the_end_finds_open_connections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
