/*
 * The parts of the module _analysis. A call whose result has several forms returns text in the requested
 * form.
 */
#ifndef ANALYSIS_MODULE_H
#define ANALYSIS_MODULE_H

#include "resource_tracker_internal.h"
#include "support.h"

RT_LOCAL PyObject *cell_object(struct rt_value cell);
RT_LOCAL PyObject *table_object(const rt_table *table);
/* Returns the table as a Python object and frees it, or raises the error. */
RT_LOCAL PyObject *take_table(int error, rt_table *table, const struct rt_problem *problem);

/* analysis_results.c */
RT_LOCAL PyObject *summary(PyObject *module, PyObject *arguments, PyObject *keywords);
RT_LOCAL PyObject *recommend(PyObject *module, PyObject *arguments, PyObject *keywords);
RT_LOCAL PyObject *regions(PyObject *module, PyObject *arguments, PyObject *keywords);
RT_LOCAL PyObject *regions_gpu_tracker(PyObject *module, PyObject *arguments, PyObject *keywords);
RT_LOCAL PyObject *calls_gpu_tracker(PyObject *module, PyObject *arguments);
RT_LOCAL PyObject *compare(PyObject *module, PyObject *arguments, PyObject *keywords);

#endif
