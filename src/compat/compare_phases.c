/*
 * gpu_tracker's comparison of analyses: one statistic of every measure, session by session; see
 * rt_compare_phases().
 *
 * An analysis is the output of rt_regions_to_json(), so results of gpu_tracker and our recordings look the
 * same here.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "regions/regions.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "record/problem.h"
#include "table/aggregate.h"
#include "table/table.h"

enum { TEXT_CEILING = 64 << 20, CELL_DECIMALS = 8, NAME_BYTES = 4096, ANALYSIS_BYTES = 64 << 20 };

struct block {
	const char *name;
	const json_t *json;
};

struct session {
	const char *name;
	json_t *analysis;
	struct block *blocks; /* sorted for the match */
	size_t block_count;
};

struct sessions {
	struct session *list;
	size_t count;
	const char *statistic;
};

static void sessions_done(struct sessions *sessions)
{
	for (size_t i = 0; i < sessions->count; i++) {
		json_decref(sessions->list[i].analysis);
		free(sessions->list[i].blocks);
	}
	free(sessions->list);
}

/* ---- sessions ---------------------------------------------------------------------------------------- */

static bool is_analysis(const json_t *json)
{
	return json_is_object(json_object_get(json, "overall")) &&
	       json_is_array(json_object_get(json, "code_block_results"));
}

static int analyse_recording(const char *path, json_t **ret_analysis, struct rt_problem *problem)
{
	CLEANUP_REGIONS rt_regions *regions = NULL;
	CLEANUP_FREE char *text = NULL;
	int result = rt_regions_read(&path, 1, NULL, NULL, 0, &regions, problem);

	if (result < 0)
		return result;
	if (rt_regions_to_json(regions, &text) == 0)
		*ret_analysis = json_loads(text, 0, NULL);
	return *ret_analysis ? 0 : problem_set(problem, -ENOMEM, "out of memory");
}

/* Analyses are small. A recording stops being a JSON document at its second line. */
static int read_analysis(const char *path, json_t **ret_analysis, struct rt_problem *problem)
{
	FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "re");
	json_t *json = NULL;

	if (!file)
		return strcmp(path, "-") == 0 ? problem_set(problem, -ESPIPE,
							    "runs are compared from files, not from a stream")
					      : problem_set(problem, -errno, "%s: %s", path, strerror(errno));
	if (fseek(file, 0, SEEK_END) == 0 && ftell(file) <= ANALYSIS_BYTES) {
		rewind(file);
		json = json_loadf(file, 0, NULL);
	}
	fclose(file);
	if (is_analysis(json)) {
		*ret_analysis = json;
		return 0;
	}
	json_decref(json);
	return analyse_recording(path, ret_analysis, problem);
}

static const char *block_name(const json_t *block)
{
	const char *name = json_string_value(json_object_get(block, "name"));

	return name ? name : "";
}

/*
 * Splits "tmp.py:9" into "tmp.py:" and 9. Without a number behind a final colon, returns the whole name and
 * -1.
 */
static size_t stem_of(const char *name, long long *ret_number)
{
	const char *colon = strrchr(name, ':');
	long long number = 0;

	*ret_number = -1;
	if (!colon || !colon[1])
		return strlen(name);
	for (const char *at = colon + 1; *at; at++) {
		if (*at < '0' || *at > '9' || number > 100000000000)
			return strlen(name);
		number = 10 * number + (*at - '0');
	}
	*ret_number = number;
	return (size_t)(colon + 1 - name);
}

/* Orders by name, with numbers at the end by their size. */
static int by_name(const void *a, const void *b)
{
	const char *left = ((const struct block *)a)->name, *right = ((const struct block *)b)->name;
	long long left_number, right_number;
	size_t left_stem = stem_of(left, &left_number), right_stem = stem_of(right, &right_number);

	if (left_stem == right_stem && strncmp(left, right, left_stem) == 0 && left_number != right_number)
		return left_number < right_number ? -1 : 1;
	return strcmp(left, right);
}

static int open_session(struct session *session, const struct rt_compared_run *run,
			struct rt_problem *problem)
{
	const json_t *list;
	int result = read_analysis(run->path, &session->analysis, problem);

	if (result < 0)
		return result;
	session->name = run->side;
	list = json_object_get(session->analysis, "code_block_results");
	session->blocks = calloc(json_array_size(list) + 1, sizeof(*session->blocks));
	if (!session->blocks)
		return problem_set(problem, -ENOMEM, "out of memory");
	for (size_t i = 0; i < json_array_size(list); i++)
		session->blocks[session->block_count++] =
			(struct block){block_name(json_array_get(list, i)), json_array_get(list, i)};
	qsort(session->blocks, session->block_count, sizeof(*session->blocks), by_name);
	return 0;
}

/* The session with the first name is the reference for the others. */
static int by_session(const void *a, const void *b)
{
	return strcmp(((const struct rt_compared_run *)a)->side, ((const struct rt_compared_run *)b)->side);
}

static int open_sessions(struct sessions *sessions, const struct rt_compared_run *runs, size_t count,
			 struct rt_problem *problem)
{
	CLEANUP_FREE struct rt_compared_run *sorted = calloc(count + 1, sizeof(*sorted));
	int result = 0;

	sessions->list = calloc(count + 1, sizeof(*sessions->list));
	if (!sorted || !sessions->list)
		return problem_set(problem, -ENOMEM, "out of memory");
	memcpy(sorted, runs, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_session);
	for (size_t i = 0; i < count && result == 0; i++) {
		if (i && strcmp(sorted[i].side, sorted[i - 1].side) == 0)
			return problem_set(problem, -EINVAL,
					   "the side %.200s is there twice: here each side is one run",
					   sorted[i].side);
		sessions->count++;
		result = open_session(&sessions->list[i], &sorted[i], problem);
	}
	return result;
}

/*
 * Blocks match by position: their names are equal, or differ in a number at the end (a line that has moved).
 */
static int match_blocks(const struct sessions *sessions, struct rt_problem *problem)
{
	const struct session *first = &sessions->list[0];

	for (size_t i = 1; i < sessions->count; i++) {
		const struct session *other = &sessions->list[i];

		if (other->block_count != first->block_count)
			return problem_set(problem, -EINVAL,
					   "%.100s has %zu phases, %.100s has %zu: they cannot be compared",
					   first->name, first->block_count, other->name, other->block_count);
		for (size_t j = 0; j < first->block_count; j++) {
			const char *one = first->blocks[j].name, *two = other->blocks[j].name;
			long long one_number, two_number;
			size_t one_stem = stem_of(one, &one_number), two_stem = stem_of(two, &two_number);

			if (one_stem != two_stem || strncmp(one, two, one_stem) != 0 ||
			    (one_number < 0) != (two_number < 0))
				return problem_set(problem, -EINVAL,
						   "phase %.100s of %.60s is not phase %.100s of %.60s: they "
						   "cannot be compared",
						   one, first->name, two, other->name);
			if (one_number != two_number)
				problem_set(problem, 0,
					    "phase %.100s of %.60s is taken for phase %.100s of %.60s: only "
					    "the line differs",
					    one, first->name, two, other->name);
		}
	}
	return 0;
}

/* "tmp.py:12 -> tmp.py:9": the different names in the order of their bytes. */
static void block_label(const struct sessions *sessions, size_t index, struct buffer *out)
{
	const char *last = NULL;

	for (;;) {
		const char *next = NULL;

		for (size_t i = 0; i < sessions->count; i++) {
			const char *name = sessions->list[i].blocks[index].name;

			if ((!last || strcmp(name, last) > 0) && (!next || strcmp(name, next) < 0))
				next = name;
		}
		if (!next)
			return;
		buffer_printf(out, "%s%s", last ? " -> " : "", next);
		last = next;
	}
}

/* ---- values ------------------------------------------------------------------------------------------ */

/* One value of one session. */
struct entry {
	const char *session;
	json_t *value; /* NULL: absent */
};

/* Orders values ascending, absent ones last; equal ones keep their order. */
static bool is_behind(const struct entry *one, const struct entry *other)
{
	if (!one->value || !other->value)
		return !one->value && other->value;
	return json_number_value(one->value) > json_number_value(other->value);
}

static void sort_entries(struct entry *entries, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct entry one = entries[i];
		size_t j = i;

		for (; j && is_behind(&entries[j - 1], &one); j--)
			entries[j] = entries[j - 1];
		entries[j] = one;
	}
}

/* Finds the statistics of a measure in the whole run or a phase, or those of a phase's duration. */
typedef const json_t *find_statistics(const struct session *session, size_t block, const char *measure);

static const json_t *overall_statistics(const struct session *session, size_t block, const char *measure)
{
	(void)block;
	return json_object_get(json_object_get(session->analysis, "overall"), measure);
}

static const json_t *usage_statistics(const struct session *session, size_t block, const char *measure)
{
	return json_object_get(json_object_get(session->blocks[block].json, "resource_usage"), measure);
}

static const json_t *compute_time(const struct session *session, size_t block, const char *measure)
{
	(void)measure;
	return json_object_get(session->blocks[block].json, "compute_time");
}

/* Adds {session: value} to the map, as member `name`. */
static void add_values(const struct sessions *sessions, find_statistics *find, size_t block,
		       const char *measure, json_t *map, const char *name)
{
	CLEANUP_FREE struct entry *entries = calloc(sessions->count + 1, sizeof(*entries));
	json_t *values = json_object();

	for (size_t i = 0; entries && i < sessions->count; i++) {
		json_t *value =
			json_object_get(find(&sessions->list[i], block, measure), sessions->statistic);

		entries[i] = (struct entry){sessions->list[i].name, json_is_number(value) ? value : NULL};
	}
	if (entries)
		sort_entries(entries, sessions->count);
	for (size_t i = 0; entries && i < sessions->count; i++) {
		if (entries[i].value)
			(void)json_object_set_nocheck(values, entries[i].session, entries[i].value);
		else
			(void)json_object_set_new_nocheck(values, entries[i].session, json_null());
	}
	(void)json_object_set_new_nocheck(map, name, values);
}

static void add_blocks(const struct sessions *sessions, find_statistics *find, const char *measure,
		       json_t *map)
{
	for (size_t block = 0; block < sessions->list[0].block_count; block++) {
		CLEANUP_BUFFER struct buffer label = BUFFER(TEXT_CEILING);

		block_label(sessions, block, &label);
		add_values(sessions, find, block, measure, map, label.data ? label.data : "");
	}
}

/* Builds the whole result in gpu_tracker's form. */
static json_t *compare_sessions(const struct sessions *sessions)
{
	json_t *result = json_object(), *whole = json_object(), *blocks = json_object(),
	       *seconds = json_object();
	json_t *measures = json_object_get(sessions->list[0].analysis, "overall"), *ignored;
	const char *measure;

	json_object_foreach(measures, measure, ignored)
	{
		json_t *of_measure;

		add_values(sessions, overall_statistics, 0, measure, whole, measure);
		if (!sessions->list[0].block_count)
			continue;
		of_measure = json_object();
		add_blocks(sessions, usage_statistics, measure, of_measure);
		(void)json_object_set_new_nocheck(blocks, measure, of_measure);
	}
	add_blocks(sessions, compute_time, NULL, seconds);
	(void)json_object_set_new_nocheck(result, "overall_resource_usage", whole);
	(void)json_object_set_new_nocheck(result, "code_block_resource_usage", blocks);
	(void)json_object_set_new_nocheck(result, "code_block_compute_time", seconds);
	return result;
}

/* ---- JSON and text ----------------------------------------------------------------------------------- */

static void add_phases_json(struct json_writer *json, json_t *value)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(64);
	const char *key;
	json_t *member;

	if (json_is_integer(value)) {
		json_count(json, json_integer_value(value));
	} else if (json_is_real(value)) {
		buffer_add_shortest(&text, json_real_value(value));
		json_raw(json, text.data, text.length);
	} else if (json_is_object(value)) {
		json_open(json, '{');
		json_object_foreach(value, key, member)
		{
			json_key(json, key);
			add_phases_json(json, member);
		}
		json_close(json, '}');
	} else {
		json_absent(json);
	}
}

/* Tells whether all values are whole numbers, which are printed without a fraction. */
static bool are_whole(json_t *values)
{
	const char *key;
	json_t *value;

	json_object_foreach(values, key, value) if (!json_is_integer(value)) return false;
	return true;
}

static void add_cell(struct buffer *out, json_t *value, bool whole)
{
	if (!json_is_number(value))
		buffer_add_text(out, "NaN");
	else if (whole)
		buffer_printf(out, " %lld", (long long)json_integer_value(value));
	else
		buffer_add_shortest(out, round_like_python(json_number_value(value), CELL_DECIMALS));
}

/* Adds a heading line and a line of values. */
static void add_compared_row(struct buffer *out, size_t depth, json_t *values)
{
	CLEANUP_BUFFER struct buffer heads = BUFFER(TEXT_CEILING), cells = BUFFER(TEXT_CEILING);
	bool whole = are_whole(values);
	const char *session;
	json_t *value;

	json_object_foreach(values, session, value)
	{
		CLEANUP_BUFFER struct buffer cell = BUFFER(64);
		size_t width = strlen(session) + 1;

		add_cell(&cell, value, whole);
		width = cell.length > width ? cell.length : width;
		buffer_printf(&heads, " %*s", (int)width, session);
		buffer_printf(&cells, " %*s", (int)width, cell.data);
	}
	for (int line = 0; line < 2; line++) {
		const struct buffer *from = line ? &cells : &heads;

		for (size_t i = 0; i < depth; i++)
			buffer_add_char(out, '\t');
		buffer_add(out, from->data, from->length);
		buffer_add_char(out, '\n');
	}
}

/* Writes the key "cpu_main_ram" as "Cpu Main Ram"; names of phases stay unchanged. */
static void add_phase_label(struct buffer *out, size_t depth, const char *name, bool is_key)
{
	for (size_t i = 0; i < depth; i++)
		buffer_add_char(out, '\t');
	for (const char *at = name; *at; at++) {
		bool begins = at == name || at[-1] == '_';

		if (is_key && *at == '_')
			buffer_add_char(out, ' ');
		else if (is_key && begins && *at >= 'a' && *at <= 'z')
			buffer_add_char(out, (char)(*at - 'a' + 'A'));
		else
			buffer_add_char(out, (unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at);
	}
	buffer_add_text(out, ":\n");
}

static void add_group(struct buffer *out, const char *name, json_t *group, bool has_blocks, bool has_measures)
{
	const char *key, *block;
	json_t *member, *values;

	add_phase_label(out, 0, name, true);
	json_object_foreach(group, key, member)
	{
		add_phase_label(out, 1, key, has_measures);
		if (!has_blocks || !has_measures) {
			add_compared_row(out, 2, member);
			continue;
		}
		json_object_foreach(member, block, values)
		{
			add_phase_label(out, 2, block, false);
			add_compared_row(out, 3, values);
		}
	}
}

static void add_phases_text(struct buffer *out, json_t *result)
{
	static const struct {
		const char *name;
		bool has_blocks, has_measures;
	} GROUPS[] = {{"overall_resource_usage", false, true},
		      {"code_block_resource_usage", true, true},
		      {"code_block_compute_time", true, false}};

	for (size_t i = 0; i < ARRAY_SIZE(GROUPS); i++)
		add_group(out, GROUPS[i].name, json_object_get(result, GROUPS[i].name), GROUPS[i].has_blocks,
			  GROUPS[i].has_measures);
}

static bool is_statistic(const char *name)
{
	return strcmp(name, "min") == 0 || strcmp(name, "max") == 0 || strcmp(name, "mean") == 0 ||
	       strcmp(name, "std") == 0;
}

int rt_compare_phases(const struct rt_compared_run *runs, size_t run_count, const char *statistic, bool json,
		      char **ret_text, struct rt_problem *ret_problem)
{
	__attribute__((cleanup(sessions_done))) struct sessions sessions = {.statistic = statistic ? statistic
												   : "mean"};
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);
	struct json_writer writer = JSON_WRITER(&out);
	json_t *compared;
	int result;

	if (ret_problem)
		ret_problem->text[0] = '\0';
	if (!is_statistic(sessions.statistic))
		return problem_set(ret_problem, -EINVAL,
				   "'%.100s' is not a statistic; use min, max, mean or std",
				   sessions.statistic);
	if (run_count < 2)
		return problem_set(ret_problem, -EINVAL, "name two different recordings to compare");
	result = open_sessions(&sessions, runs, run_count, ret_problem);
	if (result == 0)
		result = match_blocks(&sessions, ret_problem);
	if (result < 0)
		return result;
	compared = compare_sessions(&sessions);
	if (json) {
		add_phases_json(&writer, compared);
		buffer_add_char(&out, '\n');
	} else {
		add_phases_text(&out, compared);
	}
	json_decref(compared);
	result = buffer_take_text(&out, ret_text);
	return result < 0 ? problem_set(ret_problem, result, "out of memory") : 0;
}
