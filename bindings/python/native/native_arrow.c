/*
 * The Arrow C stream interface (https://arrow.apache.org/docs/format/CStreamInterface.html): a table as one
 * batch. It copies the buffers, so that consumers may release them in any thread without the interpreter.
 */
#include "native_module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS_MOST = 3, NULLABLE = 2 /* ARROW_FLAG_NULLABLE */ };

struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *schema);
	void *private_data;
};

struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *array);
	void *private_data;
};

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *ret_schema);
	int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *ret_array);
	const char *(*get_last_error)(struct ArrowArrayStream *stream);
	void (*release)(struct ArrowArrayStream *stream);
	void *private_data;
};

struct column {
	char *name, *format;
	int64_t null_count;
	size_t buffer_count;
	void *buffers[BUFFERS_MOST]; /* NULL: absent buffer */
};

struct table {
	struct column *columns;
	size_t count;
	int64_t rows;
	bool taken;
};

static void table_free(struct table *table)
{
	for (size_t i = 0; table && i < table->count; i++) {
		free(table->columns[i].name);
		free(table->columns[i].format);
		for (size_t j = 0; j < BUFFERS_MOST; j++)
			free(table->columns[i].buffers[j]);
	}
	if (table)
		free(table->columns);
	free(table);
}

/* ---- the schema -------------------------------------------------------------------------------------- */

/*
 * A schema owns its texts and its children. A consumer may have moved a child out, which has cleared its
 * release.
 */
static void release_schema(struct ArrowSchema *schema)
{
	for (int64_t i = 0; i < schema->n_children; i++) {
		if (schema->children[i] && schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
		free(schema->children[i]);
	}
	free(schema->children);
	free((void *)(uintptr_t)schema->format);
	free((void *)(uintptr_t)schema->name);
	schema->release = NULL;
}

static bool fill_schema(struct ArrowSchema *schema, const char *format, const char *name, size_t children)
{
	*schema = (struct ArrowSchema){
		.format = strdup(format),
		.name = strdup(name),
		.flags = NULLABLE,
		.children = calloc(children + 1, sizeof(*schema->children)),
		.release = release_schema,
	};
	return schema->format && schema->name && schema->children;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret_schema)
{
	const struct table *table = stream->private_data;
	struct ArrowSchema schema;
	bool good = fill_schema(&schema, "+s", "", table->count);

	schema.flags = 0;
	for (size_t i = 0; good && i < table->count; i++) {
		struct ArrowSchema *child = calloc(1, sizeof(*child));

		schema.children[i] = child;
		schema.n_children++;
		good = child && fill_schema(child, table->columns[i].format, table->columns[i].name, 0);
	}
	if (!good) {
		release_schema(&schema);
		return ENOMEM;
	}
	*ret_schema = schema;
	return 0;
}

/* ---- the rows ---------------------------------------------------------------------------------------- */

static void release_array(struct ArrowArray *array)
{
	for (int64_t i = 0; i < array->n_children; i++) {
		if (array->children[i] && array->children[i]->release)
			array->children[i]->release(array->children[i]);
		free(array->children[i]);
	}
	free(array->children);
	for (int64_t i = 0; array->buffers && i < array->n_buffers; i++)
		free((void *)(uintptr_t)array->buffers[i]);
	free(array->buffers);
	array->release = NULL;
}

static bool fill_array(struct ArrowArray *array, int64_t length, size_t buffers, size_t children)
{
	*array = (struct ArrowArray){
		.length = length,
		.n_buffers = (int64_t)buffers,
		.buffers = calloc(buffers + 1, sizeof(*array->buffers)),
		.children = calloc(children + 1, sizeof(*array->children)),
		.release = release_array,
	};
	return array->buffers && array->children;
}

/* Moves the column's buffers into the array. */
static bool give_column(struct ArrowArray *array, struct column *column, int64_t rows)
{
	if (!fill_array(array, rows, column->buffer_count, 0))
		return false;
	array->null_count = column->null_count;
	for (size_t i = 0; i < column->buffer_count; i++) {
		array->buffers[i] = column->buffers[i];
		column->buffers[i] = NULL;
	}
	return true;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *ret_array)
{
	struct table *table = stream->private_data;
	struct ArrowArray array;
	bool good;

	if (table->taken) {
		*ret_array = (struct ArrowArray){.release = NULL}; /* the end of the stream */
		return 0;
	}
	table->taken = true;
	good = fill_array(&array, table->rows, 1, table->count);
	for (size_t i = 0; good && i < table->count; i++) {
		struct ArrowArray *child = calloc(1, sizeof(*child));

		array.children[i] = child;
		array.n_children++;
		good = child && give_column(child, &table->columns[i], table->rows);
	}
	if (!good) {
		release_array(&array);
		return ENOMEM;
	}
	*ret_array = array;
	return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	(void)stream;
	return "out of memory";
}

static void release_stream(struct ArrowArrayStream *stream)
{
	table_free(stream->private_data);
	stream->private_data = NULL;
	stream->release = NULL;
}

static void free_capsule(PyObject *capsule)
{
	struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");

	if (stream && stream->release)
		stream->release(stream);
	free(stream);
}

/* ---- from Python ------------------------------------------------------------------------------------- */

static bool take_buffer(PyObject *bytes, void **ret_copy)
{
	char *data;
	Py_ssize_t length;

	if (bytes == Py_None)
		return true;
	if (PyBytes_AsStringAndSize(bytes, &data, &length) < 0)
		return false;
	/* Not NULL: consumers expect a pointer even for an empty buffer. */
	*ret_copy = malloc((size_t)length + 8);
	if (!*ret_copy) {
		PyErr_NoMemory();
		return false;
	}
	memcpy(*ret_copy, data, (size_t)length);
	return true;
}

/* Reads (name, format, number of nulls, buffers). */
static bool take_column(PyObject *item, struct column *column)
{
	const char *name, *format;
	long long null_count;
	PyObject *buffers;

	if (!PyArg_ParseTuple(item, "ssLO!", &name, &format, &null_count, &PyTuple_Type, &buffers))
		return false;
	column->name = strdup(name);
	column->format = strdup(format);
	column->null_count = null_count;
	column->buffer_count = (size_t)PyTuple_Size(buffers);
	if (!column->name || !column->format || column->buffer_count > BUFFERS_MOST) {
		PyErr_NoMemory();
		return false;
	}
	for (size_t i = 0; i < column->buffer_count; i++)
		if (!take_buffer(PyTuple_GetItem(buffers, (Py_ssize_t)i), &column->buffers[i]))
			return false;
	return true;
}

static struct table *take_table(PyObject *columns, long long rows)
{
	struct table *table = calloc(1, sizeof(*table));
	Py_ssize_t count = PyList_Size(columns);

	if (table)
		table->columns = calloc((size_t)count + 1, sizeof(*table->columns));
	if (!table || !table->columns) {
		PyErr_NoMemory();
		table_free(table);
		return NULL;
	}
	table->rows = rows;
	for (Py_ssize_t i = 0; i < count; i++) {
		table->count++;
		if (!take_column(PyList_GetItem(columns, i), &table->columns[i])) {
			table_free(table);
			return NULL;
		}
	}
	return table;
}

PyObject *arrow_stream(PyObject *module, PyObject *arguments)
{
	PyObject *columns, *capsule;
	struct ArrowArrayStream *stream;
	struct table *table;
	long long rows;

	if (!PyArg_ParseTuple(arguments, "O!L", &PyList_Type, &columns, &rows))
		return NULL;
	table = take_table(columns, rows);
	if (!table)
		return NULL;
	stream = malloc(sizeof(*stream));
	if (!stream) {
		table_free(table);
		return PyErr_NoMemory();
	}
	*stream = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, table};
	capsule = PyCapsule_New(stream, "arrow_array_stream", free_capsule);
	if (!capsule) {
		release_stream(stream);
		free(stream);
	}
	return capsule;
}
