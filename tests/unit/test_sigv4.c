/*
 * Tests of src/stream/sigv4.c. The vectors were computed independently, by the chain that Amazon publishes.
 * tests/cli/test_net_follow.py has a server that verifies signatures.
 */
#include "unit.h"

#include <string.h>

#include "stream/sigv4.h"

static struct sigv4_request example(void)
{
	struct sigv4_request request = {
		.method = "PUT",
		.host = "examplebucket.s3.eu-central-1.amazonaws.com",
		.path = "/runs/r1/000000.csv.gz",
		.region = "eu-central-1",
		.access_key = "AKIAIOSFODNN7EXAMPLE",
		.secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		.session_token = "EXAMPLETOKEN",
		.date = "20260401T123456Z",
	};

	sha256_hex("hello", 5, request.body_hash);
	return request;
}

static void the_canonical_request(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(10000);
	struct sigv4_request request = example();
	char hex[SHA256_HEX_SIZE];

	(void)state;
	sigv4_canonical_request(&out, &request);
	sha256_hex(out.data, out.length, hex);
	assert_string_equal(hex, "e3d80493f9af01dc4c23f82b423b66e44d29fc568a2a64102ef3add56f44001a");
}

static void the_authorization(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(10000);
	struct sigv4_request request = example();

	(void)state;
	assert_int_equal(sigv4_authorization(&out, &request), 0);
	assert_string_equal(
		out.data,
		"AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20260401/eu-central-1/s3/aws4_request, "
		"SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, "
		"Signature=906bf760ff27400c86189fcfdce8f0f14e28974550022041c302e6fabf82dab9");
}

static void keys_without_a_token(void **state)
{
	CLEANUP_BUFFER struct buffer with = BUFFER(10000), without = BUFFER(10000);
	struct sigv4_request request = example();

	(void)state;
	assert_int_equal(sigv4_authorization(&with, &request), 0);
	request.session_token = NULL;
	assert_int_equal(sigv4_authorization(&without, &request), 0);
	assert_non_null(strstr(without.data, "SignedHeaders=host;x-amz-content-sha256;x-amz-date, "));
	assert_string_not_equal(strstr(with.data, "Signature="), strstr(without.data, "Signature="));
}

static void secrets_of_no_sane_length(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(10000);
	struct sigv4_request request = example();
	char secret[2000];

	(void)state;
	memset(secret, 'x', sizeof(secret) - 1);
	secret[sizeof(secret) - 1] = '\0';
	request.secret_key = secret;
	assert_true(sigv4_authorization(&out, &request) < 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_canonical_request),
		cmocka_unit_test(the_authorization),
		cmocka_unit_test(keys_without_a_token),
		cmocka_unit_test(secrets_of_no_sane_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
