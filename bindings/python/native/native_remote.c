/*
 * class Remote: a tracker in its own process, with the part of Tracker's interface that ResourceTracker uses.
 */
#include "native_module.h"

#include <errno.h>

struct remote {
	PyObject_HEAD rt_remote *remote;
};

static rt_remote *usable_remote(PyObject *self)
{
	rt_remote *remote = ((struct remote *)self)->remote;

	if (!remote)
		PyErr_SetString(PyExc_ValueError, "the tracker is closed");
	return remote;
}

static PyObject *refuse(int64_t error)
{
	if (error != -ECHILD)
		return fail((int)error, error == -EPIPE ? "the tracker's process has gone" : NULL);
	PyErr_SetString(PyExc_RuntimeError,
			"the tracker belongs to the process that made it, not to its fork");
	return NULL;
}

static int remote_init(PyObject *self_, PyObject *arguments, PyObject *keywords)
{
	struct remote *self = (struct remote *)self_;
	rt_config *config;
	int error;

	if (self->remote) {
		PyErr_SetString(PyExc_RuntimeError, "the tracker is open");
		return -1;
	}
	if (config_of(arguments, keywords, &config) < 0)
		return -1;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_remote_start(config, &self->remote);
	Py_END_ALLOW_THREADS;
	if (error < 0)
		fail(error, rt_config_message(config));
	rt_config_free(config);
	return error < 0 ? -1 : 0;
}

static void shut_remote(struct remote *self)
{
	rt_remote *remote = self->remote;

	self->remote = NULL;
	Py_BEGIN_ALLOW_THREADS;
	rt_remote_close(remote);
	Py_END_ALLOW_THREADS;
}

static void remote_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	shut_remote((struct remote *)self);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

static PyObject *close_remote(PyObject *self, PyObject *unused)
{
	shut_remote((struct remote *)self);
	Py_RETURN_NONE;
}

static PyObject *stop(PyObject *self, PyObject *unused)
{
	rt_remote *remote = usable_remote(self);
	int error;

	if (!remote)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	error = rt_remote_stop(remote);
	Py_END_ALLOW_THREADS;
	/* -EALREADY: the tracker has ended by itself, because its target has. */
	if (error < 0 && error != -EALREADY)
		return refuse(error);
	Py_RETURN_NONE;
}

static int64_t count_kept(void *remote, int64_t *ret_first, size_t *ret_bytes)
{
	return rt_remote_history_count(remote, ret_first, ret_bytes);
}

static ssize_t read_kept(void *remote, const char *layout, const char *column, int64_t first, size_t count,
			 double *ret_values)
{
	return rt_remote_history_read(remote, layout, column, first, count, ret_values);
}

static PyObject *history_count(PyObject *self, PyObject *unused)
{
	rt_remote *remote = usable_remote(self);
	int64_t count = remote ? rt_remote_sample_count(remote) : 0;

	if (!remote)
		return NULL;
	return count < 0 ? refuse(count) : history_size(remote, count_kept);
}

static PyObject *history(PyObject *self, PyObject *arguments, PyObject *keywords)
{
	rt_remote *remote = usable_remote(self);

	return remote ? history_list(remote, count_kept, read_kept, arguments, keywords) : NULL;
}

static PyObject *next_warning(PyObject *self, PyObject *unused)
{
	rt_remote *remote = usable_remote(self);
	char text[1024];

	if (!remote)
		return NULL;
	if (rt_remote_next_warning(remote, text, sizeof text) < 0)
		Py_RETURN_NONE;
	return text_object(text);
}

static PyObject *sample_count(PyObject *self, void *unused)
{
	rt_remote *remote = usable_remote(self);
	int64_t count = remote ? rt_remote_sample_count(remote) : 0;

	if (!remote)
		return NULL;
	return count < 0 ? refuse(count) : PyLong_FromLongLong(count);
}

static PyObject *pid(PyObject *self, void *unused)
{
	rt_remote *remote = usable_remote(self);

	return remote ? PyLong_FromLong(rt_remote_pid(remote)) : NULL;
}

int add_remote_type(PyObject *module)
{
	static PyMethodDef METHODS[] = {
		{"stop", stop, METH_NOARGS, "stop(): take the last sample; the history stays readable"},
		{"next_warning", next_warning, METH_NOARGS,
		 "next_warning() -> the oldest unread warning, or None"},
		{"history_count", history_count, METH_NOARGS, "as in Tracker"},
		{"history", (PyCFunction)(void (*)(void))history, METH_VARARGS | METH_KEYWORDS,
		 "as in Tracker"},
		{"close", close_remote, METH_NOARGS, "close(): end the process and free its memory"},
		{NULL},
	};
	static PyGetSetDef ATTRIBUTES[] = {
		{"sample_count", sample_count, NULL, "number of samples taken"},
		{"pid", pid, NULL, "pid of the sampling process, which is not our child"},
		{NULL},
	};
	static PyType_Slot SLOTS[] = {
		{Py_tp_doc, "Remote(settings=(), history=0, metrics=None, variables=()): a started Tracker "
			    "in its own process, which finishes the recording however this program ends."},
		{Py_tp_init, (void *)remote_init},
		{Py_tp_dealloc, (void *)remote_dealloc},
		{Py_tp_methods, METHODS},
		{Py_tp_getset, ATTRIBUTES},
		{0},
	};
	static PyType_Spec SPEC = {"resource_tracker_native._native.Remote", sizeof(struct remote), 0,
				   Py_TPFLAGS_DEFAULT, SLOTS};
	PyObject *type = PyType_FromSpec(&SPEC);

	if (!type || PyModule_AddObject(module, "Remote", type) < 0) {
		Py_XDECREF(type);
		return -1;
	}
	return 0;
}
