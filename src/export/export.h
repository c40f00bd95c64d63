/*
 * Shared by the writers of exports; see resource_tracker_analysis.h.
 */
#pragma once

#include "record/reader.h"

struct export_job {
	const char *const *paths;
	size_t path_count;
	const char *output;
	const struct rt_export_options *options;
	const struct rt_gpu_tracker_options *gpu_tracker;
	struct rt_problem *problem;
};

int export_sqlite(const struct export_job *job);
/*
 * With `older`, writes the form of version 0.4 of the package. Stores the text in ret_text if the job has no
 * output.
 */
int export_snapshot(const struct export_job *job, bool older, char **ret_text);
int export_gpu_tracker(const struct export_job *job);
/* "otlp", "openmetrics" or "influx". */
int export_series(const struct export_job *job, const char *format);
/* The record of one Slurm job that jobstats and reportseff read, from the recordings of its tasks. */
int export_jobstats(const struct export_job *job);

/*
 * Opens the files of a job for reading the last run only. It reads all files once to find that run;
 * `ret_skip` samples belong to earlier runs. Returns -ESPIPE for standard input, which cannot be read twice.
 */
int export_open_last_run(const struct export_job *job, const struct metric_set *wanted,
			 struct record **ret_record, size_t *ret_skip, size_t *ret_count);

/*
 * Returns 1 if lines were damaged, with their number in the job's problem. A torn end is normal after a killed recorder.
 * `repaired`: lines that were read, although they are not strict JSON.
 */
int export_tell_damage(const struct export_job *job, int64_t repaired, int64_t left_out);

/* "-" has no extension, and ".gz" does not count as one. */
bool has_extension(const char *path, const char *extension);
bool is_gzip_name(const char *path);
