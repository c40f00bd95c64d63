/* Figures of a run for which its end and its samples tell different things: recordings of three samples. */
#include "scratch.h"

#include <math.h>

#include "resource_tracker_analysis.h"

static const char *const PATHS[] = {"run.jsonl"};

/* A job of 3 s: each sample has 0.5 s of user and 0.25 s of system time, and `of_sample`; the end has `of_end`. */
static rt_summary *read_run(const char *of_start, const char *of_sample, const char *of_end)
{
	struct rt_problem problem = {""};
	rt_summary *summary = NULL;
	char text[8192] = "";

	for (int i = 0; i < 3; i++) {
		size_t length = strlen(text);

		snprintf(text + length, sizeof text - length,
			 "{\"timestamp\":%d,\"elapsed_secs\":%d,\"sample\":%d,\"actual_interval_ms\":1000,"
			 "\"pid\":7,\"process\":{\"pid\":7},"
			 "\"cpu\":{\"process_utime_secs\":0.5,\"process_stime_secs\":0.25,\"process_cores_"
			 "used\":0.75%s%s}%s%s%s%s%s%s}\n",
			 101 + i, 1 + i, i, *of_sample ? "," : "", of_sample,
			 i ? "" : ",\"run_start\":{\"interval_secs\":1,\"tracked_pid\":7",
			 i || !*of_start ? "" : ",", i ? "" : of_start, i ? "" : "}",
			 i < 2 ? "" : ",\"run_end\":{\"reason\":\"exit\",\"exit_code\":0,\"wall_secs\":3",
			 i < 2 ? "" : of_end);
		if (i == 2)
			strcpy(strrchr(text, '}'), "}}\n");
	}
	put_text(PATHS[0], text);
	if (rt_summary_read(PATHS, 1, &summary, &problem) < 0)
		fail_msg("%s: %s", problem.text, text);
	return summary;
}

/* With four decimals. NaN: the figure is unknown. */
static void try_figure(rt_summary *summary, const char *group, const char *name, double expected)
{
	struct rt_value value = rt_summary_get(summary, group, name);
	double found = value.type == RT_TYPE_REAL    ? value.real
		       : value.type == RT_TYPE_COUNT ? (double)value.count
						     : (double)NAN;

	if (isnan(expected) ? !isnan(found) : !(fabs(found - expected) < 5e-5))
		fail_msg("%s.%s is %g, not %g", group, name, found, expected);
}

static void try_times(const char *of_start, const char *of_end, double user, double system, double cores)
{
	rt_summary *summary = read_run(of_start, "", of_end);

	try_figure(summary, "time", "user_secs", user);
	try_figure(summary, "time", "system_secs", system);
	try_figure(summary, "cores", "mean", cores);
	rt_summary_free(summary);
}

static void the_time_is_that_of_wait4_unless_the_tree_used_more(void **state)
{
	(void)state;
	/* The samples alone. */
	try_times("", "", 1.5, 0.75, 0.75);
	try_times("", ",\"utime_secs\":2,\"stime_secs\":1", 2, 1, 1);
	/* 2 ms and 1 % more are what the kernel counts of exits. */
	try_times("", ",\"utime_secs\":2,\"stime_secs\":1,\"tree_utime_secs\":2.03,\"tree_stime_secs\":1", 2,
		  1, 1);
	try_times("", ",\"utime_secs\":2,\"stime_secs\":1,\"tree_utime_secs\":2.04,\"tree_stime_secs\":1",
		  2.04, 1, 3.04 / 3);
	try_times("", ",\"utime_secs\":2,\"stime_secs\":1,\"tree_utime_secs\":1,\"tree_stime_secs\":1", 2, 1,
		  1);
	/* A tree that outlived the job used its time in a longer one. */
	try_times("",
		  ",\"utime_secs\":2,\"stime_secs\":1,\"tree_utime_secs\":5,\"tree_stime_secs\":1,\"tree_"
		  "wall_secs\":6",
		  5, 1, 1);
	/* An older recording trusts its samples only while descendants run. */
	try_times("", ",\"utime_secs\":1,\"stime_secs\":0.5,\"descendants_running\":0", 1, 0.5, 0.5);
	try_times("", ",\"utime_secs\":1,\"stime_secs\":0.5,\"descendants_running\":1", 1.5, 0.75, 0.75);
	/* If its children were left out, the times are those of the samples. */
	try_times("\"children\":false", ",\"utime_secs\":2,\"stime_secs\":1", 1.5, 0.75, 0.75);
}

static void traffic_is_that_of_the_end(void **state)
{
	static const char SAMPLE[] =
		"\"process_net_recv_bytes\":100,\"process_net_sent_bytes\":10,"
		"\"process_net_recv_bound_bytes\":100,\"process_net_sent_bound_bytes\":10";
	rt_summary *summary = read_run("", SAMPLE, "");

	(void)state;
	try_figure(summary, "network", "received_bytes", 300);
	try_figure(summary, "network", "sent_bytes", 30);
	try_figure(summary, "network", "connections", NAN);
	rt_summary_free(summary);
	/* A bound up to 1 MiB or 1 % above is certain enough. */
	summary = read_run(
		"", SAMPLE,
		",\"net_recv_bytes\":1000,\"net_sent_bytes\":200000000,\"net_recv_bound_bytes\":1049576,"
		"\"net_sent_bound_bytes\":202000000,\"net_connections\":3");
	try_figure(summary, "network", "received_bytes", 1000);
	try_figure(summary, "network", "certain_received_bytes", 1000);
	try_figure(summary, "network", "certain_sent_bytes", 200000000);
	try_figure(summary, "network", "connections", 3);
	rt_summary_free(summary);
	summary = read_run(
		"", SAMPLE,
		",\"net_recv_bytes\":1000,\"net_sent_bytes\":200000000,\"net_recv_bound_bytes\":1049577,"
		"\"net_sent_bound_bytes\":202000001");
	try_figure(summary, "network", "certain_received_bytes", NAN);
	try_figure(summary, "network", "certain_sent_bytes", NAN);
	rt_summary_free(summary);
}

static void try_words(const char *of_end, const char *words, const char *absent)
{
	rt_summary *summary = read_run("", "", of_end);
	char *text = NULL;

	assert_int_equal(rt_summary_to_text(summary, RT_SIZE_AUTO, &text), 0);
	if (!strstr(text, words) || strstr(text, absent))
		fail_msg("\"%s\" or not \"%s\":\n%s", words, absent, text);
	free(text);
	rt_summary_free(summary);
}

#define TRAFFIC(received, sent, source) \
	",\"net_recv_bytes\":" received ",\"net_sent_bytes\":" sent ",\"net_source\":\"" source "\""

static void the_way_of_counting_traffic_is_told(void **state)
{
	(void)state;
	try_words(TRAFFIC("1000", "2048", "namespace") ",\"net_connections\":1",
		  "received 1000 B, sent 2.00 KiB over 1 TCP connection (the job's own network namespace; "
		  "loopback not counted)",
		  "may be missing");
	try_words(TRAFFIC("0", "0", "namespace"), "(the job's own network namespace; loopback not counted)",
		  "no TCP connection");
	try_words(TRAFFIC("1000", "2048", "mixed") ",\"net_connections\":2",
		  " over 2 TCP connections and in its own network namespace", "loopback");
	try_words(TRAFFIC("1000", "2048", "bound"),
		  "received 1000 B, sent 2.00 KiB; short connections may be missing", "namespace");
	/* 1 % of what was seen is too little to be told. */
	try_words(TRAFFIC("1000", "1000",
			  "bound") ",\"net_recv_bound_bytes\":1020,\"net_sent_bound_bytes\":1000",
		  "received 1000 B, sent 1000 B", "may be missing");
	try_words(TRAFFIC("1000", "1000",
			  "bound") ",\"net_recv_bound_bytes\":1020,\"net_sent_bound_bytes\":1001",
		  "short connections may be missing: at most received 1020 B, sent 1001 B", "namespace");
	try_words(TRAFFIC("0", "0", "bound") ",\"net_recv_bound_bytes\":0,\"net_sent_bound_bytes\":0",
		  "the job had no TCP connection", "that was seen");
	try_words(TRAFFIC("0", "0", "bound") ",\"net_recv_bound_bytes\":0,\"net_sent_bound_bytes\":5",
		  "the job had no TCP connection that was seen", "namespace");
}

static void energy_becomes_carbon_with_a_factor(void **state)
{
	rt_summary *summary = read_run("\"carbon_g_per_kwh\":360", "\"process_cpu_energy_joules\":1000", "");

	(void)state;
	/* 3 kJ are a 1,200th of a kWh. */
	try_figure(summary, "energy", "carbon_grams", 0.3);
	rt_summary_free(summary);
	summary = read_run("", "\"process_cpu_energy_joules\":1000", "");
	try_figure(summary, "energy", "carbon_grams", NAN);
	rt_summary_free(summary);
	summary = read_run("\"carbon_g_per_kwh\":360", "", "");
	try_figure(summary, "energy", "carbon_grams", NAN);
	rt_summary_free(summary);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_is_that_of_wait4_unless_the_tree_used_more),
		cmocka_unit_test(traffic_is_that_of_the_end),
		cmocka_unit_test(the_way_of_counting_traffic_is_told),
		cmocka_unit_test(energy_becomes_carbon_with_a_factor),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
