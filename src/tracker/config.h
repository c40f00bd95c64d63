/*
 * The settings of a tracker, as plain typed fields behind rt_config_set().
 *
 * Every value is checked when it is set, so the fields can be trusted. Texts and lists belong to the config.
 * A text that was not set, or was set to nothing, is NULL.
 *
 * Options that concern the command alone (where samples go by default, waiting for descendants, warnings,
 * help) are not settings: see src/options/settings.def, which makes the fields as well.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "job/signal_at/signal_rule.h"
#include "resource_tracker.h"

#define MEMBER(id, ...) id,
#define UNNAMED_MEMBER(id) id,
#define CHOICE_SETTING(field, words, ...) enum config_##field{words(MEMBER, UNNAMED_MEMBER)};
#include "options/settings.def"

/*
 * "-" and "/dev/stdout" are descriptor 1, "/dev/stderr" is 2 and "/dev/fd/N" is N: the descriptor itself,
 * never opened again, so that a redirected file keeps one offset and is never renamed.
 */
struct config_output {
	char *path;                /* as given, %h and so on not yet filled in */
	int fd;                    /* -1: open `path` */
	enum config_format format; /* FORMAT_BY_EXTENSION: as the setting "format" says */
};

struct config_tag {
	char *key; /* never empty */
	char *value;
};

struct rt_config {
	/* Times are nanoseconds; 0, NULL and an empty list are "not given". */
#define SETTING(field, type, ...) type field;
#define LIST_SETTING(field, count, type, ...) \
	type *field; \
	size_t count;
#include "options/settings.def"

	/* what is kept in memory, from rt_config_set_history() */
	int64_t history_samples;
	char *history_metrics; /* NULL: those of the CSV layouts */

	/* for the programs that talk to a network */
	char **variables; /* "NAME=VALUE" */
	size_t variable_count;

	/* the job itself, from rt_config_set_command() */
	char **argv; /* NULL-terminated, NULL if unknown */
	size_t argc;
	bool own_process; /* which only records */
	bool apart;       /* another process will do the recording */

	/* number among processes that were started together, from the launcher's environment, -1 for none */
	int64_t rank;

	struct buffer
		given; /* all given settings, for another process: name, value, each with a NUL, not copied */
	struct buffer message; /* rt_config_message() */
	size_t failed_output;  /* the one that could not be opened, from 1; 0: none */
};

/* Copies everything except the message. Returns 0 or -ENOMEM. */
int config_copy(const struct rt_config *config, struct rt_config **ret_copy);

/* A variable of rt_config_set_variable(), else of the environment. NULL if it is unset or empty. */
const char *config_variable(const struct rt_config *config, const char *name);

/*
 * The environment with those variables, for exec. Free the returned block. Its texts belong to the config and
 * the process.
 */
char **config_environment(const struct rt_config *config);

/* As csv_layout.h names it. */
const char *config_csv_layout_name(const struct rt_config *config);

/* The vendor's word. NULL: any. */
const char *config_gpu_vendor_name(const struct rt_config *config);

/* Replaces the message with one line and returns `error`. Control characters become '?'. */
int config_fail(struct rt_config *config, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
