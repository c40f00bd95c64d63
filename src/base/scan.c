/* Bounded scanning of text. See scan.h. */
#include "base/scan.h"

#include <math.h>
#include <strings.h>

#include "base/runs_once.h"

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

static bool is_blank_or_newline(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

bool scan_word(struct scan *scan, struct scan *ret_word)
{
	struct scan probe = *scan;
	const char *start;

	scan_blanks(&probe);
	start = probe.at;
	while (probe.at < probe.end && !is_blank_or_newline(*probe.at))
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

static bool is_decimal_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* This many digits fit into 63 bits, whatever they are. The kernel's numbers have no more. */
enum { SAFE_DIGITS = 18 };

static const char *after_blanks(const struct scan *scan)
{
	struct scan probe = *scan;

	scan_blanks(&probe);
	return probe.at;
}

bool scan_u64(struct scan *scan, uint64_t *ret_value)
{
	const char *at = after_blanks(scan), *end = scan->end, *start = at;
	uint64_t value = 0;

	for (; at < end && is_decimal_digit(*at); at++) {
		uint64_t digit = (uint64_t)(*at - '0');

		if (at - start >= SAFE_DIGITS && value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (at == start)
		return false;
	*ret_value = value;
	scan->at = at;
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

bool scan_count(struct scan *scan, int64_t *ret_count)
{
	const char *at = after_blanks(scan), *end = scan->end, *start = at;
	struct scan word;
	uint64_t value = 0;

	for (; at < end && is_decimal_digit(*at); at++)
		value = value * 10 + (uint64_t)(*at - '0');
	if (at > start && at - start <= SAFE_DIGITS && (at == end || is_blank_or_newline(*at))) {
		*ret_count = (int64_t)value;
		scan->at = at;
		return true;
	}
	if (!scan_word(scan, &word))
		return false;
	*ret_count = scan_u64(&word, &value) && !scan_left(&word) && value <= INT64_MAX ? (int64_t)value : -1;
	return true;
}

SELDOM bool scan_hex(struct scan *scan, uint64_t *ret_value)
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

static const double POWERS_OF_TEN[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
				       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Large ones are rounded at every step, but in a format with bits to spare. */
static long double power_of_ten(int64_t exponent)
{
	long double power = 1;

	for (; exponent > 22; exponent -= 22)
		power *= POWERS_OF_TEN[22];
	return power * POWERS_OF_TEN[exponent];
}

/* For normal results: -1022 <= exponent <= 1023. Nothing here needs the mathematical library. */
static double power_of_two(int exponent)
{
	uint64_t bits = (uint64_t)(1023 + exponent) << 52;
	double power;

	memcpy(&power, &bits, sizeof power);
	return power;
}

/*
 * mantissa / 10^digits (1 to 19), rounded once: the quotient has 63 bits or more, its last bit is set if there
 * is a remainder, and the conversion to double rounds it.
 */
static double divided_exactly(uint64_t mantissa, int digits)
{
	__extension__ typedef unsigned __int128 wide;
	int shift = __builtin_clzll(mantissa), exponent = -64 - shift;
	wide numerator = (wide)(mantissa << shift) << 64, divisor = (wide)POWERS_OF_TEN[digits];
	wide quotient = numerator / divisor;
	bool rest = numerator % divisor != 0;

	if (quotient >> 64) {
		int excess = 64 - __builtin_clzll((uint64_t)(quotient >> 64));

		rest |= (quotient & (((wide)1 << excess) - 1)) != 0;
		quotient >>= excess;
		exponent += excess;
	}
	return (double)((uint64_t)quotient | rest) * power_of_two(exponent);
}

enum { POWER_MOST = 300 };

static double scale_mantissa(uint64_t mantissa, int64_t exponent)
{
	bool exact = mantissa <= UINT64_C(1) << 53;
	long double value = (long double)mantissa;

	if (!mantissa || !exponent)
		return (double)mantissa;
	/* If a double and a power of ten are both exact, dividing them rounds only once. */
	if (exact && exponent < 0 && exponent >= -22)
		return (double)mantissa / POWERS_OF_TEN[-exponent];
	if (exact && exponent > 0 && exponent <= 22)
		return (double)mantissa * POWERS_OF_TEN[exponent];
	if (exponent < 0 && exponent >= -19)
		return divided_exactly(mantissa, (int)-exponent);
	if (exponent > 0)
		return (double)(value * power_of_ten(exponent));
	/* A power of ten above 10^308 is infinite where a long double is a double, as below valgrind. */
	if (exponent < -POWER_MOST) {
		value /= power_of_ten(POWER_MOST);
		exponent += POWER_MOST;
	}
	return (double)(value / power_of_ten(-exponent));
}

/* Reads digits with at most one point. After the nineteenth significant digit they only scale. */
static bool scan_number_digits(struct scan *scan, uint64_t *ret_mantissa, int64_t *ret_exponent)
{
	uint64_t mantissa = 0;
	int64_t exponent = 0;
	bool point = false, any = false;

	for (; scan->at < scan->end; scan->at++) {
		unsigned digit = (unsigned)(*scan->at - '0');

		if (digit > 9) {
			if (*scan->at != '.' || point)
				break;
			point = true;
			continue;
		}
		any = true;
		if (mantissa <= (UINT64_MAX - 9) / 10) {
			mantissa = mantissa * 10 + digit;
			exponent -= point;
		} else {
			exponent += !point;
		}
	}
	*ret_mantissa = mantissa;
	*ret_exponent = exponent;
	return any;
}

bool scan_real(struct scan *scan, double *ret_value)
{
	struct scan probe = *scan;
	int64_t exponent, written;
	uint64_t mantissa;
	bool negative;
	double value;

	scan_blanks(&probe);
	negative = scan_literal(&probe, "-");
	if (!negative)
		(void)scan_literal(&probe, "+");
	if (!scan_number_digits(&probe, &mantissa, &exponent))
		return false;
	if (scan_exponent(&probe, &written))
		exponent += written;
	value = scale_mantissa(mantissa, exponent);
	if (!isfinite(value))
		return false;
	*ret_value = negative ? -value : value;
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

SELDOM bool scan_flag(const struct scan *scan, bool *ret_flag)
{
	static const char *const YES_NO[][2] = {{"1", "0"}, {"true", "false"}, {"yes", "no"}, {"on", "off"}};

	for (size_t i = 0; i < sizeof(YES_NO) / sizeof(YES_NO[0]); i++) {
		for (int no = 0; no < 2; no++) {
			size_t length = strlen(YES_NO[i][no]);

			if (scan_left(scan) != length || strncasecmp(scan->at, YES_NO[i][no], length) != 0)
				continue;
			*ret_flag = !no;
			return true;
		}
	}
	return false;
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
	/* An empty scan may point nowhere, which memcpy(3) does not allow. */
	if (length)
		memcpy(ret_text, scan->at, length);
	ret_text[length] = '\0';
}
