/* Finds the sister programs; see find_program.h. */
#include "launch/find_program.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/trust.h"

/* The running binary is a program in bin, a library in lib or lib/x86_64-linux-gnu, or all are in one folder. */
static const char *const NEAR_LIBEXEC[] = {"", "../libexec/resource-tracker/",
					   "../../libexec/resource-tracker/", NULL};
static const char *const NEAR_BIN[] = {"", "../../bin/", NULL};

const struct sister_program RECORDER_PROGRAM = {"resource-tracker", NULL, NEAR_BIN, BIN_DIR};
const struct sister_program ANALYSIS_PROGRAM = {"resource-tracker-analysis", NULL, NEAR_LIBEXEC, LIBEXEC_DIR};
const struct sister_program NET_PROGRAM = {"resource-tracker-net", "TRACKER_NET", NEAR_LIBEXEC, LIBEXEC_DIR};
const struct sister_program HELPER_PROGRAM = {"resource-tracker-helper", "TRACKER_HELPER", NEAR_LIBEXEC,
					      LIBEXEC_DIR};

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static int take_if_program(const char *path, char ret_path[static PATH_MAX])
{
	size_t length = strlen(path);

	if (length >= PATH_MAX || !is_program(path))
		return -ENOENT;
	memcpy(ret_path, path, length + 1);
	return 0;
}

/* `binary` is the path of the program or library that this code is part of. */
static int find_near(const char *binary, const struct sister_program *program, char ret_path[static PATH_MAX])
{
	const char *slash = strrchr(binary, '/');
	char path[PATH_MAX];

	if (!slash || binary[0] != '/')
		return -ENOENT;
	for (const char *const *place = program->near_places; *place; place++) {
		int length = snprintf(path, sizeof path, "%.*s/%s%s", (int)(slash - binary), binary, *place,
				      program->name);

		if (length < (int)sizeof path && take_if_program(path, ret_path) == 0)
			return 0;
	}
	return -ENOENT;
}

static int find_installed(const struct sister_program *program, char ret_path[static PATH_MAX])
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof path, "%s/%s", program->installed_in, program->name);

	return length < (int)sizeof path ? take_if_program(path, ret_path) : -ENOENT;
}

/*
 * If this code is in a library, its path; else NULL. The dynamic linker names the program itself by argv[0], which is a
 * symbolic link if the program was started through one, and an attacker may write to the folder of that link.
 */
static const char *path_of_library(void)
{
	Dl_info here, main_program;

	if (!dladdr((const void *)(uintptr_t)find_sister_program, &here) || !here.dli_fname)
		return NULL;
	/* AT_PHDR: the program headers of the main program, which are mapped with it. */
	if (!dladdr((const void *)(uintptr_t)getauxval(AT_PHDR), &main_program) ||
	    main_program.dli_fbase == here.dli_fbase)
		return NULL;
	return here.dli_fname;
}

int find_sister_program(const struct sister_program *program, char ret_path[static PATH_MAX])
{
	const char *given = program->variable ? secure_getenv(program->variable) : NULL;
	const char *library;
	char path[PATH_MAX];
	ssize_t length;

	if (given && *given)
		return take_if_program(given, ret_path);
	/* A privileged program may be a hard link in a folder whose other files an attacker wrote. */
	if (has_more_rights_than_caller())
		return find_installed(program, ret_path);
	/* The library's own path comes first, because any program may load it. */
	library = path_of_library();
	if (library && find_near(library, program, ret_path) == 0)
		return 0;
	length = readlink("/proc/self/exe", path, sizeof path - 1);
	if (length > 0) {
		path[length] = '\0';
		if (find_near(path, program, ret_path) == 0)
			return 0;
	}
	return find_installed(program, ret_path);
}

bool is_on_path(const char *name)
{
	const char *list = getenv("PATH");

	while (list && *list) {
		CLEANUP_BUFFER struct buffer path = BUFFER(PATH_MAX);
		size_t length = strcspn(list, ":");

		buffer_add(&path, list, length);
		buffer_add_text(&path, length ? "/" : "./");
		buffer_add_text(&path, name);
		if (buffer_error(&path) == 0 && is_program(path.data))
			return true;
		list += length + (list[length] == ':');
	}
	return false;
}
