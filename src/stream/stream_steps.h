/* Steps that the two kinds of receivers share: stream_send.c (Sentinel) and stream_otlp.c. */
#pragma once

#include "stream/stream.h"

/* A request failed: says so once, and returns whether to wait or to give up. */
enum stream_step stream_failed(struct stream *stream, const char *doing, const struct outcome *outcome);
/* The server wants nothing of this run. */
enum stream_step stream_refused(struct stream *stream, const char *doing, const struct outcome *outcome);
void stream_went_well(struct stream *stream);
/* With TRACKER_DEBUG=1. */
void stream_say_step(int64_t begun_ns, const char *doing, const struct outcome *outcome);
/* The batch with the next number is stored, or was given up. */
void stream_count_sent(struct stream *stream, bool stored);
/* Everything is sent. */
void stream_forget(struct stream *stream);
