/* How both cgroup versions say "no limit", brought to one value. */
#pragma once

#include <stdint.h>

#define CGROUP_NO_LIMIT INT64_MAX
