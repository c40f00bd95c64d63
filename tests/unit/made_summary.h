/*
 * A run that a test makes by hand, for tests of src/verdict: a job of 100 s on 4 cores and 1000 MiB, which used one core and 100 MiB. Each test
 * changes its facts.
 */
#pragma once

#include "scratch.h"

#include <errno.h>
#include <math.h>

#include "base/cleanup.h"
#include "metric/typed_rows.h"
#include "resource_tracker_internal.h"
#include "verdict/run_summary.h"

static const char *const PATHS[] = {"run.jsonl"};
static rt_summary *summary;
static struct run_facts *facts;

static inline struct total sum_of(double sum)
{
	return (struct total){.sum = sum, .present = true};
}

/* Further members of its start and of its end. NULL: the recording has no end. */
static inline void begin_as(const char *of_start, const char *of_end)
{
	struct rt_problem problem = {""};
	char text[2048];

	rt_summary_free(summary);
	summary = NULL;
	snprintf(text, sizeof text,
		 "{\"timestamp\":200,\"elapsed_secs\":100,\"sample\":0,\"actual_interval_ms\":100000,\"run_"
		 "start\":{\"interval_secs\":100,\"tracked_pid\":7%s%s}%s%s%s%s}\n",
		 *of_start ? "," : "", of_start, of_end ? ",\"run_end\":{\"exit_code\":0" : "",
		 of_end && *of_end ? "," : "", of_end ? of_end : "", of_end ? "}" : "");
	put_text(PATHS[0], text);
	if (rt_summary_read(PATHS, 1, &summary, &problem) != 0)
		fail_msg("%s: %s", problem.text, text);
	facts = &summary->facts;
	facts->tracked = true;
	facts->recorded_secs = facts->wall_secs = 100;
	facts->user_secs = sum_of(75);
	facts->system_secs = sum_of(25);
	facts->cores.most = 2;
	facts->core_count = 4;
	facts->allowances =
		(struct allowances){.count = 1, .list = {{0, NAN, 1000, NAN, NAN}}, .secs = {100}};
	facts->memory.most = 100;
	facts->memory.most_elapsed_secs = NAN;
}

static inline void begin_with(const char *of_end)
{
	begin_as("", of_end);
}

static inline int begin(void **state)
{
	int result = scratch_enter(state);

	if (result == 0)
		begin_with("");
	return result;
}

static inline int done(void **state)
{
	rt_summary_free(summary);
	summary = NULL;
	return scratch_leave(state);
}

/* The text after a label of the page, with "|" before each further line. NULL: the page has no such line. */
static inline void try_line(const char *label, const char *expected)
{
	char *text = NULL, found[2048] = "", begin_of[32];
	const char *at;

	assert_int_equal(rt_summary_to_text(summary, RT_SIZE_AUTO, &text), 0);
	snprintf(begin_of, sizeof begin_of, "\n  %-11s", label);
	at = strstr(text, begin_of);
	if (!at != !expected)
		fail_msg("%s in:\n%s", label, text);
	if (at)
		at += strlen(begin_of);
	while (at && *at) {
		size_t length = strcspn(at, "\n");

		snprintf(found + strlen(found), sizeof found - strlen(found), "%.*s", (int)length, at);
		at += length;
		if (strncmp(at, "\n             ", 14) != 0)
			break;
		strcat(found, "|");
		at += 14;
	}
	if (expected && strcmp(found, expected) != 0)
		fail_msg("\"%s\" is not \"%s\"", found, expected);
	free(text);
}

#define PAGE_TEST(name) cmocka_unit_test_setup_teardown(name, begin, done)
