/* The catalogue expanded into a typed struct for each row kind (struct disk_row, ...), for code that names metrics. */
#pragma once

#include "metric/row.h"

#define ROW_BEGIN(kind, parent, shape, key, source, cost, help) \
	struct kind##_row { \
		struct row row;
#define REAL(kind, name, unit, decimals, nature, help) double name;
#define COUNT(kind, name, unit, nature, help) int64_t name;
#define TEXT(kind, name, help) const char *name;
#define FLAG(kind, name, help) int64_t name;
#define RAW_REAL(kind, name, help) double name;
#define RAW_COUNT(kind, name, help) int64_t name;
#define DELTA_REAL(kind, name, unit, decimals, from, help) double name;
#define DELTA_COUNT(kind, name, unit, from, help) int64_t name;
#define CHANGE_REAL(kind, name, unit, decimals, help) double name;
#define CHANGE_COUNT(kind, name, unit, help) int64_t name;
#define RATE(kind, name, unit, decimals, from, help) double name;
#define EXACT_RATE(kind, name, unit, decimals, from, help) double name;
#define SUM_DELTA(kind, name, unit, of_kind, from, help) int64_t name;
#define SUM_RATE(kind, name, unit, decimals, of_kind, from, help) double name;
#define ROW_END(kind) \
	} \
	;
#include "metric/catalogue.def"
