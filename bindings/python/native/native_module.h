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

/* Implement history_count() and history() of a tracker. */
RT_LOCAL PyObject *history_size(rt_tracker *tracker);
RT_LOCAL PyObject *history_list(rt_tracker *tracker, PyObject *arguments, PyObject *keywords);

/* Adds class Tracker (native_tracker.c) and class Marks (native_marks.c); 0, or -1 with an exception. */
RT_LOCAL int add_tracker_type(PyObject *module);
RT_LOCAL int add_marks_type(PyObject *module);
/* arrow_stream(columns, rows) of native_arrow.c */
RT_LOCAL PyObject *arrow_stream(PyObject *module, PyObject *arguments);

#endif
