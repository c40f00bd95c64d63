/* Tests of src/job/programs/programs.c: which figures of several processes count for which program, and how those of the rest do. */
#include "said_programs.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/clock.h"

enum { NOBODY = 1 << 22 }; /* no process has this number, or one of the next */

/* Members of a job: numbers of processes that do not exist, so that their names are those of their files. */
static struct member members[4];

static struct member *add_member(struct world *world, pid_t pid, const char *name)
{
	struct member *member = &members[world->tree.count++];

	*member = (struct member){.pid = pid, .start_ticks = 1, .state = 'S', .program.identity = 1};
	snprintf(member->program.comm, sizeof member->program.comm, "%s", name);
	world->tree.members = members;
	return member;
}

/* A job of which no pass has seen a process. */
static int begin_empty(void **state)
{
	struct world *world;

	if (begin(state) < 0)
		return -1;
	world = *state;
	world->tree.count = 0;
	programs_free(world->programs);
	if (programs_new(true, &world->programs) < 0)
		return -1;
	world->programs->started = world->programs->exact = true;
	return 0;
}

static struct program *program_named(const struct world *world, const char *name)
{
	for (size_t i = 0; i < world->programs->count; i++)
		if (strcmp(world->programs->at[i].name, name) == 0)
			return &world->programs->at[i];
	return NULL;
}

static int64_t units_of(const struct world *world, const char *name)
{
	const struct program *program = program_named(world, name);

	assert_non_null(program);
	return program->cpu_units;
}

static void add_ms(struct member *member, int ms)
{
	member->cpu.account.own.of[USAGE_CPU_NS] += ms * NSEC_PER_MSEC;
}

/* A pass in which the total of the job has grown by so much. */
static void pass_with_ms(struct world *world, int ms)
{
	world->tree.cpu.account.published.of[USAGE_CPU_NS] += ms * NSEC_PER_MSEC;
	programs_end_pass(world->programs, &world->tree);
}

static struct program_event *tell_end(pid_t pid, const char *before, int64_t clock_ms)
{
	struct program_event *event = &said.events[said.count++];

	*event = (struct program_event){.kind = PROGRAM_EXITED,
					.pid = pid,
					.before = before,
					.clock_ns = clock_ms < 0 ? -1 : clock_ms * NSEC_PER_MSEC};
	return event;
}

/* ---- CPU time ---------------------------------------------------------------------------------------------------- */

/* Clocks and totals are read one after the other. */
static void a_little_rest_is_that_of_the_programs_that_run(void **state)
{
	struct world *world = *state;
	struct member *busy = add_member(world, NOBODY, "busy"),
		      *other = add_member(world, NOBODY + 1, "other");

	pass_with_ms(world, 0);
	add_ms(busy, 30);
	add_ms(other, 10);
	pass_with_ms(world, 48);
	assert_int_equal(units_of(world, "busy"), 300 + 60);
	assert_int_equal(units_of(world, "other"), 100 + 20);
	/* Time that was published early shows up in the clocks later, and does not count again. */
	add_ms(busy, 6);
	add_ms(other, 2);
	pass_with_ms(world, 0);
	assert_int_equal(units_of(world, "busy"), 360);
	add_ms(busy, 1);
	pass_with_ms(world, 1);
	assert_int_equal(units_of(world, "busy"), 370);
	assert_int_equal(world->programs->published_units, 490);
	/* One that does not run gets none, whatever it had before. */
	add_ms(other, 10);
	pass_with_ms(world, 13);
	assert_int_equal(units_of(world, "busy"), 370);
	assert_int_equal(units_of(world, "other"), 120 + 130);
}

static void the_time_of_a_member_never_goes_down(void **state)
{
	struct world *world = *state;
	struct member *member = add_member(world, NOBODY, "job");

	add_ms(member, 30);
	pass_with_ms(world, 30);
	add_ms(member, -20);
	pass_with_ms(world, 0);
	assert_int_equal(units_of(world, "job"), 300);
	add_ms(member, 25);
	pass_with_ms(world, 5);
	assert_int_equal(units_of(world, "job"), 350);
	assert_int_equal(program_named(world, "job")->credited_ns, 35 * NSEC_PER_MSEC);
}

/* Its first pass counts all but what it had used before the tracking. */
static void use_before_the_tracking_counts_for_no_program(void **state)
{
	struct world *world = *state;
	struct member *member = add_member(world, NOBODY, "job");
	struct account *account = &member->cpu.account;

	account->own.of[USAGE_CPU_NS] = 50 * NSEC_PER_MSEC;
	account->own_before.of[USAGE_CPU_NS] = 20 * NSEC_PER_MSEC;
	account->before.of[USAGE_CPU_NS] = 90 * NSEC_PER_MSEC;
	account->waited.of[USAGE_CPU_NS] = 70 * NSEC_PER_MSEC;
	account->own.of[USAGE_WRITE_BYTES] = 5000;
	account->own_before.of[USAGE_WRITE_BYTES] = 1000;
	account->before.of[USAGE_MINOR_FAULTS] = 9;
	account->own_before.of[USAGE_MINOR_FAULTS] = 4;
	account->waited.of[USAGE_MINOR_FAULTS] = 5;
	world->tree.cpu.account.published.of[USAGE_WRITE_BYTES] = 4000;
	pass_with_ms(world, 30);
	assert_int_equal(units_of(world, "job"), 300);
	assert_int_equal(program_named(world, "job")->io[TASKSTATS_WRITTEN], 4000);
	assert_int_equal(program_named(world, "job")->io_estimated[TASKSTATS_WRITTEN], 0);
	/* Nor has it waited for a child since. */
	assert_int_equal(world->programs->count, 1);
	assert_false(world->programs->processes[0].has_reaped);
}

/* Where events were lost, the rest of the time is that of children that came and went unseen. */
static void the_time_of_unseen_children_is_told_by_their_parent(void **state)
{
	struct world *world = *state;
	struct member *make = add_member(world, NOBODY, "make"), *sh = add_member(world, NOBODY + 1, "sh");

	said.lost = true;
	pass_with_ms(world, 0);
	make->cpu.account.waited.of[USAGE_CPU_NS] = 300 * NSEC_PER_MSEC;
	sh->cpu.account.waited.of[USAGE_CPU_NS] = 100 * NSEC_PER_MSEC;
	pass_with_ms(world, 400);
	assert_int_equal(units_of(world, "short-lived children of make"), 3000);
	assert_int_equal(units_of(world, "short-lived children of sh"), 1000);
	assert_int_equal(program_named(world, "short-lived children of sh")->estimated_units, 1000);
	assert_true(program_named(world, "short-lived children of sh")->is_unseen);
}

/* Their clocks were read at their ends, and the kernel's total has more. */
static void the_rest_is_that_of_programs_that_ended(void **state)
{
	struct world *world = *state;

	(void)tell_end(NOBODY, "long", 30);
	(void)tell_end(NOBODY + 1, "short", 10);
	pass_with_ms(world, 80);
	assert_int_equal(units_of(world, "long"), 300 + 300);
	assert_int_equal(units_of(world, "short"), 100 + 100);
	assert_int_equal(program_named(world, "long")->estimated_units, 300);
}

static void the_time_after_the_last_record_is_an_estimate(void **state)
{
	struct world *world = *state;

	tell_end(NOBODY, "big", 10)->unrecorded_ns = 6 * NSEC_PER_MSEC;
	tell_end(NOBODY + 1, "small", 10)->unrecorded_ns = 2 * NSEC_PER_MSEC;
	pass_with_ms(world, 28);
	assert_int_equal(units_of(world, "big"), 100 + 60);
	assert_int_equal(units_of(world, "small"), 100 + 20);
	assert_int_equal(program_named(world, "big")->estimated_units, 60);
}

/* Time that passes have counted does not count again at its end. */
static void an_end_tells_the_time_since_the_last_pass(void **state)
{
	struct world *world = *state;
	struct member *member = add_member(world, NOBODY, "job");

	add_ms(member, 30);
	pass_with_ms(world, 30);
	world->tree.count = 0;
	(void)tell_end(NOBODY, "job", 50);
	pass_with_ms(world, 20);
	assert_int_equal(units_of(world, "job"), 500);
	assert_int_equal(program_named(world, "job")->credited_ns, 50 * NSEC_PER_MSEC);
	assert_int_equal(program_named(world, "job")->exited_count, 1);
}

/* Nothing is missed of a process whose clock was read at its end, even at zero, or before, even at its first nanosecond. */
static void an_end_with_a_clock_misses_nothing(void **state)
{
	struct world *world = *state;

	(void)tell_end(NOBODY, "zero", 0);
	pass_with_ms(world, 0);
	assert_true(program_named(world, "zero")->missed_ns == 0);
	tell_end(NOBODY, "looked", -1)->seen_ns = 1;
	tell_end(NOBODY + 1, "unlooked", -1)->seen_ns = 0;
	pass_with_ms(world, 0);
	assert_int_equal(program_named(world, "looked")->credited_ns, 1);
	assert_int_equal(program_named(world, "unlooked")->credited_ns, 0);
	assert_true(program_named(world, "unlooked")->missed_ns == LIKELY_LEAST_NS);
}

/* A look before the last pass tells nothing new, and takes nothing away. */
static void a_look_before_the_last_pass_tells_nothing(void **state)
{
	struct world *world = *state;

	add_ms(add_member(world, NOBODY, "job"), 30);
	pass_with_ms(world, 30);
	tell_end(NOBODY, "job", -1)->seen_ns = 20 * NSEC_PER_MSEC;
	pass_with_ms(world, 0);
	assert_int_equal(program_named(world, "job")->credited_ns, 30 * NSEC_PER_MSEC);
	assert_int_equal(world->programs->processes[0].cpu_ns, 30 * NSEC_PER_MSEC);
}

/* On average it ended in the middle of the pass, and it went on as before: for 20 ms of 40, if the pass was as long. */
static void an_unseen_end_was_probably_in_the_middle_of_the_pass(void **state)
{
	struct world *world = *state;
	struct member *busy = add_member(world, NOBODY, "busy");

	(void)add_member(world, NOBODY + 1, "idle");
	said.lost = said.knows = true;
	pass_with_ms(world, 0);
	add_ms(busy, 40);
	pass_with_ms(world, 40);
	world->tree.count = 0;
	world->programs->last_ns -= NSEC_PER_SEC;
	pass_with_ms(world, 0);
	assert_true(program_named(world, "busy")->missed_ns == LIKELY_LEAST_NS + 20.0 * NSEC_PER_MSEC);
	assert_true(program_named(world, "idle")->missed_ns == LIKELY_LEAST_NS);
	assert_int_equal(program_named(world, "busy")->exited_count, 1);
}

/* The event says that it was unseen for an hour, but a pass saw it just now. */
static void the_unseen_time_of_a_process_begins_with_its_last_pass(void **state)
{
	struct world *world = *state;

	(void)add_member(world, NOBODY, "seen");
	pass_with_ms(world, 0);
	world->tree.count = 0;
	tell_end(NOBODY, "seen", -1)->unseen_ns = 3600 * NSEC_PER_SEC;
	tell_end(NOBODY + 1, "unseen", -1)->unseen_ns = 10 * NSEC_PER_SEC;
	pass_with_ms(world, 1000);
	assert_true(units_of(world, "unseen") > 9000);
}

/* A pass has read its name, so that it needs no others that are alike. */
static void an_end_without_a_name_is_that_of_the_program_that_a_pass_saw(void **state)
{
	struct world *world = *state;
	struct program_event *event;

	event = tell_end(NOBODY + 1, "cc1", -1);
	event->parent = "gcc";
	event->life_ns = event->unseen_ns = 100 * NSEC_PER_MSEC;
	pass_with_ms(world, 100);
	(void)add_member(world, NOBODY, "as");
	pass_with_ms(world, 0);
	world->programs->processes[0].identity = 1;
	world->tree.count = 0;
	event = tell_end(NOBODY, NULL, -1);
	event->parent = "gcc";
	event->life_ns = event->unseen_ns = 100 * NSEC_PER_MSEC;
	pass_with_ms(world, 100);
	assert_int_equal(units_of(world, "as"), 1000);
	assert_int_equal(program_named(world, "as")->exited_count, 1);
	assert_null(program_named(world, "short-lived children of gcc"));
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* It is still a zombie after its record has come, whose bytes are all that it had. */
static void bytes_of_a_record_count_once(void **state)
{
	struct world *world = *state;
	struct member *member = add_member(world, NOBODY, "job");
	struct program_event *event;

	pass_with_ms(world, 0);
	member->cpu.account.own.of[USAGE_WRITE_BYTES] = 8192;
	event = tell_end(NOBODY, "job", 0);
	event->has_io = true;
	event->io[TASKSTATS_WRITTEN] = 8192;
	event = tell_end(NOBODY + 1, "other", 0);
	event->has_io = true;
	event->io[TASKSTATS_WRITTEN] = 8192;
	world->tree.cpu.account.published.of[USAGE_WRITE_BYTES] = 16384;
	pass_with_ms(world, 0);
	assert_int_equal(program_named(world, "job")->io[TASKSTATS_WRITTEN], 8192);
	assert_int_equal(program_named(world, "other")->io[TASKSTATS_WRITTEN], 8192);
}

/* Each pass counts what has come since the last one: of two programs, the bytes that each has in this pass. */
static void bytes_of_a_member_are_those_since_its_last_pass(void **state)
{
	struct world *world = *state;
	struct member *first = add_member(world, NOBODY, "first"),
		      *second = add_member(world, NOBODY + 1, "second");

	first->cpu.account.own.of[USAGE_WRITE_BYTES] = 4096;
	world->tree.cpu.account.published.of[USAGE_WRITE_BYTES] = 4096;
	pass_with_ms(world, 0);
	for (int i = 1; i <= 2; i++) {
		first->cpu.account.own.of[USAGE_WRITE_BYTES] += 8192;
		second->cpu.account.own.of[USAGE_WRITE_BYTES] += 8192;
		world->tree.cpu.account.published.of[USAGE_WRITE_BYTES] += 16384;
		pass_with_ms(world, 0);
		assert_int_equal(program_named(world, "first")->io[TASKSTATS_WRITTEN], 4096 + i * 8192);
		assert_int_equal(program_named(world, "second")->io[TASKSTATS_WRITTEN], i * 8192);
		assert_int_equal(program_named(world, "first")->io_estimated[TASKSTATS_WRITTEN], 0);
	}
	/* A sum that goes down takes nothing away. */
	first->cpu.account.own.of[USAGE_WRITE_BYTES] -= 4096;
	pass_with_ms(world, 0);
	assert_int_equal(program_named(world, "first")->io[TASKSTATS_WRITTEN], 4096 + 2 * 8192);
}

/* Half a KiB is added where a sum of calls was rounded down, but neither to storage nor to 0. */
static void only_bytes_of_calls_were_rounded_down(void **state)
{
	const int CHARS = USAGE_READ_CHARS - USAGE_READ_BYTES;
	struct world *world = *state;

	for (int i = 0; i < 2; i++) {
		struct program_event *event = tell_end(NOBODY + i, i ? "much" : "little", 0);

		event->has_io = true;
		event->io[TASKSTATS_WRITTEN] = i ? 12288 : 4096;
		event->io[CHARS] = i ? 2048 : 0;
	}
	world->tree.cpu.account.published.of[USAGE_WRITE_BYTES] = 16384;
	world->tree.cpu.account.published.of[USAGE_READ_CHARS] = 2560;
	pass_with_ms(world, 0);
	assert_int_equal(program_named(world, "little")->io[TASKSTATS_WRITTEN], 4096);
	assert_int_equal(program_named(world, "much")->io[TASKSTATS_WRITTEN], 12288);
	assert_int_equal(program_named(world, "little")->io[CHARS], 0);
	assert_int_equal(program_named(world, "much")->io[CHARS], 2560);
}

/* Faults of children that it has waited for tell that its bytes include theirs. */
static void bytes_of_a_parent_include_those_of_its_children(void **state)
{
	struct world *world = *state;
	struct member *parent = add_member(world, NOBODY, "parent"),
		      *alone = add_member(world, NOBODY + 1, "alone");

	pass_with_ms(world, 0);
	parent->cpu.account.own.of[USAGE_WRITE_BYTES] = 8192;
	parent->cpu.account.waited.of[USAGE_MINOR_FAULTS] = 4;
	alone->cpu.account.own.of[USAGE_WRITE_BYTES] = 4096;
	tell_end(NOBODY + 2, "child", 0)->has_io = true;
	said.events[0].io[TASKSTATS_WRITTEN] = 4096;
	world->tree.cpu.account.published.of[USAGE_WRITE_BYTES] = 12288;
	pass_with_ms(world, 0);
	assert_int_equal(program_named(world, "alone")->io[TASKSTATS_WRITTEN], 4096);
	assert_int_equal(program_named(world, "child")->io[TASKSTATS_WRITTEN], 4096);
	assert_int_equal(program_named(world, "parent")->io[TASKSTATS_WRITTEN], 4096);
}

/* Before the job has its first members, a pass has nothing to look at. */
static void a_pass_before_the_start_does_nothing(void **state)
{
	struct world *world = *state;

	world->programs->started = false;
	(void)add_member(world, NOBODY, "job");
	pass_with_ms(world, 10);
	assert_int_equal(world->programs->pass, 0);
	assert_int_equal(world->programs->count, 0);
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

/* Its exit event has its time, or had it. */
static void a_zombie_that_no_pass_has_seen_is_left_to_its_event(void **state)
{
	struct world *world = *state;
	struct member *member = add_member(world, NOBODY, "job");

	member->is_zombie = true;
	member->state = 'Z';
	add_ms(member, 30);
	pass_with_ms(world, 0);
	assert_null(programs_of(world->programs, NOBODY));
	said.lost = true;
	pass_with_ms(world, 0);
	pass_with_ms(world, 30);
	assert_non_null(programs_of(world->programs, NOBODY));
	assert_int_equal(programs_of(world->programs, NOBODY)->credited_ns, 30 * NSEC_PER_MSEC);
	assert_int_equal(program_named(world, "job")->process_count, 0);
}

/* In any order of their numbers, and after some have gone. */
static void processes_are_found_by_their_numbers(void **state)
{
	static const int ORDER[] = {2, 0, 3, 1};
	struct world *world = *state;
	char name[2] = "a";

	for (size_t i = 0; i < 4; i++) {
		name[0] = (char)('a' + ORDER[i]);
		(void)add_member(world, NOBODY + ORDER[i], name);
	}
	pass_with_ms(world, 0);
	for (int i = 3; i >= 0; i--) {
		name[0] = (char)('a' + i);
		assert_string_equal(programs_of(world->programs, NOBODY + i)->name, name);
	}
	assert_null(programs_of(world->programs, NOBODY + 4));
	/* The first and the last one go. */
	members[1] = members[3];
	world->tree.count = 2;
	said.lost = true;
	pass_with_ms(world, 0);
	pass_with_ms(world, 0);
	assert_int_equal(world->programs->process_count, 2);
	assert_null(programs_of(world->programs, NOBODY));
	assert_string_equal(programs_of(world->programs, NOBODY + 1)->name, "b");
	assert_string_equal(programs_of(world->programs, NOBODY + 2)->name, "c");
}

/* The list of processes grows, and keeps its order. */
static void many_processes_are_found_by_their_numbers(void **state)
{
	static struct member many[100];
	struct world *world = *state;

	world->tree.members = many;
	world->tree.count = 100;
	for (int i = 0; i < 100; i++) {
		many[i] = (struct member){
			.pid = NOBODY + i * 37 % 100, .start_ticks = 1, .state = 'S', .program.identity = 1};
		snprintf(many[i].program.comm, sizeof many[i].program.comm, "%d", i * 37 % 100);
	}
	pass_with_ms(world, 0);
	assert_int_equal(world->programs->process_count, 100);
	assert_int_equal(world->programs->count, 100);
	for (int i = 0; i < 100; i++) {
		char name[20];

		snprintf(name, sizeof name, "%d", i);
		assert_int_equal(world->programs->processes[i].pid, NOBODY + i);
		assert_string_equal(programs_of(world->programs, NOBODY + i)->name, name);
	}
}

/* First as a parent of others, and again with its name. Zombies are parents no more. */
static void the_listener_is_told_of_new_members(void **state)
{
	struct world *world = *state;
	size_t added = said_added;

	(void)add_member(world, getpid(), "job");
	pass_with_ms(world, 0);
	assert_int_equal(said.added_at_take, added + 1);
	assert_int_equal(said_added, added + 2);
	pass_with_ms(world, 0);
	assert_int_equal(said_added, added + 2);
	add_member(world, NOBODY + 1, "gone")->is_zombie = true;
	pass_with_ms(world, 0);
	assert_int_equal(said_added, added + 2);
}

/* Without events, the end of a process is asked of a descriptor of it, while there are enough. */
static void descriptors_are_kept_where_no_events_are_heard(void **state)
{
	struct world *world = *state;
	struct member *first = add_member(world, getpid(), "job");
	int fd;

	NEEDS_THE_KERNEL_ITSELF();
	said.error = -1;
	programs_hear(world->programs, true);
	assert_false(programs_listen(world->programs));
	world->tree.fds_left = END_DESCRIPTORS_LEAVE;
	pass_with_ms(world, 0);
	assert_true(world->programs->processes[0].end_fd < 0);
	first->start_ticks++;
	world->tree.fds_left = END_DESCRIPTORS_LEAVE + 1;
	pass_with_ms(world, 0);
	fd = world->programs->processes[0].end_fd;
	/* Linux before 6.13 tells no end. */
	assert_int_equal(world->programs->ends_untold, fd < 0);
	assert_int_equal(world->tree.fds_left, END_DESCRIPTORS_LEAVE + (fd < 0));
	first->start_ticks++;
	first->is_zombie = true;
	world->programs->ends_untold = false;
	world->tree.fds_left = END_DESCRIPTORS_LEAVE + 1;
	pass_with_ms(world, 0);
	assert_true(world->programs->processes[0].end_fd < 0);
	/* The last one is closed with the rest. */
	first->start_ticks++;
	first->is_zombie = false;
	pass_with_ms(world, 0);
	fd = world->programs->processes[0].end_fd;
	programs_free(world->programs);
	programs_free(NULL);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(programs_new(false, &world->programs), 0);
	world->programs->started = true;
	world->tree.count = 0;
	/* One that has gone by then says nothing about the kernel. */
	(void)add_member(world, NOBODY, "gone");
	world->tree.fds_left = END_DESCRIPTORS_LEAVE + 1;
	pass_with_ms(world, 0);
	assert_false(world->programs->ends_untold);
	assert_int_equal(world->tree.fds_left, END_DESCRIPTORS_LEAVE + 1);
}

/* The name of a program does not depend on where its code and its stack are. Both together tell an exec. */
static void a_member_has_another_identity_after_exec(void **state)
{
	struct proc_pid_stat stat = {.state = 'S', .code_start = 4096, .stack_start = 8192, .flags = 0};
	struct member member = {0};
	uint64_t first, second;

	(void)state;
	snprintf(stat.comm, sizeof stat.comm, "sh");
	programs_read_member(&member, &stat);
	first = member.program.identity;
	assert_string_equal(member.program.comm, "sh");
	assert_true(first != 0);
	programs_read_member(&member, &stat);
	assert_true(member.program.identity == first);
	stat.code_start++;
	programs_read_member(&member, &stat);
	second = member.program.identity;
	assert_true(second != first);
	stat.stack_start++;
	programs_read_member(&member, &stat);
	assert_true(member.program.identity != second);
	/* Without its code it is still what it was, until it has gone. */
	second = member.program.identity;
	stat.state = 'Z';
	stat.code_start = 0;
	snprintf(stat.comm, sizeof stat.comm, "other");
	programs_read_member(&member, &stat);
	assert_true(member.program.identity == second);
	assert_string_equal(member.program.comm, "other");
	/* One that was never seen alive has one, too. */
	member.program.identity = 0;
	programs_read_member(&member, &stat);
	assert_true(member.program.identity != 0);
	stat.state = 'S';
	second = member.program.identity;
	snprintf(stat.comm, sizeof stat.comm, "another name");
	programs_read_member(&member, &stat);
	assert_true(member.program.identity != second);
}

/* Wherever its code is. */
static void a_name_that_differs_in_a_letter_is_another_identity(void **state)
{
	static const char *const NAMES[] = {"process-2", "process-3", "procest-3"};
	struct proc_pid_stat stat = {.state = 'S'};

	(void)state;
	for (stat.code_start = 0; stat.code_start < 4; stat.code_start++) {
		struct member member = {0};
		uint64_t before = 0;

		for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
			snprintf(stat.comm, sizeof stat.comm, "%s", NAMES[i]);
			programs_read_member(&member, &stat);
			assert_true(member.program.identity != before);
			before = member.program.identity;
		}
		/* A fork that has called exec. */
		stat.flags ^= 0x40;
		programs_read_member(&member, &stat);
		assert_true(member.program.identity != before);
	}
}

/* ---- ends that the caller has heard ------------------------------------------------------------------------------ */

static void a_reaped_process_has_its_last_time(void **state)
{
	struct world *world = *state;
	struct member *member = add_member(world, NOBODY, "job"), *late = &members[1];

	add_ms(member, 30);
	member->cpu.account.waited.of[USAGE_CPU_NS] = 50 * NSEC_PER_MSEC;
	pass_with_ms(world, 30);
	add_ms(member, 20);
	member->cpu.account.waited.of[USAGE_CPU_NS] = 60 * NSEC_PER_MSEC;
	programs_note_reaped(world->programs, member);
	assert_int_equal(program_named(world, "job")->credited_ns, 50 * NSEC_PER_MSEC);
	assert_true(program_named(world, "job")->parent_ns == 10.0 * NSEC_PER_MSEC);
	assert_true(program_named(world, "job")->ended_ns == 20.0 * NSEC_PER_MSEC);
	assert_true(world->programs->processes[0].is_final);
	programs_note_reaped(world->programs, member);
	assert_int_equal(program_named(world, "job")->credited_ns, 50 * NSEC_PER_MSEC);
	/* Another process had its number. */
	member->start_ticks++;
	add_ms(member, 20);
	programs_note_reaped(world->programs, member);
	assert_int_equal(program_named(world, "job")->credited_ns, 50 * NSEC_PER_MSEC);
	/* No pass has seen this one. Its event would tell its time, unless events were lost. */
	*late = *member;
	late->pid = NOBODY + 1;
	snprintf(late->program.comm, sizeof late->program.comm, "late");
	programs_note_reaped(world->programs, late);
	assert_null(programs_of(world->programs, NOBODY + 1));
	world->programs->exact = false;
	programs_note_reaped(world->programs, late);
	assert_string_equal(programs_of(world->programs, NOBODY + 1)->name, "late");
	assert_int_equal(program_named(world, "late")->credited_ns, 70 * NSEC_PER_MSEC);
}

#define FIGURES_TEST(test) cmocka_unit_test_setup_teardown(test, begin_empty, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		FIGURES_TEST(a_little_rest_is_that_of_the_programs_that_run),
		FIGURES_TEST(the_time_of_a_member_never_goes_down),
		FIGURES_TEST(use_before_the_tracking_counts_for_no_program),
		FIGURES_TEST(the_time_of_unseen_children_is_told_by_their_parent),
		FIGURES_TEST(the_rest_is_that_of_programs_that_ended),
		FIGURES_TEST(the_time_after_the_last_record_is_an_estimate),
		FIGURES_TEST(an_end_tells_the_time_since_the_last_pass),
		FIGURES_TEST(an_end_with_a_clock_misses_nothing),
		FIGURES_TEST(a_look_before_the_last_pass_tells_nothing),
		FIGURES_TEST(an_unseen_end_was_probably_in_the_middle_of_the_pass),
		FIGURES_TEST(the_unseen_time_of_a_process_begins_with_its_last_pass),
		FIGURES_TEST(an_end_without_a_name_is_that_of_the_program_that_a_pass_saw),
		FIGURES_TEST(bytes_of_a_record_count_once),
		FIGURES_TEST(bytes_of_a_member_are_those_since_its_last_pass),
		FIGURES_TEST(only_bytes_of_calls_were_rounded_down),
		FIGURES_TEST(bytes_of_a_parent_include_those_of_its_children),
		FIGURES_TEST(a_pass_before_the_start_does_nothing),
		FIGURES_TEST(a_zombie_that_no_pass_has_seen_is_left_to_its_event),
		FIGURES_TEST(processes_are_found_by_their_numbers),
		FIGURES_TEST(many_processes_are_found_by_their_numbers),
		FIGURES_TEST(the_listener_is_told_of_new_members),
		FIGURES_TEST(descriptors_are_kept_where_no_events_are_heard),
		cmocka_unit_test(a_member_has_another_identity_after_exec),
		cmocka_unit_test(a_name_that_differs_in_a_letter_is_another_identity),
		FIGURES_TEST(a_reaped_process_has_its_last_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
