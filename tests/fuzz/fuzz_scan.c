/* Feeds any bytes to every scanner: the rest must be a suffix of the input. */
#include <stdint.h>
#include <stdlib.h>

#include "base/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void must_hold(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct scan text = scan_bytes((const char *)bytes, length), line;
	char room[16];

	while (scan_line(&text, &line)) {
		const char *end = line.end;
		struct scan word = line;
		uint64_t count;
		int64_t number;
		double real;

		must_hold(line.at <= line.end && line.end <= text.end);
		while (scan_i64(&line, &number) || scan_real(&line, &real) || scan_u64(&line, &count) ||
		       scan_word(&line, &word) || scan_hex(&line, &count) || scan_until(&line, ':', &word))
			must_hold(line.at <= end && line.end == end && word.at <= word.end &&
				  word.end <= end);
		scan_copy(&word, room, sizeof(room));
		must_hold(strlen(room) < sizeof(room));
		word = scan_trim(word);
		must_hold(word.at <= word.end);
	}
	return 0;
}
