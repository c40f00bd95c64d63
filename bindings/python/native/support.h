/* Both extension modules share this: errors as exceptions, values as Python objects. */
#ifndef SUPPORT_H
#define SUPPORT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stddef.h>

#define RT_LOCAL __attribute__((visibility("hidden")))
#define KEYWORDS(...) ((char *[]){__VA_ARGS__, NULL})

/*
 * Raises an exception for a negative errno and returns NULL. A wrong argument raises ValueError; any other
 * error raises the OSError of that number (FileNotFoundError, ProcessLookupError, ...). Without a `message`
 * (NULL or empty), the exception has the text of rt_error_text().
 */
RT_LOCAL PyObject *fail(int error, const char *message);
/* The same with the text of rt_error_text() for this call of the library. */
RT_LOCAL PyObject *fail_call(const char *call, int error);

/* A sequence of str (or os.PathLike) as C texts. `owner` keeps them alive; texts_done() frees them. */
struct texts {
	const char **items;
	size_t count;
	PyObject *owner;
};
/* Converts for PyArg_Parse's "O&". None gives no texts; a single str gives a list of one. */
RT_LOCAL int texts_of(PyObject *from, void *ret_texts);
RT_LOCAL void texts_done(struct texts *texts);

/* Returns a malloc'd text as str and frees it. */
RT_LOCAL PyObject *take_text(char *text);
/* Returns None for NULL. Invalid UTF-8 bytes are replaced. */
RT_LOCAL PyObject *text_object(const char *text);

#define CLEANUP_TEXTS __attribute__((cleanup(texts_done)))

#endif
