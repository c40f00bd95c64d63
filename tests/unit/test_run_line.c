/* Tests of src/history/run_line.c and runs_api.c: the outcome, the identity and the request in the line of a run. */
#include "scratch.h"

#include <errno.h>
#include <jansson.h>
#include <sys/file.h>

#include "base/buffer.h"
#include "history/run_line.h"
#include "resource_tracker_analysis.h"

enum { OTHER_USER = 54321 };

static json_t *line;

static int end(void **state)
{
	json_decref(line);
	line = NULL;
	return scratch_leave(state);
}

/* Writes a recording of one sample with these members of the sample, the start, and the end (NULL: it has none). */
static void put_recording(const char *members, const char *start, const char *of_end)
{
	char text[4000];

	snprintf(text, sizeof text,
		 "{\"timestamp\":1010,\"elapsed_secs\":10,\"sample\":0,\"actual_interval_ms\":10000,%s"
		 "\"run_start\":{\"interval_secs\":10%s}%s%s%s}\n",
		 members, start, of_end ? ",\"run_end\":{" : "", of_end ? of_end : "", of_end ? "}" : "");
	put_text("run.jsonl", text);
}

static void take_line(unsigned number, const char *path, bool live)
{
	struct buffer text = BUFFER(1 << 20);
	struct rt_problem problem = {""};

	if (run_line_add(&text, "run.jsonl", &(struct run_place){number, path, live}, &problem) < 0)
		fail_msg("%s", problem.text);
	assert_int_equal(text.data[text.length - 1], '\n');
	json_decref(line);
	line = json_loadb(text.data, text.length, 0, NULL);
	assert_non_null(line);
	buffer_done(&text);
}

static void line_of(const char *members, const char *start, const char *of_end)
{
	put_recording(members, start, of_end);
	take_line(0, NULL, false);
}

/* NULL: the line has no such key. */
static const char *text_of(const char *key)
{
	return json_string_value(json_object_get(line, key));
}

static void assert_text(const char *key, const char *wanted)
{
	const char *text = text_of(key);

	if (!text != !wanted || (text && strcmp(text, wanted) != 0))
		fail_msg("%s: %s", key, text);
	assert_true(wanted || !json_object_get(line, key));
}

static void assert_number(const char *key, double wanted)
{
	if (!json_is_number(json_object_get(line, key)) ||
	    json_number_value(json_object_get(line, key)) != wanted)
		fail_msg("%s: %g", key, json_number_value(json_object_get(line, key)));
}

/* ---- outcome ------------------------------------------------------------------------------------------------- */

static void the_outcome_is_that_of_the_end(void **state)
{
	(void)state;
	line_of("", "", "\"exit_code\":0");
	assert_text("outcome", "ok");
	line_of("", "", "\"exit_code\":3");
	assert_text("outcome", "failed");
	line_of("", "", "\"signal\":9");
	assert_text("outcome", "killed");
	line_of("", "", "\"reason\":\"stopped\"");
	assert_text("outcome", "stopped");
	/* Without an end, its recorder is still running, or was killed. */
	line_of("", "", NULL);
	assert_text("outcome", "lost");
	take_line(0, NULL, true);
	assert_text("outcome", "running");
	put_recording("", "", "\"exit_code\":0");
	take_line(0, NULL, true);
	assert_text("outcome", "ok");
}

/* A sample of a job with 95 of 100 MiB, and of one with 5. */
#define NEAR_LIMIT "\"cpu\":{\"process_memory_mib\":95},\"limits\":{\"memory_limit_mib\":100},"
#define FAR "\"cpu\":{\"process_memory_mib\":5},\"limits\":{\"memory_limit_mib\":100},"

static void a_job_that_lacked_memory_is_told(void **state)
{
	(void)state;
	line_of(FAR, "", "\"signal\":9,\"reason\":\"oom_kill_confirmed\"");
	assert_text("outcome", "oom");
	line_of(FAR, "", "\"signal\":9,\"reason\":\"oom_kill\"");
	assert_text("outcome", "oom");
	line_of(NEAR_LIMIT, "", NULL);
	assert_text("outcome", "oom");
	line_of(FAR, "", NULL);
	assert_text("outcome", "lost");
	/* A process of it was killed. */
	line_of(NEAR_LIMIT, "", "\"exit_code\":3,\"oom_kills\":1");
	assert_text("outcome", "oom");
	line_of(NEAR_LIMIT, "", "\"signal\":15,\"oom_kills\":1");
	assert_text("outcome", "oom");
	line_of(NEAR_LIMIT, "", "\"exit_code\":0,\"oom_kills\":1");
	assert_text("outcome", "ok");
	assert_number("oom_had_mib", 100);
	assert_true(json_number_value(json_object_get(line, "oom_next_mib")) > 100);
	line_of(NEAR_LIMIT, "", "\"exit_code\":3,\"oom_kills\":0");
	assert_text("outcome", "failed");
	assert_null(json_object_get(line, "oom_had_mib"));
}

/* ---- identity ------------------------------------------------------------------------------------------------ */

static void a_value_that_is_unknown_is_left_out(void **state)
{
	static const char *const ABSENT[] = {
		"number",    "name",      "task",        "job_name",    "host",      "rank",
		"tags",      "scheduler", "folder",      "cpu_model",   "cpu_count", "gpu_names",
		"recording", "id",        "cores_asked", "oom_had_mib", "says"};

	(void)state;
	line_of("", "", "\"exit_code\":0");
	assert_number("schema", 1);
	for (size_t i = 2; i < sizeof ABSENT / sizeof *ABSENT; i++)
		if (json_object_get(line, ABSENT[i]))
			fail_msg("%s", ABSENT[i]);
	assert_null(json_object_get(line, ABSENT[0]));
}

static void the_identity_is_that_of_the_start(void **state)
{
	(void)state;
	put_recording("\"host\":\"h\",\"job_name\":\"j\",",
		      ",\"run_id\":\"i\",\"folder\":\"/f\",\"executable\":\"make\",\"argument_count\":2,"
		      "\"input_bytes\":7,\"input_source\":\"files\",\"mode\":\"wrap\",\"cpu_model\":\"fast\","
		      "\"cpu_count\":4,\"memory_total_mib\":1000,\"server\":\"s\",\"task_name\":\"t\","
		      "\"gpu_names\":[{\"name\":\"A\"}],\"tags\":{\"a\":\"1\",\"b\":\"2\"}",
		      "\"exit_code\":0");
	take_line(12, "/r.jsonl", false);
	assert_text("id", "i");
	assert_text("host", "h");
	assert_text("job_name", "j");
	assert_text("task", "t");
	assert_text("folder", "/f");
	assert_text("executable", "make");
	assert_text("mode", "wrap");
	assert_text("input_source", "files");
	assert_text("cpu_model", "fast");
	assert_text("server", "s");
	assert_text("recording", "/r.jsonl");
	assert_number("number", 12);
	assert_number("argument_count", 2);
	assert_number("input_bytes", 7);
	assert_number("cpu_count", 4);
	assert_number("machine_memory_mib", 1000);
	assert_string_equal(json_string_value(json_object_get(json_object_get(line, "tags"), "a")), "1");
	assert_string_equal(json_string_value(json_object_get(json_object_get(line, "tags"), "b")), "2");
	assert_int_equal(json_object_size(json_object_get(line, "tags")), 2);
}

static void the_user_is_the_owner_of_the_file(void **state)
{
	(void)state;
	put_recording("", "", "\"exit_code\":0");
	if (geteuid() || chown("run.jsonl", OTHER_USER, OTHER_USER) < 0)
		SKIP("only root has files of other users");
	take_line(0, NULL, false);
	/* Without a name, its number. */
	assert_text("user", "54321");
	assert_int_equal(chown("run.jsonl", 0, 0), 0);
	take_line(0, NULL, false);
	assert_text("user", "root");
}

/* ---- the scheduler ------------------------------------------------------------------------------------------- */

static void scheduled(const char *variables)
{
	char start[1000];

	snprintf(start, sizeof start, ",\"scheduler\":{%s}", variables);
	line_of("", start, "\"exit_code\":0");
}

static void the_innermost_scheduler_tells_the_job(void **state)
{
	(void)state;
	scheduled("\"CI_JOB_ID\":\"c\"");
	assert_text("scheduler_job", "c");
	scheduled("\"CI_JOB_ID\":\"c\",\"PBS_JOBID\":\"p\"");
	assert_text("scheduler_job", "p");
	scheduled("\"CI_JOB_ID\":\"c\",\"PBS_JOBID\":\"p\",\"SLURM_JOB_ID\":\"s\"");
	assert_text("scheduler_job", "s");
	assert_text("array_task", NULL);
	assert_text("attempt", NULL);
	assert_text("commit", NULL);
	scheduled("\"SLURM_ARRAY_TASK_ID\":\"5\",\"SLURM_RESTART_COUNT\":\"2\",\"CI_COMMIT_SHA\":\"x\"");
	assert_text("array_task", "5");
	assert_text("attempt", "2");
	assert_text("commit", "x");
	/* Grid Engine says so outside arrays. */
	scheduled("\"JOB_ID\":\"9\",\"SGE_TASK_ID\":\"undefined\"");
	assert_text("scheduler_job", "9");
	assert_text("array_task", NULL);
}

static void the_request_is_that_of_the_script_or_of_a_task(void **state)
{
	(void)state;
	scheduled("\"SLURM_CPUS_PER_TASK\":\"2\",\"SLURM_CPUS_ON_NODE\":\"8\",\"SLURM_MEM_PER_CPU\":\"100\"");
	assert_number("cores_asked", 8);
	assert_number("memory_asked_mib", 800);
	scheduled("\"SLURM_CPUS_PER_TASK\":\"2\",\"SLURM_CPUS_ON_NODE\":\"8\",\"SLURM_MEM_PER_CPU\":\"100\","
		  "\"SLURM_STEP_ID\":\"0\",\"SLURM_NTASKS\":\"3\",\"SLURM_JOB_NUM_NODES\":\"4\"");
	assert_number("cores_asked", 2);
	assert_number("memory_asked_mib", 200);
	assert_number("tasks", 3);
	assert_number("nodes", 4);
	scheduled("\"SLURM_CPUS_PER_TASK\":\"2\"");
	assert_number("cores_asked", 2);
	assert_null(json_object_get(line, "memory_asked_mib"));
	/* A step of an engine has its own. */
	scheduled(
		"\"SLURM_CPUS_ON_NODE\":\"8\",\"SLURM_MEM_PER_NODE\":\"900\",\"TRACKER_CORES_ASKED\":\"1.5\","
		"\"TRACKER_MEMORY_ASKED_MIB\":\"64\"");
	assert_number("cores_asked", 1.5);
	assert_number("memory_asked_mib", 64);
}

/* ---- GPUs ---------------------------------------------------------------------------------------------------- */

static void gpus_are_told_as_far_as_they_are_known(void **state)
{
	(void)state;
	/* A recording that tells nothing about GPUs. */
	line_of("", "", "\"exit_code\":0");
	assert_null(json_object_get(line, "gpus"));
	assert_null(json_object_get(line, "gpu_mean"));
	/* Their work is 0 without one. */
	line_of("\"cpu\":{\"process_gpu_usage\":0,\"process_gpu_vram_mib\":0,\"process_gpu_utilized\":0},"
		"\"gpu\":[],",
		"", "\"exit_code\":0");
	assert_number("gpus", 0);
	assert_null(json_object_get(line, "gpu_mean"));
	line_of("\"cpu\":{\"process_gpu_usage\":0.5,\"process_gpu_vram_mib\":64,\"process_gpu_utilized\":1},"
		"\"gpu\":[{\"index\":0,\"uuid\":\"G\"}],",
		"", "\"exit_code\":0");
	assert_number("gpus", 1);
	assert_number("gpu_mean", 0.5);
	assert_number("gpus_used", 1);
	/* A device without work. */
	line_of("\"cpu\":{\"process_gpu_usage\":0,\"process_gpu_vram_mib\":0,\"process_gpu_utilized\":0},"
		"\"gpu\":[{\"index\":0,\"uuid\":\"G\"}],",
		"", "\"exit_code\":0");
	assert_number("gpus", 1);
	assert_number("gpu_mean", 0);
}

/* ---- for programs -------------------------------------------------------------------------------------------- */

static void a_line_has_the_full_path_of_its_recording(void **state)
{
	char *text = NULL, path[200];
	struct rt_problem problem = {""};
	int fd;

	(void)state;
	put_recording("", "", NULL);
	assert_int_equal(rt_run_line("run.jsonl", &text, &problem), 0);
	line = json_loads(text, 0, NULL);
	free(text);
	snprintf(path, sizeof path, "%s/run.jsonl", scratch_folder);
	assert_text("recording", path);
	assert_text("outcome", "lost");
	json_decref(line);
	/* The recorder holds a lock. */
	fd = open("run.jsonl", O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(rt_run_line("run.jsonl", &text, &problem), 0);
	line = json_loads(text, 0, NULL);
	free(text);
	assert_text("outcome", "running");
	close(fd);
	assert_int_equal(rt_runs_append("runs", "absent", &problem), -ENOENT);
	assert_int_equal(access("runs", F_OK), -1);
	put_text("empty", "");
	assert_int_equal(rt_runs_append("runs", "empty", &problem), -ENODATA);
	assert_int_equal(access("runs", F_OK), -1);
}

static void a_file_without_a_name_has_no_path(void **state)
{
	struct buffer text = BUFFER(1 << 20);
	char path[64];
	int fd;

	(void)state;
	put_recording("", "", "\"exit_code\":0");
	fd = open("run.jsonl", O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	assert_int_equal(run_line_add_file(&text, path, NULL), 0);
	line = json_loadb(text.data, text.length, 0, NULL);
	assert_text("outcome", "ok");
	assert_text("recording", NULL);
	close(fd);
	buffer_done(&text);
}

#define LINE_TEST(test) cmocka_unit_test_setup_teardown(test, scratch_enter, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		LINE_TEST(the_outcome_is_that_of_the_end),
		LINE_TEST(a_job_that_lacked_memory_is_told),
		LINE_TEST(a_value_that_is_unknown_is_left_out),
		LINE_TEST(the_identity_is_that_of_the_start),
		LINE_TEST(the_user_is_the_owner_of_the_file),
		LINE_TEST(the_innermost_scheduler_tells_the_job),
		LINE_TEST(the_request_is_that_of_the_script_or_of_a_task),
		LINE_TEST(gpus_are_told_as_far_as_they_are_known),
		LINE_TEST(a_line_has_the_full_path_of_its_recording),
		LINE_TEST(a_file_without_a_name_has_no_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
