/* Tests of src/job/programs/program_share.c: the sums over programs stay those of the tree. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "job/programs/program_share.h"
#include "job/programs/programs.h"

static struct usages cpu(int64_t msec)
{
	return (struct usages){
		.of = {[USAGE_CPU_NS] = msec * NSEC_PER_MSEC, [USAGE_UTIME_NS] = msec * NSEC_PER_MSEC}};
}

static struct program *program(struct programs *programs, const char *name)
{
	return &programs->at[programs_index(programs, name)];
}

static int64_t msec_of(struct programs *programs, const char *name)
{
	return program(programs, name)->cpu_units / 10;
}

static int64_t sum_units(const struct programs *programs)
{
	int64_t sum = 0;

	for (size_t i = 0; i < programs->count; i++)
		sum += programs->at[i].cpu_units;
	return sum;
}

static int begin_with(const char *first, const char *second, const char *third, void **state)
{
	struct programs *programs = NULL;

	assert_int_equal(programs_new(false, &programs), 0);
	(void)programs_index(programs, first);
	(void)programs_index(programs, second);
	(void)programs_index(programs, third);
	programs->exact = true;
	*state = programs;
	return 0;
}

static int begin(void **state)
{
	return begin_with("make", "cc1plus", "as", state);
}

static int begin_backwards(void **state)
{
	return begin_with("as", "cc1plus", "make", state);
}

static int end(void **state)
{
	programs_free(*state);
	return 0;
}

/* The example of programs.h. */
static void a_missed_end_gets_the_rest_as_an_estimate(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(1000);

	program(programs, "cc1plus")->unpublished_ns = 600 * NSEC_PER_MSEC;
	program(programs, "make")->unpublished_ns = 100 * NSEC_PER_MSEC;
	program(programs, "as")->unpublished_ns = 40 * NSEC_PER_MSEC;
	program(programs, "as")->missed_ns = 1e6;
	programs_share(programs, &total, 2);
	assert_int_equal(msec_of(programs, "cc1plus"), 600);
	assert_int_equal(msec_of(programs, "make"), 100);
	assert_int_equal(msec_of(programs, "as"), 300);
	assert_int_equal(program(programs, "as")->estimated_units, 2600);
	assert_int_equal(program(programs, "make")->estimated_units, 0);
}

/* Clocks and totals are read one after the other, but a rest in each pass is the time of other processes. */
static void time_that_no_clock_shows_is_an_estimate(void **state)
{
	struct programs *programs = *state;
	struct usages total = {0};
	int64_t told = 0;

	for (int pass = 1; pass <= 20; pass++) {
		total = cpu(pass * 6);
		program_begin_pass(program(programs, "as"));
		program(programs, "as")->grown_ns = NSEC_PER_MSEC;
		program(programs, "as")->unpublished_ns += NSEC_PER_MSEC;
		programs_share(programs, &total, 1);
		if (pass == 1)
			told = program_estimated_units(program(programs, "as"));
	}
	assert_int_equal(told, 0);
	assert_int_equal(msec_of(programs, "as"), 120);
	/* Its clock has shown 20 ms. */
	assert_int_equal(program_estimated_units(program(programs, "as")), 900);
	program(programs, "as")->unpublished_ns += 95 * NSEC_PER_MSEC;
	assert_int_equal(program_estimated_units(program(programs, "as")), 0);
}

static void all_ends_were_told_so_none_is_unseen(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(100);

	program(programs, "make")->parent_ns = 90e6;
	program(programs, "as")->ended_ns = 10e6;
	program(programs, "as")->unpublished_ns = 10 * NSEC_PER_MSEC;
	programs_share(programs, &total, 2);
	assert_int_equal(programs->count, 3);
	assert_int_equal(msec_of(programs, "as"), 100);
	assert_int_equal(program(programs, "as")->estimated_units, 900);
	assert_false(program(programs, "as")->is_unseen);
}

/* No program has a weight, or the running ones have one, or what they had before is one. */
static void the_smallest_rest_counts_for_one_program(void **state)
{
	struct programs *programs = *state;
	struct usages total = {.of = {[USAGE_CPU_NS] = PROGRAM_CPU_UNIT_NS, [USAGE_READ_BYTES] = 1}};

	programs_share(programs, &total, 1);
	assert_int_equal(program(programs, "make")->cpu_units, 1);
	assert_int_equal(program(programs, "make")->io[0], 1);
	assert_int_equal(program(programs, "make")->io_estimated[0], 1);
	total.of[USAGE_CPU_NS] += PROGRAM_CPU_UNIT_NS;
	program(programs, "as")->grown_ns = 1;
	programs_share(programs, &total, 1);
	assert_int_equal(program(programs, "as")->cpu_units, 1);
	program(programs, "as")->grown_ns = 0;
	program(programs, "make")->cpu_units = 0;
	total.of[USAGE_CPU_NS] += PROGRAM_CPU_UNIT_NS;
	programs_share(programs, &total, 1);
	assert_int_equal(program(programs, "as")->cpu_units, 2);
	assert_int_equal(program(programs, "cc1plus")->cpu_units, 0);
}

/* The parent of processes whose records have come has the other bytes, even one. */
static void the_last_byte_is_that_of_the_only_parent(void **state)
{
	struct programs *programs = *state;
	struct usages total = {.of = {[USAGE_READ_BYTES] = 1}};

	programs->has_ended_io = true;
	program(programs, "as")->io_reaped[0] = 1;
	programs_share(programs, &total, 1);
	assert_int_equal(program(programs, "as")->io[0], 1);
	assert_int_equal(program(programs, "as")->io_estimated[0], 0);
	assert_int_equal(program(programs, "make")->io[0], 0);
}

/* A process that was too short for its clock has the least of all weights. */
static void one_short_end_has_all_the_rest(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(100);

	program(programs, "as")->ended_ns = 1;
	programs_share(programs, &total, 2);
	assert_int_equal(msec_of(programs, "as"), 100);
	total = cpu(200);
	program(programs, "cc1plus")->missed_ns = 1;
	programs_share(programs, &total, 2);
	assert_int_equal(msec_of(programs, "cc1plus"), 100);
}

/* Damaged counters of the kernel. */
static void a_total_that_goes_down_takes_nothing_away(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(100), less = cpu(50);

	total.of[USAGE_READ_BYTES] = 5000;
	less.of[USAGE_READ_BYTES] = 4000;
	program(programs, "as")->unpublished_ns = 100 * NSEC_PER_MSEC;
	program(programs, "as")->io_grown[0] = 5000;
	programs_share(programs, &total, 2);
	program_begin_pass(program(programs, "as"));
	programs_share(programs, &less, 2);
	assert_int_equal(msec_of(programs, "as"), 100);
	assert_int_equal(sum_units(programs), 1000);
	assert_int_equal(program(programs, "as")->io[0], 5000);
	assert_int_equal(programs->published_units, 1000);
	assert_int_equal(programs->published_io[0], 5000);
	/* The old total was counted. */
	programs_share(programs, &total, 2);
	assert_int_equal(sum_units(programs), 1000);
	assert_int_equal(program(programs, "as")->io[0], 5000);
}

static void a_clock_ahead_of_the_total_waits_for_it(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(300);

	program(programs, "cc1plus")->unpublished_ns = 400 * NSEC_PER_MSEC;
	program(programs, "make")->unpublished_ns = 200 * NSEC_PER_MSEC;
	programs_share(programs, &total, 2);
	assert_int_equal(msec_of(programs, "cc1plus"), 200);
	assert_int_equal(msec_of(programs, "make"), 100);
	total = cpu(600);
	programs_share(programs, &total, 2);
	assert_int_equal(msec_of(programs, "cc1plus"), 400);
	assert_int_equal(msec_of(programs, "make"), 200);
	assert_int_equal(program(programs, "make")->estimated_units, 0);
}

static void without_events_unseen_processes_are_children_of_their_parent(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(1000);

	programs->exact = false;
	program(programs, "make")->unpublished_ns = 100 * NSEC_PER_MSEC;
	program(programs, "make")->parent_ns = 9e8;
	program(programs, "cc1plus")->missed_ns = 2e8;
	programs_share(programs, &total, 1);
	assert_int_equal(msec_of(programs, "make"), 100);
	assert_int_equal(program(programs, "cc1plus")->cpu_units, 2001);
	assert_int_equal(program(programs, "short-lived children of make")->cpu_units, 6999);
	assert_int_equal(sum_units(programs), 10000);
	/* Only one of them has waited for children. */
	assert_int_equal(programs->count, 4);
}

static void a_little_rest_is_of_those_that_run(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(105);

	program(programs, "make")->grown_ns = program(programs, "make")->unpublished_ns = 100 * NSEC_PER_MSEC;
	program(programs, "make")->parent_ns = program(programs, "as")->ended_ns = 1e6;
	programs_share(programs, &total, 1);
	assert_int_equal(msec_of(programs, "make"), 105);
	assert_int_equal(program(programs, "make")->estimated_units, 0);
	/* Their clocks show it later, and it is not counted twice. */
	program(programs, "make")->unpublished_ns += 5 * NSEC_PER_MSEC;
	program(programs, "make")->grown_ns = 0;
	programs_share(programs, &total, 1);
	assert_int_equal(msec_of(programs, "make"), 105);
	assert_int_equal(program(programs, "make")->unpublished_ns, 0);
}

static void bytes_of_ended_processes_follow_their_time(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(1);

	total.of[USAGE_READ_BYTES] = 1000;
	program(programs, "make")->io_grown[0] = 100;
	program(programs, "cc1plus")->ended_ns = 2e9;
	program(programs, "as")->missed_ns = 1e9;
	programs_share(programs, &total, 1);
	assert_int_equal(program(programs, "make")->io[0], 100);
	assert_int_equal(program(programs, "cc1plus")->io[0], 600);
	assert_int_equal(program(programs, "as")->io[0], 300);
	/* A reading showed the bytes of make, and none showed the others. */
	assert_int_equal(program(programs, "make")->io_estimated[0], 0);
	assert_int_equal(program(programs, "cc1plus")->io_estimated[0], 600);
	assert_int_equal(program(programs, "as")->io_estimated[0], 300);
}

static void bytes_ahead_of_the_total_wait_for_it(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(1);

	total.of[USAGE_READ_BYTES] = 100;
	program(programs, "cc1plus")->io_grown[0] = 150;
	program(programs, "as")->io_grown[0] = 50;
	programs_share(programs, &total, 1);
	assert_int_equal(program(programs, "cc1plus")->io[0], 75);
	assert_int_equal(program(programs, "as")->io[0], 25);
	for (size_t i = 0; i < programs->count; i++)
		program_begin_pass(&programs->at[i]);
	total.of[USAGE_READ_BYTES] = 200;
	programs_share(programs, &total, 1);
	assert_int_equal(program(programs, "cc1plus")->io[0], 150);
	assert_int_equal(program(programs, "as")->io[0], 50);
}

static void with_exit_records_parents_have_the_rest_of_the_bytes(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(1);

	programs->has_ended_io = true;
	total.of[USAGE_READ_BYTES] = 1000;
	program(programs, "cc1plus")->io_grown[0] = 900;
	program(programs, "cc1plus")->ended_ns = 2e9;
	program(programs, "make")->io_reaped[0] = 1000;
	programs_share(programs, &total, 1);
	assert_int_equal(program(programs, "make")->io[0], 100);
	assert_int_equal(program(programs, "cc1plus")->io[0], 900);
	assert_int_equal(program(programs, "make")->io_estimated[0], 0);
}

/* Without events, children of the only known program may have come and gone, and have written these bytes. */
static void bytes_of_unseen_children_are_an_estimate(void **state)
{
	struct usages total = cpu(1);

	(void)state;
	for (int exact = 0; exact < 2; exact++) {
		struct programs *programs = NULL;

		assert_int_equal(programs_new(false, &programs), 0);
		(void)programs_index(programs, "make");
		program(programs, "make")->io_reaped[1] = 1000;
		program(programs, "make")->grown_ns = NSEC_PER_MSEC;
		programs->exact = exact;
		total.of[USAGE_WRITE_BYTES] = 1000;
		programs_share(programs, &total, 1);
		assert_int_equal(program(programs, "make")->io[1], 1000);
		assert_int_equal(program(programs, "make")->io_estimated[1], exact ? 0 : 1000);
		programs_free(programs);
	}
}

/* Those of the only program are known, unless it has waited for children that may have been others. */
static void bytes_that_no_reading_shows_are_known_of_a_single_program(void **state)
{
	static const struct {
		int programs;
		bool exact;
		int64_t reaped;
		double parent_ns;
		bool estimated;
	} CASES[] = {
		{1, true, 0, 0, false}, {1, false, 0, 0, false}, {1, false, 1, 0, true},
		{1, false, 0, 1, true}, {1, true, 1, 1, false},  {2, true, 0, 0, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct usages total = {.of = {[USAGE_READ_BYTES] = 50}};
		struct programs *programs = NULL;

		assert_int_equal(programs_new(false, &programs), 0);
		programs->exact = CASES[i].exact;
		(void)programs_index(programs, "make");
		if (CASES[i].programs > 1)
			(void)programs_index(programs, "as");
		program(programs, "make")->io_reaped[0] = CASES[i].reaped;
		program(programs, "make")->parent_ns = CASES[i].parent_ns;
		programs_share(programs, &total, 1);
		assert_int_equal(program(programs, "make")->io[0], 50);
		assert_int_equal(program(programs, "make")->io_estimated[0], CASES[i].estimated ? 50 : 0);
		programs_free(programs);
	}
}

static void the_last_bytes_of_two_parents_are_an_estimate(void **state)
{
	struct programs *programs = *state;
	struct usages total = {.of = {[USAGE_READ_BYTES] = 2}};

	programs->has_ended_io = true;
	program(programs, "make")->io_reaped[0] = program(programs, "as")->io_reaped[0] = 1;
	programs_share(programs, &total, 1);
	assert_int_equal(program(programs, "make")->io_estimated[0], 1);
	assert_int_equal(program(programs, "as")->io_estimated[0], 1);
}

static void bytes_of_several_parents_are_an_estimate(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(1);

	programs->has_ended_io = true;
	total.of[USAGE_READ_BYTES] = 1000;
	program(programs, "cc1plus")->io_grown[0] = 900;
	program(programs, "make")->io_reaped[0] = 600;
	program(programs, "as")->io_reaped[0] = 400;
	programs_share(programs, &total, 1);
	assert_int_equal(program(programs, "make")->io_estimated[0], 60);
	assert_int_equal(program(programs, "as")->io_estimated[0], 40);
	assert_int_equal(program(programs, "cc1plus")->io_estimated[0], 0);
}

/* With any clocks the sums are exact and no figure goes down. */
static void sums_hold_for_random_histories(void **state)
{
	struct programs *programs = *state;
	struct usages total = {0};

	srand(7);
	for (int pass = 0; pass < 2000; pass++) {
		int64_t before[64] = {0}, bytes = 0;

		for (size_t i = 0; i < programs->count; i++)
			before[i] = programs->at[i].cpu_units;
		programs->exact = rand() % 4 != 0;
		programs->has_ended_io = rand() % 2;
		for (size_t i = 0; i < 3; i++) {
			struct program *at = &programs->at[i];

			program_begin_pass(at);
			at->grown_ns = rand() % 3 ? rand() % 100000000 : 0;
			at->unpublished_ns += at->grown_ns;
			at->missed_ns += rand() % 5 ? 0 : rand() % 100000000;
			at->ended_ns += rand() % 5 ? 0 : rand() % 100000000;
			at->parent_ns += rand() % 5 ? 0 : rand() % 100000000;
			at->io_grown[1] = rand() % 1000;
			at->io_reaped[1] = rand() % 3 ? 0 : rand() % 1000;
		}
		total.of[USAGE_UTIME_NS] += rand() % 90000000;
		total.of[USAGE_CPU_NS] = total.of[USAGE_UTIME_NS] + pass * INT64_C(1234567);
		total.of[USAGE_WRITE_BYTES] += rand() % 3000;
		programs_share(programs, &total, 3);
		assert_int_equal(sum_units(programs), programs->published_units);
		for (size_t i = 0; i < programs->count; i++) {
			assert_true(programs->at[i].cpu_units >= before[i]);
			assert_true(programs->at[i].estimated_units <= programs->at[i].cpu_units);
			assert_true(programs->at[i].io_estimated[1] <= programs->at[i].io[1]);
			bytes += programs->at[i].io[1];
		}
		assert_int_equal(bytes, total.of[USAGE_WRITE_BYTES]);
	}
}

/* Time of its clock that was published too early is not published again. */
static void early_time_of_a_program_is_published_once(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(100);

	program(programs, "make")->unpublished_ns = 100 * NSEC_PER_MSEC;
	program(programs, "as")->unpublished_ns = -1;
	programs_share(programs, &total, 1);
	assert_int_equal(program(programs, "make")->cpu_units, 1000);
	assert_int_equal(program(programs, "as")->cpu_units, 0);
}

/* Even if its weight is the least of all. */
static void a_little_rest_is_first_that_of_a_missed_end(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(1);

	program(programs, "make")->grown_ns = NSEC_PER_MSEC;
	program(programs, "as")->missed_ns = 1;
	programs_share(programs, &total, 1);
	assert_int_equal(program(programs, "as")->cpu_units, 10);
	assert_int_equal(program(programs, "as")->estimated_units, 10);
}

/* Even if the parent has waited for the shortest one. */
static void a_large_rest_is_that_of_an_unseen_child(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(100);

	programs->exact = false;
	program(programs, "make")->parent_ns = 1;
	program(programs, "as")->ended_ns = 1e6;
	programs_share(programs, &total, 1);
	assert_int_equal(msec_of(programs, "short-lived children of make"), 100);
}

/* No parent has waited for a child that nothing saw. */
static void a_large_rest_is_that_of_ended_programs_and_else_of_those_that_run(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(100);

	programs->exact = false;
	program(programs, "cc1plus")->ended_ns = 1e6;
	program(programs, "as")->grown_ns = NSEC_PER_MSEC;
	programs_share(programs, &total, 1);
	assert_int_equal(msec_of(programs, "cc1plus"), 100);
	assert_int_equal(program(programs, "cc1plus")->estimated_units, 1000);
	total = cpu(200);
	programs_share(programs, &total, 1);
	assert_int_equal(msec_of(programs, "as"), 100);
	assert_int_equal(program(programs, "as")->estimated_units, 0);
	/* As much as the race, 11 ms, is that of those that run, even if others ended. */
	total = cpu(211);
	program(programs, "cc1plus")->ended_ns = 1e6;
	programs_share(programs, &total, 1);
	assert_int_equal(msec_of(programs, "as"), 111);
	assert_int_equal(programs->count, 3);
}

/* No other process can have used it: events tell of all, or no parent has waited. */
static void a_missed_end_has_all_the_rest_unless_others_were_unseen(void **state)
{
	struct programs *programs = *state;
	struct usages total = {0};

	for (int exact = 0; exact <= 1; exact++) {
		total = cpu(100 * (exact + 1));
		programs->exact = exact;
		program(programs, "make")->parent_ns = exact ? 9e8 : 0;
		program(programs, "cc1plus")->ended_ns = 1e9;
		program(programs, "as")->missed_ns = 1e6;
		programs_share(programs, &total, 1);
		assert_int_equal(msec_of(programs, "as"), 100 * (exact + 1));
	}
}

/* Clocks have shown all of the growth, so that none of it was that of the missed end. */
static void a_missed_end_waits_for_a_rest(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(10);

	programs->pass_ns = NSEC_PER_SEC;
	program(programs, "make")->unpublished_ns = 10 * NSEC_PER_MSEC;
	program(programs, "as")->missed_ns = 100e6;
	programs_share(programs, &total, 1);
	assert_int_equal(program(programs, "make")->cpu_units, 100);
	assert_true(program(programs, "as")->missed_ns == 100e6);
}

/* Weights of missed ends fade from pass to pass, until a sum with a new one does not show them. */
static void faded_weights_beside_a_large_one_get_nothing(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(100);

	program(programs, "make")->missed_ns = 1e9;
	program(programs, "cc1plus")->missed_ns = program(programs, "as")->missed_ns = 1e-9;
	programs_share(programs, &total, 1);
	assert_int_equal(program(programs, "make")->cpu_units, 1000);
	assert_int_equal(program(programs, "cc1plus")->cpu_units, 0);
	assert_int_equal(program(programs, "as")->cpu_units, 0);
}

/* Each running process may have used a millisecond between the two readings. */
static void a_rest_within_the_race_is_that_of_running_programs(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(14);

	programs->exact = false;
	program(programs, "make")->parent_ns = 1e6;
	program(programs, "as")->grown_ns = NSEC_PER_MSEC;
	programs_share(programs, &total, 4);
	assert_int_equal(msec_of(programs, "as"), 14);
	assert_int_equal(programs->count, 3);
	/* More than that is time of children that nothing saw. */
	program(programs, "make")->parent_ns = 1e6;
	total = cpu(14 + 30);
	programs_share(programs, &total, 4);
	assert_int_equal(msec_of(programs, "short-lived children of make"), 30);
	assert_true(program(programs, "short-lived children of make")->is_unseen);
}

/* Its time may come a pass later, but not minutes later. */
static void a_missed_weight_is_forgotten_after_two_seconds(void **state)
{
	struct programs *programs = *state;
	struct usages total = cpu(10);

	programs->pass_ns = NSEC_PER_SEC;
	program(programs, "as")->missed_ns = 100e6;
	programs_share(programs, &total, 2);
	assert_int_equal(msec_of(programs, "as"), 10);
	assert_int_equal((int64_t)program(programs, "as")->missed_ns, 45000000);
	programs->pass_ns = 3 * NSEC_PER_SEC;
	total = cpu(20);
	programs_share(programs, &total, 2);
	assert_int_equal((int64_t)program(programs, "as")->missed_ns, 0);
}

static void further_programs_share_the_last_row(void **state)
{
	struct programs *programs = *state;
	char name[32];

	for (int i = 0; i < PROGRAMS_MOST + 10; i++) {
		snprintf(name, sizeof name, "program %d", i);
		assert_true(programs_index(programs, name) < PROGRAMS_MOST);
	}
	assert_int_equal(programs_index(programs, "one more"), PROGRAMS_MOST - 1);
	assert_int_equal(programs->count, PROGRAMS_MOST);
	assert_string_equal(programs->at[PROGRAMS_MOST - 1].name, "more programs");
	assert_int_equal(programs_index(programs, "as"), 2);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_missed_end_gets_the_rest_as_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(time_that_no_clock_shows_is_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(all_ends_were_told_so_none_is_unseen, begin, end),
		cmocka_unit_test_setup_teardown(the_smallest_rest_counts_for_one_program, begin, end),
		cmocka_unit_test_setup_teardown(the_last_byte_is_that_of_the_only_parent, begin, end),
		cmocka_unit_test_setup_teardown(one_short_end_has_all_the_rest, begin, end),
		cmocka_unit_test_setup_teardown(a_total_that_goes_down_takes_nothing_away, begin, end),
		cmocka_unit_test_setup_teardown(a_clock_ahead_of_the_total_waits_for_it, begin, end),
		cmocka_unit_test_setup_teardown(without_events_unseen_processes_are_children_of_their_parent,
						begin, end),
		cmocka_unit_test_setup_teardown(a_little_rest_is_of_those_that_run, begin, end),
		cmocka_unit_test_setup_teardown(bytes_of_ended_processes_follow_their_time, begin, end),
		cmocka_unit_test_setup_teardown(bytes_ahead_of_the_total_wait_for_it, begin, end),
		cmocka_unit_test_setup_teardown(with_exit_records_parents_have_the_rest_of_the_bytes, begin,
						end),
		cmocka_unit_test(bytes_of_unseen_children_are_an_estimate),
		cmocka_unit_test(bytes_that_no_reading_shows_are_known_of_a_single_program),
		cmocka_unit_test_setup_teardown(the_last_bytes_of_two_parents_are_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(bytes_of_several_parents_are_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(early_time_of_a_program_is_published_once, begin, end),
		cmocka_unit_test_setup_teardown(a_little_rest_is_first_that_of_a_missed_end, begin, end),
		cmocka_unit_test_setup_teardown(a_large_rest_is_that_of_an_unseen_child, begin, end),
		cmocka_unit_test_setup_teardown(a_missed_end_waits_for_a_rest, begin, end),
		cmocka_unit_test_setup_teardown(
			a_large_rest_is_that_of_ended_programs_and_else_of_those_that_run, begin, end),
		cmocka_unit_test_setup_teardown(a_missed_end_has_all_the_rest_unless_others_were_unseen,
						begin, end),
		cmocka_unit_test_setup_teardown(faded_weights_beside_a_large_one_get_nothing, begin, end),
		cmocka_unit_test_setup_teardown(sums_hold_for_random_histories, begin, end),
		cmocka_unit_test_setup_teardown(a_rest_within_the_race_is_that_of_running_programs, begin,
						end),
		cmocka_unit_test_setup_teardown(a_missed_weight_is_forgotten_after_two_seconds, begin, end),
		cmocka_unit_test_setup_teardown(further_programs_share_the_last_row, begin, end),
	};

	enum { COUNT = sizeof tests / sizeof *tests };
	struct CMUnitTest both[2 * COUNT];

	/* Which program comes first makes no difference, but for a rest of one unit and for the limit of programs. */
	for (size_t i = 0; i < COUNT; i++) {
		both[i] = both[COUNT + i] = tests[i];
		if (tests[i].setup_func == begin &&
		    tests[i].test_func != the_smallest_rest_counts_for_one_program &&
		    tests[i].test_func != further_programs_share_the_last_row)
			both[COUNT + i].setup_func = begin_backwards;
	}
	return cmocka_run_group_tests(both, NULL, NULL);
}
