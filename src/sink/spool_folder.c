/* Where samples wait that are to be sent; see spool_folder.h. */
#include "sink/spool_folder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

/* mkdir -p. */
static int make_folders(char *path)
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

static int make(char *path, char **ret_path)
{
	int r = path ? make_folders(path) : -ENOMEM;

	/* It may have been there before, and not for us. */
	if (r == 0 && access(path, W_OK | X_OK) < 0)
		r = -errno;
	if (r < 0)
		free(path);
	else
		*ret_path = path;
	return r;
}

static char *joined(const char *folder, const char *rest)
{
	char *path;

	return asprintf(&path, "%s/%s", folder, rest) < 0 ? NULL : path;
}

/* In a folder that everybody may write to somebody else may have come before us. */
static int make_temporary(char **ret_path)
{
	const char *folder = secure_getenv("TMPDIR");
	CLEANUP_FREE char *own = NULL;
	struct stat status;
	char name[64];

	snprintf(name, sizeof(name), "resource-tracker-%u", (unsigned int)geteuid());
	own = joined(folder && folder[0] == '/' ? folder : "/tmp", name);
	if (!own)
		return -ENOMEM;
	if (mkdir(own, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (lstat(own, &status) < 0)
		return -errno;
	if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 022))
		return -EPERM;
	return make(joined(own, "spool"), ret_path);
}

int spool_folder_make(const char *given, char **ret_path)
{
	const char *state = secure_getenv("XDG_STATE_HOME"), *home = secure_getenv("HOME");

	if (given)
		return make(strdup(given), ret_path);
	if (state && state[0] == '/' && make(joined(state, "resource-tracker/spool"), ret_path) == 0)
		return 0;
	if (home && home[0] == '/' &&
	    make(joined(home, ".local/state/resource-tracker/spool"), ret_path) == 0)
		return 0;
	return make_temporary(ret_path);
}
