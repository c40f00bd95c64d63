/* --version --verbose: how this program was built, and the other programs that it finds; see help.h. */
#include <features.h>
#include <limits.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "cli/help.h"
#include "launch/find_program.h"

#ifdef __GLIBC__
#define LIBC_NAME "glibc "
#define LIBC_VERSION gnu_get_libc_version()
#else
#define LIBC_NAME "musl"
#define LIBC_VERSION ""
#endif
#ifdef __clang__
#define COMPILER ""
#else
#define COMPILER "gcc "
#endif
#ifdef HAVE_TOML
#define CONFIG_FILE "yes"
#else
#define CONFIG_FILE "no"
#endif

static void add_program(struct buffer *out, const char *label, const struct sister_program *program)
{
	char path[PATH_MAX] = "not installed";

	find_sister_program(program, path);
	buffer_printf(out, "%s%s\n", label, path);
}

void add_build_facts(struct buffer *out)
{
	buffer_printf(out,
		      "libc:               " LIBC_NAME "%s\n"
		      "compiler:           " COMPILER __VERSION__ "\n"
		      "configuration file: " CONFIG_FILE "\n",
		      LIBC_VERSION);
	add_program(out, "analysis:           ", &ANALYSIS_PROGRAM);
	add_program(out, "network:            ", &NET_PROGRAM);
	add_program(out, "helper:             ", &HELPER_PROGRAM);
}
