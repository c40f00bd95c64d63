/* Tests of src/kernel/sys_class_drm.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "kernel/sys_class_drm.h"

static int read_tree(const char *name, struct drm_card *ret_cards, int max)
{
	struct root root;
	char path[4096];
	int count;

	snprintf(path, sizeof path, "%s/%s", getenv("TEST_ROOTS"), name);
	assert_int_equal(root_open(&root, path, NULL), 0);
	count = read_sys_class_drm(&root, ret_cards, max);
	root_close(&root);
	return count;
}

static void cards_are_known_by_driver_and_address(void **state)
{
	struct drm_card cards[4];

	(void)state;
	assert_int_equal(read_tree("hand-made-gpu-i915-6.2/t0", cards, 4), 2);
	assert_int_equal(cards[0].render, 128);
	assert_string_equal(cards[0].address, "0000:00:02.0");
	assert_string_equal(cards[1].driver, "i915");
	assert_string_equal(cards[1].address, "0000:03:00.0");
	assert_int_equal(cards[1].card, 1);
	assert_int_equal(cards[1].vendor_id, 0x8086);
	assert_int_equal(cards[1].device_id, 0x56a0);
}

static void more_are_counted_than_fit(void **state)
{
	struct drm_card card = {.render = -7};

	(void)state;
	assert_int_equal(read_tree("hand-made-gpu-navi31-6.8/t0", &card, 1), 2);
	assert_int_equal(card.render, 128);
	assert_int_equal(read_tree("hand-made-gpu-navi31-6.8/t0", NULL, 0), 2);
	assert_int_equal(read_tree("hand-made-vm-3.10/t0", NULL, 0), -ENOENT);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cards_are_known_by_driver_and_address),
		cmocka_unit_test(more_are_counted_than_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
