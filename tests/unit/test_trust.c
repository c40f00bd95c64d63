/* Tests of src/base/trust.c. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/trust.h"

#define ACCOUNTS \
	"root:x:0:0:root:/root:/bin/bash\n" \
	"alice:x:1000:1000::/home/alice:/bin/sh\n" \
	"bob:x:1001:1001::/home/bob:/bin/sh\n"

static bool is_private(uid_t user, gid_t group, const char *passwd, const char *groups)
{
	return is_private_group(user, group, passwd, strlen(passwd), groups, strlen(groups));
}

static void a_group_of_one_user_is_private(void **state)
{
	(void)state;
	assert_true(is_private(1000, 1000, ACCOUNTS, "root:x:0:\nalice:x:1000:\nbob:x:1001:\n"));
	assert_true(is_private(1000, 1000, ACCOUNTS, "alice:x:1000:alice"));
}

static void a_group_with_another_user_is_not_private(void **state)
{
	(void)state;
	assert_false(is_private(1000, 1000, ACCOUNTS, "alice:x:1000:bob\n"));
	assert_false(is_private(1000, 1000, ACCOUNTS, "alice:x:1000:alice,bob\n"));
	assert_false(is_private(1000, 1000, ACCOUNTS, "alice:x:1000:alic\n"));
	assert_false(is_private(1000, 1000, ACCOUNTS, "alice:x:1000:\nalso:x:1000:bob\n"));
	assert_false(is_private(1000, 1000, ACCOUNTS "carol:x:1002:1000::/:/bin/sh\n", "alice:x:1000:\n"));
	assert_false(is_private(1001, 1000, ACCOUNTS, "alice:x:1000:\n"));
}

static void an_unknown_group_or_user_is_not_private(void **state)
{
	(void)state;
	assert_false(is_private(1000, 1000, ACCOUNTS, "root:x:0:\n"));
	assert_false(is_private(1000, 1000, "root:x:0:0:root:/root:/bin/bash\n", "alice:x:1000:\n"));
	assert_false(is_private(1000, 1000, "", ""));
	assert_false(is_private(1000, 1000, "alice\n:::\nalice:x:1000\n", "alice:x:1000\n"));
}

static void ownership_and_modes_decide(void **state)
{
	struct stat status = {.st_uid = geteuid(), .st_gid = (gid_t)4000000, .st_mode = S_IFREG | 0644};

	(void)state;
	assert_true(is_under_our_control("/dev/null", &status));
	status.st_uid = 0;
	assert_true(is_under_our_control("/dev/null", &status));
	status.st_uid = geteuid() + 1;
	assert_false(is_under_our_control("/dev/null", &status));
	status.st_uid = geteuid();
	status.st_mode = S_IFREG | 0646;
	assert_false(is_under_our_control("/dev/null", &status));
	status.st_mode = S_IFREG | 0664;
	assert_false(is_under_our_control("/dev/null", &status));
}

static void an_ordinary_program_has_no_more_rights_than_its_caller(void **state)
{
	(void)state;
	assert_false(has_more_rights_than_caller());
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_of_one_user_is_private),
		cmocka_unit_test(a_group_with_another_user_is_not_private),
		cmocka_unit_test(an_unknown_group_or_user_is_not_private),
		cmocka_unit_test(ownership_and_modes_decide),
		cmocka_unit_test(an_ordinary_program_has_no_more_rights_than_its_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
