/*
 * The words and figures of the analysis for the recordings of tests/golden/runs stay: each RUN.jsonl or RUN.csv has RUN.printed beside it,
 * with its summary, statistics, advice, phases and line, and with its comparison with its neighbours. A file with the lines of several runs
 * also has the words of `history` and of a workflow.
 *
 * UPDATE_GOLDEN=1 writes the files anew: review the difference as a change of what users read.
 */
#include "scratch.h"

#include <ctype.h>
#include <dirent.h>

#include "base/cleanup.h"
#include "history/fleet.h"
#include "resource_tracker_internal.h"

enum { RUNS_MOST = 128, NAME_SIZE = 96 };

static char names[RUNS_MOST][NAME_SIZE];
static size_t count;
static FILE *printed;
static struct rt_problem problem;
static const char *colour;

/* ---- printing ------------------------------------------------------------------------------------------------------ */

static void print_answer(const char *title, int result, char **text)
{
	fprintf(printed, "---- %s: %s\n", title, result < 0 ? problem.text : "");
	if (result < 0)
		return;
	fprintf(printed, "%s\n", *text);
	free(*text);
}

/* A number with at most nine digits, so that the last ones of a calculation may differ. */
static const char *print_number(FILE *file, const char *text)
{
	size_t length = strspn(text, "+-.0123456789eE");
	char *end;
	double number = strtod(text, &end);

	if (memchr(text, '.', length) || memchr(text, 'e', length))
		fprintf(file, "%.9g", number);
	else
		fprintf(file, "%.*s", (int)length, text);
	return text + length;
}

static const char *print_string(FILE *file, const char *text)
{
	const char *end = text + 1;

	while (*end && *end != '"')
		end += *end == '\\' && end[1] ? 2 : 1;
	end += *end == '"';
	fprintf(file, "%.*s", (int)(end - text), text);
	return end;
}

/* One value a line. */
static void print_lines(FILE *file, const char *json)
{
	int depth = 0;

	while (*json) {
		if (strchr("}]", *json) && !strchr("{[", json[-1]))
			fprintf(file, "\n%*s", depth - 1, "");
		depth -= !!strchr("}]", *json);
		depth += !!strchr("{[", *json);
		if (isspace(*json)) {
			json++;
			continue;
		}
		if (*json == '"') {
			json = print_string(file, json);
			continue;
		}
		if (*json == '-' || isdigit(*json)) {
			json = print_number(file, json);
			continue;
		}
		fprintf(file, *json == ':' ? ": " : "%c", *json);
		if (*json == ',' || (strchr("{[", *json) && !strchr("}]", json[1])))
			fprintf(file, "\n%*s", depth, "");
		json++;
	}
}

/*
 * One value a line, so that a difference shows what has changed. Absent values, as most are, the points of curves and the place of the recording
 * are left out.
 */
static void print_json(const char *title, int result, char **text)
{
	char *lines = NULL, *rest, *line;
	size_t size;
	FILE *file;

	if (result < 0) {
		print_answer(title, result, text);
		return;
	}
	file = open_memstream(&lines, &size);
	assert_non_null(file);
	print_lines(file, *text);
	assert_int_equal(fclose(file), 0);
	fprintf(printed, "---- %s\n", title);
	for (rest = lines; (line = strsep(&rest, "\n"));)
		if (!strstr(line, ": null") && !strstr(line, "\"recording\": \"/") &&
		    !isdigit(line[strspn(line, " -")]))
			fprintf(printed, "%s\n", line);
	free(*text);
	free(lines);
}

static void print_summary(const char *const *paths)
{
	char *json = NULL, *text = NULL, *markdown = NULL, *tree = NULL, *programs = NULL, *waits = NULL;
	rt_summary *summary;
	int result = rt_summary_read(paths, 1, &summary, &problem);

	if (result < 0) {
		print_answer("summary", result, NULL);
		return;
	}
	print_json("summary as JSON", rt_summary_to_json(summary, &json), &json);
	print_answer("summary", rt_summary_for_screen(summary, RT_SIZE_AUTO, -1, colour, &text), &text);
	print_answer("programs", rt_summary_programs_for_screen(summary, -1, colour, &programs), &programs);
	print_answer("waits", rt_summary_waits_for_screen(summary, -1, colour, &waits), &waits);
	print_answer("summary as Markdown", rt_summary_to_markdown(summary, RT_SIZE_MIB, &markdown),
		     &markdown);
	if (rt_summary_get(summary, "gpu", "count").count > 0)
		print_answer("gpu_tracker", rt_summary_to_gpu_tracker(summary, NULL, false, &tree, &problem),
			     &tree);
	rt_summary_free(summary);
}

static void print_statistics(const char *const *paths)
{
	size_t spec_count;
	const struct rt_stat_spec *specs = rt_stats_default_specs(&spec_count);
	char *text = NULL;
	rt_stats *stats;
	int result = rt_stats_read_record(paths, 1, specs, spec_count, &stats, &problem);

	if (result >= 0)
		result = rt_stats_for_screen(stats, false, -1, colour, &text);
	print_answer("statistics", result, &text);
	if (result >= 0)
		rt_stats_free(stats);
}

static void print_advice(const char *const *paths, size_t path_count, struct rt_recommend_options options,
			 const char *form)
{
	char *json = NULL, *text = NULL, *request = NULL;
	rt_advice *advice;
	int result = rt_recommend(paths, path_count, &options, &advice, &problem);

	if (result < 0) {
		print_answer("advice", result, NULL);
		return;
	}
	print_json("advice as JSON", rt_advice_to_json(advice, &json), &json);
	print_answer("advice", rt_advice_to_text(advice, &text), &text);
	print_answer(form, rt_advice_to_form(advice, form, &request, &problem), &request);
	rt_advice_free(advice);
}

static void print_phases(const char *const *paths)
{
	const char *columns[] = {"cpu.process_cores_used", "cpu.process_memory_mib"};
	char marks[NAME_SIZE + 8], *json = NULL, *text = NULL;
	rt_regions *regions;
	int result;

	snprintf(marks, sizeof marks, "%s.marks", paths[0]);
	if (access(marks, F_OK) < 0)
		return;
	result = rt_regions_read(paths, 1, marks, columns, 2, &regions, &problem);
	assert_int_equal(result, 0);
	print_json("phases as JSON", rt_regions_to_json(regions, &json), &json);
	print_answer("phases", rt_regions_for_screen(regions, -1, colour, &text), &text);
	rt_regions_free(regions);
}

static void print_line(const char *path)
{
	char *line = NULL;

	print_json("line", rt_run_line(path, &line, &problem), &line);
}

static void print_conditions(const rt_comparison *comparison)
{
	static const char *const CONDITIONS[] = {"memory_peak>+10%", "cores_mean<-5%",   "wall_secs>+1%",
						 "cpu_secs>2",       "memory_peak>100%", "coffee>1"};

	for (size_t i = 0; i < sizeof(CONDITIONS) / sizeof(CONDITIONS[0]); i++) {
		int result;

		problem.text[0] = '\0';
		result = rt_comparison_holds(comparison, CONDITIONS[i], &problem);
		fprintf(printed, "%s: %s %s\n", CONDITIONS[i],
			result > 0 ? "holds"
			: result   ? "wrong"
				   : "holds not",
			problem.text);
	}
}

/* Two sides, each with one run or two. */
static void print_comparison(const char *const *paths, size_t run_count)
{
	const struct rt_compared_run runs[] = {
		{"before", paths[1]}, {"after", paths[0]}, {"before", paths[2]}, {"after", paths[3]}};
	char *text = NULL;
	rt_comparison *comparison;
	int result = rt_compare(runs, run_count, &comparison, &problem);

	if (result < 0) {
		print_answer("comparison", result, NULL);
		return;
	}
	print_answer("comparison", rt_comparison_for_screen(comparison, -1, colour, &text), &text);
	print_conditions(comparison);
	rt_comparison_free(comparison);
}

static void print_file(const char *title, int result, const char *path)
{
	char *text = result < 0 ? NULL : get_file(path, NULL);

	print_answer(title, result, &text);
	unlink(path);
}

/* Each format for two small recordings, and one of them for the others. */
static void print_exports(const char *const *paths, size_t at)
{
	static const char *const FORMATS[] = {"csv",    "openmetrics", "jsonl",    "gpu_tracker",
					      "influx", "nextflow",    "jobstats", "perfetto"};
	struct stat status;

	assert_int_equal(stat(paths[0], &status), 0);
	for (size_t i = 0; i < sizeof(FORMATS) / sizeof(FORMATS[0]); i++) {
		struct rt_export_options options = {.size = sizeof options, .format = FORMATS[i]};
		char path[] = "/tmp/rt-printed-XXXXXX";

		if (status.st_size > 8000 || (at % 8 != i && at != 1 && at != 9))
			continue;
		close(mkstemp(path));
		print_file(FORMATS[i], rt_export(paths, 1, path, &options, &problem), path);
	}
}

static void print_combination(const char *const *paths)
{
	char path[] = "/tmp/rt-printed-XXXXXX";
	struct stat one, other;

	assert_int_equal(stat(paths[0], &one) | stat(paths[1], &other), 0);
	if (one.st_size + other.st_size > 5000)
		return;
	close(mkstemp(path));
	print_file("combination", rt_combine(paths, 2, path, &problem), path);
}

/* ---- files with the lines of several runs ---- */

static bool print_fleet(const char *path, double usd_per_gib_hour)
{
	struct fleet fleet = {.by = {{FLEET_JOB, NULL}, {FLEET_TASK, NULL}},
			      .by_count = 2,
			      .memory_reason = -1,
			      .usd_per_gib_hour = usd_per_gib_hour};
	CLEANUP_BUFFER struct buffer json = BUFFER(1 << 20), text = BUFFER(1 << 20);
	char by[] = "tag:team,host,user", *copy;
	bool has_lines;

	if (usd_per_gib_hour > 0)
		assert_true(fleet_set_by(&fleet, by));
	has_lines = fleet_add_file(&fleet, path, &problem) == 0;

	if (has_lines) {
		assert_int_equal(fleet_finish(&fleet), 0);
		fleet_add_json(&json, &fleet);
		fleet_add_text(&text, &fleet, 20, &(struct screen){.columns = 200});
		copy = strdup(json.data);
		print_json("history as JSON", 0, &copy);
		copy = strdup(text.data);
		print_answer("history", 0, &copy);
	}
	fleet_done(&fleet);
	return has_lines;
}

static void print_workflow(const char *const *paths)
{
	char *json = NULL, *text = NULL;
	rt_workflow *workflow;

	if (rt_workflow_read(paths, 1, &workflow, &problem) < 0)
		return;
	print_json("workflow as JSON", rt_workflow_to_json(workflow, &json), &json);
	print_answer("workflow", rt_workflow_for_screen(workflow, -1, colour, &text), &text);
	rt_workflow_free(workflow);
}

/* ---- all runs ------------------------------------------------------------------------------------------------------ */

static int is_run(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && (strcmp(dot, ".jsonl") == 0 || strncmp(entry->d_name, "csv-", 4) == 0) &&
	       strcmp(dot, ".printed") != 0;
}

static void find_runs_of(const char *folder)
{
	struct dirent **entries;
	int found = scandir(folder, &entries, is_run, alphasort);

	assert_true(found > 1 && count + (size_t)found <= RUNS_MOST);
	for (int i = 0; i < found; i++) {
		snprintf(names[count++], NAME_SIZE, "%.4s%.80s", *folder == '.' && folder[1] ? "../" : "",
			 entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

/* Those made by hand, and those of the machines of test_golden.c, which have all rows. */
static void find_runs(void)
{
	assert_int_equal(chdir(getenv("TEST_GOLDEN")) | chdir("runs"), 0);
	find_runs_of(".");
	find_runs_of("..");
}

static void the_words_and_figures_of_a_run_stay(void **state)
{
	static const char *const FORMS[] = {"slurm",    "kubernetes", "docker",
					    "nextflow", "snakemake",  "metaflow"};
	size_t at = (size_t)((const char *)*state - names[0]) / NAME_SIZE, length;
	const char *paths[] = {names[at], names[at ? at - 1 : count - 1], names[at > 1 ? at - 2 : count - 2],
			       names[(at + 1) % count]};
	struct rt_recommend_options options = {.size = sizeof options};
	const char *name = strrchr(names[at], '/') ? strrchr(names[at], '/') + 1 : names[at];
	char path[NAME_SIZE], *text, *golden;

	snprintf(path, sizeof path, "%.*s.printed", (int)(strrchr(name, '.') - name), name);
	printed = open_memstream(&text, &length);
	assert_non_null(printed);
	colour = at % 2 ? "always" : "never";
	print_summary(paths);
	print_statistics(paths);
	options.usd_per_hour = at % 2 ? 0.5 : 0;
	print_advice(paths, 1, options, FORMS[at % 6]);
	options.policy = at % 2 ? RT_POLICY_P95 : RT_POLICY_COST;
	options.force = true;
	options.input_bytes = at % 3 ? 0 : 3e9;
	options.attempt = at % 5 ? 0 : 2;
	print_advice(paths, 3, options, FORMS[(at + 1) % 6]);
	print_phases(paths);
	print_line(paths[0]);
	print_comparison(paths, at % 2 ? 2 : 4);
	print_exports(paths, at);
	print_combination(paths);
	if (print_fleet(paths[0], at % 2 ? 0.01 : 0))
		print_workflow(paths);
	fclose(printed);
	if (getenv("UPDATE_GOLDEN"))
		put_text(path, text);
	golden = get_file(path, NULL);
	assert_string_equal(text, golden);
	free(golden);
	free(text);
}

UNIT_TESTS
{
	struct CMUnitTest tests[RUNS_MOST];

	setenv("TZ", "UTC", 1);
	unsetenv("COLUMNS");
	find_runs();
	for (size_t i = 0; i < count; i++)
		tests[i] = (struct CMUnitTest){.name = names[i],
					       .test_func = the_words_and_figures_of_a_run_stay,
					       .initial_state = names[i]};
	return _cmocka_run_group_tests("runs", tests, count, NULL, NULL);
}
