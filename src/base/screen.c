/* Fits text to a terminal. See screen.h. */
#include "base/screen.h"

#include <ctype.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/printable.h"
#include "base/scan.h"

enum { USUAL_COLUMNS = 80, LEAST_COLUMNS = 40, MOST_COLUMNS = 1000, HEADING_MARGIN = 2 };

static size_t columns_of(int fd)
{
	const char *wanted = getenv("COLUMNS");
	struct scan word = scan_bytes(wanted ? wanted : "", wanted ? strlen(wanted) : 0);
	struct winsize size = {0};
	uint64_t columns = 0;

	if (!scan_u64(&word, &columns))
		columns = 0;

	if (!columns && ioctl(fd, TIOCGWINSZ, &size) == 0)
		columns = size.ws_col;
	if (!columns)
		columns = USUAL_COLUMNS;
	return columns < LEAST_COLUMNS  ? LEAST_COLUMNS
	       : columns > MOST_COLUMNS ? MOST_COLUMNS
					: (size_t)columns;
}

static bool is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8;

	if (!locale)
		return false;
	utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
	freelocale(locale);
	return utf8;
}

bool is_colour_choice(const char *colour)
{
	return strcmp(colour, "auto") == 0 || strcmp(colour, "always") == 0 || strcmp(colour, "never") == 0;
}

struct screen screen_of(int fd, const char *colour)
{
	const char *terminal = getenv("TERM"), *no_colour = getenv("NO_COLOR");
	bool is_terminal = isatty(fd);
	struct screen screen = {0};

	if (strcmp(colour, "auto") == 0)
		screen.colour = is_terminal && !(no_colour && *no_colour) &&
				!(terminal && strcmp(terminal, "dumb") == 0);
	else
		screen.colour = strcmp(colour, "always") == 0;
	screen.columns = columns_of(fd);
	screen.ascii = is_terminal && !is_utf8();
	return screen;
}

struct screen table_screen_of(int fd, const char *colour)
{
	const char *wanted = getenv("COLUMNS");
	struct screen screen = screen_of(fd, colour);

	if (!isatty(fd) && !(wanted && *wanted))
		screen.columns = SIZE_MAX;
	return screen;
}

static const char *style_sequence(char mark)
{
	static const char *const SEQUENCES[] = {NULL,      "\033[1;31m", "\033[32m",
						"\033[1m", "\033[2m",    "\033[0m"};

	return mark > 0 && (size_t)mark < ARRAY_SIZE(SEQUENCES) ? SEQUENCES[(size_t)mark] : NULL;
}

/* The length of the UTF-8 sequence that begins here, as far as it is there. */
static size_t code_point_bytes(const char *at)
{
	size_t length = 1;

	while (((unsigned char)at[length] & 0xc0) == 0x80)
		length++;
	return length;
}

static bool is_control(const char *at, size_t length)
{
	unsigned char first = (unsigned char)*at;

	return first < 0x20 || first == 0x7f || (length == 1 && first >= 0x80) ||
	       (length > 1 && is_obeyed_by_terminals((const unsigned char *)at, length));
}

/* The number of a block of a sparkline, 0 for the lowest. -1: another character. */
static int block_number(const char *at, size_t length)
{
	if (length != 3 || memcmp(at, "\xe2\x96", 2) != 0 || (unsigned char)at[2] < 0x81 ||
	    (unsigned char)at[2] > 0x88)
		return -1;
	return (unsigned char)at[2] - 0x81;
}

static void add_code_point(struct buffer *out, const char *at, size_t length, const struct screen *screen)
{
	static const char BLOCKS[] = "_.-:=+*#";
	int block = block_number(at, length);

	if (is_control(at, length))
		buffer_add_char(out, '?');
	else if (!screen->ascii || !((unsigned char)*at & 0x80))
		buffer_add(out, at, length);
	else
		buffer_add_char(out, block >= 0 ? BLOCKS[block] : '?');
}

/* Whether the blank here stands between a number and its unit. */
static bool joins_unit(const char *start, const char *at)
{
	return at > start && isdigit((unsigned char)at[-1]) &&
	       (isalpha((unsigned char)at[1]) || at[1] == '%');
}

size_t screen_columns(const char *text, size_t length)
{
	size_t columns = 0;

	for (size_t i = 0; i < length; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80 && !style_sequence(text[i]);
	return columns;
}

/* The columns of a word, or of a number with its unit; *ret_end is behind it. */
static size_t word_columns(const char *word, const char **ret_end)
{
	const char *at = word;
	size_t columns = 0;

	for (; *at && *at != '\n' && (*at != ' ' || joins_unit(word, at)); at += code_point_bytes(at))
		columns += !style_sequence(*at);
	*ret_end = at;
	return columns;
}

static void add_word(struct buffer *out, const char *at, const char *end, const struct screen *screen)
{
	while (at < end) {
		const char *sequence = style_sequence(*at);
		size_t length = code_point_bytes(at);

		if (!sequence)
			add_code_point(out, at, length, screen);
		else if (screen->colour)
			buffer_add_text(out, sequence);
		at += length;
	}
}

void screen_add_line(struct buffer *out, const char *text, size_t length, const struct screen *screen)
{
	add_word(out, text, text + length, screen);
}

void screen_add(struct buffer *out, const char *text, const struct screen *screen, size_t hanging)
{
	size_t column = 0, margin = 0;

	while (*text) {
		size_t blanks = strspn(text, " "), columns;
		const char *word = text + blanks, *end;

		if (*text == '\n') {
			buffer_add_char(out, *text++);
			column = 0;
			continue;
		}
		columns = word_columns(word, &end);
		if (!column)
			margin = blanks ? hanging : HEADING_MARGIN;
		/* A word that is longer than a line stays whole. */
		if (column > margin && column + blanks + columns > screen->columns) {
			buffer_add_char(out, '\n');
			column = 0;
			blanks = margin;
		}
		buffer_printf(out, "%*s", (int)blanks, "");
		add_word(out, word, end, screen);
		column += blanks + columns;
		text = end;
	}
}
