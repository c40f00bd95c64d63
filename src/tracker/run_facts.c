/* Facts about the run: settings, host name, and the scheduler's identifiers from the environment. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "base/runs_once.h"
#include "base/scan.h"
#include "job/programs/program_name.h"
#include "launch/input_size.h"
#include "tracker/tracker.h"

/*
 * Identifiers of schedulers and CI systems. Only these are read, because an environment may hold secrets. The first
 * JOB_NAME_COUNT of them name the job: it has the first such name that is set, unless the user gives one.
 */
enum { JOB_NAME_COUNT = 7 };
#define SCHEDULER_VARIABLES(ONE) \
	ONE("SLURM_JOB_NAME") \
	ONE("PBS_JOBNAME") \
	ONE("LSB_JOBNAME") \
	ONE("JOB_NAME") \
	ONE("AIRFLOW_CTX_DAG_ID") \
	ONE("GITHUB_WORKFLOW") \
	ONE("CI_JOB_NAME") \
	ONE("SLURM_JOB_ID") \
	ONE("SLURM_STEP_ID") \
	ONE("SLURM_PROCID") \
	ONE("SLURM_LOCALID") \
	ONE("SLURM_NODEID") \
	ONE("SLURM_NTASKS") \
	ONE("SLURM_JOB_NUM_NODES") \
	ONE("SLURM_ARRAY_JOB_ID") \
	ONE("SLURM_ARRAY_TASK_ID") \
	ONE("SLURM_CPUS_PER_TASK") \
	ONE("SLURM_CPUS_ON_NODE") \
	ONE("SLURM_MEM_PER_NODE") \
	ONE("SLURM_MEM_PER_CPU") \
	ONE("SLURM_JOB_PARTITION") \
	ONE("SLURM_JOB_ACCOUNT") \
	ONE("SLURM_CLUSTER_NAME") \
	ONE("SLURM_RESTART_COUNT") \
	ONE("PBS_JOBID") \
	ONE("PBS_ARRAY_INDEX") \
	ONE("PBS_QUEUE") \
	ONE("LSB_JOBID") \
	ONE("LSB_JOBINDEX") \
	ONE("LSB_QUEUE") \
	ONE("JOB_ID") \
	ONE("SGE_TASK_ID") \
	ONE("OMPI_COMM_WORLD_RANK") \
	ONE("PMI_RANK") \
	ONE("AWS_BATCH_JOB_ID") \
	ONE("AWS_BATCH_JOB_ATTEMPT") \
	ONE("AIRFLOW_CTX_TASK_ID") \
	ONE("AIRFLOW_CTX_DAG_RUN_ID") \
	ONE("AIRFLOW_CTX_TRY_NUMBER") \
	ONE("GITHUB_RUN_ID") \
	ONE("GITHUB_RUN_ATTEMPT") \
	ONE("GITHUB_JOB") \
	ONE("GITHUB_REPOSITORY") \
	ONE("GITHUB_SHA") \
	ONE("CI_JOB_ID") \
	ONE("CI_PIPELINE_ID") \
	ONE("CI_PROJECT_PATH") \
	ONE("CI_COMMIT_SHA") \
	ONE("NXF_TASK_NAME") \
	ONE("TRACKER_CORES_ASKED") \
	ONE("TRACKER_MEMORY_ASKED_MIB") \
	ONE("TRACKER_ATTEMPT") \
	ONE("FLUX_JOB_ID") \
	ONE("TRACEPARENT")
/* One text with a NUL behind each name: an array of pointers would be half as large again. */
#define WITH_NUL(name) name "\0"
static const char SCHEDULER_NAMES[] = SCHEDULER_VARIABLES(WITH_NUL);
#define COUNT_ONE(name) +1
_Static_assert(0 SCHEDULER_VARIABLES(COUNT_ONE) <= SCHEDULER_NAMES_MOST, "raise SCHEDULER_NAMES_MOST");

static int gather_command(struct rt_tracker *tracker, const struct rt_config *config)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(4 << 20);
	struct json_writer json = JSON_WRITER(&text);

	if (!config->record_command || !config->argc)
		return 0;
	json_open(&json, '[');
	for (size_t i = 0; i < config->argc; i++)
		json_text(&json, config->argv[i]);
	json_close(&json, ']');
	/* Arguments longer than 4 MiB are not recorded. */
	if (buffer_error(&text))
		return buffer_error(&text) == -ENOBUFS ? 0 : buffer_error(&text);
	tracker->command_json = strdup(text.data);
	return tracker->command_json ? 0 : -ENOMEM;
}

static int gather_tags(struct rt_tracker *tracker, const struct rt_config *config)
{
	if (!config->tag_count)
		return 0;
	tracker->tags = calloc(config->tag_count, sizeof *tracker->tags);
	if (!tracker->tags)
		return -ENOMEM;
	for (size_t i = 0; i < config->tag_count; i++)
		tracker->tags[i] = (struct name_value){config->tags[i].key, config->tags[i].value};
	return 0;
}

extern char **environ;

static uint64_t bit_of_name(const char *name)
{
	unsigned bit = 0;

	for (int i = 0; i < 3 && name[i]; i++)
		bit = bit * 7 + (unsigned char)name[i];
	return UINT64_C(1) << (bit & 63);
}

/* One walk through the environment tells of most names that they are not in it. */
RUNS_ONCE static uint64_t bits_of_environment(void)
{
	uint64_t bits = 0;

	for (char *const *variable = environ; variable && *variable; variable++)
		bits |= bit_of_name(*variable);
	return bits;
}

/* Grid Engine's variables have names that other programs use as well. It always sets SGE_TASK_ID beside them. */
static const char *scheduler_variable(const char *name)
{
	return strncmp(name, "JOB_", strlen("JOB_")) == 0 && !getenv("SGE_TASK_ID") ? NULL : getenv(name);
}

RUNS_ONCE static size_t gather_scheduler(struct name_value *ret_values, const char **ret_job_name)
{
	const uint64_t present = bits_of_environment();
	size_t count = 0, number = 0;

	for (const char *name = SCHEDULER_NAMES; *name; name += strlen(name) + 1, number++) {
		const char *value = present & bit_of_name(name) ? scheduler_variable(name) : NULL;

		if (!value || !*value)
			continue;
		if (number < JOB_NAME_COUNT && !*ret_job_name)
			*ret_job_name = value;
		ret_values[count++] = (struct name_value){name, value};
	}
	return count;
}

/* The last part of a path; "/" of the root folder. */
static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The executable of a running process. Arguments may hold secrets, so only the first one, its name, is used. */
static const char *name_attached(struct rt_tracker *tracker, pid_t pid)
{
	ssize_t length = root_read_pid(&tracker->root, pid, "cmdline");
	const char *text = tracker->root.text.data;
	struct scan comm;

	if (length > 0 && *text) {
		run_name(text, (size_t)length, NULL, tracker->program);
		program_name(text, strnlen(text, (size_t)length), "", tracker->attached);
		return tracker->attached;
	}
	/* A kernel thread has no arguments. */
	length = root_read_pid(&tracker->root, pid, "comm");
	if (length <= 0)
		return NULL;
	comm = scan_trim(scan_bytes(tracker->root.text.data, (size_t)length));
	scan_copy(&comm, tracker->attached, sizeof tracker->attached);
	return tracker->attached;
}

/* Only the beginning of a long command line counts: a script stands there. */
RUNS_ONCE static void name_command(struct rt_tracker *tracker, const struct rt_config *config,
				   const char *folder)
{
	char line[1024];
	size_t length = 0;

	for (size_t i = 0; i < config->argc; i++) {
		size_t size = strlen(config->argv[i]) + 1;

		if (size > sizeof line - length)
			break;
		memcpy(line + length, config->argv[i], size);
		length += size;
	}
	run_name(line, length, folder, tracker->program);
}

/* The script that a recording shell runs is the engine's own, and says nothing about its input. */
RUNS_ONCE static bool is_recorded_step(void)
{
	const char *mark = getenv("TRACKER_SHELL_STEP");
	struct scan text = scan_bytes(mark, mark ? strlen(mark) : 0);
	int64_t pid;

	return scan_i64(&text, &pid) && pid == getpid();
}

/* Finds the size of the input, which files tell only before the job writes to them. */
RUNS_ONCE static double find_input_bytes(struct rt_tracker *tracker, const struct rt_config *config,
					 const char **ret_source)
{
	const char *unknown;
	char message[256];
	int64_t bytes;

	*ret_source = "option";
	if (config->input_size > 0)
		return config->input_size;
	if (config->input_count) {
		bytes = size_of_inputs((const char *const *)config->inputs, config->input_count, &unknown);
		if (bytes < 0) {
			snprintf(
				message, sizeof message,
				"the size of the input '%.150s' is unknown: it is missing, or cannot be read",
				unknown);
			tracker_warn(tracker, message);
		}
	} else {
		*ret_source = "arguments";
		bytes = config->argc && !is_recorded_step() ? size_of_named_files(config->argv, config->argc)
							    : -1;
	}
	if (bytes < 0)
		*ret_source = NULL;
	return (double)bytes;
}

RUNS_ONCE int tracker_gather_facts(struct rt_tracker *tracker)
{
	const struct rt_config *config = tracker->config;
	const char *job_name = config->job_name, *executable = NULL, *input_source;
	double input_size;
	size_t scheduler_count = gather_scheduler(tracker->scheduler, &job_name);
	int error = gather_command(tracker, config);

	input_size = find_input_bytes(tracker, config, &input_source);
	if (!error)
		error = gather_tags(tracker, config);
	if (error < 0)
		return error;
	uuid7_make(root_realtime_ns(&tracker->root) / NSEC_PER_MSEC, tracker->run_id);
	tracker->folder = config->argc ? getcwd(NULL, 0) : NULL;
	if (gethostname(tracker->host_name, sizeof tracker->host_name - 1) < 0)
		tracker->host_name[0] = '\0';
	if (config->argc) {
		executable = file_name(config->argv[0]);
		name_command(tracker, config, tracker->folder ? file_name(tracker->folder) : NULL);
	} else if (config->pid) {
		executable = name_attached(tracker, config->pid);
	}
	tracker->facts = (struct run_facts){
		.run_id = tracker->run_id,
		.mode = config->argc  ? "wrap"
			: config->pid ? "attach"
				      : "host",
		.host = *tracker->host_name ? tracker->host_name : NULL,
		.job_name = job_name,
#define JOB_SETTING(field, ...) .field = config->field,
#include "options/job_settings.def"
		.executable = executable,
		.program = *tracker->program ? tracker->program : executable,
		.folder = tracker->folder ? file_name(tracker->folder) : NULL,
		.argc = (int64_t)config->argc,
		.command = tracker->command_json,
		.tags = tracker->tags,
		.tag_count = config->tag_count,
		.scheduler = tracker->scheduler,
		.scheduler_count = scheduler_count,
		.rank = config->rank,
		.input_size = input_size,
		.input_source = input_source,
		.interval_seconds = (double)config->interval_ns / 1e9,
		.carbon_factor = config->carbon_factor,
		.children = !config->no_children,
		.aligned = config->align,
	};
	return 0;
}
