/* Tests of src/job/programs/programs.c with a listener of its own, which says what each test wants. */
#include "said_programs.h"

static int64_t exits(const struct world *world)
{
	int64_t sum = 0;

	for (size_t i = 0; i < world->programs->count; i++)
		sum += world->programs->at[i].exited_count;
	return sum;
}

static int64_t living(const struct world *world)
{
	int64_t sum = 0;

	for (size_t i = 0; i < world->programs->count; i++)
		sum += world->programs->at[i].process_count;
	return sum;
}

static void let_passes_go_by(struct world *world, int count)
{
	world->tree.count = 0;
	for (int i = 0; i < count; i++)
		programs_end_pass(world->programs, &world->tree);
}

static void tell_the_exit(void)
{
	said.events[said.count++] = (struct program_event){
		.kind = PROGRAM_EXITED, .pid = getpid(), .before = "job", .clock_ns = -1};
	said.knows = false;
}

/* The members that a pass has missed are a part of those that ended: 2,764 was followed by 0. */
static void exits_are_unknown_once_events_were_lost(void **state)
{
	struct world *world = *state;

	world->tree.programs = world->programs;
	world->tree.exited_count = 3;
	said_exits = 2764;
	assert_int_equal(programs_exits(&world->tree), 2764);
	said_exits = PROGRAM_EXITS_LOST;
	assert_int_equal(programs_exits(&world->tree), -1);
	said_exits = -1;
	assert_int_equal(programs_exits(&world->tree), 3);
	world->tree.cpu.exits_missed = true;
	assert_int_equal(programs_exits(&world->tree), -1);
	said_exits = 0;
	assert_int_equal(programs_exits(&world->tree), 0);
	/* Without programs, passes alone count them. */
	world->tree.programs = NULL;
	assert_int_equal(programs_exits(&world->tree), -1);
	world->tree.cpu.exits_missed = false;
	assert_int_equal(programs_exits(&world->tree), 3);
}

static void an_event_in_time_counts_once(void **state)
{
	struct world *world = *state;

	tell_the_exit();
	let_passes_go_by(world, 8);
	assert_int_equal(exits(world), 1);
}

static void without_an_event_it_counts_once(void **state)
{
	struct world *world = *state;

	let_passes_go_by(world, 8);
	assert_int_equal(exits(world), 1);
}

/* The event comes when the pass that gives the process up has taken its events already. */
static void an_event_in_the_last_moment_counts_once(void **state)
{
	struct world *world = *state;

	let_passes_go_by(world, 2);
	assert_int_equal(exits(world), 0);
	said.knows = false;
	let_passes_go_by(world, 1);
	tell_the_exit();
	let_passes_go_by(world, 4);
	assert_int_equal(exits(world), 1);
}

static void an_event_that_is_lost_is_not_waited_for(void **state)
{
	struct world *world = *state;

	said.knows = false;
	let_passes_go_by(world, 8);
	assert_int_equal(exits(world), 1);
}

/* The exit of its first thread was told. Its other threads work on. */
static void live_on(struct world *world)
{
	said_added_again = 0;
	world->member.state = 'Z';
	world->member.thread_count = 2;
	tell_the_exit();
	programs_end_pass(world->programs, &world->tree);
	said.knows = true;
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(exits(world), 0);
	assert_int_equal(said_added_again, 1);
}

static void a_process_ends_when_the_threads_that_outlived_the_first_are_gone(void **state)
{
	struct world *world = *state;

	live_on(world);
	let_passes_go_by(world, 1);
	assert_int_equal(exits(world), 1);
	let_passes_go_by(world, 4);
	assert_int_equal(exits(world), 1);
}

static void a_process_that_lived_on_ends_as_a_zombie(void **state)
{
	struct world *world = *state;

	live_on(world);
	world->member.is_zombie = true;
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(exits(world), 1);
	programs_end_pass(world->programs, &world->tree);
	let_passes_go_by(world, 4);
	assert_int_equal(exits(world), 1);
	assert_int_equal(said_added_again, 1);
}

static void the_last_pass_counts_it_at_once(void **state)
{
	struct world *world = *state;

	said.knows = false;
	programs_finish(world->programs);
	let_passes_go_by(world, 1);
	assert_int_equal(exits(world), 1);
}

static const struct program *program_named(const struct world *world, const char *name)
{
	for (size_t i = 0; i < world->programs->count; i++)
		if (strcmp(world->programs->at[i].name, name) == 0)
			return &world->programs->at[i];
	fail();
	return NULL;
}

/* 30 of 100 ms were seen before its end. Another program has not been seen at all. */
static void the_time_up_to_the_last_look_is_exact(void **state)
{
	struct world *world = *state;

	said.events[0] = (struct program_event){.kind = PROGRAM_EXITED,
						.pid = 1 << 22,
						.before = "seen",
						.clock_ns = -1,
						.seen_ns = 30000000,
						.life_ns = 80000000,
						.unseen_ns = 20000000};
	said.events[1] = (struct program_event){.kind = PROGRAM_EXITED,
						.pid = (1 << 22) - 1,
						.before = "unseen",
						.clock_ns = -1,
						.life_ns = 60000000,
						.unseen_ns = 60000000};
	said.count = 2;
	world->tree.cpu.account.published.of[USAGE_CPU_NS] = 100000000;
	programs_end_pass(world->programs, &world->tree);
	/* Its 20 ms count as 10, because it had a CPU half of the time, and the 60 ms of the other one as 30. */
	assert_int_equal(program_named(world, "seen")->cpu_units, 300 + 175);
	assert_int_equal(program_named(world, "seen")->estimated_units, 175);
	assert_int_equal(program_named(world, "unseen")->cpu_units, 525);
	assert_int_equal(program_named(world, "unseen")->estimated_units, 525);
}

static void tell_an_exec(pid_t pid, const char *before, const char *after, int64_t clock_ns, bool is_first)
{
	said.events[said.count++] = (struct program_event){.kind = PROGRAM_EXECED,
							   .pid = pid,
							   .before = before,
							   .after = after,
							   .clock_ns = clock_ns,
							   .is_first = is_first};
}

/* make forks, and the child runs sh. The kernel's exit record counts all of it for sh, too. */
static void the_time_between_a_fork_and_its_first_exec_is_the_new_programs(void **state)
{
	struct world *world = *state;

	tell_an_exec(1 << 22, "make", "sh", 5000000, true);
	said.events[said.count++] = (struct program_event){
		.kind = PROGRAM_EXITED, .pid = 1 << 22, .before = "sh", .clock_ns = 20000000};
	world->tree.cpu.account.published.of[USAGE_CPU_NS] = 20000000;
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(program_named(world, "sh")->cpu_units, 200);
	for (size_t i = 0; i < world->programs->count; i++)
		assert_string_not_equal(world->programs->at[i].name, "make");
}

static void the_time_before_a_later_exec_stays_with_the_earlier_program(void **state)
{
	struct world *world = *state;

	tell_an_exec(1 << 22, "env", "true", 5000000, false);
	said.events[said.count++] = (struct program_event){
		.kind = PROGRAM_EXITED, .pid = 1 << 22, .before = "true", .clock_ns = 20000000};
	world->tree.cpu.account.published.of[USAGE_CPU_NS] = 20000000;
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(program_named(world, "env")->cpu_units, 50);
	assert_int_equal(program_named(world, "true")->cpu_units, 150);
}

/* The tree's total has the time of cc1 only after its parent has waited for it. Meanwhile an sh of a moment ends. */
static void the_time_of_a_missed_process_may_come_a_pass_later(void **state)
{
	struct world *world = *state;

	said.events[said.count++] = (struct program_event){.kind = PROGRAM_EXITED,
							   .pid = 1 << 22,
							   .before = "cc1",
							   .clock_ns = -1,
							   .unseen_ns = 100000000};
	world->tree.cpu.account.published.of[USAGE_CPU_NS] = 1000000;
	programs_end_pass(world->programs, &world->tree);
	said.events[said.count++] = (struct program_event){.kind = PROGRAM_EXITED,
							   .pid = (1 << 22) - 1,
							   .before = "sh",
							   .clock_ns = -1,
							   .unseen_ns = 1000000};
	world->tree.cpu.account.published.of[USAGE_CPU_NS] = 101000000;
	programs_end_pass(world->programs, &world->tree);
	assert_true(program_named(world, "cc1")->cpu_units > 970);
	assert_true(program_named(world, "sh")->cpu_units < 40);
}

/* Its end was read in time, 1 ms after the last look: 50 of its 100 ms were used, not 50 of 1. */
static void a_whole_life_tells_how_busy_it_was(void **state)
{
	struct world *world = *state;

	said.events[0] = (struct program_event){.kind = PROGRAM_EXITED,
						.pid = 1 << 22,
						.before = "od",
						.clock_ns = 150000000,
						.before_ns = 100000000,
						.life_ns = 100000000,
						.unseen_ns = 1000000,
						.seen_ns = 149000000};
	said.count = 1;
	world->tree.cpu.account.published.of[USAGE_CPU_NS] = 150000000;
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(program_named(world, "od")->known.cpu_ns, 50000000);
	assert_int_equal(program_named(world, "od")->known.life_ns, 100000000);
}

static void tell_a_missed_exit(pid_t pid, const char *before, int64_t life_ns)
{
	said.events[said.count++] = (struct program_event){.kind = PROGRAM_EXITED,
							   .pid = pid,
							   .before = before,
							   .parent = "gcc",
							   .clock_ns = -1,
							   .life_ns = life_ns,
							   .unseen_ns = life_ns};
}

/* gcc starts cc1, which lives for 200 ms, and as, which lives for 5 ms. Then it starts two whose names nothing reads. */
static void a_nameless_process_counts_for_those_alike(void **state)
{
	struct world *world = *state;

	tell_a_missed_exit(1 << 22, "cc1", 200000000);
	tell_a_missed_exit((1 << 22) - 1, "as", 5000000);
	world->tree.cpu.account.published.of[USAGE_CPU_NS] = 205000000;
	programs_end_pass(world->programs, &world->tree);
	tell_a_missed_exit((1 << 22) - 2, NULL, 100000000);
	tell_a_missed_exit((1 << 22) - 3, NULL, 10000000);
	world->tree.cpu.account.published.of[USAGE_CPU_NS] += 110000000;
	programs_end_pass(world->programs, &world->tree);
	assert_true(program_named(world, "cc1")->cpu_units >= 2995 &&
		    program_named(world, "cc1")->cpu_units <= 3005);
	assert_true(program_named(world, "as")->cpu_units >= 145 &&
		    program_named(world, "as")->cpu_units <= 155);
	assert_int_equal(program_named(world, "as")->estimated_units, program_named(world, "as")->cpu_units);
	/* Their number stays where it is known. */
	assert_int_equal(program_named(world, "as")->exited_count, 1);
	assert_int_equal(program_named(world, "short-lived children of gcc")->exited_count, 2);
	assert_int_equal(program_named(world, "short-lived children of gcc")->cpu_units, 0);
	/* Nothing of gcc lived for 2 s. */
	tell_a_missed_exit((1 << 22) - 4, NULL, 2000000000);
	world->tree.cpu.account.published.of[USAGE_CPU_NS] += 100000000;
	programs_end_pass(world->programs, &world->tree);
	assert_true(program_named(world, "short-lived children of gcc")->cpu_units >= 990 &&
		    program_named(world, "short-lived children of gcc")->cpu_units <= 1000);
}

/* A pass names the process. Then come its fork and exec, too late to read the name. */
static void a_late_exec_keeps_the_name_of_a_pass(void **state)
{
	struct world *world = *state;

	tell_an_exec(getpid(), "sh", NULL, -1, true);
	said.events[0].parent = "make";
	said.events[0].at_ns = 1;
	programs_end_pass(world->programs, &world->tree);
	for (size_t i = 0; i < world->programs->count; i++)
		assert_string_not_equal(world->programs->at[i].name, "short-lived children of make");
	/* The name is that of before this exec. */
	tell_an_exec(getpid(), "sh", NULL, -1, false);
	said.events[0].parent = "make";
	said.events[0].at_ns = INT64_MAX;
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(program_named(world, "short-lived children of make")->process_count, 1);
}

/* Nothing told the end of the first one, and the next pass finds another process with its pid. */
static void a_process_counts_as_ended_when_its_pid_is_reused(void **state)
{
	struct world *world = *state;

	world->member.start_ticks = 2;
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(exits(world), 1);
	tell_the_exit();
	let_passes_go_by(world, 8);
	assert_int_equal(exits(world), 2);
}

/* The pass read it after an exec, and it ended before the events were taken. */
static void a_pass_leaves_out_an_ended_process(void **state)
{
	struct world *world = *state;

	said_added = 0;
	world->member.program.identity = 2;
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(said_added, 1);
	world->member.program.identity = 3;
	tell_the_exit();
	assert_int_equal(living(world), 1);
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(said_added, 1);
	assert_int_equal(exits(world), 1);
	/* It was one of six of five in a run that ended then. */
	assert_int_equal(living(world), 0);
}

/* A process of which only an exec was told: its start is unknown, and so is the time that it was likely to use. */
static void an_end_without_a_start_has_no_likely_time(void **state)
{
	struct world *world = *state;

	tell_an_exec(1 << 22, "before", "after", 5000000, false);
	programs_end_pass(world->programs, &world->tree);
	assert_true(program_named(world, "after")->missed_ns == 0);
	said.knows = false;
	let_passes_go_by(world, 8);
	assert_true(program_named(world, "after")->missed_ns == 0);
	assert_int_equal(program_named(world, "after")->exited_count, 1);
}

/* Another process may wait for a daemon of an attached tree. A wrapped one has the kernel's sum by wait4(2). */
static void time_of_clocks_raises_the_account_of_an_attached_tree(void **state)
{
	struct world *world = *state;

	for (int wrapped = 1; wrapped >= 0; wrapped--) {
		world->tree.started_by_caller = wrapped;
		world->member.cpu.account.own.of[USAGE_CPU_NS] += 5000000;
		programs_end_pass(world->programs, &world->tree);
		assert_int_equal(world->tree.cpu.account.published.of[USAGE_CPU_NS], wrapped ? 0 : 10000000);
	}
}

/* The kernel rounds the bytes of calls down to whole KiB, but not those of storage. */
static void bytes_of_calls_were_rounded_down(void **state)
{
	struct world *world = *state;

	tell_the_exit();
	said.events[0].has_io = true;
	said.events[0].io[TASKSTATS_WRITTEN] = 4096;
	said.events[0].io[USAGE_READ_CHARS - USAGE_READ_BYTES] = 2048;
	world->tree.cpu.account.published.of[USAGE_WRITE_BYTES] = 4096;
	world->tree.cpu.account.published.of[USAGE_READ_CHARS] = 2560;
	programs_end_pass(world->programs, &world->tree);
	assert_int_equal(program_named(world, "job")->io[TASKSTATS_WRITTEN], 4096);
	assert_int_equal(program_named(world, "job")->io[USAGE_READ_CHARS - USAGE_READ_BYTES], 2560);
	assert_int_equal(program_named(world, "job")->io_estimated[USAGE_READ_CHARS - USAGE_READ_BYTES], 0);
}

/* Passes and looks have seen all of its 1 ms, and it slept on. Others of the job were busy. */
static void a_sleeper_gets_no_time_of_others(void **state)
{
	struct world *world = *state;

	world->member.cpu.account.own.of[USAGE_CPU_NS] = 1000000;
	world->tree.cpu.account.published.of[USAGE_CPU_NS] = 1000000;
	programs_end_pass(world->programs, &world->tree);
	world->programs->known[false] = (struct known_use){100000000, 100000000};
	said.events[said.count++] = (struct program_event){.kind = PROGRAM_EXITED,
							   .pid = 1 << 22,
							   .before = "busy",
							   .clock_ns = -1,
							   .unseen_ns = 20000000};
	tell_the_exit();
	said.events[1].seen_ns = 1000000;
	said.events[1].life_ns = 420000000;
	said.events[1].unseen_ns = 20000000;
	world->tree.cpu.account.published.of[USAGE_CPU_NS] = 21000000;
	let_passes_go_by(world, 1);
	assert_true(program_named(world, "busy")->cpu_units >= 199);
	assert_true(program_named(world, "job")->cpu_units <= 11);
}

/* Its bytes before and after the last pass count once. */
static void bytes_of_a_record_are_those_that_no_pass_has_seen(void **state)
{
	struct world *world = *state;

	world->member.cpu.account.own.of[USAGE_WRITE_BYTES] = 4096;
	world->tree.cpu.account.published.of[USAGE_WRITE_BYTES] = 4096;
	programs_end_pass(world->programs, &world->tree);
	tell_the_exit();
	said.events[0].has_io = true;
	said.events[0].io[TASKSTATS_WRITTEN] = 12288;
	said.events[1] = (struct program_event){.kind = PROGRAM_EXITED,
						.pid = 1 << 22,
						.before = "other",
						.clock_ns = -1,
						.has_io = true,
						.io = {[TASKSTATS_WRITTEN] = 8192}};
	said.count = 2;
	world->tree.cpu.account.published.of[USAGE_WRITE_BYTES] = 12288 + 8192;
	let_passes_go_by(world, 1);
	assert_int_equal(program_named(world, "other")->io[TASKSTATS_WRITTEN], 8192);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_event_in_time_counts_once, begin, end),
		cmocka_unit_test_setup_teardown(without_an_event_it_counts_once, begin, end),
		cmocka_unit_test_setup_teardown(an_event_in_the_last_moment_counts_once, begin, end),
		cmocka_unit_test_setup_teardown(an_event_that_is_lost_is_not_waited_for, begin, end),
		cmocka_unit_test_setup_teardown(
			a_process_ends_when_the_threads_that_outlived_the_first_are_gone, begin, end),
		cmocka_unit_test_setup_teardown(a_process_that_lived_on_ends_as_a_zombie, begin, end),
		cmocka_unit_test_setup_teardown(the_time_up_to_the_last_look_is_exact, begin, end),
		cmocka_unit_test_setup_teardown(
			the_time_between_a_fork_and_its_first_exec_is_the_new_programs, begin, end),
		cmocka_unit_test_setup_teardown(the_time_before_a_later_exec_stays_with_the_earlier_program,
						begin, end),
		cmocka_unit_test_setup_teardown(a_sleeper_gets_no_time_of_others, begin, end),
		cmocka_unit_test_setup_teardown(a_whole_life_tells_how_busy_it_was, begin, end),
		cmocka_unit_test_setup_teardown(a_nameless_process_counts_for_those_alike, begin, end),
		cmocka_unit_test_setup_teardown(a_late_exec_keeps_the_name_of_a_pass, begin, end),
		cmocka_unit_test_setup_teardown(a_process_counts_as_ended_when_its_pid_is_reused, begin, end),
		cmocka_unit_test_setup_teardown(the_time_of_a_missed_process_may_come_a_pass_later, begin,
						end),
		cmocka_unit_test_setup_teardown(bytes_of_a_record_are_those_that_no_pass_has_seen, begin,
						end),
		cmocka_unit_test_setup_teardown(the_last_pass_counts_it_at_once, begin, end),
		cmocka_unit_test_setup_teardown(an_end_without_a_start_has_no_likely_time, begin, end),
		cmocka_unit_test_setup_teardown(time_of_clocks_raises_the_account_of_an_attached_tree, begin,
						end),
		cmocka_unit_test_setup_teardown(bytes_of_calls_were_rounded_down, begin, end),
		cmocka_unit_test_setup_teardown(a_pass_leaves_out_an_ended_process, begin, end),
		cmocka_unit_test_setup_teardown(exits_are_unknown_once_events_were_lost, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
