/* Bounded scanning of text; see scan.h. */
#include "base/scan.h"

#include <math.h>

bool scan_line(struct scan *scan, struct scan *ret_line)
{
	const char *newline;

	if (scan->at >= scan->end)
		return false;
	newline = memchr(scan->at, '\n', scan_left(scan));
	*ret_line = (struct scan){scan->at, newline ? newline : scan->end};
	scan->at = newline ? newline + 1 : scan->end;
	return true;
}

bool scan_word(struct scan *scan, struct scan *ret_word)
{
	struct scan probe = *scan;
	const char *start;

	scan_blanks(&probe);
	start = probe.at;
	while (probe.at < probe.end && *probe.at != ' ' && *probe.at != '\t' && *probe.at != '\n')
		probe.at++;
	if (probe.at == start)
		return false;
	*ret_word = (struct scan){start, probe.at};
	*scan = probe;
	return true;
}

bool scan_until(struct scan *scan, char stop, struct scan *ret_before)
{
	const char *found = scan->at < scan->end ? memchr(scan->at, stop, scan_left(scan)) : NULL;

	if (!found)
		return false;
	*ret_before = (struct scan){scan->at, found};
	scan->at = found + 1;
	return true;
}

bool scan_u64(struct scan *scan, uint64_t *ret_value)
{
	struct scan probe = *scan;
	const char *start;
	uint64_t value = 0;

	scan_blanks(&probe);
	start = probe.at;
	for (; probe.at < probe.end && *probe.at >= '0' && *probe.at <= '9'; probe.at++) {
		uint64_t digit = (uint64_t)(*probe.at - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (probe.at == start)
		return false;
	*ret_value = value;
	*scan = probe;
	return true;
}

bool scan_i64(struct scan *scan, int64_t *ret_value)
{
	struct scan probe = *scan;
	uint64_t magnitude;
	bool negative;

	scan_blanks(&probe);
	negative = scan_literal(&probe, "-");
	if (probe.at >= probe.end || *probe.at < '0' || *probe.at > '9' || !scan_u64(&probe, &magnitude))
		return false;
	if (magnitude > (uint64_t)INT64_MAX + negative)
		return false;
	*ret_value = negative ? (int64_t)(-magnitude) : (int64_t)magnitude;
	*scan = probe;
	return true;
}

bool scan_hex(struct scan *scan, uint64_t *ret_value)
{
	struct scan probe = *scan;
	uint64_t value = 0;
	int digits = 0;

	scan_blanks(&probe);
	for (; probe.at < probe.end; probe.at++, digits++) {
		char c = *probe.at;
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
			    : c >= 'A' && c <= 'F' ? c - 'A' + 10
						   : -1;
		if (digit < 0)
			break;
		if (value >> 60)
			return false;
		value = value << 4 | (uint64_t)digit;
	}
	if (!digits)
		return false;
	*ret_value = value;
	*scan = probe;
	return true;
}

static bool scan_exponent(struct scan *scan, int64_t *ret_exponent)
{
	struct scan probe = *scan;

	if (!scan_literal(&probe, "e") && !scan_literal(&probe, "E"))
		return false;
	(void)scan_literal(&probe, "+");
	if (!scan_i64(&probe, ret_exponent) || *ret_exponent > 400 || *ret_exponent < -400)
		return false;
	*scan = probe;
	return true;
}

bool scan_real(struct scan *scan, double *ret_value)
{
	struct scan probe = *scan;
	double mantissa = 0;
	int64_t exponent = 0, written;
	bool negative, point = false;
	int digits = 0;

	scan_blanks(&probe);
	negative = scan_literal(&probe, "-");
	if (!negative)
		(void)scan_literal(&probe, "+");
	for (; probe.at < probe.end; probe.at++) {
		if (*probe.at == '.' && !point) {
			point = true;
		} else if (*probe.at >= '0' && *probe.at <= '9') {
			mantissa = mantissa * 10 + (*probe.at - '0');
			exponent -= point;
			digits++;
		} else {
			break;
		}
	}
	if (!digits)
		return false;
	if (scan_exponent(&probe, &written))
		exponent += written;
	/* Dividing by an exact power of ten rounds once; multiplying by 0.1 would round twice. */
	mantissa = exponent < 0 ? mantissa / pow(10, (double)-exponent) : mantissa * pow(10, (double)exponent);
	*ret_value = negative ? -mantissa : mantissa;
	*scan = probe;
	return true;
}

bool scan_literal(struct scan *scan, const char *text)
{
	size_t length = strlen(text);

	if (scan_left(scan) < length || memcmp(scan->at, text, length) != 0)
		return false;
	scan->at += length;
	return true;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0';
}

struct scan scan_trim(struct scan scan)
{
	while (scan.at < scan.end && is_space(*scan.at))
		scan.at++;
	while (scan.at < scan.end && is_space(scan.end[-1]))
		scan.end--;
	return scan;
}

void scan_copy(const struct scan *scan, char *ret_text, size_t size)
{
	size_t length = scan_left(scan);

	if (!size)
		return;
	if (length >= size)
		length = size - 1;
	memcpy(ret_text, scan->at, length);
	ret_text[length] = '\0';
}
