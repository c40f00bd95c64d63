/* The list of runs. See history.h. */
#include "history/history.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/ends_with.h"
#include "base/clock.h"
#include "base/file_lock.h"
#include "base/file_place.h"
#include "base/scan.h"
#include "history/history_folder.h"
#include "history/history_store.h"
#include "history/run_line.h"
#include "launch/in_time.h"

enum { QUOTA_MIB_MOST = 1 << 20 };

enum {
	LINES_BYTES = 64 << 20,
	LINE_BYTES = 1 << 20,
	LOCK_TRIES = 500,
	SILENT_WITHOUT_LOCK_SECS = 3600,
	LOOKS_MOST = 8,
};
#define LOCK_LOOK_NS (20 * NSEC_PER_MSEC)
/* A recorder takes the lock right after it has made the file. */
#define JUST_BEGUN_NS NSEC_PER_SEC

/* ---- reading the folder ------------------------------------------------------------------------------ */

static struct history_run *history_run_of(struct history *history, unsigned number)
{
	size_t first = 0, last = history->count;
	struct history_run *grown;

	while (first < last) {
		size_t middle = (first + last) / 2;

		if (history->runs[middle].number == number)
			return &history->runs[middle];
		if (history->runs[middle].number < number)
			first = middle + 1;
		else
			last = middle;
	}
	grown = reallocarray(history->runs, history->count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	history->runs = grown;
	memmove(grown + first + 1, grown + first, (history->count - first) * sizeof(*grown));
	grown[first] = (struct history_run){.number = number};
	history->count++;
	return &grown[first];
}

static bool has_just_begun(const struct stat *status)
{
	struct timespec now;
	int64_t age_ns;

	clock_gettime(CLOCK_REALTIME, &now);
	age_ns = (now.tv_sec - status->st_mtim.tv_sec) * NSEC_PER_SEC + now.tv_nsec - status->st_mtim.tv_nsec;
	return age_ns >= 0 && age_ns < JUST_BEGUN_NS;
}

/*
 * Whether a recorder is writing to it. An empty file has just begun, or its recorder was killed at once. On a file system
 * without locks, a recording that was written to within the hour counts as live.
 */
static bool is_being_written(int folder, const char *name)
{
	CLEANUP_CLOSE int fd =
		openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat status;
	time_t silence_secs;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	silence_secs = time(NULL) - status.st_mtime;
	if (flock(fd, LOCK_SH | LOCK_NB) < 0 && errno != EWOULDBLOCK)
		return silence_secs < SILENT_WITHOUT_LOCK_SECS;
	for (;;) {
		if (is_locked_by_writer(fd, LOCK_SH))
			return true;
		if (fstat(fd, &status) < 0 || status.st_size || !has_just_begun(&status))
			return false;
		/* The lock of this look must not be in its way. */
		(void)flock(fd, LOCK_UN);
		nanosleep(&(struct timespec){.tv_nsec = LOCK_LOOK_NS}, NULL);
	}
}

/* Links, FIFOs and files of other users have no business here: they are not even looked at. */
static bool is_ours(int folder, const char *name, struct stat *ret_status)
{
	return fstatat(folder, name, ret_status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(ret_status->st_mode) &&
	       (ret_status->st_uid == geteuid() || ret_status->st_uid == 0);
}

/* A command that was killed leaves a file that it had not finished. */
static void clear_leftover(const struct history *history, const char *name)
{
	struct stat status;

	if (history->locked && ends_with(name, ".partial") && is_ours(history->fd, name, &status) &&
	    time(NULL) - status.st_mtime > SILENT_WITHOUT_LOCK_SECS)
		unlinkat(history->fd, name, 0);
}

static int add_history_file(struct history *history, const char *name)
{
	struct history_run *run;
	struct stat status;
	unsigned number;
	enum history_file kind = history_file_kind(name, &number);

	if (kind == HISTORY_OTHER)
		clear_leftover(history, name);
	if (kind == HISTORY_REMOVED && history->removed_count < HISTORY_SIGNS_MOST)
		history->removed[history->removed_count++] = number;
	if (kind == HISTORY_OTHER || kind == HISTORY_REMOVED || !is_ours(history->fd, name, &status))
		return 0;
	run = history_run_of(history, number);
	if (!run)
		return -ENOMEM;
	run->bytes += status.st_size;
	if ((kind != HISTORY_RECORDING && kind != HISTORY_COMPRESSED) || (run->path && run->compressed))
		return 0;
	/* Both are there if the command that compressed it was killed: then the compressed one is whole. */
	free(run->path);
	run->compressed = kind == HISTORY_COMPRESSED;
	run->live = !run->compressed && is_being_written(history->fd, name);
	return asprintf(&run->path, "%s/%s", history->folder, name) < 0 ? -ENOMEM : 0;
}

static int read_folder(struct history *history)
{
	CLEANUP_CLOSE int fd = openat(history->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_ENTRIES DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int r = 0;

	if (!entries)
		return -errno;
	take_fd(&fd);
	while (r == 0 && (entry = readdir(entries)))
		r = add_history_file(history, entry->d_name);
	return r;
}

static int add_history_line(struct history *history, struct scan text)
{
	json_t *line = json_loadb(text.at, scan_left(&text), 0, NULL);
	json_int_t number = json_integer_value(json_object_get(line, "number"));
	struct history_run *run = NULL;

	if (number > 0 && number <= HISTORY_NUMBER_MOST)
		run = history_run_of(history, (unsigned)number);
	if (!run) {
		json_decref(line);
		history->changed = true;
		return number > 0 && number <= HISTORY_NUMBER_MOST ? -ENOMEM : 0;
	}
	json_decref(run->line);
	run->line = line;
	return 0;
}

/*
 * A file that another program has made huge is read to LINES_BYTES. A damaged or very long line is left out, and is gone when the
 * file is written again, which is soon.
 */
static int read_history_lines(struct history *history, struct rt_problem *ret_problem)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(LINES_BYTES);
	struct scan lines, line;
	int r = history_read_lines(history->fd, &text);

	if (r < 0)
		return problem_set(ret_problem, r, "%s/runs.jsonl: %s", history->folder,
				   r == -EPERM ? "it is not a file of your own" : strerror(-r));
	history->changed = r > 0;
	lines = scan_bytes(text.data, text.length);
	for (r = 0; r == 0 && scan_line(&lines, &line);)
		r = add_history_line(history, line);
	return r < 0 ? problem_set(ret_problem, r, "%s: %s", history->folder, strerror(-r)) : 0;
}

static void take_lock(struct history *history, bool wait)
{
	for (int tries = 0; tries < LOCK_TRIES && !history->locked; tries++) {
		history->locked = flock(history->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
		if (history->locked || !wait)
			return;
		nanosleep(&(struct timespec){.tv_nsec = LOCK_LOOK_NS}, NULL);
	}
}

/* The quota of a user or a site; a history may have 1 GiB without one. */
static int read_history_quota(struct history *history, struct rt_problem *ret_problem)
{
	const char *given = secure_getenv("TRACKER_HISTORY_MIB");
	struct scan text = scan_bytes(given ? given : "", given ? strlen(given) : 0);
	uint64_t mib = 1 << 10;

	if (given && *given &&
	    (!scan_u64(&text, &mib) || scan_left(&text) > 0 || mib < 1 || mib > QUOTA_MIB_MOST))
		return problem_set(ret_problem, -EINVAL,
				   "TRACKER_HISTORY_MIB: '%.40s' must be a whole number of MiB from 1 to %d",
				   given, QUOTA_MIB_MOST);
	history->bytes_most = (int64_t)mib << 20;
	return 0;
}

static void look_at_file(int folder, const char *name)
{
	CLEANUP_CLOSE int fd = -1;
	struct stat status;
	char byte;

	if (!is_ours(folder, name, &status))
		return;
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0)
		(void)!read(fd, &byte, 1);
}

/* Makes calls as history_open() does, for a few files alone: a slow file system answers them in time. */
static void look_into_folder(void *path)
{
	CLEANUP_ENTRIES DIR *entries = opendir(path);
	struct dirent *entry;

	for (int i = 0; entries && i < LOOKS_MOST && (entry = readdir(entries)); i++)
		look_at_file(dirfd(entries), entry->d_name);
}

int history_look(const char *given, struct rt_problem *ret_problem)
{
	char place[PATH_MAX];

	history_place(given, place);
	if (look_aside(place, look_into_folder, place, sizeof(place)) < 0)
		return problem_set(ret_problem, -ETIMEDOUT, "the history cannot be used: %s: %s", place,
				   file_place_fault(-ETIMEDOUT));
	return 0;
}

int history_open(struct history *ret_history, bool wait, struct rt_problem *ret_problem)
{
	const char *given = secure_getenv("TRACKER_HISTORY");
	struct history history = {.fd = -1};
	char why[HISTORY_WHY_BYTES];
	int r;

	r = read_history_quota(&history, ret_problem);
	if (r < 0)
		return r;
	if (given && history_is_off(given))
		return problem_set(ret_problem, -ENXIO, "the history is off (TRACKER_HISTORY=%s)", given);
	r = history_look(given, ret_problem);
	if (r < 0)
		return r;
	r = history_folder_find(given && *given ? given : NULL, false, &history.folder, why);
	if (r == -ENOENT || r == -ENXIO)
		return problem_set(
			ret_problem, -ENOENT,
			"no run has been kept yet: on a terminal, resource-tracker COMMAND keeps one");
	if (r < 0)
		return problem_set(ret_problem, r, "the history cannot be used: %s", why);
	history.fd = open(history.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = history.fd < 0 ? -errno : 0;
	if (r == 0) {
		take_lock(&history, wait);
		r = read_folder(&history);
	}
	if (r < 0)
		problem_set(ret_problem, r, "%s: %s", history.folder, strerror(-r));
	else
		r = read_history_lines(&history, ret_problem);
	if (r < 0) {
		history_close(&history);
		return r;
	}
	*ret_history = history;
	return 0;
}

void history_close(struct history *history)
{
	for (size_t i = 0; i < history->count; i++) {
		free(history->runs[i].path);
		json_decref(history->runs[i].line);
	}
	free(history->runs);
	free(history->folder);
	if (history->fd >= 0)
		close(history->fd);
	*history = (struct history){.fd = -1};
}

/* ---- runs -------------------------------------------------------------------------------------------- */

const json_t *history_line(struct history *history, struct history_run *run)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(LINE_BYTES);
	struct run_place place = {run->number, run->path, run->live};

	(void)history;
	if (!run->line && run->path && run_line_add(&text, run->path, &place, NULL) == 0)
		run->line = json_loadb(text.data, text.length, 0, NULL);
	return run->line;
}

/* A run without a line has no sample yet, or its file is not a recording: `ls` does not show it either. */
static struct history_run *nth_newest(struct history *history, uint64_t n)
{
	for (size_t i = history->count; i-- > 0;)
		if (!history->runs[i].dropped && history_line(history, &history->runs[i]) && n-- == 0)
			return &history->runs[i];
	return NULL;
}

/* "last", "last~2" */
static bool is_last(const char *word, uint64_t *ret_n)
{
	struct scan text = scan_bytes(word, strlen(word));

	*ret_n = 0;
	if (!scan_literal(&text, "last"))
		return false;
	if (!scan_left(&text))
		return true;
	return scan_literal(&text, "~") && scan_left(&text) && scan_u64(&text, ret_n) && !scan_left(&text);
}

static bool is_named(struct history *history, struct history_run *run, const char *word)
{
	const char *name = json_string_value(json_object_get(history_line(history, run), "name"));

	return name && strstr(name, word);
}

bool history_is_called(struct history *history, struct history_run *run, const char *name)
{
	const char *its = json_string_value(json_object_get(history_line(history, run), "name"));

	return its && strcmp(its, name) == 0;
}

enum history_match history_find(struct history *history, const char *word, struct history_run **ret_run)
{
	struct scan text = scan_bytes(word, strlen(word));
	struct history_run *found = NULL;
	uint64_t number;
	size_t matches = 0;

	if (is_last(word, &number)) {
		*ret_run = nth_newest(history, number);
		return *ret_run ? HISTORY_ONE : HISTORY_NONE;
	}
	if (*word >= '0' && *word <= '9' && scan_u64(&text, &number) && !scan_left(&text)) {
		for (size_t i = 0; i < history->count && !found; i++)
			if (history->runs[i].number == number && !history->runs[i].dropped)
				found = &history->runs[i];
		*ret_run = found;
		return found ? HISTORY_ONE : HISTORY_NONE;
	}
	for (size_t i = history->count; i-- > 0 && *word;) {
		if (history->runs[i].dropped || !is_named(history, &history->runs[i], word))
			continue;
		found = found ? found : &history->runs[i];
		matches++;
	}
	*ret_run = found;
	return matches > 1 ? HISTORY_SEVERAL : found ? HISTORY_ONE : HISTORY_NONE;
}
