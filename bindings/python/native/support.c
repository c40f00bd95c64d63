/* Does the work that both extension modules share; see support.h. */
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resource_tracker_value.h"

PyObject *fail(int error, const char *message)
{
	PyObject *arguments, *exception;

	if (PyErr_Occurred())
		return NULL;
	if (error == -ENOMEM)
		return PyErr_NoMemory();
	if (!message || !*message)
		message = rt_error_text(NULL, error);
	if (error == -EINVAL || error == -EBADMSG || error == -ENODATA || error == -EEXIST) {
		PyErr_SetString(PyExc_ValueError, message);
		return NULL;
	}
	/* OSError's constructor picks the subclass (FileNotFoundError, ...) by number. */
	arguments = Py_BuildValue("(is)", -error, message);
	exception = arguments ? PyObject_CallObject(PyExc_OSError, arguments) : NULL;
	if (exception)
		PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
	Py_XDECREF(exception);
	Py_XDECREF(arguments);
	return NULL;
}

PyObject *fail_call(const char *call, int error)
{
	return fail(error, rt_error_text(call, error));
}

void texts_done(struct texts *texts)
{
	free(texts->items);
	Py_XDECREF(texts->owner);
	*texts = (struct texts){NULL};
}

/* Returns a tuple that owns each item as a bytes object. */
static PyObject *encoded(PyObject *from)
{
	Py_ssize_t count = PySequence_Size(from);
	PyObject *tuple = count < 0 ? NULL : PyTuple_New(count);

	for (Py_ssize_t i = 0; tuple && i < count; i++) {
		PyObject *item = PySequence_GetItem(from, i);
		PyObject *bytes = NULL;

		if (!item || !PyUnicode_FSConverter(item, &bytes)) {
			Py_XDECREF(item);
			Py_DECREF(tuple);
			return NULL;
		}
		Py_DECREF(item);
		PyTuple_SetItem(tuple, i, bytes);
	}
	return tuple;
}

int texts_of(PyObject *from, void *ret_texts)
{
	struct texts texts = {NULL};
	PyObject *list;

	if (from == Py_None) {
		*(struct texts *)ret_texts = texts;
		return 1;
	}
	if (PyUnicode_Check(from) || PyBytes_Check(from) || !PySequence_Check(from))
		list = Py_BuildValue("(O)", from);
	else
		list = PySequence_List(from);
	texts.owner = list ? encoded(list) : NULL;
	Py_XDECREF(list);
	if (!texts.owner)
		return 0;
	texts.count = (size_t)PyTuple_Size(texts.owner);
	texts.items = calloc(texts.count + 1, sizeof *texts.items);
	if (!texts.items) {
		texts_done(&texts);
		PyErr_NoMemory();
		return 0;
	}
	for (size_t i = 0; i < texts.count; i++)
		texts.items[i] = PyBytes_AsString(PyTuple_GetItem(texts.owner, (Py_ssize_t)i));
	*(struct texts *)ret_texts = texts;
	return 1;
}

PyObject *text_object(const char *text)
{
	if (!text)
		Py_RETURN_NONE;
	return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

PyObject *take_text(char *text)
{
	PyObject *object = text_object(text);

	rt_free(text);
	return object;
}
