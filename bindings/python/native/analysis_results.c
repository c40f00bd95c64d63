/* Results of recordings: summaries, advice, phases, comparisons. */
#include "analysis_module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_form(const char *form, const char *name)
{
	return strcmp(form, name) == 0;
}

static PyObject *no_form(const char *form)
{
	PyErr_Format(PyExc_ValueError, "there is no form '%s'", form);
	return NULL;
}

PyObject *summary(PyObject *module, PyObject *arguments, PyObject *keywords)
{
	CLEANUP_TEXTS struct texts paths = {NULL}, uuids = {NULL};
	struct rt_gpu_tracker_options options = {.size = sizeof(options)};
	struct rt_problem problem = {""};
	rt_summary *result = NULL;
	const char *form = "json";
	char *text = NULL;
	int error;

	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O&|sO&zzzdd",
					 KEYWORDS("paths", "form", "uuids", "ram_unit", "gpu_ram_unit",
						  "time_unit", "expected_cores", "expected_gpus"),
					 texts_of, &paths, &form, texts_of, &uuids, &options.ram_unit,
					 &options.gpu_ram_unit, &options.time_unit, &options.expected_cores,
					 &options.expected_gpus))
		return NULL;
	if (!is_form(form, "json") && !is_form(form, "text") && !is_form(form, "gpu_tracker") &&
	    !is_form(form, "gpu_tracker-json"))
		return no_form(form);
	Py_BEGIN_ALLOW_THREADS;
	error = uuids.count ? rt_summary_read_gpus(paths.items, paths.count, uuids.items, uuids.count,
						   &result, &problem)
			    : rt_summary_read(paths.items, paths.count, &result, &problem);
	if (!error && is_form(form, "json"))
		error = rt_summary_to_json(result, &text);
	else if (!error && is_form(form, "text"))
		error = rt_summary_to_text(result, RT_SIZE_AUTO, &text);
	else if (!error)
		error = rt_summary_to_gpu_tracker(result, &options, is_form(form, "gpu_tracker-json"), &text,
						  &problem);
	rt_summary_free(result);
	Py_END_ALLOW_THREADS;
	return error < 0 ? fail(error, problem.text) : take_text(text);
}

PyObject *recommend(PyObject *module, PyObject *arguments, PyObject *keywords)
{
	CLEANUP_TEXTS struct texts paths = {NULL}, filters = {NULL};
	struct rt_recommend_options options = {.size = sizeof(options)};
	struct rt_problem problem = {""};
	rt_advice *result = NULL;
	const char *form = "json", *catalogue = NULL, *policy = "max";
	char *text = NULL;
	int force = 0, error;

	if (!PyArg_ParseTupleAndKeywords(
		    arguments, keywords, "O&|spdzO&szzdI",
		    KEYWORDS("paths", "form", "force", "usd_per_hour", "catalogue", "filters", "policy",
			     "job", "task", "input_bytes", "attempt"),
		    texts_of, &paths, &form, &force, &options.usd_per_hour, &catalogue, texts_of, &filters,
		    &policy, &options.job, &options.task, &options.input_bytes, &options.attempt))
		return NULL;
	if (!is_form(policy, "max") && !is_form(policy, "p95") && !is_form(policy, "cost"))
		return PyErr_Format(PyExc_ValueError, "there is no policy '%s': it is max, p95 or cost",
				    policy);
	options.policy = is_form(policy, "p95")    ? RT_POLICY_P95
			 : is_form(policy, "cost") ? RT_POLICY_COST
						   : RT_POLICY_MAX;
	options.force = force;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_recommend(paths.items, paths.count, &options, &result, &problem);
	if (!error && catalogue)
		error = rt_advice_find_server(result, catalogue, filters.items, filters.count, &problem);
	if (!error && is_form(form, "json"))
		error = rt_advice_to_json(result, &text);
	else if (!error && is_form(form, "text"))
		error = rt_advice_to_text(result, &text);
	else if (!error)
		error = rt_advice_to_form(result, form, &text, &problem);
	rt_advice_free(result);
	Py_END_ALLOW_THREADS;
	return error < 0 ? fail(error, problem.text) : take_text(text);
}

/* Returns the regions in the requested form and frees them. */
static PyObject *take_regions(int error, rt_regions *result, const char *form,
			      const struct rt_problem *problem)
{
	char *text = NULL;

	if (!error)
		error = is_form(form, "json") ? rt_regions_to_json(result, &text)
					      : rt_regions_to_text(result, &text);
	rt_regions_free(result);
	return error < 0 ? fail(error, problem->text) : take_text(text);
}

PyObject *regions(PyObject *module, PyObject *arguments, PyObject *keywords)
{
	CLEANUP_TEXTS struct texts paths = {NULL}, marks = {NULL}, columns = {NULL};
	struct rt_problem problem = {""};
	rt_regions *result = NULL;
	const char *form = "json";
	int error;

	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O&|O&O&s",
					 KEYWORDS("paths", "marks", "columns", "form"), texts_of, &paths,
					 texts_of, &marks, texts_of, &columns, &form))
		return NULL;
	if (!is_form(form, "json") && !is_form(form, "text"))
		return no_form(form);
	Py_BEGIN_ALLOW_THREADS;
	error = rt_regions_read(paths.items, paths.count, marks.count ? marks.items[0] : NULL, columns.items,
				columns.count, &result, &problem);
	Py_END_ALLOW_THREADS;
	return take_regions(error, result, form, &problem);
}

PyObject *regions_gpu_tracker(PyObject *module, PyObject *arguments, PyObject *keywords)
{
	CLEANUP_TEXTS struct texts tracking = {NULL}, sub_tracking = {NULL};
	struct rt_problem problem = {""};
	rt_regions *result = NULL;
	const char *form = "json";
	int error;

	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O&O&|s",
					 KEYWORDS("tracking_file", "sub_tracking_file", "form"), texts_of,
					 &tracking, texts_of, &sub_tracking, &form))
		return NULL;
	if (!is_form(form, "json") && !is_form(form, "text"))
		return no_form(form);
	Py_BEGIN_ALLOW_THREADS;
	error = rt_regions_read_gpu_tracker(tracking.count ? tracking.items[0] : NULL,
					    sub_tracking.count ? sub_tracking.items[0] : NULL, &result,
					    &problem);
	Py_END_ALLOW_THREADS;
	return take_regions(error, result, form, &problem);
}

/* Returns [(start, stop), ...] for the calls of a phase. */
static PyObject *calls_object(const rt_regions *regions, size_t phase)
{
	PyObject *list = PyList_New(0);
	double start, stop;

	for (size_t i = 0; list && rt_regions_call(regions, phase, i, &start, &stop) == 0; i++) {
		PyObject *call = Py_BuildValue("(dd)", start, stop);

		if (!call || PyList_Append(list, call) < 0)
			Py_CLEAR(list);
		Py_XDECREF(call);
	}
	return list;
}

PyObject *calls_gpu_tracker(PyObject *module, PyObject *arguments)
{
	CLEANUP_TEXTS struct texts path = {NULL};
	struct rt_problem problem = {""};
	rt_regions *regions = NULL;
	struct rt_phase phase = {.size = sizeof(phase)};
	PyObject *list;
	int error;

	if (!PyArg_ParseTuple(arguments, "O&", texts_of, &path))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_regions_read_gpu_tracker(NULL, path.count ? path.items[0] : NULL, &regions, &problem);
	Py_END_ALLOW_THREADS;
	if (error < 0)
		return fail(error, problem.text);
	list = PyList_New(0);
	for (size_t i = 0; list && rt_regions_phase(regions, i, &phase) == 0; i++) {
		PyObject *pair = Py_BuildValue("(NN)", text_object(phase.name), calls_object(regions, i));

		if (!pair || PyList_Append(list, pair) < 0)
			Py_CLEAR(list);
		Py_XDECREF(pair);
	}
	rt_regions_free(regions);
	return list;
}

/* Splits (side, path) pairs into a list of sides and a list of paths. */
static int split_runs(PyObject *runs, PyObject *ret_sides, PyObject *ret_paths)
{
	Py_ssize_t count = PySequence_Size(runs);

	for (Py_ssize_t i = 0; i < count; i++) {
		PyObject *pair = PySequence_GetItem(runs, i);
		PyObject *side, *path;
		int error = !pair || !PyArg_ParseTuple(pair, "OO", &side, &path) ||
			    PyList_Append(ret_sides, side) < 0 || PyList_Append(ret_paths, path) < 0;

		Py_XDECREF(pair);
		if (error)
			return -1;
	}
	return count < 0 ? -1 : 0;
}

static PyObject *compare_texts(const struct texts *sides, const struct texts *paths, const char *form)
{
	struct rt_compared_run *runs = calloc(paths->count + 1, sizeof *runs);
	struct rt_problem problem = {""};
	rt_comparison *result = NULL;
	char *text = NULL;
	int error;

	if (!runs)
		return PyErr_NoMemory();
	for (size_t i = 0; i < paths->count; i++)
		runs[i] = (struct rt_compared_run){sides->items[i], paths->items[i]};
	Py_BEGIN_ALLOW_THREADS;
	error = rt_compare(runs, paths->count, &result, &problem);
	if (!error)
		error = is_form(form, "json") ? rt_comparison_to_json(result, &text)
					      : rt_comparison_to_text(result, &text);
	rt_comparison_free(result);
	Py_END_ALLOW_THREADS;
	free(runs);
	return error < 0 ? fail(error, problem.text) : take_text(text);
}

PyObject *compare(PyObject *module, PyObject *arguments, PyObject *keywords)
{
	CLEANUP_TEXTS struct texts sides = {NULL}, paths = {NULL};
	PyObject *runs, *side_list = PyList_New(0), *path_list = PyList_New(0), *result = NULL;
	const char *form = "json";

	if (side_list && path_list &&
	    PyArg_ParseTupleAndKeywords(arguments, keywords, "O|s", KEYWORDS("runs", "form"), &runs, &form) &&
	    split_runs(runs, side_list, path_list) == 0 && texts_of(side_list, &sides) &&
	    texts_of(path_list, &paths))
		result = is_form(form, "json") || is_form(form, "text") ? compare_texts(&sides, &paths, form)
									: no_form(form);
	Py_XDECREF(side_list);
	Py_XDECREF(path_list);
	return result;
}
