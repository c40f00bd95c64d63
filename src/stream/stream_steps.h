/* Steps that the destinations share. */
#pragma once

#include "stream/stream.h"

/*
 * The next sample of the run: 1, or 0 if there is none for now, or a negative errno. `taken`: samples that are cut but not in the
 * state. Notes how the run ends, and that it has ended if another run follows in the file.
 */
int stream_next(struct stream *stream, int64_t taken, const struct frame **ret_frame);

/* Reads the batch to send next. If it cannot be read, says so, counts it as not stored and returns false. */
bool stream_read_batch(struct stream *stream, struct buffer *ret_bytes);
/* A request failed: says so once, and returns whether to wait or to give up. */
enum stream_step stream_failed(struct stream *stream, const char *doing, const struct outcome *outcome);
/* The server wants nothing of this run. */
enum stream_step stream_refused(struct stream *stream, const char *doing, const struct outcome *outcome);
/* Something does not work, although another step may. */
void stream_say_trouble(struct stream *stream, const char *doing, const struct outcome *outcome);
void stream_went_well(struct stream *stream);
/* With TRACKER_DEBUG=1. */
void stream_say_step(int64_t begun_ns, const char *doing, const struct outcome *outcome);
/* The batch with the next number is stored, or was given up. */
void stream_count_sent(struct stream *stream, bool stored);
/* Everything is sent. */
void stream_forget(struct stream *stream);
