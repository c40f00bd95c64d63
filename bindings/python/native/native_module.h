/* The parts of the module _native: trackers, marks, one-shot readers. */
#ifndef NATIVE_MODULE_H
#define NATIVE_MODULE_H

#include "resource_tracker.h"
#include "support.h"

RT_LOCAL PyObject *value_object(const struct rt_value *value);

/* Adds class Tracker (native_tracker.c) and class Marks (native_marks.c); 0, or -1 with an exception. */
RT_LOCAL int add_tracker_type(PyObject *module);
RT_LOCAL int add_marks_type(PyObject *module);

#endif
