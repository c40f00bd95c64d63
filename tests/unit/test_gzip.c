/* Tests of src/format/gzip.c. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "format/gzip.h"
#include "format/gzip_member.h"

static void compress_text(const char *text, size_t length, struct buffer *out)
{
	struct gzip gzip;

	assert_int_equal(gzip_open(&gzip, out), 0);
	assert_int_equal(gzip_add(&gzip, text, length / 2), 0);
	assert_int_equal(gzip_add(&gzip, text + length / 2, length - length / 2), 0);
	assert_int_equal(gzip_close(&gzip), 0);
}

static void gzip_round_trip_restores_the_bytes(void **state)
{
	static char text[300000];
	CLEANUP_BUFFER struct buffer packed = BUFFER(1 << 20), again = BUFFER(1 << 20),
				     plain = BUFFER(1 << 20);

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * i >> 7);
	compress_text(text, sizeof(text), &packed);
	compress_text(text, sizeof(text), &again);
	/* Equal rows give equal bytes, which contain neither a time nor a name. */
	assert_int_equal(packed.length, again.length);
	assert_memory_equal(packed.data, again.data, packed.length);
	assert_memory_equal(packed.data, "\x1f\x8b\x08\x00\x00\x00\x00\x00", 8);
	assert_true(begins_gzip(packed.data, 2));
	assert_false(begins_gzip(packed.data, 1));
	assert_false(begins_gzip("\x1f\x8c", 2));
	assert_int_equal(gunzip(packed.data, packed.length, &plain), 0);
	assert_int_equal(plain.length, sizeof(text));
	assert_memory_equal(plain.data, text, sizeof(text));
}

/* The same as gzip(1) makes, but for the system in its header. */
static void a_member_is_that_of_level_6(void **state)
{
	static unsigned char text[200000], wanted[200000];
	CLEANUP_BUFFER struct buffer packed = BUFFER(1 << 20);
	z_stream stream = {
		.next_in = text, .avail_in = sizeof text, .next_out = wanted, .avail_out = sizeof wanted};
	uint32_t random = 1;

	(void)state;
	for (size_t i = 0; i < sizeof text; i++) {
		random = random * 1103515245 + 12345;
		text[i] = (unsigned char)("etaoin shrdlu"[(random >> 24) % 13]);
		if (i > 40 && random >> 31)
			text[i] = text[i - 1 - (random >> 16) % 40];
	}
	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	compress_text((const char *)text, sizeof text, &packed);
	assert_int_equal(packed.length, stream.total_out);
	assert_memory_equal(packed.data, wanted, packed.length);
}

static void damage_is_seen(void **state)
{
	CLEANUP_BUFFER struct buffer packed = BUFFER(1 << 20), plain = BUFFER(1 << 20), small = BUFFER(1000);
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof(text));
	compress_text(text, sizeof(text), &packed);
	assert_int_equal(gunzip(packed.data, packed.length - 1, &plain), -EBADMSG);
	buffer_clear(&plain);
	assert_int_equal(gunzip("no gzip", 7, &plain), -EBADMSG);
	assert_int_equal(gunzip("", 0, &plain), -EBADMSG);
	assert_int_equal(gunzip(packed.data, packed.length, &small), -ENOBUFS);
	packed.data[packed.length - 6] ^= 1;
	buffer_clear(&plain);
	assert_int_equal(gunzip(packed.data, packed.length, &plain), -EBADMSG);
}

/* The recorder's own compression, read by zlib. */
static void members_of_records_are_gzip(void **state)
{
	static char text[100000];
	uint32_t random = 1;

	(void)state;
	for (size_t length = 0; length < sizeof text; length = length < 600 ? length + 1 : length * 2) {
		CLEANUP_BUFFER struct buffer packed = BUFFER(1 << 20), plain = BUFFER(1 << 20);
		int64_t told;
		bool csv;

		for (size_t i = 0; i < length; i++) {
			random = random * 1103515245 + 12345;
			/* Runs, copies from far away, and bytes above 143. */
			text[i] = (char)(random >> 24);
			if (i > 300 && random >> 30)
				text[i] = text[i - 1 - (random >> 16) % 300];
		}
		gzip_member_add(&packed, text, length, true);
		gzip_member_add(&packed, text, length, false);
		assert_true(gzip_member_begins(packed.data, &csv, &told) && csv);
		assert_true(gzip_member_begins(packed.data + told, &csv, &told) && !csv);
		assert_int_equal((size_t)told * 2, packed.length);
		assert_int_equal(gunzip(packed.data, packed.length, &plain), 0);
		assert_int_equal(plain.length, 2 * length);
		assert_memory_equal(plain.data, text, length);
		assert_memory_equal(plain.data + length, text, length);
	}
}

static void members_that_follow_each_other_are_one_text(void **state)
{
	CLEANUP_BUFFER struct buffer packed = BUFFER(1 << 20), plain = BUFFER(1 << 20);

	(void)state;
	compress_text("first, ", 7, &packed);
	compress_text("second", 6, &packed);
	assert_int_equal(gunzip(packed.data, packed.length, &plain), 0);
	assert_string_equal(plain.data, "first, second");
	buffer_clear(&plain);
	assert_int_equal(gunzip(packed.data, packed.length - 1, &plain), -EBADMSG);
	assert_string_equal(plain.data, "first, second");
}

static void a_ceiling_is_an_error(void **state)
{
	CLEANUP_BUFFER struct buffer packed = BUFFER(100);
	struct gzip gzip;

	(void)state;
	assert_int_equal(gzip_open(&gzip, &packed), 0);
	assert_int_equal(gzip_add(&gzip, "x", 1), -ENOBUFS);
	assert_int_equal(gzip_close(&gzip), -ENOBUFS);
}

/* The reader takes pieces of any size and gives pieces of any other. */
static void a_text_is_read_in_pieces(void **state)
{
	static const char TEXT[] = "first, second";
	CLEANUP_BUFFER struct buffer packed = BUFFER(1 << 20);
	size_t first;

	(void)state;
	compress_text(TEXT, 7, &packed);
	first = packed.length;
	compress_text(TEXT + 7, 6, &packed);
	for (size_t piece = 1; piece <= packed.length; piece += 7)
		for (size_t size = 1; size < 20; size += 6) {
			struct gunzip reader;
			char text[40] = "";
			size_t length = 0;

			assert_int_equal(gunzip_open(&reader), 0);
			assert_true(gunzip_needs_input(&reader));
			assert_int_equal(gunzip_read(&reader, text, sizeof text), 0);
			for (size_t at = 0; at < packed.length; at += piece) {
				size_t count = at + piece < packed.length ? piece : packed.length - at;

				gunzip_give(&reader, packed.data + at, count);
				assert_false(gunzip_needs_input(&reader));
				while ((count = gunzip_read(&reader, text + length, size)) > 0) {
					assert_true(count <= size);
					length += count;
				}
				assert_true(gunzip_needs_input(&reader));
				assert_int_equal(reader.in_member,
						 at + piece < packed.length && at + piece != first);
			}
			gunzip_close(&reader);
			assert_false(reader.damaged);
			assert_string_equal(text, TEXT);
		}
}

/* Nothing behind the damage is read, and all before it is. */
static void reading_stops_at_damage(void **state)
{
	CLEANUP_BUFFER struct buffer packed = BUFFER(1 << 20);
	struct gunzip reader;
	char text[40] = "";

	(void)state;
	compress_text("first", 5, &packed);
	buffer_add_text(&packed, "damage");
	compress_text("second", 6, &packed);
	assert_int_equal(gunzip_open(&reader), 0);
	gunzip_give(&reader, packed.data, packed.length);
	assert_int_equal(gunzip_read(&reader, text, sizeof text), 5);
	assert_int_equal(gunzip_read(&reader, text + 5, sizeof text - 5), 0);
	assert_true(reader.damaged);
	assert_int_equal(gunzip_read(&reader, text + 5, sizeof text - 5), 0);
	gunzip_close(&reader);
	assert_string_equal(text, "first");
}

/* Text that repeats itself takes little room, however long it is. */
static void repeated_text_is_small(void **state)
{
	static char text[600000];
	CLEANUP_BUFFER struct buffer packed = BUFFER(1 << 20), plain = BUFFER(1 << 20);

	(void)state;
	memset(text, 'x', sizeof text);
	compress_text(text, sizeof text, &packed);
	assert_true(packed.length > 18 && packed.length < 1000);
	assert_int_equal(gunzip(packed.data, packed.length, &plain), 0);
	assert_int_equal(plain.length, sizeof text);
	assert_int_equal(plain.data[plain.length], '\0');
	/* Nothing is a member of 20 bytes. */
	buffer_clear(&packed);
	compress_text("", 0, &packed);
	assert_int_equal(packed.length, 20);
	buffer_clear(&plain);
	assert_int_equal(gunzip(packed.data, packed.length, &plain), 0);
	assert_int_equal(plain.length, 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gzip_round_trip_restores_the_bytes),
		cmocka_unit_test(members_of_records_are_gzip),
		cmocka_unit_test(a_member_is_that_of_level_6),
		cmocka_unit_test(damage_is_seen),
		cmocka_unit_test(members_that_follow_each_other_are_one_text),
		cmocka_unit_test(a_ceiling_is_an_error),
		cmocka_unit_test(a_text_is_read_in_pieces),
		cmocka_unit_test(reading_stops_at_damage),
		cmocka_unit_test(repeated_text_is_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
