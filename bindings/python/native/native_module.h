/* The parts of the module _native: trackers, marks, one-shot readers. */
#ifndef NATIVE_MODULE_H
#define NATIVE_MODULE_H

#include "resource_tracker.h"
#include "support.h"

RT_LOCAL PyObject *value_object(const struct rt_value *value);

/*
 * Makes a configuration from a constructor's arguments. The caller frees it. Returns -1 with an exception
 * set.
 */
RT_LOCAL int config_of(PyObject *arguments, PyObject *keywords, rt_config **ret_config);

/* Implement history_count() and history() for both kinds of trackers. */
typedef int64_t history_counter(void *tracker, int64_t *ret_first, size_t *ret_bytes);
typedef ssize_t history_reader(void *tracker, const char *layout, const char *column, int64_t first,
			       size_t count, double *ret_values);
RT_LOCAL PyObject *history_size(void *tracker, history_counter *count_kept);
RT_LOCAL PyObject *history_list(void *tracker, history_counter *count_kept, history_reader *read_kept,
				PyObject *arguments, PyObject *keywords);

/* Adds class Tracker (native_tracker.c) and class Marks (native_marks.c); 0, or -1 with an exception. */
RT_LOCAL int add_tracker_type(PyObject *module);
RT_LOCAL int add_marks_type(PyObject *module);
/* arrow_stream(columns, rows) of native_arrow.c */
RT_LOCAL PyObject *arrow_stream(PyObject *module, PyObject *arguments);
/* class Remote (native_remote.c) */
RT_LOCAL int add_remote_type(PyObject *module);

#endif
