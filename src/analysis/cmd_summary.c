/* summary: prints a run's totals on one screen, as JSON, as Markdown, or as gpu_tracker's tree of figures. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command.h"
#include "analysis/command_workflow.h"
#include "analysis/words.h"
#include "base/cleanup.h"
#include "resource_tracker_internal.h"

struct summary_request {
	bool json, gpu_tracker, markdown;
	enum rt_size_unit unit;
	struct rt_gpu_tracker_options tree;
	const char *output;
};

static void cleanup_one_summary(rt_summary **summary)
{
	rt_summary_free(*summary);
}

static bool parse_unit(const char *name, enum rt_size_unit *ret_unit)
{
	static const struct {
		const char *name;
		enum rt_size_unit unit;
	} UNITS[] = {{"auto", RT_SIZE_AUTO}, {"bytes", RT_SIZE_BYTES}, {"kib", RT_SIZE_KIB},
		     {"mib", RT_SIZE_MIB},   {"gib", RT_SIZE_GIB},     {"tib", RT_SIZE_TIB},
		     {"kb", RT_SIZE_KB},     {"mb", RT_SIZE_MB},       {"gb", RT_SIZE_GB},
		     {"tb", RT_SIZE_TB}};

	for (size_t i = 0; i < ARRAY_SIZE(UNITS); i++)
		if (strcasecmp(name, UNITS[i].name) == 0) {
			*ret_unit = UNITS[i].unit;
			return true;
		}
	return false;
}

static int make_summary_text(const struct summary_request *request, const rt_summary *summary,
			     char **ret_text, struct rt_problem *problem)
{
	if (request->gpu_tracker)
		return rt_summary_to_gpu_tracker(summary, &request->tree, request->json, ret_text, problem);
	if (request->json)
		return rt_summary_to_json(summary, ret_text);
	if (request->markdown)
		return rt_summary_to_markdown(summary, request->unit, ret_text);
	return rt_summary_for_screen(summary, request->unit, command_screen(request->output),
				     command_colour(), ret_text);
}

/* Appends to *text and grows it. `between` separates the parts, so the first one does not get it. */
static int append_text(char **text, const char *between, const char *more)
{
	char *longer = NULL;

	if (asprintf(&longer, "%s%s%s", *text ? *text : "", *text ? between : "", more) < 0)
		return -ENOMEM;
	free(*text);
	*text = longer;
	return 0;
}

static int add_summary_of(const struct summary_request *request, const char *const *paths, size_t count,
			  char **text, struct rt_problem *problem)
{
	__attribute__((cleanup(cleanup_one_summary))) rt_summary *summary = NULL;
	CLEANUP_FREE char *one = NULL;
	int result = rt_summary_read_gpus(paths, count, request->tree.gpu_uuids, request->tree.gpu_uuid_count,
					  &summary, problem);

	if (result == 0)
		result = make_summary_text(request, summary, &one, problem);
	return result < 0 ? result : append_text(text, request->json ? "," : "\n", one);
}

/* Several files may be parts of one run (upload segments, a pair of CSV files) or separate recordings. */
static int is_one_run(const char *const *paths, size_t count, bool *ret_one, struct rt_problem *problem)
{
	__attribute__((cleanup(cleanup_one_summary))) rt_summary *summary = NULL;
	int result;

	*ret_one = true;
	/* Standard input can be read only once. */
	for (size_t i = 0; i < count; i++)
		if (count == 1 || strcmp(paths[i], "-") == 0)
			return 0;
	result = rt_summary_read(paths, count, &summary, problem);
	if (result == 0)
		*ret_one = rt_summary_get(summary, "run", "runs_in_file").count == 1;
	return result;
}

static int summarize_workflow(const struct subcommand *command, const struct summary_request *request,
			      const struct text_list *files)
{
	CLEANUP_WORKFLOW rt_workflow *workflow = NULL;
	struct rt_problem problem = {"out of memory"};
	CLEANUP_FREE char *text = NULL;
	int result;

	if (request->markdown || request->gpu_tracker)
		return command_usage(command, "a workflow has a text and --json");
	result = rt_workflow_read(files->texts, files->count, &workflow, &problem);
	if (result == 0)
		result = request->json ? rt_workflow_to_json(workflow, &text)
				       : rt_workflow_for_screen(workflow, command_screen(request->output),
								command_colour(), &text);
	if (result < 0)
		return command_fault(command, "%s", problem.text);
	return request->json ? command_write(command, request->output, text, strlen(text))
			     : command_write_fitted(command, request->output, text);
}

int run_summary(const struct subcommand *command, char **argv)
{
	CLEANUP_OPTIONS(summary) options = {.format = "text", .layout = "text"};
	const struct text_list *files = &options.line.files;
	CLEANUP_TEXTS struct text_list gpu_uuids = {0};
	struct summary_request request;
	struct rt_problem problem = {"out of memory"};
	CLEANUP_FREE char *text = NULL, *list = NULL;
	size_t count;
	bool one;
	int result, status = command_read(command, argv, &options);

	if (status == 0)
		status = command_split(command, "gpu-uuids", &options.gpu_uuids, &gpu_uuids);
	request = (struct summary_request){
		.json = options.json || strcmp(options.format, "json") == 0,
		.markdown = options.markdown || strcmp(options.format, "markdown") == 0,
		.gpu_tracker = strcmp(options.format, "gpu-tracker") == 0 ||
			       strcmp(options.layout, "gpu_tracker") == 0,
		.tree = GPU_TRACKER_OPTIONS_OF(options, gpu_uuids),
		.output = options.output,
	};
	if (status == 0 && options.unit && !parse_unit(options.unit, &request.unit))
		status = command_wrong_value(command, "unit", options.unit);
	if (status)
		return status;
	if (!files->count)
		return command_usage(command, "name a recording");
	if (request.markdown && (request.json || request.gpu_tracker))
		return command_usage(command, "choose one form: Markdown, JSON or gpu_tracker's");
	if (options.workflow || has_folder(files))
		return summarize_workflow(command, &request, files);
	count = files->count;
	result = is_one_run(files->texts, count, &one, &problem);
	for (size_t i = 0; result == 0 && i < (one ? 1 : count); i++)
		result = add_summary_of(&request, &files->texts[i], one ? count : 1, &text, &problem);
	/* gpu_tracker's text has no final newline, in files either. A terminal needs one. */
	if (result == 0 && request.gpu_tracker && !request.output && one)
		result = append_text(&text, "\n", "");
	if (result < 0)
		return command_fault(command, "%s", problem.text);
	if (!request.json && !request.gpu_tracker && !request.markdown)
		return command_write_fitted(command, request.output, text);
	if (one || !request.json)
		return command_write(command, request.output, text, strlen(text));
	if (asprintf(&list, "[%s]\n", text) < 0)
		return command_fault(command, "out of memory");
	return command_write(command, request.output, list, strlen(list));
}
