/* Parts that the writers of exports share: the names of files, the last run, and what is told of damage. See export.h. */
#include "export/export.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"

static size_t length_without_gz(const char *path)
{
	size_t length = strlen(path);

	return is_gzip_name(path) ? length - 3 : length;
}

bool is_gzip_name(const char *path)
{
	size_t length = strlen(path);

	return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

bool has_extension(const char *path, const char *extensions)
{
	size_t length = length_without_gz(path);

	for (const char *word = extensions; *word; word += strspn(word, " ")) {
		size_t wanted = strcspn(word, " ");

		if (length > wanted && path[length - wanted - 1] == '.' &&
		    memcmp(path + length - wanted, word, wanted) == 0)
			return true;
		word += wanted;
	}
	return false;
}

int export_tell_damage(const struct export_job *job, int64_t repaired, int64_t left_out)
{
	if (!repaired && !left_out)
		return 0;
	problem_set(job->problem, 1,
		    "%s: damaged lines: %lld repaired from their known values, %lld left out", job->paths[0],
		    (long long)repaired, (long long)left_out);
	return 1;
}

int export_lacks_samples(const struct export_job *job)
{
	return problem_set(job->problem, -ENODATA, "%s: no whole sample has been written yet", job->paths[0]);
}

int export_check_rereadable(const struct export_job *job)
{
	for (size_t i = 0; i < job->path_count; i++)
		if (strcmp(job->paths[i], "-") == 0)
			return problem_set(job->problem, -ESPIPE,
					   "standard input cannot be read twice; name a file instead");
	return 0;
}

int export_open_last_run(const struct export_job *job, const struct metric_set *wanted,
			 struct record **ret_record, size_t *ret_skip, size_t *ret_count)
{
	CLEANUP_RECORD struct record *record = NULL;
	struct record_options none = {0}, options = {.wanted = *wanted};
	size_t run = 0, all = 0, first = 0;
	const struct frame *frame;
	int result;

	result = export_check_rereadable(job);
	if (result == 0)
		result = record_open(job->paths, job->path_count, &none, &record, job->problem);
	if (result < 0)
		return result;
	while ((result = record_next(record, &frame)) > 0) {
		if (record_run(record) != run)
			first = all;
		run = record_run(record);
		all++;
	}
	if (result < 0)
		return problem_set(job->problem, result, "%s", record_problem(record)->text);
	if (!all)
		return export_lacks_samples(job);
	*ret_skip = first;
	*ret_count = all - first;
	return record_open(job->paths, job->path_count, &options, ret_record, job->problem);
}

double export_figure(const rt_summary *summary, const char *group, const char *name)
{
	struct rt_value value = rt_summary_get(summary, group, name);

	if (value.type == RT_TYPE_COUNT)
		return (double)value.count;
	return value.type == RT_TYPE_REAL ? value.real : (double)NAN;
}
