/*
 * Where records go: a file, a FIFO, a device, or the stream we were started with. Whatever is at the other
 * end, writing never waits for it, and a record is never left half written if that can be helped.
 *
 * A record is one or more whole lines, written with one write(2) in the good case. What cannot be written is
 * kept in a bounded ring, whole and in order, and tried again at each later write, at target_flush() and at
 * target_close(); when the ring is full the oldest records are dropped and counted.
 *
 *  - A file of ours that takes only part of a record (disk full, quota, RLIMIT_FSIZE, I/O error) is shortened
 * to the end of the last whole record.
 *  - A stream or a file that the job writes as well is never shortened: the rest of the record follows first,
 * and a newline and the whole record if somebody has appended to the file in the meantime.
 *
 * Nothing here prints, changes O_NONBLOCK on a shared description or touches signal dispositions: SIGPIPE,
 * SIGXFSZ and SIGTTOU are held back from the calling thread while it writes. One target belongs to one thread
 * at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sink/tail_repair.h"

struct target;

struct target_options {
	bool append;
	enum record_text text;
	size_t ring_ceiling_bytes; /* 0: 256 KiB */
	const char *csv_head;      /* see open_output.h; only while opening */
};

/*
 * Opens an output by name as open_output.h says; "-", /dev/stdout, /dev/stderr and /dev/fd/N are descriptors
 * that are open already. The file is created 0666 & ~umask and is locked until target_close(). Returns 0, or
 * a negative errno (-EBUSY: a live recording holds it) and one line for the user in ret_message.
 */
int target_open(const char *path, const struct target_options *options, struct target **ret_target,
		char *ret_message, size_t message_size);

/*
 * The same for a descriptor that we share with others; it stays the caller's and unchanged. `name` is for
 * messages. -EBADF if it is closed or not open for writing.
 */
int target_from_fd(int fd, const char *name, const struct target_options *options, struct target **ret_target,
		   char *ret_message, size_t message_size);

/* What opening found and did; constant afterwards. */
struct target_opening {
	bool had_content; /* after the repair: no second CSV header. Of a descriptor only said with append */
	unsigned renamed_number; /* the earlier recording is now FILE.N; 0 if there was none */
	struct tail_repair repair;
};

const struct target_opening *target_opening(const struct target *target);

static inline bool target_had_content(const struct target *target)
{
	return target_opening(target)->had_content;
}

/*
 * Writes or keeps one record. Returns 0 when nothing is left to write, -EAGAIN when bytes wait for the next
 * call, -EPIPE when the target is gone.
 */
int target_write(struct target *target, const char *bytes, size_t length);

/*
 * The same for what stands before the first record and must not be dropped (a CSV header): it waits outside
 * the ring. To be called at most once, before any record.
 */
int target_write_head(struct target *target, const char *bytes, size_t length);

/*
 * Tries again to write what waits and gives the reader of a stream until `deadline_ns` (CLOCK_MONOTONIC; 0:
 * no time at all) to make room. Files are tried once. Returns as target_write() does.
 */
int target_flush(struct target *target, int64_t deadline_ns);

/* After the last flush: what still waits may be lost, of which target_take_warning() tells who was told nothing before. */
void target_end(struct target *target);

/* Flushes, unlocks, closes and frees. What is not written then is lost: ask target_status() after a flush. */
void target_close(struct target *target, int64_t deadline_ns);
/* In a forked child of the process that opened it: lets go of the file and its lock, writes and frees nothing. */
void target_leave(struct target *target);

/*
 * Whether a file of ours was removed, or renamed as logrotate does: all later records would go along. Looks at the name at
 * most once a second.
 */
bool target_lost_its_name(struct target *target);

/*
 * Then: true when another file was opened under the name, with a line for the user. What stands before the first record
 * is to be written again, and what waits goes to the new file. Where none can be opened, the line says so once and the old
 * file goes on.
 */
bool target_renew(struct target *target, const struct target_options *options, char *ret_message,
		  size_t message_size);

enum target_state {
	TARGET_OK,
	TARGET_STALLED, /* records wait */
	TARGET_GONE,    /* nobody can ever read what is written; writes are no longer tried */
};

struct target_status {
	enum target_state state;
	int last_error; /* negative errno of the last failed attempt, 0 if there was none; -EAGAIN: reader too
			   slow */
	uint64_t dropped_records;
	size_t pending_records;
	size_t pending_bytes;
};

struct target_status target_status(const struct target *target);

/*
 * True once in a target's life, when there is something the user should know (a full disk, dropped records,
 * not a reader that has left), with one line about it in ret_message. Never for standard error itself.
 */
bool target_take_warning(struct target *target, char *ret_message, size_t message_size);
