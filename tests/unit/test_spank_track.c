/* Tests of src/slurm/spank_track.c: which tasks are recorded, and what their recorders are told. */
#include "played_slurmstepd.h"

#include <errno.h>
#include <limits.h>
#include <sys/wait.h>

#include "base/told_end.h"

#define BATCH UINT32_C(0xfffffffb)
#define EXTERN UINT32_C(0xfffffffc)
#define INTERACTIVE UINT32_C(0xfffffffa)

extern const char plugin_name[], plugin_type[];
extern const unsigned int spank_plugin_version;

/* ---- words ------------------------------------------------------------------------------------------------- */

static void an_unknown_word_of_plugstack_is_told(void **state)
{
	static const char *const KNOWN[] = {"default=off", "default=on", "interval=0.5", "output=a",
					    "recorder=/r"};
	static const char *const UNKNOWN[] = {"default=yes", "recorder", "Output=a", "run=/r", "intervals=1"};

	(void)state;
	for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
		init_plugin(KNOWN[i]);
	assert_int_equal(errors, 0);
	for (size_t i = 0; i < sizeof UNKNOWN / sizeof *UNKNOWN; i++) {
		char text[200];

		init_plugin(UNKNOWN[i]);
		assert_int_equal(errors, i + 1);
		snprintf(text, sizeof text, "resource_tracker: %s in plugstack.conf is unknown", UNKNOWN[i]);
		assert_string_equal(last_error, text);
	}
	init_plugin("interval=0.1");
}

static void the_option_is_offered(void **state)
{
	(void)state;
	/* Slurm loads a plugin of this type alone. */
	assert_string_equal(plugin_type, "spank");
	assert_string_equal(plugin_name, "resource_tracker");
	assert_int_equal(spank_plugin_version, 1);
	assert_string_equal(offered.name, "track");
	/* Its word may be left out. */
	assert_int_equal(offered.has_arg, 2);
	offer_result = ESPANK_ERROR;
	init_plugin("default=on");
	assert_int_equal(errors, 1);
	assert_string_equal(last_error, "resource_tracker: --track cannot be offered");
}

static bool is_enabled(void)
{
	/* It asks for the task, and starts nothing. */
	asked = 0;
	missing = S_TASK_PID;
	fork_task();
	return asked > 0;
}

static void a_word_of_the_option_switches_recording(void **state)
{
	static const struct {
		const char *word;
		bool is_enabled, is_told;
	} CASES[] = {{"off", false, false}, {"on", true, false}, {"off", false, false}, {NULL, true, false},
		     {"off", false, false}, {"", true, false},   {"off", false, false}, {"yes", true, true},
		     {"offf", true, true},  {"of", true, true}};

	(void)state;
	assert_true(is_enabled());
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
		/* On a node, srun has told it already. */
		for (int remote = 0; remote < 2; remote++) {
			errors = 0;
			assert_int_equal(offered.cb(0, CASES[i].word, remote), 0);
			assert_int_equal(is_enabled(), CASES[i].is_enabled);
			assert_int_equal(errors, CASES[i].is_told && !remote);
		}
	/* Nothing is recorded in srun itself. */
	is_remote = 0;
	assert_false(is_enabled());
}

/* ---- which tasks ------------------------------------------------------------------------------------------- */

static void a_task_that_slurm_does_not_describe_is_not_recorded(void **state)
{
	static const spank_item_t NEEDED[] = {S_TASK_PID,       S_JOB_UID,    S_JOB_GID,
					      S_JOB_ID,         S_JOB_STEPID, S_TASK_ID,
					      S_TASK_GLOBAL_ID, S_JOB_ENV,    S_JOB_SUPPLEMENTARY_GIDS};

	(void)state;
	NEEDS_ROOT();
	for (size_t i = 0; i < sizeof NEEDED / sizeof *NEEDED; i++) {
		missing = (int)NEEDED[i];
		assert_false(record_task());
	}
	missing = NONE;
	assert_true(record_task());
	assert_int_equal(errors, 0);
}

static void steps_of_slurm_itself_and_too_many_groups_are_not_recorded(void **state)
{
	(void)state;
	NEEDS_ROOT();
	step = EXTERN;
	assert_false(record_task());
	step = 1;
	assert_true(record_task());
	for (int i = 0; i < GROUPS; i++)
		groups[i] = OTHER_USER;
	group_count = GROUPS;
	assert_false(record_task());
	/* That is not told, as no recorder is tried. */
	assert_int_equal(errors, 0);
	group_count = GROUPS - 1;
	assert_true(record_task());
}

/* ---- what the recorder is told ------------------------------------------------------------------------------ */

static void the_recorder_is_told_the_task(void **state)
{
	char *words, expected[PATH_MAX];
	siginfo_t ended = {.si_pid = 0};

	(void)state;
	NEEDS_ROOT();
	assert_true(access("words", F_OK) < 0);
	fork_task();
	/* slurmstepd has no child that it has not made. */
	assert_int_equal(waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT), 0);
	assert_int_equal(ended.si_pid, 0);
	words = get_file("words", NULL);
	snprintf(expected, sizeof expected,
		 "-q\n--no-summary\n--no-warnings\n-o\nt-7-1-%%r-%%%%.jsonl\n--pid\n%d\n", PID);
	assert_string_equal(words, expected);
	free(words);
	assert_true(file_has_line("folder", job_folder));
	EXPECT_VARIABLE("SLURM_JOB_ID=7");
	EXPECT_VARIABLE("SLURM_STEP_ID=1");
	EXPECT_VARIABLE("SLURM_PROCID=5");
	EXPECT_VARIABLE("SLURM_LOCALID=3");
	EXPECT_VARIABLE("SLURM_NODEID=2");
	EXPECT_VARIABLE("SLURM_NTASKS=6");
	EXPECT_VARIABLE("SLURM_CPUS_ON_NODE=4");
	EXPECT_VARIABLE("SLURM_JOB_NAME=n");
	EXPECT_VARIABLE("TRACKER_TAG=a=b");
	EXPECT_VARIABLE("HOME=/h");
	EXPECT_VARIABLE("PATH=/usr/bin:/bin");
	EXPECT_VARIABLE("TMPDIR=/t");
	EXPECT_VARIABLE("XDG_STATE_HOME=/x");
	EXPECT_VARIABLE("OTEL_A=o");
	EXPECT_VARIABLE("SENTINEL_A=s");
	EXPECT_VARIABLE("RESOURCE_TRACKER_STATUS_FD=3");
	EXPECT_VARIABLE("RESOURCE_TRACKER_LEAST_INTERVAL=0.1");
	assert_false(has_variable("OTHER=") || has_variable("HOMES=") || has_variable("=/code"));
	assert_false(has_variable("TRACKER_RUNS="));
	end_task();
	await_recorders();
}

static void numbers_that_slurm_does_not_tell_are_left_out_or_the_least(void **state)
{
	(void)state;
	NEEDS_ROOT();
	missing = S_JOB_NODEID;
	assert_true(record_task());
	EXPECT_VARIABLE("SLURM_NODEID=0");
	missing = S_JOB_TOTAL_TASK_COUNT;
	assert_true(record_task());
	EXPECT_VARIABLE("SLURM_NODEID=2");
	EXPECT_VARIABLE("SLURM_NTASKS=1");
	missing = S_JOB_NCPUS;
	assert_true(record_task());
	EXPECT_VARIABLE("SLURM_NTASKS=6");
	assert_false(has_variable("SLURM_CPUS_ON_NODE="));
}

static void a_job_without_a_file_of_runs_has_that_of_the_administrator(void **state)
{
	(void)state;
	NEEDS_ROOT();
	init_plugin("runs=/srv/runs");
	assert_true(record_task());
	EXPECT_VARIABLE("TRACKER_RUNS=/srv/runs");
	environment[1] = (char[]){"TRACKER_RUNS=/own"};
	assert_true(record_task());
	EXPECT_VARIABLE("TRACKER_RUNS=/own");
	assert_false(has_variable("TRACKER_RUNS=/srv/runs"));
}

/* A batch script has no number of a step, and no folder but that of sbatch. */
static void a_batch_script_runs_where_it_was_submitted(void **state)
{
	static const uint32_t STEPS[] = {BATCH, INTERACTIVE};

	(void)state;
	NEEDS_ROOT();
	put_environment("SLURM_SUBMIT_DIR");
	environment[1] = (char[]){"PWD=/nonexistent"};
	for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
		step = STEPS[i];
		assert_true(access("words", F_OK) < 0);
		fork_task();
		assert_true(file_has_line("words", "t-7-batch-%r-%%.jsonl"));
		assert_false(has_variable("SLURM_STEP_ID=") || has_variable("SLURM_NTASKS="));
		end_task();
		assert_int_equal(slurm_spank_exit(NULL, 0, NULL), 0);
		await_recorders();
		assert_int_equal(unlink("words"), 0);
	}
	/* The last number of a step that srun makes. */
	environment[1] = NULL;
	step = INTERACTIVE - 1;
	assert_true(record_task());
	EXPECT_VARIABLE("SLURM_STEP_ID=4294967289");
}

/* Slurm's and the recorder's own variables come after those of the job, which are cut off. */
static void the_variables_of_a_job_leave_room_for_those_of_the_task(void **state)
{
	static char texts[VARIABLES][32];
	int kept = 0, own = 0;

	(void)state;
	NEEDS_ROOT();
	while (environment[own])
		own++;
	for (int i = own; i < VARIABLES; i++) {
		snprintf(texts[i], sizeof texts[i], "TRACKER_X%d=", i);
		environment[i] = texts[i];
	}
	environment[VARIABLES] = NULL;
	assert_true(record_task());
	for (int i = own; i < VARIABLES; i++)
		kept += file_has_line("env", texts[i]);
	/* 4096 less 16, and less those 8 of put_environment() that are taken. */
	assert_int_equal(kept, 4096 - 16 - 8);
	EXPECT_VARIABLE("SLURM_JOB_ID=7");
	EXPECT_VARIABLE("RESOURCE_TRACKER_STATUS_FD=3");
}

static void a_name_of_the_output_has_less_than_4080_bytes(void **state)
{
	static const int LENGTHS[] = {4079, 4080, 3 * PATH_MAX};
	static char word[4 * PATH_MAX];

	(void)state;
	NEEDS_ROOT();
	for (int i = 0; i < 3; i++) {
		snprintf(word, sizeof word, "output=%0*d", LENGTHS[i], 0);
		init_plugin(word);
		fork_task();
		end_task();
		await_recorders();
		assert_int_equal(access("words", F_OK), i ? -1 : 0);
		if (!i)
			assert_true(file_has_line("words", word + strlen("output=")));
		(void)unlink("words");
		assert_int_equal(errors, i);
	}
	assert_string_equal(last_error, "resource_tracker: task 5 of job 7 is not recorded");
}

static void a_sign_may_end_the_name_of_the_output(void **state)
{
	static const char *const CASES[][2] = {
		{"output=a%", "a%"}, {"output=%%j", "%%j"}, {"output=%s%j", "17"}};

	(void)state;
	NEEDS_ROOT();
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		init_plugin(CASES[i][0]);
		fork_task();
		assert_true(file_has_line("words", CASES[i][1]));
		end_task();
		await_recorders();
		assert_int_equal(unlink("words"), 0);
	}
}

static void without_a_descriptor_left_a_task_is_not_recorded(void **state)
{
	struct rlimit before, none;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	fork_task();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	await_recorders();
	assert_int_equal(errors, 1);
	assert_string_equal(last_error, "resource_tracker: task 5 of job 7 is not recorded");
}

/* ---- the end ----------------------------------------------------------------------------------------------- */

static void the_recorder_is_told_the_end_of_its_task_alone(void **state)
{
	struct told_end *told;
	size_t length;

	(void)state;
	NEEDS_ROOT();
	children = (struct rusage){.ru_utime = {3, 900000}, .ru_stime = {2, 300000}};
	fork_task();
	/* Neither of another task, nor one that Slurm does not describe. */
	task_pid = PID + 1;
	end_task();
	task_pid = PID;
	missing = S_TASK_PID;
	end_task();
	missing = S_TASK_EXIT_STATUS;
	end_task();
	missing = NONE;
	children = (struct rusage){.ru_utime = {5, 100000}, .ru_stime = {2, 700000}};
	end_task();
	exit_status = 0;
	end_task();
	await_recorders();
	told = (struct told_end *)(void *)get_file("told", &length);
	assert_int_equal(length, sizeof *told);
	assert_int_equal(told->status, 0x300);
	/* The times of all children less those at the start of the task. */
	assert_int_equal(told->utime_usec, 1200000);
	assert_int_equal(told->stime_usec, 400000);
	free(told);
}

static void no_descriptor_stays_open(void **state)
{
	int before = open_descriptors();

	(void)state;
	NEEDS_ROOT();
	for (int i = 0; i < 3; i++) {
		task_pid = PID + (uint32_t)i;
		fork_task();
	}
	assert_int_equal(open_descriptors(), before + 3);
	for (int i = 0; i < 3; i++) {
		task_pid = PID + (uint32_t)i;
		end_task();
		assert_int_equal(open_descriptors(), before + 2 - i);
	}
	/* Without a task, nothing is asked. */
	asked = 0;
	end_task();
	assert_int_equal(asked, 0);
	fork_task();
	assert_int_equal(slurm_spank_exit(NULL, 0, NULL), 0);
	assert_int_equal(open_descriptors(), before);
	await_recorders();
	/* The last recorder was told no end. */
	assert_file_text("told", "");
	/* One that does not start leaves none either. */
	put_text("spy", "#!/bin/sh\nprintf 'no\\nreason' >&3\n");
	fork_task();
	assert_int_equal(open_descriptors(), before);
	assert_string_equal(last_error,
			    "resource_tracker: the recorder of task 5 of job 7 did not start: no");
	assert_int_equal(await_recorders(), 0);
	/* No more of a reason than there is room for. */
	put_text("spy", "#!/bin/sh\nprintf '%01000d' 0 >&3\n");
	fork_task();
	assert_int_equal(
		strspn(strchr(last_error, ':') + strlen(": the recorder of task 5 of job 7 did not start: "),
		       "0"),
		499);
	await_recorders();
}

static void only_a_signal_begins_the_wait_anew(void **state)
{
	(void)state;
	NEEDS_ROOT();
	polls.then = (struct timespec){3, 1000000};
	polls.error = EINTR;
	assert_true(record_task());
	assert_int_equal(errors, 0);
	assert_int_equal(polls.times, 2);
	assert_int_equal(polls.wanted_ms[0], 5000);
	/* The signal came after 1.002 s. */
	assert_int_equal(polls.wanted_ms[1], 3998);
}

/* One of the last tests: after it has waited in vain, a plugin waits no longer than 0.1 s. */
static void recorders_that_hang_are_waited_for_once(void **state)
{
	(void)state;
	NEEDS_ROOT();
	polls.is_late = true;
	/* The first wait ends after its time. */
	polls.then = (struct timespec){60, 0};
	polls.error = EINTR;
	(void)record_task();
	(void)record_task();
	assert_int_equal(errors, 2);
	assert_int_equal(polls.times, 3);
	assert_true(polls.wanted_ms[0] == 100 || polls.wanted_ms[0] == 5000);
	assert_int_equal(polls.wanted_ms[1], 0);
	assert_int_equal(polls.wanted_ms[2], 100);
}

static void any_other_error_ends_the_wait(void **state)
{
	(void)state;
	NEEDS_ROOT();
	polls.error = EINVAL;
	(void)record_task();
	assert_int_equal(errors, 1);
	assert_int_equal(polls.times, 1);
	assert_string_equal(last_error, "resource_tracker: the recorder of task 5 of job 7 did not start");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_plugin(an_unknown_word_of_plugstack_is_told),
		unit_test_of_plugin(the_option_is_offered),
		unit_test_of_plugin(a_word_of_the_option_switches_recording),
		unit_test_of_plugin(a_task_that_slurm_does_not_describe_is_not_recorded),
		unit_test_of_plugin(steps_of_slurm_itself_and_too_many_groups_are_not_recorded),
		unit_test_of_plugin(the_recorder_is_told_the_task),
		unit_test_of_plugin(numbers_that_slurm_does_not_tell_are_left_out_or_the_least),
		unit_test_of_plugin(a_job_without_a_file_of_runs_has_that_of_the_administrator),
		unit_test_of_plugin(a_batch_script_runs_where_it_was_submitted),
		unit_test_of_plugin(the_variables_of_a_job_leave_room_for_those_of_the_task),
		unit_test_of_plugin(a_name_of_the_output_has_less_than_4080_bytes),
		unit_test_of_plugin(a_sign_may_end_the_name_of_the_output),
		unit_test_of_plugin(without_a_descriptor_left_a_task_is_not_recorded),
		unit_test_of_plugin(the_recorder_is_told_the_end_of_its_task_alone),
		unit_test_of_plugin(no_descriptor_stays_open),
		unit_test_of_plugin(only_a_signal_begins_the_wait_anew),
		unit_test_of_plugin(recorders_that_hang_are_waited_for_once),
		unit_test_of_plugin(any_other_error_ends_the_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
