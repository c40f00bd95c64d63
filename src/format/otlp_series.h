/*
 * The time series of a run (otlp_series.def): samples in, points out. Pure.
 *
 * A run's samples hold changes and come often. A receiver wants totals, and seldom. So a run adds the changes up and
 * makes a point of all series at the first sample of each step, and at the end. Between two points nothing of a
 * counter is lost.
 *
 *   start          a point of value 0 of each counter, so that increase() sees the first step
 *   each step      the totals and the values of that sample
 *                  a value that has become unknown gets a mark, so that no graph draws its last value any further
 *   end            the same, and the series of the group END
 *   end + 1 ms     a mark that each series has ended
 *
 * The state of a run is kept as text, so that another process can go on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "metric/frame.h"
#include "metric/metric_set.h"

enum otlp_form { OTLP_SUM, OTLP_LEVEL, OTLP_MEASURE };
enum otlp_group { OTLP_JOB, OTLP_GPU, OTLP_MACHINE, OTLP_PROGRAM, OTLP_PROGRAM_GPU, OTLP_END };
/* Series that are sent on request. */
enum { OTLP_WITH_MACHINE = 1, OTLP_WITH_PROGRAMS = 2 };
enum otlp_way { OTLP_ADDED, OTLP_TAKEN, OTLP_KEPT, OTLP_MOST };

struct otlp_series {
	enum otlp_group group;
	const char *name;
	const char *unit;
	enum otlp_form form;
	const char *key; /* NULL: the only series of its name */
	const char *value;
	enum row_kind kind;
	size_t offset;
	enum otlp_way way;
	double factor;
	enum row_kind part_kind; /* this and the next one: only of series for each device or program */
	size_t part_offset;
};

/* Plain series come first, then those for each device or program. */
enum {
#define SERIES(...) +1
	OTLP_PLAIN_COUNT = 0
#include "format/otlp_series.def"
};
enum {
#define SERIES(...) +1
#define EACH(...) +1
	OTLP_SERIES_COUNT = 0
#include "format/otlp_series.def"
};

extern const struct otlp_series OTLP_SERIES[OTLP_SERIES_COUNT];

/*
 * A slot is one time series. A plain series has the slot of its own number. A series for each device has one slot for use that
 * belongs to no known device, and one for each of the first 23 devices. Programs have slots like devices. The first one is
 * that of all others.
 */
enum {
	OTLP_DEVICES_MOST = 23,
	OTLP_SLOTS_EACH = OTLP_DEVICES_MOST + 1,
	OTLP_SLOT_COUNT = OTLP_PLAIN_COUNT + (OTLP_SERIES_COUNT - OTLP_PLAIN_COUNT) * OTLP_SLOTS_EACH,
	OTLP_SLOT_WORDS = (OTLP_SLOT_COUNT + 63) / 64,
};
enum { OTLP_REASON_SIZE = 32, OTLP_MOST_STEPS = 240, OTLP_DEVICE_SIZE = 64 };

struct otlp_set {
	uint64_t words[OTLP_SLOT_WORDS];
};

static inline bool otlp_set_has(const struct otlp_set *set, size_t slot)
{
	return set->words[slot / 64] >> slot % 64 & 1;
}

static inline void otlp_set_put(struct otlp_set *set, size_t slot, bool in)
{
	uint64_t bit = UINT64_C(1) << slot % 64;

	set->words[slot / 64] = in ? set->words[slot / 64] | bit : set->words[slot / 64] & ~bit;
}

static inline size_t otlp_slot_series(size_t slot)
{
	return slot < OTLP_PLAIN_COUNT ? slot
				       : OTLP_PLAIN_COUNT + (slot - OTLP_PLAIN_COUNT) / OTLP_SLOTS_EACH;
}

/* The slots of a series end where those of the next one begin. */
static inline size_t otlp_first_slot(size_t series)
{
	return series < OTLP_PLAIN_COUNT ? series
					 : OTLP_PLAIN_COUNT + (series - OTLP_PLAIN_COUNT) * OTLP_SLOTS_EACH;
}

/* The devices and programs of a run, in the order in which they were first seen. */
enum otlp_device_kind { OTLP_DISK, OTLP_DEVICE_GPU, OTLP_INTERFACE, OTLP_PROGRAM_NAME, OTLP_DEVICE_KINDS };

struct otlp_devices {
	size_t counts[OTLP_DEVICE_KINDS];
	char names[OTLP_DEVICE_KINDS][OTLP_DEVICES_MOST][OTLP_DEVICE_SIZE];
};

/* The attribute that names the device or the program of a slot. Returns NULL if the slot has none. */
const char *otlp_slot_device(const struct otlp_devices *devices, size_t slot, const char **ret_key);

struct otlp_run {
	int64_t step_ns;       /* 0: a point at each sample */
	unsigned extras;       /* OTLP_WITH_... */
	int64_t start_ns;      /* wall clock. 0: no sample yet */
	int64_t last_ns;       /* of the last sample; grows always */
	int64_t due_ns;        /* since the start: the next step */
	bool pending;          /* samples have come after the last point */
	struct otlp_set known; /* slots with a value */
	struct otlp_set sent;  /* slots with a point */
	struct otlp_set shown; /* slots with a value in the last point */
	double values[OTLP_SLOT_COUNT];
	struct otlp_devices devices;
	char reason[OTLP_REASON_SIZE]; /* of the end, "" for none yet */
};

struct otlp_point {
	int64_t time_ns;
	struct otlp_set present;
	struct otlp_set gone; /* slots whose value became unknown since the point before */
	double values[OTLP_SLOT_COUNT];
};

/* The points of one request. Zero is an empty batch. */
struct otlp_batch {
	size_t count;
	struct otlp_set zero;  /* slots whose first point is in this batch: they get a 0 at the start */
	struct otlp_set stale; /* slots that end */
	bool is_end;           /* `stale` is set */
	struct otlp_devices devices;
	int64_t start_ns;
	int64_t stale_ns;
	char reason[OTLP_REASON_SIZE];
	struct otlp_point points[OTLP_MOST_STEPS + 1];
};

/* Adds the metrics that the series come from. */
void otlp_want(struct metric_set *wanted);

/* Begins a run with its first sample, which is then fed like the others. */
void otlp_run_begin(struct otlp_run *ret_run, const struct frame *first, int64_t step_ns, unsigned extras);

/* Takes the next sample. Returns whether the batch is full: end it, and feed the next sample into another one. */
bool otlp_run_feed(struct otlp_run *run, const struct frame *sample, struct otlp_batch *batch);

/* Adds the last point, if one is missing, and the marks of the end. There is room for that in a full batch. */
void otlp_run_end(struct otlp_run *run, struct otlp_batch *batch);

void otlp_run_format(const struct otlp_run *run, struct buffer *out);
/* 0 or -EBADMSG. */
int otlp_run_parse(const char *text, size_t length, struct otlp_run *ret_run);
