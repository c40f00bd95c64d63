/* Parses lengths of time. See duration.h. */
#include "base/duration.h"

#include <math.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/scan.h"

static const struct {
	const char *name;
	double per_second, secs; /* one of the two is 1: 500 ms is 500 / 1000 s, which rounds once */
} UNITS[] = {{"", 1, 1}, {"ms", 1000, 1}, {"s", 1, 1}, {"m", 1, 60}, {"h", 1, 3600}, {"d", 1, 86400}};

bool parse_duration(const char *text, double *ret_secs)
{
	struct scan scan = scan_trim(scan_bytes(text, strlen(text)));
	double number;

	if (!scan_real(&scan, &number))
		return false;
	scan_blanks(&scan);
	for (size_t i = 0; i < ARRAY_SIZE(UNITS); i++) {
		if (!scan_is(&scan, UNITS[i].name))
			continue;
		number = number / UNITS[i].per_second * UNITS[i].secs;
		if (!isfinite(number))
			return false;
		*ret_secs = number;
		return true;
	}
	return false;
}

bool parse_positive(const char *text, double most, double *ret_number)
{
	struct scan number = scan_trim(scan_bytes(text, strlen(text)));
	double value;

	if (!scan_real(&number, &value) || scan_left(&number) || !(value > 0 && value <= most))
		return false;
	*ret_number = value;
	return true;
}

bool parse_count_or_off(const char *text, uint64_t most, int64_t *ret_count)
{
	struct scan value = scan_trim(scan_bytes(text, strlen(text)));
	uint64_t count = 0;

	if (!scan_is(&value, "off") &&
	    (!scan_u64(&value, &count) || scan_left(&value) || !count || count > most))
		return false;
	*ret_count = (int64_t)count;
	return true;
}
