/*
 * What the writers of exports share; see resource_tracker_analysis.h.
 */
#pragma once

#include "record/reader.h"

struct export_job {
	const char *const *paths;
	size_t path_count;
	const char *output;
	const struct rt_export_options *options;
	struct rt_problem *problem;
};

int export_sqlite(const struct export_job *job);
/* `older`: as version 0.4 of the package has it. ret_text: where it goes if the job has no output. */
int export_snapshot(const struct export_job *job, bool older, char **ret_text);
int export_gpu_tracker(const struct export_job *job);

/*
 * Opens the files of a job to read the last run only, which takes a look at all of them first: `ret_skip` samples
 * belong to earlier runs. -ESPIPE: standard input cannot be read twice.
 */
int export_open_last_run(const struct export_job *job, const struct metric_set *wanted,
			 struct record **ret_record, size_t *ret_skip, size_t *ret_count);

/* "-" and what cannot have an extension have none; ".gz" is not one. */
bool has_extension(const char *path, const char *extension);
bool is_gzip_name(const char *path);
