/* Writes real numbers in their shortest form. See table.h. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/plain_print.h"
#include "base/scan.h"
#include "table/table.h"

enum { MOST_DIGITS = 17, SURE_DIGITS = 15, PLAIN_FROM = -4, PLAIN_TO = 16 };

/* Finds the fewest digits that read back as this number, and the power of ten of the first. */
static int shortest_digits(double value, char digits[static MOST_DIGITS + 1], int *ret_exponent)
{
	char text[40];

	/* Fifteen digits hold any number but the tiniest, whose bits are fewer. Noughts at their end are cut off. */
	for (int count = value < DBL_MIN ? 1 : SURE_DIGITS; count <= MOST_DIGITS; count++) {
		struct scan scan =
			scan_bytes(text, (size_t)plain_print(text, sizeof(text), "%.*e", count - 1, value));
		int64_t exponent = 0;
		double again;

		if (!scan_real(&scan, &again) || (again != value && count < MOST_DIGITS))
			continue;
		scan = scan_bytes(strchr(text, 'e') + 1, strlen(strchr(text, 'e') + 1));
		(void)scan_literal(&scan, "+");
		(void)scan_i64(&scan, &exponent);
		*ret_exponent = (int)exponent;
		digits[0] = text[0];
		memcpy(digits + 1, text + 2, (size_t)count - 1);
		while (count > 1 && digits[count - 1] == '0')
			count--;
		digits[count] = '\0';
		return count;
	}
	return 0;
}

static void add_plain(struct buffer *out, const char *digits, int count, int exponent)
{
	if (exponent < 0)
		buffer_add_text(out, "0.");
	for (int i = -1; i > exponent; i--)
		buffer_add_char(out, '0');
	for (int i = 0; i < count || i <= exponent; i++) {
		buffer_add_char(out, i < count ? digits[i] : '0');
		if (i == exponent)
			buffer_add_char(out, '.');
	}
	if (exponent >= count - 1)
		buffer_add_char(out, '0');
}

void buffer_add_shortest(struct buffer *out, double value)
{
	char digits[MOST_DIGITS + 1];
	int count, exponent = 0;

	if (!isfinite(value)) {
		buffer_add_text(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
		return;
	}
	if (signbit(value))
		buffer_add_char(out, '-');
	count = shortest_digits(fabs(value), digits, &exponent);
	if (exponent >= PLAIN_FROM && exponent < PLAIN_TO) {
		add_plain(out, digits, count, exponent);
		return;
	}
	buffer_add_char(out, digits[0]);
	if (count > 1)
		buffer_printf(out, ".%s", digits + 1);
	buffer_printf(out, "e%c%02d", exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
}

void json_shortest_member(struct json_writer *json, const char *key, double value)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(64);

	json_key(json, key);
	if (!isfinite(value)) {
		json_absent(json);
		return;
	}
	buffer_add_shortest(&text, value);
	json_raw(json, text.data, text.length);
}
