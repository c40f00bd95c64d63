/* Parses and prints times as the network writes them. See timestamps.h. */
#include "net/timestamps.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include <curl/curl.h>

#include "base/scan.h"

/* Reads exactly `count` digits. scan_u64() would accept blanks and more. */
static bool scan_digits(struct scan *scan, int count, int *ret_value)
{
	int value = 0;

	if (scan_left(scan) < (size_t)count)
		return false;
	for (int i = 0; i < count; i++) {
		char c = scan->at[i];

		if (c < '0' || c > '9')
			return false;
		value = value * 10 + (c - '0');
	}
	scan->at += count;
	*ret_value = value;
	return true;
}

/*
 * Days since 1970-01-01 in the proleptic Gregorian calendar. timegm() is not in POSIX and accepts invalid dates.
 */
static int64_t days_from_civil(int year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = y / 400, year_of_era = y - era * 400;
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static bool in_range(int year, int month, int day, int hour, int minute, int second)
{
	static const int LENGTHS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return year >= 1 && month >= 1 && month <= 12 && day >= 1 &&
	       day <= LENGTHS[month - 1] + (leap && month == 2) && hour <= 23 && minute <= 59 && second <= 60;
}

/* "Z", "+02", "+0200", "+02:00" or nothing, up to the end. */
static bool scan_offset(struct scan *scan, int64_t *ret_offset_secs)
{
	int hours, minutes = 0, sign;

	*ret_offset_secs = 0;
	if (scan_left(scan) == 0)
		return true;
	if (scan_literal(scan, "Z") || scan_literal(scan, "z"))
		return scan_left(scan) == 0;
	if (scan_literal(scan, "+"))
		sign = 1;
	else if (scan_literal(scan, "-"))
		sign = -1;
	else
		return false;
	if (!scan_digits(scan, 2, &hours))
		return false;
	if (scan_left(scan)) {
		scan_literal(scan, ":");
		if (!scan_digits(scan, 2, &minutes) || scan_left(scan))
			return false;
	}
	if (hours > 23 || minutes > 59)
		return false;
	*ret_offset_secs = sign * (hours * INT64_C(3600) + minutes * INT64_C(60));
	return true;
}

int parse_iso8601(const char *text, size_t length, int64_t *ret_secs)
{
	struct scan scan = scan_trim(scan_bytes(text, length));
	int year, month, day, hour, minute, second = 0;
	int64_t offset;

	if (!scan_digits(&scan, 4, &year) || !scan_literal(&scan, "-") || !scan_digits(&scan, 2, &month) ||
	    !scan_literal(&scan, "-") || !scan_digits(&scan, 2, &day))
		return -EBADMSG;
	if (!scan_literal(&scan, "T") && !scan_literal(&scan, "t") && !scan_literal(&scan, " "))
		return -EBADMSG;
	if (!scan_digits(&scan, 2, &hour) || !scan_literal(&scan, ":") || !scan_digits(&scan, 2, &minute))
		return -EBADMSG;
	if (scan_literal(&scan, ":") && !scan_digits(&scan, 2, &second))
		return -EBADMSG;
	if (scan_literal(&scan, ".") || scan_literal(&scan, ",")) {
		const char *fraction = scan.at;

		while (scan_left(&scan) && *scan.at >= '0' && *scan.at <= '9')
			scan.at++;
		if (scan.at == fraction)
			return -EBADMSG;
	}
	if (!scan_offset(&scan, &offset) || !in_range(year, month, day, hour, minute, second))
		return -EBADMSG;
	*ret_secs = days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset;
	return 0;
}

int parse_http_date(const char *text, int64_t *ret_secs)
{
	time_t secs = curl_getdate(text, NULL);

	if (secs == -1)
		return -EBADMSG;
	*ret_secs = secs;
	return 0;
}

static void format_time(int64_t secs, const char *form, char ret_text[TIME_TEXT_SIZE])
{
	time_t at = (time_t)secs;
	struct tm parts;

	if (!gmtime_r(&at, &parts) || strftime(ret_text, TIME_TEXT_SIZE, form, &parts) == 0)
		ret_text[0] = '\0';
}

void format_iso8601(int64_t secs, char ret_text[TIME_TEXT_SIZE])
{
	format_time(secs, "%Y-%m-%dT%H:%M:%SZ", ret_text);
}

void format_iso8601_basic(int64_t secs, char ret_text[TIME_TEXT_SIZE])
{
	format_time(secs, "%Y%m%dT%H%M%SZ", ret_text);
}
