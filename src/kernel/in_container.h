/* Whether a container shows these files: some figures of its /proc are those of the container, and others of the host. */
#pragma once

#include <stdbool.h>

#include "kernel/root.h"

bool root_is_in_container(struct root *root);
