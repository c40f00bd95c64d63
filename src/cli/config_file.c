/*
 * The configuration file; see config_file.h.
 *
 *	[job]
 *	name = "nightly"
 *	tag = ["queue=long"]
 *
 *	[tracker]
 *	interval_secs = 10
 *	output = ["run.jsonl"]
 */
#include "cli/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_place.h"
#include "base/trust.h"
#include "cli/config_toml.h"
#include "cli/message.h"
#include "kernel/may_hang.h"
#include "launch/in_time.h"

enum {
	FILE_BYTES = 1 << 20,
	KEY_BYTES = 200,
};

/* A job does not wait longer than this for its settings. */
#define READ_LIMIT_NS NSEC_PER_SEC

struct config_file {
	const char *path;
	enum origin origin;
	bool warn;
	struct given_list *list;
};

/* The reading of a file, which another process may do. */
struct config_call {
	const char *path;
	bool named;
	const char *distrusted; /* why the file is not used, or NULL */
	int result;
	char *text; /* FILE_BYTES */
	size_t length;
};

/* Waits for bytes or the end of the file. Returns false if neither comes in time. */
static bool wait_for_bytes(int fd, int64_t until_ns)
{
	struct pollfd bytes = {.fd = fd, .events = POLLIN};
	int64_t left_ns = until_ns - SYSTEM_CLOCKS.monotonic_ns(NULL);

	return left_ns > 0 && poll(&bytes, 1, (int)(left_ns / NSEC_PER_MSEC) + 1) > 0;
}

/*
 * Reads a file, or a pipe (`--config <(...)`), to its end or until READ_LIMIT_NS. A FIFO shows its end until
 * a writer has opened it, so this waits for the first byte.
 */
static int read_all(int fd, bool is_fifo, struct config_call *call)
{
	int64_t until_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) + READ_LIMIT_NS;

	for (;;) {
		ssize_t length;

		if (call->length == FILE_BYTES)
			return -EFBIG;
		length = read(fd, call->text + call->length, FILE_BYTES - call->length);
		if (length > 0)
			call->length += (size_t)length;
		else if (length == 0 && (!is_fifo || call->length))
			return 0;
		else if (length < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (length <= 0 && !wait_for_bytes(fd, until_ns))
			return -ETIMEDOUT;
	}
}

/* Returns why a file in the current folder must not be used; NULL if it may, or if it is absent. */
static const char *reason_to_distrust(const char *path)
{
	struct stat file, folder;

	if (stat(path, &file) < 0 || stat(".", &folder) < 0)
		return NULL;
	if (has_more_rights_than_caller())
		return "this program runs with more rights than its caller";
	if (!S_ISREG(file.st_mode))
		return "it is not a regular file";
	if (!is_under_our_control(path, &file))
		return "another user owns it or may write to it";
	if (!is_under_our_control(".", &folder))
		return "another user owns this folder or may write to it";
	return NULL;
}

/* O_NONBLOCK: opening a FIFO does not wait for a writer. */
static int open_config(const char *path, bool named, const char **ret_distrust, struct stat *ret_status)
{
	int fd;

	*ret_distrust = named ? NULL : reason_to_distrust(path);
	if (*ret_distrust)
		return -EPERM;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, ret_status) == 0)
		return fd;
	close(fd);
	return -EIO;
}

static void read_config_text(void *data)
{
	struct config_call *call = data;
	struct stat status;
	CLEANUP_CLOSE int fd = open_config(call->path, call->named, &call->distrusted, &status);

	call->result = fd < 0 ? fd : read_all(fd, S_ISFIFO(status.st_mode), call);
}

static int unknown_key(const struct config_file *file, const char *key, unsigned line)
{
	const char *nearest = option_nearest_toml_key(key);

	if (file->warn)
		say("%s:%u: unknown key %s is ignored%s%s", file->path, line, key,
		    nearest ? "; the nearest is " : "", nearest ? nearest : "");
	return 0;
}

/* The value of a key that has no elements. */
static const char EMPTY[] = "";

static int visit_setting(void *context, const char *table, const char *key, const char *text, unsigned line,
			 enum toml_place place)
{
	struct config_file *file = context;
	CLEANUP_BUFFER struct buffer name = BUFFER(KEY_BYTES);
	const struct option_row *row;

	buffer_add_text(&name, table);
	if (*table)
		buffer_add_char(&name, '.');
	buffer_add_text(&name, key);
	row = buffer_error(&name) < 0 ? NULL : option_by_toml_key(name.data);
	/* A wrong list is told once. */
	if (place == TOML_NEXT && (!row || !option_is_repeatable(row)))
		return 0;
	if (!row)
		return unknown_key(file, buffer_error(&name) < 0 ? "with a very long name" : name.data, line);
	if (text == EMPTY && option_is_repeatable(row))
		return 0;
	if (place == TOML_FIRST && !option_is_repeatable(row)) {
		if (file->warn)
			say("%s:%u: %s takes one value, and this is a list; ignored", file->path, line,
			    name.data);
		return 0;
	}
	if (!text || text == EMPTY) {
		if (file->warn)
			say("%s:%u: %s has an invalid value; ignored", file->path, line, name.data);
		return 0;
	}
	return given_add(file->list, row, file->origin, text, line);
}

/* Returns 0, or -ENOMEM. */
static int take_config(const struct config_call *call, int r, enum origin origin, bool warn,
		       struct given_list *list)
{
	const char *path = call->path;
	struct config_file file = {path, origin, warn, list};
	struct toml_visitor visitor = {visit_setting, &file, EMPTY};
	struct toml_error error;

	if ((r == -ENOENT || r == -ENOTDIR) && !call->named)
		return 0;
	if (call->distrusted) {
		if (warn)
			say("%s is ignored: %s; to use it: --config %s", path, call->distrusted, path);
		return 0;
	}
	if (r < 0) {
		if (warn)
			say("%s: %s; going on without it", path,
			    call->result == 0 ? file_place_fault(r) : strerror(-r));
		return 0;
	}
	r = toml_read(call->text, call->length, &visitor, &error);
	if (r == -EBADMSG && warn && error.line)
		say("%s:%u:%u: %s; going on without this file", path, error.line, error.column, error.text);
	else if (r == -EBADMSG && warn)
		say("%s: %s; going on without this file", path, error.text);
	if (r == -ENOSYS && warn)
		say("%s is not read: this program was built without TOML", path);
	return r == -ENOMEM ? r : 0;
}

int read_config_file(const char *path, enum origin origin, bool named, bool warn, struct given_list *list)
{
	struct config_call call = {.path = path, .named = named};
	struct stat status;
	int r;

	/* The usual case: there is none. */
	if (!named && !path_may_hang(path) && stat(path, &status) < 0)
		return 0;
	/* Pages that are not used cost nothing. */
	call.text = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (call.text == MAP_FAILED)
		return 0;
	r = act_in_time(path, read_config_text, &call, sizeof call);
	r = take_config(&call, r < 0 ? r : call.result, origin, warn, list);
	munmap(call.text, FILE_BYTES);
	return r;
}
