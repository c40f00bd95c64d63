/*
 * The run of made_run.h with one core in use, for tests of src/verdict. Each test changes its facts.
 */
#pragma once

#include "made_run.h"

#include <errno.h>

#include "base/cleanup.h"
#include "resource_tracker_internal.h"

/* Further members of its start and of its end. NULL: the recording has no end. */
static inline void begin_as(const char *of_start, const char *of_end)
{
	char end[1024];

	snprintf(end, sizeof end, "\"exit_code\":0%s%s", of_end && *of_end ? "," : "", of_end ? of_end : "");
	make_run(of_start, of_end ? end : NULL);
	facts->user_secs = sum_of(75);
	facts->system_secs = sum_of(25);
	facts->cores.most = 2;
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
