/* begins_recording(): recordings of every format and version, and files that only look like one. */
#include <string.h>

#include "base/cleanup.h"
#include "format/csv_layout.h"
#include "format/is_recording.h"
#include "format/sample_format.h"
#include "scratch.h"
#include "guarded.h"

static bool begins(const char *text)
{
	return begins_recording(text, strlen(text), true);
}

static void begins_recording_knows_samples_and_marks(void **state)
{
	static const char *const YES[] = {
		"{\"timestamp_secs\":1,\"cpu\":{},\"resource-tracker-version\":\"0.1.0\"}\n",
		"{\"timestamp_secs\": 1, \"resource-tracker-version\": \"0.1.0\"}\nmore\n",
		"[\n{\"timestamp_secs\":1,\"resource-tracker-version\":\"0.1.0\"},\n",
		"{\"timestamp_secs\":17000", /* cut off */
		"{\"timest",
		"{\"timestamp_ns\":1,\"monotonic_ns\":2,\"event\":\"start\",\"name\":\"x\"}\n",
		"{\"timestamp_ns\":1,\"monot",
		" [ {\t\"timestamp_secs\":1,\"resource-tracker-version\":\"0.1.0\"}]",
	};
	static const char *const NO[] = {
		"",
		"\n\n",
		"[",
		"{}",
		"{\"a\":1}\n",
		"{\"timestamp\":1,\"value\":2}\n",
		"{\"timestamp\":1,\"value\":2}",
		"{\n  \"timestamp\": 1\n}\n",
		"print(1)\n",
		"text {\"timestamp_secs\":1,\"resource-tracker-version\":\"0.1.0\"}\n",
		"[\n1,\n2]\n",
		" [ \n",
		"[[{\"timestamp_secs\":1,\"resource-tracker-version\":\"0.1.0\"}",
		"{\"timestamp_ns\":1,\"monotonic_ns\":2}\n",
		"{\"timestamp_ns\":1}",
		"{\"timestamp_secs\":17000\n",
		"{\"timestamp_secs\":17000\n{\"timest",
		"{\"time\":17000",
		"{x\"timestamp_secs\":17000",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(YES); i++)
		assert_true(begins(YES[i]));
	for (size_t i = 0; i < ARRAY_SIZE(NO); i++)
		assert_false(begins(NO[i]));
}

static void begins_recording_knows_csv_of_every_layout(void **state)
{
	static const char *const NO[] = {
		"timestamp,price,volume\n1700000000,1,2\n",
		"timestamp\n1700000000\n",
		"timestamp,pid\n",
		"1,2,3\n",
		"1700000000,2,3\n",
		"date,timestamp,processes,utime\n",
		"pid,children,utime\n",
		"timestamp_pid,children,utime\n",
		"timestamp,pid,price\n",
		"\"timestamp\",\"pid\",children\"\n",
		"\"timestamp\",\"pid\",\"children\n",
		"timestamp\",pid,children\n",
		"timestamp,,\",\n",
	};

	(void)state;
	for (size_t i = 0; i < CSV_LAYOUTS; i++) {
		CLEANUP_BUFFER struct buffer text = BUFFER(1 << 16);
		struct format_options options = {.header = true, .layout = CSV_LAYOUT[i].name};

		CSV_FORMAT.begin(&text, &options);
		assert_true(begins_recording(text.data, text.length, true));
		/* Without the header. */
		buffer_clear(&text);
		buffer_add_text(&text, "1700000000.125");
		for (size_t j = 1; j < CSV_LAYOUT[i].column_count; j++)
			buffer_add_text(&text, j % 2 ? "," : ",0.5");
		buffer_add_char(&text, '\n');
		assert_true(begins_recording(text.data, text.length, true));
	}
	for (size_t i = 0; i < ARRAY_SIZE(NO); i++)
		assert_false(begins(NO[i]));
	/* Three headings are enough. */
	assert_true(begins("timestamp,pid,children\n"));
	assert_true(begins("\"timestamp\",\"pid\",\"children\",price\n"));
}

/* A row of 12 cells without a header, which the layout "process" has. */
static bool begins_with_row(const char *first, const char *last)
{
	char row[200];

	snprintf(row, sizeof row, "%s,2,3,4,5,6,7,8,9,10,11%s\n", first, last);
	return begins(row);
}

static void a_row_has_a_time_and_numbers(void **state)
{
	(void)state;
	assert_true(begins_with_row("1700000000", ",12"));
	assert_true(begins_with_row("1e9", ","));
	assert_false(begins_with_row("999999999.9", ",12"));
	assert_false(begins_with_row("", ",12"));
	assert_false(begins_with_row("1700000000", ""));
	assert_false(begins_with_row("1700000000", ",12,13"));
	assert_false(begins_with_row("1700000000", ",x"));
	assert_false(begins_with_row("1700000000", ",12x"));
	assert_false(begins_with_row("x", ",12"));
}

/* A line that goes on behind the first 64 KiB has no end, which the end of a whole file is. */
static void only_the_end_of_the_file_ends_a_line(void **state)
{
	static const char CUT[] = "{\"timestamp_secs\":17000\n";
	static char text[64 << 10];
	int fd;

	(void)state;
	assert_false(begins_recording(CUT, sizeof CUT - 1, true));
	assert_true(begins_recording(CUT, sizeof CUT - 1, false));
	assert_false(begins_recording("", 0, false));
	memset(text, ' ', sizeof text);
	memcpy(text, CUT, sizeof CUT - 2);
	text[sizeof text - 1] = '\n';
	put_file("f", text, sizeof text);
	fd = open("f", O_RDWR | O_CLOEXEC);
	assert_true(is_recording(fd));
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
	/* One byte less, and the file is whole. */
	text[sizeof text - 2] = '\n';
	put_file("f", text, sizeof text - 1);
	assert_false(is_recording(fd));
	put_text("f", "");
	assert_false(is_recording(fd));
	close(fd);
	assert_false(is_recording(fd));
}

static bool file_holds_runs(const char *text, size_t length)
{
	int fd;
	bool holds;

	put_file("f", text, length);
	fd = open("f", O_RDONLY | O_CLOEXEC);
	holds = holds_run_lines(fd);
	close(fd);
	return holds;
}

static void holds_run_lines_knows_the_lines_of_runs(void **state)
{
	static const char *const YES[] = {
		"{\"schema\":1,\"id\":\"a\",\"outcome\":\"ok\"}\n",
		"{\"id\":\"a\",\"outcome\":\"ok\",\"schema\":1}",
		"other\n\n  {\"schema\":1,\"outcome\":\"ok\"}\n",
		/* Torn off. */
		"{ \"schema\": 1,\"id",
		"{\"sch",
		"other\n{\"schema\":1,\"id\":\"a",
	};
	static const char *const NO[] = {
		"",
		"\n \n",
		"{\"schema\":1,\"id\":\"a\"}\n",
		"{\"outcome\":\"ok\"}\n",
		"[{\"schema\":1,\"outcome\":\"ok\"}]\n",
		"\"schema\":1,\"outcome\":\"ok\"\n",
		"{\"schema\":1,\"id\nother\n",
		"{\"id\":1",
	};
	static char text[70000];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(YES); i++)
		if (!file_holds_runs(YES[i], strlen(YES[i])))
			fail_msg("%s", YES[i]);
	for (size_t i = 0; i < ARRAY_SIZE(NO); i++)
		if (file_holds_runs(NO[i], strlen(NO[i])))
			fail_msg("%s", NO[i]);
	/* The first 64 KiB tell. */
	memset(text, '\n', sizeof text);
	memcpy(text + 65000, YES[0], strlen(YES[0]));
	assert_true(file_holds_runs(text, sizeof text));
	memset(text, '\n', sizeof text);
	memcpy(text + 65600, YES[0], strlen(YES[0]));
	assert_false(file_holds_runs(text, sizeof text));
	assert_false(holds_run_lines(-1));
}

static void begins_recording_stays_in_its_bytes(void **state)
{
	static const char *const TEXTS[] = {
		" [ {\"timestamp_secs\": 1,\"resource-tracker-version\":\"0.1.0\"}\n",
		"{\"timestamp_ns\":1,\"event\":\"start\"}\n",
		"\"timestamp\",\"pid\",\"children\"\n",
		"1700000000,2,3,4,5,6,7,8,9,10,11,12",
	};
	char *end = guarded_begin();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(TEXTS); i++)
		for (size_t length = 0; length <= strlen(TEXTS[i]); length++) {
			const char *text = guarded_text(end, TEXTS[i], length);
			bool begun = begins_recording(text, length, false);

			if (length == strlen(TEXTS[i]))
				assert_true(begun && begins_recording(text, length, true));
			if (length == 0)
				assert_false(begun);
		}
	guarded_end(end);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_recording_knows_samples_and_marks),
		cmocka_unit_test(begins_recording_knows_csv_of_every_layout),
		cmocka_unit_test(a_row_has_a_time_and_numbers),
		cmocka_unit_test(begins_recording_stays_in_its_bytes),
		unit_test_in_scratch(only_the_end_of_the_file_ends_a_line),
		unit_test_in_scratch(holds_run_lines_knows_the_lines_of_runs),
	};

	return cmocka_run_group_tests_name("is_recording", tests, NULL, NULL);
}
