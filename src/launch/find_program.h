/*
 * Finds a sister program: in the path from a variable if that is set; else beside the running program or library,
 * or in the libexec folder next to them; else in the configured installation folder.
 */
#pragma once

#include <stddef.h>

#define HELPER_PROGRAM "resource-tracker-helper"
#define HELPER_VARIABLE "TRACKER_HELPER"
#define NET_PROGRAM "resource-tracker-net"
#define NET_VARIABLE "TRACKER_NET"

/* Returns 0 or -ENOENT. */
int find_house_program(const char *name, const char *variable, char *ret_path, size_t size);
