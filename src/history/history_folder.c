/* Finds the history's folder, and begins a recording in it. See history_folder.h. */
#include "history/history_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_place.h"
#include "base/runs_once.h"
#include "base/scan.h"
#include "base/trust.h"

enum { NAME_BYTES = 40, TRIES_MOST = 10000, LOCK_TRIES = 50, PIECE_BYTES = 16 << 10, PIECES_MOST = 64 };

bool history_is_off(const char *given)
{
	struct scan text = scan_trim(scan_bytes(given, strlen(given)));
	bool flag;

	return scan_flag(&text, &flag) && !flag;
}

static int fail_with(char *ret_why, int error, const char *path, const char *reason)
{
	snprintf(ret_why, HISTORY_WHY_BYTES, "%s: %s", path, reason);
	return error;
}

static int fail_by(char *ret_why, int error, const char *path)
{
	return fail_with(ret_why, error, path, strerror(-error));
}

/*
 * Checks one folder on the way, and makes it if it is missing. In the `base`, a group may write: users may
 * share a home folder.
 */
static int check_folder(const char *path, bool make, bool is_base, char *ret_why)
{
	struct stat link, folder;
	int error = make && mkdir(path, 0700) < 0 ? errno : 0;

	/* On a file system that is mounted read-only, the error of an existing folder may be that one. */
	if (error && error != EEXIST && access(path, F_OK) < 0)
		return fail_by(ret_why, -error, path);
	if (lstat(path, &link) < 0 || stat(path, &folder) < 0)
		return fail_by(ret_why, -errno, path);
	if (!S_ISDIR(folder.st_mode))
		return fail_with(ret_why, -ENOTDIR, path, "it is not a folder");
	if (S_ISLNK(link.st_mode) && link.st_uid != geteuid() && link.st_uid != 0)
		return fail_with(ret_why, -EPERM, path, "another user has made this link");
	if (folder.st_uid != geteuid() && folder.st_uid != 0)
		return fail_with(ret_why, -EPERM, path, "it belongs to another user");
	if (is_base ? (folder.st_mode & S_IWOTH) && !(folder.st_mode & S_ISVTX)
		    : !is_under_our_control(path, &folder))
		return fail_with(ret_why, -EPERM, path, "another user may write to it");
	return 0;
}

/* `path` begins with a base of `base_length` bytes. All folders behind it are checked, the outermost first. */
static int check_path(char *path, size_t base_length, bool make, bool make_base, char *ret_why)
{
	size_t length = base_length;
	int r = 0;

	for (;;) {
		char kept = path[length];

		path[length] = '\0';
		r = check_folder(path, length == base_length ? make_base : make, length == base_length,
				 ret_why);
		path[length] = kept;
		if (r < 0 || !kept)
			return r;
		length += 1 + strcspn(path + length + 1, "/");
	}
}

static int find_below(const char *base, const char *rest, bool make, bool make_base, char **ret_path,
		      char *ret_why)
{
	size_t base_length = strlen(base);
	char *path;
	int r;

	while (base_length > 1 && base[base_length - 1] == '/')
		base_length--;
	if (asprintf(&path, "%.*s%s", (int)base_length, base, rest) < 0)
		return fail_by(ret_why, -ENOMEM, base);
	r = check_path(path, base_length, make, make_base, ret_why);
	/* A folder of root's, or on a file system that is mounted read-only. */
	if (r == 0 && make && access(path, W_OK | X_OK) < 0)
		r = fail_by(ret_why, -errno, path);
	if (r < 0)
		free(path);
	else
		*ret_path = path;
	return r;
}

/* The user named the folder of the history itself, not the one above it, so only the user may write to it. */
static int find_given(const char *given, bool make, char **ret_path, char *ret_why)
{
	CLEANUP_FREE char *path = NULL;
	int r = check_folder(given, make, false, ret_why);

	if (r < 0)
		return r;
	path = realpath(given, NULL);
	if (!path || (make && access(path, W_OK | X_OK) < 0))
		return fail_by(ret_why, -errno, given);
	*ret_path = path;
	path = NULL;
	return 0;
}

/* A home folder "/" is that of a user without one. */
static const char *folder_variable(const char *name)
{
	const char *folder = secure_getenv(name);

	return folder && folder[0] == '/' && folder[1] ? folder : NULL;
}

/* Returns the folder that the user or the system names, and the way from there. NULL: there is none. */
static const char *named_base(const char *given, const char **ret_rest)
{
	*ret_rest = "";
	if (given && *given)
		return given;
	*ret_rest = "/resource-tracker";
	given = folder_variable("XDG_STATE_HOME");
	if (given)
		return given;
	*ret_rest = "/.local/state/resource-tracker";
	return folder_variable("HOME");
}

void history_place(const char *given, char ret_path[static PATH_MAX])
{
	const char *rest, *base = named_base(given, &rest);

	snprintf(ret_path, PATH_MAX, "%s%s", base ? base : "", rest);
}

int history_folder_find(const char *given, bool make, char **ret_path, char ret_why[static HISTORY_WHY_BYTES])
{
	const char *rest, *base = named_base(given, &rest);

	if (!base)
		return fail_with(ret_why, -ENXIO, "HOME", "there is no home folder");
	if (!*rest)
		return find_given(base, make, ret_path, ret_why);
	return find_below(base, rest, make, make && rest[1] != '.', ret_path, ret_why);
}

/* ---- files ------------------------------------------------------------------------------------------- */

enum history_file history_file_kind(const char *name, unsigned *ret_number)
{
	static const struct {
		const char *ending;
		enum history_file kind;
	} ENDINGS[] = {
		{".jsonl", HISTORY_RECORDING},   {".jsonl.gz", HISTORY_COMPRESSED},
		{".jsonl.marks", HISTORY_MARKS}, {".jsonl.gz.marks", HISTORY_COMPRESSED_MARKS},
		{".removed", HISTORY_REMOVED},
	};
	struct scan text = scan_bytes(name, strlen(name));
	uint64_t number;

	if (*name < '1' || *name > '9' || !scan_u64(&text, &number) || number > HISTORY_NUMBER_MOST)
		return HISTORY_OTHER;
	for (size_t i = 0; i < ARRAY_SIZE(ENDINGS); i++) {
		if (scan_is(&text, ENDINGS[i].ending)) {
			*ret_number = (unsigned)number;
			return ENDINGS[i].kind;
		}
	}
	return HISTORY_OTHER;
}

/* The highest number of the lines in a piece of their file, which may be damaged: they can have NULs. */
RUNS_ONCE static unsigned last_number_at(int fd, off_t at)
{
	static const char KEY[] = "\"number\":";
	char text[PIECE_BYTES + NAME_BYTES];
	ssize_t length = pread(fd, text, sizeof(text), at);
	struct scan left = scan_bytes(text, length > 0 ? (size_t)length : 0);
	unsigned last = 0;

	while ((left.at = memmem(left.at, scan_left(&left), KEY, sizeof(KEY) - 1))) {
		uint64_t number;

		left.at += sizeof(KEY) - 1;
		if (scan_u64(&left, &number) && number > last && number <= HISTORY_NUMBER_MOST)
			last = (unsigned)number;
	}
	return last;
}

/* A run whose files were deleted by hand still has its line. The newest runs are in the last piece with a number. */
RUNS_ONCE static unsigned last_number_of_lines(int folder)
{
	CLEANUP_CLOSE int fd =
		openat(folder, "runs.jsonl", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	off_t at = lseek(fd, 0, SEEK_END);
	unsigned last = 0;

	for (int pieces = 0; pieces < PIECES_MOST && at > 0 && !last; pieces++) {
		at = at > PIECE_BYTES ? at - PIECE_BYTES : 0;
		last = last_number_at(fd, at);
	}
	return last;
}

static unsigned last_number(DIR *entries)
{
	unsigned number, last = last_number_of_lines(dirfd(entries));
	struct dirent *entry;

	while ((entry = readdir(entries)))
		if (history_file_kind(entry->d_name, &number) != HISTORY_OTHER && number > last)
			last = number;
	return last;
}

/* A run of this number may have begun and ended since the folder was read. */
static bool is_number_taken(int folder, unsigned number)
{
	char ended[NAME_BYTES];

	snprintf(ended, sizeof(ended), "%u.jsonl.gz", number);
	return faccessat(folder, ended, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A command that looks at the history may hold the lock for a moment. Some file systems have no locks. */
static void lock_recording(int fd)
{
	for (int tries = 0; tries < LOCK_TRIES; tries++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			return;
		nanosleep(&(struct timespec){.tv_nsec = NSEC_PER_MSEC}, NULL);
	}
}

int history_create(const char *folder, unsigned *ret_number)
{
	CLEANUP_ENTRIES DIR *entries = opendir(folder);
	unsigned number = entries ? last_number(entries) : 0;
	char name[NAME_BYTES];

	if (!entries)
		return -errno;
	for (int tries = 0; tries < TRIES_MOST; tries++) {
		CLEANUP_CLOSE int fd = -1;
		int above;

		/* With the last number in use, whichever is free. */
		number = number < HISTORY_NUMBER_MOST ? number + 1 : 1;
		snprintf(name, sizeof(name), "%u.jsonl", number);
		fd = openat(dirfd(entries), name,
			    O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return -errno;
		lock_recording(fd);
		if (is_number_taken(dirfd(entries), number)) {
			unlinkat(dirfd(entries), name, 0);
			continue;
		}
		if (!has_room_for_recording(fd)) {
			unlinkat(dirfd(entries), name, 0);
			return -ENOSPC;
		}
		*ret_number = number;
		above = fd > STDERR_FILENO ? take_fd(&fd) : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		return above < 0 ? -errno : above;
	}
	return -EEXIST;
}
