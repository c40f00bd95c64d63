/* "No limit" in both cgroup versions, as one value. */
#pragma once

#include <stdint.h>

#define CGROUP_NO_LIMIT INT64_MAX
