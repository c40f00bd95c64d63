/* Recognises recordings. See is_recording.h. */
#include "format/is_recording.h"

#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/runs_once.h"
#include "base/scan.h"
#include "format/csv_layout.h"

enum {
	LOOK_BYTES = 64 << 10,
	TELLING_HEADINGS = 3, /* a foreign table may well begin with "timestamp" */
};

/* The earliest time of a row without header: a moment in 2001, in seconds since 1970. */
#define FIRST_TIMESTAMP 1e9

/* Steps over a text without blanks in JSON. If the bytes end inside the text, it matches, too. */
static bool scan_takes(struct scan *json, const char *text)
{
	for (; *text; text++) {
		while (scan_left(json) && (*json->at == ' ' || *json->at == '\t'))
			json->at++;
		if (!scan_left(json))
			return true;
		if (*json->at++ != *text)
			return false;
	}
	return true;
}

static bool line_contains(const struct scan *line, const char *text)
{
	return memmem(line->at, scan_left(line), text, strlen(text)) != NULL;
}

/* `is_cut`: the bytes end in this line, in the middle of a sample or after it. */
static bool is_sample(struct scan line, bool is_cut)
{
	struct scan start = line, mark = line;

	is_cut = is_cut && line.end[-1] != '}';
	if (scan_takes(&mark, "{\"timestamp_ns\":") && (is_cut || line_contains(&line, "\"event\"")))
		return true;
	if (!scan_takes(&start, "{\"timestamp"))
		return false;
	return is_cut || line_contains(&line, "\"resource-tracker-version\"");
}

static bool is_heading(struct scan word)
{
	if (scan_left(&word) >= 2 && *word.at == '"' && word.end[-1] == '"') {
		word.at++;
		word.end--;
	}
	for (size_t i = 0; i < CSV_LAYOUTS; i++)
		for (size_t j = 0; j < CSV_LAYOUT[i].column_count; j++)
			if (scan_is(&word, CSV_LAYOUT[i].columns[j].heading))
				return true;
	return false;
}

/* Reads the next cell of a CSV line whose cells contain no commas. */
static bool next_cell(struct scan *line, bool *more, struct scan *ret_cell)
{
	if (!*more)
		return false;
	*more = scan_until(line, ',', ret_cell);
	if (!*more)
		*ret_cell = *line;
	return true;
}

static bool is_csv_header(struct scan line)
{
	struct scan cell, first = line;
	bool more = true;
	int known = 0;

	if (!scan_literal(&first, "timestamp,") && !scan_literal(&first, "\"timestamp\","))
		return false;
	while (known < TELLING_HEADINGS && next_cell(&line, &more, &cell) && is_heading(cell))
		known++;
	return known == TELLING_HEADINGS;
}

/* A row without header: as many numbers as a layout has columns, beginning with a time. */
static bool is_row(struct scan line)
{
	struct scan cell;
	bool more = true;
	size_t count = 0;
	double number;

	for (; next_cell(&line, &more, &cell); count++) {
		if (!scan_left(&cell) && count)
			continue;
		if (!scan_real(&cell, &number) || scan_left(&cell) || (!count && number < FIRST_TIMESTAMP))
			return false;
	}
	for (size_t i = 0; i < CSV_LAYOUTS; i++)
		if (CSV_LAYOUT[i].column_count == count)
			return true;
	return false;
}

RUNS_ONCE bool begins_recording(const char *bytes, size_t length, bool whole)
{
	struct scan text = scan_trim(scan_bytes(bytes, length)), line = text, rest = text;
	bool is_cut = true;

	if (!scan_left(&text))
		return false;
	/* A list of samples has its opening bracket on a line of its own. */
	if (scan_literal(&text, "[")) {
		text = scan_trim(text);
		rest = line = text;
		if (!scan_left(&text))
			return false;
	}
	if (scan_until(&rest, '\n', &line) || (whole && length && bytes[length - 1] == '\n'))
		is_cut = false;
	line = scan_trim(line);
	return is_sample(line, is_cut) || is_csv_header(line) || is_row(line);
}

bool is_recording(int fd)
{
	char text[LOOK_BYTES];
	ssize_t length = pread(fd, text, sizeof(text), 0);

	return length > 0 && begins_recording(text, (size_t)length, length < LOOK_BYTES);
}

bool holds_run_lines(int fd)
{
	char text[LOOK_BYTES];
	struct scan rest, line;
	bool more = true;
	ssize_t length = pread(fd, text, sizeof(text), 0);

	rest = scan_bytes(text, length > 0 ? (size_t)length : 0);
	while (more && scan_left(&rest)) {
		struct scan start;

		more = scan_until(&rest, '\n', &line);
		start = line = scan_trim(more ? line : rest);
		if (!more && scan_left(&line) && scan_takes(&start, "{\"schema\":"))
			return true;
		/* Other programs may have sorted the keys. */
		if (scan_left(&line) && *line.at == '{' && line_contains(&line, "\"schema\":") &&
		    line_contains(&line, "\"outcome\":"))
			return true;
	}
	return false;
}
