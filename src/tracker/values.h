/* The values of a frame by name and by number, for the newest sample (values.c) and for snapshots (snapshot.c). */
#pragma once

#include "metric/place.h"
#include "resource_tracker.h"

/* The number of a metric, which is never 0, and back. False: this build has no such metric. */
rt_metric metric_number(enum row_kind kind, size_t index);
bool metric_of_number(rt_metric metric, enum row_kind *ret_kind, size_t *ret_index);

/* The value in a row. NULL: the frame has no row for it. Texts are those of the frame. */
struct rt_value value_in_row(const struct row *row, enum row_kind kind, size_t index);
/* Whether `instance` is -ENOENT rather than absent if the frame has no row for it. */
bool instance_is_missing(enum row_kind kind, size_t instance);

/* Returns -ENOENT if there is no such metric, and -EINVAL if its brackets do not fit. */
int find_named_place(const char *name, struct metric_place *ret_place);
/* -ENOENT: no row has this key. */
int value_at_place(const struct frame *frame, const struct metric_place *place, struct rt_value *ret_value);
