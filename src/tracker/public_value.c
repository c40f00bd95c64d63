/*
 * The calls of resource_tracker_value.h. Both libraries export them, and both archives have this file, so they are weak: a program
 * may link the two.
 */
#include "resource_tracker_value.h"

#include <stdlib.h>

#include "metric/absent.h"

const char *rt_reason(int reason) __attribute__((weak));
void rt_free(void *memory) __attribute__((weak));

const char *rt_reason(int reason)
{
	return absent_reason_text(reason);
}

void rt_free(void *memory)
{
	free(memory);
}
