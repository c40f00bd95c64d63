/* Tests of src/job/network/job_sockets.c: the last look, errors of the kernel, and allowances, with tables that this test makes up. */
#include "told_sockets.h"

/* ---- the last look ----------------------------------------------------------------------------------------- */

static void a_job_without_a_connection_sets_no_fences(void **state)
{
	(void)state;
	for (int sign = 0; sign < 4; sign++) {
		open_sockets(false);
		look(false);
		sockets.ended_count = sign == 1;
		sockets.unattributed_count = sign == 2;
		if (sign == 3)
			put_held(server(1));
		look(true);
		assert_int_equal(fences_begun, sign);
		assert_int_equal(fences_ended, sign);
		assert_true(traffic.has_bound);
		assert_null(sockets.fences);
		close_sockets();
	}
}

static void the_last_look_waits_for_the_fences_for_half_a_second(void **state)
{
	static const struct {
		enum fences_state begins;
		int error, passed_after, waits;
		bool bound;
	} CASES[] = {
		{FENCES_ALL_PASSED, 0, 0, 0, true},      {FENCES_FAILED, 0, 0, 0, false},
		{FENCES_WAITED_FOR, 0, 3, 3, true},      {FENCES_WAITED_FOR, 0, 500, 500, true},
		{FENCES_WAITED_FOR, 0, 501, 500, false}, {FENCES_ALL_PASSED, -EAGAIN, 0, 0, false},
	};

	(void)state;
	put_held(connection(1, 4, 2));
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		waits = 0;
		open_sockets(false);
		look(false);
		fences_now = CASES[i].begins;
		fences_error = CASES[i].error;
		passed_after = CASES[i].passed_after;
		look(true);
		assert_int_equal(waits, CASES[i].waits);
		assert_int_equal(traffic.has_bound, CASES[i].bound);
		assert_null(sockets.fences);
		expect_known(4, 2, 1);
		close_sockets();
	}
}

static void the_last_look_waits_for_an_end_for_20_ms(void **state)
{
	(void)state;
	put_held(connection(1, 4, 2));
	put_held(connection(2, 3, 1));
	open_sockets(false);
	look(false);
	table_count = held_count = 0;
	look(true);
	assert_int_equal(waits, 20);
	assert_false(traffic.has_bound);
	assert_true(sockets.lost_tails);
	assert_false(sockets.lost_ends);
}

/* Only an unknown connection may have ended: the kernel has answered, or could not. */
static void a_connection_that_is_still_there_is_not_waited_for(void **state)
{
	(void)state;
	put_held(connection(1, 4, 2));
	open_sockets(false);
	look(false);
	table_count = 0;
	look(false);
	look(false);
	table_count = 1;
	look(false);
	ask_error = -ENOMEM;
	for (int i = 0; i < 4; i++)
		look(i == 3);
	assert_int_equal(waits, 0);
	assert_true(traffic.has_bound);
	assert_int_equal(traffic.open_count, 1);
}

static void an_end_that_is_not_told_is_found_by_the_third_question(void **state)
{
	(void)state;
	put_held(connection(1, 4, 2));
	open_sockets(false);
	look(false);
	table_count = held_count = 0;
	for (int i = 0; i < 3; i++) {
		assert_true(traffic.has_bound);
		assert_int_equal(traffic.open_count, 1);
		look(false);
	}
	assert_false(traffic.has_bound);
	assert_int_equal(traffic.open_count, 0);
	expect_known(4, 2, 1);
}

static void a_job_of_a_moment_is_not_searched(void **state)
{
	(void)state;
	put_text("proc/net/sockstat", "sockets: used 9\nTCP: inuse 1 orphan 0 tw 0 alloc 1 mem 1\n");
	open_sockets(false);
	tell_end(connection(1, 4, 2));
	look(true);
	assert_int_equal(searches + dumps, 0);
	assert_int_equal(traffic.reason, 0);
	expect_unattributed(4, 2, 1);
	/* The kernel may still have to send what a connection of the job left. */
	put_text("proc/net/sockstat", "sockets: used 9\nTCP: inuse 1 orphan 1 tw 0 alloc 1 mem 1\n");
	close_sockets();
	open_sockets(false);
	look(true);
	assert_int_equal(dumps, 1);
}

/* ---- what may be done -------------------------------------------------------------------------------------- */

static void errors_of_the_kernel_are_kept(void **state)
{
	(void)state;
	open_error = -EMFILE;
	open_sockets(false);
	assert_int_equal(opens, 0);
	look(false);
	assert_int_equal(traffic.reason, EMFILE);
	assert_int_equal(job_sockets_attend(&sockets, clock_ns), INT64_MAX);
	look(true);
	assert_int_equal(opens, 1);
	assert_int_equal(searches, 0);
	/* Without notifications the first question is whether it answers. */
	listen_error = -EPROTONOSUPPORT;
	open_sockets(false);
	assert_int_equal(opens, 2);
	assert_int_equal(sockets.error, EMFILE);
	open_error = 0;
	open_sockets(false);
	assert_int_equal(sockets.error, 0);
	look(false);
	assert_int_equal(opens, 3);
	assert_false(traffic.has_bound);
	assert_int_equal(traffic.reason, 0);
	assert_int_equal(job_sockets_attend(&sockets, clock_ns), INT64_MAX);
	look(true);
	assert_int_equal(fences_begun, 0);
	/* Nor is anything known if the table may not be listed. */
	listen_error = 0;
	dump_error = -ENOENT;
	open_sockets(false);
	assert_int_equal(sockets.room, 10);
	look(false);
	assert_int_equal(traffic.reason, ENOENT);
}

static void notifications_that_the_kernel_dropped_leave_no_bound(void **state)
{
	(void)state;
	open_sockets(false);
	look(false);
	assert_int_equal(sockets.notified_count, 0);
	assert_true(traffic.has_bound);
	take_error = -ENOBUFS;
	tell_end(connection(1, 4, 2));
	look(false);
	expect_unattributed(4, 2, 1);
	assert_false(traffic.has_bound);
	assert_int_equal(sockets.notified_count, 0);
}

static void a_look_without_an_allowance_searches_and_lists_nothing(void **state)
{
	(void)state;
	open_sockets(false);
	look(false);
	assert_int_equal(searches, 2);
	/* The search at the beginning had no limit. */
	assert_int_equal(search_limit_ns, SEARCHES_SAVED_NS);
	put_held(connection(1, 4, 2));
	sockets.for_searches = (struct allowance){0, clock_ns + NSEC_PER_SEC};
	look(false);
	assert_int_equal(searches, 2);
	search_costs_ns = 5;
	sockets.for_searches = (struct allowance){1, clock_ns + NSEC_PER_SEC};
	sockets.for_dumps = (struct allowance){0, clock_ns + NSEC_PER_SEC};
	sockets.next_try_ns = INT64_MAX;
	look(false);
	assert_int_equal(searches, 3);
	assert_int_equal(search_limit_ns, 1);
	assert_int_equal(sockets.for_searches.left_ns, -4);
	assert_int_equal(dumps, 1);
	/* A new socket is tried at once. */
	assert_int_equal(sockets.next_try_ns, 0);
	sockets.for_dumps = (struct allowance){1, clock_ns + NSEC_PER_SEC};
	look(false);
	assert_int_equal(dumps, 2);
	expect_known(4, 2, 1);
}

/* One nanosecond each in this test. */
static void work_is_paid_from_its_allowance(void **state)
{
	(void)state;
	open_sockets(false);
	look(false);
	put_held(connection(1, 4, 2));
	sockets.for_dumps = (struct allowance){9, clock_ns + NSEC_PER_SEC};
	sockets.for_ends = (struct allowance){9, clock_ns + NSEC_PER_SEC};
	look(false);
	assert_int_equal(sockets.for_dumps.left_ns, 8);
	assert_int_equal(sockets.for_ends.left_ns, 8);
	/* An allowance that is used up to the last nanosecond is enough. */
	sockets.for_ends.left_ns = 1;
	assert_true(job_sockets_attend(&sockets, clock_ns) < INT64_MAX);
	assert_int_equal(sockets.for_ends.left_ns, 0);
	assert_int_equal(sockets.ended_fd, LISTEN_FD);
	assert_false(sockets.lost_ends);
	(void)job_sockets_attend(&sockets, clock_ns);
	assert_int_equal(sockets.ended_fd, -1);
	assert_true(sockets.lost_ends);
	assert_int_equal(job_sockets_attend(&sockets, clock_ns), INT64_MAX);
}

static void datagrams_are_told_and_are_no_connection(void **state)
{
	(void)state;
	open_sockets(false);
	held[0].inode = 101;
	held[0].protocol = SOCKET_DATAGRAM;
	held_count = 1;
	look(false);
	assert_true(traffic.has_datagrams);
	assert_int_equal(sockets.count, 0);
}

static void own_sockets_with_figures_are_noted(void **state)
{
	(void)state;
	own_inode = 101;
	own_figures = connection(0, 5, 6);
	info_error = -ENOTSUP;
	open_sockets(false);
	assert_int_equal(sockets.count, 0);
	info_error = 0;
	/* Those of the process that is attached to are its own. */
	open_sockets(true);
	assert_int_equal(sockets.count, 0);
	open_sockets(false);
	assert_int_equal(sockets.count, 1);
	assert_false(sockets.sockets[0].is_held || sockets.sockets[0].trusted);
	/* A member inherits it. */
	put_held(connection(1, 5, 7));
	look(false);
	expect_known(0, 1, 1);
}

/* Their cookies take room. */
static void so_many_connections_of_others_are_remembered(void **state)
{
	(void)state;
	more_dumped = FOREIGN_MOST + 1;
	open_sockets(false);
	look(false);
	assert_int_equal(sockets.foreign.count, FOREIGN_MOST);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_told(a_job_without_a_connection_sets_no_fences),
		unit_test_told(the_last_look_waits_for_the_fences_for_half_a_second),
		unit_test_told(the_last_look_waits_for_an_end_for_20_ms),
		unit_test_told(a_connection_that_is_still_there_is_not_waited_for),
		unit_test_told(an_end_that_is_not_told_is_found_by_the_third_question),
		unit_test_told(a_job_of_a_moment_is_not_searched),
		unit_test_told(errors_of_the_kernel_are_kept),
		unit_test_told(notifications_that_the_kernel_dropped_leave_no_bound),
		unit_test_told(a_look_without_an_allowance_searches_and_lists_nothing),
		unit_test_told(work_is_paid_from_its_allowance),
		unit_test_told(datagrams_are_told_and_are_no_connection),
		unit_test_told(own_sockets_with_figures_are_noted),
		unit_test_told(so_many_connections_of_others_are_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
