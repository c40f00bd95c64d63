/* The waits of a run by program and by target: src/summary/summary_waits.c. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/buffer.h"
#include "metric/typed_rows.h"
#include "summary/summary_waits.h"

static struct frame frame;
static struct summary_waits waits;

static void begin(void)
{
	memset(&waits, 0, sizeof waits);
	frame_begin(&frame, 0, 0);
}

static void take(void)
{
	summary_waits_add(&waits, &frame);
	frame_begin(&frame, 0, 0);
}

static void add_wait(const char *class, const char *target, const char *program, double secs)
{
	struct wait_row *row = ADD_ROW(&frame, wait, NULL);

	row->class = class;
	row->target = target;
	row->program = program;
	row->wait_secs = secs;
}

static void add_end(const char *class, const char *program, double secs, int64_t looks)
{
	struct run_end_wait_row *row = ADD_ROW(&frame, run_end_wait, NULL);

	row->class = class;
	row->program = program;
	row->wait_secs = secs;
	row->look_count = looks;
}

/* "class/target/program seconds looks", the longest first. */
static void try_list(const struct summary_wait_list *list, const char *expected)
{
	char found[2048] = "";

	for (size_t i = 0; i < list->count; i++)
		snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s/%s/%s %g %lld",
			 i ? ", " : "", list->list[i].class, list->list[i].target, list->list[i].program,
			 list->list[i].secs, (long long)list->list[i].looks);
	assert_string_equal(found, expected);
}

static void samples_add_up_in_order_of_time(void **state)
{
	(void)state;
	begin();
	add_wait("sleep", NULL, "a", 1);
	add_wait("socket", "port 1", "a", 2);
	add_wait("socket", "port 2", "a", 2);
	add_wait("socket", "port 1", "b", 1.5);
	add_wait(NULL, "port 1", "b", 9);
	add_wait("pipe", NULL, "b", NAN);
	take();
	try_list(&waits.by_program,
		 "socket/port 1/a 2 1, socket/port 2/a 2 1, socket/port 1/b 1.5 1, sleep//a 1 1");
	add_wait("sleep", NULL, "a", 1);
	add_wait("socket", "port 2", "a", 0.25);
	take();
	try_list(&waits.by_program,
		 "socket/port 2/a 2.25 2, socket/port 1/a 2 1, sleep//a 2 2, socket/port 1/b 1.5 1");
	summary_waits_finish(&waits);
	try_list(&waits.by_target, "socket/port 1/a 3.5 2, socket/port 2/a 2.25 2, sleep//a 2 2");
	/* A later look at the same run begins anew. */
	summary_waits_finish(&waits);
	try_list(&waits.by_target, "socket/port 1/a 3.5 2, socket/port 2/a 2.25 2, sleep//a 2 2");
}

static void the_end_replaces_the_samples(void **state)
{
	(void)state;
	begin();
	add_wait("sleep", NULL, "a", 1);
	take();
	add_wait("sleep", NULL, "a", 1);
	add_end("pipe", "b", 5, 3);
	add_end("lock", "c", 7, no_count(ABSENT_NOT_COLLECTED));
	take();
	try_list(&waits.by_program, "lock//c 7 0, pipe//b 5 3");
	add_wait("sleep", NULL, "a", 100);
	take();
	try_list(&waits.by_program, "lock//c 7 0, pipe//b 5 3");
}

static void texts_are_cut_and_found_again(void **state)
{
	char target[100], cut[64], expected[200];

	(void)state;
	memset(target, 't', sizeof target - 1);
	target[sizeof target - 1] = '\0';
	memcpy(cut, target, 63);
	cut[63] = '\0';
	begin();
	for (int i = 0; i < 2; i++) {
		add_wait("a_class_of_16_bytes", target, "a_program_of_more_than_thirty_two_bytes", 1);
		take();
	}
	snprintf(expected, sizeof expected, "a_class_of_16_b/%s/a_program_of_more_than_thirty_t 2 2", cut);
	try_list(&waits.by_program, expected);
	/* One character less is another target. */
	target[62] = '\0';
	add_wait("a_class_of_16_bytes", target, "a_program_of_more_than_thirty_two_bytes", 1);
	take();
	assert_int_equal(waits.by_program.count, 2);
}

static void waits_over_the_room_are_left_out(void **state)
{
	char name[16];

	(void)state;
	begin();
	for (int i = 0; i < SUMMARY_WAITS_MOST + 2; i++) {
		snprintf(name, sizeof name, "p%02d", i);
		add_wait("sleep", NULL, name, 1);
		take();
	}
	assert_int_equal(waits.by_program.count, SUMMARY_WAITS_MOST);
	assert_string_equal(waits.by_program.list[SUMMARY_WAITS_MOST - 1].program, "p63");
	/* One that has a place still adds up. */
	add_wait("sleep", NULL, "p63", 1);
	take();
	assert_string_equal(waits.by_program.list[0].program, "p63");
	assert_true(waits.by_program.list[0].secs == 2);
	summary_waits_finish(&waits);
	assert_int_equal(waits.by_target.count, 1);
	assert_true(waits.by_target.list[0].secs == SUMMARY_WAITS_MOST + 1);
}

static void programs_read_them_one_by_one(void **state)
{
	struct rt_wait_use use = {.size = sizeof use};

	(void)state;
	begin();
	add_wait("socket", "port 1", "a", 3);
	add_wait("sleep", NULL, "b", 1);
	take();
	assert_int_equal(summary_waits_get(&waits, 4, 0, &use), 0);
	assert_string_equal(use.wait_class, "socket");
	assert_string_equal(use.target, "port 1");
	assert_string_equal(use.program, "a");
	assert_true(use.secs == 3 && use.run_pct == 75);
	assert_int_equal(use.look_count, 1);
	assert_int_equal(summary_waits_get(&waits, 0, 1, &use), 0);
	assert_null(use.target);
	assert_true(isnan(use.run_pct));
	assert_int_equal(summary_waits_get(&waits, 4, 2, &use), -ENOENT);
	use.size = 1;
	assert_int_equal(summary_waits_get(&waits, 4, 0, &use), -EINVAL);
}

static void json_has_all_of_them(void **state)
{
	struct buffer out = BUFFER(1 << 16);

	(void)state;
	begin();
	add_wait("socket", "port 1", "a", 3);
	add_wait("sleep", NULL, "b", 1.0004);
	take();
	summary_waits_json(&out, &waits, 4);
	assert_string_equal(out.data, "[{\"class\":\"socket\",\"target\":\"port 1\",\"program\":\"a\","
				      "\"wait_secs\":3.0,\"run_pct\":75.0,\"look_count\":1},"
				      "{\"class\":\"sleep\",\"target\":null,\"program\":\"b\","
				      "\"wait_secs\":1.0,\"run_pct\":25.01,\"look_count\":1}]");
	buffer_done(&out);
	frame_done(&frame);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_add_up_in_order_of_time),
		cmocka_unit_test(the_end_replaces_the_samples),
		cmocka_unit_test(texts_are_cut_and_found_again),
		cmocka_unit_test(waits_over_the_room_are_left_out),
		cmocka_unit_test(programs_read_them_one_by_one),
		cmocka_unit_test(json_has_all_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
