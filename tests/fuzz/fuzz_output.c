/* Feeds any bytes as the end of a file to append to, and as the name of an output. */
#include "fuzz.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "format/gzip_member.h"
#include "sink/output_path.h"
#include "sink/tail_repair.h"

static size_t get(int fd, char *text, size_t size)
{
	struct stat status;

	must_hold(fstat(fd, &status) == 0 && (size_t)status.st_size <= size);
	must_hold(pread(fd, text, (size_t)status.st_size, 0) == status.st_size);
	return (size_t)status.st_size;
}

/* The result is a prefix of the input, up to a whole line. A second repair changes nothing. */
static void fuzz_repair(const char *bytes, size_t length, enum line_format text)
{
	CLEANUP_CLOSE int fd = memfd_create("fuzz", MFD_CLOEXEC);
	CLEANUP_FREE char *after = malloc(length + 1);
	struct tail_repair repair, again;
	const char *newline = memrchr(bytes, '\n', length);
	size_t left;

	must_hold(fd >= 0 && after && fcntl(fd, F_SETFL, O_APPEND) == 0);
	must_hold(write(fd, bytes, length) == (ssize_t)length);
	must_hold(repair_tail(fd, text, &repair) == 0);
	left = get(fd, after, length + 1);
	must_hold(left == 0 || after[left - 1] == '\n');
	must_hold(left == length - (size_t)repair.cut_bytes + repair.terminated);
	must_hold(memcmp(after, bytes, left - repair.terminated) == 0);
	must_hold(!newline || left >= (size_t)(newline - bytes) + 1);
	must_hold(repair_tail(fd, text, &again) == 0 && !again.cut_bytes && !again.terminated);
}

/* A compressed file: the bytes behind a whole member, whose copy stays, are cut or are left alone. */
static void fuzz_members(const char *bytes, size_t length)
{
	CLEANUP_CLOSE int fd = memfd_create("fuzz", MFD_CLOEXEC);
	CLEANUP_BUFFER struct buffer file = BUFFER(1 << 24);
	CLEANUP_FREE char *after = NULL;
	struct tail_repair repair;
	size_t whole, left;

	gzip_member_add(&file, bytes, length, false);
	whole = file.length;
	buffer_add(&file, bytes, length);
	after = malloc(file.length + 1);
	must_hold(fd >= 0 && after && fcntl(fd, F_SETFL, O_APPEND) == 0);
	must_hold(write(fd, file.data, file.length) == (ssize_t)file.length);
	must_hold(repair_tail(fd, MEMBERS_JSON, &repair) == 0);
	left = get(fd, after, file.length + 1);
	must_hold(left >= whole && left == file.length - (size_t)repair.cut_bytes);
	must_hold(memcmp(after, file.data, left) == 0);
}

static void fuzz_json_lines(const char *bytes, size_t length)
{
	fuzz_repair(bytes, length, LINES_JSON);
	fuzz_members(bytes, length);
}

static void fuzz_csv(const char *bytes, size_t length)
{
	fuzz_repair(bytes, length, LINES_CSV);
}

static void fuzz_path(const char *bytes, size_t length)
{
	static const struct output_path_values VALUES = {"host/name", 42, 1795254300, -1, 0};
	CLEANUP_FREE char *template = strndup(bytes, length);
	CLEANUP_BUFFER struct buffer path = BUFFER(4096);

	must_hold(template != NULL);
	if (expand_output_path(template, &VALUES, &path) >= 0 && !strchr(template, '%') && *template)
		must_hold(strcmp(path.data, template) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static const fuzz_parser PARSERS[] = {fuzz_json_lines, fuzz_csv, fuzz_path};

	fuzz_one_of(PARSERS, ARRAY_SIZE(PARSERS), bytes, length);
	return 0;
}
