/* The calls of a tracker whose samples another process takes. See rt_config_set_apart(). The tracker's lock is held. */
#pragma once

#include "remote/remote_message.h"
#include "resource_tracker.h"

/* Starts the process and opens the tracker there. config_fail() tells errors. */
int apart_open(struct rt_tracker *tracker, struct rt_config *config);
/* Nothing to do for a tracker of this process. */
void apart_close(struct rt_tracker *tracker);

/* Asks a question without a payload and returns the result of its answer. */
int64_t apart_ask(struct rt_tracker *tracker, enum remote_question question, int64_t first, int64_t count);
/* True also if the process has gone. */
bool apart_is_over(struct rt_tracker *tracker, enum rt_end_reason *ret_reason);
/* The answer is a text. The caller frees it. */
int apart_text(struct rt_tracker *tracker, enum remote_question question, int64_t first, char **ret_text);
/* By its number and instance, or by its full name if that is not NULL. */
int apart_value(struct rt_tracker *tracker, rt_metric metric, size_t instance, const char *name,
		struct rt_value *ret_value);
int64_t apart_history_count(struct rt_tracker *tracker, int64_t *ret_first, size_t *ret_bytes);
ssize_t apart_history_read(struct rt_tracker *tracker, const char *layout, const char *column, int64_t first,
			   size_t count, double *ret_values);
