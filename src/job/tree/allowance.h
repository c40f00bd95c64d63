/* CPU time that optional work may take: earned as time passes, up to a limit, and spent by the work. */
#pragma once

#include <stdint.h>

#include "base/min_max.h"

struct allowance {
	int64_t left_ns;   /* below 0: the last work took more than there was */
	int64_t earned_ns; /* when it last grew. 0: never, so it begins full */
};

/* Earns 1 ns in each `ns_for_one` ns. */
static inline void allowance_earn(struct allowance *allowance, int64_t now_ns, int64_t ns_for_one,
				  int64_t most_ns)
{
	int64_t since_ns = now_ns - allowance->earned_ns;

	allowance->left_ns =
		allowance->earned_ns ? min_i64(most_ns, allowance->left_ns + since_ns / ns_for_one) : most_ns;
	allowance->earned_ns = now_ns;
}
