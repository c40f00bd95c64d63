/* Repairs a torn end. See tail_repair.h. */
#include "sink/tail_repair.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/gzip_member.h"

enum { BLOCK_BYTES = 16384 };

static int read_exactly(int fd, char *bytes, size_t length, int64_t offset)
{
	while (length) {
		ssize_t n = pread(fd, bytes, length, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		bytes += n;
		length -= (size_t)n;
		offset += n;
	}
	return 0;
}

/* Returns where the file ends without the NULs at its end. */
static int64_t end_without_nuls(int fd, int64_t end)
{
	char block[BLOCK_BYTES];

	while (end) {
		int64_t start = end > BLOCK_BYTES ? end - BLOCK_BYTES : 0;
		int r = read_exactly(fd, block, (size_t)(end - start), start);

		if (r < 0)
			return r;
		while (end > start && block[end - start - 1] == '\0')
			end--;
		if (end > start)
			break;
	}
	return end;
}

/* Returns where the line that ends at `end` begins: after the previous newline, or at 0. */
static int64_t start_of_line(int fd, int64_t end)
{
	char block[BLOCK_BYTES];

	while (end) {
		int64_t start = end > BLOCK_BYTES ? end - BLOCK_BYTES : 0;
		int r = read_exactly(fd, block, (size_t)(end - start), start);
		const char *newline;

		if (r < 0)
			return r;
		newline = memrchr(block, '\n', (size_t)(end - start));
		if (newline)
			return start + (newline - block) + 1;
		end = start;
	}
	return 0;
}

struct json_scan {
	int64_t depth;
	bool in_text, escaped, closed, broken;
};

static void scan_json_char(struct json_scan *json, char c)
{
	if (json->in_text) {
		if (json->escaped)
			json->escaped = false;
		else if (c == '\\')
			json->escaped = true;
		else if (c == '"')
			json->in_text = false;
	} else if (c == '"') {
		json->in_text = true;
	} else if (c == '{' || c == '[') {
		json->depth++;
	} else if (c == '}' || c == ']') {
		json->depth--;
	}
	/* Only blanks may follow the bracket that closes the object. */
	json->broken |= c == '\0' || (json->closed && c != ' ' && c != '\t' && c != '\r');
	json->closed |= json->depth <= 0;
}

/*
 * Returns 1 if the text from `start` to `end`, which begins with a brace, ends with the brace that closes it, else
 * 0, or a negative errno.
 */
static int is_complete_object(int fd, int64_t start, int64_t end)
{
	struct json_scan json = {0};
	char block[BLOCK_BYTES];

	while (start < end && !json.broken) {
		size_t length = end - start > BLOCK_BYTES ? BLOCK_BYTES : (size_t)(end - start);
		int r = read_exactly(fd, block, length, start);

		if (r < 0)
			return r;
		for (size_t i = 0; i < length; i++)
			scan_json_char(&json, block[i]);
		start += (int64_t)length;
	}
	return json.closed && !json.broken;
}

static bool begins_like(const char *bytes, size_t length, const char *text)
{
	size_t whole = strlen(text);

	return memcmp(bytes, text, length < whole ? length : whole) == 0;
}

/* A row begins with its time (if unknown, with the comma after it), a file with its header. */
static bool is_csv_beginning(const char *bytes, size_t length, bool first_line)
{
	return (bytes[0] >= '0' && bytes[0] <= '9') || bytes[0] == ',' ||
	       (first_line &&
		(begins_like(bytes, length, "timestamp") || begins_like(bytes, length, "\"timestamp\"")));
}

/*
 * Returns 1 if the line without newline from `start` to `end` must be cut, 0 if it must be kept, or a negative
 * errno.
 */
static int is_torn_record(int fd, enum line_format text, int64_t start, int64_t end)
{
	static const char OUR_LINE[] = "{\"timestamp_s";
	char head[sizeof(OUR_LINE) - 1];
	size_t length = end - start > (int64_t)sizeof head ? sizeof head : (size_t)(end - start);
	int r = read_exactly(fd, head, length, start);

	if (r < 0)
		return r;
	if (text == LINES_CSV)
		return is_csv_beginning(head, length, start == 0);
	if (text == LINES_OTHER && (length < sizeof(OUR_LINE) - 1 || !begins_like(head, length, OUR_LINE)))
		return 0;
	if (head[0] != '{')
		return 0;
	r = is_complete_object(fd, start, end);
	return r < 0 ? r : !r;
}

static int add_newline(int fd)
{
	ssize_t n;

	do
		n = write(fd, "\n", 1);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n == 1 ? 0 : -ENOSPC;
}

/* Returns where the last member of ours ends, or begins if it is torn; `end` if the file has none, or a negative errno. */
static int64_t end_of_members(int fd, int64_t end)
{
	char block[BLOCK_BYTES + MEMBER_HEAD_BYTES];
	bool csv;

	for (int64_t until = end; until > 0; until -= BLOCK_BYTES) {
		int64_t start = until > BLOCK_BYTES ? until - BLOCK_BYTES : 0, length;
		/* A head may begin in this block and end in the next. */
		int64_t there = (end < until + MEMBER_HEAD_BYTES ? end : until + MEMBER_HEAD_BYTES) - start;
		int r = read_exactly(fd, block, (size_t)there, start);

		if (r < 0)
			return r;
		for (int64_t at = there - MEMBER_HEAD_BYTES; at >= 0; at--)
			if (gzip_member_begins(block + at, &csv, &length))
				return start + at + (start + at + length > end ? 0 : length);
	}
	return end;
}

static int repair_members(int fd, struct tail_repair *ret_repair)
{
	struct stat status;
	int64_t end;

	if (fstat(fd, &status) < 0)
		return -errno;
	end = end_of_members(fd, status.st_size);
	if (end < 0)
		return (int)end;
	if (end < status.st_size && ftruncate(fd, (off_t)end) < 0)
		return -errno;
	*ret_repair = (struct tail_repair){.cut_bytes = status.st_size - end};
	return 0;
}

int repair_tail(int fd, enum line_format text, struct tail_repair *ret_repair)
{
	struct tail_repair repair = {0};
	int64_t end, start;
	struct stat status;
	bool terminate;
	int r = 0;

	if (text == MEMBERS_JSON || text == MEMBERS_CSV)
		return repair_members(fd, ret_repair);
	if (fstat(fd, &status) < 0)
		return -errno;
	end = text == LINES_OTHER ? status.st_size : end_without_nuls(fd, status.st_size);
	if (end < 0)
		return (int)end;
	start = start_of_line(fd, end);
	if (start < 0)
		return (int)start;
	if (start < end)
		r = is_torn_record(fd, text, start, end);
	if (r < 0)
		return r;
	terminate = start < end && r == 0;
	if (start < end && r == 1)
		end = start;
	if (end < status.st_size) {
		if (ftruncate(fd, (off_t)end) == 0)
			repair.cut_bytes = status.st_size - end;
		else
			terminate = true;
	}
	if (terminate) {
		r = add_newline(fd);
		if (r < 0)
			return r;
		repair.terminated = true;
	}
	*ret_repair = repair;
	return 0;
}
