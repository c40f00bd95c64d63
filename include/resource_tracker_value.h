/*
 * resource_tracker_value.h: a value as both libraries give it. resource_tracker.h and resource_tracker_analysis.h include this.
 *
 * Units: a value has the unit that its name says (_secs, _mib, ...).
 *
 * Ownership: texts that these calls return are constant. The caller frees none.
 *
 * Threads: any thread may make these calls at any time. They cannot fail.
 */
#ifndef RESOURCE_TRACKER_VALUE_H
#define RESOURCE_TRACKER_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RT_API __attribute__((visibility("default")))

enum rt_type {
	RT_TYPE_NONE,  /* absent: unknown, never 0 */
	RT_TYPE_REAL,  /* in `real` */
	RT_TYPE_COUNT, /* in `count` */
	RT_TYPE_TEXT,  /* in `text` */
	RT_TYPE_FLAG,  /* in `count`: 0 or 1 */
};

/*
 * One value of a sample, a recording or a summary. Its unit belongs to its name. Members of other types are 0. The text belongs to
 * the object that was asked. The members stay the same as long as the soname stays.
 */
struct rt_value {
	enum rt_type type;
	int reason; /* if absent: for rt_reason() */
	double real;
	int64_t count;
	const char *text;
};

/* One line that says why a value is absent: "permission denied", "no process is tracked", ... The text is constant. */
RT_API const char *rt_reason(int reason);

/*
 * One line about a result below 0 of a call: what was wrong, and what to do. One errno means different things in different calls,
 * so name the call: rt_error_text("rt_get", error). NULL: any call. The text is constant. A `struct rt_problem` or
 * rt_config_message() says more where a call has one.
 */
RT_API const char *rt_error_text(const char *call, int error);

/*
 * Frees a text or a list that a call of either library returned through `char **` or `pid_t **`. NULL is allowed. Objects have
 * calls of their own (rt_close(), rt_summary_free(), ...).
 */
RT_API void rt_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif
