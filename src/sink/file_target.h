/*
 * Writes records to a file, a FIFO, a device, or an inherited stream. Writing never waits for the other end, and
 * leaves no half record behind if that can be avoided.
 *
 * A record is one or more whole lines, normally written with one write(2). A record that cannot be written is kept
 * in a bounded ring, whole and in order. Each later write, target_flush() and target_close() try again. When the
 * ring is full, the oldest records are dropped and counted.
 *
 * - If a file of ours takes only part of a record (disk full, quota, RLIMIT_FSIZE, I/O error), it is truncated to
 *   the end of the last whole record.
 * - A stream, or a file that the job writes as well, is never truncated: the rest of the record follows first. If
 *   another process has appended to the file meanwhile, a newline and the whole record follow.
 *
 * Nothing here prints, changes O_NONBLOCK on a shared description, or changes signal dispositions. SIGPIPE,
 * SIGXFSZ and SIGTTOU are kept from the calling thread while it writes. One target belongs to one thread at a
 * time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sink/tail_repair.h"

struct target;

struct target_options {
	bool append;
	enum line_format text;
	size_t ring_ceiling_bytes; /* 0: 256 KiB */
	const char *csv_head;      /* see open_output.h; used only while opening */
	bool fresh;                /* likewise */
	bool beside; /* a file whose file system may hang is kept by a process of its own, see beside.h */
};

/*
 * Opens an output by name as described in open_output.h. "-", /dev/stdout, /dev/stderr and /dev/fd/N are
 * descriptors that are already open. A new file gets the mode 0666 & ~umask. The file stays locked until
 * target_close(). Returns 0, or a negative errno (-EBUSY: a live recording holds the file) with one line for the
 * user in ret_message.
 */
int target_open(const char *path, const struct target_options *options, struct target **ret_target,
		char *ret_message, size_t message_size);

/*
 * The same for a descriptor that other processes share. It stays the caller's and is not changed. `name` is for
 * messages. -EBADF: it is closed or not open for writing.
 */
int target_from_fd(int fd, const char *name, const struct target_options *options, struct target **ret_target,
		   char *ret_message, size_t message_size);

/* The state of the file at opening. Constant afterwards. */
struct target_opening {
	bool had_content; /* after the repair; a second CSV header is left out. For a descriptor only with append */
	bool is_new;             /* see open_output.h */
	unsigned renamed_number; /* the earlier recording is now FILE.N, 0 for none */
	struct tail_repair repair;
};

const struct target_opening *target_opening(const struct target *target);

static inline bool target_had_content(const struct target *target)
{
	return target_opening(target)->had_content;
}

/*
 * Writes or keeps one record. Returns 0 if all is written, -EAGAIN if bytes wait for the next call, -EPIPE if the
 * target is gone.
 */
int target_write(struct target *target, const char *bytes, size_t length);

/*
 * The same for bytes that come before the first record and must not be dropped (a CSV header): they wait outside
 * the ring. Call at most once, before any record.
 */
int target_write_head(struct target *target, const char *bytes, size_t length);

/*
 * Tries again to write the waiting records. A stream's reader gets until `deadline_ns` to make room
 * (CLOCK_MONOTONIC. 0: no time). Files are tried once. Returns as target_write() does.
 */
int target_flush(struct target *target, int64_t deadline_ns);
/* The same, but gives up a reader that takes nothing for `still_ns`. */
int target_drain(struct target *target, int64_t deadline_ns, int64_t still_ns);

/*
 * Call after the last flush. If records still wait, they may be lost, and target_take_warning() says so unless it
 * has given a warning before. A process that keeps the file gets until `deadline_ns` to finish it.
 */
void target_end(struct target *target, int64_t deadline_ns);

/* Whether it is a file of its own name, and open by now. */
bool target_is_file(const struct target *target);

/* The size of that file: with a process that keeps it, when that opened it. 0: unknown. */
int64_t target_size(const struct target *target);

/* The process that keeps the file, or 0. */
pid_t target_process(const struct target *target);

/* A FIFO that nothing has opened to read yet. */
bool target_has_no_reader(const struct target *target);

/*
 * Flushes, unlocks, closes and frees. Records that are unwritten then are lost. Use target_status() after a flush
 * to find out.
 */
void target_close(struct target *target, int64_t deadline_ns);
/*
 * In a forked child of the process that opened it: closes the child's descriptors, and with them its hold on the
 * lock. Writes and frees nothing.
 */
void target_leave(struct target *target);

/*
 * Whether a file of ours was removed, or renamed as logrotate does: later records would follow it. Checks the name
 * at most once a second, and with the last record. Also whether the file was emptied (copytruncate of logrotate),
 * each time.
 */
bool target_lost_its_name(struct target *target, bool at_end);

/*
 * Call if target_lost_its_name(). Returns true if another file was opened under the name, or the file was emptied,
 * with a line for the user. The caller then writes the header again, and waiting records go to the new file. If no file can be opened,
 * the line says so once, and the old file continues.
 */
bool target_renew(struct target *target, const struct target_options *options, char *ret_message,
		  size_t message_size);

enum target_state {
	TARGET_OK,
	TARGET_STALLED, /* records wait */
	TARGET_GONE,    /* no process can ever read the output; writes are no longer tried */
};

struct target_status {
	enum target_state state;
	int last_error; /* negative errno of the last failed attempt, 0 for none; -EAGAIN: reader too\n\t\t\t   slow */
	uint64_t dropped_records;
	size_t pending_records;
	size_t pending_bytes;
};

struct target_status target_status(const struct target *target);

/*
 * Returns true once in a target's life, if something happened that the user should know (a full disk, dropped
 * records, not a reader that left), with one line in ret_message. Never for stderr itself.
 */
bool target_take_warning(struct target *target, char *ret_message, size_t message_size);
