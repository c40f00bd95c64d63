/* Tests of src/stream/s3.c: addresses and error documents. Requests: tests/cli/test_net_follow.py, with a real server. */
#include "unit.h"

#include <string.h>

#include "stream/s3.h"

/* ---- addresses -------------------------------------------------------------------------------------- */

static const char *url_of(struct buffer *out, const char *endpoint, const char *region, const char *uri,
			  const char *name)
{
	struct s3_uri parsed;

	assert_int_equal(parse_s3_uri(uri, strlen(uri), &parsed), 0);
	buffer_clear(out);
	s3_url(out, endpoint, region, &parsed, name);
	return out->data;
}

static void addresses(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);

	(void)state;
	assert_string_equal(url_of(&out, NULL, "eu-west-1", "s3://bucket/a b/c", "run/000000.csv.gz"),
			    "https://bucket.s3.eu-west-1.amazonaws.com/a%20b/c/run/000000.csv.gz");
	assert_string_equal(url_of(&out, NULL, "cn-north-1", "s3://bucket", "x"),
			    "https://bucket.s3.cn-north-1.amazonaws.com.cn/x");
	/* A certificate fits no host name with more dots. */
	assert_string_equal(url_of(&out, NULL, "eu-west-1", "s3://my.bucket/p", "x"),
			    "https://s3.eu-west-1.amazonaws.com/my.bucket/p/x");
	assert_string_equal(url_of(&out, "http://127.0.0.1:9000/", "eu-west-1", "s3://bucket/p//q", "x"),
			    "http://127.0.0.1:9000/bucket/p//q/x");
	assert_string_equal(url_of(&out, "https://h/minio", "eu-west-1", "s3://my.bucket/p", "x"),
			    "https://h/minio/my.bucket/p/x");
	assert_string_equal(url_of(&out, NULL, "us-east-1", "s3://bucket/p", ""),
			    "https://bucket.s3.us-east-1.amazonaws.com/");
	assert_string_equal(url_of(&out, "http://h", "us-east-1", "s3://bucket/p", ""), "http://h/bucket");
}

static void regions(void **state)
{
	(void)state;
	assert_true(s3_is_region("eu-central-1"));
	assert_true(s3_is_region("auto"));
	assert_false(s3_is_region(""));
	assert_false(s3_is_region("eu central"));
	assert_false(s3_is_region("x.evil.example/"));
	assert_false(s3_is_region("0123456789012345678901234567890123456789012345678901234567890123"));
}

/* ---- error documents -------------------------------------------------------------------------------- */

static void errors(void **state)
{
	static const char DOCUMENT[] =
		"<?xml version='1.0'?>\n<Error><Code>AuthorizationHeaderMalformed</Code>"
		"<Message>expecting 'eu-central-1'</Message><Region>eu-central-1</Region></Error>";
	struct s3_error error;

	(void)state;
	s3_parse_error(DOCUMENT, strlen(DOCUMENT), &error);
	assert_string_equal(error.code, "AuthorizationHeaderMalformed");
	assert_string_equal(error.message, "expecting 'eu-central-1'");
	assert_string_equal(error.region, "eu-central-1");
	for (size_t length = 0; length < strlen(DOCUMENT); length++)
		s3_parse_error(DOCUMENT, length, &error);
	s3_parse_error("<Code>", 6, &error);
	assert_string_equal(error.code, "");
	s3_parse_error("<Region>../evil</Region>", 24, &error);
	assert_string_equal(error.region, "");
	s3_parse_error(NULL, 0, &error);
	assert_string_equal(error.code, "");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(regions),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
