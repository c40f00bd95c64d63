/* /etc/os-release: the running distribution. */
#pragma once

#include <stddef.h>

#include "kernel/root.h"

/* "" if the file lacks it. */
struct os_release {
	char id[64];           /* "debian" */
	char version_id[64];   /* "12" */
	char name[128];        /* "Debian GNU/Linux" */
	char pretty_name[128]; /* "Debian GNU/Linux 12 (bookworm)" */
};

/* Returns 0, or -EBADMSG if no line is known (ret_release is then untouched). */
int parse_os_release(const char *bytes, size_t length, struct os_release *ret_release);
/* Falls back to /usr/lib/os-release. */
int read_os_release(struct root *root, struct os_release *ret_release);
