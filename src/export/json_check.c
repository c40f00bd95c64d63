/*
 * Checks JSON; see json_check.h. Each function steps over the text that it checks. After false, the position
 * means nothing.
 */
#include "export/json_check.h"

#include <stdint.h>
#include <string.h>

enum { MOST_DEPTH = 128 };

static void skip_space(struct scan *text)
{
	while (scan_left(text) && strchr(" \t\r\n", *text->at) && *text->at)
		text->at++;
}

static bool take_char(struct scan *text, char c)
{
	if (!scan_left(text) || *text->at != c)
		return false;
	text->at++;
	return true;
}

static bool is_digit(const struct scan *text)
{
	return scan_left(text) && *text->at >= '0' && *text->at <= '9';
}

static bool skip_digits(struct scan *text)
{
	if (!is_digit(text))
		return false;
	while (is_digit(text))
		text->at++;
	return true;
}

static bool check_number(struct scan *text)
{
	(void)take_char(text, '-');
	if (!take_char(text, '0') && !skip_digits(text))
		return false;
	if (take_char(text, '.') && !skip_digits(text))
		return false;
	if (take_char(text, 'e') || take_char(text, 'E')) {
		if (!take_char(text, '+'))
			(void)take_char(text, '-');
		return skip_digits(text);
	}
	return true;
}

/* Checks the continuation bytes of a character: not overlong, not a surrogate, not above U+10FFFF. */
static bool scan_utf8(struct scan *text)
{
	unsigned char first = (unsigned char)*text->at++;
	uint32_t point;
	int more;

	if (first < 0x80)
		return true;
	if (first < 0xc2 || first > 0xf4)
		return false;
	more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
	point = first & (0x3fU >> more);
	for (int i = 0; i < more; i++) {
		if (!scan_left(text) || ((unsigned char)*text->at & 0xc0) != 0x80)
			return false;
		point = point << 6 | ((unsigned char)*text->at++ & 0x3f);
	}
	if (more == 2)
		return point >= 0x800 && (point < 0xd800 || point > 0xdfff);
	return more == 1 || (point >= 0x10000 && point <= 0x10ffff);
}

static bool check_escape(struct scan *text)
{
	if (!scan_left(text))
		return false;
	if (*text->at != 'u')
		return *text->at && strchr("\"\\/bfnrt", *text->at++);
	text->at++;
	for (int i = 0; i < 4; i++, text->at++)
		if (!scan_left(text) || !*text->at || !strchr("0123456789abcdefABCDEF", *text->at))
			return false;
	return true;
}

static bool check_string(struct scan *text)
{
	if (!take_char(text, '"'))
		return false;
	while (scan_left(text)) {
		if (take_char(text, '"'))
			return true;
		if ((unsigned char)*text->at < ' ')
			return false;
		if (take_char(text, '\\') ? !check_escape(text) : !scan_utf8(text))
			return false;
	}
	return false;
}

/* If the innermost bracket is an object's, steps over a key and its colon. */
static bool check_key(struct scan *text, char closing)
{
	skip_space(text);
	if (closing != '}')
		return true;
	if (!check_string(text))
		return false;
	skip_space(text);
	return take_char(text, ':');
}

static bool check_scalar(struct scan *text)
{
	if (!scan_left(text))
		return false;
	if (*text->at == '"')
		return check_string(text);
	return scan_literal(text, "null") || scan_literal(text, "true") || scan_literal(text, "false") ||
	       check_number(text);
}

/* After a value: steps over closing brackets, and over a comma if another value follows (`ret_more`). */
static bool check_after_value(struct scan *text, const char *closing, size_t *depth, bool *ret_more)
{
	*ret_more = false;
	for (;;) {
		skip_space(text);
		if (!*depth)
			return true;
		if (take_char(text, ',')) {
			*ret_more = true;
			return check_key(text, closing[*depth - 1]);
		}
		if (!take_char(text, closing[*depth - 1]))
			return false;
		--*depth;
	}
}

bool json_is_valid(struct scan text)
{
	char closing[MOST_DEPTH];
	size_t depth = 0;
	bool more = true;

	while (more) {
		skip_space(&text);
		if (take_char(&text, '{') || take_char(&text, '[')) {
			if (depth == MOST_DEPTH)
				return false;
			closing[depth++] = text.at[-1] == '{' ? '}' : ']';
			skip_space(&text);
			/*
			 * An empty object or array is a value. In any other, the first value follows, in an
			 * object after its key.
			 */
			if (!scan_left(&text) || *text.at != closing[depth - 1]) {
				if (!check_key(&text, closing[depth - 1]))
					return false;
				continue;
			}
		} else if (!check_scalar(&text)) {
			return false;
		}
		if (!check_after_value(&text, closing, &depth, &more))
			return false;
	}
	return !scan_left(&text);
}
