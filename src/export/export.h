/*
 * Shared by the writers of exports; see resource_tracker_analysis.h.
 */
#pragma once

#include "options/export_formats.h"
#include "record/reader.h"

struct export_job {
	const char *const *paths;
	size_t path_count;
	const char *output;
	const char *format; /* the name in its row */
	const struct rt_export_options *options;
	const struct rt_gpu_tracker_options *gpu_tracker;
	struct rt_problem *problem;
};

/* Each writes what its rows of options/export_formats.h say. */
#define FORMAT(writer, name, extensions, help) int export_##writer(const struct export_job *job);
EXPORT_FORMATS(FORMAT)
#undef FORMAT

/* Say that the first file has no sample yet (-ENODATA), or that standard input cannot be read twice (-ESPIPE, or 0). */
int export_lacks_samples(const struct export_job *job);
int export_check_rereadable(const struct export_job *job);

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

/* A figure of a summary. NaN: it is unknown. */
double export_figure(const rt_summary *summary, const char *group, const char *name);

/* Whether the path has one of the extensions, which blanks separate. "-" has none, and ".gz" does not count as one. */
bool has_extension(const char *path, const char *extensions);
bool is_gzip_name(const char *path);
