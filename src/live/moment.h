/*
 * A moment: the values of one sample that the live view shows, or of several samples that were merged.
 *
 * An unknown value is NaN.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/frame.h"
#include "metric/metric_set.h"

enum series {
#define SERIES(name, ...) SERIES_##name,
#include "live/series.def"
	SERIES_COUNT
};

enum detail_kind { DETAIL_PROGRAM, DETAIL_GPU, DETAIL_DISK, DETAIL_NETWORK, DETAIL_MOUNT };

/* The numbers of a detail by its kind. */
enum { PROGRAM_CPU, PROGRAM_MEMORY, PROGRAM_READ, PROGRAM_WRITTEN, PROGRAM_PROCESSES, PROGRAM_VRAM };
enum {
	GPU_BUSY,
	GPU_MEMORY,
	GPU_MEMORY_TOTAL,
	GPU_TEMPERATURE,
	GPU_POWER,
	GPU_JOB,
	GPU_JOB_MEMORY,
	GPU_SM,
	GPU_TENSOR,
	GPU_XID, /* the last; 0: none */
	GPU_INDEX
};
enum { DEVICE_IN, DEVICE_OUT };
enum { MOUNT_USED, MOUNT_TOTAL, MOUNT_FULL };
enum {
	DETAIL_NUMBERS = 11,
	DETAIL_NAME_BYTES = 48,
	DETAILS_MOST = 64,
	CORES_MOST = 1024,
	CORE_UNKNOWN = 255
};

/* A line of a table: a program, a GPU, a disk, an interface, a file system. */
struct detail {
	float numbers[DETAIL_NUMBERS];
	enum detail_kind kind;
	char name[DETAIL_NAME_BYTES];
};

struct moment {
	double end_secs;  /* since the recording began */
	double step_secs; /* the time up to then that it covers */
	double timestamp; /* wall-clock time of its end */
	double values[SERIES_COUNT];
	struct detail *details;
	size_t detail_count;
	uint8_t *cores; /* busy percent of each */
	size_t core_count;
	bool machine_pressure; /* the pressure is the machine's, not the job's */
};

/* Adds the metrics that moments are made of. */
void moment_want(struct metric_set *wanted);

/* Returns 0 or -ENOMEM. */
int moment_take(struct moment *ret_moment, const struct frame *frame);
void moment_done(struct moment *moment);

/* Merges a moment with the one that follows it, which is emptied. Its details are those of the later one. */
void moment_merge(struct moment *moment, struct moment *next);

/* Whether the largest value of several stands for them (memory), or their mean. */
bool series_is_peak(enum series series);
