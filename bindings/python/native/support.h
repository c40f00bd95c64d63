/* What both extension modules share: errors as exceptions, values as Python objects. */
#ifndef SUPPORT_H
#define SUPPORT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stddef.h>

#define RT_LOCAL __attribute__((visibility("hidden")))
#define KEYWORDS(...) ((char *[]){__VA_ARGS__, NULL})

/*
 * Raises for a negative errno and returns NULL: ValueError for what was asked wrongly, else the OSError of that number
 * (FileNotFoundError, ProcessLookupError, ...). `message` may be NULL or empty: then the errno's own.
 */
RT_LOCAL PyObject *fail(int error, const char *message);

/* A sequence of str (or os.PathLike) as C texts. `owner` holds them; done with texts_done(). */
struct texts {
	const char **items;
	size_t count;
	PyObject *owner;
};
/* For PyArg_Parse's "O&"; None is no texts. A single str is taken as a list of one. */
RT_LOCAL int texts_of(PyObject *from, void *ret_texts);
RT_LOCAL void texts_done(struct texts *texts);

/* A malloc'd text as str, which is freed. */
RT_LOCAL PyObject *take_text(char *text);
/* None for NULL. Bytes that are no UTF-8 are replaced. */
RT_LOCAL PyObject *text_object(const char *text);

#define CLEANUP_TEXTS __attribute__((cleanup(texts_done)))

#endif
