/* The history of the job's processes, from events that this test makes. */
#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "job/programs/heard_events.h"

enum { JOB = 100 };

static void begin(struct heard_events *heard)
{
	*heard = (struct heard_events){0};
	heard_events_add(heard, JOB, "make", NULL, 0);
}

static void end(struct heard_events *heard)
{
	known_processes_done(&heard->known);
	program_names_done(&heard->names);
	free(heard->events);
}

static void fork_process(struct heard_events *heard, pid_t pid)
{
	heard_events_take(heard,
			  &(struct proc_event){.kind = PROC_EVENT_FORKED, .pid = pid, .parent_pid = JOB}, -1);
}

static void fork_thread(struct heard_events *heard, pid_t pid)
{
	heard_events_take(
		heard,
		&(struct proc_event){
			.kind = PROC_EVENT_FORKED, .pid = pid, .parent_pid = JOB, .is_thread = true},
		-1);
}

static void exec_process(struct heard_events *heard, pid_t pid)
{
	heard_events_take(heard, &(struct proc_event){.kind = PROC_EVENT_EXECED, .pid = pid}, 1000);
	heard_events_name(heard, 0);
}

static void end_thread(struct heard_events *heard, pid_t pid, bool is_first)
{
	heard_events_take(heard,
			  &(struct proc_event){.kind = PROC_EVENT_EXITED, .pid = pid, .is_thread = !is_first},
			  1000);
}

static void test_nothing_is_known_of_a_new_process_before_its_end(void **state)
{
	struct heard_events heard;
	const struct known_process *process;

	(void)state;
	begin(&heard);
	process = known_processes_find(&heard.known, JOB);
	assert_non_null(process);
	assert_string_equal(process->program, "make");
	assert_true(process->record_ns == -1 && process->clock_ns == -1);
	assert_int_equal(process->threads, 1);
	end(&heard);
}

/* The kernel sends no more events of threads, so that the first one's end is that of the process. */
static void test_threads_are_not_counted_once_they_are_left_out(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	heard_events_leave_threads_out(&heard);
	assert_int_equal(known_processes_find(&heard.known, JOB)->threads, 0);
	fork_process(&heard, 101);
	assert_int_equal(known_processes_find(&heard.known, 101)->threads, 0);
	exec_process(&heard, 101);
	assert_int_equal(known_processes_find(&heard.known, 101)->threads, 0);
	fork_thread(&heard, JOB);
	fork_thread(&heard, JOB);
	end_thread(&heard, JOB, true);
	assert_int_equal(heard.exits, 1);
	end(&heard);
}

/* Threads of it live on: its end is still to come, with another time. */
static void test_an_end_that_is_taken_back_is_still_to_come(void **state)
{
	struct heard_events heard;
	const struct known_process *process;

	(void)state;
	begin(&heard);
	heard_events_add(&heard, 101, "java", "make", 5);
	end_thread(&heard, 101, true);
	assert_int_equal(heard.exits, 1);
	assert_null(known_processes_find(&heard.known, 101));
	heard_events_add(&heard, 101, "late", NULL, 9);
	heard_events_take_back(&heard, 101);
	assert_int_equal(heard.exits, 0);
	process = known_processes_find(&heard.known, 101);
	assert_string_equal(process->program, "late");
	assert_string_equal(process->parent, "make");
	assert_int_equal(process->since_ns, 5);
	assert_int_equal(process->clock_ns, -1);
	assert_true(process->first_ended);
	end(&heard);
}

/* It was too late for its clock. */
static void test_the_time_of_an_exec_may_be_unknown(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	heard_events_take(&heard, &(struct proc_event){.kind = PROC_EVENT_EXECED, .pid = JOB}, -1);
	assert_int_equal(heard.event_count, 1);
	assert_int_equal(heard.events[0].clock_ns, -1);
	end(&heard);
}

/* The time since the event is taken off. A clock that is read at once may be at zero. */
static void test_the_time_of_an_exec_is_never_below_zero(void **state)
{
	static const struct {
		int64_t age_ns, clock_ns, told_ns;
	} CASES[] = {{NSEC_PER_SEC, 1000, 0}, {-NSEC_PER_SEC, 1000, 1000}, {-NSEC_PER_SEC, 0, 0}};
	struct heard_events heard;

	(void)state;
	begin(&heard);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		const struct proc_event event = {.kind = PROC_EVENT_EXECED,
						 .pid = JOB,
						 .monotonic_ns =
							 SYSTEM_CLOCKS.monotonic_ns(NULL) - CASES[i].age_ns};

		heard_events_take(&heard, &event, CASES[i].clock_ns);
		assert_int_equal(heard.events[i].clock_ns, CASES[i].told_ns);
	}
	end(&heard);
}

/* A pass found it before the event of its fork was read, which tells the parent and thereby the program. */
static void test_a_fork_tells_the_program_of_a_process_that_a_pass_found(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	heard_events_add(&heard, 101, NULL, NULL, 0);
	heard_events_add(&heard, 102, "cc1", "gcc", 0);
	fork_process(&heard, 101);
	fork_process(&heard, 102);
	assert_string_equal(known_processes_find(&heard.known, 101)->parent, "make");
	assert_string_equal(known_processes_find(&heard.known, 101)->program, "make");
	assert_string_equal(known_processes_find(&heard.known, 102)->parent, "gcc");
	assert_string_equal(known_processes_find(&heard.known, 102)->program, "cc1");
	end(&heard);
}

static void test_a_process_ends_with_its_last_thread(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	fork_process(&heard, 101);
	fork_thread(&heard, 101);
	fork_thread(&heard, 101);
	end_thread(&heard, 101, true);
	end_thread(&heard, 101, false);
	assert_int_equal(heard.exits, 0);
	end_thread(&heard, 101, false);
	assert_int_equal(heard.exits, 1);
	assert_int_equal(heard.known.count, 1);
	end(&heard);
}

static void test_a_process_outlives_threads_that_were_forked_before_the_first_event(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	end_thread(&heard, JOB, false);
	end_thread(&heard, JOB, false);
	assert_int_equal(heard.exits, 0);
	end_thread(&heard, JOB, true);
	assert_int_equal(heard.exits, 1);
	end(&heard);
}

/* The kernel ends all other threads, the first one too, before it tells of the exec. */
static void test_a_process_lives_on_when_a_later_thread_calls_exec(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	fork_thread(&heard, JOB);
	end_thread(&heard, JOB, true);
	exec_process(&heard, JOB);
	assert_int_equal(heard.exits, 0);
	end_thread(&heard, JOB, true);
	assert_int_equal(heard.exits, 1);
	end(&heard);
}

static void test_without_events_of_threads_the_first_one_ends_the_process(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	fork_thread(&heard, JOB);
	fork_process(&heard, 101);
	heard_events_leave_threads_out(&heard);
	fork_process(&heard, 102);
	end_thread(&heard, 101, true);
	end_thread(&heard, 102, true);
	end_thread(&heard, JOB, true);
	assert_int_equal(heard.exits, 3);
	end(&heard);
}

/* make forks sh, which runs ccache, which runs gcc in its place. */
static void test_only_the_first_exec_after_a_fork_is_told_as_the_first(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	exec_process(&heard, JOB);
	fork_process(&heard, 101);
	exec_process(&heard, 101);
	/* Its clock was read at once. */
	heard_events_take(
		&heard,
		&(struct proc_event){.kind = PROC_EVENT_EXECED,
				     .pid = 101,
				     .monotonic_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) + NSEC_PER_SEC},
		1000);
	assert_int_equal(heard.event_count, 3);
	assert_false(heard.events[0].is_first);
	assert_true(heard.events[1].is_first);
	assert_false(heard.events[2].is_first);
	/* The time of sh and ccache is not gcc's. */
	end_thread(&heard, 101, true);
	assert_int_equal(heard.events[3].seen_ns, 1000);
	assert_int_equal(heard.events[3].before_ns, 1000);
	end(&heard);
}

/* The kernel has no event for some ends, such as that of a last thread. Its pid goes round. */
static void test_a_fork_renews_a_pid(void **state)
{
	struct proc_event fork = {
		.kind = PROC_EVENT_FORKED, .pid = 101, .parent_pid = JOB, .monotonic_ns = 1000};
	struct heard_events heard;

	(void)state;
	begin(&heard);
	heard_events_take(&heard, &fork, -1);
	known_processes_find(&heard.known, 101)->seen_ns = 800000;
	fork.monotonic_ns = 2000;
	heard_events_take(&heard, &fork, -1);
	assert_int_equal(heard.known.count, 2);
	assert_int_equal(known_processes_find(&heard.known, 101)->seen_ns, 0);
	assert_int_equal(known_processes_find(&heard.known, 101)->since_ns, 2000);
	end(&heard);
}

/* A pass finds it first, so its fork is older. */
static void test_a_late_fork_leaves_known_events(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	heard_events_add(&heard, 101, "cc1", NULL, 5000);
	heard_events_begin(&heard, 101, 3000, 5000);
	heard_events_take(
		&heard,
		&(struct proc_event){
			.kind = PROC_EVENT_FORKED, .pid = 101, .parent_pid = JOB, .monotonic_ns = 1000},
		-1);
	/* It had used 3000 before, of which its life from then on tells nothing. */
	heard_events_take(&heard,
			  &(struct proc_event){.kind = PROC_EVENT_EXITED, .pid = 101, .monotonic_ns = 9000},
			  5000);
	assert_int_equal(heard.event_count, 1);
	assert_string_equal(heard.events[0].before, "cc1");
	assert_int_equal(heard.events[0].before_ns, 3000);
	assert_int_equal(heard.events[0].life_ns, 4000);
	end(&heard);
}

/* It sleeps: each look shows the same clock. Only the time since the last look is unknown. */
static void test_a_look_at_a_clock_that_stands_still_counts(void **state)
{
	struct known_process process = {.pid = 101};

	(void)state;
	heard_events_look(&process, 800000, 20000000);
	heard_events_look(&process, 800000, 340000000);
	assert_int_equal(process.seen_at_ns, 340000000);
	heard_events_look(&process, -1, 360000000);
	assert_int_equal(process.seen_at_ns, 340000000);
	assert_int_equal(process.seen_ns, 800000);
}

/* A pass may have read a process before its end was heard, and would have the listener follow it again. */
static void test_the_queue_says_which_processes_have_ended(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	fork_process(&heard, 101);
	exec_process(&heard, 101);
	fork_process(&heard, 102);
	end_thread(&heard, 102, true);
	assert_false(heard_events_tell_end(&heard, 101));
	assert_true(heard_events_tell_end(&heard, 102));
	end(&heard);
}

/* A job that forks faster than passes come: the rest is unknown, and says so. */
static void test_the_queue_has_a_limit_and_notes_the_loss(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	for (int i = 0; i < EVENTS_MOST; i++) {
		fork_process(&heard, 101);
		end_thread(&heard, 101, true);
	}
	assert_int_equal(heard.event_count, EVENTS_MOST);
	assert_false(heard.lost);
	fork_process(&heard, 101);
	end_thread(&heard, 101, true);
	assert_int_equal(heard.event_count, EVENTS_MOST);
	assert_true(heard.lost && heard.lost_ever);
	end(&heard);
}

static void test_names_of_a_batch_have_a_limit(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	for (int i = 0; i < EXECS_MOST + 5; i++)
		heard_events_take(&heard, &(struct proc_event){.kind = PROC_EVENT_EXECED, .pid = JOB}, 1000);
	assert_int_equal(heard.exec_count, EXECS_MOST);
	assert_int_equal(heard.event_count, EXECS_MOST + 5);
	heard_events_name(&heard, 0);
	assert_int_equal(heard.exec_count, 0);
	end(&heard);
}

/* This process, and one that does not exist. */
static void test_a_batch_names_living_processes_after_exec(void **state)
{
	struct heard_events heard;
	const char *own;

	(void)state;
	begin(&heard);
	own = program_names_read(&heard.names, getpid());
	assert_non_null(own);
	heard_events_add(&heard, getpid(), "sh", NULL, 0);
	heard_events_add(&heard, 1 << 22, "sh", NULL, 0);
	heard_events_take(&heard, &(struct proc_event){.kind = PROC_EVENT_EXECED, .pid = 1 << 22}, 1000);
	heard_events_take(&heard, &(struct proc_event){.kind = PROC_EVENT_EXECED, .pid = getpid()}, 1000);
	heard_events_name(&heard, 2);
	assert_null(heard.events[0].after);
	assert_string_equal(heard.events[1].after, own);
	assert_string_equal(known_processes_find(&heard.known, getpid())->program, own);
	/* The first one uses up a limit of one. A name that is known needs no reading. */
	heard_events_take(&heard, &(struct proc_event){.kind = PROC_EVENT_EXECED, .pid = 1 << 22}, 1000);
	heard_events_take(&heard, &(struct proc_event){.kind = PROC_EVENT_EXECED, .pid = getpid()}, 1000);
	heard_events_name(&heard, 1);
	assert_null(heard.events[3].after);
	heard.with_records = true;
	heard_events_take(&heard, &(struct proc_event){.kind = PROC_EVENT_EXECED, .pid = getpid()}, 1000);
	end_thread(&heard, getpid(), true);
	heard_events_name(&heard, 1);
	assert_null(heard.events[4].after);
	end(&heard);
}

/* Its events were taken meanwhile. */
static void test_an_exec_that_was_taken_is_not_named(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	heard_events_add(&heard, getpid(), "sh", NULL, 0);
	heard_events_take(&heard, &(struct proc_event){.kind = PROC_EVENT_EXECED, .pid = getpid()}, 1000);
	heard.event_count = 0;
	heard_events_name(&heard, 1);
	assert_null(known_processes_find(&heard.known, getpid())->program);
	end(&heard);
}

static const char *program_after_renaming(bool is_prompt, bool is_thread, const char *program, bool has_ended)
{
	struct heard_events heard;
	const char *name;

	begin(&heard);
	heard.is_prompt = is_prompt;
	heard.with_records = true;
	heard_events_add(&heard, getpid(), program, NULL, 0);
	if (has_ended)
		end_thread(&heard, getpid(), true);
	heard_events_take(
		&heard,
		&(struct proc_event){.kind = PROC_EVENT_RENAMED, .pid = getpid(), .is_thread = is_thread},
		-1);
	name = known_processes_find(&heard.known, getpid())->program;
	name = !name ? "none" : strcmp(name, "make") == 0 ? "make" : "its own";
	end(&heard);
	return name;
}

/* A name that is read late may be that of a later program. One without a name will get it from its exec. */
static void test_a_fork_that_names_itself_is_that_program_if_the_event_is_prompt(void **state)
{
	(void)state;
	assert_string_equal(program_after_renaming(true, false, "make", false), "its own");
	assert_string_equal(program_after_renaming(false, false, "make", false), "make");
	assert_string_equal(program_after_renaming(true, true, "make", false), "make");
	assert_string_equal(program_after_renaming(true, false, "make", true), "make");
	assert_string_equal(program_after_renaming(true, false, NULL, false), "none");
}

static bool is_named_at_its_end(bool is_prompt, bool with_records, int wait_status, size_t names_read)
{
	struct heard_events heard;
	bool is_named;

	begin(&heard);
	heard.is_prompt = is_prompt;
	heard.with_records = with_records;
	heard.ends_read = names_read;
	heard_events_add(&heard, getpid(), NULL, NULL, 0);
	heard_events_take(
		&heard,
		&(struct proc_event){.kind = PROC_EVENT_EXITED, .pid = getpid(), .wait_status = wait_status},
		-1);
	is_named =
		with_records ? known_processes_find(&heard.known, getpid())->program : heard.events[0].before;
	end(&heard);
	return is_named;
}

/* It may be a zombie yet, and a record has the name of any other. That of a failure is worth a look, up to a limit. */
static void test_the_name_of_a_process_is_read_at_its_end(void **state)
{
	(void)state;
	assert_true(is_named_at_its_end(true, false, 0, 0));
	assert_false(is_named_at_its_end(true, true, 0, 0));
	assert_false(is_named_at_its_end(false, false, 0, 0));
	assert_true(is_named_at_its_end(false, true, 9, ENDS_READ_MOST - 1));
	assert_false(is_named_at_its_end(false, true, 9, ENDS_READ_MOST));
}

/* Its record has not come, and another process has its pid. */
static void test_an_end_without_its_record_is_told_when_the_pid_is_used_again(void **state)
{
	struct proc_event fork = {
		.kind = PROC_EVENT_FORKED, .pid = 101, .parent_pid = JOB, .monotonic_ns = 1000};
	struct heard_events heard;

	(void)state;
	begin(&heard);
	heard.with_records = true;
	heard_events_take(&heard, &fork, -1);
	assert_true(heard_events_wants_look(known_processes_find(&heard.known, 101)));
	assert_false(heard_events_wants_look(&(struct known_process){.pid = 0}));
	end_thread(&heard, 101, true);
	assert_false(heard_events_wants_look(known_processes_find(&heard.known, 101)));
	assert_int_equal(heard.exits, 0);
	assert_int_equal(heard.heard_count, 1);
	fork.monotonic_ns = 2000;
	heard_events_take(&heard, &fork, -1);
	assert_int_equal(heard.exits, 1);
	assert_int_equal(heard.heard_count, 0);
	assert_int_equal(heard.events[0].life_ns, 0);
	assert_int_equal(known_processes_find(&heard.known, 101)->exit_take, 0);
	end(&heard);
}

/* A record comes within one pass of the exit event, or never. */
static void test_an_end_waits_a_pass_for_its_record(void **state)
{
	struct exit_records records = {.fd = -1};
	struct heard_events heard;

	(void)state;
	begin(&heard);
	heard.with_records = true;
	heard.takes = 4;
	fork_process(&heard, 101);
	end_thread(&heard, 101, true);
	(void)heard_events_settle(&heard, &records);
	assert_int_equal(heard.exits, 0);
	heard.takes = 5;
	(void)heard_events_settle(&heard, &records);
	assert_int_equal(heard.exits, 1);
	assert_int_equal(heard.known.count, 1);
	/* Nothing tells how long it lived. */
	assert_int_equal(heard.events[0].life_ns, 0);
	assert_int_equal(heard.events[0].unseen_ns, 0);
	end(&heard);
}

/* The record of its first thread has come, and says that others live on. */
static void test_an_end_with_a_record_waits_for_its_last_one(void **state)
{
	struct taskstats record = {.tid = 101, .pid = 101, .parent_pid = JOB, .comm = "java"};
	struct exit_records records = {.fd = -1, .at = &record, .count = 1, .capacity = 1};
	struct heard_events heard;

	(void)state;
	begin(&heard);
	heard.with_records = true;
	fork_process(&heard, 101);
	end_thread(&heard, 101, true);
	for (heard.takes = 1; heard.takes < 4; heard.takes++) {
		(void)heard_events_settle(&heard, &records);
		assert_int_equal(heard.exits, 0);
	}
	record.is_last = true;
	records.count = 1;
	(void)heard_events_settle(&heard, &records);
	assert_int_equal(heard.exits, 1);
	assert_int_equal(heard.events[0].life_ns, 0);
	assert_int_equal(heard.events[0].unseen_ns, 0);
	end(&heard);
}

/* The end of one moves the next into its place. */
static void test_all_ends_that_have_waited_are_told(void **state)
{
	enum { CHILDREN = 200 };
	struct exit_records records = {.fd = -1};
	struct heard_events heard;

	(void)state;
	begin(&heard);
	heard.with_records = true;
	for (int i = 1; i <= CHILDREN; i++) {
		fork_process(&heard, JOB + i);
		end_thread(&heard, JOB + i, true);
	}
	heard.takes = 1;
	(void)heard_events_settle(&heard, &records);
	assert_int_equal(heard.exits, CHILDREN);
	assert_int_equal(heard.heard_count, 0);
	assert_int_equal(heard.known.count, 1);
	end(&heard);
}

/* Even a record of no time has the bytes, and a clock that shows as much lacks nothing. */
static void test_a_record_of_no_time_is_one(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	for (int has_record = 0; has_record <= 1; has_record++) {
		struct known_process *process;

		fork_process(&heard, 101);
		process = known_processes_find(&heard.known, 101);
		process->record_ns = has_record ? 0 : -1;
		process->unrecorded_ns = 50;
		heard_events_take(
			&heard,
			&(struct proc_event){.kind = PROC_EVENT_EXITED, .pid = 101, .monotonic_ns = 9}, 0);
		assert_int_equal(heard.events[has_record].has_io, has_record);
		assert_int_equal(heard.events[has_record].unrecorded_ns, 0);
		assert_int_equal(heard.events[has_record].clock_ns, 0);
	}
	fork_process(&heard, 101);
	known_processes_find(&heard.known, 101)->record_ns = 1;
	known_processes_find(&heard.known, 101)->unrecorded_ns = 50;
	heard_events_take(&heard, &(struct proc_event){.kind = PROC_EVENT_EXITED, .pid = 101}, 0);
	assert_int_equal(heard.events[2].unrecorded_ns, 50);
	end(&heard);
}

static void test_more_processes_than_there_is_room_for_are_a_loss(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	for (int i = 1; i < KNOWN_SLOTS_MOST / 2; i++)
		heard_events_add(&heard, JOB + i, "sh", NULL, 0);
	assert_false(heard.lost);
	heard_events_add(&heard, 1, "sh", NULL, 0);
	assert_true(heard.lost);
	assert_int_equal(heard.known.count, 0);
	end(&heard);
}

/* It was told to have ended, and is unknown since then. */
static void test_an_end_of_an_unknown_process_is_taken_back(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	fork_process(&heard, 101);
	end_thread(&heard, 101, true);
	heard_events_take_back(&heard, 101);
	assert_int_equal(heard.exits, 0);
	assert_int_equal(heard.known.count, 1);
	heard_events_begin(&heard, 101, 5, 6);
	assert_int_equal(heard.known.count, 1);
	end(&heard);
}

static bool is_stranger(pid_t pid)
{
	return pid == 101;
}

static void test_the_rest_is_told_at_the_end(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	heard.with_records = true;
	for (pid_t pid = 101; pid <= 103; pid++)
		fork_process(&heard, pid);
	end_thread(&heard, 103, true);
	heard_events_settle_rest(&heard, is_stranger);
	assert_int_equal(heard.exits, 2);
	assert_int_equal(heard.known.count, 2);
	assert_non_null(known_processes_find(&heard.known, 102));
	for (int i = 0; i < 2; i++)
		assert_int_equal(heard.events[i].life_ns, 0);
	end(&heard);
}

/* Its first thread has ended with 0. The others then tell the status of the process. */
static void test_the_status_of_a_process_comes_with_the_threads_that_outlive_the_first(void **state)
{
	const struct proc_event end_of_one = {.kind = PROC_EVENT_EXITED,
					      .pid = 101,
					      .is_thread = true,
					      .wait_status = 3 << 8,
					      .monotonic_ns = 7000};
	struct heard_events heard;

	(void)state;
	begin(&heard);
	heard_events_leave_threads_out(&heard);
	fork_process(&heard, 101);
	end_thread(&heard, 101, true);
	heard_events_take(&heard, &end_of_one, 1000);
	assert_int_equal(heard.event_count, 2);
	assert_int_equal(heard.events[0].wait_status, 0);
	assert_int_equal(heard.events[1].kind, PROGRAM_FAILED);
	assert_int_equal(heard.events[1].wait_status, 3 << 8);
	assert_int_equal(heard.events[1].at_ns, 7000);
	assert_int_equal(heard.events[1].parent_pid, JOB);
	/* The other threads tell it, too. */
	heard_events_take(&heard, &end_of_one, 1000);
	assert_int_equal(heard.event_count, 2);
	end(&heard);
}

/* A pass has seen the other threads work on, and has added it again. */
static void test_a_process_that_lives_on_keeps_its_parent(void **state)
{
	const struct proc_event end_of_one = {
		.kind = PROC_EVENT_EXITED, .pid = 101, .is_thread = true, .wait_status = 3 << 8};
	struct heard_events heard;

	(void)state;
	begin(&heard);
	heard_events_leave_threads_out(&heard);
	fork_process(&heard, 101);
	end_thread(&heard, 101, true);
	assert_int_equal(heard.exits, 1);
	heard_events_add(&heard, 101, "worker", NULL, 0);
	heard_events_take_back(&heard, 101);
	assert_int_equal(heard.exits, 0);
	heard_events_take(&heard, &end_of_one, 2000);
	assert_int_equal(heard.exits, 1);
	assert_int_equal(heard.event_count, 2);
	assert_int_equal(heard.events[1].kind, PROGRAM_EXITED);
	assert_int_equal(heard.events[1].wait_status, 3 << 8);
	assert_int_equal(heard.events[1].clock_ns, 2000);
	assert_string_equal(heard.events[1].before, "worker");
	assert_string_equal(heard.events[1].parent, "make");
	assert_int_equal(heard.events[1].parent_pid, JOB);
	end(&heard);
}

static void test_a_lost_event_may_have_been_that_of_a_failure(void **state)
{
	struct heard_events heard;

	(void)state;
	begin(&heard);
	assert_false(heard.misses_ends);
	heard_events_forget(&heard);
	assert_true(heard.misses_ends);
	end(&heard);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_known_of_a_new_process_before_its_end),
		cmocka_unit_test(test_threads_are_not_counted_once_they_are_left_out),
		cmocka_unit_test(test_an_end_that_is_taken_back_is_still_to_come),
		cmocka_unit_test(test_the_time_of_an_exec_may_be_unknown),
		cmocka_unit_test(test_the_time_of_an_exec_is_never_below_zero),
		cmocka_unit_test(test_a_fork_tells_the_program_of_a_process_that_a_pass_found),
		cmocka_unit_test(test_a_process_ends_with_its_last_thread),
		cmocka_unit_test(test_a_process_outlives_threads_that_were_forked_before_the_first_event),
		cmocka_unit_test(test_a_process_lives_on_when_a_later_thread_calls_exec),
		cmocka_unit_test(test_without_events_of_threads_the_first_one_ends_the_process),
		cmocka_unit_test(test_a_look_at_a_clock_that_stands_still_counts),
		cmocka_unit_test(test_a_fork_renews_a_pid),
		cmocka_unit_test(test_a_late_fork_leaves_known_events),
		cmocka_unit_test(test_only_the_first_exec_after_a_fork_is_told_as_the_first),
		cmocka_unit_test(test_the_queue_says_which_processes_have_ended),
		cmocka_unit_test(test_the_queue_has_a_limit_and_notes_the_loss),
		cmocka_unit_test(test_names_of_a_batch_have_a_limit),
		cmocka_unit_test(test_a_batch_names_living_processes_after_exec),
		cmocka_unit_test(test_an_exec_that_was_taken_is_not_named),
		cmocka_unit_test(test_a_fork_that_names_itself_is_that_program_if_the_event_is_prompt),
		cmocka_unit_test(test_an_end_without_its_record_is_told_when_the_pid_is_used_again),
		cmocka_unit_test(test_the_name_of_a_process_is_read_at_its_end),
		cmocka_unit_test(test_an_end_waits_a_pass_for_its_record),
		cmocka_unit_test(test_an_end_with_a_record_waits_for_its_last_one),
		cmocka_unit_test(test_all_ends_that_have_waited_are_told),
		cmocka_unit_test(test_a_record_of_no_time_is_one),
		cmocka_unit_test(test_more_processes_than_there_is_room_for_are_a_loss),
		cmocka_unit_test(test_an_end_of_an_unknown_process_is_taken_back),
		cmocka_unit_test(test_the_rest_is_told_at_the_end),
		cmocka_unit_test(test_the_status_of_a_process_comes_with_the_threads_that_outlive_the_first),
		cmocka_unit_test(test_a_process_that_lives_on_keeps_its_parent),
		cmocka_unit_test(test_a_lost_event_may_have_been_that_of_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
