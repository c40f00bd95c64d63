/*
 * The smallest program: how much memory the machine has left, in four calls of the library.
 *
 *   cc smallest.c $(pkg-config --cflags --libs resource-tracker) -o smallest && ./smallest
 *
 * rt_open(NULL, ...) takes the default of every setting: the machine, no file. Threads: any thread may call the tracker.
 */
#include <resource_tracker.h>
#include <stdio.h>

int main(void)
{
	rt_tracker *tracker;
	struct rt_value left;

	if (rt_open(NULL, &tracker) < 0)
		return 1;
	if (rt_sample(tracker) == 0 && rt_get_named(tracker, "memory.available_mib", &left) == 0 &&
	    left.type != RT_TYPE_NONE)
		printf("%.0f MiB are available\n", left.real);
	rt_close(tracker);
	return 0;
}
