/* /sys/class/dmi/id: the firmware's description of this machine. */
#pragma once

#include "kernel/root.h"

enum { DMI_TEXT_SIZE = 128 };

/* "" if the firmware lacks it, or shows it only to root. Clouds put their names and ids here. */
struct sys_dmi {
	char system_vendor[DMI_TEXT_SIZE]; /* "Amazon EC2" */
	char product_name[DMI_TEXT_SIZE];  /* "m5.large" */
	char product_version[DMI_TEXT_SIZE];
	char board_vendor[DMI_TEXT_SIZE];
	char board_name[DMI_TEXT_SIZE];
	char board_asset_tag[DMI_TEXT_SIZE]; /* "i-0123456789abcdef0" */
	char chassis_vendor[DMI_TEXT_SIZE];
	char chassis_asset_tag[DMI_TEXT_SIZE];
	char bios_vendor[DMI_TEXT_SIZE];
	char bios_version[DMI_TEXT_SIZE];
};

/* Returns 0, or -ENOENT on machines without DMI (most ARM boards, small virtual machines). */
int read_sys_dmi(struct root *root, struct sys_dmi *ret_dmi);
