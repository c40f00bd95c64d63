/* Formats amounts for people. See units.h. */
#include "table/units.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "record/column.h"

static const struct {
	const char *name;
	double bytes;
} SIZES[] = {
	[RT_SIZE_BYTES] = {"B", 1},
	[RT_SIZE_KIB] = {"KiB", 1024},
	[RT_SIZE_MIB] = {"MiB", 1048576},
	[RT_SIZE_GIB] = {"GiB", 1073741824},
	[RT_SIZE_TIB] = {"TiB", 1099511627776},
	[RT_SIZE_KB] = {"kB", 1e3},
	[RT_SIZE_MB] = {"MB", 1e6},
	[RT_SIZE_GB] = {"GB", 1e9},
	[RT_SIZE_TB] = {"TB", 1e12},
};

void add_figure(struct buffer *out, double value)
{
	double size = fabs(value);
	int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.1 ? 2 : 3;

	if (!isfinite(value))
		buffer_add_text(out, "unknown");
	else if (size != 0 && size < 0.0005)
		buffer_add_text(out, "< 0.001");
	else
		buffer_printf(out, "%.*f", size == 0 ? 0 : decimals, value);
}

void add_size(struct buffer *out, double bytes, enum rt_size_unit unit)
{
	if (unit == RT_SIZE_AUTO) {
		unit = RT_SIZE_BYTES;
		while (unit < RT_SIZE_TIB && fabs(bytes) >= SIZES[unit + 1].bytes * 0.9995)
			unit++;
	}
	if (bytes == 0 || !isfinite(bytes)) {
		add_figure(out, bytes);
		return;
	}
	if (unit == RT_SIZE_BYTES)
		buffer_printf(out, "%.0f", bytes);
	else
		add_figure(out, bytes / SIZES[unit].bytes);
	buffer_printf(out, " %s", SIZES[unit].name);
}

void add_size_of_mib(struct buffer *out, double mib)
{
	add_size(out, mib * 1024 * 1024, RT_SIZE_AUTO);
}

/* "2 h 5 min": two units. The second is left out if it is 0. */
static void add_two_units(struct buffer *out, int64_t larger, const char *larger_unit, int64_t smaller,
			  const char *smaller_unit)
{
	buffer_printf(out, "%lld %s", (long long)larger, larger_unit);
	if (smaller)
		buffer_printf(out, " %lld %s", (long long)smaller, smaller_unit);
}

void add_duration(struct buffer *out, double secs)
{
	int64_t whole;

	if (!isfinite(secs)) {
		add_figure(out, secs);
		return;
	}
	if (secs < 0.0995) {
		add_figure(out, secs * 1000);
		buffer_add_text(out, " ms");
		return;
	}
	if (secs < 59.95) {
		buffer_printf(out, secs < 9.995 ? "%.2f s" : "%.1f s", secs);
		return;
	}
	whole = fabs(secs) < 1e15 ? (int64_t)(secs + 0.5) : (int64_t)1e15;
	if (whole < 3600)
		add_two_units(out, whole / 60, "min", whole % 60, "s");
	else if (whole < 86400)
		add_two_units(out, whole / 3600, "h", whole % 3600 / 60, "min");
	else
		add_two_units(out, whole / 86400, "d", whole % 86400 / 3600, "h");
}

void add_sparkline(struct buffer *out, const double *values, size_t count, double most)
{
	static const char *const BLOCKS[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	enum { HIGHEST = ARRAY_SIZE(BLOCKS) - 1 };

	for (size_t i = 0; i < count; i++) {
		double height = most > 0 ? values[i] / most * (double)HIGHEST : 0;

		/* A measured value of 0 still gets a mark, unlike an absent one. */
		buffer_add_text(out, isnan(values[i])           ? BLOCKS[0]
				     : height < 1               ? BLOCKS[1]
				     : height > (double)HIGHEST ? BLOCKS[HIGHEST]
								: BLOCKS[(size_t)(height + 0.5)]);
	}
}

static bool add_amount_of_size(struct buffer *out, double value, const char *unit)
{
	static const struct {
		const char *unit, *behind;
		double bytes;
		enum rt_size_unit shown;
	} KINDS[] = {
		{"MiB", "", 1048576, RT_SIZE_AUTO},
		{"bytes", "", 1, RT_SIZE_AUTO},
		{"bytes/s", "/s", 1, RT_SIZE_AUTO},
		{"GB", "", 1e9, RT_SIZE_GB},
	};

	for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++)
		if (strcmp(unit, KINDS[i].unit) == 0) {
			add_size(out, value * KINDS[i].bytes, KINDS[i].shown);
			buffer_add_text(out, value != 0 ? KINDS[i].behind : "");
			return true;
		}
	return false;
}

void add_amount(struct buffer *out, double value, const char *unit)
{
	if (!isfinite(value))
		buffer_add_text(out, "unknown");
	else if (add_amount_of_size(out, value, unit))
		return;
	else if (strcmp(unit, "s") == 0 && value != 0)
		add_duration(out, value);
	else if (strcmp(unit, "ms") == 0 && value != 0)
		add_duration(out, value / 1000);
	else if (value == floor(value) && fabs(value) < 1e15 && (value == 0 || strcmp(unit, "cores") != 0))
		buffer_printf(out, "%.0f", value);
	else
		add_figure(out, value);
	if (isfinite(value) && value != 0 && *unit && strcmp(unit, "s") != 0 && strcmp(unit, "ms") != 0)
		buffer_printf(out, " %s", unit);
}

const char *unit_of_column(const char *name)
{
	struct metric_place place;
	struct rt_problem problem;

	return record_column_find(name, &place, &problem) == 0 ? metric_place_metric(&place)->unit : "";
}

struct amount amount_of(double value, void (*add)(struct buffer *out, double value))
{
	CLEANUP_BUFFER struct buffer text = BUFFER(sizeof(struct amount));
	struct amount amount = {""};

	add(&text, value);
	if (!buffer_error(&text))
		memcpy(amount.text, text.data, text.length + 1);
	return amount;
}
