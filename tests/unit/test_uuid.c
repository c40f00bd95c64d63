/* Tests of src/base/uuid.c. */
#include "unit.h"

#include <string.h>

#include "base/uuid.h"

static void time_version_and_variant_are_in_their_places(void **state)
{
	const unsigned char zeros[UUID_RANDOM_BYTES] = {0};
	unsigned char ones[UUID_RANDOM_BYTES];
	char text[UUID_TEXT_BYTES];

	(void)state;
	memset(ones, 0xff, sizeof(ones));
	/* The example of RFC 9562, appendix A.6: 2022-02-22 19:22:22 UTC. */
	uuid7_text(0x017F22E279B0, zeros, text);
	assert_string_equal(text, "017f22e2-79b0-7000-8000-000000000000");
	uuid7_text(0x017F22E279B0, ones, text);
	assert_string_equal(text, "017f22e2-79b0-7fff-bfff-ffffffffffff");
}

static void two_are_never_the_same(void **state)
{
	char first[UUID_TEXT_BYTES], second[UUID_TEXT_BYTES];

	(void)state;
	uuid7_make(1000, first);
	uuid7_make(1000, second);
	assert_memory_equal(first, second, strlen("00000000-03e8-7"));
	assert_string_not_equal(first, second);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_version_and_variant_are_in_their_places),
		cmocka_unit_test(two_are_never_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
