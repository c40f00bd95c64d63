/*
 * The outer process of a helper. It starts the worker, replaces it when it crashes or hangs, and ends both when
 * the recorder has exited. It runs no foreign code, so it always reacts.
 */
#pragma once

#include "helper/worker.h"

/* Returns the program's exit status. socket_fd ends when the recorder does. */
int supervise(const struct helper_view *view, const struct helper_kind *kind, int socket_fd);
