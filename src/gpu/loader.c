/* dlopen and dlsym; see loader.h. */
#include "gpu/loader.h"

#include <dlfcn.h>
#include <string.h>

void *load_library(const char *const *names, const char **ret_message)
{
	void *library = NULL;
	const char *message = NULL;

	for (; *names && !library; names++) {
		/* Bind everything now, so that no symbol is looked up in the middle of a reading. */
		library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
		/* The message about the usual name is the most helpful. */
		if (!library && !message)
			message = dlerror();
	}
	if (!library)
		*ret_message = message ? message : "no library";
	return library;
}

void load_symbols(void *library, const struct symbol *symbols, size_t count, void *functions)
{
	for (size_t i = 0; i < count; i++) {
		const struct symbol *symbol = &symbols[i];
		void *function = NULL;
		int version = 0;

		for (size_t n = 0; n < sizeof(symbol->names) / sizeof(symbol->names[0]) && symbol->names[n];
		     n++) {
			function = dlsym(library, symbol->names[n]);
			version = (int)n;
			if (function)
				break;
		}
		/* POSIX guarantees that these two kinds of pointer have the same form. */
		memcpy((char *)functions + symbol->offset, &function, sizeof function);
		if (symbol->version_offset != SYMBOL_NO_VERSION)
			memcpy((char *)functions + symbol->version_offset, &version, sizeof version);
	}
}
