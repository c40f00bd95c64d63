/*
 * /etc/os-release: shell assignments
 *
 *   PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
 *   ID=debian
 *   VERSION_ID="12"
 */
#include "kernel/os_release.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/scan.h"

static const struct {
	const char *key;
	size_t offset;
	size_t size;
} FIELDS[] = {
	{"ID", offsetof(struct os_release, id), sizeof(((struct os_release *)0)->id)},
	{"VERSION_ID", offsetof(struct os_release, version_id), sizeof(((struct os_release *)0)->version_id)},
	{"NAME", offsetof(struct os_release, name), sizeof(((struct os_release *)0)->name)},
	{"PRETTY_NAME", offsetof(struct os_release, pretty_name),
	 sizeof(((struct os_release *)0)->pretty_name)},
};

/* Removes quotes. Within double quotes (and without any), a backslash makes the next character literal. */
static void copy_unquoted(struct scan value, char *ret_text, size_t size)
{
	size_t length = 0;
	char quote = '\0';

	for (; scan_left(&value) && length + 1 < size; value.at++) {
		char c = *value.at;

		if (!quote && (c == '"' || c == '\'')) {
			quote = c;
			continue;
		}
		if (quote && c == quote) {
			quote = '\0';
			continue;
		}
		if (c == '\\' && quote != '\'' && scan_left(&value) > 1)
			c = *++value.at;
		ret_text[length++] = c;
	}
	ret_text[length] = '\0';
}

int parse_os_release(const char *bytes, size_t length, struct os_release *ret_release)
{
	struct scan text = scan_bytes(bytes, length), line, key;
	struct os_release release = {0};
	int known = 0;

	while (scan_line(&text, &line)) {
		if (!scan_until(&line, '=', &key))
			continue;
		key = scan_trim(key);
		for (size_t i = 0; i < ARRAY_SIZE(FIELDS); i++) {
			if (!scan_is(&key, FIELDS[i].key))
				continue;
			copy_unquoted(scan_trim(line), (char *)&release + FIELDS[i].offset, FIELDS[i].size);
			known++;
			break;
		}
	}
	if (!known)
		return -EBADMSG;
	*ret_release = release;
	return 0;
}

int read_os_release(struct root *root, struct os_release *ret_release)
{
	ssize_t length = root_read(root, "etc/os-release");

	if (length < 0)
		length = root_read(root, "usr/lib/os-release");
	return length < 0 ? (int)length : parse_os_release(root->text.data, (size_t)length, ret_release);
}
