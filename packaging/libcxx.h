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

/*
 * The unwinder and its tables are 65 KiB, for errors that toml++ reports otherwise: memory ran out, or one of its assertions failed. The
 * file is compiled without exceptions, and those that libc++ throws return to toml_read(). Its destructors do not run.
 */
#ifndef __cpp_exceptions
#include <csetjmp>
#include <new>
#include <typeinfo>

enum { TOML_IS_WRONG = 1, TOML_NO_MEMORY };
static std::jmp_buf toml_way_out;

[[noreturn]] static void leave_toml(int why)
{
	std::longjmp(toml_way_out, why);
}

extern "C" {
__attribute__((used)) void *__cxa_allocate_exception(size_t) noexcept
{
	alignas(16) static char exception[512];

	return exception;
}

__attribute__((used)) void __cxa_free_exception(void *) noexcept
{
}

[[noreturn]] __attribute__((used)) void __cxa_throw(void *, std::type_info *type, void (*)(void *))
{
	leave_toml(*type == typeid(std::bad_alloc) ? TOML_NO_MEMORY : TOML_IS_WRONG);
}

/* Functions of libc++ that catch or pass on an exception name these. No exception is ever under way, so they do not run. */
#define NEVER_CALLED(name) \
	__attribute__((used)) void name() \
	{ \
		abort(); \
	}
NEVER_CALLED(__cxa_begin_catch)
NEVER_CALLED(_ZN10__cxxabiv119__getExceptionClassEPK17_Unwind_Exception)
NEVER_CALLED(_ZN10__cxxabiv121__isOurExceptionClassEPK17_Unwind_Exception)
NEVER_CALLED(__cxa_end_catch)
NEVER_CALLED(__cxa_rethrow)
NEVER_CALLED(__cxa_get_exception_ptr)
NEVER_CALLED(__cxa_uncaught_exceptions)
NEVER_CALLED(__cxa_uncaught_exception)
NEVER_CALLED(__cxa_current_exception_type)
NEVER_CALLED(__cxa_increment_exception_refcount)
NEVER_CALLED(__cxa_decrement_exception_refcount)
NEVER_CALLED(__cxa_rethrow_primary_exception)
NEVER_CALLED(__cxa_current_primary_exception)
NEVER_CALLED(__gxx_personality_v0)
NEVER_CALLED(__cxa_call_unexpected)
NEVER_CALLED(_Unwind_Resume)
}
#endif
