/*
 * A frame as bytes: a copy that outlives the tracker's frames, also in another process of the same build. Absent values keep their
 * reasons. It leaves out the members that derive.h needs beside the fields (read_ns, cpus, ...).
 */
#pragma once

#include "base/buffer.h"
#include "metric/frame.h"

void frame_pack(struct buffer *out, const struct frame *frame);
/* Fills an empty frame, which the caller frees with frame_done(). -EBADMSG: other bytes; -ENOMEM. */
int frame_unpack(struct frame *ret_frame, const void *bytes, size_t length);
