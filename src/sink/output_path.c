/* Fills in the name of an output. See output_path.h. */
#include "sink/output_path.h"

#include <errno.h>
#include <time.h>

#include "launch/in_time.h"

static void add_host_name(struct buffer *out, const char *host)
{
	for (; *host; host++)
		buffer_add_char(out, *host == '/' ? '_' : *host);
}

/*
 * Without colons: some file systems forbid them, and scp takes host:path for another machine. gmtime_r(3), too, reads the time zone: if
 * that does not answer, the seconds stand there.
 */
static int add_start_time(struct buffer *out, int64_t start_time_secs)
{
	time_t secs = (time_t)start_time_secs;
	struct tm utc;

	if (!zone_answers())
		buffer_add_i64(out, start_time_secs);
	else if (!gmtime_r(&secs, &utc))
		return -EINVAL;
	else
		buffer_printf(out, "%04d%02d%02dT%02d%02d%02dZ", utc.tm_year + 1900, utc.tm_mon + 1,
			      utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
	return 0;
}

int expand_output_path(const char *template, const struct output_path_values *values, struct buffer *out)
{
	bool has_number = false;

	for (const char *at = template; *at; at++) {
		int r = 0;

		if (*at != '%') {
			buffer_add_char(out, *at);
			continue;
		}
		switch (*++at) {
		case '%':
			buffer_add_char(out, '%');
			break;
		case 'h':
			add_host_name(out, values->host);
			break;
		case 'p':
			buffer_add_i64(out, values->pid);
			break;
		case 't':
			r = add_start_time(out, values->start_time_secs);
			break;
		case 'r':
			buffer_add_i64(out, values->rank > 0 ? values->rank : 0);
			break;
		case 'u':
			has_number = true;
			if (values->number)
				buffer_printf(out, "-%u", values->number);
			break;
		default:
			return -EINVAL;
		}
		if (r < 0)
			return r;
	}
	if (buffer_error(out))
		return buffer_error(out);
	return out->length ? has_number : -ENOENT;
}
