/*
 * TOML as flat (table, key, text) triples. This hides the C++ parser.
 *
 * Scalars arrive as text (booleans as "1" and "0"). Each element of an array arrives on its own under the
 * array's key, and each entry of a table inside a table as "KEY=VALUE". Without toml++ in the build,
 * toml_read() returns -ENOSYS.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a value stands in the array or table that its key has. One that is alone there is like a scalar. */
enum toml_place { TOML_ALONE, TOML_FIRST, TOML_NEXT };

struct toml_visitor {
	/*
	 * `table` is "" at the top level. The texts are valid during the call only. A value without a text (a
	 * nested array) comes as NULL, and an array or a table without elements as `empty`. Returns 0, or a
	 * negative errno that ends the reading.
	 */
	int (*value)(void *context, const char *table, const char *key, const char *text, unsigned line,
		     enum toml_place place);
	void *context;
	const char *empty;
};

struct toml_error {
	unsigned line, column; /* from 1; 0: unknown */
	char text[200];        /* one line */
};

/*
 * Returns 0; -EBADMSG if the text is not valid TOML (*ret_error has the place); -ENOSYS; -ENOMEM; or the
 * visitor's error.
 */
int toml_read(const char *bytes, size_t length, const struct toml_visitor *visitor,
	      struct toml_error *ret_error);

#ifdef __cplusplus
}
#endif
