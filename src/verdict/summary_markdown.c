/* Formats the summary as Markdown, for the step summaries and comments of CI systems. See summary.h. */
#include <string.h>

#include "verdict/summary_page.h"
#include "base/cleanup.h"
#include "base/screen.h"
#include "table/table.h"

enum { TEXT_CEILING = 1 << 20 };

/* A line of the page: "  Label      text", "             more text", or a line of the heading. */
struct line {
	const char *label, *text;
	size_t label_length, text_length;
};

static bool starts_a_mark(char c)
{
	return strchr(STYLE_BAD STYLE_GOOD STYLE_STRONG STYLE_FAINT STYLE_END, c);
}

/* Names come from the job: a backslash keeps each character of Markdown's and HTML's syntax as it is. */
static void add_markdown_escaped(struct buffer *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '<' || text[i] == '>' || text[i] == '&') {
			buffer_add_text(out, text[i] == '<' ? "&lt;" : text[i] == '>' ? "&gt;" : "&amp;");
			continue;
		}
		if (text[i] && strchr("\\`*_{}[]#|~!", text[i]))
			buffer_add_char(out, '\\');
		buffer_add_char(out, text[i]);
	}
}

/* Failures and names are bold. The other styles need a colour and are left out. */
static void add_styled(struct buffer *out, const char *text, size_t length)
{
	bool is_bold = false;

	for (size_t i = 0; i < length; i++) {
		bool begins_bold = text[i] == STYLE_BAD[0] || text[i] == STYLE_STRONG[0];
		bool ends = text[i] == STYLE_END[0];

		if (!starts_a_mark(text[i])) {
			add_markdown_escaped(out, &text[i], 1);
		} else if (begins_bold || (ends && is_bold)) {
			buffer_add_text(out, "**");
			is_bold = begins_bold;
		}
	}
}

/* A bold text must not end with a blank, so the blanks at the end of a label are left out. */
static size_t without_blanks(const char *text, size_t length)
{
	while (length && text[length - 1] == ' ')
		length--;
	return length;
}

/* Whether a line of the page, which ends before `end`, is a row of the table. A label has style marks around it. */
static bool split_line(const char *text, const char *end, struct line *ret_line)
{
	const char *at = text + 2;

	if (strncmp(text, "  ", 2) != 0)
		return false;
	*ret_line = (struct line){.label = at, .text = at + strspn(at, " ")};
	if (*at == STYLE_STRONG[0]) {
		const char *label = at + 1, *label_end = strchr(label, STYLE_END[0]);

		*ret_line = (struct line){.label = label, .text = label_end + 1};
		ret_line->label_length = without_blanks(label, (size_t)(label_end - label));
	}
	ret_line->text_length = (size_t)(end - ret_line->text);
	return true;
}

/* The first row of the table has a label. Each row waits for further lines of its label. */
static void add_markdown_row(struct buffer *out, const struct line *line, bool *is_open)
{
	if (line->label_length) {
		buffer_add_text(out, *is_open ? " |\n| **" : "\n| | |\n|---|---|\n| **");
		add_markdown_escaped(out, line->label, line->label_length);
		buffer_add_text(out, "** | ");
	} else {
		buffer_add_text(out, "<br>");
	}
	add_styled(out, line->text, line->text_length);
	*is_open = true;
}

static void add_markdown(struct buffer *out, const char *page)
{
	bool is_first = true, is_open = false;
	struct line line;

	for (const char *at = page; *at;) {
		size_t length = strcspn(at, "\n");

		if (split_line(at, at + length, &line)) {
			add_markdown_row(out, &line, &is_open);
		} else if (length) {
			buffer_add_text(out, is_first ? "### " : "\n");
			add_styled(out, at, length);
			buffer_add_char(out, '\n');
			is_first = false;
		}
		at += length + (at[length] == '\n');
	}
	buffer_add_text(out, is_open ? " |\n" : "");
}

int rt_summary_to_markdown(const rt_summary *summary, enum rt_size_unit unit, char **ret_text)
{
	CLEANUP_BUFFER struct buffer page = BUFFER(TEXT_CEILING), out = BUFFER(4 * TEXT_CEILING);

	summary_add_page(&page, summary, unit);
	if (buffer_error(&page) < 0)
		return buffer_error(&page);
	add_markdown(&out, page.data);
	return buffer_take_text(&out, ret_text);
}
