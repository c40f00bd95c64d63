/*
 * Formats amounts for people: three significant digits and a unit that fits.
 */
#pragma once

#include "base/buffer.h"
#include "record/problem.h"

/* All of them write "unknown" for a number that is not finite. */

/* "0", "512 B", "1.46 KiB", "501 MiB", "2.00 GiB"; RT_SIZE_AUTO chooses among the binary units. */
void add_size(struct buffer *out, double bytes, enum rt_size_unit unit);
/* The same of MiB, in the unit that fits. */
void add_size_of_mib(struct buffer *out, double mib);

/* "3.2 ms", "0.25 s", "12.3 s", "1 min 40 s", "2 h 5 min", "3 d 4 h" */
void add_duration(struct buffer *out, double secs);

/* At most three significant digits, without an exponent: "0.031", "2.39", "17.5", "1200" */
void add_figure(struct buffer *out, double value);

/* An amount inside a sentence: amount_of(secs, add_duration).text */
struct amount {
	char text[40];
};
struct amount amount_of(double value, void (*add)(struct buffer *out, double value));
static inline struct amount amount_of_mib(double mib)
{
	return amount_of(mib, add_size_of_mib);
}

/* One block character for each value from 0 to `most`: " ▁▂▃▄▅▆▇█". A blank for an absent one (NaN). */
void add_sparkline(struct buffer *out, const double *values, size_t count, double most);

/* An amount in a unit of the catalogue: "1.5 GiB" of MiB, "3.2 ms" of s, "1.96 cores", "12.5 %". A bare number without a unit. */
void add_amount(struct buffer *out, double value, const char *unit);

/* The catalogue's unit of a column of a recording, or "" if it has none, or is unknown. */
const char *unit_of_column(const char *name);
