/* Lines for people who look for a fault. See debug.h. */
#include "base/debug.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/printable.h"
#include "base/trust.h"
#include "base/write_in_time.h"

#define PREFIX "resource-tracker: debug "
enum { LINE_BYTES = 1200 };
enum { UNKNOWN, OFF, PARTS, MEMBERS };

static int wanted_lines(void)
{
	static atomic_int known = UNKNOWN;
	int state = atomic_load_explicit(&known, memory_order_relaxed);

	if (state == UNKNOWN) {
		const char *value = has_more_rights_than_caller() ? NULL : getenv("TRACKER_DEBUG");

		state = !value                          ? OFF
			: strcmp(value, "1") == 0       ? PARTS
			: strcmp(value, "members") == 0 ? MEMBERS
							: OFF;
		atomic_store_explicit(&known, state, memory_order_relaxed);
	}
	return state;
}

bool debug_is_on(void)
{
	return wanted_lines() != OFF;
}

bool debug_has_members(void)
{
	return wanted_lines() == MEMBERS;
}

int64_t debug_now_ns(void)
{
	return wanted_lines() == PARTS ? SYSTEM_CLOCKS.monotonic_ns(SYSTEM_CLOCKS.context) : 0;
}

static void write_debug_line(const char *part, int64_t now_ns, int64_t since_ns, const char *format,
			     va_list arguments)
{
	static _Atomic int64_t first_ns;
	int64_t none = 0, shown_ns;
	char text[LINE_BYTES / 2], took[48] = "", line[LINE_BYTES];
	int length;

	shown_ns = atomic_compare_exchange_strong(&first_ns, &none, now_ns) ? 0 : now_ns - none;
	vsnprintf(text, sizeof(text), format, arguments);
	if (since_ns)
		snprintf(took, sizeof(took), ", %lld us", (long long)((now_ns - since_ns) / 1000));
	length = snprintf(line, sizeof(line) - 1, PREFIX "%lld.%06lld %s: %s%s",
			  (long long)(shown_ns / NSEC_PER_SEC), (long long)(shown_ns % NSEC_PER_SEC / 1000),
			  part, text, took);
	make_printable(line, (size_t)length);
	line[length++] = '\n';
	(void)write_in_time(STDERR_FILENO, line, (size_t)length, 0);
}

void debug_say(const char *part, int64_t since_ns, const char *format, ...)
{
	int64_t now_ns = debug_now_ns();
	va_list arguments;

	if (!now_ns)
		return;
	va_start(arguments, format);
	write_debug_line(part, now_ns, since_ns, format, arguments);
	va_end(arguments);
}

void debug_say_member(const char *format, ...)
{
	va_list arguments;

	if (!debug_has_members())
		return;
	va_start(arguments, format);
	write_debug_line("member", SYSTEM_CLOCKS.monotonic_ns(SYSTEM_CLOCKS.context), 0, format, arguments);
	va_end(arguments);
}

bool debug_pass_on(const char *text)
{
	char line[LINE_BYTES];
	int length;

	if (strncmp(text, PREFIX, strlen(PREFIX)) != 0)
		return false;
	if (!debug_is_on())
		return true;
	length = snprintf(line, sizeof(line) - 1, "%s", text);
	if (length > (int)sizeof(line) - 2)
		length = (int)sizeof(line) - 2;
	make_printable(line, (size_t)length);
	line[length++] = '\n';
	(void)write_in_time(STDERR_FILENO, line, (size_t)length, 0);
	return true;
}
