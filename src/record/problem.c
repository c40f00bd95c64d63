/* Formats an error as one line; see problem.h. */
#include "record/problem.h"

#include <stdarg.h>

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
