/* Changes to the new file of a recording that was removed or renamed. See stream.h. */
#include "stream/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

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

int stream_follow_name(struct stream *stream)
{
	struct recording recording;
	char part[SPOOL_NAME_SIZE];
	const struct frame *first;
	int r;

	if (stream->spool.state.outcome.known || stream->spool.state.disposable ||
	    !open_new(stream, &recording))
		return 0;
	r = recording_next(&recording, &first);
	if (r > 0 && recording_goes_on(&stream->recording, first)) {
		spool_name(first, stream->settings->destination->suffix, part);
		/*
		 * Once the new file has a line, the recorder writes nothing more to the old one, so this is its
		 * end.
		 */
		r = stream_cut(stream, false);
		if (r == 0 && !stream->spool.state.outcome.known &&
		    recording_goes_on(&stream->recording, first))
			r = go_over(stream, &recording, part);
	} else if (r > 0) {
		r = 0;
	}
	recording_close(&recording);
	return r;
}
