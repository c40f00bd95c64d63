/*
 * The name under which a process is counted by program: the basename of its executable, and for an interpreter also the
 * script, module or class that it runs ("python3 train.py", "java org.x.Main"). Further arguments may hold secrets and
 * are never part of a name.
 */
#pragma once

#include <stddef.h>

enum { PROGRAM_NAME_BYTES = 64 };

/* `cmdline` has the bytes of /proc/PID/cmdline, or its beginning. Without any, the name is `comm`. */
void program_name(const char *cmdline, size_t length, const char *comm, char ret_name[PROGRAM_NAME_BYTES]);
