/* Returns a tracker's history columns as lists. */
#include "native_module.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

PyObject *history_size(rt_tracker *tracker)
{
	int64_t first = 0, count;
	size_t bytes = 0;

	Py_BEGIN_ALLOW_THREADS;
	count = rt_history_count(tracker, &first, &bytes);
	Py_END_ALLOW_THREADS;
	return count < 0 ? fail_call("rt_history_count", (int)count)
			 : Py_BuildValue("(LLn)", (long long)first, (long long)count, (Py_ssize_t)bytes);
}

static PyObject *number_object(double value, bool is_integer)
{
	if (isnan(value))
		Py_RETURN_NONE;
	return is_integer ? PyLong_FromDouble(value) : PyFloat_FromDouble(value);
}

/* Most columns seldom change, so equal neighbours share one Python object. */
static PyObject *number_list(const double *values, Py_ssize_t count, bool is_integer)
{
	PyObject *list = PyList_New(count), *previous = NULL;

	for (Py_ssize_t i = 0; list && i < count; i++) {
		if (previous && memcmp(&values[i], &values[i - 1], sizeof values[i]) == 0)
			Py_INCREF(previous);
		else
			previous = number_object(values[i], is_integer);
		if (!previous || PyList_SetItem(list, i, previous) < 0)
			Py_CLEAR(list);
	}
	return list;
}

PyObject *history_list(rt_tracker *tracker, PyObject *arguments, PyObject *keywords)
{
	const char *column, *layout = NULL;
	long long first = 0, most = -1, kept;
	int is_integer = 0;
	PyObject *list;
	double *values;
	ssize_t count;

	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "s|zLLp",
					 KEYWORDS("column", "layout", "first", "count", "integers"), &column,
					 &layout, &first, &most, &is_integer))
		return NULL;
	kept = rt_history_count(tracker, NULL, NULL);
	if (kept < 0)
		return fail_call("rt_history_count", (int)kept);
	if (most < 0 || most > kept)
		most = kept;
	values = malloc(((size_t)most + 1) * sizeof *values);
	if (!values)
		return PyErr_NoMemory();
	Py_BEGIN_ALLOW_THREADS;
	count = rt_history_read(tracker, layout, column, first, (size_t)most, values);
	Py_END_ALLOW_THREADS;
	list = count < 0 ? NULL : number_list(values, count, is_integer);
	free(values);
	if (count == -ENOENT)
		PyErr_Format(PyExc_KeyError, "%s", column);
	else if (count < 0)
		fail_call("rt_history_read", (int)count);
	return list;
}
