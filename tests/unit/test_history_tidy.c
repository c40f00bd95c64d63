/* Tests of src/history/history_tidy.c: which runs stay, and what is told of those that go. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history/history.h"

#define GIB (INT64_C(1) << 30)
enum { RUNS = 1010 };

static struct history history;
static char folder[] = "/tmp/test_tidy_XXXXXX";

static int begin_history(void **state)
{
	(void)state;
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	assert_non_null(mkdtemp(folder));
	history = (struct history){.folder = folder,
				   .bytes_most = GIB,
				   .locked = true,
				   .runs = calloc(RUNS, sizeof(struct history_run))};
	history.fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(history.fd >= 0);
	return 0;
}

static int end_history(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
	close(history.fd);
	free(history.runs);
	return 0;
}

static void add_run(int64_t bytes)
{
	history.runs[history.count] =
		(struct history_run){.number = (unsigned)history.count + 1, .bytes = bytes};
	history.count++;
}

static int count_kept(void)
{
	int kept = 0;

	for (size_t i = 0; i < history.count; i++)
		kept += !history.runs[i].dropped;
	return kept;
}

static void newest_run_stays_whatever_its_size(void **state)
{
	(void)state;
	add_run(1);
	add_run(2 * GIB);
	history_tidy(&history);
	assert_true(history.runs[0].dropped);
	assert_false(history.runs[1].dropped);
}

static void oldest_runs_go_until_a_gibibyte_is_left(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		add_run(GIB / 4);
	history.runs[0].live = true;
	history_tidy(&history);
	assert_false(history.runs[0].dropped); /* it is being written */
	assert_true(history.runs[1].dropped);
	assert_int_equal(count_kept(), 4);
}

static void a_thousand_runs_stay(void **state)
{
	(void)state;
	for (int i = 0; i < 1003; i++)
		add_run(1);
	history.runs[1].dropped = true;
	history_tidy(&history);
	assert_true(history.runs[0].dropped && history.runs[2].dropped);
	assert_false(history.runs[3].dropped);
	assert_int_equal(count_kept(), 1000);
}

static void a_history_that_another_command_changes_is_left_alone(void **state)
{
	(void)state;
	add_run(2 * GIB);
	add_run(1);
	history.locked = false;
	history_tidy(&history);
	assert_false(history.runs[0].dropped);
	assert_int_equal(history_remove(&history, &history.runs[0]), -EAGAIN);
	assert_int_equal(history_tag(&history, &history.runs[0], "a", "b"), -EAGAIN);
}

static void a_live_run_is_neither_removed_nor_tagged(void **state)
{
	(void)state;
	add_run(1);
	history.runs[0].live = true;
	assert_int_equal(history_remove(&history, &history.runs[0]), -EBUSY);
	assert_int_equal(history_tag(&history, &history.runs[0], "a", "b"), -EBUSY);
	assert_false(history.runs[0].dropped);
	history.runs[0].live = false;
	assert_int_equal(history_remove(&history, &history.runs[0]), 0);
	assert_true(history.runs[0].dropped && history.changed);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(newest_run_stays_whatever_its_size, begin_history,
						end_history),
		cmocka_unit_test_setup_teardown(oldest_runs_go_until_a_gibibyte_is_left, begin_history,
						end_history),
		cmocka_unit_test_setup_teardown(a_thousand_runs_stay, begin_history, end_history),
		cmocka_unit_test_setup_teardown(a_history_that_another_command_changes_is_left_alone,
						begin_history, end_history),
		cmocka_unit_test_setup_teardown(a_live_run_is_neither_removed_nor_tagged, begin_history,
						end_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
