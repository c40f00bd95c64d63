/*
 * One number, or text, of a sample by its full name, also where a sample has several:
 *
 *   "memory.used_mib"                       the only one
 *   "disk[nvme0n1].read_bytes_per_sec", "gpu[0].utilization_pct", "disk[sda].mounts[/home].used_pct",
 *   "cpu.per_core_pct[3]"                   by its key, or by its position from 0
 *   "network[sum].rx_bytes_per_sec"         sum, mean or max over all that are there
 */
#pragma once

#include "metric/frame.h"

enum { PLACE_KEY_BYTES = 256, PLACE_DEPTH = 2 };

enum place_choice { PLACE_ONLY, PLACE_KEY, PLACE_SUM, PLACE_MEAN, PLACE_MAX };

struct metric_place {
	enum row_kind kind;
	size_t index; /* of the metric in its kind */
	enum place_choice choice;
	int depth; /* number of keys that follow, outermost first */
	char keys[PLACE_DEPTH][PLACE_KEY_BYTES];
};

/*
 * Takes the keys in brackets out of a name: "disk.mounts.used_pct" is left. False when the text does not parse
 * as a name.
 */
bool metric_place_split(const char *name, char *ret_plain, size_t size, struct metric_place *ret_place);

/* The metric of a full name without brackets; kind and index alone are set. */
bool metric_place_find(const char *plain, struct metric_place *place);

enum place_fault {
	PLACE_GOOD,
	PLACE_HAS_NO_KEYS, /* there is only one, and there are brackets */
	PLACE_NEEDS_KEYS,  /* there are several, and there are none */
	PLACE_NEEDS_OTHER_KEYS,
};
/* Resolves the keys, once the kind is known. */
enum place_fault metric_place_settle(struct metric_place *place);

/* How many kinds with several rows stand on the way to a metric. */
int metric_place_levels(enum row_kind kind);

/* The row that it is in; NULL if this sample has none. Not for sum, mean and max. */
const struct row *metric_place_row(const struct metric_place *place, const struct frame *frame);

/* As a number; NaN when absent, a text, or not in this sample. */
double metric_place_real(const struct metric_place *place, const struct frame *frame);

static inline const struct metric *metric_place_metric(const struct metric_place *place)
{
	return &ROW_DESCRIPTIONS[place->kind].metrics[place->index];
}
