/* class Marks: phase marks that the job itself sets. */
#include "native_module.h"

#include <errno.h>

struct marks {
	PyObject_HEAD rt_marks *marks;
};

static int marks_init(PyObject *self_, PyObject *arguments, PyObject *keywords)
{
	struct marks *self = (struct marks *)self_;
	PyObject *path = NULL;
	rt_marks *marks = NULL;
	int error;

	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O", KEYWORDS("path"), &path))
		return -1;
	if (path && path != Py_None) {
		PyObject *bytes = NULL;

		if (!PyUnicode_FSConverter(path, &bytes))
			return -1;
		error = rt_marks_open(PyBytes_AsString(bytes), &marks);
		Py_DECREF(bytes);
	} else {
		error = rt_marks_open(NULL, &marks);
		if (error == -ENOENT) /* no recording: marks do nothing */
			error = 0;
	}
	if (error < 0) {
		fail_call("rt_marks_open", error);
		return -1;
	}
	rt_marks_close(self->marks);
	self->marks = marks;
	return 0;
}

static void marks_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	rt_marks_close(((struct marks *)self)->marks);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

static PyObject *start(PyObject *self, PyObject *arguments)
{
	const char *name;
	int64_t number;

	if (!PyArg_ParseTuple(arguments, "s", &name))
		return NULL;
	number = rt_mark_start(((struct marks *)self)->marks, name);
	return number < 0 ? fail_call("rt_mark_start", (int)number) : PyLong_FromLongLong(number);
}

static PyObject *stop(PyObject *self, PyObject *arguments)
{
	const char *name;
	long long number;
	int error;

	if (!PyArg_ParseTuple(arguments, "sL", &name, &number))
		return NULL;
	error = rt_mark_stop(((struct marks *)self)->marks, name, number);
	if (error < 0)
		return fail_call("rt_mark_stop", error);
	Py_RETURN_NONE;
}

static PyObject *active(PyObject *self, void *unused)
{
	return PyBool_FromLong(((struct marks *)self)->marks != NULL);
}

int add_marks_type(PyObject *module)
{
	static PyMethodDef METHODS[] = {
		{"start", start, METH_VARARGS, "start(name) -> the number of the phase, for stop()"},
		{"stop", stop, METH_VARARGS, "stop(name, number)"},
		{NULL},
	};
	static PyGetSetDef ATTRIBUTES[] = {
		{"active", active, NULL, "whether marks reach a recording"},
		{NULL},
	};
	static PyType_Slot SLOTS[] = {
		{Py_tp_doc,
		 "Marks(path=None): phases of a job in the recording around it, or in the file `path`."},
		{Py_tp_init, (void *)marks_init},
		{Py_tp_dealloc, (void *)marks_dealloc},
		{Py_tp_methods, METHODS},
		{Py_tp_getset, ATTRIBUTES},
		{0},
	};
	static PyType_Spec SPEC = {"resource_tracker_native._native.Marks", sizeof(struct marks), 0,
				   Py_TPFLAGS_DEFAULT, SLOTS};
	PyObject *type = PyType_FromSpec(&SPEC);

	if (!type || PyModule_AddObject(module, "Marks", type) < 0) {
		Py_XDECREF(type);
		return -1;
	}
	return 0;
}
