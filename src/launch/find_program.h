/*
 * Where a program of the house is: what a variable says if it is set; else beside the running program or library, or
 * in the libexec folder next to theirs; else in the folder it was configured to be installed in.
 */
#pragma once

#include <stddef.h>

#define HELPER_PROGRAM "resource-tracker-helper"
#define HELPER_VARIABLE "TRACKER_HELPER"
#define NET_PROGRAM "resource-tracker-net"
#define NET_VARIABLE "TRACKER_NET"

/* Returns 0, or -ENOENT (ret_path is then untouched). */
int find_house_program(const char *name, const char *variable, char *ret_path, size_t size);
