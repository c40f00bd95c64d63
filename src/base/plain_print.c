/* Printing without a locale. See plain_print.h. */
#include "base/plain_print.h"

#include <locale.h>
#include <stdio.h>

int plain_vprint(char *ret_text, size_t size, const char *format, va_list arguments)
{
	/*
	 * Belongs to this thread for the time of one call. The C library keeps this locale ready: getting it
	 * always succeeds, and it is never freed.
	 */
	locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
	int length = vsnprintf(ret_text, size, format, arguments);

	uselocale(before);
	return length;
}

int plain_print(char *ret_text, size_t size, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = plain_vprint(ret_text, size, format, arguments);
	va_end(arguments);
	return length;
}
