/* Tests of src/format/otlp_run_text.c: the state of a run comes back from its text, and a damaged text is refused. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>

#include "format/otlp_series.h"

/* The places of the words of a text. */
enum { STEP = 1, EXTRAS, START, LAST, DUE, PENDING, KNOWN };
enum { SENT = KNOWN + OTLP_SLOT_WORDS, SHOWN = SENT + OTLP_SLOT_WORDS, VALUES = SHOWN + OTLP_SLOT_WORDS };
enum { DEVICES = VALUES + OTLP_SLOT_COUNT };

static struct otlp_run run, again;
static struct buffer text;

static int begin(void **state)
{
	(void)state;
	text = BUFFER(1 << 20);
	run = (struct otlp_run){
		.step_ns = 10, .extras = 3, .start_ns = 100, .last_ns = 200, .due_ns = 30, .pending = true};
	otlp_set_put(&run.known, 0, true);
	otlp_set_put(&run.sent, 1, true);
	otlp_set_put(&run.shown, OTLP_SLOT_COUNT - 1, true);
	run.values[0] = 1.0 / 3;
	run.values[OTLP_SLOT_COUNT - 1] = -5e300;
	run.devices.counts[OTLP_DISK] = 2;
	strcpy(run.devices.names[OTLP_DISK][0], "sda");
	strcpy(run.devices.names[OTLP_DISK][1], "a b\xff");
	run.devices.counts[OTLP_PROGRAM_NAME] = 1;
	memset(run.devices.names[OTLP_PROGRAM_NAME][0], 'x', OTLP_DEVICE_SIZE - 1);
	return 0;
}

static int end(void **state)
{
	(void)state;
	buffer_done(&text);
	return 0;
}

/* Reads the text of the run with another word at a place, and with `behind` after all of it. */
static int parse_with(int place, const char *word, const char *behind)
{
	struct buffer changed = BUFFER(1 << 20);
	const char *at;
	int result;

	buffer_clear(&text);
	otlp_run_format(&run, &text);
	at = text.data;
	for (int i = 0; i < place; i++)
		at = strchr(at, ' ') + 1;
	buffer_add(&changed, text.data, (size_t)(at - text.data));
	buffer_add_text(&changed, word);
	buffer_add_text(&changed, at + strcspn(at, " "));
	buffer_add_text(&changed, behind);
	result = otlp_run_parse(changed.data, changed.length, &again);
	buffer_done(&changed);
	return result;
}

static void a_run_comes_back(void **state)
{
	(void)state;
	otlp_run_format(&run, &text);
	assert_int_equal(otlp_run_parse(text.data, text.length, &again), 0);
	assert_memory_equal(&again, &run, sizeof run);
	/* Also one without a device, and with as many as there may be. */
	run.devices = (struct otlp_devices){0};
	for (size_t i = 0; i < OTLP_DEVICES_MOST; i++)
		snprintf(run.devices.names[OTLP_INTERFACE][i], OTLP_DEVICE_SIZE, "eth%zu", i);
	run.devices.counts[OTLP_INTERFACE] = OTLP_DEVICES_MOST;
	run.pending = false;
	run.extras = 0;
	buffer_clear(&text);
	otlp_run_format(&run, &text);
	assert_int_equal(otlp_run_parse(text.data, text.length, &again), 0);
	assert_memory_equal(&again, &run, sizeof run);
}

static void each_word_has_its_bounds(void **state)
{
	static const struct {
		int place;
		const char *word;
		bool good;
	} CASES[] = {
		{0, "1", false},
		{STEP, "0", true},
		{STEP, "-1", false},
		{EXTRAS, "0", true},
		{EXTRAS, "3", true},
		{EXTRAS, "4", false},
		{EXTRAS, "-1", false},
		{START, "1", true},
		{START, "0", false},
		{START, "200", true},
		{START, "201", false},
		{LAST, "100", true},
		{LAST, "99", false},
		{LAST, "4611686018427387903", true},
		{LAST, "4611686018427387904", false},
		{DUE, "-5", true},
		{DUE, "x", false},
		{PENDING, "0", true},
		{PENDING, "2", false},
		{KNOWN, "ffffffffffffffff", true},
		{KNOWN, "g", false},
		{SENT, "g", false},
		{SHOWN, "g", false},
		{VALUES, "7fefffffffffffff", true},
		{VALUES, "7ff0000000000000", false},
		{VALUES, "7ff8000000000000", false},
		{DEVICES - 1, "7ff8000000000000", false},
		{DEVICES, "24", false},
		{DEVICES, "x", false},
		{DEVICES + 1, "2f", true},
		{DEVICES + 1, "2", false},
		{DEVICES + 1, "2f2", false},
		{DEVICES + 1, "2f00", false},
		{DEVICES + 1, "2fx0", false},
		{DEVICES + 1, "2f0x", false},
		{DEVICES + 1, "2f1x", false},
		{DEVICES + 1, "2fx1", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
		if (parse_with(CASES[i].place, CASES[i].word, "") != (CASES[i].good ? 0 : -EBADMSG))
			fail_msg("word %d: %s", CASES[i].place, CASES[i].word);
}

/* A slot behind the last one has no series. */
static void only_slots_that_there_are_may_be_known(void **state)
{
	char word[32];

	(void)state;
	if (OTLP_SLOT_COUNT % 64 == 0)
		SKIP("each word of a set is full");
	snprintf(word, sizeof word, "%llx", 1ull << OTLP_SLOT_COUNT % 64);
	for (int place = KNOWN; place <= SHOWN; place += OTLP_SLOT_WORDS)
		assert_int_equal(parse_with(place + OTLP_SLOT_WORDS - 1, word, ""), -EBADMSG);
	snprintf(word, sizeof word, "%llx", (1ull << OTLP_SLOT_COUNT % 64) - 1);
	for (int place = KNOWN; place <= SHOWN; place += OTLP_SLOT_WORDS)
		assert_int_equal(parse_with(place + OTLP_SLOT_WORDS - 1, word, ""), 0);
}

static void a_name_has_63_bytes_at_most(void **state)
{
	char word[2 * OTLP_DEVICE_SIZE + 1];

	(void)state;
	memset(word, '2', sizeof word);
	word[2 * (OTLP_DEVICE_SIZE - 1)] = '\0';
	assert_int_equal(parse_with(DEVICES + 1, word, ""), 0);
	assert_int_equal(strlen(again.devices.names[OTLP_DISK][0]), OTLP_DEVICE_SIZE - 1);
	memset(word, '2', sizeof word);
	word[2 * OTLP_DEVICE_SIZE] = '\0';
	assert_int_equal(parse_with(DEVICES + 1, word, ""), -EBADMSG);
}

static void a_text_that_is_cut_or_goes_on_is_refused(void **state)
{
	struct otlp_run before = {.step_ns = 77};

	(void)state;
	again = before;
	otlp_run_format(&run, &text);
	assert_int_equal(otlp_run_parse(text.data, text.length - 2 * OTLP_DEVICE_SIZE, &again), -EBADMSG);
	assert_int_equal(otlp_run_parse(text.data, 0, &again), -EBADMSG);
	assert_int_equal(parse_with(0, "", ""), -EBADMSG);
	for (size_t length = 1; length < text.length - 2 * OTLP_DEVICE_SIZE; length += 97)
		assert_int_equal(otlp_run_parse(text.data, length, &again), -EBADMSG);
	assert_memory_equal(&again, &before, sizeof again);
	assert_int_equal(parse_with(STEP, "10", " 1"), -EBADMSG);
	assert_int_equal(parse_with(STEP, "10", "x"), -EBADMSG);
	assert_int_equal(parse_with(STEP, "10", ""), 0);
}

#define STATE_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		STATE_TEST(a_run_comes_back),
		STATE_TEST(each_word_has_its_bounds),
		STATE_TEST(only_slots_that_there_are_may_be_known),
		STATE_TEST(a_name_has_63_bytes_at_most),
		STATE_TEST(a_text_that_is_cut_or_goes_on_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
