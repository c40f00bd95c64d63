/* Steps through JSON text. See json_scan.h. */
#include "format/json_scan.h"

static bool is_json_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool json_quoted(struct scan *json, struct scan *ret_raw)
{
	const char *start, *at;

	if (json->at >= json->end || *json->at != '"')
		return false;
	start = json->at + 1;
	at = memchr(start, '"', (size_t)(json->end - start));
	if (!at)
		return false;
	/* Few strings have an escape, which may be of a quote. */
	if (memchr(start, '\\', (size_t)(at - start)))
		at = start;
	for (; at < json->end; at++) {
		if (*at == '"') {
			*ret_raw = (struct scan){start, at};
			json->at = at + 1;
			return true;
		}
		if (*at == '\\' && ++at >= json->end)
			return false;
	}
	return false;
}

static bool four_hex(struct scan *raw, uint32_t *ret_unit)
{
	struct scan digits = {raw->at, raw->at + 4};
	uint64_t value;

	if (scan_left(raw) < 4 || is_json_space(*raw->at) || !scan_hex(&digits, &value) || scan_left(&digits))
		return false;
	*ret_unit = (uint32_t)value;
	raw->at += 4;
	return true;
}

static void add_utf8(struct buffer *out, uint32_t point)
{
	if (point < 0x80) {
		buffer_add_char(out, (char)point);
		return;
	}
	if (point < 0x800) {
		buffer_add_char(out, (char)(0xc0 | point >> 6));
	} else {
		if (point < 0x10000) {
			buffer_add_char(out, (char)(0xe0 | point >> 12));
		} else {
			buffer_add_char(out, (char)(0xf0 | point >> 18));
			buffer_add_char(out, (char)(0x80 | (point >> 12 & 0x3f)));
		}
		buffer_add_char(out, (char)(0x80 | (point >> 6 & 0x3f)));
	}
	buffer_add_char(out, (char)(0x80 | (point & 0x3f)));
}

/* Reads a code point after "\u", which may be written as two surrogates. */
static void unescape_unicode(struct buffer *out, struct scan *raw)
{
	enum { REPLACEMENT = 0xfffd };
	uint32_t unit, low;
	struct scan rest;

	if (!four_hex(raw, &unit)) {
		add_utf8(out, REPLACEMENT);
		return;
	}
	rest = *raw;
	if (unit >= 0xd800 && unit < 0xdc00 && scan_literal(&rest, "\\u") && four_hex(&rest, &low) &&
	    low >= 0xdc00 && low < 0xe000) {
		*raw = rest;
		unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
	} else if (unit >= 0xd800 && unit < 0xe000) {
		unit = REPLACEMENT;
	}
	/* Texts become C strings later, so NUL is replaced. */
	add_utf8(out, unit ? unit : REPLACEMENT);
}

static char short_escape(char c)
{
	switch (c) {
	case 'b':
		return '\b';
	case 'f':
		return '\f';
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	default:
		return c;
	}
}

void json_unescape(struct buffer *out, const struct scan *raw)
{
	struct scan rest = *raw;

	while (rest.at < rest.end) {
		const char *plain = rest.at, *stop = memchr(rest.at, '\\', scan_left(&rest));

		rest.at = stop ? stop : rest.end;
		buffer_add(out, plain, (size_t)(rest.at - plain));
		if (!stop || ++rest.at >= rest.end)
			break;
		if (*rest.at++ == 'u')
			unescape_unicode(out, &rest);
		else
			buffer_add_char(out, short_escape(rest.at[-1]));
	}
}

/* Skips from an opening bracket to the one that closes it. */
static bool skip_nested(struct scan *json)
{
	static const bool COUNTS[256] = {
		['"'] = true, ['{'] = true, ['['] = true, ['}'] = true, [']'] = true};
	size_t depth = 0;
	struct scan text;

	for (; json->at < json->end; json->at++) {
		if (!COUNTS[(unsigned char)*json->at])
			continue;
		switch (*json->at) {
		case '"':
			if (!json_quoted(json, &text))
				return false;
			json->at--;
			break;
		case '{':
		case '[':
			depth++;
			break;
		case '}':
		case ']':
			if (--depth == 0) {
				json->at++;
				return true;
			}
			break;
		default:
			break;
		}
	}
	return false;
}

/* Takes a number or a word: null, true, false, also the NaN and Infinity of some writers. */
static bool take_plain(struct scan *json, struct scan *ret_raw)
{
	static const bool ENDS[256] = {[','] = true,  ['}'] = true,  [']'] = true, [' '] = true,
				       ['\t'] = true, ['\n'] = true, ['\r'] = true};
	const char *start = json->at, *at = start;

	while (at < json->end && !ENDS[(unsigned char)*at])
		at++;
	*ret_raw = (struct scan){start, at};
	json->at = at;
	return at > start;
}

bool json_skip(struct scan *json)
{
	struct scan raw;

	if (json->at >= json->end)
		return false;
	if (*json->at == '"')
		return json_quoted(json, &raw);
	if (*json->at == '{' || *json->at == '[')
		return skip_nested(json);
	return take_plain(json, &raw);
}

bool json_value(struct scan *json, enum json_kind *ret_kind, struct scan *ret_raw)
{
	char first;

	if (json->at >= json->end)
		return false;
	first = *json->at;
	if (first == '"') {
		*ret_kind = VALUE_STRING;
		return json_quoted(json, ret_raw);
	}
	if (first == '{' || first == '[') {
		*ret_kind = VALUE_OTHER;
		*ret_raw = (struct scan){json->at, json->at};
		return skip_nested(json);
	}
	if (!take_plain(json, ret_raw))
		return false;
	if ((first >= '0' && first <= '9') || first == '-')
		*ret_kind = VALUE_NUMBER;
	else
		*ret_kind = scan_is(ret_raw, "null")    ? VALUE_NULL
			    : scan_is(ret_raw, "true")  ? VALUE_TRUE
			    : scan_is(ret_raw, "false") ? VALUE_FALSE
							: VALUE_OTHER;
	return true;
}
