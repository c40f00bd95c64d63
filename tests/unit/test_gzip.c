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

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gzip_round_trip_restores_the_bytes),
		cmocka_unit_test(members_of_records_are_gzip),
		cmocka_unit_test(damage_is_seen),
		cmocka_unit_test(members_that_follow_each_other_are_one_text),
		cmocka_unit_test(a_ceiling_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
