/*
 * Bounded scanning of text: a cursor that cannot leave its bytes.
 *
 * No function needs a NUL at the end or allocates. On failure a function returns false and leaves the cursor
 * and the results untouched. Blanks are space and tab only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct scan {
	const char *at;
	const char *end;
};

/* An empty buffer has no bytes to point at: NULL is allowed with length 0. */
static inline struct scan scan_bytes(const char *bytes, size_t length)
{
	return (struct scan){bytes, length ? bytes + length : bytes};
}

static inline size_t scan_left(const struct scan *scan)
{
	return (size_t)(scan->end - scan->at);
}

static inline void scan_blanks(struct scan *scan)
{
	while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
		scan->at++;
}

/* The next line without its newline, or false at the end of the text. A last line may lack the newline. */
bool scan_line(struct scan *scan, struct scan *ret_line);

/* The next run of characters that are not blank (nor newline), after blanks, or false if there is none. */
bool scan_word(struct scan *scan, struct scan *ret_word);

/* Everything up to `stop`, which is stepped over, or false if `stop` does not come. */
bool scan_until(struct scan *scan, char stop, struct scan *ret_before);

/* Reads a decimal number after blanks. A number too large for the type is rejected. */
bool scan_u64(struct scan *scan, uint64_t *ret_value);
bool scan_i64(struct scan *scan, int64_t *ret_value);

/*
 * The next word, if it is a whole number that int64_t holds, or -1 for any other word. False without a word. The columns of
 * the kernel's tables are read by this one.
 */
bool scan_count(struct scan *scan, int64_t *ret_count);

/* Hexadecimal digits after blanks, without prefix. */
bool scan_hex(struct scan *scan, uint64_t *ret_value);

/*
 * A decimal number with optional sign, fraction and exponent, after blanks, whatever the locale. Up to 19 digits with
 * up to 19 decimals are rounded correctly, so numbers written by Python or printf("%.17g") are read back
 * unchanged.
 */
bool scan_real(struct scan *scan, double *ret_value);

/* Steps over `text` if it comes next (blanks are not skipped). */
bool scan_literal(struct scan *scan, const char *text);

static inline bool scan_is(const struct scan *scan, const char *text)
{
	size_t length = strlen(text);

	return scan_left(scan) == length && memcmp(scan->at, text, length) == 0;
}

/* Reads the whole text as a yes or a no: 1/0, true/false, yes/no, on/off, in any case. */
bool scan_flag(const struct scan *scan, bool *ret_flag);

/* Removes blanks, newlines and NULs from both ends. */
struct scan scan_trim(struct scan scan);

/* Copies into a NUL-terminated array, cut to fit. */
void scan_copy(const struct scan *scan, char *ret_text, size_t size);
