/* Reads the steps of a workflow. See steps.h. */
#include "workflow/steps.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/ends_with.h"
#include "base/read_file.h"
#include "base/scan.h"
#include "history/line_secs.h"
#include "history/run_line.h"
#include "record/reader.h"
#include "record/run_lines.h"

enum { STEP_LINE_BYTES = 1 << 20, RUNS_BYTES = 256 << 20, STEPS_FIRST = 64 };

void steps_done(struct steps *steps)
{
	for (size_t i = 0; i < steps->count; i++) {
		json_decref(steps->list[i].line);
		free(steps->list[i].path);
	}
	for (size_t i = 0; i < steps->damaged_count; i++) {
		free(steps->damaged[i].path);
		free(steps->damaged[i].why);
	}
	free(steps->list);
	free(steps->damaged);
	*steps = (struct steps){0};
}

bool flow_step_is_good(const struct flow_step *step)
{
	return strcmp(step->outcome, "ok") == 0;
}

/* Makes room for one more element of a list that doubles. */
static bool has_room(void **list, size_t *room, size_t count, size_t size)
{
	size_t more = *room ? *room * 2 : STEPS_FIRST;
	void *grown = count < *room ? *list : reallocarray(*list, more, size);

	if (!grown)
		return false;
	if (count >= *room)
		*room = more;
	*list = grown;
	return true;
}

static int add_damaged(struct steps *steps, const char *path, const char *why)
{
	struct damaged_step damaged = {strdup(path), strdup(why)};

	if (!damaged.path || !damaged.why ||
	    !has_room((void **)&steps->damaged, &steps->damaged_room, steps->damaged_count,
		      sizeof(damaged))) {
		free(damaged.path);
		free(damaged.why);
		return -ENOMEM;
	}
	steps->damaged[steps->damaged_count++] = damaged;
	return 0;
}

static const char *text_of_line(const json_t *line, const char *key)
{
	const char *text = json_string_value(json_object_get(line, key));

	return text ? text : "";
}

/* The numbers of a step, by their keys in the line. */
static void read_numbers(struct flow_step *step)
{
	static const struct {
		const char *key;
		size_t place;
	} NUMBERS[] = {
#define NUMBER(key, field) {#key, offsetof(struct flow_step, field)}
		NUMBER(started, started),
		NUMBER(ended, ended),
		NUMBER(cpu_secs, cpu_secs),
		NUMBER(cores_mean, cores_mean),
		NUMBER(cores_max, cores_max),
		NUMBER(cores_asked, cores_asked),
		NUMBER(cores_limit, cores_limit),
		NUMBER(memory_peak_mib, memory_peak_mib),
		NUMBER(memory_asked_mib, memory_asked_mib),
		NUMBER(memory_limit_mib, memory_limit_mib),
		NUMBER(gpu_mean, gpu_mean),
		NUMBER(gpu_held_idle_hours, gpu_held_idle_hours),
#undef NUMBER
	};

	for (size_t i = 0; i < ARRAY_SIZE(NUMBERS); i++) {
		const json_t *value = json_object_get(step->line, NUMBERS[i].key);

		*(double *)((char *)step + NUMBERS[i].place) =
			json_is_number(value) ? json_number_value(value) : (double)NAN;
	}
	step->wall_secs = line_whole_secs(step->line);
	/* The last sample is not the end: the job's length by its own clock is. */
	if (!isnan(step->wall_secs))
		step->ended = step->started + step->wall_secs;
	else
		step->wall_secs = step->ended - step->started;
}

/* A rule with its wildcards. Where only the task is known, as with a target of make, it is the name: the shell of all is none. */
static void name_step(struct flow_step *step)
{
	const char *job = text_of_line(step->line, "job_name"), *task = text_of_line(step->line, "task");

	if (!*task)
		task = text_of_line(step->line, "task_name");

	step->rule = *job ? job : *task ? task : text_of_line(step->line, "name");
	step->task = *job ? task : "";
}

/* Takes the line of a run. `path` of its recording, or NULL for what the line tells. */
static int add_line_of_step(struct steps *steps, const char *path, const char *bytes, size_t length)
{
	struct flow_step step = {.line = json_loadb(bytes, length, 0, NULL)};
	const char *recording;

	if (!json_is_object(step.line) || !json_object_get(step.line, "outcome")) {
		json_decref(step.line);
		return -EBADMSG;
	}
	name_step(&step);
	step.needs = json_string_value(json_object_get(json_object_get(step.line, "tags"), "needs"));
	step.makes = json_string_value(json_object_get(json_object_get(step.line, "tags"), "makes"));
	step.outcome = text_of_line(step.line, "outcome");
	step.host = text_of_line(step.line, "host");
	recording = path ? path : text_of_line(step.line, "recording");
	read_numbers(&step);
	if (isnan(step.started) || !(step.wall_secs >= 0)) {
		json_decref(step.line);
		return -ENODATA;
	}
	step.path = *recording ? strdup(recording) : NULL;
	if ((*recording && !step.path) ||
	    !has_room((void **)&steps->list, &steps->room, steps->count, sizeof(step))) {
		json_decref(step.line);
		free(step.path);
		return -ENOMEM;
	}
	steps->list[steps->count++] = step;
	return 0;
}

static int add_file_of_runs(struct steps *steps, const char *path)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(RUNS_BYTES);
	struct scan left, line;
	int result = read_whole_file(path, &text);

	if (result < 0)
		return add_damaged(steps, path, strerror(-result));
	left = scan_bytes(text.data, text.length);
	while (result != -ENOMEM && scan_line(&left, &line)) {
		result = add_line_of_step(steps, NULL, line.at, (size_t)(line.end - line.at));
		if (result == -EBADMSG || result == -ENODATA)
			result = add_damaged(steps, path, "a line of it is not the line of a run");
	}
	return result;
}

static int add_step_file(struct steps *steps, const char *path)
{
	CLEANUP_BUFFER struct buffer line = BUFFER(STEP_LINE_BYTES);
	struct rt_problem problem = {"out of memory"};
	int result;

	if (is_file_of_runs(path))
		return add_file_of_runs(steps, path);
	result = run_line_add_file(&line, path, &problem);
	if (result == 0) {
		result = add_line_of_step(steps, path, line.data, line.length);
		snprintf(problem.text, sizeof(problem.text), "%s: it has no time", path);
	}
	return result < 0 && result != -ENOMEM ? add_damaged(steps, path, problem.text) : result;
}

static int by_file_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* As a recorder names them. Recordings that were renamed by a later one (run.jsonl.1) count as well. */
static bool is_named_as_recording(const char *name)
{
	return *name != '.' && (strstr(name, ".jsonl") || strstr(name, ".csv")) && !ends_with(name, ".marks");
}

/* The project's own data: a CSV file with another heading. A damaged recording keeps its heading. */
static bool is_other_table(const char *path)
{
	const struct record_options options = {0};
	CLEANUP_RECORD struct record *record = NULL;

	return strstr(path, ".csv") && record_open(&path, 1, &options, &record, NULL) == -EBADMSG;
}

static int add_step_folder(struct steps *steps, const char *folder);

/* A link below a folder is left out: it may lead to a step that is read anyway, or in a loop. */
static int add_folder_entry(struct steps *steps, const char *folder, const char *name)
{
	CLEANUP_FREE char *path = NULL;
	struct stat status;

	if (asprintf(&path, "%s%s%s", folder, ends_with(folder, "/") ? "" : "/", name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	if (lstat(path, &status) < 0)
		return add_damaged(steps, path, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return *name != '.' || strcmp(name, ".resource-tracker") == 0 ? add_step_folder(steps, path)
									      : 0;
	if (!S_ISREG(status.st_mode) || !is_named_as_recording(name) || is_other_table(path))
		return 0;
	return add_step_file(steps, path);
}

static int add_step_folder(struct steps *steps, const char *folder)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, NULL, by_file_name), result = 0;

	if (count < 0)
		return errno == ENOMEM ? -ENOMEM : add_damaged(steps, folder, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (result == 0 && strcmp(entries[i]->d_name, ".") != 0 &&
		    strcmp(entries[i]->d_name, "..") != 0)
			result = add_folder_entry(steps, folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return result;
}

static int by_step_start(const void *left, const void *right)
{
	const struct flow_step *a = left, *b = right;
	int order = (a->started > b->started) - (a->started < b->started);

	order = order ? order : strcmp(a->rule, b->rule);
	return order ? order : strcmp(a->task, b->task);
}

static int by_step_name(const void *left, const void *right)
{
	const struct flow_step *a = *(struct flow_step *const *)left, *b = *(struct flow_step *const *)right;
	int order = strcmp(a->rule, b->rule);

	order = order ? order : strcmp(a->task, b->task);
	return order ? order : (a > b) - (a < b);
}

/* "bash (project)": a command without a script, in a folder. The next such command may be any other. */
static bool has_no_name(const struct flow_step *step)
{
	const char *executable = text_of_line(step->line, "executable");
	size_t length = strlen(executable);

	return length && strncmp(step->rule, executable, length) == 0 &&
	       strncmp(step->rule + length, " (", 2) == 0;
}

/*
 * Counts the attempts: the steps of one rule and task, of which only the last may have ended well. Where a good one is followed by
 * another, the name does not tell the steps apart, as with the commands of make.
 */
static int count_attempts(struct steps *steps)
{
	CLEANUP_FREE struct flow_step **order = calloc(steps->count + 1, sizeof(struct flow_step *));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < steps->count; i++)
		order[i] = &steps->list[i];
	qsort(order, steps->count, sizeof(struct flow_step *), by_step_name);
	for (size_t i = 0; i < steps->count; i++) {
		bool follows = i && strcmp(order[i - 1]->rule, order[i]->rule) == 0 &&
			       strcmp(order[i - 1]->task, order[i]->task) == 0 &&
			       !flow_step_is_good(order[i - 1]) && order[i - 1]->ended <= order[i]->started &&
			       !has_no_name(order[i]);

		order[i]->attempt = follows ? order[i - 1]->attempt + 1 : 1;
		order[i]->failed_before = follows ? (size_t)(order[i - 1] - steps->list) : 0;
		order[i]->is_last = true;
		if (follows)
			order[i - 1]->is_last = false;
	}
	return 0;
}

/* Lines of one run stand together, that of its recording first, then one that knows the end. */
static int by_run_id(const void *left, const void *right)
{
	const struct flow_step *a = left, *b = right;
	int order = strcmp(text_of_line(a->line, "id"), text_of_line(b->line, "id"));

	order = order ? order : !a->path - !b->path;
	return order ? order : (strcmp(a->outcome, "running") == 0) - (strcmp(b->outcome, "running") == 0);
}

/* A file of runs beside the recordings, as the action of GitHub writes it, has each step again. */
static void drop_repeated_lines(struct steps *steps)
{
	size_t kept = 0;

	qsort(steps->list, steps->count, sizeof(*steps->list), by_run_id);
	for (size_t i = 0; i < steps->count; i++) {
		struct flow_step *step = &steps->list[i];
		const char *id = text_of_line(step->line, "id");

		if (kept && *id && strcmp(id, text_of_line(steps->list[kept - 1].line, "id")) == 0) {
			json_decref(step->line);
			free(step->path);
		} else {
			steps->list[kept++] = *step;
		}
	}
	steps->count = kept;
}

int steps_read(struct steps *steps, const char *const *paths, size_t count, struct rt_problem *ret_problem)
{
	struct stat status;
	int result = 0;

	*steps = (struct steps){0};
	for (size_t i = 0; i < count && result == 0; i++)
		result = stat(paths[i], &status) == 0 && S_ISDIR(status.st_mode)
				 ? add_step_folder(steps, paths[i])
				 : add_step_file(steps, paths[i]);
	if (result == 0 && steps->count) {
		drop_repeated_lines(steps);
		qsort(steps->list, steps->count, sizeof(*steps->list), by_step_start);
		result = count_attempts(steps);
	}
	if (result < 0)
		return problem_set(ret_problem, result, "%s", strerror(-result));
	if (!steps->count && !steps->damaged_count)
		return problem_set(ret_problem, -ENODATA, "%s: there is no recording in it",
				   count ? paths[0] : "");
	if (!steps->count) {
		const struct damaged_step *first = &steps->damaged[0];
		bool is_named = strstr(first->why, first->path) != NULL;

		return problem_set(ret_problem, -ENODATA, "no step of %zu could be read: %s%s%s",
				   steps->damaged_count, is_named ? "" : first->path, is_named ? "" : ": ",
				   first->why);
	}
	return 0;
}
