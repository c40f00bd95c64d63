/* Replaces config_toml.cc in builds without toml++. */
#include <errno.h>

#include "cli/config_toml.h"

int toml_read(const char *bytes, size_t length, const struct toml_visitor *visitor,
	      struct toml_error *ret_error)
{
	(void)bytes;
	(void)length;
	(void)visitor;
	(void)ret_error;
	return -ENOSYS;
}
