/* Tests of src/format/gzip_member.c: the bytes of a member, by RFC 1951 and RFC 1952, and the head that a file is searched for. */
#include "unit.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "format/gzip_member.h"

enum { TAIL_BYTES = 8 };

/* Returns the blocks of a member in hexadecimal digits. They begin with the bits of a last block with fixed codes. */
static const char *blocks_of(const char *text, size_t length)
{
	CLEANUP_BUFFER struct buffer packed = BUFFER(1 << 20);
	static char digits[1000];
	size_t used = 0;

	gzip_member_add(&packed, text, length, false);
	for (size_t i = MEMBER_HEAD_BYTES; i < packed.length - TAIL_BYTES; i++)
		used += (size_t)snprintf(digits + used, sizeof digits - used, "%02x",
					 (unsigned char)packed.data[i]);
	return digits;
}

static void assert_blocks(const char *text, const char *digits)
{
	assert_string_equal(blocks_of(text, strlen(text)), digits);
}

/* Bytes up to 143 take eight bits and the others nine. A copy takes four bytes at least. */
static void a_block_has_bytes_and_copies(void **state)
{
	(void)state;
	assert_blocks("", "0300");
	assert_blocks("\x8f\x90\xff~", "eb9ff0bf0e00");
	assert_blocks("abcdabcd", "4b4c4a4e016100");
	assert_blocks("abcabc", "4b4c4a4e4c4a0600");
	assert_blocks("abcdXabcde", "4b4c4a4e890011a900");
	/* The places inside a copy are remembered, too: the last four bytes come from there. */
	assert_blocks("abcdefgh.abcdefgh,cdefghi", "4b4c4a4e494d4bcfd083317420542600");
}

/* The sizes of runs: a byte of 8 bits, then a copy with its length and its distance, and 10 bits around them. */
static void the_length_of_a_copy_has_a_code_of_its_own(void **state)
{
	static const struct {
		size_t length;
		const char *digits;
	} CASES[] = {
		{5, "4b040100"},     {11, "4b440000"},      {14, "4b440100"},    {35, "4b240c00"},
		{115, "4ba43f0000"}, {116, "4b1c000000"},   {258, "4b1cf10000"}, {259, "4b1c0500"},
		{260, "4b1c058900"}, {300, "4b1c05440300"},
	};
	char text[300];

	(void)state;
	memset(text, 'a', sizeof text);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++)
		assert_string_equal(blocks_of(text, CASES[i].length), CASES[i].digits);
}

/* Returns the size of a member in which two words of eight bytes are this far apart. */
static size_t size_with_words_apart(size_t distance)
{
	CLEANUP_BUFFER struct buffer packed = BUFFER(1 << 20);
	static char text[33000];

	memset(text, 'x', sizeof text);
	memcpy(text, "abcdefgh", 8);
	memcpy(text + distance, "abcdefgh", 8);
	gzip_member_add(&packed, text, distance + 8, false);
	return packed.length - MEMBER_HEAD_BYTES - TAIL_BYTES;
}

/* The second word is 7 bits for its length, and 5 and 13 for its distance, or 64 bits of its own. */
static void a_copy_comes_from_32_kib_at_most(void **state)
{
	(void)state;
	assert_int_equal(size_with_words_apart(32767), 221);
	assert_int_equal(size_with_words_apart(32768), 221);
	assert_int_equal(size_with_words_apart(32769), 226);
	assert_int_equal(size_with_words_apart(16384), 118);
	assert_int_equal(size_with_words_apart(16385), 118);
}

/* The checksum of "123456789" is the check value of CRC-32. */
static void a_member_has_its_length_a_checksum_and_that_of_its_text(void **state)
{
	static const char MEMBER[] = "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x08\0RC\x04\0\x27\0\0\0"
				     "\x33\x34\x32\x36\x31\x35\x33\xb7\xb0\x04\0"
				     "\x26\x39\xf4\xcb\x09\0\0\0";
	CLEANUP_BUFFER struct buffer packed = BUFFER(1000), small = BUFFER(40);

	(void)state;
	buffer_add_text(&packed, "before");
	gzip_member_add(&packed, "123456789", 9, true);
	assert_int_equal(packed.length, 6 + sizeof MEMBER - 1);
	assert_memory_equal(packed.data, "before", 6);
	assert_memory_equal(packed.data + 6, MEMBER, sizeof MEMBER - 1);
	/* A buffer that is full stays as an error. */
	buffer_add_text(&small, "before");
	gzip_member_add(&small, "123456789", 9, true);
	assert_true(buffer_error(&small) < 0);
}

static void the_head_of_a_member_has_its_kind_and_its_length(void **state)
{
	CLEANUP_BUFFER struct buffer packed = BUFFER(1000);
	bool csv = true;
	int64_t length = 0;
	char head[MEMBER_HEAD_BYTES];

	(void)state;
	gzip_member_add(&packed, "x", 1, false);
	assert_true(gzip_member_begins(packed.data, &csv, &length));
	assert_true(!csv && length == (int64_t)packed.length);
	for (size_t i = 0; i < 16; i++) {
		memcpy(head, packed.data, sizeof head);
		head[i]++;
		assert_false(gzip_member_begins(head, &csv, &length));
	}
	memcpy(head, packed.data, sizeof head);
	head[13] = 'C';
	assert_true(gzip_member_begins(head, &csv, &length) && csv);
	/* It is longer than its head. */
	memcpy(head + 16, "\x14\0\0\0", 4);
	assert_false(gzip_member_begins(head, &csv, &length));
	memcpy(head + 16, "\x15\0\0\0", 4);
	assert_true(gzip_member_begins(head, &csv, &length) && length == 21);
	memcpy(head + 16, "\x01\x02\x83\xfe", 4);
	assert_true(gzip_member_begins(head, &csv, &length) && length == INT64_C(0xfe830201));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_has_bytes_and_copies),
		cmocka_unit_test(the_length_of_a_copy_has_a_code_of_its_own),
		cmocka_unit_test(a_copy_comes_from_32_kib_at_most),
		cmocka_unit_test(a_member_has_its_length_a_checksum_and_that_of_its_text),
		cmocka_unit_test(the_head_of_a_member_has_its_kind_and_its_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
