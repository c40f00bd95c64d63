/* A recording of one sample that a test makes by hand: a job of 100 s on 4 cores and 1000 MiB, of which it used 100 at most. */
#pragma once

#include "scratch.h"

#include <math.h>

#include "metric/typed_rows.h"
#include "verdict/run_summary.h"

static const char *const PATHS[] = {"run.jsonl"};
static rt_summary *summary;
static struct run_facts *facts;

static inline struct total sum_of(double sum)
{
	return (struct total){.sum = sum, .present = true};
}

/* Further members of its run_start, and those of its run_end. NULL: the recording has no end. */
static inline void make_run(const char *of_start, const char *of_end)
{
	struct rt_problem problem = {""};
	char text[2048];

	rt_summary_free(summary);
	summary = NULL;
	snprintf(text, sizeof text,
		 "{\"timestamp\":200,\"elapsed_secs\":100,\"sample\":0,\"actual_interval_ms\":100000,\"run_"
		 "start\":{\"interval_secs\":100,\"tracked_pid\":7%s%s}%s%s%s}\n",
		 *of_start ? "," : "", of_start, of_end ? ",\"run_end\":{" : "", of_end ? of_end : "",
		 of_end ? "}" : "");
	put_text(PATHS[0], text);
	if (rt_summary_read(PATHS, 1, &summary, &problem) < 0)
		fail_msg("%s: %s", problem.text, text);
	facts = &summary->facts;
	facts->tracked = true;
	facts->recorded_secs = facts->wall_secs = 100;
	facts->core_count = 4;
	facts->allowances =
		(struct allowances){.count = 1, .list = {{0, NAN, 1000, NAN, NAN, NAN}}, .secs = {100}};
	facts->memory.most = 100;
}
