/*
 * A subcommand is one file cmd_ID.c with run_ID(), and its rows in options/analysis_subcommands.def.
 *
 * Exit status: 0 success, 1 an error of the input or output, 2 (EXIT_USAGE) an error of the command line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/command_fault.h"
#include "analysis/words.h"
#include "options/option.h"

/* The command line of any subcommand. */
struct command_line {
	struct text_list files; /* the operands */
	struct text_list steps; /* the name and the text of each option of the kind STEP, in order */
};

#define FIELD_SWITCH(key) bool key;
#define FIELD_WORD(key)
#define FIELD_OPTIONAL(key)
#define FIELD_VALUE(key) const char *key;
#define FIELD_OPEN(key) const char *key;
#define FIELD_NUMBER(key) int64_t key;
#define FIELD_POSITIVE(key) double key;
#define FIELD_LIST(key) struct text_list key;
#define FIELD_PARTS(key) struct text_list key;
#define FIELD_STEP(key)

/* struct ID_words: the operands, and a field for each option of the table. */
struct no_options {
	struct command_line line;
#define SUBCOMMAND(id, ...) \
	} \
	; \
	struct id##_words { \
		struct command_line line;
#define OPTION(id, key, name, letter, kind, ...) FIELD_##kind(key)
#include "options/analysis_subcommands.def"
};

/* argv[0] is the subcommand's name. Each returns the exit status. */
#define SUBCOMMAND(id, ...) int run_##id(const struct subcommand *command, char **argv);
#include "options/analysis_subcommands.def"

/* Returns NULL for an unknown subcommand. */
const struct subcommand *command_named(const char *name);
/* Prints the help of a subcommand. Returns the exit status. */
int command_help(const struct subcommand *command);

/*
 * Reads the words behind argv[0] into `options`, the struct ID_words of the command, which has the values of options
 * that are not given. A run of the history becomes the path of its recording (find_run.h). The command never writes to a
 * file that `argv` names as input. Returns 0, or after it has said what is wrong EXIT_USAGE, or EXIT_FAULT for a run that
 * does not exist. --color and --no-pager also hold for the functions below.
 */
int command_read(const struct subcommand *command, char **argv, void *options);

/* The same, but takes the operands as they are: they do not name recordings. */
int command_read_words(const struct subcommand *command, char **argv, void *options);

/* The same for a command that runs another: *ret_rest has the words from the first operand or "--" on. NULL: there are none. */
int command_read_command(const struct subcommand *command, char **argv, void *options, char ***ret_rest);

/* Frees the lists of the options. */
#define SUBCOMMAND(id, name, ...) \
	static inline void id##_words_done(struct id##_words *options) \
	{ \
		command_options_done(name, options); \
	}
void command_options_done(const char *subcommand, void *options);
#include "options/analysis_subcommands.def"
#define CLEANUP_OPTIONS(id) __attribute__((cleanup(id##_words_done))) struct id##_words

/* Lists the subcommands, a line each. */
void command_list(struct buffer *out);

/*
 * Checks whether the command may write to `path`. Returns 0, or EXIT_FAULT after it has printed the reason.
 */
int command_check_output(const struct subcommand *command, const char *path);

/* The same for an HTML page, which without --force replaces pages and empty files only. */
int command_check_page(const struct subcommand *command, const char *path);

/* Writes all bytes to `path`, or to standard output if `path` is "-" or NULL. Returns 0 or EXIT_FAULT. */
int command_write(const struct subcommand *command, const char *path, const char *bytes, size_t length);

/* The same for a text of a function NAME_for_screen(): its colours are meant, and it has no other control characters. */
int command_write_fitted(const struct subcommand *command, const char *path, const char *text);

/* For these functions: the descriptor behind `path` if it may be a terminal, and the word behind --color. */
int command_screen(const char *path);
const char *command_colour(void);

/*
 * Says what is wrong (command_fault.h) with a pointer to --help. If a program has the subcommand's name, the message also says how
 * to wrap it. Returns EXIT_USAGE.
 */
int command_usage(const struct subcommand *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for an option whose text has no meaning. */
int command_wrong_value(const struct subcommand *command, const char *option, const char *text);

/* Returns 0, or EXIT_USAGE after it has said which text of the list is not KEY=VALUE. */
int command_check_pairs(const struct subcommand *command, const char *option, const struct text_list *texts);

/*
 * Adds the parts of all texts of a list, which commas separate, to another. Returns 0, or EXIT_USAGE after it has said
 * that the list is empty.
 */
int command_split(const struct subcommand *command, const char *option, const struct text_list *texts,
		  struct text_list *ret_parts);

/* Makes them of the words of GPU_TRACKER_OPTIONS. */
#define GPU_TRACKER_OPTIONS_OF(options, uuids) \
	(struct rt_gpu_tracker_options) \
	{ \
		.size = sizeof(struct rt_gpu_tracker_options), .ram_unit = (options).ram_unit, \
		.gpu_ram_unit = (options).gpu_ram_unit, .time_unit = (options).time_unit, \
		.expected_cores = (options).expected_cores, .expected_gpus = (options).expected_gpus, \
		.gpu_uuids = (uuids).texts, .gpu_uuid_count = (uuids).count, \
	}
