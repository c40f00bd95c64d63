/*
 * TOML as flat (table, key, text) triples: all that is seen of the C++ parser behind it.
 *
 * Scalars arrive as text (booleans as "1" and "0"), each element of an array on its own under the array's
 * key, and an inline or named table below a table as elements "KEY=VALUE". Built without toml++, toml_read()
 * answers -ENOSYS.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct toml_visitor {
	/*
	 * `table` is "" at the top. Texts live only during the call. A value that has no text (a nested array) comes as
	 * NULL. 0, or a negative errno that ends the reading.
	 */
	int (*value)(void *context, const char *table, const char *key, const char *text, unsigned line);
	void *context;
};

struct toml_error {
	unsigned line, column; /* from 1; 0: unknown */
	char text[200];        /* one line */
};

/* 0; -EBADMSG: does not parse, and *ret_error says where; -ENOSYS; what a visitor returned; -ENOMEM. */
int toml_read(const char *bytes, size_t length, const struct toml_visitor *visitor,
	      struct toml_error *ret_error);

#ifdef __cplusplus
}
#endif
