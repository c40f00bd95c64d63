/*
 * The module _analysis: libresource-tracker-analysis for Python. The package imports it when it first reads a
 * recording.
 */
#include "analysis_module.h"

#include <math.h>
#include <stdlib.h>

PyObject *cell_object(struct rt_value cell)
{
	switch (cell.type) {
	case RT_TYPE_COUNT:
		return PyLong_FromLongLong(cell.count);
	case RT_TYPE_REAL:
		return PyFloat_FromDouble(cell.real);
	case RT_TYPE_TEXT:
		return text_object(cell.text);
	default:
		Py_RETURN_NONE;
	}
}

static PyObject *column_object(const rt_table *table, size_t column)
{
	size_t count = rt_table_row_count(table);
	PyObject *list = PyList_New((Py_ssize_t)count);

	for (size_t i = 0; list && i < count; i++) {
		PyObject *value = cell_object(rt_table_get(table, column, i));

		if (!value || PyList_SetItem(list, (Py_ssize_t)i, value) < 0)
			Py_CLEAR(list);
	}
	return list;
}

PyObject *table_object(const rt_table *table)
{
	PyObject *map = PyDict_New();
	size_t count = rt_table_column_count(table);

	for (size_t i = 0; map && i < count; i++) {
		PyObject *name = text_object(rt_table_column_name(table, i));
		PyObject *column = name ? column_object(table, i) : NULL;

		if (!column || PyDict_SetItem(map, name, column) < 0)
			Py_CLEAR(map);
		Py_XDECREF(name);
		Py_XDECREF(column);
	}
	return map;
}

PyObject *take_table(int error, rt_table *table, const struct rt_problem *problem)
{
	PyObject *object;

	if (error < 0)
		return fail(error, problem->text);
	object = table_object(table);
	rt_table_free(table);
	return object;
}

static PyObject *read_csv(PyObject *module, PyObject *arguments)
{
	CLEANUP_TEXTS struct texts path = {NULL};
	struct rt_problem problem = {""};
	rt_table *table = NULL;
	int error;

	if (!PyArg_ParseTuple(arguments, "O&", texts_of, &path))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_table_read_csv(path.items[0], &table, &problem);
	Py_END_ALLOW_THREADS;
	return take_table(error, table, &problem);
}

static PyObject *read_record(PyObject *module, PyObject *arguments, PyObject *keywords)
{
	CLEANUP_TEXTS struct texts paths = {NULL}, columns = {NULL};
	struct rt_problem problem = {""};
	rt_table *table = NULL;
	int error;

	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O&|O&", KEYWORDS("paths", "columns"), texts_of,
					 &paths, texts_of, &columns))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_table_read_record(paths.items, paths.count, columns.items, columns.count, &table,
				     &problem);
	Py_END_ALLOW_THREADS;
	return take_table(error, table, &problem);
}

static PyObject *stats(PyObject *module, PyObject *arguments)
{
	CLEANUP_TEXTS struct texts paths = {NULL};
	struct rt_problem problem = {""};
	const struct rt_stat_spec *specs;
	rt_stats *result = NULL;
	size_t count;
	char *text = NULL;
	int error;

	if (!PyArg_ParseTuple(arguments, "O&", texts_of, &paths))
		return NULL;
	specs = rt_stats_default_specs(&count);
	Py_BEGIN_ALLOW_THREADS;
	error = rt_stats_read_record(paths.items, paths.count, specs, count, &result, &problem);
	if (!error)
		error = rt_stats_to_json(result, &text);
	rt_stats_free(result);
	Py_END_ALLOW_THREADS;
	return error < 0 ? fail(error, problem.text) : take_text(text);
}

static PyObject *round_memory_mib(PyObject *module, PyObject *arguments)
{
	double mib;

	if (!PyArg_ParseTuple(arguments, "d", &mib))
		return NULL;
	return PyLong_FromLongLong(rt_round_memory_mib(mib));
}

static PyObject *export_record(PyObject *module, PyObject *arguments, PyObject *keywords)
{
	CLEANUP_TEXTS struct texts paths = {NULL}, output = {NULL}, uuids = {NULL};
	struct rt_gpu_tracker_options tracking = {.size = sizeof(tracking)};
	struct rt_export_options options = {.size = sizeof(options), .gpu_tracker = &tracking};
	struct rt_problem problem = {""};
	int no_header = 0, error;

	if (!PyArg_ParseTupleAndKeywords(
		    arguments, keywords, "O&O&|zzpzzzddO&",
		    KEYWORDS("paths", "output", "format", "layout", "no_header", "ram_unit", "gpu_ram_unit",
			     "time_unit", "expected_cores", "expected_gpus", "gpu_uuids"),
		    texts_of, &paths, texts_of, &output, &options.format, &options.layout, &no_header,
		    &tracking.ram_unit, &tracking.gpu_ram_unit, &tracking.time_unit, &tracking.expected_cores,
		    &tracking.expected_gpus, texts_of, &uuids))
		return NULL;
	tracking.gpu_uuids = uuids.items;
	tracking.gpu_uuid_count = uuids.count;
	options.no_header = no_header;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_export(paths.items, paths.count, output.items[0], &options, &problem);
	Py_END_ALLOW_THREADS;
	if (error < 0)
		return fail(error, problem.text);
	Py_RETURN_NONE;
}

static PyObject *snapshot_dumps(PyObject *module, PyObject *arguments)
{
	CLEANUP_TEXTS struct texts paths = {NULL};
	struct rt_problem problem = {""};
	char *text = NULL;
	int error;

	if (!PyArg_ParseTuple(arguments, "O&", texts_of, &paths))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_package_dumps(paths.items, paths.count, &text, &problem);
	Py_END_ALLOW_THREADS;
	return error < 0 ? fail(error, problem.text) : take_text(text);
}

static PyObject *report(PyObject *module, PyObject *arguments, PyObject *keywords)
{
	CLEANUP_TEXTS struct texts paths = {NULL}, output = {NULL}, history = {NULL}, catalogue = {NULL},
				   filters = {NULL};
	struct rt_report_options options = {.size = sizeof(options)};
	struct rt_report_prices prices = {.size = sizeof(prices)};
	struct rt_problem problem = {""};
	struct rt_compared_run *runs;
	int failed = 0, succeeded = 0, error;

	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O&O&|zpdO&pO&zO&",
					 KEYWORDS("paths", "output", "integration", "failed", "usd_per_hour",
						  "history", "succeeded", "catalogue", "instance", "filters"),
					 texts_of, &paths, texts_of, &output, &options.integration, &failed,
					 &options.usd_per_hour, texts_of, &history, &succeeded, texts_of,
					 &catalogue, &prices.instance, texts_of, &filters))
		return NULL;
	prices.catalogue = catalogue.count ? catalogue.items[0] : NULL;
	prices.filters = filters.items;
	prices.filter_count = filters.count;
	runs = calloc(paths.count + 1, sizeof(*runs));
	if (!runs)
		return PyErr_NoMemory();
	for (size_t i = 0; i < paths.count; i++)
		runs[i] = (struct rt_compared_run){paths.items[i], paths.items[i]};
	options.failed = failed;
	options.succeeded = succeeded;
	options.history = history.items;
	options.history_count = history.count;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_report_runs(runs, paths.count, output.items[0], &options, &prices, &problem);
	Py_END_ALLOW_THREADS;
	free(runs);
	if (error < 0)
		return fail(error, problem.text);
	Py_RETURN_NONE;
}

static PyObject *combine(PyObject *module, PyObject *arguments, PyObject *keywords)
{
	CLEANUP_TEXTS struct texts paths = {NULL}, output = {NULL};
	struct rt_problem problem = {""};
	int error;

	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O&O&", KEYWORDS("paths", "output"), texts_of,
					 &paths, texts_of, &output))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_combine(paths.items, paths.count, output.items[0], &problem);
	Py_END_ALLOW_THREADS;
	if (error < 0)
		return fail(error, problem.text);
	Py_RETURN_NONE;
}

static PyObject *run_line(PyObject *module, PyObject *arguments)
{
	CLEANUP_TEXTS struct texts recording = {NULL};
	struct rt_problem problem = {""};
	char *text = NULL;
	int error;

	if (!PyArg_ParseTuple(arguments, "O&", texts_of, &recording))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_run_line(recording.items[0], &text, &problem);
	Py_END_ALLOW_THREADS;
	return error < 0 ? fail(error, problem.text) : take_text(text);
}

static PyObject *append_run(PyObject *module, PyObject *arguments)
{
	CLEANUP_TEXTS struct texts runs = {NULL}, recording = {NULL};
	struct rt_problem problem = {""};
	int error;

	if (!PyArg_ParseTuple(arguments, "O&O&", texts_of, &runs, texts_of, &recording))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_runs_append(runs.items[0], recording.items[0], &problem);
	Py_END_ALLOW_THREADS;
	if (error < 0)
		return fail(error, problem.text);
	Py_RETURN_NONE;
}

#define WITH_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function)), METH_VARARGS | METH_KEYWORDS

static PyMethodDef FUNCTIONS[] = {
	{"read_csv", read_csv, METH_VARARGS, "read_csv(path) -> {column: cells}"},
	{"read_record", WITH_KEYWORDS(read_record), "read_record(paths, columns=()) -> {column: cells}"},
	{"stats", stats, METH_VARARGS, "stats(paths) -> JSON of the default statistics"},
	{"summary", WITH_KEYWORDS(summary),
	 "summary(paths, form='json', uuids=None, ram_unit=None, gpu_ram_unit=None, time_unit=None, "
	 "expected_cores=0, "
	 "expected_gpus=0) -> text; forms: json, text, gpu_tracker, gpu_tracker-json"},
	{"recommend", WITH_KEYWORDS(recommend),
	 "recommend(paths, form='json', force=False, usd_per_hour=0, catalogue=None, filters=(), "
	 "policy='max', "
	 "job=None, task=None, input_bytes=0, attempt=1) -> text; "
	 "forms: json, "
	 "text, slurm, kubernetes, docker, nextflow, snakemake, metaflow"},
	{"round_memory_mib", round_memory_mib, METH_VARARGS,
	 "round_memory_mib(mib) -> the next step of sizes"},
	{"report", WITH_KEYWORDS(report),
	 "report(paths, output, integration=None, failed=False, usd_per_hour=0, history=(), "
	 "succeeded=False, catalogue=None, instance=None, filters=())"},
	{"export", WITH_KEYWORDS(export_record),
	 "export(paths, output, format=None, layout=None, no_header=False, ram_unit=None, gpu_ram_unit=None, "
	 "time_unit=None, expected_cores=0, expected_gpus=0, gpu_uuids=None)"},
	{"snapshot_dumps", snapshot_dumps, METH_VARARGS, "snapshot_dumps(paths) -> JSON"},
	{"regions", WITH_KEYWORDS(regions),
	 "regions(paths, marks=None, columns=(), form='json') -> text; forms: json, text"},
	{"regions_gpu_tracker", WITH_KEYWORDS(regions_gpu_tracker),
	 "regions_gpu_tracker(tracking_file, sub_tracking_file, form='json') -> text; either file may be "
	 "None"},
	{"calls_gpu_tracker", calls_gpu_tracker, METH_VARARGS,
	 "calls_gpu_tracker(sub_tracking_file) -> [(name, [(start, stop), ...]), ...]"},
	{"compare", WITH_KEYWORDS(compare), "compare(runs, form='json') -> text; runs: (side, path) pairs"},
	{"combine", WITH_KEYWORDS(combine), "combine(paths, output)"},
	{"run_line", run_line, METH_VARARGS, "run_line(recording) -> JSON of the run's line"},
	{"append_run", append_run, METH_VARARGS, "append_run(runs, recording)"},
	{NULL},
};

static struct PyModuleDef MODULE = {
	PyModuleDef_HEAD_INIT, .m_name = "_analysis",  .m_doc = "libresource-tracker-analysis",
	.m_size = -1,          .m_methods = FUNCTIONS,
};

PyMODINIT_FUNC PyInit__analysis(void)
{
	return PyModule_Create(&MODULE);
}
