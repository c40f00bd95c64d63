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
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "cli/config_toml.h"
#include "cli/message.h"

enum {
	FILE_BYTES = 1 << 20,
	KEY_BYTES = 200,
};

struct config_file {
	const char *path;
	bool warn;
	struct given_list *list;
};

static int read_all(const char *path, struct buffer *text)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t length;

	if (fd < 0)
		return -errno;
	do {
		if (buffer_reserve(text, 4096) < 0)
			return -EFBIG;
		length = read(fd, text->data + text->length, 4096);
		if (length > 0)
			text->length += (size_t)length;
	} while (length > 0 || (length < 0 && errno == EINTR));
	return length < 0 ? -errno : 0;
}

static int unknown_key(const struct config_file *file, const char *key, unsigned line)
{
	const char *nearest = NULL;
	unsigned least = 0;

	if (!file->warn)
		return 0;
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		unsigned distance = edit_distance(key, OPTIONS[i].toml_key);

		if (*OPTIONS[i].toml_key && (!nearest || distance < least)) {
			nearest = OPTIONS[i].toml_key;
			least = distance;
		}
	}
	say("%s:%u: unknown key %s is ignored; the nearest is %s", file->path, line, key,
	    nearest ? nearest : "");
	return 0;
}

static int visit(void *context, const char *table, const char *key, const char *text, unsigned line)
{
	struct config_file *file = context;
	CLEANUP_BUFFER struct buffer name = BUFFER(KEY_BYTES);
	const struct option_row *row;

	buffer_add_text(&name, table);
	if (*table)
		buffer_add_char(&name, '.');
	buffer_add_text(&name, key);
	row = buffer_error(&name) < 0 ? NULL : option_by_toml_key(name.data);
	if (!row)
		return unknown_key(file, buffer_error(&name) < 0 ? "with a very long name" : name.data, line);
	if (!text) {
		if (file->warn)
			say("%s:%u: %s has no value that could be one; ignored", file->path, line, name.data);
		return 0;
	}
	return given_add(file->list, row, ORIGIN_CONFIG, text, line);
}

int read_config_file(const char *path, bool warn, struct given_list *list)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(FILE_BYTES);
	struct config_file file = {path, warn, list};
	struct toml_visitor visitor = {visit, &file};
	struct toml_error error;
	int r = read_all(path, &text);

	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	if (r < 0) {
		if (warn)
			say("%s: %s; going on without it", path, strerror(-r));
		return 0;
	}
	r = toml_read(text.data, text.length, &visitor, &error);
	if (r == -EBADMSG && warn && error.line)
		say("%s:%u:%u: %s; going on without this file", path, error.line, error.column, error.text);
	else if (r == -EBADMSG && warn)
		say("%s: %s; going on without this file", path, error.text);
	if (r == -ENOSYS && warn)
		say("%s is not read: this program was built without TOML", path);
	return r == -ENOMEM ? r : 0;
}
