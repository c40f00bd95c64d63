/* Reads lines of runs into groups. See fleet.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/cleanup.h"
#include "base/signal_names.h"
#include "history/fleet.h"
#include "record/run_lines.h"

/*
 * A part of a group's key begins with HAS_PART or LACKS_PART. Its text is decoded, because writers escape differently: "\u00e9"
 * and "é" are one name. Control characters stand behind ESCAPE, 64 higher.
 */
static const char HAS_PART = '\001', LACKS_PART = '\002', ESCAPE = '\003';
enum { KEY_BYTES = 64 << 10, FIRST_ROOM = 1024, REASON_BYTES = 48, CONTROL_SHIFT = 64 };
static const double AT_LIMIT = 0.95;
static const char OUT_OF_MEMORY[] = "out of memory";

bool fleet_set_by(struct fleet *fleet, char *text)
{
	static const char *const NAMES[] = {"job", "task", "host", "user"};
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

/* Makes room for twice as many numbers. `hash` is that of the thing with this number, from 0. */
static int grow_hash_table(uint32_t **table, size_t *room, size_t count,
			   uint64_t (*hash)(const struct fleet *fleet, size_t number),
			   const struct fleet *fleet)
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
	return fnv_of(fleet->groups[number].key, strlen(fleet->groups[number].key));
}

static uint64_t hash_of_line(const struct fleet *fleet, size_t number)
{
	return fleet->ids[number];
}

/* ---- groups ------------------------------------------------------------------------------------------- */

/* JSON has control characters as escapes alone. Others are damage. */
static void add_key_text(struct buffer *key, const char *text, size_t length, bool with_controls)
{
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)text[i] >= ' ') {
			buffer_add_char(key, text[i]);
		} else if (with_controls) {
			buffer_add_char(key, ESCAPE);
			buffer_add_char(key, (char)(text[i] + CONTROL_SHIFT));
		}
	}
}

static void add_key_part(struct buffer *key, const struct run_lines *lines, const struct fleet_by *by)
{
	static const enum run_key KEYS[] = {[FLEET_JOB] = RUN_name,
					    [FLEET_TASK] = RUN_task,
					    [FLEET_HOST] = RUN_host,
					    [FLEET_USER] = RUN_user};
	CLEANUP_BUFFER struct buffer plain = BUFFER(KEY_BYTES);
	struct scan text = {"", ""};
	bool has = by->part == FLEET_TAG ? run_member(lines, RUN_tags, by->tag, &text)
					 : lines->values[KEYS[by->part]].kind == VALUE_STRING;

	if (has && by->part != FLEET_TAG)
		text = run_text(lines, KEYS[by->part]);
	buffer_add_char(key, has ? HAS_PART : LACKS_PART);
	if (memchr(text.at, '\\', scan_left(&text)))
		json_unescape(&plain, &text);
	/* A text that is too long for this buffer is too long for the key. */
	if (plain.length && !buffer_error(&plain))
		add_key_text(key, plain.data, plain.length, true);
	else
		add_key_text(key, text.at, scan_left(&text), false);
}

bool fleet_part_text(const struct fleet_group *group, size_t number, struct buffer *ret_text)
{
	const char *at = group->key, *end;

	for (size_t i = 0; i < number; i++)
		at += 1 + strcspn(at + 1, "\001\002");
	end = at + 1 + strcspn(at + 1, "\001\002");
	buffer_clear(ret_text);
	for (const char *byte = at + 1; byte < end; byte++) {
		bool is_escaped = *byte == ESCAPE;

		byte += is_escaped;
		buffer_add_char(ret_text, is_escaped ? (char)(*byte - CONTROL_SHIFT) : *byte);
	}
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
	result = grow_hash_table(&fleet->keys, &fleet->key_room, fleet->group_count, hash_of_group, fleet);
	if (result < 0)
		return result;
	place = fnv_of(key->data, key->length) & (fleet->key_room - 1);
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

/* The process that failed first, behind those that passed its failure on. */
static void add_failed_program(const struct run_lines *lines, char ret_text[REASON_BYTES])
{
	struct scan program = run_text(lines, FIGURE_end_failed_program);
	size_t length = strlen(ret_text);
	char name[REASON_BYTES];

	if (!scan_left(&program))
		return;
	scan_copy(&program, name, sizeof name);
	snprintf(ret_text + length, REASON_BYTES - length, " (%s)", name);
}

/* The words of an end: "out of memory", "exit 3", "exit 2 (cc1)", "SIGSEGV", "no end", "stopped", "running". */
static void describe_end(const struct run_lines *lines, struct fleet_run *run, char ret_text[REASON_BYTES])
{
	char name[SIGNAL_NAME_SIZE];
	double signo = run_real(lines, FIGURE_end_signal), code = run_real(lines, FIGURE_end_exit_code);
	struct scan outcome = run_text(lines, RUN_outcome);

	run->end = FLEET_FAILED;
	run->ended = true;
	if (scan_is(&outcome, "ok")) {
		run->end = FLEET_OK;
		*ret_text = '\0';
	} else if (scan_is(&outcome, "oom")) {
		snprintf(ret_text, REASON_BYTES, "%s", OUT_OF_MEMORY);
	} else if (scan_is(&outcome, "failed") && fabs(code) < 1e6) {
		snprintf(ret_text, REASON_BYTES, "exit %.0f", code);
		add_failed_program(lines, ret_text);
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
	if (strcmp(text, OUT_OF_MEMORY) == 0)
		fleet->memory_reason = (int)i;
	*ret_reason = (uint8_t)i;
	return 0;
}

/* The request, else a limit other than the machine's size, because the scheduler or the container runtime set it. */
static double asked_or_limit(const struct run_lines *lines, unsigned asked, unsigned limit, unsigned source)
{
	double value = run_real(lines, asked);

	if (isnan(value) && lines->values[source].kind == VALUE_STRING &&
	    !run_text_is(lines, source, "machine"))
		value = run_real(lines, limit);
	return value > 0 ? value : (double)NAN;
}

/* A Slurm job has a line for its script and for each task of its steps. A line that names its task is a run of that task. */
static void find_job(const struct run_lines *lines, struct fleet_run *run)
{
	struct scan job = run_text(lines, RUN_scheduler_job), host = run_text(lines, RUN_host), text;
	const struct run_value *variables = &lines->values[RUN_scheduler];
	bool has_variables = variables->kind == VALUE_OTHER && !scan_is(&variables->raw, "{}");

	if (!scan_left(&job) || lines->values[RUN_task].kind == VALUE_STRING ||
	    (has_variables && !run_member(lines, RUN_scheduler, "SLURM_JOB_ID", &text)))
		return;
	run->job = fnv_of(job.at, scan_left(&job));
	run->host = fnv_of(host.at, scan_left(&host));
	run->is_step = run_member(lines, RUN_scheduler, "SLURM_STEP_ID", &text);
	run->asked_by_cpu = !run_member(lines, RUN_scheduler, "SLURM_MEM_PER_NODE", &text) &&
			    run_member(lines, RUN_scheduler, "SLURM_MEM_PER_CPU", &text);
	/* A job that ran again after its requeue has the same id. */
	text = lines->values[RUN_attempt].raw;
	if (lines->values[RUN_attempt].kind != VALUE_NULL)
		run->job = fnv_add(run->job, text.at, scan_left(&text));
	run->job = run->job ? run->job : 1;
}

/* A limit counts the memory of the job and that of the kernel for it. A job that swaps is at its limit, too. */
static double counted_by_limit(const struct run_lines *lines, double peak_mib)
{
	return fmax(peak_mib,
		    run_real(lines, RUN_memory_needed_mib) + fmax(run_real(lines, RUN_memory_kernel_mib), 0));
}

static struct fleet_run take_fleet_run(const struct run_lines *lines)
{
	struct fleet_run run = {
		.started = run_real(lines, FIGURE_run_started_timestamp),
#define FLEET(field, figure, ...) .field = run_real(lines, FIGURE_##figure),
#include "figures/run_figures.def"
		.cores_asked =
			asked_or_limit(lines, RUN_cores_asked, FIGURE_cores_limit, FIGURE_cores_limit_source),
		.memory_asked_mib = asked_or_limit(lines, RUN_memory_asked_mib, FIGURE_memory_limit_mib,
						   FIGURE_memory_limit_source),
		.oom_had_mib = run_real(lines, RUN_oom_had_mib),
		.gpu_idle_hours = run_real(lines, FIGURE_gpu_idle_hours),
	};
	double counted = counted_by_limit(lines, run.memory_mib);

	run.wall_secs = run_whole_secs(lines);
	run.at_limit = counted >= AT_LIMIT * run_real(lines, FIGURE_memory_limit_mib) ||
		       counted >= AT_LIMIT * run.memory_asked_mib;
	find_job(lines, &run);
	return run;
}

/* Returns the number of an earlier line of the same run, or that of the new one, which it has noted. */
static size_t find_earlier(struct fleet *fleet, uint64_t id, size_t *ret_place)
{
	size_t place = id & (fleet->id_room - 1);

	while (fleet->id_table[place] && fleet->ids[fleet->id_table[place] - 1] != id)
		place = (place + 1) & (fleet->id_room - 1);
	*ret_place = place;
	return fleet->id_table[place] ? fleet->id_table[place] - 1 : fleet->count;
}

static int grow_lines(struct fleet *fleet)
{
	size_t room = fleet->room ? fleet->room * 2 : FIRST_ROOM;
	uint64_t *ids;
	uint8_t *states;

	if (fleet->count < fleet->room)
		return 0;
	ids = reallocarray(fleet->ids, room, sizeof(*ids));
	fleet->ids = ids ? ids : fleet->ids;
	states = reallocarray(fleet->states, room, sizeof(*states));
	fleet->states = states ? states : fleet->states;
	if (!ids || !states)
		return -ENOMEM;
	fleet->room = room;
	return 0;
}

/* A recording may have been added twice: while it went on, and after its end. */
static int keep_line(struct fleet *fleet, uint64_t id, uint32_t group, const struct fleet_run *run)
{
	int result = grow_hash_table(&fleet->id_table, &fleet->id_room, fleet->count, hash_of_line, fleet);
	size_t place = 0, earlier = fleet->count;

	if (result == 0)
		result = grow_lines(fleet);
	if (result < 0)
		return result;
	if (id)
		earlier = find_earlier(fleet, id, &place);
	if (earlier < fleet->count) {
		fleet->repeated++;
		if (!run->ended && fleet->states[earlier] == LINE_ENDED)
			return 0;
		fleet->states[earlier] = LINE_REPLACED;
	}
	result = packed_runs_add(&fleet->groups[group].lines, (uint32_t)fleet->count, run);
	if (result < 0)
		return result;
	fleet->ids[fleet->count] = id;
	fleet->states[fleet->count] = run->ended ? LINE_ENDED : LINE_OPEN;
	fleet->count++;
	if (id)
		fleet->id_table[place] = (uint32_t)fleet->count;
	return 0;
}

bool fleet_next_line(const struct fleet *fleet, struct run_cursor *cursor, struct fleet_run *ret_run)
{
	while (packed_runs_next(cursor, ret_run))
		if (fleet->states[cursor->number] != LINE_REPLACED)
			return true;
	return false;
}

static bool is_wanted_line(const struct fleet *fleet, const struct run_lines *lines)
{
	if (fleet->since > 0 && !(run_real(lines, FIGURE_run_started_timestamp) >= fleet->since))
		return false;
	return !fleet->job || run_text_is(lines, RUN_name, fleet->job) ||
	       run_text_is(lines, RUN_job_name, fleet->job);
}

static int add_fleet_run(struct fleet *fleet, const struct run_lines *lines, struct buffer *key)
{
	struct fleet_run run = take_fleet_run(lines);
	struct scan id = run_text(lines, RUN_id);
	char reason[REASON_BYTES];
	uint32_t group;
	int result;

	buffer_clear(key);
	for (size_t i = 0; i < fleet->by_count; i++)
		add_key_part(key, lines, &fleet->by[i]);
	if (buffer_error(key))
		return buffer_error(key) == -ENOBUFS ? 0 : buffer_error(key);
	describe_end(lines, &run, reason);
	result = find_reason(fleet, reason, &run.reason);
	if (result == 0)
		result = find_group(fleet, key, &group);
	if (result < 0)
		return result;
	return keep_line(fleet, scan_left(&id) ? fnv_of(id.at, scan_left(&id)) : 0, group, &run);
}

int fleet_add_file(struct fleet *fleet, const char *path, struct rt_problem *ret_problem)
{
	CLEANUP_RUN_LINES struct run_lines *lines = NULL;
	CLEANUP_BUFFER struct buffer key = BUFFER(KEY_BYTES);
	int result = run_lines_new(&lines, path, ret_problem);

	if (result < 0)
		return result;
	while ((result = run_lines_next(lines)) > 0) {
		if (!is_wanted_line(fleet, lines))
			continue;
		result = add_fleet_run(fleet, lines, &key);
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
	for (size_t i = 0; i < fleet->group_count; i++) {
		packed_runs_done(&fleet->groups[i].lines);
		free(fleet->groups[i].key);
	}
	for (size_t i = 0; i < fleet->reason_count; i++)
		free(fleet->reasons[i]);
	free(fleet->groups);
	free(fleet->ids);
	free(fleet->states);
	free(fleet->id_table);
	free(fleet->keys);
}
