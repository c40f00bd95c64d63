/* --help and --version, from the tables of options; see help.h. */
#include "cli/help.h"

#include <string.h>

#include "options/option_help.h"
#include "options/options.h"
#include "options/rows.h"

enum { LABEL_BYTES = 200 };

const struct subcommand SUBCOMMANDS[] = {
#define SUBCOMMAND(id, name, arguments, help, ...) SUBCOMMAND_ROW(name, arguments, help, "", "", "")
#include "options/analysis_subcommands.def"
#define SUBCOMMAND(id, name, arguments, help, ...) SUBCOMMAND_ROW(name, arguments, help, "", "", "")
#include "options/net_subcommands.def"
#define SUBCOMMAND(id, name, arguments, help, ...) SUBCOMMAND_ROW(name, arguments, help, "", "", "")
#include "options/cli_subcommands.def"
	{NULL, NULL, NULL, NULL, NULL, NULL},
};

static void add_subcommand(struct buffer *out, const struct subcommand *subcommand)
{
	CLEANUP_BUFFER struct buffer label = BUFFER(LABEL_BYTES);

	buffer_printf(&label, "  %s %s", subcommand->name, subcommand->arguments);
	if (!buffer_error(&label))
		add_label_help(out, label.data, subcommand->help);
}

void add_usage(struct buffer *out)
{
	buffer_add_text(out,
			"resource-tracker records the resources that a job uses.\n"
			"\n"
			"  resource-tracker COMMAND [ARG...]        run COMMAND, then show what it used\n"
			"  resource-tracker -o FILE -- COMMAND ...  record it to FILE\n"
			"  resource-tracker --pid PID               follow a running process\n"
			"  resource-tracker -o FILE                 record the machine until Ctrl-C\n"
			"  resource-tracker ls                      the runs that are kept\n"
			"  resource-tracker help                    options and subcommands\n");
}

static bool is_usual(const struct option_row *row)
{
	static const char USUAL[] = " pid interval duration metrics output format no-history quiet job-name "
				    "tag summary report config help version ";
	const char *at = strstr(USUAL, row->name);
	size_t length = strlen(row->name);

	return at && at[-1] == ' ' && at[length] == ' ';
}

/* A heading stands before the first option of its group that is shown. */
static void add_options_help(struct buffer *out, bool all)
{
	const char *heading = NULL;

	for (const struct option_row *row = OPTIONS; row < OPTIONS + OPTION_COUNT; row++) {
		if (row->heading) {
			heading = row->heading;
			continue;
		}
		if (!all && !is_usual(row))
			continue;
		if (heading)
			buffer_printf(out, "\n%s:\n", heading);
		heading = NULL;
		add_option_help(out, row);
	}
}

static void add_subcommands(struct buffer *out, bool all)
{
	buffer_add_text(out, all ? "\nSubcommands (each knows --help; all but help and report know --json):\n"
				 : "\nSubcommands (resource-tracker help SUBCOMMAND explains one):\n");
	for (const struct subcommand *subcommand = SUBCOMMANDS; subcommand->name; subcommand++) {
		if (all)
			add_subcommand(out, subcommand);
		else
			buffer_printf(out, "  %-14s %s\n", subcommand->name, subcommand->help);
	}
}

void add_help(struct buffer *out, bool all)
{
	buffer_add_text(out,
			"Record the resources that a job and its machine use.\n"
			"\n"
			"  resource-tracker [OPTIONS] [--] COMMAND [ARG...]   run COMMAND and record it\n"
			"  resource-tracker [OPTIONS] --pid PID               attach to a running process\n"
			"  resource-tracker [OPTIONS]                         record the host\n"
			"  resource-tracker SUBCOMMAND ...                    work on recordings\n");
	add_options_help(out, all);
	add_subcommands(out, all);
	buffer_add_text(
		out,
		all ? "\n"
		      "Every option --x-y is also a variable TRACKER_X_Y, and a key of the\n"
		      "configuration file; `resource-tracker config show` prints the keys. Options take\n"
		      "precedence over variables, and variables over the file.\n"
		      "Exit status: that of COMMAND; 125 if resource-tracker failed before it\n"
		      "started COMMAND, 126 if COMMAND cannot be executed, 127 if it was not found.\n"
		    : "\n"
		      "Examples:\n"
		      "  resource-tracker make -j2\n"
		      "  resource-tracker -i 500ms -o run.jsonl -- ./train.sh --epochs 3\n"
		      "\n"
		      "These are the usual options: resource-tracker --help=all lists all.\n");
}

void add_version(struct buffer *out)
{
	buffer_add_text(out, "resource-tracker " RT_VERSION "\n");
}
