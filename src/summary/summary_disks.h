/* Devices that the job used, each with the bytes that it read and wrote there by the end of the recording. */
#pragma once

#include <stddef.h>

#include "base/buffer.h"
#include "record/reader.h"
#include "resource_tracker_analysis.h"

enum { DISKS_SHOWN = 8, DISK_NAME_BYTES = 40 };

struct summary_disks {
	struct {
		char device[DISK_NAME_BYTES];
		double read_bytes, written_bytes;
	} of[DISKS_SHOWN];
	size_t count;
};

void summary_disks_want(struct metric_set *wanted);
/* The bytes of a frame are totals, so the last frame's count. */
void summary_disks_add(struct summary_disks *disks, const struct frame *frame);
/* Adds a line for each device, after a line break. */
void summary_disks_lines(struct buffer *out, const struct summary_disks *disks, enum rt_size_unit unit,
			 int indent);
/* Adds "disks":[...] */
void summary_disks_json(struct buffer *out, const struct summary_disks *disks);
