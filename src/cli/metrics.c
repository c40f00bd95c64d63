/* `resource-tracker metrics`: lists the metrics of the library's catalogue as a table or as JSON. */
#include <fnmatch.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/nearest.h"
#include "base/runs_once.h"
#include "base/write_all.h"
#include "cli/message.h"
#include "cli/subcommands.h"
#include "launch/find_program.h"
#include "options/usage.h"
#include "resource_tracker.h"

enum { OUTPUT_BYTES = 4 << 20, NAME_BYTES = 200 };

static const char *type_name(enum rt_type type)
{
	switch (type) {
	case RT_TYPE_REAL:
		return "real";
	case RT_TYPE_COUNT:
		return "count";
	case RT_TYPE_TEXT:
		return "text";
	case RT_TYPE_FLAG:
		return "flag";
	default:
		return "";
	}
}

/* "process_rss_mib" of "cpu.process_rss_mib", by which `stats` and `show` know it too. */
static const char *last_part_of_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

static bool is_wanted(const struct rt_metric_info *metric, char *const *patterns)
{
	if (!*patterns)
		return true;
	for (; *patterns; patterns++) {
		size_t length = strlen(*patterns);

		if (fnmatch(*patterns, metric->name, 0) == 0 ||
		    strcmp(*patterns, last_part_of_name(metric->name)) == 0 ||
		    (strncmp(metric->name, *patterns, length) == 0 && metric->name[length] == '.'))
			return true;
	}
	return false;
}

static void add_metrics_json(struct json_writer *json, const struct rt_metric_info *metric)
{
	buffer_add_text(json->out, "\n");
	json_open(json, '{');
	json_key(json, "name");
	json_text(json, metric->name);
	json_key(json, "group");
	json_text(json, metric->group);
	json_key(json, "type");
	json_text(json, type_name(metric->type));
	json_key(json, "unit");
	json_text(json, metric->unit);
	json_key(json, "kind");
	json_text(json, metric->kind);
	json_key(json, "decimals");
	if (metric->type == RT_TYPE_REAL)
		json_count(json, metric->decimals);
	else
		json_absent(json);
	json_key(json, "many");
	json_flag(json, metric->many);
	json_key(json, "source");
	json_text(json, metric->source);
	json_key(json, "cost");
	json_text(json, metric->cost);
	json_key(json, "help");
	json_text(json, metric->help);
	json_close(json, '}');
}

static void widen_column(int *width, const char *text)
{
	if ((int)strlen(text) > *width)
		*width = (int)strlen(text);
}

/* For programs such as grep: one line for each metric. Each column is as wide as its longest entry; the last is not padded. */
static void add_table(struct buffer *out, char *const *patterns)
{
	int name_width = (int)strlen("NAME"), unit_width = (int)strlen("UNIT"),
	    kind_width = (int)strlen("KIND"), cost_width = (int)strlen("COST");
	struct rt_metric_info info = {.size = sizeof info};

	for (rt_metric metric = rt_metric_next(0); metric; metric = rt_metric_next(metric)) {
		if (rt_metric_get_info(metric, &info) < 0 || !is_wanted(&info, patterns))
			continue;
		widen_column(&name_width, info.name);
		widen_column(&unit_width, info.unit);
		widen_column(&kind_width, info.kind);
		widen_column(&cost_width, info.cost);
	}
	buffer_printf(out, "%-*s  %-*s  %-*s  %-*s  %s\n", name_width, "NAME", unit_width, "UNIT", kind_width,
		      "KIND", cost_width, "COST", "MEANING (SOURCE)");
	for (rt_metric metric = rt_metric_next(0); metric; metric = rt_metric_next(metric)) {
		if (rt_metric_get_info(metric, &info) < 0 || !is_wanted(&info, patterns))
			continue;
		buffer_printf(out, "%-*s  %-*s  %-*s  %-*s  %s", name_width, info.name, unit_width, info.unit,
			      kind_width, info.kind, cost_width, info.cost, info.help);
		if (*info.source)
			buffer_printf(out, " (%s)", info.source);
		buffer_add_char(out, '\n');
	}
}

static void add_names(struct buffer *out, char *const *patterns)
{
	struct rt_metric_info info = {.size = sizeof info};

	for (rt_metric metric = rt_metric_next(0); metric; metric = rt_metric_next(metric)) {
		if (rt_metric_get_info(metric, &info) < 0 || !is_wanted(&info, patterns))
			continue;
		buffer_add_text(out, info.name);
		buffer_add_char(out, '\n');
	}
}

static void add_array(struct buffer *out, char *const *patterns)
{
	struct json_writer json = JSON_WRITER(out);
	struct rt_metric_info info = {.size = sizeof info};

	json_open(&json, '[');
	for (rt_metric metric = rt_metric_next(0); metric; metric = rt_metric_next(metric)) {
		if (rt_metric_get_info(metric, &info) < 0 || !is_wanted(&info, patterns))
			continue;
		add_metrics_json(&json, &info);
	}
	json_close(&json, ']');
	buffer_add_char(out, '\n');
}

/* Returns the first given pattern that matches no metric, or NULL. */
static const char *pattern_without_metric(char *const *patterns)
{
	for (; *patterns; patterns++) {
		char *const one[] = {*patterns, NULL};
		struct rt_metric_info info = {.size = sizeof info};
		rt_metric metric = rt_metric_next(0);

		while (metric && (rt_metric_get_info(metric, &info) < 0 || !is_wanted(&info, one)))
			metric = rt_metric_next(metric);
		if (!metric)
			return *patterns;
	}
	return NULL;
}

/* The library reuses the memory of names, so the nearest one is copied. */
static bool find_nearest(const char *word, char ret_name[static NAME_BYTES])
{
	struct nearest nearest = {0};
	struct rt_metric_info info = {.size = sizeof info};

	for (rt_metric metric = rt_metric_next(0); metric; metric = rt_metric_next(metric))
		if (rt_metric_get_info(metric, &info) == 0 &&
		    (nearest_consider(&nearest, word, info.name) ||
		     nearest_consider(&nearest, word, last_part_of_name(info.name))))
			snprintf(ret_name, NAME_BYTES, "%s", info.name);
	return nearest.word != NULL;
}

static int no_metric(const char *word)
{
	char message[2 * NAME_BYTES], near[NAME_BYTES] = "";
	bool is_near = find_nearest(word, near);

	snprintf(message, sizeof(message), "there is no metric '%.100s'%s%s", word,
		 is_near ? "; the nearest is " : "", near);
	return say_usage("metrics", message);
}

struct metrics_request {
	char **patterns, **end; /* they take the place of the words that were read */
	bool json, names, without_pager;
	const char *colour;
};

static const char *take_metrics_option(void *context, const struct option_row *row, const char *text)
{
	struct metrics_request *request = context;

	if (!row)
		*request->end++ = (char *)(uintptr_t)text;
	else if (row->id == OPTION_metrics_color)
		request->colour = text;
	else
		*(row->id == OPTION_metrics_names  ? &request->names
		  : row->id == OPTION_metrics_json ? &request->json
						   : &request->without_pager) = true;
	return NULL;
}

/* A person gets a list from the program that has screens and pagers. Returns only if that cannot be started. */
static bool show_pages(const struct metrics_request *request)
{
	CLEANUP_BUFFER struct buffer json = BUFFER(OUTPUT_BYTES);
	const char *const words[] = {ANALYSIS_PROGRAM.name, "--metric-pages", request->colour,
				     request->without_pager ? "no-pager" : "pager", NULL};
	/* Where stdin is closed, it is this. */
	int fd = memfd_create("metrics", 0);
	char path[PATH_MAX];

	add_array(&json, request->patterns);
	if (fd < 0 || buffer_error(&json) || find_sister_program(&ANALYSIS_PROGRAM, path) < 0 ||
	    write_all(fd, json.data, json.length) < 0 || lseek(fd, 0, SEEK_SET) < 0 ||
	    dup2(fd, STDIN_FILENO) < 0)
		return false;
	execv(path, (char *const *)(uintptr_t)words);
	return false;
}

RUNS_ONCE int run_metrics(char **argv)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(OUTPUT_BYTES);
	struct metrics_request request = {.patterns = argv + 1, .end = argv + 1, .colour = "auto"};
	const char *unmatched;
	int status;

	if (!read_subcommand(argv, take_metrics_option, &request, &status))
		return status;
	*request.end = NULL;
	unmatched = pattern_without_metric(request.patterns);
	if (unmatched)
		return no_metric(unmatched);
	if (request.names)
		add_names(&out, request.patterns);
	else if (request.json)
		add_array(&out, request.patterns);
	else if ((!isatty(STDOUT_FILENO) && strcmp(request.colour, "always") != 0) || !show_pages(&request))
		add_table(&out, request.patterns);
	return print_text(&out);
}
