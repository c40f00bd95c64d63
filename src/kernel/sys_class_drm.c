/*
 * /sys/class/drm/renderD128/device/uevent
 *
 *   DRIVER=amdgpu
 *   PCI_ID=1002:73BF
 *   PCI_SLOT_NAME=0000:03:00.0
 */
#include "kernel/sys_class_drm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/runs_once.h"
#include "base/scan.h"

enum { RENDER_MAX = 64 };

/*
 * Drivers that report the use of their devices in sysfs or in the fdinfo of their clients. NVIDIA's own does
 * not.
 */
static const char *const DRIVERS[] = {
	"amdgpu", "radeon", "i915",    "xe",  "nouveau", "panfrost", "panthor",
	"lima",   "msm",    "msm_dpu", "v3d", "etnaviv", "asahi",
};

static bool is_known_driver(const char *driver)
{
	for (size_t i = 0; i < ARRAY_SIZE(DRIVERS); i++)
		if (strcmp(DRIVERS[i], driver) == 0)
			return true;
	return false;
}

static void take_pci_id(struct scan value, struct drm_card *card)
{
	uint64_t vendor, device;

	if (!scan_hex(&value, &vendor) || !scan_literal(&value, ":") || !scan_hex(&value, &device) ||
	    vendor > UINT16_MAX || device > UINT16_MAX)
		return;
	card->vendor_id = (int64_t)vendor;
	card->device_id = (int64_t)device;
}

static void parse_uevent(struct scan text, struct drm_card *card)
{
	struct scan line;

	while (scan_line(&text, &line)) {
		if (scan_literal(&line, "DRIVER="))
			scan_copy(&line, card->driver, sizeof card->driver);
		else if (scan_literal(&line, "PCI_ID="))
			take_pci_id(line, card);
		else if (scan_literal(&line, "PCI_SLOT_NAME=") ||
			 (!card->address[0] && scan_literal(&line, "OF_FULLNAME=")))
			scan_copy(&line, card->address, sizeof card->address);
	}
}

/* The cardN that stands beside the render node below its device. */
static int find_card(const struct root *root, int render)
{
	CLEANUP_ROOT_DIR struct root_dir dir = ROOT_DIR;
	char path[64];
	const char *name;

	snprintf(path, sizeof path, "sys/class/drm/renderD%d/device/drm", render);
	if (root_dir_open(root, path, &dir) < 0)
		return -1;
	while ((name = root_dir_next(&dir))) {
		struct scan text = scan_bytes(name, strlen(name));
		uint64_t number;

		if (scan_literal(&text, "card") && scan_u64(&text, &number) && !scan_left(&text) &&
		    number < INT32_MAX)
			return (int)number;
	}
	return -1;
}

static bool read_card(struct root *root, int render, struct drm_card *ret_card)
{
	struct drm_card card = {.card = -1, .render = render, .vendor_id = -1, .device_id = -1};
	ssize_t length = root_readf(root, "sys/class/drm/renderD%d/device/uevent", render);

	if (length < 0)
		return false;
	parse_uevent(scan_bytes(root->text.data, (size_t)length), &card);
	if (!is_known_driver(card.driver))
		return false;
	if (!card.address[0])
		snprintf(card.address, sizeof card.address, "renderD%d", render);
	card.card = find_card(root, render);
	*ret_card = card;
	return true;
}

static int compare_numbers(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int list_render_nodes(const struct root *root, int *ret_numbers, int max)
{
	CLEANUP_ROOT_DIR struct root_dir dir = ROOT_DIR;
	int error = root_dir_open(root, "sys/class/drm", &dir), count = 0;
	const char *name;

	if (error < 0)
		return error;
	while (count < max && (name = root_dir_next(&dir))) {
		struct scan text = scan_bytes(name, strlen(name));
		uint64_t number;

		if (scan_literal(&text, "renderD") && scan_u64(&text, &number) && !scan_left(&text) &&
		    number >= DRM_RENDER_FIRST && number < INT32_MAX)
			ret_numbers[count++] = (int)number;
	}
	qsort(ret_numbers, (size_t)count, sizeof(ret_numbers[0]), compare_numbers);
	return count;
}

RUNS_ONCE int read_sys_class_drm(struct root *root, struct drm_card *ret_cards, int max)
{
	int numbers[RENDER_MAX], found = 0;
	int nodes = list_render_nodes(root, numbers, RENDER_MAX);

	for (int i = 0; i < nodes; i++) {
		struct drm_card card;

		if (!read_card(root, numbers[i], &card))
			continue;
		if (found < max)
			ret_cards[found] = card;
		found++;
	}
	return nodes < 0 ? nodes : found;
}
