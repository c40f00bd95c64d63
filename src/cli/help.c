/* --help and --version, from the table of options; see help.h. Lines have at most 80 columns. */
#include "cli/help.h"

#include <string.h>

#include "options/options.h"

enum {
	COLUMNS = 80,
	LABEL_COLUMNS = 31,   /* "  -x, --external-run-id TEXT ", with its help beside it */
	CHOICES_COLUMNS = 20, /* longer lists of words are part of the help text */
};

const struct subcommand SUBCOMMANDS[] = {
	{"summary", "FILE...", "resource use and bottleneck of a run"},
	{"stats", "FILE", "mean, maximum, percentiles of each column"},
	{"show", "FILE", "samples as a table"},
	{"recommend", "FILE...", "resources to request next time"},
	{"report", "FILE... -o OUT.html", "one interactive HTML page"},
	{"compare-runs", "A B...", "differences between runs"},
	{"mark", "NAME start|stop", "mark a phase from inside a job"},
	{"regions", "FILE", "resource use of each phase"},
	{"export", "FILE -o OUT", "convert to other formats"},
	{"combine", "FILE... -o OUT", "combine several recordings"},
	{"upload", "SPOOL...", "finish interrupted streaming"},
	{"discover", "host|cloud|all", "this machine, its cloud and limits"},
	{"metrics", "[NAME...]", "every metric with its unit and source"},
	{"help", "[SUBCOMMAND]", "this text, or help of a subcommand"},
	{"version", "", "the version"},
	{NULL, NULL, NULL},
};

static void pad(struct buffer *out, size_t *column, size_t to)
{
	for (; *column < to; ++*column)
		buffer_add_char(out, ' ');
}

/* Adds a piece at the current column, or on the next line if it does not fit. */
static void add_piece(struct buffer *out, size_t *column, const char *text, size_t length)
{
	if (*column + 1 + length > COLUMNS) {
		buffer_add_char(out, '\n');
		*column = 0;
		pad(out, column, LABEL_COLUMNS);
	} else if (*column > LABEL_COLUMNS) {
		buffer_add_char(out, ' ');
		++*column;
	}
	buffer_add(out, text, length);
	*column += length;
}

static void add_words(struct buffer *out, size_t *column, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, " ");

		add_piece(out, column, text, length);
		text += length + strspn(text + length, " ");
	}
}

static bool is_long_choice(const struct option_row *row)
{
	return strchr(row->argument, '|') && strlen(row->argument) > CHOICES_COLUMNS;
}

static void add_label(struct buffer *out, size_t *column, const struct option_row *row)
{
	size_t start = out->length;
	const char *argument = is_long_choice(row) ? "WORD" : row->argument;

	if (row->letter)
		buffer_printf(out, "  -%c, --%s", row->letter, row->name);
	else
		buffer_printf(out, "      --%s", row->name);
	if (row->kind == KIND_OPTIONAL)
		buffer_printf(out, "[=%s]", argument);
	else if (*argument)
		buffer_printf(out, " %s", argument);
	*column += out->length - start;
	if (*column + 1 >= LABEL_COLUMNS) {
		buffer_add_char(out, '\n');
		*column = 0;
	}
	pad(out, column, LABEL_COLUMNS);
}

static void add_choices(struct buffer *out, size_t *column, const char *choices)
{
	char word[COLUMNS];

	while (*choices) {
		size_t length = strcspn(choices, "|");
		const char *next = choices + length + (choices[length] == '|');

		if (length + 1 >= sizeof(word))
			return;
		memcpy(word, choices, length);
		word[length] = ',';
		add_piece(out, column, word, length + (*next != '\0'));
		choices = next;
	}
}

static void add_default(struct buffer *out, size_t *column, const char *text)
{
	CLEANUP_BUFFER struct buffer piece = BUFFER(COLUMNS);

	buffer_printf(&piece, "(default: %s)", text);
	if (buffer_error(&piece) == 0)
		add_piece(out, column, piece.data, piece.length);
}

static void add_option(struct buffer *out, const struct option_row *row)
{
	size_t column = 0;

	add_label(out, &column, row);
	add_words(out, &column, row->help);
	if (is_long_choice(row)) {
		buffer_add_char(out, ':');
		column++;
		add_choices(out, &column, row->argument);
	}
	if (*row->default_text)
		add_default(out, &column, row->default_text);
	buffer_add_char(out, '\n');
}

static void add_subcommand(struct buffer *out, const struct subcommand *subcommand)
{
	size_t column = out->length;

	buffer_printf(out, "  %s %s", subcommand->name, subcommand->arguments);
	column = out->length - column;
	if (column + 1 >= LABEL_COLUMNS) {
		buffer_add_char(out, '\n');
		column = 0;
	}
	pad(out, &column, LABEL_COLUMNS);
	add_words(out, &column, subcommand->help);
	buffer_add_char(out, '\n');
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
			add_option(out, &OPTIONS[i]);
	}
	buffer_add_text(out, "\nSubcommands (each knows --help, and all but help know --json):\n");
	for (const struct subcommand *subcommand = SUBCOMMANDS; subcommand->name; subcommand++)
		add_subcommand(out, subcommand);
	buffer_add_text(
		out, "\n"
		     "Every option --x-y is also a variable TRACKER_X_Y and a key x_y of the file.\n"
		     "Options take precedence over variables, and variables over the file.\n"
		     "Exit status: that of COMMAND; 125 if resource-tracker failed before it\n"
		     "started COMMAND, 126 if COMMAND cannot be executed, 127 if it was not found.\n");
}

void add_version(struct buffer *out)
{
	buffer_add_text(out, "resource-tracker " RT_VERSION "\n");
}
