/*
 * What a run came to on each GPU: a part of the summary, made in the same pass. Devices and MIG instances have a place
 * each, in the order in which the recording tells of them.
 */
#pragma once

#include "advice/units.h"
#include "base/buffer.h"
#include "metric/frame.h"
#include "metric/metric_set.h"

struct rt_summary;
struct moment;
struct summary_gpus;

void summary_gpus_want(struct metric_set *wanted);
/* Takes the devices of a sample into summary->gpus; a list that cannot be made or is full leaves them out. */
void summary_gpus_add(struct rt_summary *summary, const struct frame *frame, const struct moment *moment);
/* Another run begins. */
void summary_gpus_clear(struct summary_gpus *gpus);
void summary_gpus_free(struct summary_gpus *gpus);

/* Joules of all devices together; NaN: no device tells. */
double summary_gpus_energy_joules(const struct rt_summary *summary);

/* Which of the GPUs that the job could use it never used. */
struct idle_gpus {
	int64_t count; /* -1: unknown, for one of them at least */
	int64_t of;
	struct buffer names; /* "1, 2, 5"; to be ended with buffer_done() */
};
struct idle_gpus summary_gpus_idle(const struct rt_summary *summary);

/* "gpus":[{...},...] without what stands around it. */
void summary_gpus_json(struct buffer *out, const struct rt_summary *summary);

/* A line for each where there are several, and one for all that were idle: a sum hides those. Each begins with a line end and an indent. */
void summary_gpus_lines(struct buffer *out, const struct rt_summary *summary, enum rt_size_unit unit,
			int indent);
