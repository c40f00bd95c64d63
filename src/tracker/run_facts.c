/* Facts about the run: settings, host name, and the scheduler's identifiers from the environment. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "tracker/tracker.h"

/* Only these identifiers are read, because an environment may hold secrets. */
static const char *const SCHEDULER_VARIABLES[] = {
	"SLURM_JOB_ID",
	"SLURM_STEP_ID",
	"SLURM_PROCID",
	"SLURM_LOCALID",
	"SLURM_NODEID",
	"SLURM_NTASKS",
	"SLURM_JOB_NUM_NODES",
	"SLURM_ARRAY_JOB_ID",
	"SLURM_ARRAY_TASK_ID",
	"SLURM_CPUS_PER_TASK",
	"SLURM_MEM_PER_NODE",
	"SLURM_MEM_PER_CPU",
	"PBS_JOBID",
	"PBS_ARRAY_INDEX",
	"LSB_JOBID",
	"LSB_JOBINDEX",
	"SGE_TASK_ID",
	"OMPI_COMM_WORLD_RANK",
	"PMI_RANK",
	"AWS_BATCH_JOB_ID",
	"AWS_BATCH_JOB_ATTEMPT",
	"GITHUB_RUN_ID",
	"CI_JOB_ID",
	"NXF_TASK_NAME",
	"FLUX_JOB_ID",
};
_Static_assert(ARRAY_SIZE(SCHEDULER_VARIABLES) <= SCHEDULER_NAMES_MOST, "raise SCHEDULER_NAMES_MOST");

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

static size_t gather_scheduler(struct name_value *ret_values)
{
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(SCHEDULER_VARIABLES); i++) {
		const char *value = getenv(SCHEDULER_VARIABLES[i]);

		if (value && *value)
			ret_values[count++] = (struct name_value){SCHEDULER_VARIABLES[i], value};
	}
	return count;
}

/* The last part of a path; "/" of the root folder. */
static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

int tracker_gather_facts(struct rt_tracker *tracker)
{
	const struct rt_config *config = tracker->config;
	int error = gather_command(tracker, config);

	if (!error)
		error = gather_tags(tracker, config);
	if (error < 0)
		return error;
	uuid7_make(root_realtime_ns(&tracker->root) / NSEC_PER_MSEC, tracker->run_id);
	tracker->folder = config->argc ? getcwd(NULL, 0) : NULL;
	if (gethostname(tracker->host_name, sizeof tracker->host_name - 1) < 0)
		tracker->host_name[0] = '\0';
	tracker->facts = (struct run_facts){
		.run_id = tracker->run_id,
		.mode = config->argc  ? "wrap"
			: config->pid ? "attach"
				      : "host",
		.host = *tracker->host_name ? tracker->host_name : NULL,
		.job_name = config->job_name,
#define JOB_SETTING(field, ...) .field = config->field,
#include "options/settings.def"
		.executable = config->argc ? file_name(config->argv[0]) : NULL,
		.folder = tracker->folder ? file_name(tracker->folder) : NULL,
		.argc = (int64_t)config->argc,
		.command = tracker->command_json,
		.tags = tracker->tags,
		.tag_count = config->tag_count,
		.scheduler = tracker->scheduler,
		.scheduler_count = gather_scheduler(tracker->scheduler),
		.rank = config->rank,
		.interval_seconds = (double)config->interval_ns / 1e9,
		.carbon_factor = config->carbon_factor,
		.children = !config->no_children,
		.aligned = config->align,
	};
	return 0;
}
