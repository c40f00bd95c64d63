/* Renders help; see option_help.h. */
#include "options/option_help.h"
#include "base/runs_once.h"

#include <stdbool.h>
#include <string.h>

enum {
	COLUMNS = 80,
	LABEL_COLUMNS = 31,   /* "  -x, --external-run-id TEXT " and its help beside it */
	CHOICES_COLUMNS = 20, /* longer lists of words stand in the help text */
};

static void pad_to_column(struct buffer *out, size_t *column, size_t to)
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
		pad_to_column(out, column, LABEL_COLUMNS);
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
	pad_to_column(out, column, LABEL_COLUMNS);
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

SELDOM void add_option_help(struct buffer *out, const struct option_row *row)
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

void add_label_help(struct buffer *out, const char *label, const char *help)
{
	size_t column = strlen(label);

	buffer_add_text(out, label);
	if (column + 1 >= LABEL_COLUMNS) {
		buffer_add_char(out, '\n');
		column = 0;
	}
	pad_to_column(out, &column, LABEL_COLUMNS);
	add_words(out, &column, help);
	buffer_add_char(out, '\n');
}

void add_paragraphs(struct buffer *out, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t length = strcspn(text, " \n");

		if (column && column + 1 + length > COLUMNS) {
			buffer_add_char(out, '\n');
			column = 0;
		} else if (column) {
			buffer_add_char(out, ' ');
			column++;
		}
		buffer_add(out, text, length);
		column += length;
		text += length;
		if (*text == '\n') {
			buffer_add_text(out, "\n\n");
			column = 0;
		}
		text += *text != '\0';
	}
	if (column)
		buffer_add_char(out, '\n');
}
