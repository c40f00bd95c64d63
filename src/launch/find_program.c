/* Finds the sister programs. See find_program.h. */
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
#include "launch/install_paths.h"

/*
 * The running binary is a program in bin, a library in lib or lib/x86_64-linux-gnu, or all are in one folder. pip puts the
 * library into lib/python3.11/site-packages/resource_tracker_native/lib (with --target DIR into DIR/resource_tracker_native/lib),
 * all programs but the helper into bin, and the helper into libexec.
 */
static const char *const NEAR_LIBEXEC[] = {"", "../libexec/resource-tracker/",
					   "../../libexec/resource-tracker/",
					   "../../../../../libexec/resource-tracker/", NULL};
static const char *const NEAR_BIN_OR_LIBEXEC[] = {
	"",           "../libexec/resource-tracker/", "../../libexec/resource-tracker/",
	"../../bin/", "../../../../../bin/",          NULL};
static const char *const NEAR_BIN[] = {"", "../../bin/", "../../../../../bin/", NULL};

const struct sister_program RECORDER_PROGRAM = {"resource-tracker", NULL, NEAR_BIN, BIN_DIR};
const struct sister_program ANALYSIS_PROGRAM = {"resource-tracker-analysis", NULL, NEAR_BIN_OR_LIBEXEC,
						LIBEXEC_DIR};
const struct sister_program NET_PROGRAM = {"resource-tracker-net", "TRACKER_NET", NEAR_BIN_OR_LIBEXEC,
					   LIBEXEC_DIR};
const struct sister_program HELPER_PROGRAM = {"resource-tracker-helper", "TRACKER_HELPER", NEAR_LIBEXEC,
					      LIBEXEC_DIR};

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static bool take_if_program(const char *path, char ret_path[static PATH_MAX])
{
	if (!is_program(path))
		return false;
	/* stat() refuses a longer one. */
	snprintf(ret_path, PATH_MAX, "%s", path);
	return true;
}

/* The owner of the running binary may run programs as this user anyway: so may root. */
static bool is_trusted_owner(uid_t owner, const struct stat *binary)
{
	return owner == 0 || owner == geteuid() || owner == binary->st_uid;
}

/* Whether more users may write to a file than to the running binary. */
static bool has_more_writers(const struct stat *file, const struct stat *binary)
{
	mode_t more = file->st_mode & ~binary->st_mode;

	return more & S_IWOTH || (file->st_mode & S_IWGRP &&
				  (more & S_IWGRP || file->st_gid != binary->st_gid) && file->st_gid != 0);
}

static bool is_shared_folder(const char *path, const struct stat *binary)
{
	struct stat folder;

	return stat(path, &folder) < 0 || !is_trusted_owner(folder.st_uid, binary) ||
	       folder.st_mode & S_IWOTH;
}

/*
 * A recorder may be run from a folder that everyone may write to, such as /tmp, where another user can put a program of
 * that name beside it: a file, a symbolic link, or a second name of any file.
 */
static bool is_planted_program(const char *path, bool in_shared_folder, const struct stat *binary)
{
	struct stat name, file;

	return lstat(path, &name) < 0 || stat(path, &file) < 0 || !is_trusted_owner(name.st_uid, binary) ||
	       !is_trusted_owner(file.st_uid, binary) || has_more_writers(&file, binary) ||
	       (in_shared_folder && name.st_nlink > 1);
}

/* Looks in one place, "" or "../libexec/resource-tracker/", seen from the folder of the binary. */
static bool find_in_place(const char *folder, const char *place, const struct sister_program *program,
			  const struct stat *binary, char ret_path[static PATH_MAX])
{
	bool shared = is_shared_folder(folder, binary);
	char path[PATH_MAX];

	/* Another user could exchange a folder on the way. */
	for (const char *slash = strchr(place, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(path, sizeof path, "%s%.*s", folder, (int)(slash - place), place);
		if (is_shared_folder(path, binary))
			return false;
		shared = false;
	}
	return snprintf(path, sizeof path, "%s%s%s", folder, place, program->name) < (int)sizeof path &&
	       !is_planted_program(path, shared, binary) && take_if_program(path, ret_path);
}

/* `binary` is the path of the program or library that this code is part of. */
static bool find_near(const char *binary, const struct sister_program *program,
		      char ret_path[static PATH_MAX])
{
	const char *slash = strrchr(binary, '/');
	char folder[PATH_MAX];
	struct stat status;

	if (!slash || binary[0] != '/' || stat(binary, &status) < 0)
		return false;
	snprintf(folder, sizeof folder, "%.*s", (int)(slash + 1 - binary), binary);
	for (const char *const *place = program->near_places; *place; place++)
		if (find_in_place(folder, *place, program, &status, ret_path))
			return true;
	return false;
}

static bool find_installed(const struct sister_program *program, char ret_path[static PATH_MAX])
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof path, "%s/%s", program->installed_in, program->name);

	return length < (int)sizeof path && take_if_program(path, ret_path);
}

/*
 * If this code is in a library, its path, else NULL. The dynamic linker names the program itself by argv[0], which is a
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

static bool find_beside(const struct sister_program *program, char ret_path[static PATH_MAX])
{
	const char *library = path_of_library();
	char path[PATH_MAX];
	ssize_t length;

	/* The library's own path comes first, because any program may load it. */
	if (library && find_near(library, program, ret_path))
		return true;
	length = readlink("/proc/self/exe", path, sizeof path - 1);
	if (length < 0)
		return false;
	path[length] = '\0';
	return find_near(path, program, ret_path);
}

int find_sister_program(const struct sister_program *program, char ret_path[static PATH_MAX])
{
	const char *given = program->variable ? secure_getenv(program->variable) : NULL;

	if (given && *given)
		return take_if_program(given, ret_path) ? 0 : -ENOENT;
	/* A privileged program may be a hard link in a folder whose other files an attacker wrote. */
	if (!has_more_rights_than_caller() && find_beside(program, ret_path))
		return 0;
	return find_installed(program, ret_path) ? 0 : -ENOENT;
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
