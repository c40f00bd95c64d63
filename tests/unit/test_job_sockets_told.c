/* Tests of src/job/network/job_sockets.c: which bytes are the job's, in tables that this test makes up. */
#include "told_sockets.h"

/* ---- which figures ----------------------------------------------------------------------------------------- */

static void a_total_has_each_connection_of_the_job_above_its_base(void **state)
{
	static const struct {
		struct job_socket socket;
		int64_t received, sent, retransmits, count;
		int reason;
	} CASES[] = {
		{{.is_held = true, .socket = {9, 1, 0, 2, 1, {0}, 30, 20, 3}, .base = {10, 5, 1}},
		 20,
		 15,
		 2,
		 1,
		 0},
		/* Its base may be later than its figures. */
		{{.is_held = true, .socket = {9, 1, 0, 2, 1, {0}, 30, 20, 3}, .base = {31, 21, 4}},
		 0,
		 0,
		 0,
		 1,
		 0},
		{{.is_held = true, .socket = {9, 1, 0, 2, 1, {0}, 1, 0, 0}}, 1, 0, 0, 1, 0},
		{{.is_held = true, .socket = {9, 1, 0, 2, 1, {0}, 0, 1, 0}}, 0, 1, 0, 1, 0},
		/* Only the tracker has it. */
		{{.socket = {9, 1, 0, 2, 1, {0}, 30, 20, 3}}, 0, 0, 0, 0, 0},
		{{.socket = {9, 1, 0, 2, 1, {0}, -1, -1, -1}}, 0, 0, 0, 0, 0},
		/* It is not in the kernel's table, listens, or has transferred nothing. */
		{{.is_held = true, .socket = {0, 1, 0, 2, 1, {0}, 30, 20, 3}}, 0, 0, 0, 0, 0},
		{{.is_held = true, .socket = {9, 1, 0, 2, 10, {0}, 30, 20, 3}}, 0, 0, 0, 0, 0},
		{{.is_held = true, .socket = {9, 1, 0, 2, 1, {0}, 0, 0, 0}}, 0, 0, 0, 0, 0},
		{{.is_held = true, .has_ended = true, .socket = {9, 1, 0, 2, 1, {0}, 30, 20, 3}},
		 0,
		 0,
		 0,
		 0,
		 0},
		/* Linux before 4.1 counts no bytes of a connection. Only an established one has some. */
		{{.is_held = true, .socket = {9, 1, 0, 2, 1, {0}, -1, -1, -1}},
		 0,
		 0,
		 0,
		 0,
		 ABSENT_NO_SUCH_COUNTER},
		{{.is_held = true, .socket = {9, 1, 0, 2, 2, {0}, -1, -1, -1}}, 0, 0, 0, 0, 0},
		{{.is_held = true, .socket = {9, 1, 0, 2, 10, {0}, -1, -1, -1}}, 0, 0, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct job_socket one = CASES[i].socket;
		struct job_sockets made = {.sockets = &one, .count = 1, .has_begun = true};

		job_sockets_total(&made, &traffic);
		expect_known(CASES[i].received, CASES[i].sent, CASES[i].count);
		assert_int_equal(traffic.known.retransmits, CASES[i].retransmits);
		assert_int_equal(traffic.open_count, CASES[i].count);
		assert_int_equal(traffic.reason, CASES[i].reason);
	}
}

static void the_gravest_reason_is_told(void **state)
{
	struct job_socket one = {.is_held = true, .socket = connection(1, 10, 10)};
	struct job_sockets made = {.sockets = &one};

	(void)state;
	made.has_datagrams = made.holders.denied = true;
	made.error = EPERM;
	job_sockets_total(&made, &traffic);
	assert_int_equal(traffic.reason, EPERM);
	made.error = 0;
	job_sockets_total(&made, &traffic);
	assert_int_equal(traffic.reason, ABSENT_NOT_YET);
	made.has_begun = true;
	job_sockets_total(&made, &traffic);
	assert_int_equal(traffic.reason, EACCES);
	/* The kernel can select what descriptors do not show. */
	made.is_selected = true;
	job_sockets_total(&made, &traffic);
	assert_int_equal(traffic.reason, ABSENT_NO_SUCH_COUNTER);
	assert_true(traffic.has_bound);
	made.is_selected = false;
	made.count = 1;
	job_sockets_total(&made, &traffic);
	assert_int_equal(traffic.reason, 0);
	assert_false(traffic.has_bound);
	made.holders.denied = false;
	for (int lost = 0; lost < 3; lost++) {
		made.lost_ends = lost == 0;
		made.lost_tails = lost == 1;
		made.overflowed = lost == 2;
		job_sockets_total(&made, &traffic);
		assert_false(traffic.has_bound);
	}
}

static void counters_never_go_down(void **state)
{
	(void)state;
	open_sockets(false);
	put_held(connection(1, 0, 0));
	look(false);
	in_table[0].received = 100;
	in_table[0].sent = 50;
	in_table[0].retransmits = 2;
	look(false);
	expect_known(100, 50, 1);
	in_table[0].received = in_table[0].sent = in_table[0].retransmits = 1;
	look(false);
	expect_known(100, 50, 1);
	assert_int_equal(traffic.known.retransmits, 2);
	/* The last notification of a kernel that tells no figures then. */
	table_count = held_count = 0;
	tell_end(connection(1, -1, -1));
	look(false);
	expect_known(100, 50, 1);
	assert_int_equal(traffic.open_count, 0);
}

static void a_base_is_never_below_zero(void **state)
{
	(void)state;
	open_sockets(true);
	put_held(server(1));
	put_held(connection(2, 40, 30));
	look(false);
	assert_int_equal(sockets.sockets[0].base.received, 0);
	assert_int_equal(sockets.sockets[0].base.sent, 0);
	assert_int_equal(sockets.sockets[0].base.retransmits, 0);
	assert_int_equal(sockets.sockets[1].base.received, 40);
	assert_int_equal(sockets.sockets[1].base.sent, 30);
	assert_int_equal(sockets.sockets[1].base.retransmits, 0);
	expect_known(0, 0, 1);
}

/* ---- ends -------------------------------------------------------------------------------------------------- */

static void an_end_counts_once(void **state)
{
	(void)state;
	open_sockets(false);
	put_held(connection(1, 0, 0));
	put_held(connection(2, 0, 0));
	look(false);
	table_count = held_count = 0;
	tell_end(connection(1, 7, 8));
	tell_end(connection(1, 7, 8));
	tell_end(connection(2, 0, 0));
	look(false);
	expect_known(7, 8, 1);
	expect_unattributed(0, 0, 0);
	assert_int_equal(sockets.count, 0);
	assert_int_equal(sockets.notified_count, 3);
	assert_true(traffic.has_bound);
}

static void an_unseen_end_counts_if_bytes_were_transferred(void **state)
{
	(void)state;
	put(connection(4, 5, 5));
	open_sockets(false);
	look(false);
	tell_end(connection(4, 90, 90));
	tell_end(connection(1, 0, 0));
	look(false);
	expect_unattributed(0, 0, 0);
	tell_end(connection(2, 3, 0));
	look(false);
	expect_unattributed(3, 0, 1);
	tell_end(connection(3, 0, 4));
	look(false);
	expect_unattributed(3, 4, 2);
	expect_known(0, 0, 0);
}

static void a_connection_is_the_jobs_if_its_server_is(void **state)
{
	struct diag_socket accepted = connection(PORT, 6, 5);

	(void)state;
	put_held(server(1));
	for (int attached = 0; attached < 2; attached++) {
		open_sockets(attached);
		look(false);
		tell_end(accepted);
		look(false);
		expect_known(attached ? 0 : 6, attached ? 0 : 5, !attached);
		expect_unattributed(attached ? 6 : 0, attached ? 5 : 0, attached);
		close_sockets();
	}
	/* No member holds this server, or the socket is a connection. */
	for (int listens = 0; listens < 2; listens++) {
		open_sockets(false);
		look(false);
		sockets.sockets[0].is_held = !listens;
		sockets.sockets[0].socket.state = listens ? TCP_LISTEN_STATE : TCP_ESTABLISHED_STATE;
		held_count = table_count = 0;
		tell_end(accepted);
		look(false);
		expect_known(0, 0, 0);
		expect_unattributed(6, 5, 1);
		if (listens)
			continue;
		close_sockets();
		put_held(server(1));
	}
}

static void an_ended_server_accepts_nothing_more(void **state)
{
	(void)state;
	put_held(server(1));
	open_sockets(false);
	look(false);
	held_count = table_count = 0;
	/* The kernel tells no state of a server with its end. */
	tell_end((struct diag_socket){.cookie = 1, .state = TCP_TIME_WAIT_STATE, .id = {PORT}});
	tell_end(connection(PORT, 6, 5));
	look(false);
	expect_known(0, 0, 0);
	expect_unattributed(6, 5, 1);
}

/* One that was there before the job is not from its server, though it may have the same port. */
static void of_connections_in_the_table_new_ones_from_the_jobs_server_are_the_jobs(void **state)
{
	struct diag_socket other_server = server(3);

	(void)state;
	put(connection(PORT, 9, 9));
	put_held(server(1));
	open_sockets(false);
	look(false);
	expect_known(0, 0, 0);
	/* The table is listed for a socket that has not been in it. */
	put_held(connection(2, 1, 1));
	put(other_server);
	put(connection(4, 9, 9));
	put(connection(5, 4, 2));
	in_table[5].id[0] = PORT;
	look(false);
	expect_known(5, 3, 2);
	assert_int_equal(sockets.count, 3);
}

static void without_a_group_no_group_is_the_jobs(void **state)
{
	(void)state;
	open_sockets(false);
	look(false);
	put(connection(1, 9, 9));
	put_held(connection(2, 1, 1));
	look(false);
	expect_known(1, 1, 1);
	assert_int_equal(group_dumps, 0);
}

/* ---- the group --------------------------------------------------------------------------------------------- */

static void begin_in_group(void)
{
	tree.cgroup_folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(tree.cgroup_folder >= 0);
	open_sockets(false);
	look(false);
	assert_int_equal(close(tree.cgroup_folder), 0);
	assert_true(sockets.cgroup_id && sockets.is_selected);
}

static void connections_of_the_jobs_group_are_the_jobs(void **state)
{
	(void)state;
	begin_in_group();
	put(connection(1, 4, 2));
	put(connection(2, 9, 9));
	in_table[0].cgroup_id = sockets.cgroup_id;
	in_table[1].cgroup_id = sockets.cgroup_id + 1;
	tree.changed_ns = INT64_MAX;
	clock_ns += 9 * NSEC_PER_SEC;
	look(false);
	expect_known(4, 2, 1);
	assert_int_equal(group_dumps, 1);
	/* The whole table was listed at the beginning alone. */
	assert_int_equal(dumps, 1);
	/* A socket that was handed over is listed with its group first, and then with the whole table. */
	put_held(connection(3, 1, 1));
	look(false);
	assert_int_equal(group_dumps, 2);
	look(false);
	expect_known(5, 3, 2);
	assert_int_equal(dumps, 2);
}

static void a_kernel_that_cannot_select_lists_the_whole_table(void **state)
{
	(void)state;
	begin_in_group();
	group_error = -EINVAL;
	put_held(connection(1, 4, 2));
	look(false);
	assert_int_equal(group_dumps, 1);
	assert_false(sockets.is_selected);
	expect_known(4, 2, 1);
	clock_ns += 20 * NSEC_PER_SEC;
	look(false);
	assert_int_equal(group_dumps, 1);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_told(a_total_has_each_connection_of_the_job_above_its_base),
		unit_test_told(the_gravest_reason_is_told),
		unit_test_told(counters_never_go_down),
		unit_test_told(a_base_is_never_below_zero),
		unit_test_told(an_end_counts_once),
		unit_test_told(an_unseen_end_counts_if_bytes_were_transferred),
		unit_test_told(a_connection_is_the_jobs_if_its_server_is),
		unit_test_told(an_ended_server_accepts_nothing_more),
		unit_test_told(of_connections_in_the_table_new_ones_from_the_jobs_server_are_the_jobs),
		unit_test_told(without_a_group_no_group_is_the_jobs),
		unit_test_told(connections_of_the_jobs_group_are_the_jobs),
		unit_test_told(a_kernel_that_cannot_select_lists_the_whole_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
