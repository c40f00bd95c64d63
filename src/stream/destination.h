/*
 * A destination: where a run is sent, and how. It is one file with these calls, and one row in options/destinations.h, from
 * which the option, help, completions, the names in the spool and the messages follow.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct frame;
struct metric_set;
struct settings;
struct stream;

enum stream_step {
	STEP_MADE,     /* one more step is done: call again */
	STEP_IDLE,     /* nothing to send now */
	STEP_WAIT,     /* not before stream->backoff.not_before_ns */
	STEP_GIVE_UP,  /* refused, or out of attempts or time: unsent data stays on disk */
	STEP_FINISHED, /* the server has everything, and nothing is left on disk */
};

struct destination_calls {
	const char *unit;         /* what a batch holds, for messages: "samples" */
	const char *batch_ending; /* of a batch's file name, before ".gz" */
	size_t own_bytes;         /* of stream->own, zeros at first */

	/* Takes its settings from the environment. A negative errno after it has said what is wrong. */
	int (*use)(struct settings *settings);
	/* Adds what it needs of each sample. */
	void (*want)(struct metric_set *wanted);
	/* Set stream->own up, and free what it holds. NULL, for both and the next one: there is nothing to do. */
	void (*open)(struct stream *stream);
	void (*close)(struct stream *stream);
	/* Takes the run from its state on disk. */
	int (*adopt)(struct stream *stream);
	/* Makes the state of a run, with a payload, from its first sample. */
	int (*begin)(struct stream *stream, const struct frame *first);
	/* Cuts one batch. Returns 1 if there may be more, 0 if not, or a negative errno after which nothing has changed. */
	int (*cut)(struct stream *stream);
	/* Cuts the end, for a recording without one. */
	int (*end)(struct stream *stream);
	enum stream_step (*send)(struct stream *stream);
	/* The units in a batch, or 0 for one that cannot be read. */
	int64_t (*count)(const struct stream *stream, int64_t number);
};

struct destination {
	const char *name;   /* behind --stream */
	const char *suffix; /* of the names of its runs in the spool */
	const struct destination_calls *calls;
};

/* The one with that name, which is valid. NULL means the default. */
const struct destination *destination_named(const char *name);
/* The one to which a run, or a recording, of that name in the spool belongs. */
const struct destination *destination_of_run(const char *name);
/* Makes the settings send to the one with that name. Returns 0, or a negative errno after it has said what is wrong. */
int destination_use(struct settings *settings, const char *name);
/* "--stream NAME " for a command that sends to it, or "". */
void destination_option(const struct destination *destination, char *ret_text, size_t size);
