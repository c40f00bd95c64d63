/* Tests of src/stream/s3.c: addresses, error documents and requests. With a real server: tests/cli/test_net_follow.py. */
#include "loopback.h"

#include <time.h>

#include "base/cleanup.h"
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

/* ---- requests --------------------------------------------------------------------------------------- */

#define ERROR_BODY(code) "<Error><Code>" code "</Code><Message>why</Message></Error>"

static struct loopback server;
static struct s3_store store;
static struct outcome outcome;

/* Stores an object in a bucket of a server that gives these answers. */
static void put_object(const char *region, const char *const answers[])
{
	char access_key[] = "AK12", secret_key[] = "sk34";
	struct credentials credentials = {.access_key = access_key, .secret_key = secret_key};
	struct patience patience = PATIENCE;
	struct http_client client;
	struct s3_uri uri;

	loopback_serve(&server, answers);
	assert_int_equal(parse_s3_uri("s3://b/p", 8, &uri), 0);
	assert_int_equal(http_open(&client, &patience), 0);
	store.http = &client;
	store.endpoint = server.url;
	snprintf(credentials.region, sizeof credentials.region, "%s", region);
	s3_put(&store, &uri, "r/000000.csv.gz", &credentials, "hello", 5, &outcome);
	http_close(&client);
	loopback_end(&server);
}

static int count_requests(void)
{
	int count = loopback_requests(&server);

	free(server.asked);
	return count;
}

static int forget_store(void **state)
{
	store = (struct s3_store){.region = ""};
	return scratch_enter(state);
}

static void an_object_is_put_with_its_length_and_region(void **state)
{
	(void)state;
	put_object("eu-x", (const char *const[]){ANSWER("200 OK", "", ""), NULL});
	assert_int_equal(outcome.verdict, VERDICT_DONE);
	assert_true(loopback_was_asked(&server, "PUT /b/p/r/000000.csv.gz HTTP/1.1\r\n"));
	assert_true(loopback_was_asked(&server, "\r\nHost: 127.0.0.1:"));
	assert_true(loopback_was_asked(&server, "Content-Length: 5\r\n"));
	assert_true(loopback_was_asked(&server, "\r\n\r\nhello"));
	assert_true(loopback_was_asked(&server, "Credential=AK12/"));
	assert_true(loopback_was_asked(&server, "/eu-x/s3/aws4_request"));
	/* SHA-256 of "hello", by sha256sum(1). */
	assert_true(loopback_was_asked(
		&server, "x-amz-content-sha256: "
			 "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\r\n"));
	assert_false(loopback_was_asked(&server, "x-amz-security-token"));
	assert_int_equal(count_requests(), 1);
}

static void refusals_are_told_apart(void **state)
{
	static const struct {
		const char *answer;
		enum verdict verdict;
	} CASES[] = {
		{ANSWER("400 Bad Request", "", ERROR_BODY("ExpiredToken")), VERDICT_EXPIRED},
		{ANSWER("400 Bad Request", "", ERROR_BODY("RequestExpired")), VERDICT_EXPIRED},
		{ANSWER("400 Bad Request", "", ERROR_BODY("SlowDown")), VERDICT_RETRY},
		{ANSWER("403 Forbidden", "", ERROR_BODY("Throttling")), VERDICT_RETRY},
		{ANSWER("400 Bad Request", "", ERROR_BODY("Throttling2")), VERDICT_REFUSED},
		{ANSWER("401 Unauthorized", "", ""), VERDICT_EXPIRED},
		{ANSWER("403 Forbidden", "", ERROR_BODY("AccessDenied")), VERDICT_EXPIRED},
		{ANSWER("402 Payment Required", "", ""), VERDICT_REFUSED},
		{ANSWER("404 Not Found", "", ERROR_BODY("NoSuchBucket")), VERDICT_REFUSED},
		{ANSWER("503 Slow", "", ""), VERDICT_RETRY},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		put_object("eu-x", (const char *const[]){CASES[i].answer, NULL});
		assert_int_equal(outcome.verdict, CASES[i].verdict);
		assert_int_equal(count_requests(), 1);
	}
	put_object("eu-x",
		   (const char *const[]){ANSWER("404 Not Found", "", ERROR_BODY("NoSuchBucket")), NULL});
	free(server.asked);
	assert_non_null(strstr(outcome.reason, "404"));
	assert_non_null(strstr(outcome.reason, ": NoSuchBucket: why"));
}

/* The region of an answer is used at once and from then on; the header counts more than the document. */
static void a_refusal_names_the_region(void **state)
{
	(void)state;
	put_object("eu-x",
		   (const char *const[]){ANSWER("301 Moved", "", "<Error><Region>eu-y</Region></Error>"),
					 ANSWER("400 Bad", "x-amz-bucket-region: eu-z\r\n",
						"<Error><Region>eu-y</Region></Error>"),
					 ANSWER("200 OK", "", ""), NULL});
	assert_int_equal(outcome.verdict, VERDICT_DONE);
	assert_string_equal(store.region, "eu-z");
	assert_true(loopback_was_asked(&server, "/eu-x/s3/"));
	assert_true(loopback_was_asked(&server, "/eu-y/s3/"));
	assert_true(loopback_was_asked(&server, "/eu-z/s3/"));
	assert_int_equal(count_requests(), 3);
	/* An answer with the same region, or with a wrong one, changes nothing. */
	put_object("eu-x",
		   (const char *const[]){ANSWER("400 Bad", "x-amz-bucket-region: eu-z\r\n", ""), NULL});
	assert_int_equal(outcome.verdict, VERDICT_REFUSED);
	assert_int_equal(count_requests(), 1);
	put_object("eu-x",
		   (const char *const[]){ANSWER("400 Bad", "x-amz-bucket-region: no region\r\n", ""), NULL});
	assert_int_equal(count_requests(), 1);
	assert_string_equal(store.region, "eu-z");
	/* A store that always names another one is not asked for ever. */
	put_object("eu-x", (const char *const[]){ANSWER("400 Bad", "x-amz-bucket-region: a\r\n", ""),
						 ANSWER("400 Bad", "x-amz-bucket-region: b\r\n", ""),
						 ANSWER("400 Bad", "x-amz-bucket-region: c\r\n", ""),
						 ANSWER("200 OK", "", ""), NULL});
	assert_int_equal(outcome.verdict, VERDICT_REFUSED);
	assert_int_equal(count_requests(), 3);
}

static void without_a_region_the_bucket_is_asked_once(void **state)
{
	(void)state;
	put_object("", (const char *const[]){ANSWER("500 Oh", "x-amz-bucket-region: eu-v\r\n", ""),
					     ANSWER("200 OK", "", ""), NULL});
	assert_true(loopback_was_asked(&server, "HEAD /b HTTP/1.1\r\n"));
	assert_true(loopback_was_asked(&server, "/eu-central-1/s3/"));
	assert_int_equal(count_requests(), 2);
	assert_false(store.asked_region); /* a failure says nothing */
	put_object("", (const char *const[]){ANSWER("403 No", "x-amz-bucket-region: eu-w\r\n", ""),
					     ANSWER("200 OK", "", ""), NULL});
	assert_true(loopback_was_asked(&server, "/eu-w/s3/"));
	assert_int_equal(count_requests(), 2);
	assert_true(store.asked_region);
	put_object("", (const char *const[]){ANSWER("200 OK", "", ""), NULL});
	assert_false(loopback_was_asked(&server, "HEAD"));
	assert_true(loopback_was_asked(&server, "/eu-w/s3/"));
	assert_int_equal(count_requests(), 1);
	store = (struct s3_store){.asked_region = true};
	put_object("", (const char *const[]){ANSWER("200 OK", "", ""), NULL});
	assert_true(loopback_was_asked(&server, "/eu-central-1/s3/"));
	assert_int_equal(count_requests(), 1);
}

/* A machine whose clock is years behind signs with the time of the store. */
static void the_clock_of_the_store_is_used(void **state)
{
	(void)state;
	put_object("eu-x",
		   (const char *const[]){ANSWER("403 Forbidden", "Date: Tue, 01 Apr 2036 12:00:00 GMT\r\n",
						ERROR_BODY("RequestTimeTooSkewed")),
					 ANSWER("200 OK", "", ""), NULL});
	assert_int_equal(outcome.verdict, VERDICT_DONE);
	assert_true(loopback_was_asked(&server, "x-amz-date: 20360401T12"));
	assert_true(llabs(store.clock_ahead_secs + time(NULL) - 2090664000) < 3600);
	assert_int_equal(count_requests(), 2);
	/* The date of another error leads to no second attempt. */
	put_object("eu-x", (const char *const[]){ANSWER("400 Bad", "Date: Tue, 01 Apr 2031 12:00:00 GMT\r\n",
							ERROR_BODY("InvalidDigest")),
						 NULL});
	assert_int_equal(outcome.verdict, VERDICT_REFUSED);
	assert_int_equal(count_requests(), 1);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(regions),
		cmocka_unit_test(errors),
		cmocka_unit_test_setup_teardown(an_object_is_put_with_its_length_and_region, forget_store,
						scratch_leave),
		cmocka_unit_test_setup_teardown(refusals_are_told_apart, forget_store, scratch_leave),
		cmocka_unit_test_setup_teardown(a_refusal_names_the_region, forget_store, scratch_leave),
		cmocka_unit_test_setup_teardown(without_a_region_the_bucket_is_asked_once, forget_store,
						scratch_leave),
		cmocka_unit_test_setup_teardown(the_clock_of_the_store_is_used, forget_store, scratch_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
