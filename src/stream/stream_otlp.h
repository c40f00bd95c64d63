/*
 * A run on its way to a receiver of OTLP; the counterpart of the calls of Sentinel. A batch is a whole request, encoded
 * and compressed. The last one is the log record of the run's end.
 */
#pragma once

#include "stream/stream.h"

/* Makes the state of a run from its first sample. */
int otlp_stream_begin(struct stream *stream, const struct frame *first);
/* Takes it from the state on disk. */
int otlp_stream_adopt(struct stream *stream);

/* Cuts one batch. Returns 1 if there may be more to cut, 0 if not, or a negative errno with everything unchanged. */
int otlp_stream_cut(struct stream *stream);
/* Cuts the batches of the end, for a recording without an end. */
int otlp_stream_end(struct stream *stream);

enum stream_step otlp_stream_send(struct stream *stream);

/* Points in a batch; 0 for one that cannot be read, and for the log record. */
int64_t otlp_stream_points(const struct stream *stream, int64_t number);
