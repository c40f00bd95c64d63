/* How long the last good runs of a job took. See usual_time.h. */
#include "history/usual_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "history/history.h"
#include "history/line_secs.h"
#include "summary/summary.h"

static int order_of_secs(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* Whether the line has this text, or lacks the key if there is none. */
static bool line_has(const json_t *line, const char *key, const char *text)
{
	const char *own = json_string_value(json_object_get(line, key));

	return own && text ? strcmp(own, text) == 0 : !own && !text;
}

void usual_time_find(struct record *record, const char *job_name, int64_t pid, struct usual_time *ret_usual)
{
	CLEANUP_FREE struct run_facts *facts = calloc(1, sizeof(*facts));
	struct history history = {.fd = -1};

	ret_usual->count = 0;
	if (!facts || history_open(&history, false, NULL) < 0)
		return;
	facts->record = record;
	facts->tracked_pid = pid;
	snprintf(facts->job_name, sizeof(facts->job_name), "%s", job_name ? job_name : "");
	summary_find_name(facts);
	for (size_t i = history.count; i-- > 0 && ret_usual->count < USUAL_RUNS_MOST;) {
		const json_t *line = history.runs[i].line;
		double secs = line_whole_secs(line);

		if (line_has(line, "outcome", "ok") && line_has(line, "name", facts->run_name) &&
		    line_has(line, "task", summary_task(facts)) && secs > 0)
			ret_usual->secs[ret_usual->count++] = secs;
	}
	history_close(&history);
	if (ret_usual->count < USUAL_RUNS_LEAST)
		ret_usual->count = 0;
	qsort(ret_usual->secs, ret_usual->count, sizeof(ret_usual->secs[0]), order_of_secs);
}
