/* The options of this program's subcommands. See arguments.h. */
#include "net/arguments.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/scan.h"
#include "base/write_all.h"
#include "net/redacted_message.h"
#include "options/parse.h"
#include "options/rows.h"
#include "options/usage.h"

enum { DEFAULT_DEADLINE_SECS = 10, HELP_BYTES = 64 << 10 };

static const struct subcommand SUBCOMMANDS[] = {
#define SUBCOMMAND(id, ...) SUBCOMMAND_ROW(__VA_ARGS__)
#include "options/net_subcommands.def"
#define SUBCOMMAND(id, ...) SUBCOMMAND_ROW(__VA_ARGS__)
#include "options/net_internal.def"
	{NULL, NULL, NULL, NULL, NULL, NULL},
};

static const struct option_row ROWS[] = {
#define SUBCOMMAND(id, name, ...) HEADING_ROW(name)
#define OPTION(id, key, ...) OPTION_ROW(0, __VA_ARGS__)
#include "options/net_subcommands.def"
#define SUBCOMMAND(id, name, ...) HEADING_ROW(name)
#define OPTION(id, key, ...) OPTION_ROW(0, __VA_ARGS__)
#include "options/net_internal.def"
	LAST_ROW,
};

/* How a value becomes a field of struct arguments. Options of one name mean the same in each subcommand. */
enum argument_type { IS_SWITCH, IS_TEXT, IS_COUNT, IS_INT, IS_REAL, IS_TIME, IS_FILTER, IS_SILENCE };

static const struct argument {
	const char *name;
	enum argument_type type;
	size_t offset;
	int64_t least, most;
} ARGUMENTS[] = {
#define ARGUMENT(name, type, field, ...) {name, type, offsetof(struct arguments, field), __VA_ARGS__},
	ARGUMENT("spool", IS_TEXT, spool, 0, 0) ARGUMENT("stream", IS_TEXT, stream, 0, 0)
		ARGUMENT("root", IS_TEXT, root, 0, 0) ARGUMENT("from", IS_COUNT, from, 0, INT64_MAX) ARGUMENT(
			"end-fd", IS_INT, end_fd, 0, INT_MAX) ARGUMENT("pid", IS_INT, pid, 1, INT_MAX)
			ARGUMENT("upload-deadline", IS_TIME, deadline_ns, 0, 86400) ARGUMENT(
				"disposable", IS_SWITCH, disposable, 0,
				0) ARGUMENT("report", IS_SWITCH, report, 0,
					    0) ARGUMENT("no-warnings", IS_SILENCE, json, 0,
							0) ARGUMENT("json", IS_SWITCH, json, 0, 0)
				ARGUMENT("color", IS_TEXT, colour, 0,
					 0) ARGUMENT("no-pager", IS_SWITCH, without_pager, 0,
						     0) ARGUMENT("python", IS_SWITCH, python, 0, 0)
					ARGUMENT("lines", IS_SWITCH, lines, 0,
						 0) ARGUMENT("when-told", IS_SWITCH, when_told, 0,
							     0) ARGUMENT("vcpus", IS_COUNT, vcpus, 0, 1 << 20)
						ARGUMENT("memory-mib", IS_REAL, memory_mib, 0, 1000000000000)
							ARGUMENT("gpus", IS_COUNT, gpus, 0, 1 << 20) ARGUMENT(
								"gpu-memory-mib", IS_REAL, gpu_memory_mib, 0,
								1000000000000) ARGUMENT("limit", IS_COUNT,
											limit, 0, 1000)
								ARGUMENT("vendor", IS_TEXT, vendor, 0,
									 0) ARGUMENT("instance-type", IS_TEXT,
										     instance_type, 0, 0)
									ARGUMENT("region", IS_TEXT, region, 0,
										 0)
										ARGUMENT("filter", IS_FILTER,
											 filters, 0, 0)
#undef ARGUMENT
};

static bool take_count(const struct argument *argument, const char *text, int64_t *ret_value)
{
	struct scan scan = scan_bytes(text, strlen(text));

	return scan_i64(&scan, ret_value) && !scan_left(&scan) && *ret_value >= argument->least &&
	       *ret_value <= argument->most;
}

static bool is_between(const struct argument *argument, double value)
{
	return value >= (double)argument->least && value <= (double)argument->most;
}

static bool take_filter(struct arguments *arguments, const char *text)
{
	if (arguments->filter_count == MOST_FILTERS || !strchr(text, '=') || text[0] == '=')
		return false;
	arguments->filters[arguments->filter_count++] = text;
	return true;
}

static bool take_argument(struct arguments *arguments, const struct argument *argument, const char *text)
{
	void *field = (char *)arguments + argument->offset;
	struct scan scan = scan_bytes(text, text ? strlen(text) : 0);
	int64_t count;
	double real;

	switch (argument->type) {
	case IS_SWITCH:
		*(bool *)field = true;
		return true;
	case IS_SILENCE:
		message_enable(false);
		return true;
	case IS_TEXT:
		*(const char **)field = text;
		return *text;
	case IS_COUNT:
		return take_count(argument, text, field);
	case IS_INT:
		if (!take_count(argument, text, &count))
			return false;
		*(int *)field = (int)count;
		return true;
	case IS_REAL:
		return scan_real(&scan, field) && !scan_left(&scan) && is_between(argument, *(double *)field);
	case IS_TIME:
		if (!parse_duration(text, &real) || !is_between(argument, real))
			return false;
		*(int64_t *)field = (int64_t)(real * 1e9);
		return true;
	case IS_FILTER:
		return take_filter(arguments, text);
	}
	return false;
}

static bool take_net_option(struct arguments *arguments, const char *name, const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(ARGUMENTS); i++)
		if (strcmp(ARGUMENTS[i].name, name) == 0)
			return take_argument(arguments, &ARGUMENTS[i], text);
	return false;
}

static const char *take_net_word(void *context, const struct option_row *row, const char *text)
{
	struct arguments *arguments = context;

	if (row)
		return take_net_option(arguments, row->name, text) ? NULL : "is not a valid value";
	if (arguments->operand_count == MOST_OPERANDS)
		return "is one file too many";
	arguments->operands[arguments->operand_count++] = text;
	return NULL;
}

int arguments_parse(struct arguments *ret_arguments, char **argv)
{
	struct arguments arguments = {
		.colour = "auto",
		.end_fd = -1,
		.deadline_ns = DEFAULT_DEADLINE_SECS * NSEC_PER_SEC,
		.root = "/",
	};
	struct parser parser = {
		.options = options_of(ROWS, argv[0]),
		.take = take_net_word,
		.context = &arguments,
		.checks_values = true,
	};

	if (parse_words(&parser, argv, NULL) < 0) {
		arguments_refuse(argv[0], parser.message);
		return -EINVAL;
	}
	*ret_arguments = arguments;
	return 0;
}

int arguments_refuse(const char *name, const char *message)
{
	const struct subcommand *subcommand = find_subcommand(SUBCOMMANDS, name);

	if (!subcommand || *subcommand->help)
		return say_usage(name, message);
	say_redacted("%s: %s; usage: resource-tracker-net %s %s", name, message, name, subcommand->arguments);
	return EXIT_USAGE;
}

bool arguments_print_help(char **argv, int *ret_status)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(HELP_BYTES);
	const struct subcommand *subcommand = find_subcommand(SUBCOMMANDS, argv[0]);

	if (!subcommand || !*subcommand->help || !asks_for_help(argv))
		return false;
	add_subcommand_help(&text, subcommand, options_of(ROWS, argv[0]));
	*ret_status = buffer_error(&text) || write_all(STDOUT_FILENO, text.data, text.length) < 0;
	return true;
}
