/* Writes records to files and streams without waiting. See file_target.h. */
#include "sink/file_target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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
#include "base/scan.h"
#include "kernel/may_hang.h"
#include "sink/beside.h"
#include "sink/held_signals.h"
#include "sink/last_record.h"
#include "sink/nowait_stream.h"
#include "sink/open_output.h"
#include "sink/record_ring.h"

enum { DEFAULT_RING_BYTES = 256 * 1024, UNFINISHED_CEILING_BYTES = 64 * 1024 * 1024, ABOVE_STDIO = 3 };
#define LOOK_NS (900 * NSEC_PER_MSEC)

enum target_kind {
	OWN_FILE,    /* opened by name: other programs are not expected to write to it */
	SHARED_FILE, /* a descriptor that the job has, too */
	STREAM,
};

struct target {
	enum target_kind kind;
	char *name;
	int fd; /* of a file */
	struct nowait_stream stream;
	struct record_ring ring;

	/*
	 * A record of which a part was written that cannot be taken back, or a CSV header that waits (0 bytes
	 * written).
	 */
	struct buffer unfinished;
	size_t unfinished_written;
	int64_t unfinished_size; /* file size after that part */
	bool newline_due;        /* the file ends in the middle of a line: write a newline first */
	bool has_members;        /* instead of lines */
	bool has_lines;          /* of JSON */

	bool no_reader_yet;
	bool gone;
	bool warning_due, warned;
	bool ended;        /* the remaining records will not be written */
	char *path;        /* absolute, of an OWN_FILE */
	int64_t looked_ns; /* when the name was last checked */
	bool is_late;      /* the process that keeps the file goes on after our end */
	bool told_of_loss; /* a warning said that the file is gone and none could be opened */
	bool has_bytes;    /* an OWN_FILE, unless another program has emptied it */
	int64_t base_size; /* of a file when it was opened or emptied */
	int64_t own_bytes; /* in it, by this target */
	int64_t first_end; /* where the first record ends; 0: none was written in one piece */
	bool is_emptied;   /* by another program, as copytruncate of logrotate does */
	bool told_of_emptying;
	int last_error;
	bool may_have_raised; /* a signal, by a write since they are held */
	uint64_t dropped_records;
	struct target_opening opening;
	struct beside *beside; /* keeps the file; the stream leads to it */
	struct buffer framed;  /* a record behind its length, for that process */
};

static bool is_file(const struct target *target)
{
	return target->kind != STREAM;
}

static bool is_pending(const struct target *target)
{
	return target->unfinished.length || target->ring.records;
}

static int64_t file_size(const struct target *target)
{
	struct stat status;

	return fstat(target->fd, &status) < 0 ? -1 : status.st_size;
}

static void warn_of_target(struct target *target)
{
	target->warning_due = !target->warned;
}

static void drop_records(struct target *target, size_t records)
{
	target->dropped_records += records;
	if (records && !target->gone)
		warn_of_target(target);
}

static bool means_gone(const struct target *target, int error)
{
	switch (error) {
	case -EPIPE:
		return !target->no_reader_yet;
	case -EIO:
		return !is_file(target) && target->stream.is_terminal; /* the terminal hung up */
	case -EBADF:
	case -ECONNRESET:
	case -ECONNABORTED:
	case -ENOTCONN:
	case -ENXIO:
	case -ENODEV:
	case -ESTALE:
		return true;
	default:
		return false;
	}
}

static void note_target_failure(struct target *target, int error)
{
	target->last_error = error;
	if (!means_gone(target, error)) {
		if (error != -EAGAIN && error != -EPIPE)
			warn_of_target(target);
		return;
	}
	if (error != -EPIPE)
		warn_of_target(target);
	target->gone = true;
	drop_records(target, target->ring.records + (target->unfinished.length > 0));
	record_ring_done(&target->ring);
	buffer_done(&target->unfinished);
}

/* Writes once. Returns the number of bytes, or why none could be written. */
static ssize_t put_target_bytes(struct target *target, const char *bytes, size_t length)
{
	ssize_t n;

	if (is_file(target)) {
		do
			n = write(target->fd, bytes, length);
		while (n < 0 && errno == EINTR);
		n = n < 0 ? -errno : n == 0 && length ? -ENOSPC : n;
		target->has_bytes |= n > 0;
		target->own_bytes += n > 0 ? n : 0;
	} else {
		n = nowait_stream_write(&target->stream, bytes, length);
		n = n == 0 && length ? -EAGAIN : n;
	}
	/* The kernel writes what fits first: a file that took all of it raised nothing. */
	target->may_have_raised |= !is_file(target) || n != (ssize_t)length;
	if (n < 0)
		note_target_failure(target, (int)n);
	else
		target->no_reader_yet = false;
	return n;
}

static size_t put_as_much_as_fits(struct target *target, const char *bytes, size_t length)
{
	size_t done = 0;

	while (done < length) {
		ssize_t n = put_target_bytes(target, bytes + done, length - done);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/*
 * Where our last write began. With O_APPEND the file position is the end of that write, even if others wrote
 * before or after.
 */
static int64_t start_of_last_write(const struct target *target, size_t written)
{
	return is_file(target) ? lseek(target->fd, 0, SEEK_CUR) - (int64_t)written : 0;
}

/* Removes the bytes written since `start`, unless another process has appended since. */
static bool roll_back(struct target *target, int64_t start, size_t written)
{
	int64_t end = start + (int64_t)written;

	if (target->kind != OWN_FILE || start < 0 || lseek(target->fd, 0, SEEK_CUR) != end ||
	    file_size(target) != end || ftruncate(target->fd, (off_t)start) < 0)
		return false;
	target->has_bytes = start > 0;
	target->own_bytes -= (int64_t)written;
	return true;
}

static void remember_unfinished(struct target *target, const char *bytes, size_t length, size_t written)
{
	buffer_clear(&target->unfinished);
	buffer_add(&target->unfinished, bytes, length);
	target->unfinished_written = written;
	if (is_file(target))
		target->unfinished_size = file_size(target);
	if (buffer_error(&target->unfinished)) {
		buffer_clear(&target->unfinished);
		target->newline_due = true;
		drop_records(target, 1);
	}
}

enum outcome { WRITTEN, NOT_WRITTEN, BEGUN };

static enum outcome write_target_record(struct target *target, const char *bytes, size_t length)
{
	ssize_t n = put_target_bytes(target, bytes, length);
	size_t done = n < 0 ? 0 : (size_t)n;
	int64_t start;

	if (n >= 0 && done == length) {
		if (!target->first_end)
			target->first_end = target->base_size + target->own_bytes;
		return WRITTEN;
	}
	if (!done)
		return NOT_WRITTEN;
	start = start_of_last_write(target, done);
	/* A write that is cut short gives the reason only at the next attempt. */
	done += put_as_much_as_fits(target, bytes + done, length - done);
	if (done == length)
		return WRITTEN;
	if (target->gone || roll_back(target, start, done))
		return NOT_WRITTEN;
	remember_unfinished(target, bytes, length, done);
	return BEGUN;
}

/* Writes a pending newline. Returns true if it is written or was not needed. */
static bool end_torn_line(struct target *target)
{
	if (target->newline_due && (target->has_members || put_target_bytes(target, "\n", 1) == 1))
		target->newline_due = false;
	return !target->newline_due;
}

/* Writes the rest of a record that was begun. Returns true if none is left. */
static bool finish_unfinished(struct target *target)
{
	struct buffer *record = &target->unfinished;

	if (!record->length)
		return end_torn_line(target);
	if (is_file(target) && target->unfinished_written && file_size(target) != target->unfinished_size) {
		/* Another process has appended: our part stays a torn line, and the whole record follows. */
		target->newline_due = true;
		target->unfinished_written = 0;
	}
	if (!end_torn_line(target))
		return false;
	target->unfinished_written += put_as_much_as_fits(target, record->data + target->unfinished_written,
							  record->length - target->unfinished_written);
	if (target->gone)
		return false;
	if (is_file(target))
		target->unfinished_size = file_size(target);
	if (target->unfinished_written < record->length)
		return false;
	buffer_clear(record);
	target->unfinished_written = 0;
	return true;
}

/* Writes all waiting records in order. Returns true if none is left. */
static bool write_pending_record(struct target *target)
{
	const char *bytes;
	size_t length;

	if (!finish_unfinished(target))
		return false;
	while (record_ring_oldest(&target->ring, &bytes, &length)) {
		enum outcome outcome = write_target_record(target, bytes, length);

		if (outcome == NOT_WRITTEN)
			return false;
		record_ring_remove_oldest(&target->ring);
		if (outcome == BEGUN)
			return false;
	}
	return true;
}

static int target_error(const struct target *target)
{
	return target->gone ? -EPIPE : is_pending(target) ? -EAGAIN : 0;
}

/* The process that keeps the file must see where a record ends. Returns false if memory is refused. */
static bool add_length(struct target *target, const char **bytes, size_t *length)
{
	uint32_t size = (uint32_t)*length;

	if (!target->beside)
		return true;
	buffer_clear(&target->framed);
	buffer_add(&target->framed, &size, sizeof size);
	buffer_add(&target->framed, *bytes, *length);
	*bytes = target->framed.data;
	*length = target->framed.length;
	return buffer_error(&target->framed) == 0;
}

int target_write(struct target *target, const char *bytes, size_t length)
{
	struct held_signals held;
	enum outcome outcome = NOT_WRITTEN;

	if (!add_length(target, &bytes, &length)) {
		drop_records(target, 1);
		return target_error(target);
	}
	held = hold_signals();
	target->may_have_raised = false;
	if (!target->gone && write_pending_record(target))
		outcome = write_target_record(target, bytes, length);
	if (outcome == NOT_WRITTEN)
		drop_records(target, target->gone ? 1 : record_ring_add(&target->ring, bytes, length));
	release_signals(&held, target->may_have_raised);
	return target_error(target);
}

int target_write_head(struct target *target, const char *bytes, size_t length)
{
	struct held_signals held;

	if (!add_length(target, &bytes, &length))
		return target_error(target);
	held = hold_signals();
	/* A header that is still unwritten comes before all records, too. */
	if (!target->gone && write_target_record(target, bytes, length) == NOT_WRITTEN && !target->gone)
		remember_unfinished(target, bytes, length, 0);
	release_signals(&held, true);
	return target_error(target);
}

static void wait_for_target_room(const struct target *target, int64_t left_ns)
{
	struct timespec left = {(time_t)(left_ns / NSEC_PER_SEC), (long)(left_ns % NSEC_PER_SEC)};
	struct pollfd room = {target->stream.fd, POLLOUT, 0};

	ppoll(&room, 1, &left, NULL);
}

/* It grows less with each write. */
static size_t pending_bytes(const struct target *target)
{
	return target->ring.record_bytes + target->unfinished.length - target->unfinished_written;
}

int target_flush(struct target *target, int64_t deadline_ns)
{
	return target_drain(target, deadline_ns, INT64_MAX);
}

int target_drain(struct target *target, int64_t deadline_ns, int64_t still_ns)
{
	size_t left = SIZE_MAX;
	int64_t written_ns = 0;
	struct held_signals held;

	if (target->gone || !is_pending(target))
		return target_error(target);
	held = hold_signals();
	while (!target->gone && !write_pending_record(target)) {
		static const struct timespec PAUSE = {0, NSEC_PER_MSEC};
		int64_t now_ns = deadline_ns ? SYSTEM_CLOCKS.monotonic_ns(NULL) : 0;
		int64_t left_ns = deadline_ns - now_ns;

		if (pending_bytes(target) < left) {
			left = pending_bytes(target);
			written_ns = now_ns;
		}
		if (left_ns > still_ns - (now_ns - written_ns))
			left_ns = still_ns - (now_ns - written_ns);
		if (left_ns <= 0 || target->gone || is_file(target) || target->last_error != -EAGAIN)
			break;
		/* A stream may be ready and still lack room for the whole next record. */
		wait_for_target_room(target, left_ns);
		if (left_ns > PAUSE.tv_nsec)
			nanosleep(&PAUSE, NULL);
	}
	release_signals(&held, true);
	return target_error(target);
}

void target_end(struct target *target, int64_t deadline_ns)
{
	if (target->beside && !target->gone) {
		(void)target_flush(target, deadline_ns);
		target->is_late = !beside_finish(target->beside, deadline_ns);
		if (target->is_late) {
			path_has_hung(target->name);
			warn_of_target(target);
		}
	}
	/* stderr itself failed, so a warning on it could not be read. */
	if (target->gone || !is_pending(target) || strcmp(target->name, "/dev/stderr") == 0)
		return;
	target->ended = true;
	warn_of_target(target);
}

/* On a full disk, the newest record that waits: the end of the run. */
static void save_last_record(struct target *target)
{
	const char *bytes = target->unfinished.data;
	size_t length = target->unfinished.length, torn = target->unfinished_written;

	/* Other programs may append, too. */
	if (!is_file(target) || !target->has_lines || target->gone || !target->first_end ||
	    file_size(target) != target->base_size + target->own_bytes ||
	    (target->last_error != -ENOSPC && target->last_error != -EDQUOT))
		return;
	while (target->ring.records > 1)
		record_ring_remove_oldest(&target->ring);
	if (record_ring_oldest(&target->ring, &bytes, &length) || length)
		(void)write_last_record(target->fd, target->first_end, torn, bytes, length);
}

void target_close(struct target *target, int64_t deadline_ns)
{
	if (!target)
		return;
	if (target_flush(target, deadline_ns) == -EAGAIN)
		save_last_record(target);
	/* Unlock explicitly: a forked process that still has a copy of the descriptor would keep the lock. */
	if (target->kind == OWN_FILE && target->fd >= 0)
		flock(target->fd, LOCK_UN);
	cleanup_close(&target->fd);
	nowait_stream_close(&target->stream);
	if (target->beside)
		beside_done(target->beside);
	free(target->beside);
	buffer_done(&target->framed);
	record_ring_done(&target->ring);
	buffer_done(&target->unfinished);
	free(target->path);
	free(target->name);
	free(target);
}

void target_leave(struct target *target)
{
	if (target && target->kind == OWN_FILE)
		cleanup_close(&target->fd);
}

static struct target *new_target(const char *name, const struct target_options *options)
{
	struct target *target = calloc(1, sizeof *target);

	if (!target)
		return NULL;
	target->fd = -1;
	target->stream = NOWAIT_STREAM;
	target->ring =
		RECORD_RING(options->ring_ceiling_bytes ? options->ring_ceiling_bytes : DEFAULT_RING_BYTES);
	target->unfinished = target->framed = BUFFER(UNFINISHED_CEILING_BYTES);
	target->has_members = options->text >= MEMBERS_JSON;
	target->has_lines = options->text == LINES_JSON;
	target->name = strdup(name);
	if (!target->name) {
		free(target);
		return NULL;
	}
	return target;
}

static int attach_descriptor(struct target *target, int fd, bool append)
{
	struct stat status;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fstat(fd, &status) < 0)
		return -errno;
	/* A warning about stderr cannot be written to stderr, least of all between two halves of a record. */
	target->warned = fd == STDERR_FILENO;
	if ((flags & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	if (!S_ISREG(status.st_mode)) {
		target->kind = STREAM;
		return S_ISBLK(status.st_mode) ? -EINVAL : nowait_stream_from_fd(fd, &target->stream);
	}
	/*
	 * Do not open it again: without O_APPEND, the position to write at belongs to the description that the job
	 * has.
	 */
	target->kind = SHARED_FILE;
	target->opening.had_content = append && status.st_size > 0;
	target->base_size = status.st_size;
	target->fd = fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_STDIO);
	return target->fd < 0 ? -errno : 0;
}

/* The file is opened, and written, by a process of its own. */
static int open_in_process(const char *path, int open_fd, const struct target_options *options,
			   struct target **ret_target, char *ret_message, size_t message_size)
{
	struct target *target = new_target(path, options);
	struct beside *beside = target ? calloc(1, sizeof *beside) : NULL;
	int r = beside ? beside_open(path, open_fd, options, beside, ret_message, message_size) : -ENOMEM;

	if (r < 0) {
		free(beside);
		target_close(target, 0);
		return r;
	}
	target->kind = STREAM;
	target->beside = beside;
	target->stream = nowait_stream_adopt(beside->socket);
	target->stream.way = NOWAIT_SOCKET;
	if (beside->page->opened)
		target->opening = beside->page->opening;
	*ret_target = target;
	return 0;
}

int target_from_fd(int fd, const char *name, const struct target_options *options, struct target **ret_target,
		   char *ret_message, size_t message_size)
{
	char place[DESCRIPTOR_PATH_BYTES];
	struct target *target;
	int r;

	if (options->beside && path_may_hang(descriptor_path(fd, place)))
		return open_in_process(name, fd, options, ret_target, ret_message, message_size);
	target = new_target(name, options);
	r = target ? attach_descriptor(target, fd, options->append) : -ENOMEM;
	if (r < 0) {
		output_message(ret_message, message_size, "cannot write to %s: %s",
			       strcmp(name, "-") == 0 ? "standard output" : output_shown_path(name),
			       r == -EBADF ? "it is not open for writing" : strerror(-r));
		target_close(target, 0);
		return r;
	}
	*ret_target = target;
	return 0;
}

/*
 * Finds the names of descriptors that are already open. Opening such a file again would give it a second position.
 */
static bool names_descriptor(const char *path, int *ret_fd)
{
	struct scan scan = scan_bytes(path, strlen(path));
	uint64_t number;

	if (scan_is(&scan, "-") || scan_is(&scan, "/dev/stdout")) {
		*ret_fd = STDOUT_FILENO;
	} else if (scan_is(&scan, "/dev/stderr")) {
		*ret_fd = STDERR_FILENO;
	} else {
		if (!scan_literal(&scan, "/dev/fd/") && !scan_literal(&scan, "/proc/self/fd/"))
			return false;
		if (!scan_u64(&scan, &number) || scan_left(&scan) || number > INT32_MAX)
			return false;
		*ret_fd = (int)number;
	}
	return true;
}

int target_open(const char *path, const struct target_options *options, struct target **ret_target,
		char *ret_message, size_t message_size)
{
	struct output_options output_options = {options->append, options->text, options->csv_head,
						options->fresh};
	struct opened_output output;
	struct target *target;
	int fd, r;

	if (names_descriptor(path, &fd))
		return target_from_fd(fd, path, options, ret_target, ret_message, message_size);
	if (options->beside && path_may_hang(path))
		return open_in_process(path, -1, options, ret_target, ret_message, message_size);
	/* Without memory no file is made. */
	target = new_target(path, options);
	if (!target) {
		output_message(ret_message, message_size, "cannot write to '%s': %s", output_shown_path(path),
			       strerror(ENOMEM));
		return -ENOMEM;
	}
	r = open_output(path, &output_options, &output, ret_message, message_size);
	if (r < 0) {
		target_close(target, 0);
		return r;
	}
	target->kind = output.regular ? OWN_FILE : STREAM;
	target->path = output.regular ? absolute_path(path) : NULL;
	if (output.regular)
		target->fd = output.fd;
	else
		target->stream = nowait_stream_adopt(output.fd);
	target->no_reader_yet = output.no_reader_yet;
	target->opening = (struct target_opening){output.had_content, output.is_new, output.renamed_number,
						  output.repair};
	target->has_bytes = output.had_content;
	target->base_size = output.regular ? file_size(target) : 0;
	*ret_target = target;
	return 0;
}

/* ---- a file that was taken away ---------------------------------------------------------------------------- */

bool target_lost_its_name(struct target *target, bool at_end)
{
	int64_t now_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);
	struct stat opened, named;

	if (target->beside)
		return target->beside->page->lost != target->beside->seen_lost;
	if (target->kind != OWN_FILE || target->gone || fstat(target->fd, &opened) < 0)
		return false;
	if (opened.st_size == 0 && target->has_bytes && opened.st_nlink > 0) {
		target->has_bytes = false;
		target->is_emptied = true;
		return true;
	}
	if (!target->path || (!at_end && now_ns - target->looked_ns < LOOK_NS))
		return false;
	target->looked_ns = now_ns;
	if (stat(target->path, &named) < 0)
		return opened.st_nlink == 0 || errno == ENOENT || errno == ENOTDIR;
	return opened.st_dev != named.st_dev || opened.st_ino != named.st_ino;
}

/* A record that is partly in the old file is written whole to the new one. */
static void begin_file(struct target *target)
{
	target->unfinished_written = 0;
	target->unfinished_size = target->base_size = file_size(target);
	target->own_bytes = target->first_end = 0;
	target->newline_due = false;
	target->has_bytes = target->unfinished_size > 0;
	target->is_emptied = false;
}

static void use_new_file(struct target *target, const struct opened_output *output)
{
	flock(target->fd, LOCK_UN);
	close(target->fd);
	target->fd = output->fd;
	begin_file(target);
	target->told_of_loss = false;
	target->opening.had_content = output->had_content;
	target->opening.repair = output->repair;
}

static void use_emptied_file(struct target *target, char *ret_message, size_t message_size)
{
	begin_file(target);
	target->opening.had_content = false;
	if (target->told_of_emptying)
		return;
	target->told_of_emptying = true;
	output_message(ret_message, message_size, "%s was emptied by another program",
		       output_shown_path(target->name));
}

/* Warns once. The next check tries again. */
static bool tell_of_loss(struct target *target, const char *why, char *ret_message, size_t message_size)
{
	if (!target->told_of_loss)
		output_message(ret_message, message_size,
			       "%s was removed or renamed; no new one can be opened: %s",
			       output_shown_path(target->name), why);
	target->told_of_loss = true;
	return false;
}

bool target_renew(struct target *target, const struct target_options *options, char *ret_message,
		  size_t message_size)
{
	/* Append: a file that has taken the name meanwhile must not be renamed. */
	struct output_options output_options = {true, options->text, options->csv_head, false};
	struct opened_output output;
	char why[512] = "";
	int r;

	*ret_message = '\0';
	if (target->beside) {
		target->beside->seen_lost = target->beside->page->lost;
		target->opening.had_content = false;
		(void)target_write_head(target, "", 0);
		return true;
	}
	if (target->is_emptied) {
		use_emptied_file(target, ret_message, message_size);
		return true;
	}
	r = open_output(target->path, &output_options, &output, why, sizeof why);
	if (r == 0 && !output.regular) {
		close(output.fd);
		snprintf(why, sizeof why, "its name is that of a device or a FIFO now");
		r = -EINVAL;
	}
	if (r < 0)
		return tell_of_loss(target, *why ? why : strerror(-r), ret_message, message_size);
	use_new_file(target, &output);
	output_message(ret_message, message_size,
		       "%s was removed or renamed: the samples from now on are in a new file of that name",
		       output_shown_path(target->name));
	return true;
}

bool target_is_file(const struct target *target)
{
	const struct beside *beside = target->beside;

	return beside ? beside->page->opened > 0 && beside->page->is_file : target->kind == OWN_FILE;
}

int64_t target_size(const struct target *target)
{
	return target->beside ? target->beside->page->size : target->kind == OWN_FILE ? file_size(target) : 0;
}

pid_t target_process(const struct target *target)
{
	return target->beside ? target->beside->pid : 0;
}

bool target_has_no_reader(const struct target *target)
{
	return target->no_reader_yet;
}

const struct target_opening *target_opening(const struct target *target)
{
	return &target->opening;
}

struct target_status target_status(const struct target *target)
{
	return (struct target_status){
		.state = target->gone         ? TARGET_GONE
			 : is_pending(target) ? TARGET_STALLED
					      : TARGET_OK,
		.last_error = target->last_error,
		.dropped_records =
			target->dropped_records + (target->beside ? target->beside->page->dropped : 0),
		.pending_records = target->ring.records + (target->unfinished.length > 0),
		/* A record that was dropped in its middle is not unfinished any more. */
		.pending_bytes =
			target->ring.record_bytes +
			(target->unfinished.length ? target->unfinished.length - target->unfinished_written
						   : 0),
	};
}

bool target_take_warning(struct target *target, char *ret_message, size_t message_size)
{
	if (target->beside && beside_take_message(target->beside, ret_message, message_size))
		return true;
	if (!target->warning_due)
		return false;
	target->warning_due = false;
	target->warned = true;
	output_message(ret_message, message_size, "cannot write to %s%s: %s%s",
		       output_shown_path(target->name), target->gone ? " any more" : "",
		       target->beside                  ? "its file system does not answer"
		       : target->last_error == -EAGAIN ? "its reader is too slow"
		       : target->last_error == -EPIPE  ? "it has no reader"
						       : strerror(-target->last_error),
		       target->gone      ? ""
		       : target->is_late ? "; a process waits for it and completes the recording then"
		       : target->ended   ? "; the last samples may be lost"
		       : target->dropped_records
			       ? "; the oldest samples are dropped"
			       : "; samples are kept, and are lost if it lasts until the end");
	return true;
}
