/* Parses a point in time as people write it. See start_at.h. */
#include "tracker/start_at.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/runs_once.h"
#include "base/scan.h"

/* The last second of year 9999, the last one with four digits. */
#define LAST_SECS INT64_C(253402300799)

static bool two_digits(struct scan *text, int highest, int *ret_number)
{
	if (scan_left(text) < 2 || text->at[0] < '0' || text->at[0] > '9' || text->at[1] < '0' ||
	    text->at[1] > '9')
		return false;
	*ret_number = (text->at[0] - '0') * 10 + (text->at[1] - '0');
	text->at += 2;
	return *ret_number <= highest;
}

/* "12:30", "12:30:15", "12:30:15.25" */
static bool clock_time(struct scan *text, struct tm *tm, int64_t *ret_fraction_ns)
{
	double fraction = 0;

	*ret_fraction_ns = 0;
	tm->tm_sec = 0;
	if (!two_digits(text, 23, &tm->tm_hour) || !scan_literal(text, ":") ||
	    !two_digits(text, 59, &tm->tm_min))
		return false;
	if (!scan_literal(text, ":"))
		return true;
	if (!two_digits(text, 59, &tm->tm_sec))
		return false;
	if (scan_left(text) && *text->at == '.') {
		if (scan_left(text) < 2 || text->at[1] < '0' || text->at[1] > '9' ||
		    !scan_real(text, &fraction) || fraction >= 1)
			return false;
		*ret_fraction_ns = (int64_t)(fraction * 1e9);
	}
	return true;
}

/* "2026-11-21" */
static bool calendar_day(struct scan *text, struct tm *tm)
{
	int century, year;

	if (!two_digits(text, 99, &century) || !two_digits(text, 99, &year) || !scan_literal(text, "-") ||
	    !two_digits(text, 12, &tm->tm_mon) || !scan_literal(text, "-") ||
	    !two_digits(text, 31, &tm->tm_mday))
		return false;
	tm->tm_year = century * 100 + year - 1900;
	tm->tm_mon--;
	return tm->tm_mon >= 0 && tm->tm_mday >= 1;
}

/* "Z", "+01:00", "-0530". Nothing: local time. */
static bool scan_zone(struct scan *text, bool *ret_local, int *ret_offset_secs)
{
	int hours, minutes = 0;
	bool west;

	*ret_local = scan_left(text) == 0;
	*ret_offset_secs = 0;
	if (*ret_local || scan_literal(text, "Z") || scan_literal(text, "z"))
		return scan_left(text) == 0;
	west = scan_literal(text, "-");
	if (!west && !scan_literal(text, "+"))
		return false;
	if (!two_digits(text, 23, &hours))
		return false;
	(void)scan_literal(text, ":");
	if (scan_left(text) && !two_digits(text, 59, &minutes))
		return false;
	*ret_offset_secs = (hours * 60 + minutes) * 60 * (west ? -1 : 1);
	return scan_left(text) == 0;
}

static int to_ns(int64_t secs, int64_t fraction_ns, int64_t *ret_ns)
{
	if (secs <= 0 || secs > INT64_MAX / NSEC_PER_SEC - 1)
		return -EINVAL;
	*ret_ns = secs * NSEC_PER_SEC + fraction_ns;
	return 0;
}

static int parse_date(struct scan text, int64_t *ret_ns)
{
	struct tm tm = {.tm_isdst = -1}, check;
	int64_t fraction_ns, secs;
	int offset_secs;
	bool local;

	if (!calendar_day(&text, &tm))
		return -EINVAL;
	if (!scan_literal(&text, "T") && !scan_literal(&text, "t") && !scan_literal(&text, " "))
		return -EINVAL;
	if (!clock_time(&text, &tm, &fraction_ns) || !scan_zone(&text, &local, &offset_secs))
		return -EINVAL;
	check = tm;
	secs = local ? mktime(&check) : timegm(&check);
	/* timegm() and mktime() turn 31 April into 1 May without an error. */
	if (check.tm_mday != tm.tm_mday)
		return -EINVAL;
	return to_ns(secs - offset_secs, fraction_ns, ret_ns);
}

static int parse_time_of_day(struct scan text, int64_t now_ns, int64_t *ret_ns)
{
	time_t now = (time_t)(now_ns / NSEC_PER_SEC);
	int64_t fraction_ns;
	struct tm tm;

	if (!localtime_r(&now, &tm))
		return -EINVAL;
	tm.tm_isdst = -1;
	if (!clock_time(&text, &tm, &fraction_ns) || scan_left(&text))
		return -EINVAL;
	for (int days = 0; days < 2; days++) {
		struct tm candidate = tm;

		candidate.tm_mday += days;
		if (to_ns(mktime(&candidate), fraction_ns, ret_ns) == 0 && *ret_ns > now_ns)
			return 0;
	}
	return -EINVAL;
}

static int after_secs(double secs, int64_t base_ns, int64_t *ret_ns)
{
	if (!(secs + ns_to_secs(base_ns) <= (double)LAST_SECS))
		return -EINVAL;
	/* Adds seconds and fraction apart: a double cannot hold the present time in nanoseconds. */
	return to_ns(base_ns / NSEC_PER_SEC + (int64_t)secs,
		     base_ns % NSEC_PER_SEC + (int64_t)((secs - (double)(int64_t)secs) * 1e9), ret_ns);
}

static bool begins_number(const struct scan *text)
{
	return scan_left(text) && ((*text->at >= '0' && *text->at <= '9') || *text->at == '.');
}

/* "90", "1.5h" from now. */
static int parse_delay(struct scan text, int64_t now_ns, int64_t *ret_ns)
{
	char word[64];
	double secs;

	scan_copy(&text, word, sizeof(word));
	if (!begins_number(&text) || scan_left(&text) >= sizeof(word) || !parse_duration(word, &secs))
		return -EINVAL;
	return after_secs(secs, now_ns, ret_ns);
}

/* Seconds since 1970. */
static int parse_secs(struct scan text, int64_t *ret_ns)
{
	double secs;

	if (!begins_number(&text) || !scan_real(&text, &secs) || scan_left(&text))
		return -EINVAL;
	return after_secs(secs, 0, ret_ns);
}

RUNS_ONCE int parse_start_at(const char *text, int64_t now_ns, int64_t *ret_ns)
{
	struct scan trimmed = scan_trim(scan_bytes(text, strlen(text)));
	struct scan rest = trimmed;
	int64_t ns = 0;
	int result;

	if (scan_literal(&rest, "+"))
		result = parse_delay(rest, now_ns, &ns);
	else if (scan_literal(&rest, "@"))
		result = parse_secs(rest, &ns);
	else if (scan_left(&trimmed) > 2 && trimmed.at[2] == ':')
		result = parse_time_of_day(trimmed, now_ns, &ns);
	else
		result = parse_date(trimmed, &ns);
	if (result == 0)
		*ret_ns = ns;
	return result;
}
