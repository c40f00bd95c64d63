/*
 * The name under which a process is counted by program: the basename of its executable, and for an interpreter also the
 * script, module or class that it runs ("python3 train.py", "java org.x.Main"). Further arguments may hold secrets and
 * are never part of a name.
 */
#pragma once

#include <stddef.h>

enum { PROGRAM_NAME_BYTES = 64 };

/*
 * `cmdline` has the bytes of /proc/PID/cmdline, or its beginning. Without any, the name is `comm`, as for a worker of PyTorch's
 * DataLoader.
 */
void program_name(const char *cmdline, size_t length, const char *comm, char ret_name[PROGRAM_NAME_BYTES]);

/*
 * The name that a person has for a run of this command: "train.py" of python3 train.py, "make test" of make -j2 test, "sh (demo)"
 * of a shell that runs text in the folder demo, else the basename of the executable. A program that only starts another one, as env or
 * timeout, is left out. `folder` NULL: unknown.
 */
void run_name(const char *cmdline, size_t length, const char *folder, char ret_name[PROGRAM_NAME_BYTES]);
