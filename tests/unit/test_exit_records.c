/* Which exit records belong to the job: messages like the kernel's come from a socket of this test. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "job/programs/exit_records.h"
#include "job/programs/program_tuning.h"

enum { FAMILY = 31, STATS_BYTES = 416, MESSAGE_BYTES = 16 + 4 + 4 + 8 + 4 + STATS_BYTES };
enum { FORKED = 0x01, LAST = 0x20 };

struct job {
	struct exit_records records;
	struct known_processes known;
	struct program_names names;
	int kernel;      /* the other end of the socket */
	char ended[256]; /* "NAME PID MILLISECONDS, ..." */
};

static void put(char *bytes, size_t offset, uint64_t value, size_t size)
{
	memcpy(bytes + offset, &value, size);
}

/* make (100) is known, and this test is foreign. */
static void begin(struct job *job)
{
	const struct known_process make = {.pid = 100, .program = "make", .record_ns = -1, .clock_ns = -1};
	int ends[2];

	*job = (struct job){0};
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
	job->records = (struct exit_records){.fd = ends[0], .family = FAMILY};
	job->kernel = ends[1];
	assert_int_equal(known_processes_add(&job->known, &make), 0);
}

static void end(struct job *job)
{
	exit_records_close(&job->records);
	known_processes_done(&job->known);
	program_names_done(&job->names);
	close(job->kernel);
}

static void record_thread(const struct job *job, pid_t tid, pid_t pid, pid_t parent, const char *comm,
			  int flags)
{
	char message[MESSAGE_BYTES] = {0}, *stats = message + MESSAGE_BYTES - STATS_BYTES;

	put(message, 0, MESSAGE_BYTES, 4);
	put(message, 4, FAMILY, 2);
	put(message, 20, MESSAGE_BYTES - 20, 2);
	put(message, 22, 4, 2); /* AGGR_PID */
	put(message, 24, 8, 2);
	put(message, 26, 1, 2); /* PID */
	put(message, 28, (uint64_t)tid, 4);
	put(message, 32, 4 + STATS_BYTES, 2);
	put(message, 34, 3, 2); /* STATS */
	stats[8] = (char)flags;
	put(stats, 72, 1000000, 8);
	memcpy(stats + 80, comm, strlen(comm));
	put(stats, 128, (uint64_t)tid, 4);
	put(stats, 132, (uint64_t)parent, 4);
	put(stats, 368, (uint64_t)pid, 4);
	assert_int_equal(write(job->kernel, message, sizeof message), sizeof message);
}

static void record(const struct job *job, pid_t pid, pid_t parent, const char *comm)
{
	record_thread(job, pid, pid, parent, comm, LAST);
}

static void note_end(void *job_, struct known_process *process)
{
	struct job *job = job_;
	size_t length = strlen(job->ended);

	snprintf(job->ended + length, sizeof job->ended - length, "%s %d %d, ", process->program,
		 (int)process->pid, (int)(process->record_ns / 1000000));
	known_processes_remove(&job->known, process);
}

static const char *settle(struct job *job)
{
	job->ended[0] = '\0';
	assert_int_equal(exit_records_read(&job->records), 0);
	assert_int_equal(exit_records_settle(&job->records, &job->known, &job->names, note_end, job), 0);
	return job->ended;
}

static void test_children_of_a_parent_that_came_and_went_are_found(void **state)
{
	struct job job;

	(void)state;
	begin(&job);
	record(&job, 103, 102, "cc1");
	record(&job, 7, 6, "cron");
	record(&job, 104, 102, "as");
	record(&job, 102, 101, "gcc");
	record(&job, 101, 100, "sh");
	assert_string_equal(settle(&job), "cc1 103 1, as 104 1, gcc 102 1, sh 101 1, ");
	assert_int_equal(job.known.count, 1);
	end(&job);
}

/* Each thread has a record, and all amounts of each count. */
static void test_the_bytes_of_all_threads_are_those_of_the_process(void **state)
{
	struct known_process process = {.pid = 100, .record_ns = -1};
	struct taskstats record = {.tid = 100, .pid = 100};

	(void)state;
	for (int i = 0; i < TASKSTATS_IO; i++)
		record.io[i] = 1000 + i;
	for (int thread = 0; thread < 2; thread++)
		exit_record_add(&process, &record, 0);
	for (int i = 0; i < TASKSTATS_IO; i++)
		assert_int_equal(process.record_io[i], 2 * (1000 + i));
}

/* A record that waits for that of its parent is told in its first batch alone. */
static void test_another_child_of_the_jobs_parent_is_told_once(void **state)
{
	struct job job;

	(void)state;
	begin(&job);
	job.records.ancestors = (struct job_ancestors){.root = 100, .pids = {50}, .count = 1};
	record(&job, 7, 6, "cron");
	assert_string_equal(settle(&job), "");
	assert_false(job.records.ancestors.other_ended);
	record(&job, 200, 50, "sh");
	assert_string_equal(settle(&job), "");
	assert_true(job.records.ancestors.other_ended);
	job.records.ancestors.other_ended = false;
	assert_string_equal(settle(&job), "");
	assert_false(job.records.ancestors.other_ended);
	record(&job, 100, 50, "make");
	assert_string_equal(settle(&job), "make 100 1, ");
	assert_false(job.records.ancestors.other_ended);
	end(&job);
}

static void test_a_record_waits_for_its_parent_for_one_more_batch(void **state)
{
	struct job job;

	(void)state;
	begin(&job);
	record(&job, 103, 102, "cc1");
	record(&job, 7, 6, "cron");
	assert_string_equal(settle(&job), "");
	record(&job, 102, 100, "gcc");
	assert_string_equal(settle(&job), "cc1 103 1, gcc 102 1, ");
	/* By now the other's parent is too late. */
	record(&job, 6, 100, "crond");
	assert_string_equal(settle(&job), "crond 6 1, ");
	assert_int_equal(job.records.count, 0);
	end(&job);
}

/* Another process below the job's parent, or a daemon of the job whose fork was not heard: the record does not tell. */
static void test_a_child_of_an_ancestor_may_be_an_orphan_of_the_job(void **state)
{
	struct job job;

	(void)state;
	begin(&job);
	job.records.ancestors = (struct job_ancestors){.pids = {90, 1}, .count = 2};
	record(&job, 7, 6, "cron");
	record(&job, 101, 100, "sh");
	record(&job, 100, 90, "job");
	assert_string_equal(settle(&job), "sh 101 1, job 100 1, ");
	assert_false(job.records.has_orphan);
	record(&job, 8, 1, "daemon");
	assert_string_equal(settle(&job), "");
	assert_true(job.records.has_orphan);
	exit_records_close(&job.records);
	assert_true(job.records.has_orphan);
	assert_int_equal(job.records.ancestors.count, 2);
	end(&job);
}

/* A process becomes known by its first or its last thread: the others have the name of a thread. */
static void test_a_thread_in_the_middle_makes_no_process_known(void **state)
{
	struct job job;

	(void)state;
	begin(&job);
	record_thread(&job, 103, 102, 100, "worker", 0);
	assert_string_equal(settle(&job), "");
	assert_null(known_processes_find(&job.known, 102));
	record_thread(&job, 102, 102, 100, "java", 0);
	assert_string_equal(settle(&job), "");
	assert_non_null(known_processes_find(&job.known, 102));
	end(&job);
}

/* A storm of foreign processes fills no memory: the rest is lost, and the caller learns of that. */
static void test_records_have_a_limit(void **state)
{
	struct job job;
	int error = 0;

	(void)state;
	begin(&job);
	for (int i = 0; i < RECORDS_MOST; i++) {
		record(&job, 7, 6, "cron");
		error |= exit_records_read(&job.records);
	}
	assert_int_equal(error, 0);
	assert_int_equal(job.records.count, RECORDS_MOST);
	record(&job, 7, 6, "cron");
	assert_int_equal(exit_records_read(&job.records), -ENOMEM);
	assert_int_equal(job.records.count, RECORDS_MOST);
	end(&job);
}

static void test_a_process_ends_with_its_last_thread(void **state)
{
	struct job job;

	(void)state;
	begin(&job);
	record_thread(&job, 102, 101, 100, "worker", FORKED);
	record_thread(&job, 101, 101, 100, "java", 0);
	assert_string_equal(settle(&job), "");
	record_thread(&job, 103, 101, 100, "worker", FORKED | LAST);
	assert_string_equal(settle(&job), "java 101 3, ");
	end(&job);
}

static void test_a_name_is_the_known_one_unless_the_process_has_called_exec(void **state)
{
	const struct known_process python = {
		.pid = 110, .program = "python3 train.py", .parent = "make", .record_ns = -1, .clock_ns = -1};
	struct job job;

	(void)state;
	begin(&job);
	assert_int_equal(known_processes_add(&job.known, &python), 0);
	(void)program_names_keep(&job.names, "sh configure-everything");
	record_thread(&job, 111, 111, 110, "python3", FORKED | LAST);
	record(&job, 112, 110, "ls");
	/* A script that begins with #!, whose name the kernel cuts. */
	record(&job, 113, 110, "configure-every");
	record(&job, 110, 100, "python3");
	assert_string_equal(
		settle(&job),
		"python3 train.py 111 1, ls 112 1, sh configure-everything 113 1, python3 train.py 110 1, ");
	end(&job);
}

static void test_a_fork_of_an_unnamed_program_is_not_its_grandparents(void **state)
{
	/* make has started cc, which has forked 121; nothing has read the name of cc yet. */
	const struct known_process cc = {.pid = 120, .parent = "make", .record_ns = -1, .clock_ns = -1};
	const struct known_process fork = {.pid = 121, .parent = "make", .record_ns = -1, .clock_ns = -1};
	struct job job;

	(void)state;
	begin(&job);
	assert_int_equal(known_processes_add(&job.known, &cc), 0);
	assert_int_equal(known_processes_add(&job.known, &fork), 0);
	record_thread(&job, 121, 121, 120, "cc", FORKED | LAST);
	record_thread(&job, 122, 122, 120, "cc", FORKED | LAST); /* without an event */
	record(&job, 120, 100, "cc");
	record_thread(&job, 123, 123, 100, "make", FORKED | LAST);
	assert_string_equal(settle(&job), "cc 121 1, cc 122 1, cc 120 1, make 123 1, ");
	end(&job);
}

struct shape {
	int64_t cpu_ms, elapsed_ms, delay_ms, sleeps, switches, peak_kib, known_us, lacks_us;
	bool has_children;
};

/* To close its files and to tell its parent. */
enum { END_USEC = 40 };

/* The time that a record lacks, with a tick of 4 ms: what is known of it, and the estimate of the rest. */
static void test_the_time_after_the_last_tick_is_estimated(void **state)
{
	static const struct shape SHAPES[] = {
		/* It never slept: on a CPU for 2 ms since the tick. */
		{10, 15, 3, 0, 1, 0, 2000, 0, false},
		/* The same, but the kernel does not count how long it waited for a CPU. */
		{10, 12, 0, 0, 1, 0, 0, 2000, false},
		/* It slept for 90 ms. Since the last sleep it has done little. */
		{10, 100, 3, 9, 9, 0, 0, 60, true},
		/* The same without children: half of the time between two sleeps. */
		{10, 100, 3, 9, 9, 0, 0, 500, false},
		/* It slept once, for less than a tick. */
		{1, 3, 1, 1, 1, 0, 0, 60, true},
		/* It slept seldom, so that the last tick was half a tick ago on average. */
		{1000, 2000, 3, 1, 1, 0, 0, 2000, false},
		/* More than a tick without a sleep: it was held back. */
		{1000, 1500, 3, 0, 0, 0, 0, 2000, false},
		/* And the time to free 10 MiB. */
		{10, 13, 1, 0, 1, 10240, 2000, 512, false},
		/* Clocks that contradict each other. */
		{10, 5, 1, 0, 9, 0, 0, 2000, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(SHAPES); i++) {
		struct known_process process = {.record_ns = -1, .has_children = SHAPES[i].has_children};
		struct taskstats record = {.tid = 101,
					   .pid = 101,
					   .is_last = true,
					   .cpu_ns = SHAPES[i].cpu_ms * 1000000,
					   .elapsed_ns = SHAPES[i].elapsed_ms * 1000000,
					   .delay_ns = SHAPES[i].delay_ms * 1000000,
					   .sleeps = SHAPES[i].sleeps,
					   .switches = SHAPES[i].switches,
					   .peak_resident_kib = SHAPES[i].peak_kib};

		exit_record_add(&process, &record, 4000000);
		assert_int_equal(process.unrecorded_ns / 1000, SHAPES[i].lacks_us + END_USEC);
		assert_int_equal(process.record_ns, record.cpu_ns + SHAPES[i].known_us * 1000);
	}
}

static void test_the_parent_of_a_recorded_child_is_known_to_have_children(void **state)
{
	struct job job;

	(void)state;
	begin(&job);
	record(&job, 111, 100, "sh");
	assert_string_equal(settle(&job), "sh 111 1, ");
	assert_true(known_processes_find(&job.known, 100)->has_children);
	end(&job);
}

static void test_before_linux_6_0_only_known_processes_have_records(void **state)
{
	const struct known_process cc1 = {.pid = 101, .program = "cc1", .record_ns = -1, .clock_ns = -1};
	struct job job;

	(void)state;
	begin(&job);
	assert_int_equal(known_processes_add(&job.known, &cc1), 0);
	record_thread(&job, 101, 0, 100, "cc1", 0);
	record_thread(&job, 102, 0, 100, "thread or process", 0);
	assert_string_equal(settle(&job), "cc1 101 1, ");
	end(&job);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_children_of_a_parent_that_came_and_went_are_found),
		cmocka_unit_test(test_the_bytes_of_all_threads_are_those_of_the_process),
		cmocka_unit_test(test_another_child_of_the_jobs_parent_is_told_once),
		cmocka_unit_test(test_a_record_waits_for_its_parent_for_one_more_batch),
		cmocka_unit_test(test_a_process_ends_with_its_last_thread),
		cmocka_unit_test(test_a_name_is_the_known_one_unless_the_process_has_called_exec),
		cmocka_unit_test(test_a_fork_of_an_unnamed_program_is_not_its_grandparents),
		cmocka_unit_test(test_the_time_after_the_last_tick_is_estimated),
		cmocka_unit_test(test_the_parent_of_a_recorded_child_is_known_to_have_children),
		cmocka_unit_test(test_before_linux_6_0_only_known_processes_have_records),
		cmocka_unit_test(test_a_thread_in_the_middle_makes_no_process_known),
		cmocka_unit_test(test_a_child_of_an_ancestor_may_be_an_orphan_of_the_job),
		cmocka_unit_test(test_records_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
