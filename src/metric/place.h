/*
 * The full name of one number or text of a sample, also where a sample has several:
 *
 *   "memory.used_mib"                       the only one
 *   "disk[nvme0n1].read_bytes_per_sec", "gpu[0].utilization_pct", "disk[sda].mounts[/home].used_pct",
 *   "cpu.per_core_pct[3]"                   by its key, or by its position from 0
 *   "network[sum].rx_bytes_per_sec"         sum, mean or max over all rows
 */
#pragma once

#include "metric/frame.h"

enum { PLACE_KEY_BYTES = 256, PLACE_DEPTH = 2 };

enum place_choice { PLACE_ONLY, PLACE_KEY, PLACE_SUM, PLACE_MEAN, PLACE_MAX };

struct metric_place {
	enum row_kind kind;
	size_t index; /* of the metric in its row kind */
	enum place_choice choice;
	int depth; /* number of keys, outermost first */
	char keys[PLACE_DEPTH][PLACE_KEY_BYTES];
};

/*
 * Takes the keys in brackets out of a name, which leaves "disk.mounts.used_pct". Returns false if the text is
 * not a valid name.
 */
bool metric_place_split(const char *name, char *ret_plain, size_t size, struct metric_place *ret_place);

/* Finds the metric of a full name without brackets. Sets kind and index only. */
bool metric_place_find(const char *plain, struct metric_place *place);

enum place_fault {
	PLACE_GOOD,
	PLACE_HAS_NO_KEYS, /* brackets, but only one value */
	PLACE_NEEDS_KEYS,  /* several values, but no brackets */
	PLACE_NEEDS_OTHER_KEYS,
};
/* Resolves the keys once the kind is known. */
enum place_fault metric_place_settle(struct metric_place *place);

/* Returns how many kinds with several rows lie on the way to a metric. */
int metric_place_levels(enum row_kind kind);

/* Returns the row with the value, or NULL if this sample lacks it. Not for sum, mean and max. */
const struct row *metric_place_row(const struct metric_place *place, const struct frame *frame);

/* Returns the value as a number; NaN if it is absent, a text, or not in this sample. */
double metric_place_real(const struct metric_place *place, const struct frame *frame);

/* Returns the value in a row of the place's kind; NaN if it is absent or a text. */
double metric_place_real_of(const struct metric_place *place, const struct row *row);

static inline const struct metric *metric_place_metric(const struct metric_place *place)
{
	return &ROW_DESCRIPTIONS[place->kind].metrics[place->index];
}
