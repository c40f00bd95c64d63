/* The time of a run, of its line in memory. */
#pragma once

#include <jansson.h>
#include <math.h>

/* With the descendants that the tracker waited for. NaN: unknown */
static inline double line_whole_secs(const json_t *line)
{
	const json_t *job = json_object_get(line, "wall_secs"),
		     *tree = json_object_get(line, "tree_wall_secs"),
		     *whole = json_is_number(tree) ? tree : job;

	return json_is_number(whole) ? json_number_value(whole) : (double)NAN;
}
