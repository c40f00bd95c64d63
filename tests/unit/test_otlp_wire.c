/* Tests of src/format/otlp_wire.c: bytes of protocol buffers, by their encoding guide, and the fields of an answer. */
#include "unit.h"
#include "guarded.h"

#include <errno.h>

#include "base/cleanup.h"
#include "format/otlp_wire.h"

static void assert_bytes(struct buffer *out, const char *bytes, size_t length)
{
	assert_int_equal(out->length, length);
	assert_memory_equal(out->data, bytes, length);
	buffer_clear(out);
}

#define BYTES_ARE(out, text) assert_bytes(out, text, sizeof(text) - 1)

static void numbers_have_seven_bits_a_byte(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);

	(void)state;
	otlp_add_count(&out, 1, 0);
	BYTES_ARE(&out, "\x08\0");
	otlp_add_count(&out, 15, 127);
	BYTES_ARE(&out, "\x78\x7f");
	otlp_add_count(&out, 16, 128);
	BYTES_ARE(&out, "\x80\x01\x80\x01");
	otlp_add_count(&out, 1, 16383);
	BYTES_ARE(&out, "\x08\xff\x7f");
	otlp_add_count(&out, 1, UINT64_MAX);
	BYTES_ARE(&out, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	otlp_add_fixed64(&out, 2, UINT64_C(0x0102030405060708));
	BYTES_ARE(&out, "\x11\x08\x07\x06\x05\x04\x03\x02\x01");
	otlp_add_bytes(&out, 3, "a\0b", 3);
	BYTES_ARE(&out, "\x1a\x03"
			"a\0b");
}

static void an_attribute_has_a_value_of_its_type(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);

	(void)state;
	otlp_add_count_attribute(&out, 6, "k", -1);
	BYTES_ARE(&out, "\x32\x10\x0a\x01k\x12\x0b\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	otlp_add_real_attribute(&out, 6, "k", -2);
	BYTES_ARE(&out, "\x32\x0e\x0a\x01k\x12\x09\x21\0\0\0\0\0\0\0\xc0");
	otlp_add_flag_attribute(&out, 6, "k", true);
	BYTES_ARE(&out, "\x32\x07\x0a\x01k\x12\x02\x10\x01");
	otlp_add_flag_attribute(&out, 6, "k", false);
	BYTES_ARE(&out, "\x32\x07\x0a\x01k\x12\x02\x10\0");
	otlp_add_text_attribute(&out, 6, "", "");
	BYTES_ARE(&out, "\x32\x06\x0a\0\x12\x02\x0a\0");
}

/* The limit of a text is 64 KiB, whatever it cuts. */
static void a_long_text_is_cut(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 20);
	static char text[(64 << 10) + 2];
	struct otlp_field field;
	struct scan scan;

	(void)state;
	for (size_t more = 0; more < 2; more++) {
		memset(text, 'x', (64 << 10) + more);
		buffer_clear(&out);
		otlp_add_text(&out, 1, text);
		scan = scan_bytes(out.data, out.length);
		assert_int_equal(otlp_next_field(&scan, &field), 1);
		assert_int_equal(scan_left(&field.bytes), 64 << 10);
		assert_int_equal(scan_left(&scan), 0);
	}
	/* Half a character at the cut becomes '?'. */
	memcpy(text + (64 << 10) - 1, "\xc3\xa9", 2);
	buffer_clear(&out);
	otlp_add_text(&out, 1, text);
	assert_int_equal(out.data[out.length - 1], '?');
	assert_int_equal(out.data[out.length - 2], 'x');
}

static void a_full_buffer_stays_an_error(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(8);
	size_t start;

	(void)state;
	otlp_add_text(&out, 1, "12345678");
	assert_int_equal(buffer_error(&out), -ENOBUFS);
	buffer_done(&out);
	/* The content has room, but not its length. */
	out = BUFFER(8);
	start = otlp_open(&out, 1);
	buffer_add_text(&out, "1234567");
	assert_int_equal(buffer_error(&out), 0);
	otlp_close(&out, start);
	assert_int_equal(buffer_error(&out), -ENOBUFS);
	otlp_close(&out, start);
	assert_int_equal(buffer_error(&out), -ENOBUFS);
}

/* A field with this text, and all of it taken. */
static struct otlp_field field_of(const char *bytes, size_t length)
{
	struct scan scan = scan_bytes(bytes, length);
	struct otlp_field field;

	assert_int_equal(otlp_next_field(&scan, &field), 1);
	assert_int_equal(scan_left(&scan), 0);
	assert_int_equal(otlp_next_field(&scan, &field), 0);
	return field;
}

#define FIELD_OF(text) field_of(text, sizeof(text) - 1)

static void a_field_is_read_by_its_wire_type(void **state)
{
	struct otlp_field field;

	(void)state;
	field = FIELD_OF("\x78\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	assert_true(field.number == 15 && field.wire == WIRE_VARINT && field.value == UINT64_MAX);
	field = FIELD_OF("\x08\x80\x80\x01");
	assert_true(field.value == 16384);
	field = FIELD_OF("\x11\x08\x07\x06\x05\x04\x03\x02\xf1");
	assert_true(field.number == 2 && field.wire == WIRE_FIXED64 &&
		    field.value == UINT64_C(0xf102030405060708));
	field = FIELD_OF("\x15\x04\x03\x02\xf1");
	assert_true(field.number == 2 && field.wire == WIRE_FIXED32 && field.value == 0xf1020304);
	field = FIELD_OF("\x1a\x02hi");
	assert_true(field.number == 3 && field.wire == WIRE_BYTES && scan_is(&field.bytes, "hi"));
	field = FIELD_OF("\x1a\0");
	assert_true(scan_left(&field.bytes) == 0);
	field = FIELD_OF("\xf8\xff\xff\xff\x0f\x01");
	assert_true(field.number == 0x1fffffff);
}

static void damage_leaves_the_message_where_it_is(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
	} DAMAGED[] = {
		{"\x08", 1},
		{"\x08\x80", 2},
		{"\x11\x01\x02\x03\x04\x05\x06\x07", 8},
		{"\x15\x01\x02\x03", 4},
		{"\x1a\x03hi", 4},
		{"\x1a", 1},
		{"\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},
		{"\x02\0", 2},
		{"\x80\x80\x80\x80\x10\0", 6},
		{"\x0c", 1},
		{"\x0e\0", 2},
		{"\x0f\0", 2},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(DAMAGED); i++) {
		struct scan scan = scan_bytes(DAMAGED[i].bytes, DAMAGED[i].length);
		struct otlp_field field = {.number = 77};

		if (otlp_next_field(&scan, &field) != -EBADMSG || scan.at != DAMAGED[i].bytes ||
		    field.number != 77)
			fail_msg("row %zu", i);
	}
}

/* Opens the messages above the data of a metric, and closes those of before. */
static void open_data(struct buffer *out, unsigned data, size_t starts[4])
{
	starts[0] = otlp_open(out, 1);
	starts[1] = otlp_open(out, 2);
	starts[2] = otlp_open(out, 2);
	otlp_add_text(out, 1, "name");
	starts[3] = otlp_open(out, data);
}

static void close_data(struct buffer *out, const size_t starts[4])
{
	for (int i = 3; i >= 0; i--)
		otlp_close(out, starts[i]);
}

static void points_of_gauges_and_sums_are_counted(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(10000);
	static const unsigned DATA[] = {5, 7, 9, 7};
	size_t starts[4];

	(void)state;
	assert_int_equal(otlp_count_points("", 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(DATA); i++) {
		open_data(&out, DATA[i], starts);
		/* Two points, and fields that are none. */
		otlp_close(&out, otlp_open(&out, 1));
		otlp_add_count(&out, 2, 2);
		otlp_add_count(&out, 1, 2);
		otlp_add_text(&out, 5, "no point");
		otlp_add_text(&out, 1, "not looked into");
		close_data(&out, starts);
		/* A resource, and a scope, beside them. */
		otlp_add_text(&out, 2, "\x0a\x01x");
	}
	/* Histograms (9) have none that we send. */
	assert_int_equal(otlp_count_points(out.data, out.length), 6);
	/* Damage at the end of an inner message. */
	buffer_clear(&out);
	open_data(&out, 7, starts);
	buffer_add_char(&out, '\x0a');
	close_data(&out, starts);
	assert_int_equal(otlp_count_points(out.data, out.length), -EBADMSG);
}

#define assert_answer(bytes, wanted_rejected, wanted_text) \
	do { \
		int64_t rejected_ = -7; \
		struct scan text_; \
\
		assert_int_equal(otlp_parse_answer(bytes, sizeof(bytes) - 1, &rejected_, &text_), 0); \
		assert_int_equal(rejected_, wanted_rejected); \
		assert_true(*(wanted_text) ? scan_is(&text_, wanted_text) : !scan_left(&text_)); \
	} while (0)

static void an_answer_tells_of_points_that_were_refused(void **state)
{
	struct scan text = {NULL, NULL};
	int64_t rejected = 77;

	(void)state;
	assert_answer("\x0a\x08\x08\x96\x01\x12\x03why", 150, "why");
	assert_answer("\x0a\x02\x08\x05", 5, "");
	assert_answer("\x0a\x04\x12\x02no", 0, "no");
	assert_answer("\x0a\0", 0, "");
	/* Other fields, and those of another type, say nothing. */
	assert_answer("\x12\x02\x08\x05", 0, "");
	assert_answer("\x08\x05", 0, "");
	assert_answer("\x0a\x05\x0a\x03why", 0, "");
	assert_answer("\x0a\x02\x10\x05", 0, "");
	assert_answer("\x0a\x04\x1a\x02no\x12\x01x", 0, "");
	/* The last one counts. */
	assert_answer("\x0a\x02\x08\x05\x0a\x02\x08\x06", 6, "");
	assert_int_equal(otlp_parse_answer("\x0a\x02\x08\x05\x0a", 5, &rejected, &text), -EBADMSG);
	assert_int_equal(otlp_parse_answer("\x0a\x03\x08\x05\x12", 5, &rejected, &text), -EBADMSG);
	assert_true(rejected == 77 && !text.at);
}

static void fields_stay_in_their_message(void **state)
{
	static const char MESSAGE[] =
		"\x08\xff\xff\x01\x11\1\2\3\4\5\6\7\x08\x1a\x02hi\x25\1\2\3\4\x0a\x02\x08\x05";
	char *end = guarded_begin();

	(void)state;
	for (size_t length = 0; length < sizeof MESSAGE; length++) {
		const char *bytes = guarded_text(end, MESSAGE, length);
		struct scan scan = scan_bytes(bytes, length), text;
		struct otlp_field field;
		int64_t rejected = 0;
		int r;

		while ((r = otlp_next_field(&scan, &field)) > 0)
			;
		assert_true(r == 0 || r == -EBADMSG);
		assert_int_equal(otlp_count_points(bytes, length) < 0, r < 0);
		assert_int_equal(otlp_parse_answer(bytes, length, &rejected, &text), r);
		assert_int_equal(rejected, length == sizeof MESSAGE - 1 ? 5 : 0);
	}
	guarded_end(end);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_seven_bits_a_byte),
		cmocka_unit_test(an_attribute_has_a_value_of_its_type),
		cmocka_unit_test(a_long_text_is_cut),
		cmocka_unit_test(a_full_buffer_stays_an_error),
		cmocka_unit_test(a_field_is_read_by_its_wire_type),
		cmocka_unit_test(damage_leaves_the_message_where_it_is),
		cmocka_unit_test(points_of_gauges_and_sums_are_counted),
		cmocka_unit_test(an_answer_tells_of_points_that_were_refused),
		cmocka_unit_test(fields_stay_in_their_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
