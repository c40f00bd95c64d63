/* A fleet of lines that a test makes by hand. */
#pragma once

#include "scratch.h"

#include <math.h>

#include "base/buffer.h"
#include "history/fleet.h"

static struct fleet fleet;
static struct buffer made_lines;
static char fleet_by[200];

static inline int fleet_begin(void **state)
{
	fleet = (struct fleet){.memory_reason = -1};
	made_lines = BUFFER(16 << 20);
	return scratch_enter(state);
}

static inline int fleet_end(void **state)
{
	fleet_done(&fleet);
	buffer_done(&made_lines);
	return scratch_leave(state);
}

/* A line with these members besides its schema. */
static inline void add_line(const char *format, ...)
{
	char members[2000];
	va_list list;

	va_start(list, format);
	vsnprintf(members, sizeof members, format, list);
	va_end(list);
	buffer_printf(&made_lines, "{\"schema\":1,%s}\n", members);
}

/* Reads the lines that were added since the last call. */
static inline void read_lines(const char *by)
{
	struct rt_problem problem = {""};

	snprintf(fleet_by, sizeof fleet_by, "%s", by);
	assert_true(fleet_set_by(&fleet, fleet_by));
	put_file("runs.jsonl", made_lines.data, made_lines.length);
	buffer_clear(&made_lines);
	if (fleet_add_file(&fleet, "runs.jsonl", &problem) < 0)
		fail_msg("%s", problem.text);
}

static inline void compute(const char *by)
{
	read_lines(by);
	assert_int_equal(fleet_finish(&fleet), 0);
}

#define assert_real(value, wanted) assert_true(fabs((value) - (wanted)) < 1e-9)
#define FLEET_TEST(test) cmocka_unit_test_setup_teardown(test, fleet_begin, fleet_end)
