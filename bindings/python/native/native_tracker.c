/*
 * class Tracker: an rt_tracker. In a forked child every call but freeing raises an exception: the sampling
 * thread may have held the lock at the fork, and the child has no such thread to release it.
 */
#include "native_module.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Python's signal handlers run between the slices of a wait, so Ctrl-C takes at most this long. */
#define SLICE_SECS 0.05

struct tracker {
	PyObject_HEAD rt_tracker *tracker;
	pid_t owner;
};

/* Returns NULL with an exception if the tracker cannot be used. */
static rt_tracker *usable_tracker(PyObject *self_)
{
	struct tracker *self = (struct tracker *)self_;

	if (!self->tracker)
		PyErr_SetString(PyExc_ValueError, "the tracker is closed");
	else if (self->owner != getpid())
		PyErr_SetString(PyExc_RuntimeError,
				"the tracker belongs to the process that made it, not to its fork");
	else
		return self->tracker;
	return NULL;
}

static int tracker_init(PyObject *self_, PyObject *arguments, PyObject *keywords)
{
	struct tracker *self = (struct tracker *)self_;
	rt_config *config;
	int error;

	if (self->tracker) {
		PyErr_SetString(PyExc_RuntimeError, "the tracker is open");
		return -1;
	}
	if (config_of(arguments, keywords, &config) < 0)
		return -1;
	self->owner = getpid();
	Py_BEGIN_ALLOW_THREADS;
	error = rt_open(config, &self->tracker);
	Py_END_ALLOW_THREADS;
	if (error < 0)
		fail(error, rt_config_message(config));
	rt_config_free(config);
	return error < 0 ? -1 : 0;
}

static void shut_tracker(struct tracker *self)
{
	rt_tracker *tracker = self->tracker;

	self->tracker = NULL;
	/* In a forked child, closing would wait for ever for the sampling thread. */
	if (!tracker || self->owner != getpid())
		return;
	Py_BEGIN_ALLOW_THREADS;
	rt_close(tracker);
	Py_END_ALLOW_THREADS;
}

static void tracker_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	shut_tracker((struct tracker *)self);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

static PyObject *close_tracker(PyObject *self, PyObject *unused)
{
	shut_tracker((struct tracker *)self);
	Py_RETURN_NONE;
}

/* Returns None for a call without a result, or raises its error. */
static PyObject *none_or_error(const char *call, int error)
{
	if (error < 0)
		return fail_call(call, error);
	Py_RETURN_NONE;
}

static PyObject *track(PyObject *self, PyObject *arguments)
{
	rt_tracker *tracker = usable_tracker(self);
	int pid, started_by_caller = 0, error;

	if (!tracker || !PyArg_ParseTuple(arguments, "i|p", &pid, &started_by_caller))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_track(tracker, pid, started_by_caller);
	Py_END_ALLOW_THREADS;
	return none_or_error("rt_track", error);
}

static PyObject *start(PyObject *self, PyObject *unused)
{
	rt_tracker *tracker = usable_tracker(self);

	return tracker ? none_or_error("rt_start", rt_start(tracker)) : NULL;
}

static PyObject *stop(PyObject *self, PyObject *arguments)
{
	rt_tracker *tracker = usable_tracker(self);
	int reason = RT_END_TRACKER_STOPPED, status = 0, error;

	if (!tracker || !PyArg_ParseTuple(arguments, "|ii", &reason, &status))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_stop_with(tracker, (enum rt_end_reason)reason, status);
	Py_END_ALLOW_THREADS;
	return none_or_error("rt_stop_with", error);
}

static PyObject *sample(PyObject *self, PyObject *unused)
{
	rt_tracker *tracker = usable_tracker(self);
	int error;

	if (!tracker)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_sample(tracker);
	Py_END_ALLOW_THREADS;
	return none_or_error("rt_sample", error);
}

static PyObject *finish(PyObject *self, PyObject *arguments)
{
	rt_tracker *tracker = usable_tracker(self);
	int reason = RT_END_TRACKER_STOPPED, status = 0, error;

	if (!tracker || !PyArg_ParseTuple(arguments, "|ii", &reason, &status))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_finish(tracker, (enum rt_end_reason)reason, status);
	Py_END_ALLOW_THREADS;
	return none_or_error("rt_finish", error);
}

static double now_secs(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/*
 * Waits in short slices and runs signal handlers between them. A negative timeout means no limit. `call`
 * returns -ETIMEDOUT while it has more to wait for. Returns the result of `call`, or -EINTR with the
 * handler's exception.
 */
static int wait_in_parts(PyObject *self, double timeout_secs,
			 int (*call)(rt_tracker *tracker, long long count, double secs), long long count)
{
	double end_secs = timeout_secs < 0 ? INFINITY : now_secs() + timeout_secs;

	for (;;) {
		/* A signal handler may have closed the tracker. */
		rt_tracker *tracker = usable_tracker(self);
		double left_secs = end_secs - now_secs();
		int error;

		if (!tracker)
			return -EINTR;
		Py_BEGIN_ALLOW_THREADS;
		error = call(tracker, count,
			     left_secs < 0            ? 0
			     : left_secs < SLICE_SECS ? left_secs
						      : SLICE_SECS);
		Py_END_ALLOW_THREADS;
		if (PyErr_CheckSignals() < 0)
			return -EINTR;
		if (error != -ETIMEDOUT || now_secs() >= end_secs)
			return error;
	}
}

static int wait_for_count(rt_tracker *tracker, long long count, double secs)
{
	return rt_wait_for_samples(tracker, count, secs);
}

static int wait_for_server(rt_tracker *tracker, long long unused, double secs)
{
	(void)unused;
	return rt_wait_for_upload(tracker, secs);
}

/* Checks the seconds of a wait; returns false with an exception for NaN. */
static bool is_timeout(double secs)
{
	if (isnan(secs))
		PyErr_SetString(PyExc_ValueError, "the timeout is not a number");
	return !isnan(secs);
}

static PyObject *wait_for_samples(PyObject *self, PyObject *arguments)
{
	rt_tracker *tracker = usable_tracker(self);
	long long count;
	double timeout_secs = -1;
	int error;

	if (!tracker || !PyArg_ParseTuple(arguments, "L|d", &count, &timeout_secs) ||
	    !is_timeout(timeout_secs))
		return NULL;
	error = wait_in_parts(self, timeout_secs, wait_for_count, count);
	if (error == -EINTR)
		return NULL;
	if (error == -ETIMEDOUT || error == -ESHUTDOWN)
		Py_RETURN_FALSE;
	return error < 0 ? fail_call("rt_wait_for_samples", error) : PyBool_FromLong(1);
}

static PyObject *wait_for_upload(PyObject *self, PyObject *arguments)
{
	rt_tracker *tracker = usable_tracker(self);
	double timeout_secs = -1;
	int error;

	if (!tracker || !PyArg_ParseTuple(arguments, "d", &timeout_secs) || !is_timeout(timeout_secs))
		return NULL;
	error = wait_in_parts(self, timeout_secs < 0 ? 0 : timeout_secs, wait_for_server, 0);
	return error == -EINTR ? NULL : none_or_error("rt_wait_for_upload", error);
}

/* With brackets the name says which instance, as "disk[vda].read_bytes_per_sec" does. */
static int get_value(rt_tracker *tracker, const char *name, Py_ssize_t instance, struct rt_value *ret_value)
{
	return strchr(name, '[') ? rt_get_named(tracker, name, ret_value)
				 : rt_get(tracker, rt_metric_find(name), (size_t)instance, ret_value);
}

static PyObject *get(PyObject *self, PyObject *arguments)
{
	rt_tracker *tracker = usable_tracker(self);
	const char *name;
	Py_ssize_t instance = 0;
	struct rt_value value;
	int error;

	if (!tracker || !PyArg_ParseTuple(arguments, "s|n", &name, &instance))
		return NULL;
	error = get_value(tracker, name, instance, &value);
	if (error == -ENODATA)
		Py_RETURN_NONE;
	if (error == -ENOENT || error == -EINVAL) {
		if (strchr(name, '['))
			PyErr_SetString(PyExc_KeyError, name);
		else
			PyErr_Format(PyExc_KeyError, "%s[%zd]", name, instance);
		return NULL;
	}
	return error < 0 ? fail_call("rt_get", error) : value_object(&value);
}

static PyObject *reason(PyObject *self, PyObject *arguments)
{
	rt_tracker *tracker = usable_tracker(self);
	const char *name;
	Py_ssize_t instance = 0;
	struct rt_value value;

	if (!tracker || !PyArg_ParseTuple(arguments, "s|n", &name, &instance))
		return NULL;
	if (get_value(tracker, name, instance, &value) < 0 || value.type != RT_TYPE_NONE)
		Py_RETURN_NONE;
	return text_object(rt_reason(value.reason));
}

static PyObject *instance_count(PyObject *self, PyObject *arguments)
{
	rt_tracker *tracker = usable_tracker(self);
	const char *name;

	if (!tracker || !PyArg_ParseTuple(arguments, "s", &name))
		return NULL;
	return PyLong_FromSize_t(rt_instance_count(tracker, rt_metric_find(name)));
}

/* As the record has it: with the metric's decimals. */
static PyObject *rounded_object(struct rt_value value, int decimals)
{
	double scale = pow(10, decimals);

	if (value.type == RT_TYPE_REAL && fabs(value.real) < 1e15 / scale)
		value.real = round(value.real * scale) / scale;
	return value_object(&value);
}

/* Puts a value under the name of its metric: alone, or in the list of all instances. */
static int add_value(PyObject *map, const struct rt_metric_info *info, const struct rt_snapshot_entry *entry)
{
	PyObject *value = rounded_object(entry->value, info->decimals), *list;
	int error = -1;

	if (value && !info->many) {
		error = PyDict_SetItemString(map, info->name, value);
	} else if (value) {
		list = PyDict_GetItemString(map, info->name);
		if (!list) {
			list = PyList_New(0);
			if (list && PyDict_SetItemString(map, info->name, list) == 0)
				Py_DECREF(list);
		}
		error = list ? PyList_Append(list, value) : -1;
	}
	Py_XDECREF(value);
	return error;
}

static PyObject *values_of(const rt_snapshot *snapshot)
{
	struct rt_snapshot_entry entry = {.size = sizeof entry};
	struct rt_metric_info info = {.size = sizeof info};
	PyObject *map = PyDict_New();

	while (map && rt_snapshot_each(snapshot, &entry) > 0)
		if ((entry.instance == 0 && rt_metric_get_info(entry.metric, &info) < 0) ||
		    add_value(map, &info, &entry) < 0)
			Py_CLEAR(map);
	return map;
}

static PyObject *values(PyObject *self, PyObject *unused)
{
	rt_tracker *tracker = usable_tracker(self);
	rt_snapshot *snapshot;
	PyObject *map;
	int error;

	if (!tracker)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_snapshot_take(tracker, &snapshot);
	Py_END_ALLOW_THREADS;
	if (error == -ENODATA)
		Py_RETURN_NONE;
	if (error < 0)
		return fail_call("rt_snapshot_take", error);
	map = values_of(snapshot);
	rt_snapshot_free(snapshot);
	return map;
}

static PyObject *text_of_sample(PyObject *self, int (*call)(rt_tracker *, char **))
{
	rt_tracker *tracker = usable_tracker(self);
	char *text;
	int error;

	if (!tracker)
		return NULL;
	error = call(tracker, &text);
	if (error == -ENODATA)
		Py_RETURN_NONE;
	return error < 0 ? fail(error, NULL) : take_text(text);
}

static PyObject *sample_json(PyObject *self, PyObject *unused)
{
	return text_of_sample(self, rt_sample_json);
}

static PyObject *explain_absent(PyObject *self, PyObject *unused)
{
	return text_of_sample(self, rt_explain_absent);
}

static PyObject *upload_answer(PyObject *self, PyObject *unused)
{
	return text_of_sample(self, rt_upload_answer);
}

static PyObject *next_warning(PyObject *self, PyObject *unused)
{
	rt_tracker *tracker = usable_tracker(self);
	char text[1024];

	if (!tracker)
		return NULL;
	if (rt_next_warning(tracker, text, sizeof text) < 0)
		Py_RETURN_NONE;
	return text_object(text);
}

static PyObject *output_path(PyObject *self, PyObject *arguments)
{
	rt_tracker *tracker = usable_tracker(self);
	Py_ssize_t index = 0;

	if (!tracker || !PyArg_ParseTuple(arguments, "|n", &index))
		return NULL;
	return text_object(rt_output_path(tracker, (size_t)index));
}

static PyObject *history_count(PyObject *self, PyObject *unused)
{
	rt_tracker *tracker = usable_tracker(self);

	return tracker ? history_size(tracker) : NULL;
}

static PyObject *history(PyObject *self, PyObject *arguments, PyObject *keywords)
{
	rt_tracker *tracker = usable_tracker(self);

	return tracker ? history_list(tracker, arguments, keywords) : NULL;
}

static PyObject *state(PyObject *self, void *unused)
{
	static const char *const NAMES[] = {"ready", "running", "stopped"};
	rt_tracker *tracker = usable_tracker(self);

	return tracker ? text_object(NAMES[rt_get_state(tracker)]) : NULL;
}

static PyObject *sample_count(PyObject *self, void *unused)
{
	rt_tracker *tracker = usable_tracker(self);

	int64_t count = tracker ? rt_sample_count(tracker) : 0;

	if (!tracker)
		return NULL;
	return count < 0 ? fail_call("rt_sample_count", (int)count) : PyLong_FromLongLong(count);
}

static PyObject *recorder_pid(PyObject *self, void *unused)
{
	rt_tracker *tracker = usable_tracker(self);

	return tracker ? PyLong_FromLong(rt_recorder_pid(tracker)) : NULL;
}

static PyObject *over(PyObject *self, void *unused)
{
	rt_tracker *tracker = usable_tracker(self);

	return tracker ? PyBool_FromLong(rt_over(tracker, NULL)) : NULL;
}

static PyMethodDef METHODS[] = {
	{"track", track, METH_VARARGS,
	 "track(pid, started_by_caller=False): track the process tree from now on"},
	{"start", start, METH_NOARGS, "start(): sample in a background thread"},
	{"stop", stop, METH_VARARGS, "stop(reason=5, status=0): take the last sample and end the thread"},
	{"sample", sample, METH_NOARGS, "sample(): take a sample now"},
	{"finish", finish, METH_VARARGS, "finish(reason=5, status=0): take the last sample"},
	{"wait_for_samples", wait_for_samples, METH_VARARGS,
	 "wait_for_samples(n, timeout_secs=-1) -> whether there are that many"},
	{"wait_for_upload", wait_for_upload, METH_VARARGS,
	 "wait_for_upload(timeout_secs): until all of the stream is sent; TimeoutError, or OSError "
	 "EIO, ENOTCONN"},
	{"upload_answer", upload_answer, METH_NOARGS,
	 "upload_answer() -> the server's JSON object at the end of the run, or None"},
	{"get", get, METH_VARARGS,
	 "get(metric, instance=0) -> its value in the newest sample, or None; also "
	 "get(\"disk[vda].read_bytes_total\")"},
	{"reason", reason, METH_VARARGS, "reason(metric, instance=0) -> why its value is None"},
	{"instance_count", instance_count, METH_VARARGS, "instance_count(metric) -> number of rows"},
	{"values", values, METH_NOARGS,
	 "values() -> {metric: value, or the values of all its rows} of the newest sample, of one moment; "
	 "None: "
	 "no sample yet"},
	{"sample_json", sample_json, METH_NOARGS, "sample_json() -> the newest sample, or None"},
	{"explain_absent", explain_absent, METH_NOARGS, "explain_absent() -> why values are None"},
	{"next_warning", next_warning, METH_NOARGS, "next_warning() -> the oldest unread warning, or None"},
	{"output_path", output_path, METH_VARARGS, "output_path(index=0) -> name of a file, or None"},
	{"history_count", history_count, METH_NOARGS,
	 "history_count() -> (number of the oldest sample kept, how many, bytes they take)"},
	{"history", (PyCFunction)(void (*)(void))history, METH_VARARGS | METH_KEYWORDS,
	 "history(column, layout=None, first=0, count=-1, integers=False) -> values of the samples "
	 "kept; None: "
	 "absent. Without a layout the column is a metric."},
	{"close", close_tracker, METH_NOARGS, "close(): end the tracker and free its memory"},
	{NULL},
};

int add_tracker_type(PyObject *module)
{
	static PyGetSetDef ATTRIBUTES[] = {
		{"state", state, NULL, "'ready', 'running' or 'stopped'"},
		{"sample_count", sample_count, NULL, "number of samples taken"},
		{"pid", recorder_pid, NULL, "of the process that samples; 0: this one"},
		{"over", over, NULL, "whether nothing is left to record"},
		{NULL},
	};
	static PyType_Slot SLOTS[] = {
		{Py_tp_doc,
		 "Tracker(settings=(), history=0, metrics=None, variables=(), apart=False): settings are "
		 "(name, "
		 "value) pairs, named like the command's options. apart: another process records."},
		{Py_tp_init, (void *)tracker_init},
		{Py_tp_dealloc, (void *)tracker_dealloc},
		{Py_tp_methods, METHODS},
		{Py_tp_getset, ATTRIBUTES},
		{0},
	};
	static PyType_Spec SPEC = {"resource_tracker_native._native.Tracker", sizeof(struct tracker), 0,
				   Py_TPFLAGS_DEFAULT, SLOTS};
	PyObject *type = PyType_FromSpec(&SPEC);

	if (!type || PyModule_AddObject(module, "Tracker", type) < 0) {
		Py_XDECREF(type);
		return -1;
	}
	return 0;
}
