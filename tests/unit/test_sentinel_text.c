/* Tests of src/stream/sentinel_text.c: payloads and answers. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "metric/typed_rows.h"
#include "stream/sentinel_text.h"

static const char *wrong;

static int parse(const char *text, struct registration *ret_registration)
{
	return parse_registration(text, strlen(text), ret_registration, &wrong);
}

#define ANSWER(credentials) \
	"{\"run_id\":\"r-1\",\"upload_uri_prefix\":\"s3://b/" \
	"p\",\"unknown\":[1],\"upload_credentials\":{" credentials "}}"
#define KEYS "\"access_key\":\"AK12\",\"secret_key\":\"s/+k\",\"session_token\":\"t=\""

static void a_registration(void **state)
{
	struct registration registration = {0};

	(void)state;
	assert_int_equal(
		parse(ANSWER(KEYS ",\"region\":\"eu-west-1\",\"expires_at\":\"2026-04-01T14:00:00+02:00\""),
		      &registration),
		0);
	assert_string_equal(registration.run_id, "r-1");
	assert_string_equal(registration.uri_prefix, "s3://b/p");
	assert_string_equal(registration.credentials.secret_key, "s/+k");
	assert_string_equal(registration.credentials.session_token, "t=");
	assert_string_equal(registration.credentials.region, "eu-west-1");
	assert_true(registration.credentials.expires);
	assert_int_equal(registration.credentials.expires_at_secs, 1775044800);
	registration_done(&registration);
}

static void expiry_by_either_name(void **state)
{
	static const struct {
		const char *text;
		int64_t secs; /* 0: no known expiry */
	} CASES[] = {
		{ANSWER(KEYS ",\"expires_at\":\"2026-04-01T12:00:00Z\""), 1775044800},
		{ANSWER(KEYS ",\"expiration\":\"2026-04-01T12:00:00.5Z\""), 1775044800},
		{ANSWER(KEYS
			",\"expiration\":\"2026-04-01T13:00:00Z\",\"expires_at\":\"2026-04-01T12:00:00Z\""),
		 1775044800},
		{ANSWER(KEYS
			",\"expiration\":\"2026-04-01T12:00:00Z\",\"expires_at\":\"2026-04-01T13:00:00Z\""),
		 1775044800},
		{ANSWER(KEYS ",\"expiration\":null,\"expires_at\":\"2026-04-01T12:00:00Z\""), 1775044800},
		{ANSWER(KEYS), 0},
		{ANSWER(KEYS ",\"expires_at\":null"), 0},
		{ANSWER(KEYS ",\"expires_at\":\"soon\""), 0},
		{ANSWER(KEYS ",\"expires_at\":1775044800"), 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct registration registration = {0};

		assert_int_equal(parse(CASES[i].text, &registration), 0);
		assert_int_equal(registration.credentials.expires, CASES[i].secs != 0);
		assert_int_equal(registration.credentials.expires_at_secs, CASES[i].secs);
		registration_done(&registration);
	}
}

static void answer_parser_accepts_missing_optional_members(void **state)
{
	struct registration registration = {0};

	(void)state;
	/* Keys without an end, without a token, and a region that cannot be part of a host name. */
	assert_int_equal(
		parse(ANSWER("\"access_key\":\"AK12\",\"secret_key\":\"sk34\",\"session_token\":null,"
			     "\"region\":\"../x\""),
		      &registration),
		0);
	assert_null(registration.credentials.session_token);
	assert_string_equal(registration.credentials.region, "");
	registration_done(&registration);
}

static void answers_that_are_none(void **state)
{
	static const char *const WRONG[] = {
		"",
		"x",
		"[]",
		"{}",
		"{\"run_id\":\"\"}",
		"{\"run_id\":\"a b\",\"upload_uri_prefix\":\"s3://b\",\"upload_credentials\":{" KEYS "}}",
		"{\"run_id\":\"a\\u0000b\"}",
		"{\"run_id\":\"a\",\"upload_uri_prefix\":\"s3://b\\r\\nX: y\",\"upload_credentials\":{" KEYS
		"}}",
		"{\"run_id\":\"a\",\"upload_uri_prefix\":\"s3://b\"}",
		"{\"run_id\":\"a\",\"upload_uri_prefix\":\"s3://b\",\"upload_credentials\":[]}",
		ANSWER("\"access_key\":\"AK12\""),
		ANSWER("\"access_key\":\"AK12\",\"secret_key\":7"),
		ANSWER("\"access_key\":\"AK12\",\"secret_key\":\"sk\",\"session_token\":\"a\\nb\""),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
		struct registration registration = {.run_id = NULL};

		wrong = NULL;
		assert_int_equal(parse(WRONG[i], &registration), -EBADMSG);
		assert_non_null(wrong);
		assert_null(registration.run_id);
	}
}

static void refusal_text_leaves_out_the_refused_values(void **state)
{
	static const struct {
		const char *body, *detail;
	} CASES[] = {
		{"{\"detail\":\"Not found\"}", "Not found"},
		{"{\"detail\":[{\"loc\":[\"body\",\"tags\",0],\"msg\":\"Field "
		 "required\",\"input\":\"secret\"},"
		 "{\"loc\":[\"body\",\"pid\"],\"msg\":\"Extra\"}]}",
		 "body.tags.0: Field required; body.pid: Extra"},
		{"{\"detail\":{\"input\":\"secret\"}}", ""},
		{"{\"detail\":[1,{\"msg\":2}]}", ""},
		{"<html>secret</html>", ""},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		CLEANUP_BUFFER struct buffer out = BUFFER(1000);

		add_error_detail(&out, CASES[i].body, strlen(CASES[i].body));
		assert_string_equal(out.data ? out.data : "", CASES[i].detail);
	}
}

static void finishing(void **state)
{
	const struct run_outcome outcome = {true, true, true, 137, 1775044800};
	const struct run_outcome unknown = {.known = true, .finished_at_secs = 1775044800};
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);

	(void)state;
	write_finish_s3(&out, &outcome, "s3://b/p/", "r-1", 2);
	assert_string_equal(
		out.data,
		"{\"exit_code\":137,\"run_status\":\"failed\",\"finished_at\":\"2026-04-01T12:00:00Z\","
		"\"data_source\":\"s3\",\"data_uris\":[\"s3://b/p/r-1/000000.csv.gz\","
		"\"s3://b/p/r-1/000001.csv.gz\"]}");
	buffer_clear(&out);
	write_finish_inline(&out, &unknown, "a,b\n1,\"\n", 8);
	assert_string_equal(
		out.data,
		"{\"exit_code\":null,\"run_status\":\"finished\",\"finished_at\":\"2026-04-01T12:00:00Z\","
		"\"data_source\":\"inline\",\"data_csv\":\"a,b\\n1,\\\"\\n\"}");
}

static void how_a_run_ended(void **state)
{
	struct run_outcome outcome;
	struct run_end_row *end;
	struct frame frame = {0};

	(void)state;
	frame_begin(&frame, 0, 0);
	frame.sample->timestamp = 1775044800.75;
	read_outcome(&frame, 1, &outcome);
	assert_true(outcome.known && outcome.failed && !outcome.has_exit_code);
	assert_int_equal(outcome.finished_at_secs, 1775044800);
	end = ADD_ROW(&frame, run_end, NULL);
	end->reason = "signal";
	end->signal = 15;
	read_outcome(&frame, 1, &outcome);
	assert_true(outcome.failed && outcome.has_exit_code);
	assert_int_equal(outcome.exit_code, 143);
	end->signal = no_count(ABSENT_NOT_COLLECTED);
	end->exit_code = 0;
	read_outcome(&frame, 1, &outcome);
	assert_true(!outcome.failed && outcome.has_exit_code && outcome.exit_code == 0);
	end->exit_code = no_count(ABSENT_NOT_COLLECTED);
	end->reason = "duration";
	read_outcome(&frame, 1, &outcome);
	assert_true(!outcome.failed && !outcome.has_exit_code);
	read_outcome(NULL, 42, &outcome);
	assert_true(outcome.failed && outcome.finished_at_secs == 42);
	frame_done(&frame);
}

/* All texts come from one table: a text that is added there is sent without another line of code. */
static void a_registration_has_all_texts_about_the_job(void **state)
{
	static const char *const NAMES[] = {
#define JOB_SETTING(field, ...) #field,
#include "options/job_settings.def"
	};
	CLEANUP_BUFFER struct buffer out = BUFFER(4096);
	struct frame frame = {0};
	struct facts facts = {0};
	struct run_start_row *start;

	(void)state;
	frame_begin(&frame, 0, 0);
	start = ADD_ROW(&frame, run_start, NULL);
#define JOB_SETTING(field, ...) start->field = "the " #field;
#include "options/job_settings.def"
	write_start(&out, &frame, &facts, NULL);
	assert_true(ARRAY_SIZE(NAMES) >= 10);
	for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++) {
		char member[128];

		snprintf(member, sizeof member, "\"%s\":\"the %s\"", NAMES[i], NAMES[i]);
		assert_non_null(strstr(out.data, member));
	}
	frame_done(&frame);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_registration),
		cmocka_unit_test(expiry_by_either_name),
		cmocka_unit_test(answer_parser_accepts_missing_optional_members),
		cmocka_unit_test(answers_that_are_none),
		cmocka_unit_test(refusal_text_leaves_out_the_refused_values),
		cmocka_unit_test(finishing),
		cmocka_unit_test(how_a_run_ended),
		cmocka_unit_test(a_registration_has_all_texts_about_the_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
