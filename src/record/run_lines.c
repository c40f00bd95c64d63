/* Reads lines of runs. See run_lines.h. */
#include "record/run_lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static const char *const OTHER_KEYS[] = {
#define RUN_KEY_TEXT(key) #key,
	RUN_KEYS(RUN_KEY_TEXT)};

static unsigned find_key(const struct scan *name)
{
	unsigned key = run_figure_of_key(*name);

	if (key < RUN_FIGURE_COUNT)
		return key;
	while (key < RUN_KEY_COUNT && !scan_is(name, OTHER_KEYS[key - RUN_FIGURE_COUNT]))
		key++;
	return key;
}

/*
 * Lines differ in the keys that they have, so a key is found by its text, not by its place in the line. A key whose place is taken
 * has one of the next. NULL: the key is too long for a place.
 */
static struct run_known_key *known_key(struct run_lines *lines, const struct scan *name)
{
	enum { PLACES = 4, SIGNS = 3 };
	size_t length = scan_left(name), hash = length;
	struct run_known_key *known = NULL;

	if (!length || length + SIGNS > sizeof(known->text))
		return NULL;
	for (size_t i = 0; i < length; i++)
		hash = hash * 31 + (unsigned char)name->at[i];
	for (size_t i = 0; i < PLACES; i++) {
		known = &lines->known[((hash ^ hash >> 9) + i) % RUN_KNOWN_KEYS];
		if (known->length == length + SIGNS && memcmp(known->text + 1, name->at, length) == 0)
			return known;
		if (!known->length)
			break;
	}
	*known = (struct run_known_key){.length = (unsigned char)(length + SIGNS),
					.key = (unsigned short)find_key(name)};
	known->text[0] = known->text[length + 1] = '"';
	known->text[length + 2] = ':';
	memcpy(known->text + 1, name->at, length);
	return known;
}

/* Takes a key and its colon. Most keys follow the one that they followed in the last line, and are compared alone. */
static bool take_run_key(struct run_lines *lines, struct scan *line, struct run_known_key **before,
			 unsigned *ret_key)
{
	struct run_known_key *known = *before ? &lines->known[(*before)->next] : NULL;
	struct scan name;

	if (known && known->length && scan_left(line) > known->length &&
	    memcmp(line->at, known->text, known->length) == 0) {
		line->at += known->length;
		json_skip_space(line);
	} else {
		if (!json_quoted(line, &name) || !json_take(line, ':'))
			return false;
		known = known_key(lines, &name);
		if (*before && known)
			(*before)->next = (unsigned short)(known - lines->known);
	}
	*ret_key = known ? known->key : find_key(&name);
	*before = known;
	return true;
}

/* `gpus` of a machine without GPUs stands alone in newer lines, for their work that is 0. */
static void fill_gpus(struct run_value values[static RUN_KEY_COUNT])
{
	static const enum run_figure_id WORK[] = {FIGURE_gpu_used_max, FIGURE_gpu_mean, FIGURE_gpu_max,
						  FIGURE_gpu_memory_max_mib};
	const struct run_value *gpus = &values[FIGURE_gpu_count];

	if (gpus->kind != VALUE_NUMBER || !scan_is(&gpus->raw, "0"))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(WORK); i++)
		if (values[WORK[i]].kind != VALUE_NULL)
			return;
	for (size_t i = 0; i < ARRAY_SIZE(WORK); i++)
		values[WORK[i]] = *gpus;
}

/* Reads {"key":value,...}. The last value of a key counts. */
static bool read_values(struct run_lines *lines, struct scan line)
{
	struct run_known_key *before = &lines->begin;

	_Static_assert(VALUE_NULL == 0, "all values are absent");
	memset(lines->values, 0, sizeof(lines->values));
	if (!json_take(&line, '{'))
		return false;
	do {
		struct run_value value;
		const char *start;
		unsigned key;

		if (!take_run_key(lines, &line, &before, &key))
			return false;
		start = line.at;
		if (!json_value(&line, &value.kind, &value.raw))
			return false;
		if (value.kind == VALUE_OTHER)
			value.raw = (struct scan){start, line.at};
		if (key < RUN_KEY_COUNT)
			lines->values[key] = value;
	} while (json_take(&line, ','));
	fill_gpus(lines->values);
	return json_take(&line, '}') && !scan_left(&line);
}

/* Takes one line. False: it is not a run's. */
static bool take_run_line(struct run_lines *lines, const struct source_line *line)
{
	double schema;

	if (line->too_long || !read_values(lines, line->text)) {
		lines->left_out.damaged++;
		return false;
	}
	schema = run_real(lines, RUN_schema);
	if (schema > (double)RUN_LINE_NEWEST_SCHEMA) {
		lines->left_out.newer++;
		lines->left_out.newest_schema = fmax(schema, lines->left_out.newest_schema);
		return false;
	}
	if (!(schema >= 1) || lines->values[RUN_outcome].kind != VALUE_STRING) {
		lines->left_out.damaged++;
		return false;
	}
	return true;
}

int run_lines_next(struct run_lines *lines)
{
	while (lines->read || lines->left_out.damaged < SOURCE_DAMAGED_LINES) {
		struct source_line line;
		struct scan rest;
		int result = source_next_line(&lines->source, &line);

		if (result <= 0) {
			lines->left_out.damaged +=
				result == 0 && lines->source.cut_off && !lines->source.damage_told;
			lines->source.cut_off = false;
			return result;
		}
		rest = scan_trim(line.text);
		if (!scan_left(&rest) && !line.too_long)
			continue;
		if (take_run_line(lines, &line)) {
			lines->read++;
			return 1;
		}
	}
	return 0;
}

static int run_lines_open(struct run_lines *ret_lines, const char *path, struct rt_problem *ret_problem)
{
	memset(ret_lines, 0, sizeof(*ret_lines));
	return source_open(&ret_lines->source, path, ret_problem);
}

int run_lines_read_text(struct run_lines *ret_lines, const char *text, size_t length)
{
	struct scan whole = scan_bytes(text, length);
	struct source_line line = {.text = scan_trim(whole)};

	memset(ret_lines, 0, sizeof(*ret_lines));
	ret_lines->source.fd = -1;
	return take_run_line(ret_lines, &line) ? 0 : -EBADMSG;
}

static void run_lines_close(struct run_lines *lines)
{
	source_close(&lines->source);
}

int run_lines_new(struct run_lines **ret_lines, const char *path, struct rt_problem *ret_problem)
{
	struct run_lines *lines = malloc(sizeof(*lines));
	int result;

	if (!lines)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	result = run_lines_open(lines, path, ret_problem);
	if (result < 0) {
		free(lines);
		return result;
	}
	*ret_lines = lines;
	return 0;
}

void run_lines_free(struct run_lines *lines)
{
	if (lines)
		run_lines_close(lines);
	free(lines);
}

void lines_left_out_add(struct lines_left_out *sum, const struct lines_left_out *more)
{
	sum->damaged += more->damaged;
	sum->newer += more->newer;
	sum->newest_schema = fmax(sum->newest_schema, more->newest_schema);
}

void lines_left_out_text(struct buffer *out, const struct lines_left_out *lines)
{
	if (lines->damaged)
		buffer_printf(out, "%zu damaged line%s", lines->damaged, lines->damaged == 1 ? "" : "s");
	if (lines->newer)
		buffer_printf(
			out,
			"%s%zu line%s of schema %g (this program knows schema %d; a newer one reads more)",
			lines->damaged ? ", and " : "", lines->newer, lines->newer == 1 ? "" : "s",
			lines->newest_schema, RUN_LINE_NEWEST_SCHEMA);
}

int run_lines_finish(const struct run_lines *lines, int result, const char *path,
		     struct rt_problem *ret_problem)
{
	if (result < 0)
		return problem_set(ret_problem, result, "%s: %s", path, strerror(-result));
	if (!lines->read && !lines->left_out.newer && lines->left_out.damaged)
		return problem_set(
			ret_problem, -ENODATA,
			"%s: no line is a run's; resource-tracker runs add makes them of recordings", path);
	return 0;
}

/* A line of a schema that is not known yet is a run's as well, and so is one behind a torn first line. */
bool is_file_of_runs(const char *path)
{
	CLEANUP_FREE struct run_lines *lines = malloc(sizeof(*lines));
	bool is_one = false;

	if (!lines || strcmp(path, "-") == 0 || run_lines_open(lines, path, NULL) < 0)
		return false;
	for (int i = 0; i < 2 && !is_one; i++) {
		struct source_line line;

		if (source_next_line(&lines->source, &line) <= 0)
			break;
		is_one = !line.too_long && read_values(lines, line.text) &&
			 lines->values[RUN_schema].kind == VALUE_NUMBER &&
			 lines->values[RUN_outcome].kind == VALUE_STRING;
	}
	run_lines_close(lines);
	return is_one;
}

double run_real(const struct run_lines *lines, unsigned key)
{
	const struct run_value *value = &lines->values[key];
	struct scan text = value->raw;
	double number;

	return value->kind == VALUE_NUMBER && scan_real(&text, &number) && !scan_left(&text) ? number
											     : (double)NAN;
}

double run_whole_secs(const struct run_lines *lines)
{
	double secs = run_real(lines, FIGURE_time_tree_wall_secs);

	return isnan(secs) ? run_real(lines, FIGURE_time_wall_secs) : secs;
}

struct scan run_text(const struct run_lines *lines, unsigned key)
{
	return lines->values[key].kind == VALUE_STRING ? lines->values[key].raw : (struct scan){"", ""};
}

/* Most texts have no escape, and are compared as they stand. */
bool run_text_is(const struct run_lines *lines, unsigned key, const char *text)
{
	const struct run_value *value = &lines->values[key];
	CLEANUP_BUFFER struct buffer plain = BUFFER(SOURCE_LINE_BYTES);

	if (value->kind != VALUE_STRING)
		return false;
	if (!memchr(value->raw.at, '\\', scan_left(&value->raw)))
		return scan_is(&value->raw, text);
	json_unescape(&plain, &value->raw);
	return !buffer_error(&plain) && plain.data && strcmp(plain.data, text) == 0;
}

bool run_member(const struct run_lines *lines, unsigned key, const char *name, struct scan *ret_text)
{
	struct scan map = lines->values[key].raw;

	if (lines->values[key].kind != VALUE_OTHER || !json_take(&map, '{'))
		return false;
	do {
		struct run_value value;
		struct scan own;

		if (!json_quoted(&map, &own) || !json_take(&map, ':') ||
		    !json_value(&map, &value.kind, &value.raw))
			return false;
		if (scan_is(&own, name) && value.kind == VALUE_STRING) {
			*ret_text = value.raw;
			return true;
		}
	} while (json_take(&map, ','));
	return false;
}
