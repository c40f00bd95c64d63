/* The places of the page and of the line of a run; see end_places.h. */
#include "cli/end_places.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/file_place.h"
#include "base/is_page.h"
#include "base/trust.h"
#include "cli/message.h"
#include "kernel/may_hang.h"
#include "launch/in_time.h"

enum { COPY_BYTES = 1 << 20, MOST_RESCUED = 100, REASON_BYTES = 200 };

/* A file system in trouble does not refuse the job: it may work again at the end. */
static const char *why_not_folder(const char *path)
{
	static char reason[REASON_BYTES];
	int r = check_file_place(path);

	snprintf(reason, sizeof reason, "cannot be written: %s", file_place_fault(r));
	return is_place_mistake(r) ? reason : NULL;
}

static const char *why_not_page(const char *page)
{
	struct stat status;

	if (!*page || strcmp(page, "-") == 0)
		return NULL;
	if (stat(page, &status) < 0 || S_ISDIR(status.st_mode))
		return why_not_folder(page);
	if (!S_ISREG(status.st_mode))
		return NULL;
	if (!is_page(page))
		return "has content that is not an HTML page, so it is not overwritten; choose another name";
	/* The page is written under another name first. */
	return why_not_folder(page);
}

static const char *why_not_line(const char *runs)
{
	struct stat status;

	if (!*runs)
		return NULL;
	if (stat(runs, &status) < 0 || S_ISDIR(status.st_mode))
		return why_not_folder(runs);
	if (!S_ISREG(status.st_mode))
		return "is not a regular file; name one to which a line can be appended";
	if (faccessat(AT_FDCWD, runs, W_OK, AT_EACCESS) < 0)
		return errno == EACCES || errno == EROFS ? "takes no line from this user; choose another file"
							 : NULL;
	return NULL;
}

struct place_call {
	const char *(*why_not)(const char *path);
	const char *path;
	char reason[REASON_BYTES]; /* "": none */
};

static void ask_place(void *data)
{
	struct place_call *call = data;
	const char *reason = call->why_not(call->path);

	snprintf(call->reason, sizeof call->reason, "%s", reason ? reason : "");
}

static const char *ask_in_time(const char *path, const char *(*why_not)(const char *path))
{
	static struct place_call call;

	call = (struct place_call){.why_not = why_not, .path = path};
	return act_in_time(path, ask_place, &call, sizeof call) == 0 && *call.reason ? call.reason : NULL;
}

const char *why_no_page(const char *page)
{
	return ask_in_time(page, why_not_page);
}

const char *why_no_line(const char *runs)
{
	return ask_in_time(runs, why_not_line);
}

/* Creates PAGE.jsonl, or PAGE.1.jsonl and so on beside earlier ones. Returns a descriptor or a negative errno. */
static int create_rescue(const char *page, struct buffer *ret_name)
{
	for (int number = 0; number < MOST_RESCUED; number++) {
		int fd;

		ret_name->length = 0;
		buffer_printf(ret_name, number ? "%s.%d.jsonl" : "%s.jsonl", page, number);
		if (buffer_error(ret_name))
			return buffer_error(ret_name);
		fd = open(ret_name->data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

/* A file in /dev would be in memory, where few look for it. */
static int create_beside(const char *page, struct buffer *ret_name)
{
	return strncmp(page, "/dev/", 5) == 0 ? -ENODEV : create_rescue(page, ret_name);
}

const char *temporary_folder(void)
{
	const char *folder = has_more_rights_than_caller() ? NULL : getenv("TMPDIR");

	return folder && *folder && !path_may_hang(folder) ? folder : "/tmp";
}

static int create_in_temporary_folder(const char *page, struct buffer *ret_name)
{
	int fd;

	(void)page;
	ret_name->length = 0;
	buffer_printf(ret_name, "%s/resource-tracker-XXXXXX.jsonl", temporary_folder());
	if (buffer_error(ret_name))
		return buffer_error(ret_name);
	fd = mkostemps(ret_name->data, (int)strlen(".jsonl"), O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int copy_recording(int fd, int copy_fd, off_t *ret_copied)
{
	ssize_t sent;

	*ret_copied = 0;
	do
		sent = sendfile(copy_fd, fd, ret_copied, COPY_BYTES);
	while (sent > 0 || (sent < 0 && errno == EINTR));
	return sent < 0 ? -errno : 0;
}

void rescue_recording(int fd, const char *page)
{
	static int (*const PLACES[])(const char *page,
				     struct buffer *ret_name) = {create_beside, create_in_temporary_folder};
	enum { PLACE_COUNT = sizeof PLACES / sizeof *PLACES };
	CLEANUP_BUFFER struct buffer name = BUFFER(PATH_MAX);
	int why = 0;

	for (size_t i = 0; i < PLACE_COUNT; i++) {
		CLEANUP_CLOSE int copy_fd = PLACES[i](page, &name);
		off_t copied = 0;
		int r = copy_fd < 0 ? copy_fd : copy_recording(fd, copy_fd, &copied);

		if (r == 0) {
			say("the recording is kept in %s", name.data);
			return;
		}
		if (copied && i == PLACE_COUNT - 1) {
			say("%s: only a part of the recording is kept: %s", name.data, strerror(-r));
			return;
		}
		if (copy_fd >= 0)
			unlink_file(name.data);
		why = i ? why : r;
	}
	say("the recording cannot be kept in %s.jsonl: %s", page, strerror(-why));
}
