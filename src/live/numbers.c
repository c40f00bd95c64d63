/* Numbers as text. See view.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "table/units.h"
#include "live/view.h"

static const double BYTES_IN_MIB = 1048576;

static const char *take_number_text(struct buffer *text, char *ret_text)
{
	snprintf(ret_text, NUMBER_BYTES, "%s", buffer_error(text) || !text->data ? "-" : text->data);
	buffer_done(text);
	return ret_text;
}

const char *figure_text(double value, char ret_text[static NUMBER_BYTES])
{
	struct buffer text = BUFFER(NUMBER_BYTES);

	if (isnan(value))
		buffer_add_char(&text, '-');
	else if (value != 0 && fabs(value) < 0.005)
		buffer_add_text(&text, "< 0.01");
	else
		buffer_printf(&text, "%.*f", fabs(value) >= 99.95 ? 0 : fabs(value) >= 9.995 ? 1 : 2, value);
	return take_number_text(&text, ret_text);
}

static enum rt_size_unit decimal_unit(double bytes)
{
	return fabs(bytes) < 999.5     ? RT_SIZE_BYTES
	       : fabs(bytes) < 999.5e3 ? RT_SIZE_KB
	       : fabs(bytes) < 999.5e6 ? RT_SIZE_MB
	       : fabs(bytes) < 999.5e9 ? RT_SIZE_GB
				       : RT_SIZE_TB;
}

static void add_byte_number(struct buffer *text, const struct view *view, double bytes)
{
	if (isnan(bytes))
		buffer_add_char(text, '-');
	else if (view->unit == UNIT_MIB)
		buffer_printf(text, "%.*f MiB", fabs(bytes) < 99.5 * BYTES_IN_MIB ? 1 : 0,
			      bytes / BYTES_IN_MIB);
	else
		add_size(text, bytes, view->unit == UNIT_DECIMAL ? decimal_unit(bytes) : RT_SIZE_AUTO);
}

const char *memory_text(const struct view *view, double mib, char ret_text[static NUMBER_BYTES])
{
	struct buffer text = BUFFER(NUMBER_BYTES);

	add_byte_number(&text, view, mib * BYTES_IN_MIB);
	return take_number_text(&text, ret_text);
}

const char *rate_text(const struct view *view, double bytes_per_sec, char ret_text[static NUMBER_BYTES])
{
	struct buffer text = BUFFER(NUMBER_BYTES);

	add_byte_number(&text, view, bytes_per_sec);
	if (!isnan(bytes_per_sec) && bytes_per_sec != 0)
		buffer_add_text(&text, "/s");
	return take_number_text(&text, ret_text);
}

/* A round number: without decimals that are 0. */
const char *scale_text(const struct view *view, double value, bool is_rate,
		       char ret_text[static NUMBER_BYTES])
{
	char number[NUMBER_BYTES], *point, *unit;

	if (is_rate)
		rate_text(view, value, number);
	else
		memory_text(view, value / BYTES_IN_MIB, number);
	point = strchr(number, '.');
	unit = strchr(number, ' ');
	if (point && unit && strspn(point + 1, "0") == (size_t)(unit - point) - 1)
		*point = '\0';
	snprintf(ret_text, NUMBER_BYTES, "%s%s", number, point && !*point ? unit : "");
	return ret_text;
}

const char *time_text(double secs, char ret_text[static NUMBER_BYTES])
{
	struct buffer text = BUFFER(NUMBER_BYTES);

	if (isnan(secs))
		buffer_add_char(&text, '-');
	else if (secs == 0)
		buffer_add_text(&text, "0 s");
	else
		add_duration(&text, secs);
	return take_number_text(&text, ret_text);
}

const char *percent_text(double part, char ret_text[static NUMBER_BYTES])
{
	if (isnan(part))
		snprintf(ret_text, NUMBER_BYTES, "-");
	else
		snprintf(ret_text, NUMBER_BYTES, "%.0f %%", 100 * part);
	return ret_text;
}
