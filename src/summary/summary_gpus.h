/*
 * The figures of each GPU: a part of the summary, from the same pass. Each device and MIG instance has an
 * entry, in the order of the recording.
 */
#pragma once

#include "table/units.h"
#include "base/buffer.h"
#include "metric/frame.h"
#include "metric/metric_set.h"
#include "summary/sums.h"

struct summary_gpus;

void summary_gpus_want(struct metric_set *wanted);
/*
 * Adds the devices of a sample. The first one makes the list. If memory runs out or the list is full, it leaves them out.
 */
void summary_gpus_add(struct summary_gpus **gpus, const struct frame *frame, const struct moment *moment);
/* Drops all figures, for the next run. */
void summary_gpus_clear(struct summary_gpus *gpus);
void summary_gpus_free(struct summary_gpus *gpus);

/* Returns the energy of all devices together. NaN: no device reports it. */
double summary_gpus_energy_joules(const struct summary_gpus *gpus);

/* Returns for how many hours whole GPUs stood without work of the job, added up. NaN: unknown, or there are instances. */
double summary_gpus_idle_hours(const struct summary_gpus *gpus);
/* The part of that in which the job held memory of them. */
double summary_gpus_held_idle_hours(const struct summary_gpus *gpus);

/* The GPUs that the job could have used and never did. */
struct idle_gpus {
	int64_t count; /* -1: unknown for at least one of them */
	int64_t of;
	struct buffer names; /* "1, 2, 5". The caller frees it with buffer_done() */
};
struct idle_gpus summary_gpus_idle(const struct summary_gpus *gpus, bool tracked);

/* A GPU whose memory was as good as full, most of it with the job's. */
struct full_gpu {
	int64_t index; /* -1: there is none */
	double used_mib, total_mib;
};
struct full_gpu summary_gpus_full(const struct summary_gpus *gpus);

/* Writes "gpus":[{...},...], to be put into an object. */
void summary_gpus_json(struct buffer *out, const struct summary_gpus *gpus);

/*
 * Adds a line for each of several devices, and one for all idle ones, which a sum would hide. Each line
 * begins with a line end and an indent.
 */
void summary_gpus_lines(struct buffer *out, const struct summary_gpus *gpus, enum rt_size_unit unit,
			int indent);
