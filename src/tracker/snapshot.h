/* The newest sample as bytes (frame_pack.h), which the recorder in another process sends. */
#pragma once

#include "base/buffer.h"
#include "resource_tracker.h"

/* -ENODATA: no sample yet; -ECHILD; -ENOMEM. */
int tracker_pack_newest(rt_tracker *tracker, struct buffer *ret_bytes);
