/* Changes to the new file of a recording that was removed or renamed. See stream.h. */
#include "stream/stream.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/redacted_message.h"

/* A folder with more files is not searched to its end for a file that has lost the recording's name. */
enum { MOST_SEARCHED = 10000 };

/* A link, or another user's file, is not the recorder's: it writes to neither. */
static bool may_be_ours(const struct stat *found, const struct stat *old)
{
	return S_ISREG(found->st_mode) && found->st_nlink == 1 &&
	       (found->st_uid == old->st_uid || found->st_uid == geteuid());
}

/* Opens the file that has the name now, if it is another one. Returns 1 if it did. */
static int open_new(const struct stream *stream, struct recording *ret_recording)
{
	const char *path = stream->spool.state.recording;
	struct stat old, found, opened;

	if (fstat(stream->recording.fd, &old) < 0 || lstat(path, &found) < 0 || !may_be_ours(&found, &old) ||
	    (found.st_dev == old.st_dev && found.st_ino == old.st_ino) ||
	    recording_open(ret_recording, path, 0, stream->settings->destination->calls->want) < 0)
		return 0;
	if (fstat(ret_recording->fd, &opened) == 0 && opened.st_dev == found.st_dev &&
	    opened.st_ino == found.st_ino)
		return 1;
	recording_close(ret_recording);
	return 0;
}

bool stream_lost_name(const struct stream *stream)
{
	struct stat opened, named;

	if (stream->spool.state.disposable || fstat(stream->recording.fd, &opened) < 0)
		return false;
	return lstat(stream->spool.state.recording, &named) < 0 || opened.st_dev != named.st_dev ||
	       opened.st_ino != named.st_ino;
}

void stream_watch_name(struct stream *stream)
{
	struct patience *patience = stream->patience;
	char path[32];

	if (stream->spool.state.disposable)
		return;
	/* The watch of the previous file ends with its descriptor. */
	if (patience->news_fd >= 0)
		close(patience->news_fd);
	patience->news_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d", stream->recording.fd);
	/* A file that is removed while open has one link less, so its attributes change. */
	if (patience->news_fd >= 0 &&
	    inotify_add_watch(patience->news_fd, path, IN_MOVE_SELF | IN_ATTRIB) < 0) {
		close(patience->news_fd);
		patience->news_fd = -1;
	}
}

/* If a person uploads the new file, this state leads to the run. */
static void lead_back(const struct stream *stream, const char *part)
{
	struct spool leading = {.folder_fd = stream->spool.folder_fd, .lock_fd = -1};

	leading.state = (struct spool_state){
		.recording = stream->spool.state.recording,
		.of_run = (char *)(uintptr_t)stream->spool.name,
		.finished = true,
	};
	stpcpy(leading.name, part);
	(void)spool_write(&leading);
}

static int go_over(struct stream *stream, struct recording *recording, const char *part)
{
	struct spool_state *state = &stream->spool.state;
	char *copy = strdup(part);

	if (!copy)
		return -ENOMEM;
	lead_back(stream, part);
	free(state->part);
	state->part = copy;
	state->begin = state->offset = 0;
	recording_close(&stream->recording);
	stream->recording = *recording;
	recording->fd = -1;
	recording_rewind(&stream->recording, 0);
	stream_watch_name(stream);
	/* If it cannot be written, this process can still send the run. */
	(void)spool_write(&stream->spool);
	return 1;
}

/* Whether the file begins with the sample after the last one that was read. It stays open then. */
static bool begins_with_next(const struct stream *stream, const char *path, const struct stat *old,
			     struct recording *ret_recording)
{
	const struct recording *read = &stream->recording;
	const struct frame *first;
	struct stat found;

	if (lstat(path, &found) < 0 || !may_be_ours(&found, old) || found.st_mtime < old->st_mtime ||
	    recording_open(ret_recording, path, 0, stream->settings->destination->calls->want) < 0)
		return false;
	if (recording_first(ret_recording, &first) > 0 && recording_goes_on(read, first) &&
	    recording_gap(read, first) == 0)
		return true;
	recording_close(ret_recording);
	return false;
}

/*
 * A file that had the recording's name for a while, and lost it before this process looked. It was not older than the one
 * before, and is still in the folder if it was renamed there.
 */
static bool find_missed(const struct stream *stream, struct recording *ret_recording)
{
	char path[PATH_MAX];
	const struct dirent *entry;
	struct stat old;
	int left = MOST_SEARCHED, folder_length;
	bool found = false;
	DIR *entries;

	if (fstat(stream->recording.fd, &old) < 0 ||
	    snprintf(path, sizeof path, "%s", stream->spool.state.recording) >= (int)sizeof path)
		return false;
	folder_length = (int)(strrchr(path, '/') + 1 - path);
	path[folder_length] = '\0';
	entries = opendir(path);
	while (!found && entries && left-- > 0 && (entry = readdir(entries)))
		found = snprintf(path + folder_length, sizeof path - (size_t)folder_length, "%s",
				 entry->d_name) < (int)sizeof path - folder_length &&
			begins_with_next(stream, path, &old, ret_recording);
	if (entries)
		closedir(entries);
	return found;
}

static void say_unsent(const struct stream *stream, int64_t count)
{
	long long newest = stream->recording.newest, last = newest + count;

	say_redacted("samples %lld to %lld of this run are not sent: %s was taken away "
		     "twice before they were read, or the disk was full",
		     newest + 1, last, stream->spool.state.recording);
}

/* Goes over to `next`, whose first sample is `first`, or to a file between that had the name for a short time. */
static int go_on(struct stream *stream, struct recording *next, const struct frame *first)
{
	char part[SPOOL_NAME_SIZE];
	struct recording missed;
	int r;

	if (recording_gap(&stream->recording, first) > 0) {
		if (find_missed(stream, &missed)) {
			spool_name(&missed.frame, stream->settings->destination->suffix, part);
			r = go_over(stream, &missed, part);
			recording_close(&missed);
			return r;
		}
		say_unsent(stream, recording_gap(&stream->recording, first));
	}
	spool_name(first, stream->settings->destination->suffix, part);
	return go_over(stream, next, part);
}

int stream_follow_name(struct stream *stream)
{
	struct recording recording;
	const struct frame *first;
	int r;

	if (stream->spool.state.outcome.known || stream->spool.state.disposable ||
	    !open_new(stream, &recording))
		return 0;
	r = recording_next(&recording, &first);
	if (r > 0 && recording_goes_on(&stream->recording, first)) {
		/*
		 * Once the new file has a line, the recorder writes nothing more to the old one, so this is its
		 * end.
		 */
		r = stream_cut(stream, false);
		if (r == 0 && !stream->spool.state.outcome.known &&
		    recording_goes_on(&stream->recording, first))
			r = go_on(stream, &recording, first);
	} else if (r > 0) {
		r = 0;
	}
	recording_close(&recording);
	return r;
}
