/* Checks programs by path or name; see program.h. */
#include "launch/program.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"

bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
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
