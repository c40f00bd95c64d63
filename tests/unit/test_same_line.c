/* Tests of src/record/same_line.c: whatever differs from the last line, the frame is as if the line had been decoded alone. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/json_encode.h"
#include "metric/typed_rows.h"
#include "record/same_line.h"

struct reading {
	struct json_decoder decoder;
	struct same_line same;
	struct frame frame;
	int hits;
	char *end; /* of the memory for a line, behind which nothing can be read */
};

enum { ROOM = 1 << 16 };

static void begin_reading(struct reading *reading)
{
	struct metric_set wanted = {0};

	metric_set_add_kind(&wanted, ROW_sample);
	metric_set_add_kind(&wanted, ROW_tree);
	metric_set_add_kind(&wanted, ROW_cpu_core);
	metric_set_add_kind(&wanted, ROW_disk);
	metric_set_add_kind(&wanted, ROW_limits);
	metric_set_add_kind(&wanted, ROW_run_start_tag);
	*reading = (struct reading){0};
	reading->end =
		(char *)mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) +
		ROOM;
	assert_int_equal(mprotect(reading->end, ROOM, PROT_NONE), 0);
	json_decoder_init(&reading->decoder, &wanted);
	same_line_begin(&reading->same, &reading->decoder);
	frame_begin(&reading->frame, 0, 0);
}

static void end_reading(struct reading *reading)
{
	same_line_done(&reading->same, &reading->decoder);
	json_decoder_done(&reading->decoder);
	frame_done(&reading->frame);
	munmap(reading->end - ROOM, 2 * ROOM);
}

/* As a recording is read, but every line that was decoded is remembered. */
static bool read_line(struct reading *reading, struct scan line)
{
	if (same_line_read(&reading->same, line, &reading->frame)) {
		reading->hits++;
		/* Readers complete the frame. The next line must not see it. */
		reading->frame.sample->elapsed_secs = -1;
		reading->frame.sample->host = "completed";
		return true;
	}
	reading->same.known = false;
	reading->same.misses = reading->same.passed = 0;
	frame_begin(&reading->frame, 0, 0);
	if (!json_decoder_read(&reading->decoder, line, &reading->frame))
		return false;
	same_line_remember(&reading->same, &reading->decoder, line, &reading->frame);
	return true;
}

static void assert_as_alone(struct reading *reading, const char *text)
{
	CLEANUP_BUFFER struct buffer ours = BUFFER(1 << 20), alone = BUFFER(1 << 20);
	size_t length = strlen(text);
	struct scan line = scan_bytes(memcpy(reading->end - length, text, length), length);
	struct json_decoder decoder;
	struct frame frame = {0};
	bool good, read;
	int hits = reading->hits;

	json_decoder_init(&decoder, &reading->decoder.wanted);
	frame_begin(&frame, 0, 0);
	good = json_decoder_read(&decoder, line, &frame);
	write_frame_json(&alone, &frame, false);
	read = read_line(reading, line);
	if (read != good)
		fail_msg("%s: %s", text, read ? "taken" : "refused");
	if (good) {
		if (reading->hits > hits) {
			/* Undo what the reader completed. */
			frame_image_put(&reading->same.image, &reading->frame);
		}
		write_frame_json(&ours, &reading->frame, false);
		assert_string_equal(ours.data, alone.data);
	}
	json_decoder_done(&decoder);
	frame_done(&frame);
}

#define HEAD "{\"timestamp\":1.5,\"elapsed_secs\":1.0,\"host\":\"a\",\"job_name\":\"job\","

static void changed_values_are_those_of_the_line(void **state)
{
	static const struct {
		const char *text;
		bool hit;
	} LINES[] = {
		{HEAD "\"cpu\":{\"per_core_pct\":[1.0,2],\"process_rss_mib\":7.5},\"new\":{\"x\":[1,\"t\"]}}",
		 false},
		{HEAD
		 "\"cpu\":{\"per_core_pct\":[100.0,2],\"process_rss_mib\":7.5},\"new\":{\"x\":[1,\"t\"]}}",
		 true},
		{HEAD
		 "\"cpu\":{\"per_core_pct\":[10,null],\"process_rss_mib\":null},\"new\":{\"x\":[1,\"t\"]}}",
		 true},
		{HEAD "\"cpu\":{\"per_core_pct\":[-1e3,22],\"process_rss_mib\":75},\"new\":{\"x\":[12,"
		      "\"longer\"]}}",
		 true},
		{HEAD
		 "\"cpu\":{\"per_core_pct\":[-1e3,22],\"process_rss_mib\":1e99},\"new\":{\"x\":[12,\"l\"]}}",
		 true},
		{HEAD "\"cpu\":{\"per_core_pct\":[-1e3,22],\"process_rss_mib\":true},\"new\":{\"x\":[12,"
		      "\"l\\\"\"]}}",
		 true},
		/* An element, a name and an object more. */
		{HEAD
		 "\"cpu\":{\"per_core_pct\":[-1e3,22,3],\"process_rss_mib\":1},\"new\":{\"x\":[12,\"l\"]}}",
		 false},
		{HEAD
		 "\"cpu\":{\"per_core_pct\":[-1e3,22,3],\"process_rss_mib\":1},\"new\":{\"y\":[12,\"l\"]}}",
		 false},
		{HEAD
		 "\"cpu\":{\"per_core_pct\":[-1e3,22,3],\"process_rss_mib\":1},\"new\":{\"y\":[{},\"l\"]}}",
		 false},
		{HEAD
		 "\"cpu\":{\"per_core_pct\":[-1e3,22,3],\"process_rss_mib\":1},\"new\":{\"y\":[{},\"l\"]}} ",
		 false},
		/* One value twice: the last one wins, so it is decoded. */
		{HEAD "\"cpu\":{\"process_rss_mib\":1,\"process_rss_mib\":2}}", false},
		{HEAD "\"cpu\":{\"process_rss_mib\":3,\"process_rss_mib\":2}}", false},
		/* A text fits into the room of the last one, or is decoded. */
		{HEAD "\"disk\":[{\"device\":\"sda\",\"model\":\"A long name\"}]}", false},
		{HEAD "\"disk\":[{\"device\":\"sdb\",\"model\":\"short\"}]}", true},
		{HEAD "\"disk\":[{\"device\":\"sdb\",\"model\":null}]}", true},
		{HEAD "\"disk\":[{\"device\":\"\",\"model\":\"A long name\"}]}", true},
		{HEAD "\"disk\":[{\"device\":\"sda\",\"model\":\"Too long a name\"}]}", false},
		{HEAD "\"disk\":[{\"device\":\"s\\u0064a\",\"model\":\"Too long a name\"}]}", false},
		/* A time that is none, and half a line. */
		{"{\"timestamp\":2.5,\"host\":\"a\"}", false},
		{"{\"timestamp\":3.5,\"host\":\"b\"}", true},
		{"{\"timestamp\":null,\"host\":\"b\"}", false},
		{"{\"timestamp\":3.5,\"host\":\"b\"", false},
	};
	struct reading reading;

	(void)state;
	begin_reading(&reading);
	for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
		int hits = reading.hits;

		assert_as_alone(&reading, LINES[i].text);
		if ((reading.hits > hits) != LINES[i].hit)
			fail_msg("line %zu was %s", i, LINES[i].hit ? "decoded" : "not decoded");
	}
	end_reading(&reading);
}

/* Lines with some bytes changed, taken out or put in: values, names, punctuation. The generator is that of POSIX's rand(). */
static void any_change_gives_the_frame_of_the_line_alone(void **state)
{
	static const char LINE[] = HEAD
		"\"tracked_pid\":12,\"cpu\":{\"per_core_pct\":[1.0,22.25,3],\"process_rss_mib\":7.5,"
		"\"process_child_count\":3,\"process_cpu_source\":\"cgroup\"},\"disk\":[{\"device\":"
		"\"sda\",\"model\":\"A\"}],\"limits\":{\"cpu_limit_cores\":null},\"run_start\":{\"tags\":"
		"{\"team\":\"blue\"}},\"other\":{\"a\":[1,{\"b\":\"c,d\"}]}}";
	static const char BYTES[] = "0123456789.,:\"\\{}[]-enul ab";
	struct reading reading;
	uint32_t seed = 1;
	char text[sizeof LINE + 8];

	(void)state;
	begin_reading(&reading);
	for (int i = 0; i < 60000; i++) {
		size_t length = sizeof LINE - 1;
		int changes;

		memcpy(text, LINE, sizeof LINE);
		seed = seed * 1103515245 + 12345;
		changes = (int)(seed >> 16) % 4;
		for (int c = 0; c < changes; c++) {
			size_t at;
			char byte;

			seed = seed * 1103515245 + 12345;
			at = (seed >> 8) % length;
			seed = seed * 1103515245 + 12345;
			byte = BYTES[(seed >> 16) % (sizeof BYTES - 1)];
			if (seed >> 28 < 5) {
				memmove(text + at, text + at + 1, length - at);
				length--;
			} else if (seed >> 28 < 10) {
				memmove(text + at + 1, text + at, length - at + 1);
				text[at] = byte;
				length++;
			} else {
				text[at] = byte;
			}
		}
		assert_as_alone(&reading, text);
	}
	assert_true(reading.hits > 1000);
	end_reading(&reading);
}

/* Up to 17 digits, half of the time with a point among or behind them. */
static void add_digits(struct buffer *out, uint32_t *seed)
{
	size_t length = 1 + (*seed = *seed * 1103515245 + 12345) / 65536 % 17,
	       point = (*seed >> 8) % (2 * length);

	buffer_clear(out);
	for (size_t i = 0; i < length; i++) {
		*seed = *seed * 1103515245 + 12345;
		buffer_add_char(out, (char)('0' + *seed / 65536 % 10));
		if (i == point)
			buffer_add_char(out, '.');
	}
}

/* Gives a value to fields of each type, and to one that is not wanted. */
static void assert_value_as_alone(struct reading *reading, const char *value)
{
	char line[512];

	snprintf(line, sizeof line,
		 HEAD
		 "\"cpu\":{\"per_core_pct\":[%s,%s],\"process_child_count\":%s,\"process_cpu_source\":%s},"
		 "\"new\":{\"x\":%s,\"y\":[%s]},\"version\":\"of any length\"}",
		 value, value, value, value, value, value);
	assert_as_alone(reading, line);
}

static void a_number_is_the_one_that_the_decoder_reads(void **state)
{
	static const char FORMS[] =
		"0 -1 007 1. 1.5.5 1e3 1.5e-3 -0.0 null true 12a +1 0.1234567 1.0 12345678 "
		"123456789.87654321 "
		"1.0000000000000001 9007199254740993 1234567.12345678 999999999999999 999999999999999.9 "
		"1000000000000000 1000000000000001 0.000000000000001 123456789012345.123456789012345";
	struct scan forms = scan_bytes(FORMS, strlen(FORMS)), form;
	CLEANUP_BUFFER struct buffer value = BUFFER(64);
	struct reading reading;
	uint32_t seed = 1;
	int lines = 0;

	(void)state;
	begin_reading(&reading);
	for (; lines < 20000; lines++) {
		add_digits(&value, &seed);
		if (scan_word(&forms, &form)) {
			buffer_clear(&value);
			buffer_add(&value, form.at, scan_left(&form));
		}
		buffer_add_char(&value, '\0');
		assert_value_as_alone(&reading, value.data);
	}
	/* All but those that are decoded to be remembered. */
	assert_int_equal(lines - reading.hits, 1 + lines / 4097);
	end_reading(&reading);
}

/* A value that has changed once is read in each line until the line is remembered afresh. */
static void a_line_is_not_remembered_forever(void **state)
{
	struct reading reading;
	char text[512];
	int decoded = 0;

	(void)state;
	begin_reading(&reading);
	for (int i = 0; i < 10000; i++) {
		int hits = reading.hits;

		snprintf(text, sizeof text,
			 HEAD "\"cpu\":{\"per_core_pct\":[%d.0,2],\"process_rss_mib\":%d}}", i, i > 5000);
		assert_as_alone(&reading, text);
		decoded += reading.hits == hits;
		assert_true(reading.same.changing_count < (i > 5000 && i < 8194 ? 3 : 2));
	}
	assert_int_equal(decoded, 3);
	end_reading(&reading);
}

static bool remembers(struct reading *reading, const struct buffer *line)
{
	assert_true(read_line(reading, scan_bytes(line->data, line->length)));
	return reading->same.known;
}

/* A line of so many values, all but the first in a list that is not wanted. */
static void write_values(struct buffer *line, size_t count)
{
	buffer_clear(line);
	buffer_add_text(line, "{\"timestamp\":1.5,\"new\":[");
	for (size_t i = 1; i < count; i++)
		buffer_add_text(line, i > 1 ? ",1" : "1");
	buffer_add_text(line, "]}");
}

static void a_line_of_up_to_16384_values_is_remembered(void **state)
{
	static const size_t COUNTS[] = {2, 512, 513, 8192, 16384};
	CLEANUP_BUFFER struct buffer line = BUFFER(1 << 20);
	struct reading reading;

	(void)state;
	begin_reading(&reading);
	for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++) {
		write_values(&line, COUNTS[i]);
		assert_true(remembers(&reading, &line));
		assert_int_equal(reading.same.place_count, COUNTS[i]);
	}
	write_values(&line, 16385);
	assert_false(remembers(&reading, &line));
	/* Blanks and brackets of all kinds are between values. */
	buffer_clear(&line);
	buffer_add_text(&line,
			" {\t\"timestamp\" :\r1.5 ,\n\"new\": [ 1,[-2,[ ]],{\"b\" : \"c\"} , {},null\t] } ");
	assert_true(remembers(&reading, &line));
	assert_int_equal(reading.same.place_count, 5);
	end_reading(&reading);
}

/* Each value of 300 disks has a field of its own. A value that is given twice is decoded. */
static void fields_of_many_rows_are_told_apart(void **state)
{
	CLEANUP_BUFFER struct buffer line = BUFFER(1 << 20);
	struct reading reading;

	(void)state;
	begin_reading(&reading);
	for (int twice = -1; twice < 300; twice += twice < 0 ? 1 : 23) {
		buffer_clear(&line);
		buffer_add_text(&line, "{\"timestamp\":1.5,\"disk\":[");
		for (int i = 0; i < 300; i++)
			buffer_printf(&line,
				      "%s{\"device\":\"%d\",\"model\":\"m\",\"read_bytes_total\":%d%s}",
				      i ? "," : "", i, i, i == twice ? ",\"model\":\"n\"" : "");
		buffer_add_text(&line, "]}");
		assert_true(remembers(&reading, &line) == (twice < 0));
	}
	end_reading(&reading);
}

/* Where no line is like the last one remembered, one more line is passed over before the next one, 64 at most. */
static void lines_that_are_remembered_in_vain_become_rare(void **state)
{
	struct reading reading;
	const char text[] = HEAD "\"cpu\":{\"process_rss_mib\":7.5}}";
	struct scan line = scan_bytes(text, sizeof text - 1);
	int next = 0, passed = 0;

	(void)state;
	begin_reading(&reading);
	assert_true(json_decoder_read(&reading.decoder, line, &reading.frame));
	for (int i = 0; i < 5000; i++) {
		same_line_remember(&reading.same, &reading.decoder, line, &reading.frame);
		assert_int_equal(reading.same.known, i == next);
		if (i == next) {
			passed = passed < 64 ? passed + 1 : 64;
			next += passed + 1;
		}
	}
	/* A line that is read shows that it was not in vain. */
	reading.same.known = true;
	assert_true(same_line_read(&reading.same, line, &reading.frame));
	assert_int_equal(reading.same.misses, 0);
	end_reading(&reading);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changed_values_are_those_of_the_line),
		cmocka_unit_test(any_change_gives_the_frame_of_the_line_alone),
		cmocka_unit_test(a_number_is_the_one_that_the_decoder_reads),
		cmocka_unit_test(a_line_is_not_remembered_forever),
		cmocka_unit_test(a_line_of_up_to_16384_values_is_remembered),
		cmocka_unit_test(fields_of_many_rows_are_told_apart),
		cmocka_unit_test(lines_that_are_remembered_in_vain_become_rare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
