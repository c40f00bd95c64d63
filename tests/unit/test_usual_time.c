/* Tests of src/history/usual_time.c: which runs of the history tell how long a job takes. */
#include "scratch.h"

#include "base/buffer.h"
#include "history/usual_time.h"

static struct record *record;
static struct usual_time usual;
static struct buffer lines;
static int count;

static int begin(void **state)
{
	static const char *const PATHS[] = {"run.jsonl"};
	struct record_options options = {0};
	struct rt_problem problem;
	const struct frame *frame;

	if (scratch_enter(state) < 0 || mkdir("h", 0700) < 0)
		return -1;
	unsetenv("TRACKER_HISTORY_MIB");
	setenv("TRACKER_HISTORY", "h", 1);
	lines = BUFFER(1 << 20);
	count = 0;
	put_text("run.jsonl", "{\"timestamp\":1010,\"elapsed_secs\":10,\"sample\":0,\"run_start\":{"
			      "\"interval_secs\":10,\"command\":null,\"task_name\":\"t\"}}\n");
	assert_int_equal(record_open(PATHS, 1, &options, &record, &problem), 0);
	assert_int_equal(record_next(record, &frame), 1);
	return 0;
}

static int end(void **state)
{
	record_close(record);
	buffer_done(&lines);
	unsetenv("TRACKER_HISTORY");
	return scratch_leave(state);
}

/* Adds a run to the history. The members are those of its line but for the number. */
static void add(const char *members, double secs)
{
	buffer_printf(&lines, "{\"number\":%d,\"wall_secs\":%g%s}\n", ++count, secs, members);
}

#define GOOD ",\"name\":\"job\",\"task\":\"t\",\"outcome\":\"ok\""

static void find_for(const char *job_name)
{
	put_file("h/runs.jsonl", lines.data, lines.length);
	usual_time_find(record, job_name, 7, &usual);
}

static void five_good_runs_tell_the_time(void **state)
{
	(void)state;
	for (int i = 4; i > 0; i--)
		add(GOOD, i);
	find_for("job");
	assert_int_equal(usual.count, 0);
	/* None of these is a good run of the job. */
	add(",\"name\":\"job\",\"task\":\"t\",\"outcome\":\"failed\"", 9);
	add(",\"name\":\"other\",\"task\":\"t\",\"outcome\":\"ok\"", 9);
	add(",\"name\":\"job\",\"task\":\"other\",\"outcome\":\"ok\"", 9);
	add(",\"name\":\"job\",\"outcome\":\"ok\"", 9);
	add(",\"task\":\"t\",\"outcome\":\"ok\"", 9);
	add(GOOD, 0);
	find_for("job");
	assert_int_equal(usual.count, 0);
	add(GOOD ",\"tree_wall_secs\":2.5", 9);
	find_for("job");
	assert_int_equal(usual.count, 5);
	assert_true(usual.secs[0] == 1 && usual.secs[1] == 2 && usual.secs[2] == 2.5 && usual.secs[3] == 3 &&
		    usual.secs[4] == 4);
	/* No run has this name. */
	find_for("other");
	assert_int_equal(usual.count, 0);
}

static void a_run_without_a_job_name_has_its_process(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		add(",\"name\":\"process 7\",\"task\":\"t\",\"outcome\":\"ok\"", 1);
	find_for(NULL);
	assert_int_equal(usual.count, 5);
}

static void only_the_newest_hundred_count(void **state)
{
	(void)state;
	for (int i = 0; i < 103; i++)
		add(GOOD, 200 - i);
	find_for("job");
	assert_int_equal(usual.count, USUAL_RUNS_MOST);
	assert_true(usual.secs[0] == 98 && usual.secs[99] == 197);
}

static void without_a_history_the_time_is_unknown(void **state)
{
	(void)state;
	setenv("TRACKER_HISTORY", "absent", 1);
	usual.count = 3;
	usual_time_find(record, "job", 7, &usual);
	assert_int_equal(usual.count, 0);
}

#define USUAL_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		USUAL_TEST(five_good_runs_tell_the_time),
		USUAL_TEST(a_run_without_a_job_name_has_its_process),
		USUAL_TEST(only_the_newest_hundred_count),
		USUAL_TEST(without_a_history_the_time_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
