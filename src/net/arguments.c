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

enum { DEFAULT_DEADLINE_SECS = 10, MOST_DEADLINE_SECS = 86400, HELP_BYTES = 64 << 10 };

enum option_id {
#define OPTION(id, key, ...) OPTION_##id##_##key,
#include "options/net_subcommands.def"
#define OPTION(id, key, ...) OPTION_##id##_##key,
#include "options/net_internal.def"
};

static const struct subcommand SUBCOMMANDS[] = {
#define SUBCOMMAND(id, ...) SUBCOMMAND_ROW(__VA_ARGS__)
#include "options/net_subcommands.def"
#define SUBCOMMAND(id, ...) SUBCOMMAND_ROW(__VA_ARGS__)
#include "options/net_internal.def"
	{NULL, NULL, NULL, NULL, NULL, NULL},
};

static const struct option_row ROWS[] = {
#define SUBCOMMAND(id, name, ...) HEADING_ROW(name)
#define OPTION(id, key, ...) OPTION_ROW(OPTION_##id##_##key, __VA_ARGS__)
#include "options/net_subcommands.def"
#define SUBCOMMAND(id, name, ...) HEADING_ROW(name)
#define OPTION(id, key, ...) OPTION_ROW(OPTION_##id##_##key, __VA_ARGS__)
#include "options/net_internal.def"
	LAST_ROW,
};

static bool take_count(const char *text, int64_t most, int64_t *ret_value)
{
	struct scan scan = scan_bytes(text, strlen(text));
	int64_t value;

	if (!scan_i64(&scan, &value) || scan_left(&scan) || value < 0 || value > most)
		return false;
	*ret_value = value;
	return true;
}

static bool take_real_argument(const char *text, double most, double *ret_value)
{
	struct scan scan = scan_bytes(text, strlen(text));
	double value;

	if (!scan_real(&scan, &value) || scan_left(&scan) || !(value >= 0) || value > most)
		return false;
	*ret_value = value;
	return true;
}

static bool take_filter(struct arguments *arguments, const char *text)
{
	if (arguments->filter_count == MOST_FILTERS || !strchr(text, '=') || text[0] == '=')
		return false;
	arguments->filters[arguments->filter_count++] = text;
	return true;
}

static bool take_deadline(struct arguments *arguments, const char *text)
{
	double secs;

	if (!parse_duration(text, &secs) || secs < 0 || secs > (double)MOST_DEADLINE_SECS)
		return false;
	arguments->deadline_ns = (int64_t)(secs * 1e9);
	return true;
}

static bool take_switch(bool *on)
{
	*on = true;
	return true;
}

static bool take_text_argument(const char *text, const char **ret_text)
{
	*ret_text = text;
	return *text;
}

static bool take_stream_option(struct arguments *arguments, enum option_id id, const char *value)
{
	int64_t count = 0;
	bool good;

	switch (id) {
	case OPTION_upload_spool:
	case OPTION_follow_spool:
		return take_text_argument(value, &arguments->spool);
	case OPTION_upload_stream:
	case OPTION_follow_stream:
		return take_text_argument(value, &arguments->stream);
	case OPTION_follow_from:
		return take_count(value, INT64_MAX, &arguments->from);
	case OPTION_follow_end_fd:
		good = take_count(value, INT_MAX, &count);
		arguments->end_fd = (int)count;
		return good;
	case OPTION_follow_pid:
		good = take_count(value, INT_MAX, &count) && count > 0;
		arguments->pid = (pid_t)count;
		return good;
	case OPTION_follow_disposable:
		return take_switch(&arguments->disposable);
	case OPTION_follow_report:
		return take_switch(&arguments->report);
	case OPTION_follow_upload_deadline:
		return take_deadline(arguments, value);
	default:
		return false;
	}
}

static bool take_discover_option(struct arguments *arguments, enum option_id id, const char *value)
{
	switch (id) {
	case OPTION_discover_json:
		return take_switch(&arguments->json);
	case OPTION_discover_color:
		arguments->colour = value;
		return true;
	case OPTION_discover_no_pager:
		return take_switch(&arguments->without_pager);
	case OPTION_discover_python:
		return take_switch(&arguments->python);
	case OPTION_discover_lines:
		return take_switch(&arguments->lines);
	case OPTION_discover_when_told:
		return take_switch(&arguments->when_told);
	default:
		return false;
	}
}

static bool take_keeper_option(struct arguments *arguments, enum option_id id, const char *value)
{
	switch (id) {
	case OPTION_keeper_vcpus:
		return take_count(value, 1 << 20, &arguments->vcpus);
	case OPTION_keeper_memory_mib:
		return take_real_argument(value, 1e12, &arguments->memory_mib);
	case OPTION_keeper_gpus:
		return take_count(value, 1 << 20, &arguments->gpus);
	case OPTION_keeper_gpu_memory_mib:
		return take_real_argument(value, 1e12, &arguments->gpu_memory_mib);
	case OPTION_keeper_limit:
		return take_count(value, 1000, &arguments->limit);
	case OPTION_keeper_vendor:
		return take_text_argument(value, &arguments->vendor);
	case OPTION_keeper_instance_type:
		return take_text_argument(value, &arguments->instance_type);
	case OPTION_keeper_region:
		return take_text_argument(value, &arguments->region);
	case OPTION_keeper_filter:
		return take_filter(arguments, value);
	default:
		return false;
	}
}

static bool take_net_option(struct arguments *arguments, enum option_id id, const char *value)
{
	switch (id) {
	case OPTION_upload_root:
	case OPTION_discover_root:
	case OPTION_follow_root:
		return take_text_argument(value, &arguments->root);
	case OPTION_upload_no_warnings:
	case OPTION_discover_no_warnings:
	case OPTION_follow_no_warnings:
	case OPTION_keeper_no_warnings:
		message_enable(false);
		return true;
	case OPTION_upload_json:
	case OPTION_keeper_json:
		return true;
	default:
		return take_stream_option(arguments, id, value) ||
		       take_discover_option(arguments, id, value) || take_keeper_option(arguments, id, value);
	}
}

static const char *take_net_word(void *context, const struct option_row *row, const char *text)
{
	struct arguments *arguments = context;

	if (row)
		return take_net_option(arguments, (enum option_id)row->id, text) ? NULL
										 : "is not a valid value";
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
	say("%s: %s; usage: resource-tracker-net %s %s", name, message, name, subcommand->arguments);
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
