/* Finds the folder where samples wait for upload. See spool_folder.h. */
#include "sink/spool_folder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_place.h"
#include "base/runs_once.h"
#include "base/trust.h"
#include "launch/in_time.h"

/* As mkdir -p. */
static int make_spool_folders(char *path)
{
	for (char *slash = path + 1;; slash++) {
		char kept;

		slash += strcspn(slash, "/");
		kept = *slash;
		*slash = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
		*slash = kept;
		if (!kept)
			return 0;
	}
}

/*
 * Checks the folders that we appended to the first `base_length` bytes of a path. Another user who controls one of
 * them could read the waiting samples, or add batches of another job. A link must belong to this user as well.
 */
static int check_folders(const char *path, size_t base_length)
{
	CLEANUP_FREE char *folder = strdup(path);
	struct stat status;

	if (!folder)
		return -ENOMEM;
	for (size_t length = strlen(folder); length > base_length; length--) {
		if (folder[length] != '\0' && folder[length] != '/')
			continue;
		folder[length] = '\0';
		if (lstat(folder, &status) < 0)
			return -errno;
		if (S_ISLNK(status.st_mode) && status.st_uid != geteuid() && status.st_uid != 0)
			return -EPERM;
		if (stat(folder, &status) < 0)
			return -errno;
		if (!is_under_our_control(folder, &status))
			return -EPERM;
	}
	return 0;
}

struct make_call {
	char *path;
	size_t base_length;
	int result;
};

/* Another user who owns a folder that is given could change its files while they are sent. */
static int check_kind_and_owner(const char *path, bool is_given)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return -errno;
	if (!S_ISDIR(status.st_mode))
		return -ENOTDIR;
	return !is_given || status.st_uid == geteuid() || geteuid() == 0 ? 0 : -EPERM;
}

static void call_make(void *data)
{
	struct make_call *call = data;

	call->result = make_spool_folders(call->path);
	if (call->result == 0)
		call->result = check_folders(call->path, call->base_length);
	if (call->result == 0)
		call->result = check_kind_and_owner(call->path, !call->path[call->base_length]);
	/* An existing folder may not be writable for this user. */
	if (call->result == 0 && access(call->path, W_OK | X_OK) < 0)
		call->result = -errno;
}

RUNS_ONCE static int make_spool_folder(char *path, size_t base_length, char **ret_path)
{
	struct make_call call = {.path = path, .base_length = base_length};
	int r = path ? act_in_time(path, call_make, &call, sizeof call) : -ENOMEM;

	r = r < 0 ? r : call.result;
	if (r < 0)
		free(path);
	else
		*ret_path = path;
	return r;
}

static char *join_path(const char *folder, const char *rest)
{
	char *path;

	return asprintf(&path, "%s/%s", folder, rest) < 0 ? NULL : path;
}

/* Makes the spool's folder below `folder` and returns its path. */
static int make_below(const char *folder, const char *between, char **ret_path)
{
	CLEANUP_FREE char *base = join_path(folder, between);

	return base ? make_spool_folder(join_path(base, "resource-tracker/spool"), strlen(base), ret_path)
		    : -ENOMEM;
}

/* In a folder to which all users may write, another user may have made it first. */
struct own_folder_call {
	const char *path;
	int result;
};

static void call_own_folder(void *data)
{
	struct own_folder_call *call = data;
	struct stat status;

	call->result = 0;
	if ((mkdir(call->path, 0700) < 0 && errno != EEXIST) || lstat(call->path, &status) < 0)
		call->result = -errno;
	else if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 022))
		call->result = -EPERM;
}

static int make_temporary(char **ret_path)
{
	const char *folder = secure_getenv("TMPDIR");
	CLEANUP_FREE char *own = NULL;
	struct own_folder_call call;
	char name[64];
	int r;

	if (!folder || folder[0] != '/')
		folder = "/tmp";
	snprintf(name, sizeof(name), "resource-tracker-%u", (unsigned int)geteuid());
	own = join_path(folder, name);
	if (!own)
		return -ENOMEM;
	call.path = own;
	r = act_in_time(own, call_own_folder, &call, sizeof call);
	r = r < 0 ? r : call.result;
	return r < 0 ? r : make_spool_folder(join_path(own, "spool"), strlen(own), ret_path);
}

int spool_folder_make(const char *given, char **ret_path)
{
	const char *state = secure_getenv("XDG_STATE_HOME"), *home = secure_getenv("HOME");

	if (given)
		return make_spool_folder(strdup(given), strlen(given), ret_path);
	if (state && state[0] == '/' && make_below(state, "", ret_path) == 0)
		return 0;
	if (home && home[0] == '/' && make_below(home, ".local/state", ret_path) == 0)
		return 0;
	return make_temporary(ret_path);
}

const char *spool_folder_fault(int error)
{
	switch (error) {
	case -ENOTDIR:
		return "it is not a folder, or not in one";
	case -EPERM:
		return "another user owns it or may write to it";
	case -ETIMEDOUT:
		return file_place_fault(error);
	default:
		return strerror(-error);
	}
}
