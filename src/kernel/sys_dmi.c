/*
 * /sys/class/dmi/id/FILE, one trimmed line each
 *
 *   sys_vendor: Amazon EC2
 *   board_asset_tag: i-0123456789abcdef0
 */
#include "kernel/sys_dmi.h"

#include <fcntl.h>
#include <stddef.h>

#include "base/cleanup.h"

static const struct {
	const char *file;
	size_t offset;
} FIELDS[] = {
	{"sys_vendor", offsetof(struct sys_dmi, system_vendor)},
	{"product_name", offsetof(struct sys_dmi, product_name)},
	{"product_version", offsetof(struct sys_dmi, product_version)},
	{"board_vendor", offsetof(struct sys_dmi, board_vendor)},
	{"board_name", offsetof(struct sys_dmi, board_name)},
	{"board_asset_tag", offsetof(struct sys_dmi, board_asset_tag)},
	{"chassis_vendor", offsetof(struct sys_dmi, chassis_vendor)},
	{"chassis_asset_tag", offsetof(struct sys_dmi, chassis_asset_tag)},
	{"bios_vendor", offsetof(struct sys_dmi, bios_vendor)},
	{"bios_version", offsetof(struct sys_dmi, bios_version)},
};

int read_sys_dmi(struct root *root, struct sys_dmi *ret_dmi)
{
	CLEANUP_CLOSE int dir_fd = root_open_file(root, "sys/class/dmi/id", O_DIRECTORY);
	struct sys_dmi dmi = {0};

	if (dir_fd < 0)
		return dir_fd;
	for (size_t i = 0; i < ARRAY_SIZE(FIELDS); i++)
		(void)root_read_word_at(root, dir_fd, FIELDS[i].file, (char *)&dmi + FIELDS[i].offset,
					DMI_TEXT_SIZE);
	*ret_dmi = dmi;
	return 0;
}
