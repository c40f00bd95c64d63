/* Builds the configuration of a tracker: settings, variables, history columns. */
#include "native_module.h"

#include <errno.h>

/* The arguments of a tracker's constructor. */
struct wanted {
	PyObject *settings;  /* (name, value) pairs, or NULL */
	PyObject *variables; /* (name, value) pairs, or NULL */
	long long history;
	const char *metrics;
	int apart;
};

static int set_all(rt_config *config, PyObject *pairs, int (*set)(rt_config *, const char *, const char *))
{
	Py_ssize_t count = PySequence_Size(pairs);

	for (Py_ssize_t i = 0; i < count; i++) {
		PyObject *pair = PySequence_GetItem(pairs, i);
		const char *name, *value;
		int error;

		if (!pair || !PyArg_ParseTuple(pair, "ss", &name, &value)) {
			Py_XDECREF(pair);
			return -1;
		}
		error = set(config, name, value);
		Py_DECREF(pair);
		if (error < 0) {
			fail(error == -ENOENT ? -EINVAL : error, rt_config_message(config));
			return -1;
		}
	}
	return count < 0 ? -1 : 0;
}

static int set_variable(rt_config *config, const char *name, const char *value)
{
	return rt_config_set_variable(config, name, value);
}

static int apply_wanted(rt_config *config, const struct wanted *wanted)
{
	int error = rt_config_set_history(config, wanted->history < 0 ? INT64_MAX : wanted->history,
					  wanted->metrics);

	if (error < 0) {
		fail_call("rt_config_set_history", error);
		return -1;
	}
	if (wanted->settings && set_all(config, wanted->settings, rt_config_set) < 0)
		return -1;
	return wanted->variables ? set_all(config, wanted->variables, set_variable) : 0;
}

int config_of(PyObject *arguments, PyObject *keywords, rt_config **ret_config)
{
	struct wanted wanted = {NULL};
	rt_config *config = NULL;
	int error;

	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|OLzOp",
					 KEYWORDS("settings", "history", "metrics", "variables", "apart"),
					 &wanted.settings, &wanted.history, &wanted.metrics,
					 &wanted.variables, &wanted.apart))
		return -1;
	error = rt_config_new(&config);
	if (error < 0) {
		fail_call("rt_config_new", error);
		return -1;
	}
	if (apply_wanted(config, &wanted) < 0) {
		rt_config_free(config);
		return -1;
	}
	rt_config_set_apart(config, wanted.apart);
	*ret_config = config;
	return 0;
}
