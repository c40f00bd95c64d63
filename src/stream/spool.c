/* The unsent part of one run, on disk. See spool.h. */
#include "stream/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/ends_with.h"
#include "base/write_all.h"
#include "metric/typed_rows.h"
#include "net/timestamps.h"
#include "sink/spool_folder.h"

enum { MOST_STATE_BYTES = 4 << 20, MOST_BATCH_BYTES = 16 << 20, FILE_NAME_SIZE = SPOOL_NAME_SIZE + 32 };

static const char BATCH_SUFFIX[] = ".gz";

/* ---- the folder ------------------------------------------------------------------------------------- */

int spool_open(struct spool *ret_spool, const char *folder)
{
	CLEANUP_FREE char *path = NULL;
	CLEANUP_CLOSE int fd = -1;
	struct stat status;
	int r = spool_folder_make(folder, &path);

	if (r < 0)
		return r;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	/* Another user who owns the folder could change its files while we work. */
	if (status.st_uid != geteuid() && geteuid() != 0)
		return -EPERM;
	*ret_spool = SPOOL;
	ret_spool->folder_fd = take_fd(&fd);
	ret_spool->folder = path;
	path = NULL;
	return 0;
}

void spool_close(struct spool *spool)
{
	if (spool->folder_fd >= 0)
		close(spool->folder_fd);
	if (spool->lock_fd >= 0)
		close(spool->lock_fd);
	free(spool->folder);
	spool_state_done(&spool->state);
	*spool = SPOOL;
}

/* ---- names ------------------------------------------------------------------------------------------ */

void spool_name(const struct frame *first, const char *suffix, char ret_name[SPOOL_NAME_SIZE])
{
	const struct sample_row *sample = first->sample;
	const char *host = text_absent(sample->host) ? "host" : sample->host;
	int64_t pid = count_absent(sample->tracked_pid) ? 0 : sample->tracked_pid, micros;
	char time[TIME_TEXT_SIZE];
	size_t length = 0;

	for (; host[length] && length < 64; length++) {
		char c = host[length];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			     c == '-';

		ret_name[length] = plain ? c : '_';
	}
	micros = fabs(sample->timestamp) < 1e12 ? (int64_t)(sample->timestamp * 1e6 + 0.5) : 0;
	format_iso8601_basic(micros / 1000000, time);
	snprintf(ret_name + length, SPOOL_NAME_SIZE - length, "-%.15s.%06dZ-%d%s", time,
		 (int)(micros % 1000000), (int)pid, suffix);
}

static void batch_name(const struct spool *spool, int64_t number, char ret_name[FILE_NAME_SIZE])
{
	snprintf(ret_name, FILE_NAME_SIZE, "%s.%06lld%s%s", spool->name, (long long)number,
		 spool->batch_ending, BATCH_SUFFIX);
}

static void spool_file_name(const struct spool *spool, const char *suffix, char ret_name[FILE_NAME_SIZE])
{
	snprintf(ret_name, FILE_NAME_SIZE, "%s%s", spool->name, suffix);
}

bool spool_has_state(const struct spool *spool, const char *name)
{
	char file[FILE_NAME_SIZE];

	snprintf(file, sizeof file, "%s" SPOOL_STATE_SUFFIX, name);
	return faccessat(spool->folder_fd, file, F_OK, 0) == 0;
}

/* ---- files ------------------------------------------------------------------------------------------ */

/* Writes another name first, so that a reader sees the old file or the new one, complete. */
static int replace_file(const struct spool *spool, const char *name, const void *bytes, size_t length)
{
	CLEANUP_CLOSE int fd = -1;
	char temporary[FILE_NAME_SIZE];
	int r;

	spool_file_name(spool, ".new", temporary);
	fd = openat(spool->folder_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, bytes, length);
	if (r == 0 && renameat(spool->folder_fd, temporary, spool->folder_fd, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(spool->folder_fd, temporary, 0);
	return r;
}

static int read_spool_file(const struct spool *spool, const char *name, struct buffer *out)
{
	CLEANUP_CLOSE int fd = openat(spool->folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t length;
		int r = buffer_reserve(out, 16 << 10);

		if (r < 0)
			return r;
		length = read(fd, out->data + out->length, 16 << 10);
		if (length < 0 && errno == EINTR)
			continue;
		if (length <= 0)
			return length < 0 ? -errno : 0;
		out->length += (size_t)length;
		out->data[out->length] = '\0';
	}
}

int spool_lock(struct spool *spool, const char *name)
{
	CLEANUP_CLOSE int fd = -1;
	char lock[FILE_NAME_SIZE];
	struct stat locked, named;

	snprintf(spool->name, sizeof(spool->name), "%s", name);
	spool_file_name(spool, ".lock", lock);
	fd = openat(spool->folder_fd, lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	/*
	 * The process that held it has just ended and removed it: this file locks out no other process any
	 * more.
	 */
	if (fstat(fd, &locked) < 0 || fstatat(spool->folder_fd, lock, &named, AT_SYMLINK_NOFOLLOW) < 0 ||
	    locked.st_ino != named.st_ino)
		return -EBUSY;
	if (spool->lock_fd >= 0)
		close(spool->lock_fd);
	spool->lock_fd = take_fd(&fd);
	return 0;
}

int spool_read(struct spool *spool)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(MOST_STATE_BYTES);
	struct spool_state state;
	char name[FILE_NAME_SIZE];
	int r;

	spool_file_name(spool, SPOOL_STATE_SUFFIX, name);
	r = read_spool_file(spool, name, &text);
	if (r == 0)
		r = spool_state_parse(text.data, text.length, &state);
	if (r < 0)
		return r;
	spool_state_done(&spool->state);
	spool->state = state;
	return 0;
}

int spool_write(struct spool *spool)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(MOST_STATE_BYTES);
	char name[FILE_NAME_SIZE];

	spool_state_format(&spool->state, &text);
	if (buffer_error(&text))
		return buffer_error(&text);
	spool_file_name(spool, SPOOL_STATE_SUFFIX, name);
	return replace_file(spool, name, text.data, text.length);
}

int spool_write_batch(struct spool *spool, const void *bytes, size_t length)
{
	char name[FILE_NAME_SIZE];

	batch_name(spool, spool->state.cut, name);
	return replace_file(spool, name, bytes, length);
}

int spool_read_batch(const struct spool *spool, int64_t number, struct buffer *ret_bytes)
{
	char name[FILE_NAME_SIZE];

	batch_name(spool, number, name);
	ret_bytes->ceiling = MOST_BATCH_BYTES;
	buffer_clear(ret_bytes);
	return read_spool_file(spool, name, ret_bytes);
}

void spool_unlink_batch(const struct spool *spool, int64_t number)
{
	char name[FILE_NAME_SIZE];

	batch_name(spool, number, name);
	unlinkat(spool->folder_fd, name, 0);
}

/* ---- the folder's content --------------------------------------------------------------------------- */

static DIR *open_listing(const struct spool *spool)
{
	int fd = openat(spool->folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

int64_t spool_batch_bytes(const struct spool *spool)
{
	DIR *dir = open_listing(spool);
	struct dirent *entry;
	int64_t bytes = 0;

	while (dir && (entry = readdir(dir))) {
		struct stat status;

		if (ends_with(entry->d_name, BATCH_SUFFIX) &&
		    fstatat(spool->folder_fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
			bytes += status.st_size;
	}
	if (dir)
		closedir(dir);
	return bytes;
}

void spool_remove(struct spool *spool, bool all)
{
	char name[FILE_NAME_SIZE];

	if (all) {
		spool_file_name(spool, SPOOL_STATE_SUFFIX, name);
		unlinkat(spool->folder_fd, name, 0);
	}
	spool_file_name(spool, ".lock", name);
	unlinkat(spool->folder_fd, name, 0);
}

int spool_each(const struct spool *spool, const char *suffix, int (*visit)(const char *name, void *context),
	       void *context)
{
	DIR *dir = open_listing(spool);
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return -errno;
	while (r >= 0 && (entry = readdir(dir))) {
		char name[SPOOL_NAME_SIZE];
		size_t length = strlen(entry->d_name);

		if (!ends_with(entry->d_name, suffix) || length == strlen(suffix) ||
		    length - strlen(suffix) >= sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(length - strlen(suffix)), entry->d_name);
		r = visit(name, context);
	}
	closedir(dir);
	return r < 0 ? r : 0;
}

static int forget_if_old(const char *name, void *context)
{
	static const time_t KEPT_SECS = 30 * 86400;
	CLEANUP_BUFFER struct buffer text = BUFFER(MOST_STATE_BYTES);
	struct spool run = {.folder_fd = ((const struct spool *)context)->folder_fd, .lock_fd = -1};
	char file[FILE_NAME_SIZE];
	struct stat status;

	snprintf(run.name, sizeof(run.name), "%s", name);
	spool_file_name(&run, SPOOL_STATE_SUFFIX, file);
	if (fstatat(run.folder_fd, file, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    time(NULL) - status.st_mtime < KEPT_SECS || read_spool_file(&run, file, &text) < 0 ||
	    spool_state_parse(text.data, text.length, &run.state) < 0)
		return 0;
	if (run.state.finished && access(run.state.recording, F_OK) < 0 && errno == ENOENT)
		unlinkat(run.folder_fd, file, 0);
	spool_state_done(&run.state);
	return 0;
}

void spool_forget_old(const struct spool *spool)
{
	(void)spool_each(spool, SPOOL_STATE_SUFFIX, forget_if_old, (void *)(uintptr_t)spool);
}
