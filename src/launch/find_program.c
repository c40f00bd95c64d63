/* Finds sister programs; see find_program.h. */
#include "launch/find_program.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/trust.h"

#ifndef LIBEXEC_DIR
#define LIBEXEC_DIR "/usr/local/libexec/resource-tracker"
#endif

static int take_if_there(const char *path, char *ret_path, size_t size)
{
	size_t length = strlen(path);

	if (length >= size || access(path, X_OK) < 0)
		return -ENOENT;
	memcpy(ret_path, path, length + 1);
	return 0;
}

/* `binary` is the path of the program or library that contains this code. */
static int find_near(const char *binary, const char *name, char *ret_path, size_t size)
{
	/* A program is in bin, a library in lib or lib/x86_64-linux-gnu, or all are in one folder. */
	static const char *const PLACES[] = {"", "../libexec/resource-tracker/",
					     "../../libexec/resource-tracker/"};
	const char *slash = strrchr(binary, '/');
	char path[PATH_MAX];

	if (!slash || binary[0] != '/')
		return -ENOENT;
	for (size_t i = 0; i < sizeof(PLACES) / sizeof(PLACES[0]); i++) {
		int length = snprintf(path, sizeof path, "%.*s/%s%s", (int)(slash - binary), binary,
				      PLACES[i], name);

		if (length < (int)sizeof path && take_if_there(path, ret_path, size) == 0)
			return 0;
	}
	return -ENOENT;
}

static int find_installed(const char *name, char *ret_path, size_t size)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof path, "%s/%s", LIBEXEC_DIR, name);

	return length < (int)sizeof path ? take_if_there(path, ret_path, size) : -ENOENT;
}

int find_house_program(const char *name, const char *variable, char *ret_path, size_t size)
{
	const char *given = secure_getenv(variable);
	char path[PATH_MAX];
	ssize_t length;
	Dl_info here;

	if (given && *given)
		return take_if_there(given, ret_path, size);
	/*
	 * Look beside the library first, because any program may use it. A privileged program may be a hard link
	 * in a folder whose other files an attacker wrote: do not look there.
	 */
	if (has_more_rights_than_caller())
		return find_installed(name, ret_path, size);
	if (dladdr((const void *)(uintptr_t)find_house_program, &here) && here.dli_fname &&
	    find_near(here.dli_fname, name, ret_path, size) == 0)
		return 0;
	length = readlink("/proc/self/exe", path, sizeof path - 1);
	if (length > 0) {
		path[length] = '\0';
		if (find_near(path, name, ret_path, size) == 0)
			return 0;
	}
	return find_installed(name, ret_path, size);
}
