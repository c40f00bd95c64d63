/* The end of an attached process, told by its parent; see base/told_end.h. */
#pragma once

#include <stdbool.h>

#include "base/told_end.h"

/* Returns the descriptor, close-on-exec, and removes the variable; -1: no parent tells. */
int told_status_open(void);

void told_status_ready(int fd);

/* Waits for at most 5 s. Returns false if the parent says nothing. */
bool told_status_read(int fd, struct told_end *ret_end);
