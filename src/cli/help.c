/* --help and --version, from the tables of options; see help.h. */
#include "cli/help.h"

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

void add_help(struct buffer *out)
{
	buffer_add_text(out,
			"Record the resources that a job and its machine use.\n"
			"\n"
			"  resource-tracker [OPTIONS] [--] COMMAND [ARG...]   run COMMAND and record it\n"
			"  resource-tracker [OPTIONS] --pid PID               attach to a running process\n"
			"  resource-tracker [OPTIONS]                         record the host\n"
			"  resource-tracker SUBCOMMAND ...                    work on recordings\n");
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		if (OPTIONS[i].heading)
			buffer_printf(out, "\n%s:\n", OPTIONS[i].heading);
		else
			add_option_help(out, &OPTIONS[i]);
	}
	buffer_add_text(out, "\nSubcommands (each knows --help; all but help and report know --json):\n");
	for (const struct subcommand *subcommand = SUBCOMMANDS; subcommand->name; subcommand++)
		add_subcommand(out, subcommand);
	buffer_add_text(out,
			"\n"
			"Every option --x-y is also a variable TRACKER_X_Y, and a key of the\n"
			"configuration file; the man page lists the keys. Options take precedence over\n"
			"variables, and variables over the file.\n"
			"Exit status: that of COMMAND; 125 if resource-tracker failed before it\n"
			"started COMMAND, 126 if COMMAND cannot be executed, 127 if it was not found.\n");
}

void add_version(struct buffer *out)
{
	buffer_add_text(out, "resource-tracker " RT_VERSION "\n");
}
