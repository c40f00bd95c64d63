/* Reads lines of runs into groups; see fleet.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/signal_names.h"
#include "history/fleet.h"
#include "record/run_lines.h"

/* A part of a group's key begins with one of these bytes, which no JSON text contains unescaped. */
static const char HAS_PART = '\001', LACKS_PART = '\002';
enum { KEY_BYTES = 64 << 10, FIRST_ROOM = 1024, REASON_BYTES = 48 };
static const double AT_LIMIT = 0.95;

bool fleet_set_by(struct fleet *fleet, char *text)
{
	static const char *const NAMES[] = {"job", "task", "host"};
	char *rest = text, *word;

	fleet->by_count = 0;
	while ((word = strsep(&rest, ","))) {
		struct fleet_by by = {FLEET_TAG, strncmp(word, "tag:", 4) == 0 ? word + 4 : NULL};

		for (int part = 0; part < FLEET_TAG; part++)
			if (strcmp(word, NAMES[part]) == 0)
				by = (struct fleet_by){(enum fleet_part)part, NULL};
		if ((by.part == FLEET_TAG && (!by.tag || !*by.tag)) || fleet->by_count == FLEET_PARTS_MOST)
			return false;
		fleet->by[fleet->by_count++] = by;
	}
	return true;
}

/* FNV-1a */
static uint64_t hash_of(const char *bytes, size_t length)
{
	uint64_t hash = 14695981039346656037U;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211U;
	return hash ? hash : 1;
}

/* Makes room for twice as many numbers. `hash` is that of the thing with this number, from 0. */
static int grow_table(uint32_t **table, size_t *room, size_t count,
		      uint64_t (*hash)(const struct fleet *fleet, size_t number), const struct fleet *fleet)
{
	size_t wanted = *room ? *room * 2 : FIRST_ROOM;
	uint32_t *grown;

	if (*room > 2 * count)
		return 0;
	grown = calloc(wanted, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		size_t place = hash(fleet, i) & (wanted - 1);

		while (grown[place])
			place = (place + 1) & (wanted - 1);
		grown[place] = (uint32_t)i + 1;
	}
	free(*table);
	*table = grown;
	*room = wanted;
	return 0;
}

static uint64_t hash_of_group(const struct fleet *fleet, size_t number)
{
	return hash_of(fleet->groups[number].key, strlen(fleet->groups[number].key));
}

static uint64_t hash_of_run(const struct fleet *fleet, size_t number)
{
	return fleet->runs[number].id;
}

/* ---- groups ------------------------------------------------------------------------------------------- */

static void add_part(struct buffer *key, const struct run_lines *lines, const struct fleet_by *by)
{
	static const enum run_key KEYS[] = {
		[FLEET_JOB] = RUN_name, [FLEET_TASK] = RUN_task, [FLEET_HOST] = RUN_host};
	struct scan text = {"", ""};
	bool has = by->part == FLEET_TAG ? run_member(lines, RUN_tags, by->tag, &text)
					 : lines->values[KEYS[by->part]].kind == VALUE_STRING;

	if (has && by->part != FLEET_TAG)
		text = run_text(lines, KEYS[by->part]);
	buffer_add_char(key, has ? HAS_PART : LACKS_PART);
	for (; text.at < text.end; text.at++)
		if ((unsigned char)*text.at >= ' ')
			buffer_add_char(key, *text.at);
}

bool fleet_part_text(const struct fleet_group *group, size_t number, struct buffer *ret_text)
{
	const char *at = group->key;
	struct scan raw;

	for (size_t i = 0; i < number; i++)
		at += 1 + strcspn(at + 1, "\001\002");
	raw = scan_bytes(at + 1, strcspn(at + 1, "\001\002"));
	buffer_clear(ret_text);
	json_unescape(ret_text, &raw);
	return *at == HAS_PART;
}

/* Finds or makes the group of this key. */
static int find_group(struct fleet *fleet, const struct buffer *key, uint32_t *ret_group)
{
	size_t place;
	int result;

	if (fleet->last_group < fleet->group_count &&
	    strcmp(fleet->groups[fleet->last_group].key, key->data) == 0) {
		*ret_group = fleet->last_group;
		return 0;
	}
	result = grow_table(&fleet->keys, &fleet->key_room, fleet->group_count, hash_of_group, fleet);
	if (result < 0)
		return result;
	place = hash_of(key->data, key->length) & (fleet->key_room - 1);
	while (fleet->keys[place] && strcmp(fleet->groups[fleet->keys[place] - 1].key, key->data) != 0)
		place = (place + 1) & (fleet->key_room - 1);
	if (!fleet->keys[place]) {
		char *copy = strdup(key->data);

		if (fleet->group_count == fleet->group_room) {
			size_t room = fleet->group_room ? fleet->group_room * 2 : 16;
			struct fleet_group *grown = reallocarray(fleet->groups, room, sizeof(*grown));

			if (!grown || !copy) {
				free(copy);
				fleet->groups = grown ? grown : fleet->groups;
				return -ENOMEM;
			}
			fleet->groups = grown;
			fleet->group_room = room;
		}
		if (!copy)
			return -ENOMEM;
		fleet->groups[fleet->group_count] = (struct fleet_group){.key = copy};
		fleet->keys[place] = (uint32_t)++fleet->group_count;
	}
	*ret_group = fleet->last_group = fleet->keys[place] - 1;
	return 0;
}

/* ---- one run ------------------------------------------------------------------------------------------ */

/* The words of an end: "out of memory", "exit 3", "SIGSEGV", "no end", "stopped", "running". */
static void describe_end(const struct run_lines *lines, struct fleet_run *run, char ret_text[REASON_BYTES])
{
	char name[SIGNAL_NAME_SIZE];
	double signo = run_real(lines, RUN_signal), code = run_real(lines, RUN_exit_code);
	struct scan outcome = run_text(lines, RUN_outcome);

	run->end = FLEET_FAILED;
	run->ended = true;
	if (scan_is(&outcome, "ok")) {
		run->end = FLEET_OK;
		*ret_text = '\0';
	} else if (scan_is(&outcome, "oom")) {
		snprintf(ret_text, REASON_BYTES, "out of memory");
	} else if (scan_is(&outcome, "failed") && fabs(code) < 1e6) {
		snprintf(ret_text, REASON_BYTES, "exit %.0f", code);
	} else if (scan_is(&outcome, "killed") && signo > 0 && signo < 128) {
		snprintf(ret_text, REASON_BYTES, "%s", signal_name((int)signo, name));
	} else if (scan_is(&outcome, "lost")) {
		snprintf(ret_text, REASON_BYTES, "no end");
		run->ended = false;
	} else {
		/* An outcome that a later version may have added is neither a success nor a failure. */
		bool is_failure = scan_is(&outcome, "failed") || scan_is(&outcome, "killed");

		run->end = is_failure ? FLEET_FAILED : FLEET_CUT;
		run->ended = !scan_is(&outcome, "running");
		scan_copy(&outcome, ret_text, REASON_BYTES);
	}
}

/* The last of FLEET_REASONS_MOST reasons stands for all further ones. */
static int find_reason(struct fleet *fleet, const char *text, uint8_t *ret_reason)
{
	size_t i = 0;

	while (i < fleet->reason_count && strcmp(fleet->reasons[i], text) != 0)
		i++;
	if (i == FLEET_REASONS_MOST)
		i--;
	if (i == fleet->reason_count) {
		char *copy = strdup(i == FLEET_REASONS_MOST - 1 ? "other reasons" : text);

		if (!copy)
			return -ENOMEM;
		fleet->reasons[fleet->reason_count++] = copy;
	}
	*ret_reason = (uint8_t)i;
	return 0;
}

/* The request; else a limit other than the machine's size, because the scheduler or the container runtime set it. */
static double asked_or_limit(const struct run_lines *lines, enum run_key asked, enum run_key limit,
			     enum run_key source)
{
	double value = run_real(lines, asked);

	if (isnan(value) && lines->values[source].kind == VALUE_STRING &&
	    !run_text_is(lines, source, "machine"))
		value = run_real(lines, limit);
	return value > 0 ? value : (double)NAN;
}

static struct fleet_run take_run(const struct run_lines *lines)
{
	struct scan id = run_text(lines, RUN_id);
	struct fleet_run run = {
		.started = run_real(lines, RUN_started),
		.wall_secs = run_real(lines, RUN_wall_secs),
		.cpu_secs = run_real(lines, RUN_cpu_secs),
		.cores = run_real(lines, RUN_cores_mean),
		.memory_mib = run_real(lines, RUN_memory_peak_mib),
		.cores_asked =
			asked_or_limit(lines, RUN_cores_asked, RUN_cores_limit, RUN_cores_limit_source),
		.memory_asked_mib = asked_or_limit(lines, RUN_memory_asked_mib, RUN_memory_limit_mib,
						   RUN_memory_limit_source),
		.oom_had_mib = run_real(lines, RUN_oom_had_mib),
		.id = scan_left(&id) ? hash_of(id.at, scan_left(&id)) : 0,
	};

	run.at_limit = run.memory_mib >= AT_LIMIT * run_real(lines, RUN_memory_limit_mib) ||
		       run.memory_mib >= AT_LIMIT * run.memory_asked_mib;
	return run;
}

/* Returns the earlier line of the same run, or NULL after it has noted the number of the new one. */
static struct fleet_run *find_earlier(struct fleet *fleet, uint64_t id)
{
	size_t place = id & (fleet->id_room - 1);

	while (fleet->ids[place]) {
		struct fleet_run *run = &fleet->runs[fleet->ids[place] - 1];

		if (run->id == id)
			return run;
		place = (place + 1) & (fleet->id_room - 1);
	}
	fleet->ids[place] = (uint32_t)fleet->count + 1;
	return NULL;
}

/* A recording may have been added twice: while it went on, and after its end. */
static int keep_run(struct fleet *fleet, const struct fleet_run *run)
{
	struct fleet_run *earlier = NULL;
	int result = grow_table(&fleet->ids, &fleet->id_room, fleet->count, hash_of_run, fleet);

	if (result < 0)
		return result;
	if (run->id)
		earlier = find_earlier(fleet, run->id);
	if (earlier) {
		fleet->repeated++;
		if (run->ended || !earlier->ended)
			*earlier = *run;
		return 0;
	}
	if (fleet->count == fleet->room) {
		size_t room = fleet->room ? fleet->room * 2 : FIRST_ROOM;
		struct fleet_run *grown = reallocarray(fleet->runs, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		fleet->runs = grown;
		fleet->room = room;
	}
	fleet->runs[fleet->count++] = *run;
	return 0;
}

static bool is_wanted(const struct fleet *fleet, const struct run_lines *lines)
{
	return !fleet->job || run_text_is(lines, RUN_name, fleet->job) ||
	       run_text_is(lines, RUN_job_name, fleet->job);
}

static int add_run(struct fleet *fleet, const struct run_lines *lines, struct buffer *key)
{
	struct fleet_run run = take_run(lines);
	char reason[REASON_BYTES];
	int result;

	buffer_clear(key);
	for (size_t i = 0; i < fleet->by_count; i++)
		add_part(key, lines, &fleet->by[i]);
	if (buffer_error(key))
		return buffer_error(key) == -ENOBUFS ? 0 : buffer_error(key);
	describe_end(lines, &run, reason);
	result = find_reason(fleet, reason, &run.reason);
	if (result == 0)
		result = find_group(fleet, key, &run.group);
	return result < 0 ? result : keep_run(fleet, &run);
}

int fleet_add_file(struct fleet *fleet, const char *path, struct rt_problem *ret_problem)
{
	CLEANUP_RUN_LINES struct run_lines *lines = NULL;
	CLEANUP_BUFFER struct buffer key = BUFFER(KEY_BYTES);
	int result = run_lines_new(&lines, path, ret_problem);

	if (result < 0)
		return result;
	while ((result = run_lines_next(lines)) > 0) {
		if (!is_wanted(fleet, lines))
			continue;
		result = add_run(fleet, lines, &key);
		if (result < 0)
			return problem_set(ret_problem, result, "out of memory");
	}
	result = run_lines_finish(lines, result, path, ret_problem);
	if (result < 0)
		return result;
	fleet->files++;
	lines_left_out_add(&fleet->left_out, &lines->left_out);
	return 0;
}

void fleet_done(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->group_count; i++)
		free(fleet->groups[i].key);
	for (size_t i = 0; i < fleet->reason_count; i++)
		free(fleet->reasons[i]);
	free(fleet->groups);
	free(fleet->runs);
	free(fleet->ids);
	free(fleet->keys);
}
