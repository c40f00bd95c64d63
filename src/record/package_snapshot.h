/*
 * Reads a snapshot of the Python package: one JSON object with the rows of its two trackers.
 *
 *	{"metadata": {"version": 1, "pid": 7, "interval": 1, ...}, "server_info": {...}, "cloud_info": ...,
 *	 "process_metrics": [{"timestamp": ..., "memory_mib": ...}, ...], "system_metrics": [{...}, ...]}
 *
 * The snapshot may also be the "tracker" of the object that a Metaflow step stores. Rows are paired by
 * position, as in the package. A row without a partner is left out. If only one tracker has rows, they are
 * the samples. The text is kept in memory.
 */
#pragma once

#include "format/csv_decode.h"
#include "metric/frame.h"
#include "record/source.h"

struct snapshot;

/* Tells whether text begins like a snapshot. */
bool snapshot_begins(struct scan start);

/* Reads all bytes of the source. Returns -EBADMSG if they are not a snapshot. */
int snapshot_open(struct source *source, struct snapshot **ret_snapshot, struct rt_problem *problem);
void snapshot_close(struct snapshot *snapshot);

/* Reads the next sample into an empty frame: 1, 0 at the end, or -EBADMSG. */
int snapshot_next(struct snapshot *snapshot, struct frame *frame);

/* Adds a run_start with the facts in the metadata and the server's description. */
void snapshot_identity(const struct snapshot *snapshot, struct frame *frame);
