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
		/* Four at most. */
		{"{\"detail\":[{\"msg\":\"1\"},{\"msg\":\"2\"},{\"msg\":\"3\"},{\"msg\":\"4\"},{\"msg\":"
		 "\"5\"}]}",
		 ": 1; : 2; : 3; : 4"},
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

#define PLACED(run_id, prefix) \
	"{\"run_id\":\"" run_id "\",\"upload_uri_prefix\":\"" prefix "\",\"upload_credentials\":{" KEYS "}}"

/* Parts of addresses and headers hold no control character. Only names of objects may have blanks. */
static void characters_that_may_be_sent(void **state)
{
	static const struct {
		const char *answer;
		int result;
	} CASES[] = {
		{PLACED("!~", "s3://b/a b"), 0},           {PLACED("r", "s3://b/\xc3\xa4"), 0},
		{PLACED("a b", "s3://b"), -EBADMSG},       {PLACED("a\x7f", "s3://b"), -EBADMSG},
		{PLACED("\xc3\xa4", "s3://b"), -EBADMSG},  {PLACED("r", "s3://b/\x7f"), -EBADMSG},
		{PLACED("r", "s3://b/\\u001f"), -EBADMSG}, {PLACED("r", ""), -EBADMSG},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct registration registration = {0};

		assert_int_equal(parse(CASES[i].answer, &registration), CASES[i].result);
		registration_done(&registration);
	}
}

static void regions_of_an_answer_fit(void **state)
{
#define SIXTY_THREE "012345678901234567890123456789012345678901234567890123456789012"
	struct registration registration = {0};

	(void)state;
	assert_int_equal(parse(ANSWER(KEYS ",\"region\":\"" SIXTY_THREE "\""), &registration), 0);
	assert_string_equal(registration.credentials.region, SIXTY_THREE);
	registration_done(&registration);
	assert_int_equal(parse(ANSWER(KEYS ",\"region\":\"" SIXTY_THREE "3\""), &registration), 0);
	assert_string_equal(registration.credentials.region, "");
	registration_done(&registration);
}

static void new_keys_of_a_run(void **state)
{
	static const char GOOD[] = "{\"upload_credentials\":{" KEYS ",\"region\":\"auto\"}}";
	struct credentials credentials = {0};

	(void)state;
	assert_int_equal(parse_credentials(GOOD, strlen(GOOD), &credentials, &wrong), 0);
	assert_string_equal(credentials.access_key, "AK12");
	assert_string_equal(credentials.region, "auto");
	assert_false(credentials.expires);
	credentials_done(&credentials);
	assert_null(credentials.secret_key);
	assert_int_equal(parse_credentials("{}", 2, &credentials, &wrong), -EBADMSG);
	assert_string_equal(wrong, "the answer has no usable upload_credentials");
	assert_int_equal(parse_credentials("", 0, &credentials, &wrong), -EBADMSG);
	assert_string_equal(wrong, "the answer is not JSON");
}

static void an_object_as_one_line(void **state)
{
	static const char *const NONE[] = {"", "[1]", "1", "{\"a\":1,\"a\":2}", "{"};
	char *line = object_as_line("{ \"a\" :\n1 } and more", 12);

	(void)state;
	assert_string_equal(line, "{\"a\":1}");
	free(line);
	assert_null(object_as_line(NULL, 0));
	for (size_t i = 0; i < ARRAY_SIZE(NONE); i++)
		assert_null(object_as_line(NONE[i], strlen(NONE[i])));
}

static void assert_begins(const char *text, const char *start)
{
	if (strncmp(text, start, strlen(start)) != 0)
		fail_msg("%s begins not with %s", text, start);
}

/* A tag without a value has an empty one, an empty text is left out, and the program has the last word. */
static void texts_of_a_registration(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(4096);
	struct frame frame = {0};
	struct facts facts = {0};
	struct run_start_row *start;
	struct run_start_tag_row *tag;

	(void)state;
	frame_begin(&frame, 0, 0);
	frame.sample->job_name = "the job";
	write_start(&out, &frame, &facts, NULL);
	assert_begins(out.data, "{\"job_name\":\"the job\",\"host_id\":null,");
	start = ADD_ROW(&frame, run_start, NULL);
	start->command = "";
	tag = ADD_ROW(&frame, run_start_tag, &start->row);
	tag->name = "team";
	tag->value = "red";
	tag = ADD_ROW(&frame, run_start_tag, &start->row);
	tag->name = "bare";
	tag->value = no_text(ABSENT_NOT_COLLECTED);
	buffer_clear(&out);
	write_start(&out, &frame, &facts, NULL);
	assert_begins(out.data, "{\"job_name\":\"the job\",\"tags\":[{\"key\":\"team\",\"value\":\"red\"},"
				"{\"key\":\"bare\",\"value\":\"\"}],\"host_id\":null,");
	buffer_clear(&out);
	write_start(&out, &frame, &facts, "{\"job_name\":\"mine\",\"more\":1,\"tags\":[]}");
	assert_begins(out.data, "{\"job_name\":\"mine\",\"tags\":[],\"host_id\":null,");
	assert_non_null(strstr(out.data, ",\"more\":1}"));
	buffer_clear(&out);
	write_start(&out, &frame, &facts, "[\"no object\"]");
	assert_non_null(strstr(out.data, "the job"));
	frame_done(&frame);
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
	end->reason = "target_exited";
	read_outcome(&frame, 1, &outcome);
	assert_false(outcome.failed);
	end->reason = "tracker_stopped";
	read_outcome(&frame, 1, &outcome);
	assert_false(outcome.failed);
	end->reason = "target_lost";
	read_outcome(&frame, 1, &outcome);
	assert_true(outcome.failed);
	end->reason = no_text(ABSENT_NOT_COLLECTED);
	read_outcome(&frame, 1, &outcome);
	assert_true(outcome.failed);
	end->exit_code = 3;
	read_outcome(&frame, 1, &outcome);
	assert_true(outcome.failed && outcome.has_exit_code && outcome.exit_code == 3);
	/* No time at all: that of now. */
	frame.sample->timestamp = 1e12;
	read_outcome(&frame, 43, &outcome);
	assert_int_equal(outcome.finished_at_secs, 43);
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
		cmocka_unit_test(characters_that_may_be_sent),
		cmocka_unit_test(regions_of_an_answer_fit),
		cmocka_unit_test(new_keys_of_a_run),
		cmocka_unit_test(an_object_as_one_line),
		cmocka_unit_test(texts_of_a_registration),
		cmocka_unit_test(finishing),
		cmocka_unit_test(how_a_run_ended),
		cmocka_unit_test(a_registration_has_all_texts_about_the_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
