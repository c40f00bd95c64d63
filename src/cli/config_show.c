/* `resource-tracker config show`: every setting that the environment and the configuration file can make. */
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/printable.h"
#include "cli/config_file.h"
#include "cli/given.h"
#include "cli/message.h"
#include "cli/subcommands.h"
#include "options/usage.h"
#include "resource_tracker.h"

enum { OUTPUT_BYTES = 4 << 20, VARIABLE_BYTES = 64, FROM_BYTES = 4096, KEY_COLUMNS = 26, VALUE_COLUMNS = 24 };

struct config_request {
	const char *file;
	bool json, show;
	struct given_list given;
	rt_config *config; /* checks values */
	struct buffer out;
	struct json_writer writer;
};

static const char *take_config_word(void *context, const struct option_row *row, const char *text)
{
	struct config_request *request = context;

	if (!row && (request->show || strcmp(text, "show") != 0))
		return "is not known here; give show";
	if (!row)
		request->show = true;
	else if (row->id == OPTION_config_config)
		request->file = text;
	else
		request->json = true;
	return NULL;
}

static void find_origin(const struct config_request *request, const struct option_row *row,
			const struct given *item, char from[static FROM_BYTES])
{
	if (!item)
		snprintf(from, FROM_BYTES, "default");
	else if (item->origin == ORIGIN_ENVIRONMENT)
		option_variable(row, from, FROM_BYTES);
	else
		snprintf(from, FROM_BYTES, "%s:%u", request->file, item->line);
}

static void add_json_row(struct config_request *request, const struct option_row *row, const char *value,
			 const char *from, const char *problem)
{
	const char *const members[][2] = {{"option", row->name},
					  {"key", row->toml_key},
					  {"value", value},
					  {"from", from},
					  {"problem", problem}};

	json_open(&request->writer, '{');
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		json_plain_key(&request->writer, members[i][0]);
		json_text(&request->writer, members[i][1]);
	}
	json_close(&request->writer, '}');
	buffer_add_char(&request->out, '\n');
}

static void add_config_row(struct config_request *request, const struct option_row *row,
			   const struct given *item)
{
	const char *value = item                 ? item->text
			    : *row->default_text ? row->default_text
						 : NULL,
		   *problem = NULL;
	char from[FROM_BYTES];

	find_origin(request, row, item, from);
	if (item && row->owner == OWNER_SETTING && rt_config_set(request->config, row->name, value) < 0)
		problem = rt_config_message(request->config);
	if (request->json) {
		add_json_row(request, row, value, from, problem);
		return;
	}
	buffer_printf(&request->out, "%-*s  ", KEY_COLUMNS, row->toml_key);
	buffer_printf(&request->out, "%-*s  %s%s%s\n", VALUE_COLUMNS, value ? value : "-", from,
		      problem ? "; not valid: " : "", problem ? problem : "");
}

static void add_rows(struct config_request *request)
{
	for (const struct option_row *row = OPTIONS; row < OPTIONS + OPTION_COUNT; row++) {
		if (!row->name || !*row->toml_key)
			continue;
		if (!given_for(&request->given, row))
			add_config_row(request, row, NULL);
		for (size_t j = 0; j < request->given.count; j++) {
			const struct given *item = &request->given.items[j];

			/* If an option that takes one value is repeated, the last one counts. */
			if (item->row == row && given_counts(&request->given, item) &&
			    (option_is_repeatable(row) || item == given_for(&request->given, row)))
				add_config_row(request, row, item);
		}
	}
}

static int show_config(struct config_request *request)
{
	const struct given *item;
	bool named = request->file != NULL;

	if (read_environment(&request->given) < 0 || rt_config_new(&request->config) < 0)
		return refuse("out of memory");
	item = given_by_name(&request->given, "config");
	if (!named && item)
		request->file = item->text;
	named = named || item;
	request->file = request->file ? request->file : "resource-tracker.toml";
	if (read_config_file(request->file, ORIGIN_CONFIG, named, true, &request->given) < 0)
		return refuse("out of memory");
	request->out = BUFFER(OUTPUT_BYTES);
	request->writer = JSON_WRITER(&request->out);
	if (request->json)
		json_open(&request->writer, '[');
	add_rows(request);
	if (request->json)
		json_close(&request->writer, ']');
	if (request->json)
		buffer_add_char(&request->out, '\n');
	else if (request->out.data)
		make_printable(request->out.data, request->out.length);
	return print_text(&request->out);
}

int run_config(char **argv)
{
	struct config_request request = {0};
	int status;

	if (!read_subcommand(argv, take_config_word, &request, &status))
		return status;
	status = request.show ? show_config(&request) : say_usage("config", "give show");
	rt_config_free(request.config);
	given_done(&request.given);
	buffer_done(&request.out);
	return status;
}
