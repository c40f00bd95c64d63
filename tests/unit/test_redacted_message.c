/* Tests of src/net/redacted_message.c: secrets are never shown. */
#include "unit.h"

#include <string.h>

#include "net/redacted_message.h"

static const char *redacted(struct buffer *out, const char *text, size_t limit)
{
	buffer_clear(out);
	add_redacted(out, text, strlen(text), limit);
	return out->data ? out->data : "";
}

static void secrets_are_replaced(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);

	(void)state;
	add_secret("hunter22");
	add_secret("hunter22-and-more");
	add_secret("abc"); /* too short to search for */
	add_secret(NULL);
	assert_string_equal(redacted(&out, "xhunter22y", 100), "x[redacted]y");
	assert_string_equal(redacted(&out, "hunter22-and-more hunter2", 100),
			    "[redacted] [redacted]"); /* cut at its end */
	assert_string_equal(redacted(&out, "hunter2 hun", 100), "hunter2 hun");
	assert_string_equal(redacted(&out, "abc", 100), "abc");
	forget_secret("other");
	assert_string_equal(redacted(&out, "hunter22hunter22", 100), "[redacted][redacted]");
}

static void whoever_it_belongs_to_a_bearer_token_is_replaced(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);

	(void)state;
	assert_string_equal(redacted(&out, "Authorization: Bearer eyJ.abc\"}", 100),
			    "Authorization: Bearer [redacted]\"}");
}

static void foreign_text_is_one_short_line(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);

	(void)state;
	assert_string_equal(redacted(&out, "\n a\r\n\tb\x1b[31m\x7f c", 100), "a b [31m c");
	assert_int_equal(strlen(redacted(&out, "0123456789", 4)), 4);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets_are_replaced),
		cmocka_unit_test(whoever_it_belongs_to_a_bearer_token_is_replaced),
		cmocka_unit_test(foreign_text_is_one_short_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
