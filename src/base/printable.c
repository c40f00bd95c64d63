/* Makes foreign text safe to print. See printable.h. */
#include "base/printable.h"

#include <string.h>

/* The length of a whole UTF-8 sequence that begins here, 0 for none. */
static size_t sequence_length(const unsigned char *at, size_t left)
{
	size_t length = *at >= 0xf0 && *at < 0xf8   ? 4
			: *at >= 0xe0 && *at < 0xf0 ? 3
			: *at >= 0xc2 && *at < 0xe0 ? 2
						    : 0;

	if (!length || length > left)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

/* U+0080 to U+009F; U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069. */
bool is_obeyed_by_terminals(const unsigned char *at, size_t length)
{
	if (length == 2)
		return at[0] == 0xc2 && at[1] < 0xa0;
	if (length != 3 || at[0] != 0xe2)
		return false;
	return (at[1] == 0x80 && (at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xaa && at[2] <= 0xae))) ||
	       (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9);
}

static bool is_layout(const unsigned char *at, size_t left)
{
	return *at == '\n' || *at == '\t' || (*at == '\r' && left > 1 && at[1] == '\n');
}

static void replace_unprintable(char *text, size_t length, bool within_line)
{
	unsigned char *at = (unsigned char *)text, *end = at + length;

	while (at < end) {
		size_t left = (size_t)(end - at), bytes = *at < 0x80 ? 1 : sequence_length(at, left);

		if (bytes == 1 ? (*at < 0x20 || *at == 0x7f) && (within_line || !is_layout(at, left))
			       : !bytes || is_obeyed_by_terminals(at, bytes))
			memset(at, '?', bytes ? bytes : 1);
		at += bytes ? bytes : 1;
	}
}

void make_printable(char *text, size_t length)
{
	replace_unprintable(text, length, false);
}

void buffer_add_printable(struct buffer *out, const char *text)
{
	size_t start = out->length;

	buffer_add_text(out, text);
	if (!buffer_error(out))
		replace_unprintable(out->data + start, out->length - start, true);
}
