/* Tests of src/export/combine.c and combine_identity.c: recordings of one job become one. */
#include "scratch.h"

#include <errno.h>

#include "resource_tracker_internal.h"

static struct rt_problem problem;

static int combine(size_t count)
{
	static const char *const PATHS[] = {"a.jsonl", "b.jsonl", "c.jsonl"};

	problem.text[0] = '\0';
	return rt_combine(PATHS, count, "out.jsonl", &problem);
}

/* Members that are null come with each new metric, and say nothing here. */
static void drop_nulls(char *text)
{
	static const char NONE[] = ":null";
	char *at = text;

	while ((at = strstr(at, NONE))) {
		char *after = at + sizeof NONE - 1, *begin = at - 1;

		while (begin > text && *--begin != '"')
			;
		if (begin > text && begin[-1] == ',')
			begin--;
		else if (*after == ',')
			after++;
		memmove(begin, after, strlen(after) + 1);
		at = begin;
	}
}

static void expect_combined(const char *name)
{
	char path[4096], *text = get_file("out.jsonl", NULL), *golden;

	drop_nulls(text);
	snprintf(path, sizeof path, "%s/exports/%s", getenv("TEST_GOLDEN"), name);
	if (getenv("UPDATE_GOLDEN"))
		put_text(path, text);
	golden = get_file(path, NULL);
	if (strcmp(golden, text) != 0)
		fail_msg("%s differs: UPDATE_GOLDEN=1 writes it anew", path);
	free(golden);
	free(text);
}

/* Puts a recording of tests/golden/exports under another name and host. */
static void put_part(const char *name, const char *copy, char rank)
{
	char path[4096], *text, *first;

	snprintf(path, sizeof path, "%s/exports/%s", getenv("TEST_GOLDEN"), name);
	text = get_file(path, NULL);
	for (char *at = text; (at = strstr(at, "node1")); at++)
		at[4] = rank;
	/* Without the earlier run of the file. */
	first = strcmp(name, "run.jsonl") == 0 ? strchr(text, '\n') + 1 : text;
	put_text(copy, first);
	free(text);
}

static void tasks_of_two_machines_add_up(void **state)
{
	(void)state;
	put_part("run.jsonl", "a.jsonl", '1');
	put_part("task.jsonl", "b.jsonl", '1');
	put_part("task.jsonl", "c.jsonl", '2');
	assert_int_equal(combine(3), 0);
	expect_combined("combined");
	/* Two of one machine. */
	assert_int_equal(combine(2), 0);
	expect_combined("combined-2");
}

/* A part whose samples begin at `from` seconds and come each 10 seconds. */
static void put_samples(const char *path, const char *identity, int from, int to, int memory_mib)
{
	FILE *file = fopen(path, "we");

	for (int secs = from; secs <= to; secs += 10)
		fprintf(file,
			"{\"timestamp\":%d,\"elapsed_secs\":%d,\"actual_interval_ms\":10000,%s\"sample\":%d,"
			"\"cpu\":{"
			"\"process_memory_mib\":%d},\"run_start\":%s}\n",
			1700000000 + secs, secs - from + 10, identity, (secs - from) / 10, memory_mib,
			secs > from ? "null" : "{\"mode\":\"wrap\",\"interval_secs\":10}");
	fclose(file);
}

/* Compares the values of a member, each behind a blank. */
static void expect_values(const char *member, const char *wanted)
{
	char *text = get_file("out.jsonl", NULL), *at = text, key[80], found[400] = "";

	snprintf(key, sizeof key, "\"%s\":", member);
	while ((at = strstr(at, key))) {
		at += strlen(key);
		snprintf(found + strlen(found), sizeof found - strlen(found), " %.*s", (int)strcspn(at, ",}"),
			 at);
	}
	assert_string_equal(found, wanted);
	free(text);
}

#define OF(host, job, pid) "\"host\":\"" host "\",\"job_name\":\"" job "\",\"tracked_pid\":" pid ","

/* It counts from the interval of its first sample to that of its last. */
static void a_part_counts_while_it_runs(void **state)
{
	(void)state;
	put_samples("a.jsonl", OF("h", "j", "7"), 10, 30, 1);
	put_samples("b.jsonl", OF("h", "j", "8"), 30, 40, 2);
	assert_int_equal(combine(2), 0);
	expect_values("process_memory_mib", " 1.0 1.0 3.0 2.0");
	expect_values("timestamp_secs", " 1700000010 1700000020 1700000030 1700000040");
	expect_values("elapsed_secs", " 10.0 20.0 30.0 40.0");
	expect_values("sample", " 0 1 2 3");
	expect_values("host", " \"h\" \"h\" \"h\" \"h\"");
	expect_values("job_name", " \"j\" \"j\" \"j\" \"j\"");
}

/* A part without a host is of that of the others, if they have one in common. */
static void machines_are_counted_by_their_names(void **state)
{
	(void)state;
	put_samples("a.jsonl", OF("h", "j", "7"), 10, 10, 1);
	put_samples("b.jsonl", OF("i", "k", "7"), 10, 10, 1);
	assert_int_equal(combine(2), 0);
	expect_values("host", " \"2 hosts\"");
	expect_values("job_name", " null");
	put_samples("c.jsonl", "", 10, 10, 1);
	assert_int_equal(combine(3), 0);
	expect_values("process_memory_mib", " 3.0");
	expect_values("host", " \"3 hosts\"");
	put_samples("b.jsonl", "", 10, 10, 1);
	assert_int_equal(combine(2), 0);
	expect_values("host", " null");
	expect_values("process_memory_mib", " 2.0");
}

static void parts_that_would_count_twice_are_refused(void **state)
{
	static const char *const PATHS[] = {"a.jsonl"};

	(void)state;
	put_samples("a.jsonl", OF("h", "j", "7"), 10, 30, 1);
	put_samples("b.jsonl", OF("h", "j", "7"), 10, 30, 1);
	assert_int_equal(combine(2), -EEXIST);
	assert_string_equal(problem.text, "a.jsonl and b.jsonl are the same recording: it would count twice");
	/* A later run of the same process, another process, and another machine. */
	put_samples("b.jsonl", OF("h", "j", "7"), 20, 30, 1);
	assert_int_equal(combine(2), 0);
	put_samples("b.jsonl", OF("h", "j", "8"), 10, 30, 1);
	assert_int_equal(combine(2), 0);
	put_samples("b.jsonl", OF("i", "j", "7"), 10, 30, 1);
	assert_int_equal(combine(2), 0);
	assert_int_equal(rt_combine(PATHS, 1, "a.jsonl", &problem), -EINVAL);
	assert_int_equal(combine(0), -EINVAL);
	assert_string_equal(problem.text, "no recording was named");
	assert_int_equal(combine(3), -ENOENT);
	put_text("c.jsonl", "");
	assert_int_equal(combine(3), -ENODATA);
	assert_int_equal(rt_combine(PATHS, 1, "none/out.jsonl", &problem), -ENOENT);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(tasks_of_two_machines_add_up),
		unit_test_in_scratch(a_part_counts_while_it_runs),
		unit_test_in_scratch(machines_are_counted_by_their_names),
		unit_test_in_scratch(parts_that_would_count_twice_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
