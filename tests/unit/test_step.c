/* Tests of src/shell/step.c: the name of a step, its request, and the file that it names. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "shell/step.h"

static void command_names_its_step(void **state)
{
	struct step step = {.job = "before"};

	(void)state;
	assert_false(step_of_command("echo resource-tracker-step align", &step));
	assert_string_equal(step.job, "before");
	assert_true(step_of_command("set -e; : resource-tracker-step align s%3D1%0A cores=4 memory_mib=2048 "
				    "attempt=2 more; bwa mem",
				    &step));
	assert_string_equal(step.orchestrator, "snakemake");
	assert_string_equal(step.job, "align");
	assert_string_equal(step.task, "s=1?");
	assert_string_equal(step.cores, "4");
	assert_string_equal(step.memory_mib, "2048");
	assert_string_equal(step.attempt, "2");
	/* The end of the line or a semicolon ends the words, and a percent sign without two digits is one. */
	assert_true(step_of_command(": resource-tracker-step 100%25 5%4\ncores=9", &step));
	assert_string_equal(step.job, "100%");
	assert_string_equal(step.task, "5%4");
	assert_string_equal(step.cores, "");
	assert_false(step_of_command(": resource-tracker-step ;x", &step));
}

static void command_names_its_input(void **state)
{
	struct step step;
	struct scan name;
	char text[20];

	(void)state;
	assert_true(step_of_command(
		": resource-tracker-step sort  input=a%3Db%0A cores=2 t%3D1 input=in%3B/c; input=d", &step));
	assert_string_equal(step.task, "t=1");
	assert_true(step_next_file(&step.words, "input=", &name));
	assert_int_equal(step_decode(name, text, sizeof(text)), 4);
	assert_string_equal(text, "a=b\n");
	assert_true(step_next_file(&step.words, "input=", &name));
	assert_int_equal(step_decode(name, text, 5), 4);
	assert_string_equal(text, "in;/");
	assert_false(step_next_file(&step.words, "input=", &name));
	assert_true(step_of_command(": resource-tracker-step sort input=missing", &step));
	assert_int_equal(step_input_bytes(&step, NULL), 0);
	step_find(NULL, NULL, &step);
	assert_int_equal(step_input_bytes(&step, NULL), 0);
	assert_true(step_of_command(": resource-tracker-step sort  output=b cores=2 input=a; cat", &step));
	assert_string_equal(step.task, "");
}

static void long_name_is_cut_to_its_room(void **state)
{
	char command[600] = ": resource-tracker-step ";
	struct step step;

	(void)state;
	memset(command + strlen(command), 'a', 300);
	assert_true(step_of_command(command, &step));
	assert_int_equal(strlen(step.job), STEP_NAME_BYTES - 1);
}

static void nextflow_names_task_and_process(void **state)
{
	static const char TEXT[] = "#!/bin/bash\n# NEXTFLOW TASK: WORK:align (sample 3)\nset -e\n",
			  PLAIN[] = "# NEXTFLOW TASK: align\n";
	struct step step;

	(void)state;
	assert_true(step_of_nextflow(TEXT, sizeof TEXT - 1, &step));
	assert_string_equal(step.orchestrator, "nextflow");
	assert_string_equal(step.job, "WORK:align");
	assert_string_equal(step.task, "WORK:align (sample 3)");
	assert_true(step_of_nextflow(PLAIN, sizeof PLAIN - 1, &step));
	assert_string_equal(step.job, "align");
	assert_false(step_of_nextflow(TEXT, 12, &step));
}

#define REST "0123456789abcdef0123456789abcd"

static void assert_maker(const char *path, const char *expected)
{
	char folder[STEP_FOLDER_BYTES];

	assert_int_equal(step_find_maker(path, "ef/9876543210", folder), expected != NULL);
	if (expected)
		assert_string_equal(folder, expected);
}

static void file_of_nextflow_has_the_task_that_made_it(void **state)
{
	(void)state;
	assert_maker("/w/ab/" REST "/x.txt", "ab/0123456789");
	assert_maker("/w/ab/" REST, "ab/0123456789");
	assert_maker("../../ab/" REST "/deep/x", "ab/0123456789");
	assert_maker("../" REST "/x", "ef/0123456789");
	assert_maker("/w/00/" REST "/work/ab/" REST "/x", "ab/0123456789");
	assert_maker("/w/tmp/ab/" REST "/all.txt", "");
	assert_maker("/tmp/w/ab/" REST "/x", "ab/0123456789");
	assert_maker("/data/ab/" REST "0/x", NULL);
	assert_maker("/data/ab/0" REST "/x", NULL);
	assert_maker("/data/abc/" REST "/x", NULL);
	assert_maker("/data/AB/" REST "/x", NULL);
	assert_maker("/data/reads.fq", NULL);
	assert_maker(REST "/x", NULL);
	assert_maker("", NULL);
}

static void user_names_come_first(void **state)
{
	struct step step;

	(void)state;
	setenv("GITHUB_JOB", "build", 1);
	setenv("GITHUB_ACTION", "__run_3", 1);
	step_find(NULL, NULL, &step);
	assert_string_equal(step.orchestrator, "github");
	assert_string_equal(step.job, "");
	assert_string_equal(step.task, "build/__run_3");
	setenv("TRACKER_JOB_NAME", "mine", 1);
	setenv("TRACKER_TASK_NAME", "", 1);
	step_find(": resource-tracker-step rule task", NULL, &step);
	assert_string_equal(step.orchestrator, "snakemake");
	assert_string_equal(step.job, "mine");
	assert_string_equal(step.task, "task");
	unsetenv("GITHUB_ACTION");
	step_find("make", NULL, &step);
	assert_null(step.orchestrator);
	unsetenv("GITHUB_JOB");
	unsetenv("TRACKER_JOB_NAME");
	unsetenv("TRACKER_TASK_NAME");
}

static void request_reaches_the_environment_if_there_is_one(void **state)
{
	struct step step = {.cores = "4"};

	(void)state;
	setenv("TRACKER_ATTEMPT", "7", 1);
	step_export(&step);
	assert_string_equal(getenv("TRACKER_CORES_ASKED"), "4");
	assert_null(getenv("TRACKER_MEMORY_ASKED_MIB"));
	assert_string_equal(getenv("TRACKER_ATTEMPT"), "7");
	unsetenv("TRACKER_CORES_ASKED");
	unsetenv("TRACKER_ATTEMPT");
}

static void assert_expanded(const char *template, const struct step *step, const char *wanted)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);

	step_expand(template, step, &out);
	assert_string_equal(out.data, wanted);
}

static void file_of_a_step_has_its_name_and_a_number(void **state)
{
	const struct step both = {.job = "one", .task = "s=x/../y"},
			  inner = {.job = "WORK", .task = "WORK (a)"}, none = {.job = ""};

	(void)state;
	assert_expanded("d.d/%n.jsonl", &both, "d.d/one.s=x_.._y%u.jsonl");
	assert_expanded("%n.csv.gz", &inner, "WORK__a_%u.csv.gz");
	assert_expanded("%n", &none, "step%u");
	assert_expanded("%n-%u.jsonl", &none, "step-%u.jsonl");
	assert_expanded("a%%u-%t.jsonl", &none, "a%%u-%t%u.jsonl");
	assert_expanded(".hidden", &none, ".hidden%u");
	assert_expanded("-", &none, "-");
	assert_expanded("/dev/stderr", &none, "/dev/stderr");
	assert_expanded("end%", &none, "end%%u");
	assert_expanded("d/a.jsonl", &none, "d/a%u.jsonl");
	assert_expanded("d.d/a", &none, "d.d/a%u");
	assert_expanded("d/.hidden", &none, "d/.hidden%u");
	assert_expanded("d/a.gz", &none, "d/a%u.gz");
	assert_expanded("d/.gz", &none, "d/.gz%u");
	assert_expanded("d/", &none, "d/");
}

static void assert_tag(const char *command, const char *key, bool also_without, const char *wanted)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);
	struct step step;

	assert_true(step_of_command(command, &step));
	assert_int_equal(step_write_tag(&step, "tag=", key, also_without, &out), wanted != NULL);
	if (wanted)
		assert_string_equal(out.data, wanted);
}

static void tag_has_the_files_of_a_step_as_they_were_told(void **state)
{
	static const char COMMAND[] =
		": resource-tracker-step sort t input=a%20b output=c cores=2 input=d; input=e";
	CLEANUP_BUFFER struct buffer small = BUFFER(8);
	struct step step;

	(void)state;
	assert_tag(COMMAND, "input=", false, "tag=a%20b d");
	assert_tag(COMMAND, "output=", false, "tag=c");
	assert_tag(": resource-tracker-step sort output=c", "input=", true, "tag=");
	assert_tag(": resource-tracker-step sort output=c", "input=", false, NULL);
	assert_true(step_of_command(COMMAND, &step));
	assert_false(step_write_tag(&step, "tag=", "input=", false, &small));
}

static void long_names_that_differ_stay_two(void **state)
{
	CLEANUP_BUFFER struct buffer one = BUFFER(1000), other = BUFFER(1000), whole = BUFFER(1000);
	struct step step = {.orchestrator = NULL};

	(void)state;
	memset(step.job, 'a', 100);
	step_expand("-%n.%u", &step, &whole);
	assert_int_equal(whole.length, 1 + 100 + 3);
	assert_int_equal(strspn(whole.data + 1, "a"), 100);
	memset(step.job, 'a', 150);
	step_expand("%n.%u", &step, &one);
	step.job[149] = 'b';
	step_expand("%n.%u", &step, &other);
	assert_int_equal(one.length, 100 + 3);
	assert_int_equal(other.length, one.length);
	assert_memory_equal(one.data, other.data, 91);
	assert_string_not_equal(one.data, other.data);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_names_its_step),
		cmocka_unit_test(command_names_its_input),
		cmocka_unit_test(long_name_is_cut_to_its_room),
		cmocka_unit_test(nextflow_names_task_and_process),
		cmocka_unit_test(file_of_nextflow_has_the_task_that_made_it),
		cmocka_unit_test(user_names_come_first),
		cmocka_unit_test(request_reaches_the_environment_if_there_is_one),
		cmocka_unit_test(file_of_a_step_has_its_name_and_a_number),
		cmocka_unit_test(tag_has_the_files_of_a_step_as_they_were_told),
		cmocka_unit_test(long_names_that_differ_stay_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
