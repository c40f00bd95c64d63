/* Tests of src/net/uri.c. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "net/uri.h"

static void bytes_are_encoded_once(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);
	static const char TEXT[] = "aZ9-._~/ +%\xc3\xa4!'()*";

	(void)state;
	uri_escape(&out, TEXT, strlen(TEXT), true);
	assert_string_equal(out.data, "aZ9-._~/%20%2B%25%C3%A4%21%27%28%29%2A");
	buffer_clear(&out);
	uri_escape(&out, "a/b", 3, false);
	assert_string_equal(out.data, "a%2Fb");
}

static void object_addresses(void **state)
{
	static const struct {
		const char *text, *bucket, *prefix;
	} GOOD[] = {
		{"s3://bucket/some/prefix", "bucket", "some/prefix"},
		{"s3://bucket/some/prefix/", "bucket", "some/prefix"},
		{"s3://b.u-c_k3t/x", "b.u-c_k3t", "x"},
		{"s3://bucket", "bucket", ""},
		{"s3://bucket/", "bucket", ""},
		{"s3://bucket//x//y/", "bucket", "/x//y"},
	};
	static const char *const WRONG[] = {
		"",
		"bucket/x",
		"http://bucket/x",
		"s3:/bucket",
		"s3:///x",
		"s3://buc ket/x",
		"s3://b:8080/x",
		"s3://a@b/x",
		"s3://b/a\nHost:",
		"S3://bucket/x",
		"s3://0123456789012345678901234567890123456789012345678901234567890123/x",
	};
	struct s3_uri uri;

	(void)state;
	for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
		assert_int_equal(parse_s3_uri(GOOD[i].text, strlen(GOOD[i].text), &uri), 0);
		assert_int_equal(uri.bucket_length, strlen(GOOD[i].bucket));
		assert_memory_equal(uri.bucket, GOOD[i].bucket, uri.bucket_length);
		assert_int_equal(uri.prefix_length, strlen(GOOD[i].prefix));
		assert_memory_equal(uri.prefix, GOOD[i].prefix, uri.prefix_length);
	}
	for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++)
		assert_int_equal(parse_s3_uri(WRONG[i], strlen(WRONG[i]), &uri), -EBADMSG);
}

static void addresses_of_servers(void **state)
{
	(void)state;
	assert_true(is_http_url("http://127.0.0.1:8080"));
	assert_true(is_http_url("HTTPS://host/path/"));
	assert_true(is_http_url("https://user:pass@host"));
	assert_true(is_http_url("http://[::1]:80"));
	assert_false(is_http_url("http://"));
	assert_false(is_http_url("http:///path"));
	assert_false(is_http_url("ftp://host"));
	assert_false(is_http_url("host"));
	assert_false(is_http_url("http://host/ path"));
	assert_false(is_http_url("http://host?x=1"));
	assert_false(is_http_url("http://host\r\nX: y"));
}

static const char *moved(struct buffer *out, const char *url, const char *base)
{
	buffer_clear(out);
	url_moved_to(out, url, base);
	return out->data;
}

static void addresses_can_be_moved(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);

	(void)state;
	assert_string_equal(moved(&out, "http://169.254.169.254/a?b=c", "http://127.0.0.1:1"),
			    "http://127.0.0.1:1/a?b=c");
	assert_string_equal(moved(&out, "http://169.254.169.254:80/a", "https://h/prefix//"),
			    "https://h/prefix/a");
	assert_string_equal(moved(&out, "http://169.254.169.254/a", NULL), "http://169.254.169.254/a");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_encoded_once),
		cmocka_unit_test(object_addresses),
		cmocka_unit_test(addresses_of_servers),
		cmocka_unit_test(addresses_can_be_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
