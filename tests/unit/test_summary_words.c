/* The name of a run and its end in words: src/summary/summary_words.c, with recordings of one sample. */
#include "scratch.h"

#include "base/cleanup.h"
#include "metric/typed_rows.h"
#include "verdict/run_summary.h"

static const char *const PATHS[] = {"run.jsonl"};
static rt_summary *summary;

/* The members of the sample, of run_start and of run_end. An `of_end` of NULL leaves the run without an end. */
static const struct run_facts *read_run(const char *of_sample, const char *of_start, const char *of_end)
{
	struct rt_problem problem = {""};
	char text[8192];

	rt_summary_free(summary);
	summary = NULL;
	snprintf(text, sizeof text,
		 "{\"timestamp\":200,\"elapsed_secs\":100,\"sample\":0,\"actual_interval_ms\":100000,"
		 "%s%s\"run_start\":{\"interval_secs\":100%s%s}%s%s%s}\n",
		 of_sample, *of_sample ? "," : "", *of_start ? "," : "", of_start,
		 of_end ? ",\"run_end\":{" : "", of_end ? of_end : "", of_end ? "}" : "");
	put_text(PATHS[0], text);
	if (rt_summary_read(PATHS, 1, &summary, &problem) < 0)
		fail_msg("%s: %s", problem.text, text);
	return &summary->facts;
}

static int done(void **state)
{
	rt_summary_free(summary);
	summary = NULL;
	return scratch_leave(state);
}

static void commands_become_words(void **state)
{
	static const struct {
		const char *command, *words;
	} CASES[] = {
		{"[\"make\",\"-j2\"]", "make -j2"},
		{"[\"a,b\", \"c\"]", "a,b c"},
		{"[\"say \\\"hi\\\"\"]", "say \"hi\""},
		{"[\"a\\\\b\\/c\"]", "a\\b/c"},
		{"[\"a\\nb\\tc\"]", "a b c"},
		{"[\"a\\u0007b\"]", "a b"},
		{"[\"a\\u0041", "a "},
		{"[\"a\\u004", "a 004"}, /* too short for a character */
		{"[\"a\\", "a\\"},
		{"[]", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct buffer out = BUFFER(100);

		add_command_words(&out, CASES[i].command);
		assert_string_equal(out.data ? out.data : "", CASES[i].words);
		buffer_done(&out);
	}
}

static void long_names_are_cut_between_characters(void **state)
{
	static const struct {
		size_t before;
		const char *last;
		size_t length;
		bool is_cut;
	} CASES[] = {
		{60, "", 60, false},      {61, "", 60, true},           {58, "\u00e9", 60, false},
		{59, "\u00e9", 59, true}, {59, "\U0001f600", 59, true}, {60, "\u00e9", 60, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct buffer name = BUFFER(100);

		for (size_t letter = 0; letter < CASES[i].before; letter++)
			buffer_add_char(&name, 'a');
		buffer_add_text(&name, CASES[i].last);
		assert_int_equal(cut_run_name(&name), CASES[i].is_cut);
		assert_int_equal(name.length, CASES[i].length);
		assert_int_equal(strlen(name.data), CASES[i].length);
		buffer_done(&name);
	}
	assert_false(cut_run_name(&(struct buffer){0}));
}

#define MAKE "\"executable\":\"bash\",\"task_name\":\"main.o\""

static void the_name_is_the_first_that_is_known(void **state)
{
	static const struct {
		const char *of_sample, *of_start, *name, *task;
	} CASES[] = {
		{"", "", "machine", NULL},
		{"\"host\":\"node1\"", "", "node1", NULL},
		{"\"host\":\"node1\",\"tracked_pid\":7", "", "process 7", NULL},
		{"\"tracked_pid\":7", "\"executable\":\"cc1\"", "cc1", NULL},
		{"", "\"executable\":\"make\",\"program\":\"make test\"", "make test", NULL},
		{"", "\"program\":\"make\",\"command\":\"[\\\"make\\\",\\\"-j2\\\"]\"", "make -j2", NULL},
		{"\"job_name\":\"nightly\"", "\"program\":\"make\",\"command\":\"[\\\"make\\\"]\"", "nightly",
		 NULL},
		/* The target of a make, for whose shell no other name is known. */
		{"", MAKE, "main.o", NULL},
		{"", MAKE ",\"program\":\"bash (project)\"", "main.o (project)", NULL},
		{"", MAKE ",\"program\":\"build.sh\"", "build.sh", "main.o"},
		{"", MAKE ",\"command\":\"[\\\"sh\\\"]\"", "sh", "main.o"},
		{"\"job_name\":\"nightly\"", MAKE, "nightly", "main.o"},
		{"", "\"executable\":\"sh\",\"task_name\":\"t\"", "t", NULL},
		{"", "\"executable\":\"dash\",\"task_name\":\"t\"", "t", NULL},
		{"", "\"executable\":\"zsh\",\"task_name\":\"t\"", "t", NULL},
		{"", "\"executable\":\"ksh\",\"task_name\":\"t\"", "t", NULL},
		{"", "\"executable\":\"fish\",\"task_name\":\"t\"", "fish", "t"},
		/* An engine's file of a step has any name. */
		{"", "\"executable\":\"bash\",\"program\":\"bash x.sh\",\"orchestrator\":\"snakemake\"",
		 "bash", NULL},
		{"",
		 "\"executable\":\"bash\",\"program\":\"bash "
		 "x.sh\",\"scheduler\":{\"NXF_TASK_NAME\":\"align\"}",
		 "bash", "align"},
		{"",
		 "\"executable\":\"bash\",\"program\":\"bash x.sh\",\"scheduler\":{\"SLURM_JOB_ID\":\"7\"}",
		 "bash x.sh", NULL},
		{"", "\"executable\":\"python3\",\"program\":\"x.py\",\"orchestrator\":\"airflow\"", "x.py",
		 NULL},
		{"",
		 "\"program\":\"x.py\",\"scheduler\":{\"GITHUB_JOB\":\"b\",\"AIRFLOW_CTX_TASK_ID\":\"a\"}",
		 "x.py", "a"},
		{"", "\"program\":\"x.py\",\"scheduler\":{\"GITHUB_JOB\":\"b\",\"NXF_TASK_NAME\":\"n\"}",
		 "x.py", "b"},
		{"", "\"program\":\"x.py\",\"task_name\":\"mine\",\"scheduler\":{\"GITHUB_JOB\":\"b\"}",
		 "x.py", "mine"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		const struct run_facts *facts = read_run(CASES[i].of_sample, CASES[i].of_start, NULL);
		const char *task = summary_task(facts);

		if (strcmp(facts->run_name, CASES[i].name) != 0)
			fail_msg("%s is not %s: %s", facts->run_name, CASES[i].name, CASES[i].of_start);
		if (!task != !CASES[i].task || (task && strcmp(task, CASES[i].task) != 0))
			fail_msg("the task is %s: %s", task ? task : "unknown", CASES[i].of_start);
	}
}

static void the_end_is_told_in_words(void **state)
{
	static const struct {
		const char *of_end, *words;
		bool failed;
	} CASES[] = {
		{NULL, "no end is recorded: still running, the recorder was killed, or its disk was full",
		 false},
		{"\"exit_code\":0", "exit status 0", false},
		{"\"exit_code\":3", "exit status 3", true},
		{"\"exit_code\":3,\"signal\":11", "killed by SIGSEGV (11)", true},
		{"\"signal\":11,\"core_dumped\":true", "killed by SIGSEGV (11), core dumped", true},
		{"\"signal\":11,\"core_dumped\":false", "killed by SIGSEGV (11)", true},
		{"\"signal\":1", "killed by SIGHUP (1)", true},
		{"\"signal\":0", "killed by signal 0", true},
		{"\"signal\":900", "killed by signal 900", true},
		{"\"signal\":4294967307", "killed by signal 4294967307", true}, /* 2^32 and 11 */
		{"\"reason\":\"exec_failed\",\"exit_code\":127", "the command could not be started", true},
		{"\"reason\":\"target_exited\"", "the tracked process has ended", false},
		{"\"reason\":\"duration\"", "the duration asked for was over", false},
		{"\"reason\":\"tracker_stopped\"", "the tracker was stopped", false},
		{"\"reason\":\"other\"", "other", false},
		{"\"reason\":null", "ended", false},
		{"\"reason\":\"oom_kill_confirmed\",\"signal\":9", "killed for lack of memory (OOM)", true},
		{"\"reason\":\"oom_kill_suspected\",\"signal\":9", "probably killed for lack of memory (OOM)",
		 true},
		{"\"signal\":24,\"process_limit\":\"5 s of CPU time\"",
		 "killed by SIGXCPU (24); limited to 5 s of CPU time", true},
		{"\"exit_code\":1,\"oom_kills\":1", "exit status 1; 1 process was killed for lack of memory",
		 true},
		{"\"exit_code\":1,\"oom_kills\":2",
		 "exit status 1; 2 processes were killed for lack of memory", true},
		{"\"exit_code\":0,\"cgroup_oom_kills\":2",
		 "exit status 0; 2 processes were killed for lack of memory in its cgroup, which others "
		 "share",
		 false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		const struct run_facts *facts = read_run("", "", CASES[i].of_end);
		struct buffer out = BUFFER(1000);

		summary_add_end(&out, facts);
		if (strcmp(out.data, CASES[i].words) != 0)
			fail_msg("\"%s\" is not \"%s\"", out.data, CASES[i].words);
		assert_int_equal(summary_has_failed(facts), CASES[i].failed);
		buffer_done(&out);
	}
}

static void other_layouts_do_not_tell_the_end(void **state)
{
	static const char *const CASES[][2] = {
		{"snapshot", "a snapshot does not record how it ended"},
		{"csv", "CSV does not record how it ended"},
	};

	(void)state;
	read_run("", "", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct buffer out = BUFFER(1000);

		summary->facts.layout = CASES[i][0];
		summary_add_end(&out, &summary->facts);
		assert_string_equal(out.data, CASES[i][1]);
		buffer_done(&out);
	}
	/* A recording without an end that stops near the limit. */
	for (int live = 0; live < 2; live++) {
		struct buffer out = BUFFER(1000);

		read_run("", "", NULL);
		summary->facts.memory_limit_mib = 512;
		summary->facts.oom.charged_mib = 500.4;
		summary->facts.oom.live = live;
		summary_add_end(&out, &summary->facts);
		assert_int_equal(summary_has_failed(&summary->facts), !live);
		if (!live)
			assert_string_equal(out.data, "no end is recorded; probably killed for lack of "
						      "memory, at 500 of 512 MiB");
		buffer_done(&out);
	}
}

#define FIRST_OF(members) "\"exit_code\":2,\"first_failure\":{" members "}"
#define CC1 "\"program\":\"cc1\",\"parents\":\"make (exit status 2)\","

static void the_first_failure_is_told_in_words(void **state)
{
	static const struct {
		const char *of_end, *words;
	} CASES[] = {
		{"\"exit_code\":2", ""},
		{FIRST_OF("\"program\":\"cc1\",\"exit_code\":1"), ""},
		{FIRST_OF(CC1 "\"exit_code\":1,\"certainty\":\"sure\""),
		 "cc1 ended with exit status 1; make (exit status 2) passed it on"},
		{FIRST_OF(CC1 "\"exit_code\":1,\"certainty\":\"probably\""),
		 "probably cc1 ended with exit status 1; make (exit status 2) passed it on"},
		{FIRST_OF("\"parents\":\"make\",\"exit_code\":1"),
		 "probably a process of unknown name ended with exit status 1; make passed it on"},
		{FIRST_OF(CC1 "\"signal\":11,\"core_dumped\":true,\"certainty\":\"sure\","
			      "\"before_end_secs\":2.06"),
		 "cc1 was killed by SIGSEGV (core dumped) 2.1 s before the end; make (exit status 2) passed "
		 "it "
		 "on"},
		{FIRST_OF(CC1 "\"signal\":1,\"core_dumped\":false,\"certainty\":\"sure\","
			      "\"before_end_secs\":0.05"),
		 "cc1 was killed by SIGHUP 0.1 s before the end; make (exit status 2) passed it on"},
		{FIRST_OF(CC1 "\"signal\":0,\"certainty\":\"sure\",\"before_end_secs\":0.049"),
		 "cc1 was killed by signal 0; make (exit status 2) passed it on"},
		{FIRST_OF(CC1 "\"signal\":4294967307,\"certainty\":\"sure\",\"out_of_memory\":false"),
		 "cc1 was killed by signal 0; make (exit status 2) passed it on"},
		{FIRST_OF(CC1 "\"signal\":9,\"certainty\":\"sure\",\"out_of_memory\":true,"
			      "\"memory_mib\":99.6,\"sample_age_secs\":0.25"),
		 "cc1 was killed by SIGKILL for lack of memory (it had 100 MiB 0.2 s before); make (exit "
		 "status 2) passed it on"},
		{FIRST_OF(CC1 "\"signal\":9,\"certainty\":\"sure\",\"memory_mib\":99.6"),
		 "cc1 was killed by SIGKILL; make (exit status 2) passed it on"},
		{FIRST_OF(CC1 "\"signal\":9,\"certainty\":\"sure\",\"sample_age_secs\":1"),
		 "cc1 was killed by SIGKILL; make (exit status 2) passed it on"},
		{FIRST_OF(CC1 "\"exit_code\":1,\"certainty\":\"sure\",\"memory_mib\":9,"
			      "\"sample_age_secs\":1,\"other_program\":\"ld\""),
		 "cc1 ended with exit status 1; make (exit status 2) passed it on; or else ld failed first"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		const struct run_facts *facts = read_run("", "", CASES[i].of_end);

		if (strcmp(facts->failed_first, CASES[i].words) != 0)
			fail_msg("\"%s\" is not \"%s\"", facts->failed_first, CASES[i].words);
	}
	assert_string_equal(summary_failed_program(&summary->facts), "cc1");
	assert_null(summary_failed_program(read_run("", "", FIRST_OF("\"parents\":\"make\""))));
	assert_null(summary_failed_program(read_run("", "", "")));
}

#define WORDS_TEST(name) cmocka_unit_test_setup_teardown(name, scratch_enter, done)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		WORDS_TEST(commands_become_words),
		WORDS_TEST(long_names_are_cut_between_characters),
		WORDS_TEST(the_name_is_the_first_that_is_known),
		WORDS_TEST(the_end_is_told_in_words),
		WORDS_TEST(other_layouts_do_not_tell_the_end),
		WORDS_TEST(the_first_failure_is_told_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
