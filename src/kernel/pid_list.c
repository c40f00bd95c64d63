/* Lists of process ids. See pid_list.h. */
#include "kernel/pid_list.h"

#include <stdint.h>

static bool is_separator(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\0';
}

bool scan_pid(struct scan *text, pid_t *ret_pid)
{
	for (;;) {
		struct scan word;
		uint64_t value;

		while (text->at < text->end && is_separator(*text->at))
			text->at++;
		if (text->at >= text->end)
			return false;
		word = (struct scan){text->at, text->at};
		while (word.end < text->end && !is_separator(*word.end))
			word.end++;
		text->at = word.end;
		if (!scan_u64(&word, &value) || scan_left(&word) || value > INT32_MAX)
			continue;
		*ret_pid = (pid_t)value;
		return true;
	}
}

bool pid_list_has(const pid_t *pids, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}
