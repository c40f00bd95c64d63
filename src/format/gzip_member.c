/* Compresses a record. See gzip_member.h, RFC 1951 and RFC 1952. */
#include "format/gzip_member.h"

#include <string.h>

enum {
	HASH_BITS = 12,
	WINDOW_BYTES = 32768,
	LENGTH_LEAST = 4, /* the format allows 3, which saves little */
	LENGTH_MOST = 258,
	KIND_AT = 13,
	LENGTH_AT = 16,
	END_OF_BLOCK = 256,
};

/* Deflate, an extra field, no time, unknown system; 8 bytes of extra: "RJ" or "RC", 4, and the length of the member. */
static const char HEAD[LENGTH_AT + 1] = "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x08\0RJ\x04";

struct bit_writer {
	struct buffer *out;
	uint64_t held;
	unsigned count;
};

/* The lowest bit goes first. */
static void put_deflate_bits(struct bit_writer *bits, uint32_t value, unsigned count)
{
	bits->held |= (uint64_t)value << bits->count;
	for (bits->count += count; bits->count >= 8; bits->count -= 8) {
		buffer_add_char(bits->out, (char)bits->held);
		bits->held >>= 8;
	}
}

/* The highest bit of a code goes first. */
static void put_code(struct bit_writer *bits, uint32_t code, unsigned count)
{
	uint32_t turned = 0;

	for (unsigned i = 0; i < count; i++)
		turned |= (code >> i & 1) << (count - 1 - i);
	put_deflate_bits(bits, turned, count);
}

static void put_symbol(struct bit_writer *bits, unsigned symbol)
{
	if (symbol < 144)
		put_code(bits, 0x30 + symbol, 8);
	else if (symbol < 256)
		put_code(bits, 0x190 + symbol - 144, 9);
	else if (symbol < 280)
		put_code(bits, symbol - 256, 7);
	else
		put_code(bits, 0xc0 + symbol - 280, 8);
}

static unsigned log2_of(uint32_t number)
{
	return 31 - (unsigned)__builtin_clz(number);
}

/* The symbols of lengths double their step every four, those of distances every two. */
static void put_match(struct bit_writer *bits, uint32_t length, uint32_t distance)
{
	unsigned extra;

	length -= 3;
	extra = length < 8 ? 0 : log2_of(length) - 2;
	if (length == LENGTH_MOST - 3) {
		put_symbol(bits, 285);
	} else {
		put_symbol(bits, 257 + (extra ? 4 * extra + 4 + (length >> extra & 3) : length));
		put_deflate_bits(bits, length & ((1U << extra) - 1), extra);
	}
	distance--;
	extra = distance < 4 ? 0 : log2_of(distance) - 1;
	put_code(bits, extra ? 2 * extra + 2 + (distance >> extra & 1) : distance, 5);
	put_deflate_bits(bits, distance & ((1U << extra) - 1), extra);
}

static uint32_t hash_of_three(const char *at)
{
	uint32_t four;

	memcpy(&four, at, sizeof four);
	return four * 2654435761U >> (32 - HASH_BITS);
}

static uint32_t match_length(const char *at, const char *earlier, const char *end)
{
	uint32_t length = 0;

	while (length < LENGTH_MOST && at + length < end && at[length] == earlier[length])
		length++;
	return length;
}

static void deflate_block(struct bit_writer *bits, const char *bytes, size_t size)
{
	uint32_t newest[1 << HASH_BITS] = {0}; /* where a hash was seen last, plus 1 */

	put_deflate_bits(bits, 3, 3); /* the last block, with fixed codes */
	for (size_t at = 0; at < size;) {
		uint32_t length = 0, distance = 0;

		if (size - at >= LENGTH_LEAST) {
			uint32_t *slot = &newest[hash_of_three(bytes + at)];

			distance = *slot ? (uint32_t)(at + 1 - *slot) : WINDOW_BYTES + 1;
			if (distance <= WINDOW_BYTES)
				length = match_length(bytes + at, bytes + at - distance, bytes + size);
			*slot = (uint32_t)at + 1;
		}
		if (length >= LENGTH_LEAST)
			put_match(bits, length, distance);
		else
			put_symbol(bits, (unsigned char)bytes[at]);
		for (uint32_t left = length < LENGTH_LEAST ? 1 : length; --left; at++)
			if (size - at > LENGTH_LEAST)
				newest[hash_of_three(bytes + at + 1)] = (uint32_t)at + 2;
		at++;
	}
	put_symbol(bits, END_OF_BLOCK);
	put_deflate_bits(bits, 0, 7);
}

static uint32_t crc_of(const char *bytes, size_t length)
{
	uint32_t table[16], crc = ~0U;

	for (uint32_t i = 0; i < 16; i++) {
		table[i] = i;
		for (int bit = 0; bit < 4; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	for (size_t i = 0; i < length; i++) {
		crc ^= (unsigned char)bytes[i];
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

static void put_u32(char *at, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		at[i] = (char)(number >> 8 * i);
}

void gzip_member_add(struct buffer *out, const char *bytes, size_t length, bool csv)
{
	struct bit_writer bits = {.out = out};
	size_t start = out->length;
	char tail[8] = "";

	buffer_add(out, HEAD, LENGTH_AT);
	buffer_add(out, tail, MEMBER_HEAD_BYTES - LENGTH_AT);
	deflate_block(&bits, bytes, length);
	put_u32(tail, crc_of(bytes, length));
	put_u32(tail + 4, (uint32_t)length);
	buffer_add(out, tail, sizeof tail);
	if (buffer_error(out))
		return;
	out->data[start + KIND_AT] = csv ? 'C' : 'J';
	put_u32(out->data + start + LENGTH_AT, (uint32_t)(out->length - start));
}

bool gzip_member_begins(const char *head, bool *ret_csv, int64_t *ret_length)
{
	char kind = head[KIND_AT], like[LENGTH_AT];
	int64_t length = 0;

	memcpy(like, HEAD, LENGTH_AT);
	like[KIND_AT] = kind;
	for (int i = 3; i >= 0; i--)
		length = length << 8 | (unsigned char)head[LENGTH_AT + i];
	if (memcmp(head, like, LENGTH_AT) != 0 || (kind != 'C' && kind != 'J') || length <= MEMBER_HEAD_BYTES)
		return false;
	*ret_csv = kind == 'C';
	*ret_length = length;
	return true;
}
