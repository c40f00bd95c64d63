/* Tests of src/export/combine.c and combine_identity.c: the rule of each kind of value, by recordings of one line. */
#include "scratch.h"

#include <errno.h>

#include "export/combine.h"
#include "resource_tracker_internal.h"

enum { MOST_PARTS = 3 };

static struct rt_problem problem;

/* Writes recordings of one line each, or of more lines that stand in one text. */
static int combine(const char *const *lines, size_t count, const char *output)
{
	static const char *const PATHS[MOST_PARTS] = {"a", "b", "c"};

	for (size_t i = 0; i < count; i++)
		put_text(PATHS[i], lines[i]);
	problem.text[0] = '\0';
	return rt_combine(PATHS, count, output, &problem);
}

/* A line of a recording whose tick is a second. `more` are members of the line. */
#define LINE(timestamp, pid, host, cpu, more) \
	"{\"timestamp\":" #timestamp \
	",\"elapsed_secs\":1,\"actual_interval_ms\":1000,\"sample\":0,\"host\":\"" host \
	"\",\"tracked_pid\":" #pid ",\"cpu\":{" cpu "}" more "}\n"

static void combination_has(const char *wanted, const char *const *lines, size_t count)
{
	char *combined;

	if (combine(lines, count, "out") != 0)
		fail_msg("%s", problem.text);
	assert_string_equal(problem.text, "");
	combined = get_file("out", NULL);
	if (!strstr(combined, wanted))
		fail_msg("no %s in %s", wanted, combined);
	free(combined);
}

/* The combination of up to three recordings has this text. */
#define assert_combines(wanted, ...) \
	combination_has(wanted, (const char *const[]){__VA_ARGS__}, \
			sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void counts_of_two_sources_have_a_source(void **state)
{
	static const char *const CASES[][3] = {
		{NULL, "sockets", "sockets"},   {"sockets", "sockets", "sockets"},
		{"bound", "bound", "bound"},    {"sockets", "bound", "bound"},
		{"bound", "sockets", "bound"},  {"cgroup", "cgroup", "cgroup"},
		{"cgroup", "sockets", "mixed"}, {"sockets", "cgroup", "mixed"},
		{"cgroup", "bound", "mixed"},   {"bound", "namespace", "mixed"},
		{"mixed", "sockets", "mixed"},  {NULL, "mixed", "mixed"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
		assert_string_equal(combined_net_source(CASES[i][0], CASES[i][1]), CASES[i][2]);
}

/* A recording alone keeps its times. */
static void the_first_start_and_the_longest_interval_count(void **state)
{
	(void)state;
	assert_combines(
		"\"timestamp\":103.5,\"elapsed_secs\":3.5,\"actual_interval_ms\":3500.0",
		"{\"timestamp\":103.5,\"elapsed_secs\":3.5,\"actual_interval_ms\":2000,\"host\":\"h\"}\n");
	assert_combines(
		"\"timestamp\":103.5,\"elapsed_secs\":5.5,",
		"{\"timestamp\":103.5,\"elapsed_secs\":3.5,\"actual_interval_ms\":2000,\"host\":\"h\"}\n",
		"{\"timestamp\":103,\"elapsed_secs\":5,\"actual_interval_ms\":3000,\"host\":\"h\"}\n");
	assert_combines(
		"\"interval_secs\":3.0",
		"{\"timestamp\":103.5,\"elapsed_secs\":3.5,\"actual_interval_ms\":2000,\"host\":\"h\"}\n",
		"{\"timestamp\":103,\"elapsed_secs\":5,\"actual_interval_ms\":3000,\"host\":\"h\"}\n");
	assert_combines("\"interval_secs\":0.5",
			"{\"timestamp\":103.5,\"elapsed_secs\":1,\"actual_interval_ms\":2000,\"host\":\"h\","
			"\"run_start\":{\"interval_secs\":0.5}}\n");
	assert_combines("\"interval_secs\":2.0",
			"{\"timestamp\":103.5,\"elapsed_secs\":1,\"actual_interval_ms\":2000,\"host\":\"h\","
			"\"run_start\":{\"interval_secs\":0}}\n");
	assert_combines("\"interval_secs\":1.0", "{\"timestamp\":103.5,\"elapsed_secs\":0,\"host\":\"h\"}\n");
}

/* A rate counts as long as its sample was; a sample that took no time leaves the last value. */
static void rates_of_a_tick_are_weighted(void **state)
{
#define SHORT(timestamp, ms, cores) \
	"{\"timestamp\":" #timestamp ",\"elapsed_secs\":1,\"actual_interval_ms\":" #ms \
	",\"host\":\"h\",\"cpu\":{\"process_cores_used\":" #cores ",\"process_utime_secs\":0.25}" \
	",\"run_start\":{\"interval_secs\":1}}\n"

	(void)state;
	assert_combines("\"process_cores_used\":2.5", SHORT(100.25, 250, 1) SHORT(100.99, 750, 3));
	assert_combines("\"process_utime_secs\":0.5", SHORT(100.25, 250, 1) SHORT(100.99, 750, 3));
	assert_combines("\"process_cores_used\":2.0", SHORT(100.25, 0, 2));
	assert_combines("\"process_cores_used\":0.5", SHORT(100.25, 500, 0.5));
	/* A change that is unknown at the end of the tick was known before. */
	assert_combines(
		"\"process_utime_secs\":0.25",
		SHORT(100.25, 250, 1) "{\"timestamp\":100.5,\"elapsed_secs\":1,\"actual_interval_ms\":250,"
				      "\"host\":\"h\",\"cpu\":{\"process_utime_secs\":null}}\n");
	assert_combines("\"process_utime_secs\":null", "{\"timestamp\":100.5,\"elapsed_secs\":1,\"host\":"
						       "\"h\",\"cpu\":{\"process_memory_mib\":1}}\n");
	/* No tick is missing between those of a combination. */
	assert_combines("\"missed_ticks\":0,", SHORT(100.25, 500, 0.5));
}

/* Each part sees its own machine once; percentages of hosts are averaged. */
static void machines_count_once(void **state)
{
#define MACHINE(used) ",\"memory\":{\"used_mib\":" #used ",\"used_pct\":" #used "}"

	(void)state;
	assert_combines("\"used_mib\":100.0", LINE(100, 1, "h", "", MACHINE(100)),
			LINE(100, 2, "h", "", MACHINE(60)));
	assert_combines("\"used_mib\":160.0", LINE(100, 1, "h", "", MACHINE(100)),
			LINE(100, 2, "i", "", MACHINE(60)));
	assert_combines("\"used_pct\":80.0", LINE(100, 1, "h", "", MACHINE(100)),
			LINE(100, 2, "i", "", MACHINE(60)));
	/* The first one that knows it. */
	assert_combines("\"used_mib\":60.0", LINE(100, 1, "h", "", MACHINE(null)),
			LINE(100, 2, "h", "", MACHINE(60)), LINE(100, 3, "h", "", MACHINE(100)));
	assert_combines("\"used_mib\":160.0", LINE(100, 1, "i", "", MACHINE(100)),
			LINE(100, 2, "h", "", MACHINE(null)), LINE(100, 3, "h", "", MACHINE(60)));
	assert_combines("\"host\":\"2 hosts\"", LINE(100, 1, "h", "", ""), LINE(100, 2, "i", "", ""),
			LINE(100, 3, "h", "", ""));
	assert_combines("\"host\":\"h\"", LINE(100, 1, "h", "", ""), LINE(100, 2, "h", "", ""));
}

static void start_has_the_sum_of_the_machines(void **state)
{
#define START(cpus, memory, rest) \
	",\"run_start\":{\"cpu_count\":" #cpus ",\"memory_total_mib\":" #memory rest "}"

	(void)state;
	assert_combines("\"cpu_count\":12,\"memory_total_mib\":24.0", LINE(100, 1, "h", "", START(8, 16, "")),
			LINE(100, 2, "i", "", START(4, 8, "")));
	assert_combines("\"cpu_count\":8,\"memory_total_mib\":16.0", LINE(100, 1, "h", "", START(8, 16, "")),
			LINE(100, 2, "h", "", START(8, 16, "")));
	assert_combines("\"cpu_count\":4,\"memory_total_mib\":null",
			LINE(100, 1, "h", "", START(null, null, "")),
			LINE(100, 2, "h", "", START(4, null, "")));
	assert_combines("\"mode\":\"combined\"", LINE(100, 1, "h", "", START(8, 16, ",\"mode\":\"wrap\"")));
	/* The rest is kept if all have it. */
	assert_combines("\"kernel\":\"6.1\"", LINE(100, 1, "h", "", START(8, 16, ",\"kernel\":\"6.1\"")),
			LINE(100, 2, "i", "", START(8, 16, ",\"kernel\":\"6.1\"")));
	assert_combines("\"kernel\":null", LINE(100, 1, "h", "", START(8, 16, ",\"kernel\":\"6.1\"")),
			LINE(100, 2, "i", "", START(8, 16, ",\"kernel\":\"6.2\"")));
	assert_combines("\"kernel\":null", LINE(100, 1, "h", "", START(8, 16, ",\"kernel\":\"6.1\"")),
			LINE(100, 2, "i", "", START(8, 16, "")));
	assert_combines(
		"\"tags\":{\"a\":\"1\"}",
		LINE(100, 1, "h", "", START(8, 16, ",\"tags\":{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}")),
		LINE(100, 2, "i", "", START(8, 16, ",\"tags\":{\"a\":\"1\",\"b\":\"3\",\"d\":\"3\"}")));
}

/* Limits of jobs on one host are known if they agree. A recording of the machine alone has no limit. */
static void limits_are_known_if_they_agree(void **state)
{
#define LIMIT(mib) ",\"limits\":{\"memory_limit_mib\":" #mib "}"
#define JOB "\"process_child_count\":1"

	(void)state;
	assert_combines("\"memory_limit_mib\":50.0", LINE(100, 1, "h", JOB, LIMIT(50)),
			LINE(100, 2, "h", JOB, LIMIT(50)));
	assert_combines("\"memory_limit_mib\":null", LINE(100, 1, "h", JOB, LIMIT(50)),
			LINE(100, 2, "h", JOB, LIMIT(60)));
	assert_combines("\"memory_limit_mib\":null", LINE(100, 1, "h", JOB, LIMIT(50)),
			LINE(100, 2, "h", JOB, LIMIT(null)));
	assert_combines("\"memory_limit_mib\":110.0", LINE(100, 1, "h", JOB, LIMIT(50)),
			LINE(100, 2, "i", JOB, LIMIT(60)));
	assert_combines("\"memory_limit_mib\":50.0", LINE(100, 1, "h", JOB, LIMIT(50)),
			LINE(100, 2, "h", "", LIMIT(60)));
	/* All but one of the first processes count as children. */
	assert_combines("\"process_child_count\":3", LINE(100, 1, "h", JOB, ""), LINE(100, 2, "h", JOB, ""),
			LINE(100, 3, "i", "", ""));
	assert_combines("\"process_child_count\":1", LINE(100, 1, "h", JOB, ""));
}

static void shared_groups_and_stalls_count_by_the_largest(void **state)
{
#define GROUP(mib) ",\"cgroup\":{\"anon_mib\":" #mib "}"
#define STALL(secs, source) ",\"pressure\":{\"cpu_some_secs\":" #secs ",\"source\":\"" source "\"}"

	(void)state;
	assert_combines("\"anon_mib\":7.0", LINE(100, 1, "h", "", GROUP(5)), LINE(100, 2, "h", "", GROUP(7)));
	assert_combines("\"anon_mib\":7.0", LINE(100, 1, "h", "", GROUP(7)), LINE(100, 2, "h", "", GROUP(5)));
	assert_combines("\"anon_mib\":12.0", LINE(100, 1, "h", "", GROUP(7)),
			LINE(100, 2, "i", "", GROUP(5)));
	assert_combines("\"cpu_some_secs\":0.5", LINE(100, 1, "h", "", STALL(0.25, "host")),
			LINE(100, 2, "h", "", STALL(0.5, "host")));
	/* The stall times of the machine do not count beside those of a group. */
	assert_combines("\"cpu_some_secs\":0.25", LINE(100, 1, "h", "", STALL(0.25, "cgroup")),
			LINE(100, 2, "h", "", STALL(0.5, "host")));
	assert_combines("\"source\":\"cgroup\"", LINE(100, 1, "h", "", STALL(0.25, "cgroup")),
			LINE(100, 2, "h", "", STALL(0.5, "host")));
	assert_combines("\"source\":\"host\"", LINE(100, 1, "h", "", STALL(0.25, "host")));
}

/* A source that the last sample does not name is not that of an earlier one. */
static void sums_are_as_good_as_their_weakest_source(void **state)
{
#define MEMORY(mib, source) \
	"\"process_memory_mib\":" #mib ",\"process_memory_source\":" source \
	",\"process_net_recv_bytes\":" #mib
#define NET(source) ",\"process_net_source\":" source

	(void)state;
	assert_combines("\"process_memory_source\":\"sampled\"", LINE(100, 1, "h", MEMORY(5, "\"pss\""), ""),
			LINE(100, 2, "h", MEMORY(5, "\"sampled\""), ""));
	assert_combines("\"process_memory_source\":\"rss\"", LINE(100, 1, "h", MEMORY(5, "\"rss\""), ""),
			LINE(100, 2, "h", MEMORY(5, "\"bound\""), ""));
	assert_combines("\"process_memory_source\":\"pss\"", LINE(100, 1, "h", MEMORY(5, "\"pss\""), ""),
			LINE(100, 2, "h", MEMORY(null, "\"rss\""), ""));
	assert_combines("\"process_memory_source\":null",
			LINE(100, 1, "h", MEMORY(5, "\"pss\"") NET("\"sockets\""), "")
				LINE(100.5, 1, "h", MEMORY(6, "null"), ""));
	assert_combines("\"process_net_source\":null",
			LINE(100, 1, "h", MEMORY(5, "\"pss\"") NET("\"sockets\""), "")
				LINE(100.5, 1, "h", MEMORY(6, "null"), ""));
	assert_combines("\"process_net_source\":\"mixed\"",
			LINE(100, 1, "h", MEMORY(5, "\"pss\"") NET("\"sockets\""), ""),
			LINE(100, 2, "h", MEMORY(6, "\"pss\"") NET("\"cgroup\""), ""));
	assert_combines("\"process_net_source\":\"sockets\"",
			LINE(100, 1, "h", MEMORY(5, "\"pss\"") NET("\"sockets\""), ""),
			LINE(100, 2, "h", MEMORY(null, "\"pss\"") NET("\"cgroup\""), ""));
}

static size_t gpus_of(const char *first_host, const char *first, const char *second_host, const char *second)
{
	static const char FORM[] = "{\"timestamp\":100,\"elapsed_secs\":1,\"host\":\"%s\",\"tracked_pid\":%d,"
				   "\"gpu\":[{\"uuid\":\"%s\",\"index\":0}]}\n";
	char one[300], other[300], *text;
	const char *const lines[] = {one, other};
	size_t count = 0;

	snprintf(one, sizeof one, FORM, first_host, 1, first);
	snprintf(other, sizeof other, FORM, second_host, 2, second);
	assert_int_equal(combine(lines, 2, "out"), 0);
	text = get_file("out", NULL);
	for (const char *at = text; (at = strstr(at, "\"uuid\":\"")); at++)
		count++;
	free(text);
	return count;
}

static void a_gpu_that_two_ranks_see_is_one(void **state)
{
	(void)state;
	assert_int_equal(gpus_of("h", "GPU-0", "h", "GPU-0"), 1);
	assert_int_equal(gpus_of("h", "GPU-0", "h", "GPU-1"), 2);
	assert_int_equal(gpus_of("h", "GPU-1", "h", "GPU-0"), 2);
	assert_int_equal(gpus_of("h", "GPU-0", "i", "GPU-0"), 2);
}

/* A recording of CSV names no host: it is of the host of the others, if they have one. */
static void a_recording_without_a_host_is_of_the_only_one(void **state)
{
#define NO_HOST(pid) "{\"timestamp\":100,\"elapsed_secs\":1,\"tracked_pid\":" #pid MACHINE(5) "}\n"

	(void)state;
	assert_combines("\"used_mib\":5.0", LINE(100, 1, "h", "", MACHINE(5)), NO_HOST(2));
	assert_combines("\"host\":null", LINE(100, 1, "h", "", MACHINE(5)), NO_HOST(2));
	assert_combines("\"used_mib\":15.0", LINE(100, 1, "h", "", MACHINE(5)), NO_HOST(2),
			LINE(100, 3, "i", "", MACHINE(5)));
	assert_combines("\"host\":null", NO_HOST(1), NO_HOST(2));
}

static void the_job_is_named_if_all_name_it(void **state)
{
#define NAMED(pid, name) \
	"{\"timestamp\":100,\"elapsed_secs\":1,\"host\":\"h\",\"job_name\":" name ",\"tracked_pid\":" #pid \
	"}\n"

	(void)state;
	assert_combines("\"job_name\":\"x\"", NAMED(1, "\"x\""), NAMED(2, "\"x\""));
	assert_combines("\"job_name\":\"x\"", NAMED(1, "\"x\""));
	assert_combines("\"job_name\":null", NAMED(1, "null"));
	assert_combines("\"job_name\":null", NAMED(1, "\"x\""), NAMED(2, "\"y\""));
	assert_combines("\"job_name\":null", NAMED(1, "\"x\""), NAMED(2, "null"));
	assert_combines("\"job_name\":null", NAMED(1, "null"), NAMED(2, "\"x\""));
}

/* The worst of the ends is told, with sums of their times. */
static void the_worst_end_is_told(void **state)
{
#define END(pid, end) LINE(100, pid, "h", "", ",\"run_end\":{" end "}")
#define FINE "\"reason\":\"exit\",\"exit_code\":0"
#define FAILED "\"reason\":\"exit\",\"exit_code\":3"
#define KILLED "\"reason\":\"signal\",\"signal\":9"
#define STARVED "\"reason\":\"oom_kill_confirmed\",\"exit_code\":0"

	(void)state;
	assert_combines("\"exit_code\":3", END(1, FINE), END(2, FAILED), END(3, FINE));
	assert_combines("\"exit_code\":3", END(1, FAILED), END(2, FINE));
	assert_combines("\"signal\":9", END(1, FAILED), END(2, KILLED));
	assert_combines("\"signal\":9", END(1, KILLED), END(2, FAILED));
	assert_combines("\"reason\":\"oom_kill_confirmed\"", END(1, KILLED), END(2, STARVED));
	assert_combines("\"reason\":\"oom_kill_confirmed\"", END(1, STARVED), END(2, KILLED));
	/* If two ends are equally bad, the first one counts. */
	assert_combines("\"exit_code\":3", END(1, FAILED), END(2, "\"reason\":\"exit\",\"exit_code\":4"));
	assert_combines("\"utime_secs\":3.0", END(1, FINE ",\"utime_secs\":1"), END(2, FINE),
			END(3, FINE ",\"utime_secs\":2"));
	assert_combines("\"oom_kills\":3", END(1, FINE ",\"oom_kills\":1"), END(2, FINE ",\"oom_kills\":2"));
	assert_combines("\"oom_kills\":2", END(1, FINE), END(2, FINE ",\"oom_kills\":2"));
	/* Parts may share a group. */
	assert_combines("\"cgroup_oom_kills\":2", END(1, FINE ",\"cgroup_oom_kills\":1"),
			END(2, FINE ",\"cgroup_oom_kills\":2"));
	assert_combines("\"cgroup_oom_kills\":2", END(1, FINE ",\"cgroup_oom_kills\":2"),
			END(2, FINE ",\"cgroup_oom_kills\":1"), END(3, FINE));
	assert_combines("\"cgroup_oom_kills\":null", END(1, FINE), END(2, FINE));
	assert_combines("\"largest_process_peak_mib\":7.0", END(1, FINE ",\"largest_process_peak_mib\":7"),
			END(2, FINE ",\"largest_process_peak_mib\":5"), END(3, FINE));
	assert_combines("\"largest_process_peak_mib\":7.0", END(1, FINE),
			END(2, FINE ",\"largest_process_peak_mib\":7"));
	assert_combines("\"net_source\":\"mixed\"", END(1, FINE ",\"net_source\":\"sockets\""),
			END(2, FINE ",\"net_source\":\"cgroup\""), END(3, FINE));
	assert_combines("\"samples\":1", END(1, FINE), END(2, FINE));
	/* One that was cut off has no known end. */
	assert_int_equal(combine((const char *const[]){END(1, FINE), LINE(100, 2, "h", "", "")}, 2, "out"),
			 0);
	{
		char *text = get_file("out", NULL);

		assert_null(strstr(text, "\"reason\""));
		free(text);
	}
}

static void recordings_that_cannot_be_combined_are_told(void **state)
{
#define ONE(timestamp, pid, rank) \
	"{\"timestamp\":" #timestamp ",\"elapsed_secs\":1,\"host\":\"h\",\"rank\":" #rank \
	",\"tracked_pid\":" #pid "}\n"

	(void)state;
	assert_int_equal(combine((const char *const[]){ONE(100, 1, 0), "{\"timestamp\":1"}, 2, "out"),
			 -ENODATA);
	assert_string_equal(problem.text, "b: no whole sample has been written yet");
	assert_int_equal(combine((const char *const[]){ONE(100, 1, 0), ONE(100, 1, 0)}, 2, "out"), -EEXIST);
	assert_string_equal(problem.text, "a and b are the same recording: it would count twice");
	assert_int_equal(combine((const char *const[]){ONE(100, 1, 0), ONE(100, 1, 1)}, 2, "out"), 0);
	assert_int_equal(combine((const char *const[]){ONE(100, 1, 0)}, 1, "/dev/full"), -ENOSPC);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_of_two_sources_have_a_source),
		unit_test_in_scratch(the_first_start_and_the_longest_interval_count),
		unit_test_in_scratch(rates_of_a_tick_are_weighted),
		unit_test_in_scratch(machines_count_once),
		unit_test_in_scratch(start_has_the_sum_of_the_machines),
		unit_test_in_scratch(limits_are_known_if_they_agree),
		unit_test_in_scratch(shared_groups_and_stalls_count_by_the_largest),
		unit_test_in_scratch(sums_are_as_good_as_their_weakest_source),
		unit_test_in_scratch(a_gpu_that_two_ranks_see_is_one),
		unit_test_in_scratch(a_recording_without_a_host_is_of_the_only_one),
		unit_test_in_scratch(the_job_is_named_if_all_name_it),
		unit_test_in_scratch(the_worst_end_is_told),
		unit_test_in_scratch(recordings_that_cannot_be_combined_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
