/*
 * A snapshot of the Python package, read: one JSON object with the rows of its two trackers.
 *
 *   {"metadata": {"version": 1, "pid": 7, "interval": 1, ...}, "server_info": {...}, "cloud_info": ...,
 *    "process_metrics": [{"timestamp": ..., "memory_mib": ...}, ...], "system_metrics": [{...}, ...]}
 *
 * also as the "tracker" of what a Metaflow step stores. Rows are paired by their position, as the package does, and
 * those that have no partner are left out; with one tracker alone, its rows are the samples. Its text is held in
 * memory.
 */
#pragma once

#include "format/csv_decode.h"
#include "metric/frame.h"
#include "record/source.h"

struct snapshot;

/* Whether text begins like one. */
bool snapshot_begins(struct scan start);

/* Takes all bytes of the source. -EBADMSG: no snapshot. */
int snapshot_open(struct source *source, struct snapshot **ret_snapshot, struct rt_problem *problem);
void snapshot_close(struct snapshot *snapshot);

/* The next sample, into an empty frame: 1; 0 at the end; -EBADMSG. */
int snapshot_next(struct snapshot *snapshot, struct frame *frame);

/* What the metadata and the server's description say, as a run_start. */
void snapshot_identity(const struct snapshot *snapshot, struct frame *frame);
