/* Finds the writer of an export by the name of its format or of its file. See export.h. */
#include "export/export.h"

#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "export/output.h"
#include "format/csv_layout.h"
#include "options/export_formats.h"
#include "resource_tracker_internal.h"

enum { LIST_BYTES = 1000 };

static const struct export_format {
	const char *name;
	const char *extensions;
	int (*write)(const struct export_job *job);
} FORMATS[] = {
#define FORMAT(writer, name, extensions, help) {name, extensions, export_##writer},
	EXPORT_FORMATS(FORMAT)};

static const struct export_format *format_of_output(const char *output)
{
	for (size_t i = 0; i < ARRAY_SIZE(FORMATS); i++)
		if (has_extension(output, FORMATS[i].extensions))
			return &FORMATS[i];
	return NULL;
}

/* gpu-tracker is gpu_tracker. */
static bool is_name(const char *name, const char *text)
{
	for (; *name && (*name == *text || (*name == '_' && *text == '-')); name++)
		text++;
	return *name == *text;
}

static const struct export_format *format_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(FORMATS); i++)
		if (is_name(FORMATS[i].name, name))
			return &FORMATS[i];
	return NULL;
}

/* "x.odd: name a format, or end it in .json, .csv or .sqlite" */
static int lacks_format(const struct export_job *job)
{
	CLEANUP_BUFFER struct buffer list = BUFFER(LIST_BYTES);
	size_t left = 0;

	for (size_t i = 0; i < ARRAY_SIZE(FORMATS); i++)
		left += *FORMATS[i].extensions != '\0';
	for (size_t i = 0; i < ARRAY_SIZE(FORMATS); i++) {
		const char *words = FORMATS[i].extensions;

		if (*words)
			buffer_printf(&list, ".%.*s%s", (int)strcspn(words, " "), words,
				      left == 1   ? ""
				      : left == 2 ? " or "
						  : ", ");
		left -= *words != '\0';
	}
	return problem_set(job->problem, -EINVAL, "%s: name a format, or end it in %s", job->output,
			   list.data ? list.data : "");
}

static int unknown_format(const struct export_job *job, const char *name)
{
#define COMMA_NAME(writer, name, extensions, help) ", " name
	static const char NAMES[] = EXPORT_FORMATS(COMMA_NAME);

	return problem_set(job->problem, -EINVAL, "'%.100s' is not a format; use %s", name,
			   NAMES + strlen(", "));
}

int rt_export(const char *const *paths, size_t path_count, const char *output,
	      const struct rt_export_options *options, struct rt_problem *ret_problem)
{
	struct rt_export_options own;
	struct rt_gpu_tracker_options gpu_tracker;
	struct export_job job = {paths, path_count, output, NULL, &own, &gpu_tracker, ret_problem};
	int result = TAKE_OPTIONS(ret_problem, &own, rt_export_options, gpu_tracker, options);
	const struct export_format *format;

	if (result == 0)
		result = TAKE_OPTIONS(ret_problem, &gpu_tracker, rt_gpu_tracker_options, gpu_uuid_count,
				      own.gpu_tracker);
	if (result < 0)
		return result;
	if (own.layout && !csv_layout_find(own.layout))
		return problem_set(ret_problem, -EINVAL, "'%.100s' is not a CSV layout", own.layout);
	if (output_check_inputs(output, paths, path_count, ret_problem) < 0)
		return -EINVAL;
	format = own.format ? format_by_name(own.format) : format_of_output(output);
	if (!format)
		return own.format ? unknown_format(&job, own.format) : lacks_format(&job);
	job.format = format->name;
	return format->write(&job);
}

int rt_package_dump(const char *const *paths, size_t path_count, const char *output,
		    struct rt_problem *ret_problem)
{
	const struct rt_export_options options = {.size = sizeof(options), .format = "snapshot"};

	return rt_export(paths, path_count, output, &options, ret_problem);
}
