/*
 * Included by the C++ file of the portable builds. libc++ 18 has no from_chars() for double, and toml++ then reads numbers by
 * streams, which are 400 KiB. strtod() of a program that never calls setlocale() reads the same numbers.
 */
#pragma once
#include <charconv>
#include <cstdlib>
#include <cstring>

#ifndef __cpp_lib_to_chars
#define __cpp_lib_to_chars 201611L

namespace std
{
inline from_chars_result from_chars(const char *first, const char *last, double &ret_value,
				    chars_format = chars_format::general)
{
	char text[128], *end;
	size_t length = static_cast<size_t>(last - first);

	if (length >= sizeof text)
		return {first, errc::invalid_argument};
	memcpy(text, first, length);
	text[length] = '\0';
	ret_value = strtod(text, &end);
	if (end == text)
		return {first, errc::invalid_argument};
	return {first + (end - text), errc{}};
}
} // namespace std
#endif

/* libc++abi names an uncaught exception by its demangler, which is 100 KiB. This takes its place. */
extern "C" __attribute__((used)) char *__cxa_demangle(const char *, char *, size_t *, int *ret_status)
{
	if (ret_status)
		*ret_status = -2;
	return nullptr;
}
