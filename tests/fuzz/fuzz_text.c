/*
 * Feeds any bytes as texts of other users: names on a terminal, account files, durations on a command line.
 */
#include "fuzz.h"

#include <math.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/duration.h"
#include "base/json_write.h"
#include "base/printable.h"
#include "base/trust.h"

static bool has_controls(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t' && text[i] != '\r') ||
		    text[i] == 0x7f)
			return true;
	return false;
}

static void fuzz_printable(const char *bytes, size_t length)
{
	CLEANUP_FREE char *once = malloc(length + 1);
	CLEANUP_FREE char *twice = malloc(length + 1);

	must_hold(once && twice);
	memcpy(once, bytes, length);
	make_printable(once, length);
	must_hold(!has_controls(once, length));
	memcpy(twice, once, length);
	make_printable(twice, length);
	must_hold(memcmp(once, twice, length) == 0);
}

/* A JSON string contains no control characters of a terminal. */
static void fuzz_json(const char *bytes, size_t length)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 24);

	json_escape(&out, bytes, length);
	if (buffer_error(&out))
		return;
	for (size_t i = 0; i < out.length; i++)
		must_hold((unsigned char)out.data[i] >= ' ' && out.data[i] != 0x7f);
	make_printable(out.data, out.length);
	must_hold(!memchr(out.data, 0x1b, out.length));
}

static void fuzz_accounts(const char *bytes, size_t length)
{
	const char *half = length ? memchr(bytes, '|', length) : NULL;
	size_t passwd = half ? (size_t)(half - bytes) : length;

	(void)is_private_group(1000, 1000, bytes, passwd, half ? half + 1 : bytes,
			       half ? length - passwd - 1 : 0);
}

static void fuzz_duration(const char *bytes, size_t length)
{
	CLEANUP_FREE char *text = strndup(length ? bytes : "", length);
	double secs = -1;

	must_hold(text);
	must_hold(!parse_duration(text, &secs) || isfinite(secs));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static const fuzz_parser PARSERS[] = {fuzz_printable, fuzz_json, fuzz_accounts, fuzz_duration};

	fuzz_one_of(PARSERS, ARRAY_SIZE(PARSERS), bytes, length);
	return 0;
}
