/* Text in other forms. See odd_text.h. */
#include "record/odd_text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Known by a mark of the byte order, or as ASCII with a zero in every second byte. NULL: other text. */
static const char *utf16_name(const struct scan *start)
{
	const unsigned char *at = (const unsigned char *)start->at;

	if (scan_left(start) < 2)
		return NULL;
	if ((at[0] == 0xff && at[1] == 0xfe) || (at[0] == 0xfe && at[1] == 0xff))
		return "UTF-16";
	return !at[0] && at[1] ? "UTF-16BE" : at[0] && !at[1] ? "UTF-16LE" : NULL;
}

/* One column that holds semicolons or tabs: as spreadsheets save CSV where the comma is the decimal sign. */
static char other_separator(struct scan start)
{
	static const char SEPARATORS[] = ";\t";
	struct scan line;

	if (!scan_line(&start, &line) || !scan_left(&line) || memchr(line.at, ',', scan_left(&line)) ||
	    *line.at == '{' || *line.at == '[')
		return 0;
	/* Bytes of a program. */
	for (const char *at = line.at; at < line.end; at++)
		if ((unsigned char)*at < ' ' && *at != '\t' && *at != '\r')
			return 0;
	for (const char *at = SEPARATORS; *at; at++)
		if (memchr(line.at, *at, scan_left(&line)))
			return *at;
	return 0;
}

int refuse_odd_text(struct scan start, const char *path, struct rt_problem *problem)
{
	const char *encoding = utf16_name(&start);
	char separator;

	if (encoding)
		return problem_set(problem, -EBADMSG,
				   "%s: UTF-16 text; convert it first: iconv -f %s -t UTF-8 FILE", path,
				   encoding);
	separator = other_separator(start);
	if (!separator)
		return 0;
	return problem_set(
		problem, -EBADMSG,
		"%s: its columns are separated by %s, as a spreadsheet saves them; save it with commas "
		"between columns and points in numbers",
		path, separator == ';' ? "semicolons" : "tabs");
}
