/*
 * The module _native: libresource-tracker for Python. This layer is thin; the package's Python code decides
 * what names and shapes mean.
 */
#include "native_module.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

PyObject *value_object(const struct rt_value *value)
{
	if (value->type == RT_TYPE_NONE)
		Py_RETURN_NONE;
	switch (value->type) {
	case RT_TYPE_REAL:
		return PyFloat_FromDouble(value->real);
	case RT_TYPE_COUNT:
		return PyLong_FromLongLong(value->count);
	case RT_TYPE_FLAG:
		return PyBool_FromLong(value->count != 0);
	default:
		return text_object(value->text);
	}
}

static PyObject *names_of_settings(PyObject *module, PyObject *unused)
{
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && rt_config_name(i); i++) {
		PyObject *name = text_object(rt_config_name(i));

		if (!name || PyList_Append(list, name) < 0)
			Py_CLEAR(list);
		Py_XDECREF(name);
	}
	return list;
}

static PyObject *metric_info(rt_metric metric)
{
	struct rt_metric_info info = {.size = sizeof info};
	int error = rt_metric_get_info(metric, &info);
	static const char *const TYPES[] = {"", "float", "int", "str", "bool"};

	if (error < 0)
		return fail_call("rt_metric_get_info", error);
	return Py_BuildValue("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:i,s:O}", "name", info.name, "group",
			     info.group, "key", info.key, "unit", info.unit, "kind", info.kind, "source",
			     info.source, "help", info.help, "type", TYPES[info.type], "decimals",
			     info.decimals, "many", info.many ? Py_True : Py_False);
}

static PyObject *metrics(PyObject *module, PyObject *unused)
{
	PyObject *list = PyList_New(0);

	for (rt_metric metric = rt_metric_next(0); list && metric; metric = rt_metric_next(metric)) {
		PyObject *info = metric_info(metric);

		if (!info || PyList_Append(list, info) < 0)
			Py_CLEAR(list);
		Py_XDECREF(info);
	}
	return list;
}

static PyObject *process_descendants(PyObject *module, PyObject *arguments)
{
	int pid;
	pid_t *pids = NULL;
	ssize_t count;
	PyObject *list;

	if (!PyArg_ParseTuple(arguments, "i", &pid))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	count = rt_process_descendants(pid, &pids);
	Py_END_ALLOW_THREADS;
	if (count < 0)
		return fail_call("rt_process_descendants", (int)count);
	list = PyList_New(count);
	for (ssize_t i = 0; list && i < count; i++)
		PyList_SetItem(list, i, PyLong_FromLong(pids[i]));
	rt_free(pids);
	return list;
}

static PyObject *process_rss(PyObject *module, PyObject *arguments)
{
	int pid, error;
	int64_t bytes;

	if (!PyArg_ParseTuple(arguments, "i", &pid))
		return NULL;
	error = rt_process_rss(pid, &bytes);
	return error < 0 ? fail_call("rt_process_rss", error) : PyLong_FromLongLong(bytes);
}

static PyObject *process_pss(PyObject *module, PyObject *arguments)
{
	int pid, error;
	int64_t bytes;

	if (!PyArg_ParseTuple(arguments, "i", &pid))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_process_pss(pid, &bytes);
	Py_END_ALLOW_THREADS;
	return error < 0 ? fail_call("rt_process_pss", error) : PyLong_FromLongLong(bytes);
}

static PyObject *process_times(PyObject *module, PyObject *arguments)
{
	int pid, with_waited = 1, error;
	double user_secs, system_secs;

	if (!PyArg_ParseTuple(arguments, "i|p", &pid, &with_waited))
		return NULL;
	error = rt_process_times(pid, with_waited, &user_secs, &system_secs);
	return error < 0 ? fail_call("rt_process_times", error)
			 : Py_BuildValue("(dd)", user_secs, system_secs);
}

static PyObject *process_io(PyObject *module, PyObject *arguments)
{
	int pid, error;
	int64_t read_bytes, written_bytes;

	if (!PyArg_ParseTuple(arguments, "i", &pid))
		return NULL;
	error = rt_process_io(pid, &read_bytes, &written_bytes);
	return error < 0 ? fail_call("rt_process_io", error)
			 : Py_BuildValue("(LL)", (long long)read_bytes, (long long)written_bytes);
}

/* Returns None if the reader reports "unknown" (-1, or NaN). */
static PyObject *known_count(int64_t value)
{
	if (value < 0)
		Py_RETURN_NONE;
	return PyLong_FromLongLong(value);
}

static PyObject *known_real(double value)
{
	if (isnan(value))
		Py_RETURN_NONE;
	return PyFloat_FromDouble(value);
}

static PyObject *process_read(PyObject *module, PyObject *arguments)
{
	int pid, children = 1, error;
	struct rt_process process = {.size = sizeof process};

	if (!PyArg_ParseTuple(arguments, "i|p", &pid, &children))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_process_read(pid, children, &process);
	Py_END_ALLOW_THREADS;
	if (error < 0)
		return fail_call("rt_process_read", error);
	return Py_BuildValue(
		"{s:d,s:i,s:N,s:N,s:N,s:N,s:N,s:N,s:N}", "realtime_secs", process.realtime_secs, "pid",
		(int)process.pid, "child_count", known_count(process.child_count), "user_secs",
		known_real(process.user_secs), "system_secs", known_real(process.system_secs), "rss_bytes",
		known_count(process.rss_bytes), "pss_bytes", known_count(process.pss_bytes), "read_bytes",
		known_count(process.read_bytes), "written_bytes", known_count(process.written_bytes));
}

static int put_value(PyObject *map, const char *name, PyObject *value)
{
	int error = value ? PyDict_SetItemString(map, name, value) : -1;

	Py_XDECREF(value);
	return error;
}

static PyObject *system_object(const struct rt_system *machine)
{
	const struct {
		const char *name;
		int64_t value;
	} COUNTS[] = {
		{"process_count", machine->process_count},
		{"memory_total_bytes", machine->memory_total_bytes},
		{"memory_free_bytes", machine->memory_free_bytes},
		{"memory_available_bytes", machine->memory_available_bytes},
		{"memory_used_bytes", machine->memory_used_bytes},
		{"memory_buffers_bytes", machine->memory_buffers_bytes},
		{"memory_cached_bytes", machine->memory_cached_bytes},
		{"memory_active_bytes", machine->memory_active_bytes},
		{"memory_inactive_bytes", machine->memory_inactive_bytes},
		{"disk_read_bytes", machine->disk_read_bytes},
		{"disk_write_bytes", machine->disk_write_bytes},
		{"disk_space_total_bytes", machine->disk_space_total_bytes},
		{"disk_space_used_bytes", machine->disk_space_used_bytes},
		{"disk_space_free_bytes", machine->disk_space_free_bytes},
		{"network_received_bytes", machine->network_received_bytes},
		{"network_sent_bytes", machine->network_sent_bytes},
	};
	PyObject *map = PyDict_New();
	int error = map ? 0 : -1;

	if (!error)
		error = put_value(map, "realtime_secs", PyFloat_FromDouble(machine->realtime_secs));
	if (!error)
		error = put_value(map, "user_secs", known_real(machine->user_secs));
	if (!error)
		error = put_value(map, "system_secs", known_real(machine->system_secs));
	for (size_t i = 0; !error && i < sizeof COUNTS / sizeof COUNTS[0]; i++)
		error = put_value(map, COUNTS[i].name, known_count(COUNTS[i].value));
	if (error)
		Py_CLEAR(map);
	return map;
}

static PyObject *system_read(PyObject *module, PyObject *unused)
{
	struct rt_system machine = {.size = sizeof machine};
	int error;

	Py_BEGIN_ALLOW_THREADS;
	error = rt_system_read(&machine);
	Py_END_ALLOW_THREADS;
	return error < 0 ? fail_call("rt_system_read", error) : system_object(&machine);
}

static PyObject *disk_is_partition(PyObject *module, PyObject *arguments)
{
	const char *device;
	int answer;

	if (!PyArg_ParseTuple(arguments, "s", &device))
		return NULL;
	answer = rt_disk_is_partition(device);
	return answer < 0 ? fail_call("rt_disk_is_partition", answer) : PyBool_FromLong(answer);
}

static PyObject *csv_headings(PyObject *module, PyObject *arguments)
{
	const char *layout;
	PyObject *list;

	if (!PyArg_ParseTuple(arguments, "s", &layout))
		return NULL;
	list = PyList_New(0);
	for (size_t i = 0; list && rt_csv_heading(layout, i); i++) {
		PyObject *name = text_object(rt_csv_heading(layout, i));

		if (!name || PyList_Append(list, name) < 0)
			Py_CLEAR(list);
		Py_XDECREF(name);
	}
	return list;
}

static PyObject *discover(PyObject *module, PyObject *arguments, PyObject *keywords)
{
	int cloud = 0, python = 0, error;
	double timeout_secs = 0;
	char *json = NULL;
	unsigned int what;

	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|ppd",
					 KEYWORDS("cloud", "python", "timeout_secs"), &cloud, &python,
					 &timeout_secs))
		return NULL;
	what = (cloud ? RT_DISCOVER_CLOUD : RT_DISCOVER_HOST) | (python ? RT_DISCOVER_PYTHON : 0);
	Py_BEGIN_ALLOW_THREADS;
	error = rt_discover(what, timeout_secs, &json);
	Py_END_ALLOW_THREADS;
	return error < 0 ? fail_call("rt_discover", error) : take_text(json);
}

static PyMethodDef FUNCTIONS[] = {
	{"settings", names_of_settings, METH_NOARGS, "settings() -> names of all settings of a Tracker"},
	{"metrics", metrics, METH_NOARGS, "metrics() -> a dict for each metric of this build"},
	{"csv_headings", csv_headings, METH_VARARGS,
	 "csv_headings(layout) -> names of the columns of a CSV layout"},
	{"process_descendants", process_descendants, METH_VARARGS, "process_descendants(pid) -> pids"},
	{"process_rss", process_rss, METH_VARARGS, "process_rss(pid) -> bytes"},
	{"process_pss", process_pss, METH_VARARGS, "process_pss(pid) -> bytes"},
	{"process_times", process_times, METH_VARARGS,
	 "process_times(pid, with_waited=True) -> (user, system) in seconds"},
	{"process_io", process_io, METH_VARARGS, "process_io(pid) -> (bytes read, bytes written)"},
	{"process_read", process_read, METH_VARARGS, "process_read(pid, children=True) -> dict"},
	{"system_read", system_read, METH_NOARGS, "system_read() -> dict"},
	{"disk_is_partition", disk_is_partition, METH_VARARGS, "disk_is_partition(device) -> bool"},
	{"arrow_stream", arrow_stream, METH_VARARGS,
	 "arrow_stream([(name, format, nulls, buffers), ...], rows) -> a capsule with an Arrow C stream"},
	{"discover", (PyCFunction)(void (*)(void))discover, METH_VARARGS | METH_KEYWORDS,
	 "discover(cloud=False, python=False, timeout_secs=10) -> JSON about the machine, or about the cloud "
	 "it is in"},
	{NULL},
};

static struct PyModuleDef MODULE = {
	PyModuleDef_HEAD_INIT, .m_name = "_native",    .m_doc = "libresource-tracker",
	.m_size = -1,          .m_methods = FUNCTIONS,
};

PyMODINIT_FUNC PyInit__native(void)
{
	PyObject *module = PyModule_Create(&MODULE);

	if (module && (PyModule_AddStringConstant(module, "version", rt_version()) < 0 ||
		       add_tracker_type(module) < 0 || add_marks_type(module) < 0))
		Py_CLEAR(module);
	return module;
}
