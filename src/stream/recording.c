/* Reads a recording that is still being written. See recording.h. */
#include "stream/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "metric/typed_rows.h"

enum { READ_BYTES = 64 << 10, LONGEST_LINE = 8 << 20 };

static void want_identity(struct metric_set *wanted)
{
	WANT(wanted, sample, timestamp);
	WANT(wanted, sample, tracked_pid);
	WANT(wanted, sample, sample);
	WANT(wanted, sample, host);
	WANT(wanted, sample, job_name);
	metric_set_add_kind(wanted, ROW_run_start);
	metric_set_add_kind(wanted, ROW_run_end);
}

int recording_open(struct recording *ret_recording, const char *path, int64_t offset,
		   void (*want)(struct metric_set *wanted))
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct metric_set wanted = {0};
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	want_identity(&wanted);
	want(&wanted);
	*ret_recording = (struct recording){
		.fd = take_fd(&fd),
		.offset = offset,
		.window_offset = offset,
		.window = BUFFER(LONGEST_LINE + READ_BYTES),
		.tracked_pid = no_count(ABSENT_NOT_COLLECTED),
		.newest = -1,
	};
	json_decoder_init(&ret_recording->json, &wanted);
	return 0;
}

void recording_close(struct recording *recording)
{
	if (recording->fd < 0)
		return;
	close(recording->fd);
	recording->fd = -1;
	buffer_done(&recording->window);
	json_decoder_done(&recording->json);
	frame_done(&recording->frame);
}

void recording_rewind(struct recording *recording, int64_t offset)
{
	buffer_done(&recording->window);
	recording->offset = recording->window_offset = offset;
	recording->at = 0;
}

/* Reads more bytes after those in the window. Returns 1, 0 at the end of the file, or a negative errno. */
static int read_more(struct recording *recording)
{
	struct buffer *window = &recording->window;
	ssize_t length;
	int r;

	if (recording->at) {
		memmove(window->data, window->data + recording->at, window->length - recording->at);
		window->length -= recording->at;
		recording->window_offset += (int64_t)recording->at;
		recording->at = 0;
	}
	r = buffer_reserve(window, READ_BYTES);
	if (r < 0)
		return r;
	do
		length = pread(recording->fd, window->data + window->length, READ_BYTES,
			       recording->window_offset + (int64_t)window->length);
	while (length < 0 && errno == EINTR);
	if (length < 0)
		return -errno;
	window->length += (size_t)length;
	return length > 0;
}

/* Drops a line that is too long for a sample as it comes. */
static void drop_long_line(struct recording *recording)
{
	recording->at = recording->window.length;
	recording->offset = recording->window_offset + (int64_t)recording->at;
}

static int next_whole_line(struct recording *recording, struct scan *ret_line)
{
	for (;;) {
		struct buffer *window = &recording->window;
		size_t left = window->length - recording->at;
		const char *start = window->data ? window->data + recording->at : NULL;
		const char *end = left ? memchr(start, '\n', left) : NULL;
		int r;

		if (end) {
			*ret_line = (struct scan){start, end};
			recording->at += (size_t)(end - start) + 1;
			recording->offset = recording->window_offset + (int64_t)recording->at;
			return 1;
		}
		if (left > LONGEST_LINE)
			drop_long_line(recording);
		r = read_more(recording);
		if (r <= 0)
			return r;
	}
}

/* A file that was renamed or emptied begins with run_start again, in a sample that is not the first one of its run. */
static bool begins_run(const struct recording *recording, const struct frame *sample)
{
	const struct run_start_row *start = FIRST(sample, run_start);

	if (!start)
		return false;
	return count_absent(sample->sample->sample) || sample->sample->sample == 0 ||
	       text_absent(start->run_id) ||
	       (*recording->run_id && strcmp(start->run_id, recording->run_id) != 0);
}

/* Notes the fields that distinguish the samples of this run from those of another. */
static void note_identity(struct recording *recording, const struct frame *frame)
{
	const struct run_start_row *start = FIRST(frame, run_start);
	struct sample_row *sample = frame->sample;

	recording->begins_run = begins_run(recording, frame);
	if (start)
		snprintf(recording->run_id, sizeof recording->run_id, "%s",
			 text_absent(start->run_id) ? "" : start->run_id);
	if (start || !count_absent(sample->tracked_pid))
		recording->tracked_pid = sample->tracked_pid;
	else
		sample->tracked_pid = recording->tracked_pid;
	if (!text_absent(sample->host))
		snprintf(recording->host, sizeof recording->host, "%s", sample->host);
	if (!count_absent(sample->sample))
		recording->newest = sample->sample;
}

bool recording_goes_on(const struct recording *recording, const struct frame *sample)
{
	const struct sample_row *row = sample->sample;
	char host[RECORDING_HOST_SIZE] = "";

	if (!text_absent(row->host))
		snprintf(host, sizeof host, "%s", row->host);
	return !begins_run(recording, sample) && !count_absent(row->sample) &&
	       row->sample > recording->newest && row->tracked_pid == recording->tracked_pid &&
	       strcmp(host, recording->host) == 0;
}

int64_t recording_gap(const struct recording *recording, const struct frame *sample)
{
	return sample->sample->sample - recording->newest - 1;
}

/* Returns 1, 0 if the line is not a sample, or a negative errno. */
static int take_line(struct recording *recording, struct scan line)
{
	frame_clear(&recording->frame);
	if (recording->frame.error)
		return recording->frame.error;
	if (!json_decoder_read(&recording->json, line, &recording->frame))
		return 0;
	note_identity(recording, &recording->frame);
	return 1;
}

int recording_next(struct recording *recording, const struct frame **ret_frame)
{
	struct scan line;
	int r;

	while ((r = next_whole_line(recording, &line)) > 0) {
		r = take_line(recording, line);
		if (r != 0)
			break;
		recording->bad_lines++;
	}
	*ret_frame = &recording->frame;
	return r;
}

int recording_first(struct recording *recording, const struct frame **ret_frame)
{
	struct scan line;
	int r = next_whole_line(recording, &line);

	*ret_frame = &recording->frame;
	return r > 0 ? take_line(recording, line) : r;
}

int64_t recording_left_bytes(const struct recording *recording)
{
	struct stat status;

	if (fstat(recording->fd, &status) < 0)
		return -errno;
	return status.st_size > recording->offset ? status.st_size - recording->offset : 0;
}

bool recording_has_ended(const struct recording *recording)
{
	static const char END[] = "\"run_end\":{";
	char tail[16 << 10];
	struct stat status;
	const char *last, *before;
	int64_t from;
	ssize_t length;

	if (fstat(recording->fd, &status) < 0 || status.st_size <= recording->offset)
		return false;
	from = status.st_size - (int64_t)sizeof(tail);
	if (from < recording->offset)
		from = recording->offset;
	length = pread(recording->fd, tail, sizeof(tail), from);
	last = length > 0 ? memrchr(tail, '\n', (size_t)length) : NULL;
	if (!last)
		return false;
	before = last > tail ? memrchr(tail, '\n', (size_t)(last - tail)) : NULL;
	before = before ? before : tail;
	/* A quote inside a text is escaped, so no text can look like this. */
	return memmem(before, (size_t)(last - before), END, sizeof(END) - 1) != NULL;
}
