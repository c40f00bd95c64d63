/* Formats an error as one line, and takes over a caller's options. See problem.h. */
#include "record/problem.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/plain_print.h"

int problem_set(struct rt_problem *problem, int error, const char *format, ...)
{
	va_list arguments;

	if (!problem)
		return error;
	va_start(arguments, format);
	plain_vprint(problem->text, sizeof(problem->text), format, arguments);
	va_end(arguments);
	return error;
}

int problem_take_options(struct rt_problem *problem, void *ret_options, size_t size, size_t least,
			 const char *name, const void *given)
{
	int result;

	memset(ret_options, 0, size);
	if (!given)
		return 0;
	result = take_sized(ret_options, size, least, given);
	if (result == -EINVAL)
		return problem_set(problem, result, "the size of struct %s was not set", name);
	if (result < 0)
		return problem_set(problem, result,
				   "struct %s asks for something that only a later library knows", name);
	return 0;
}
