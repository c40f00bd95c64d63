/* Tests of src/job/network/socket_changes.c: whether a search of descriptors may find a new socket. */
#include "scratch.h"

#include "base/clock.h"
#include "job/network/socket_changes.h"

static struct root root;
static struct socket_changes changes;

static int begin(void **state)
{
	changes = (struct socket_changes){.file = KEPT_FILE("proc/net/sockstat")};
	return scratch_enter(state) < 0 || mkdir("proc", 0755) < 0 || mkdir("proc/net", 0755) < 0
		       ? -1
		       : root_open(&root, ".", NULL);
}

static int end(void **state)
{
	kept_file_close(&changes.file);
	root_close(&root);
	return scratch_leave(state);
}

static void put_counts(int sockets, int in_use, int orphans, int allocated)
{
	char text[200];

	snprintf(text, sizeof text,
		 "sockets: used %d\nTCP: inuse %d orphan %d tw 0 alloc %d mem 1\nUDP: inuse 2 mem 2\n",
		 sockets, in_use, orphans, allocated);
	put_text("proc/net/sockstat", text);
}

static void look(int sockets, int in_use, int allocated, int64_t ended)
{
	put_counts(sockets, in_use, 0, allocated);
	socket_changes_look(&changes, &root, ended);
}

/* Two looks at the same counts, and then a search at second 10. */
static void search(bool is_complete)
{
	look(90, 5, 7, 0);
	look(90, 5, 7, 0);
	socket_changes_searched(&changes, is_complete, 10 * NSEC_PER_SEC);
}

static bool may_be_new(double secs)
{
	return socket_changes_any(&changes, (int64_t)(secs * 1e9));
}

static void nothing_is_new_for_four_seconds(void **state)
{
	(void)state;
	assert_true(may_be_new(1));
	search(true);
	assert_true(socket_changes_none(&changes));
	assert_false(may_be_new(10));
	assert_false(may_be_new(13.999));
	assert_true(may_be_new(14));
	/* A search that left out a member saw too little. */
	search(false);
	assert_true(may_be_new(10));
}

static void each_count_may_change(void **state)
{
	static const struct {
		int sockets, in_use, allocated;
		int64_t ended;
		bool same;
	} CASES[] = {{90, 5, 7, 0, true},  {91, 5, 7, 0, false}, {90, 6, 7, 0, false},
		     {90, 5, 8, 0, false}, {90, 5, 7, 1, false}, {90, 5, 7, -1, false}};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		search(true);
		look(CASES[i].sockets, CASES[i].in_use, CASES[i].allocated, CASES[i].ended);
		assert_int_equal(may_be_new(11), !CASES[i].same);
		assert_int_equal(socket_changes_none(&changes), CASES[i].same);
	}
	/* A search has seen what was there at the look before the last one. */
	look(90, 5, 7, 0);
	look(91, 6, 8, 0);
	socket_changes_searched(&changes, true, 10 * NSEC_PER_SEC);
	assert_true(may_be_new(10));
}

static void a_count_of_zero_is_known(void **state)
{
	(void)state;
	look(0, 0, 0, 0);
	look(0, 0, 0, 0);
	assert_true(socket_changes_none(&changes));
	/* Without notifications nothing is certain, nor without the kernel's file. */
	look(0, 0, 0, -1);
	look(0, 0, 0, -1);
	assert_false(socket_changes_none(&changes));
	put_text("proc/net/sockstat", "");
	socket_changes_look(&changes, &root, 0);
	socket_changes_look(&changes, &root, 0);
	assert_false(socket_changes_none(&changes));
}

static void orphans_still_send(void **state)
{
	(void)state;
	put_counts(90, 5, 0, 7);
	assert_true(socket_changes_no_orphans(&changes, &root));
	put_counts(90, 5, 1, 7);
	assert_false(socket_changes_no_orphans(&changes, &root));
	put_text("proc/net/sockstat", "");
	assert_false(socket_changes_no_orphans(&changes, &root));
}

#define unit_test_of_changes(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_changes(nothing_is_new_for_four_seconds),
		unit_test_of_changes(each_count_may_change),
		unit_test_of_changes(a_count_of_zero_is_known),
		unit_test_of_changes(orphans_still_send),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
