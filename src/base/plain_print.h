/* Prints numbers with a decimal point, whatever locale the surrounding program has set. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/* As snprintf(3) and vsnprintf(3). */
__attribute__((format(printf, 3, 4))) int plain_print(char *ret_text, size_t size, const char *format, ...);
__attribute__((format(printf, 3, 0))) int plain_vprint(char *ret_text, size_t size, const char *format,
						       va_list arguments);
