/* The state of a run's upload as JSON. See spool.h. */
#include "stream/spool.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "format/otlp_series.h"
#include "metric/typed_rows.h"

enum { VERSION = 1 };

/* Earlier versions did not write the optional ones. */
enum field_type { TEXT_FIELD, OPTIONAL_TEXT_FIELD, COUNT_FIELD, OPTIONAL_COUNT_FIELD, FLAG_FIELD };

/* The members of the state, in the order of writing. */
static const struct {
	const char *key;
	enum field_type type;
	size_t offset;
} FIELDS[] = {
#define FIELD(type, key, member) \
	{ \
		key, type, offsetof(struct spool_state, member) \
	}
	FIELD(TEXT_FIELD, "recording", recording),
	FIELD(OPTIONAL_TEXT_FIELD, "part", part),
	FIELD(OPTIONAL_TEXT_FIELD, "of_run", of_run),
	FIELD(FLAG_FIELD, "disposable", disposable),
	FIELD(COUNT_FIELD, "begin", begin),
	FIELD(COUNT_FIELD, "offset", offset),
	FIELD(COUNT_FIELD, "rows", rows),
	FIELD(COUNT_FIELD, "rows_lost", rows_lost),
	FIELD(COUNT_FIELD, "cut", cut),
	FIELD(COUNT_FIELD, "sent", sent),
	FIELD(COUNT_FIELD, "objects", objects),
	FIELD(TEXT_FIELD, "payload", payload),
	FIELD(TEXT_FIELD, "run_id", run_id),
	FIELD(TEXT_FIELD, "uri_prefix", uri_prefix),
	FIELD(FLAG_FIELD, "ended", outcome.known),
	FIELD(FLAG_FIELD, "has_exit_code", outcome.has_exit_code),
	FIELD(FLAG_FIELD, "failed", outcome.failed),
	FIELD(COUNT_FIELD, "exit_code", outcome.exit_code),
	FIELD(COUNT_FIELD, "finished_at", outcome.finished_at_secs),
	FIELD(FLAG_FIELD, "finished", finished),
	FIELD(OPTIONAL_TEXT_FIELD, "series", series),
	FIELD(OPTIONAL_COUNT_FIELD, "log_batch", log_batch),
	FIELD(OPTIONAL_COUNT_FIELD, "points_refused", points_refused),
#undef FIELD
};

void read_outcome(const struct frame *last, int64_t now_secs, struct run_outcome *ret_outcome)
{
	const struct run_end_row *end = last ? (const void *)last->first[ROW_run_end] : NULL;
	struct run_outcome outcome = {.known = true, .finished_at_secs = now_secs, .failed = true};

	if (last && fabs(last->sample->timestamp) < 1e12)
		outcome.finished_at_secs = (int64_t)last->sample->timestamp;
	if (!end) {
		*ret_outcome = outcome;
		return;
	}
	if (!count_absent(end->signal)) {
		outcome.exit_code = 128 + end->signal;
		outcome.has_exit_code = true;
	} else if (!count_absent(end->exit_code)) {
		outcome.exit_code = end->exit_code;
		outcome.has_exit_code = true;
		outcome.failed = end->exit_code != 0;
	} else {
		/*
		 * Attached or host: the exit status is unknown, so only the reason at the end of the recording can
		 * mean failure.
		 */
		const char *reason = text_absent(end->reason) ? "" : end->reason;

		outcome.failed = strcmp(reason, "target_exited") != 0 &&
				 strcmp(reason, "tracker_stopped") != 0 && strcmp(reason, "duration") != 0;
	}
	*ret_outcome = outcome;
}

static void *state_member(const struct spool_state *state, size_t index)
{
	return (char *)(uintptr_t)state + FIELDS[index].offset;
}

void spool_state_done(struct spool_state *state)
{
	free(state->recording);
	free(state->part);
	free(state->of_run);
	free(state->payload);
	free(state->run_id);
	free(state->uri_prefix);
	free(state->series);
	*state = (struct spool_state){0};
}

void spool_state_format(const struct spool_state *state, struct buffer *out)
{
	struct json_writer json = JSON_WRITER(out);

	json_open(&json, '{');
	json_key(&json, "version");
	json_count(&json, VERSION);
	for (size_t i = 0; i < ARRAY_SIZE(FIELDS); i++) {
		json_key(&json, FIELDS[i].key);
		switch (FIELDS[i].type) {
		case TEXT_FIELD:
		case OPTIONAL_TEXT_FIELD:
			json_text(&json, *(char **)state_member(state, i));
			break;
		case COUNT_FIELD:
		case OPTIONAL_COUNT_FIELD:
			json_count(&json, *(int64_t *)state_member(state, i));
			break;
		case FLAG_FIELD:
			json_flag(&json, *(bool *)state_member(state, i));
			break;
		}
	}
	json_close(&json, '}');
	buffer_add_char(out, '\n');
}

static int take_field(const json_t *value, struct spool_state *state, size_t index)
{
	switch (FIELDS[index].type) {
	case TEXT_FIELD:
	case OPTIONAL_TEXT_FIELD:
		if (json_is_null(value))
			return 0;
		if (!json_is_string(value))
			return -EBADMSG;
		*(char **)state_member(state, index) = strdup(json_string_value(value));
		return *(char **)state_member(state, index) ? 0 : -ENOMEM;
	case COUNT_FIELD:
	case OPTIONAL_COUNT_FIELD:
		if (!json_is_integer(value))
			return -EBADMSG;
		*(int64_t *)state_member(state, index) = json_integer_value(value);
		return 0;
	case FLAG_FIELD:
		if (!json_is_boolean(value))
			return -EBADMSG;
		*(bool *)state_member(state, index) = json_is_true(value);
		return 0;
	}
	return -EBADMSG;
}

/* Another process continues from it. */
static bool has_sound_series(const struct spool_state *state)
{
	struct otlp_run run;

	return !state->series || otlp_run_parse(state->series, strlen(state->series), &run) == 0;
}

/* Numbers that contradict each other would make the program read or count nonsense. */
static bool is_sound(const struct spool_state *state)
{
	return state->recording && state->begin >= 0 && state->offset >= state->begin && state->rows >= 0 &&
	       state->rows_lost >= 0 && state->objects >= 0 && state->objects <= state->sent &&
	       state->sent <= state->cut && (state->run_id == NULL) == (state->uri_prefix == NULL) &&
	       (state->run_id || state->payload || state->finished) && state->log_batch >= 0 &&
	       state->log_batch <= state->cut && state->points_refused >= 0 && has_sound_series(state);
}

int spool_state_parse(const char *bytes, size_t length, struct spool_state *ret_state)
{
	struct spool_state state = {0};
	json_t *root = length ? json_loadb(bytes, length, 0, NULL) : NULL;
	int r = json_integer_value(json_object_get(root, "version")) == VERSION ? 0 : -EBADMSG;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(FIELDS); i++) {
		const json_t *value = json_object_get(root, FIELDS[i].key);

		if (value)
			r = take_field(value, &state, i);
		else if (FIELDS[i].type != OPTIONAL_TEXT_FIELD && FIELDS[i].type != OPTIONAL_COUNT_FIELD)
			r = -EBADMSG;
	}
	json_decref(root);
	if (r == 0 && !is_sound(&state))
		r = -EBADMSG;
	if (r < 0) {
		spool_state_done(&state);
		return r;
	}
	*ret_state = state;
	return 0;
}
