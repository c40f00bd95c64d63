/* Tests of src/kernel/sys_class_drm.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"

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

static void put_device(int render, const char *uevent)
{
	static const char *const FOLDERS[] = {"sys", "sys/class", "sys/class/drm"};
	char path[100];

	for (size_t i = 0; i < sizeof FOLDERS / sizeof FOLDERS[0]; i++)
		(void)mkdir(FOLDERS[i], 0755);
	snprintf(path, sizeof path, "sys/class/drm/renderD%d", render);
	(void)mkdir(path, 0755);
	snprintf(path, sizeof path, "sys/class/drm/renderD%d/device", render);
	(void)mkdir(path, 0755);
	snprintf(path, sizeof path, "sys/class/drm/renderD%d/device/uevent", render);
	put_text(path, uevent);
}

static int read_here(struct drm_card *ret_cards, int max)
{
	struct root root;
	int count;

	assert_int_equal(root_open(&root, ".", NULL), 0);
	count = read_sys_class_drm(&root, ret_cards, max);
	root_close(&root);
	return count;
}

/* Only drivers that report a use are listed. */
static void drivers_without_figures_are_left_out(void **state)
{
	static const char *const KNOWN[] = {"amdgpu",   "radeon",  "i915", "xe",  "nouveau",
					    "panfrost", "panthor", "lima", "msm", "msm_dpu",
					    "v3d",      "etnaviv", "asahi"};
	static const char *const OTHER[] = {"nvidia", "vgem", "ast", "amdgpu2", "amd", ""};
	struct drm_card card;
	char text[100];

	(void)state;
	for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
		snprintf(text, sizeof text, "DRIVER=%s\n", KNOWN[i]);
		put_device(128, text);
		assert_int_equal(read_here(&card, 1), 1);
		assert_string_equal(card.driver, KNOWN[i]);
	}
	for (size_t i = 0; i < sizeof OTHER / sizeof OTHER[0]; i++) {
		snprintf(text, sizeof text, "DRIVER=%s\n", OTHER[i]);
		put_device(128, text);
		assert_int_equal(read_here(&card, 1), 0);
	}
}

static void identities_are_of_pci_or_of_the_board(void **state)
{
	struct drm_card cards[3];

	(void)state;
	put_device(129, "DRIVER=v3d\nOF_FULLNAME=/soc/gpu@7ec0\nPCI_ID=1002:10000\n");
	put_device(128, "DRIVER=amdgpu\nPCI_ID=1002:FFFF\nOF_FULLNAME=/x\nPCI_SLOT_NAME=0000:03:00.0\n");
	put_device(191, "DRIVER=xe\nPCI_SLOT_NAME=0000:04:00.0\nOF_FULLNAME=/y\nPCI_ID=1002\n");
	assert_int_equal(read_here(cards, 3), 3);
	/* In the order of their numbers. */
	assert_int_equal(cards[0].render, 128);
	assert_string_equal(cards[0].address, "0000:03:00.0");
	assert_true(cards[0].vendor_id == 0x1002 && cards[0].device_id == 0xffff);
	assert_int_equal(cards[1].render, 129);
	assert_string_equal(cards[1].address, "/soc/gpu@7ec0");
	assert_true(cards[1].vendor_id < 0 && cards[1].device_id < 0);
	assert_int_equal(cards[2].render, 191);
	assert_string_equal(cards[2].address, "0000:04:00.0");
	assert_true(cards[2].vendor_id < 0);
	assert_true(cards[2].card < 0);
}

static void numbers_of_nodes_and_cards_have_their_limits(void **state)
{
	struct drm_card cards[4];

	(void)state;
	put_device(127, "DRIVER=xe\n");
	put_device(2147483646, "DRIVER=xe\nPCI_ID=FFFF:10000\n");
	put_device(2147483647, "DRIVER=xe\n");
	put_device(128, "DRIVER=xe\nPCI_ID=FFFF:FFFF\n");
	put_device(129, "DRIVER=xe\nPCI_ID=10000:1\n");
	put_below("sys/class/drm/renderD130x", "");
	put_below("sys/class/drm/renderD128/device/drm/card2147483647", "");
	put_below("sys/class/drm/renderD129/device/drm/card0", "");
	put_below("sys/class/drm/renderD2147483646/device/drm/cardx", "");
	put_below("sys/class/drm/renderD2147483646/device/drm/card2147483646", "");
	put_below("sys/class/drm/renderD2147483646/device/drm/card1-HDMI", "");
	assert_int_equal(read_here(cards, 4), 3);
	assert_int_equal(cards[0].render, 128);
	assert_true(cards[0].vendor_id == 0xffff && cards[0].device_id == 0xffff && cards[0].card == -1);
	assert_string_equal(cards[0].address, "renderD128");
	assert_int_equal(cards[1].render, 129);
	assert_true(cards[1].vendor_id == -1 && cards[1].device_id == -1 && cards[1].card == 0);
	assert_int_equal(cards[2].render, 2147483646);
	assert_true(cards[2].vendor_id == -1 && cards[2].device_id == -1 && cards[2].card == 2147483646);
}

/* A node without a device, or with an empty file, does not hide the next one. */
static void nodes_without_a_driver_are_passed_over(void **state)
{
	struct drm_card card;

	(void)state;
	put_below("sys/class/drm/renderD128/dev", "");
	put_device(129, "");
	put_device(130, "PCI_ID=1:2:3\nDRIVER=lima\n");
	assert_int_equal(read_here(&card, 1), 1);
	assert_int_equal(card.render, 130);
	assert_true(card.vendor_id == 1 && card.device_id == 2);
}

static void at_most_64_nodes_are_looked_at(void **state)
{
	struct drm_card card;

	(void)state;
	for (int render = 128; render < 128 + 66; render++)
		put_device(render, "DRIVER=xe\n");
	assert_int_equal(read_here(&card, 1), 64);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cards_are_known_by_driver_and_address),
		cmocka_unit_test(more_are_counted_than_fit),
		unit_test_in_scratch(drivers_without_figures_are_left_out),
		unit_test_in_scratch(identities_are_of_pci_or_of_the_board),
		unit_test_in_scratch(numbers_of_nodes_and_cards_have_their_limits),
		unit_test_in_scratch(nodes_without_a_driver_are_passed_over),
		unit_test_in_scratch(at_most_64_nodes_are_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
