/* Recognises HTML pages. See is_page.h. */
#include "base/is_page.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { LOOK_BYTES = 64 };

bool is_page(const char *path)
{
	static const char *const STARTS[] = {"<!doctype html", "<html"};
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char start[LOOK_BYTES];
	ssize_t length = fd < 0 ? -1 : pread(fd, start, sizeof(start) - 1, 0);
	const char *text = start;

	if (length <= 0)
		return length == 0;
	start[length] = '\0';
	text += strspn(text, " \t\r\n");
	for (size_t i = 0; i < sizeof(STARTS) / sizeof(STARTS[0]); i++)
		if (strncasecmp(text, STARTS[i], strlen(STARTS[i])) == 0)
			return true;
	return false;
}
