/* begins_recording(): recordings of every format and version, and files that only look like one. */
#include <string.h>

#include "base/cleanup.h"
#include "format/csv_layout.h"
#include "format/is_recording.h"
#include "format/sample_format.h"
#include "unit.h"

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
		"timestamp,pid,price\n",
		"\"timestamp\",\"pid\",children\"\n",
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

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_recording_knows_samples_and_marks),
		cmocka_unit_test(begins_recording_knows_csv_of_every_layout),
	};

	return cmocka_run_group_tests_name("is_recording", tests, NULL, NULL);
}
