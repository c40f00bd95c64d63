/* Sends the signals of --signal-at, and records that. job/signal_at/ has the rules and the forecast. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/min_max.h"
#include "collect/collector.h"
#include "job/signal_at/memory_forecast.h"
#include "job/signal_at/signal_send.h"
#include "job/signal_at/time_limit.h"
#include "metric/typed_rows.h"

enum { BECAUSE_BYTES = 96 };

/* The course of one rule. */
struct early_signal {
	const struct signal_rule *rule;
	int64_t sent_ns; /* 0: not yet */
	int64_t count;   /* processes that got it */
	const char *why; /* it was not sent, or not to all. NULL: it was */
	char because[BECAUSE_BYTES];
	bool due, recorded;
};

struct early_signals {
	struct memory_forecast forecast;
	struct time_limit limit;
	int64_t limit_found_ns; /* 0: never looked */
	size_t count;
	struct early_signal signals[];
};

static int early_signal_open(struct collect_context *context, void **ret_state)
{
	struct early_signals *state =
		calloc(1, sizeof *state + context->signal_rule_count * sizeof state->signals[0]);

	if (!state)
		return -ENOMEM;
	state->count = context->signal_rule_count;
	for (size_t i = 0; i < state->count; i++)
		state->signals[i].rule = &context->signal_rules[i];
	*ret_state = state;
	return 0;
}

/* Says why a signal waits. Once it was due, only an attempt to send it has a better reason. */
static void keep_waiting(struct early_signal *signal, const char *why)
{
	if (!signal->due)
		signal->why = why;
}

/* Sends a signal that is due. Without a process that takes it, the next sample tries again. */
static void send_due(struct early_signal *signal, struct collect_context *context)
{
	keep_waiting(signal, signal->rule->text[signal->rule->program]
				     ? "no process of the job runs that program"
				     : "the job's first process has ended");
	signal->due = true;
	signal->count = signal_send(context->tree, signal->rule, &signal->why);
	if (signal->count)
		signal->sent_ns = root_monotonic_ns(context->root);
}

/* ---- memory ---------------------------------------------------------------------------------------------- */

static double or_zero(double value)
{
	return real_absent(value) ? 0 : value;
}

/*
 * The kernel frees page cache before it kills a process, so the memory that counts is that of the job's processes, or what its control group
 * cannot give back. The job may have the limit of the group, or what it has and the machine has left, whichever is less.
 */
static double memory_in_use(const struct frame *frame, double *ret_limit_mib)
{
	const struct tree_row *tree = (const void *)frame->first[ROW_tree];
	const struct cgroup_row *cgroup = (const void *)frame->first[ROW_cgroup];
	const struct limits_row *limits = (const void *)frame->first[ROW_limits];
	const struct memory_row *memory = (const void *)frame->first[ROW_memory];
	double job = tree ? or_zero(tree->process_memory_mib) : 0, group = 0, machine;

	*ret_limit_mib = limits ? or_zero(limits->memory_limit_mib) : 0;
	if (*ret_limit_mib > 0 && cgroup)
		group = or_zero(cgroup->anon_mib) + or_zero(cgroup->shmem_mib) + or_zero(cgroup->kernel_mib);
	machine = memory && !real_absent(memory->available_mib) ? job + memory->available_mib : 0;
	if (machine > 0 && (*ret_limit_mib <= 0 || machine < *ret_limit_mib)) {
		*ret_limit_mib = machine;
		return job;
	}
	return group > 0 ? group : job;
}

static void watch_memory(struct early_signals *state, struct collect_context *context,
			 const struct frame *frame)
{
	double limit_mib, mib = memory_in_use(frame, &limit_mib), secs;

	if (mib > 0)
		memory_forecast_add(&state->forecast, frame->monotonic_ns, mib);
	for (size_t i = 0; i < state->count; i++) {
		struct early_signal *signal = &state->signals[i];

		if (!signal->rule->of_memory || signal->sent_ns)
			continue;
		if (mib <= 0 || limit_mib <= 0)
			keep_waiting(signal,
				     mib > 0 ? "no memory limit is known" : "the job's memory is not known");
		else if (!memory_forecast_is_due(&state->forecast, limit_mib, signal->rule->value, &secs))
			keep_waiting(signal, "memory stayed below that level");
		else {
			snprintf(signal->because, sizeof signal->because,
				 secs < 0 ? "%.0f of %.0f MiB" : "%.0f of %.0f MiB, full in %.0f s", mib,
				 limit_mib, secs);
			send_due(signal, context);
		}
	}
}

/* ---- time ------------------------------------------------------------------------------------------------ */

/* Returns when a rule is due (CLOCK_MONOTONIC), INT64_MAX for never, with the reason in signal->why. */
static int64_t due_ns(struct early_signal *signal, const struct early_signals *state,
		      const struct collect_context *context)
{
	const struct signal_rule *rule = signal->rule;
	int64_t started_ns = collect_began_ns(context);
	struct time_limit limit = state->limit;
	int64_t at_ns;

	if (!limit.begun_ns)
		limit.begun_ns = started_ns;
	if (rule->limit_secs > 0)
		limit = (struct time_limit){"that was given", started_ns,
					    started_ns + (int64_t)(rule->limit_secs * 1e9)};
	keep_waiting(signal, "the recording ended before that time");
	if (!rule->is_share && rule->value > 0) {
		snprintf(signal->because, sizeof signal->because, "%.6g s after the start", rule->value);
		return started_ns + (int64_t)(rule->value * 1e9);
	}
	if (!limit.of) {
		keep_waiting(signal, "no time limit is known");
		return INT64_MAX;
	}
	at_ns = rule->is_share
			? limit.begun_ns + (int64_t)((double)(limit.ends_ns - limit.begun_ns) * rule->value)
			: limit.ends_ns + (int64_t)(rule->value * 1e9);
	snprintf(signal->because, sizeof signal->because, "%.6g s before the limit %s%s",
		 ns_to_secs(limit.ends_ns - at_ns), rule->limit_secs > 0 ? "" : "of ", limit.of);
	if (at_ns > started_ns)
		return at_ns;
	keep_waiting(signal, "the job started later than that");
	return INT64_MAX;
}

static void watch_time(struct early_signals *state, struct collect_context *context)
{
	int64_t now_ns = root_monotonic_ns(context->root);

	for (size_t i = 0; i < state->count; i++) {
		struct early_signal *signal = &state->signals[i];
		int64_t at_ns;

		if (signal->rule->of_memory || signal->sent_ns)
			continue;
		if (!state->limit_found_ns || now_ns - state->limit_found_ns >= LOOK_FOR_TIME_LIMIT_NS) {
			time_limit_find(context->root, context->tree->root_pid, &state->limit);
			state->limit_found_ns = now_ns;
		}
		at_ns = due_ns(signal, state, context);
		if (at_ns <= now_ns)
			send_due(signal, context);
		else
			context->attend_ns = min_i64(context->attend_ns, at_ns);
	}
}

/* ---- the record ------------------------------------------------------------------------------------------ */

static void record_signal(struct early_signal *signal, const struct collect_context *context,
			  struct frame *frame)
{
	struct signal_at_row *row = ADD_ROW(frame, signal_at, NULL);

	row->rule = frame_text(frame, signal->rule->text, strlen(signal->rule->text));
	row->elapsed_secs = signal->sent_ns ? ns_to_secs(signal->sent_ns - context->progress.started_ns)
					    : no_real(ABSENT_NOT_THIS_END);
	row->because = signal->due ? frame_text(frame, signal->because, strlen(signal->because))
				   : no_text(ABSENT_NOT_THIS_END);
	row->process_count = signal->count;
	row->not_sent = signal->why ? frame_text(frame, signal->why, strlen(signal->why))
				    : no_text(ABSENT_NOT_THIS_END);
	signal->recorded = true;
}

static void early_signal_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct early_signals *state = state_;

	frame_set_missing(frame, ROW_signal_at, state->count ? ABSENT_NOT_YET : ABSENT_NOT_GIVEN);
	if (context->progress.baseline || !state->count)
		return;
	if (context->tree && !context->ending->reason) {
		watch_memory(state, context, frame);
		watch_time(state, context);
	}
	for (size_t i = 0; i < state->count; i++) {
		struct early_signal *signal = &state->signals[i];

		if (!context->tree)
			signal->why = "no process is tracked";
		if (!signal->recorded && (signal->sent_ns || context->ending->reason))
			record_signal(signal, context, frame);
	}
}

/* A signal before a time limit does not wait for the next sample, which records it. */
static void early_signal_attend(void *state, struct collect_context *context)
{
	if (context->tree && !context->ending->reason)
		watch_time(state, context);
}

const struct collector EARLY_SIGNAL_COLLECTOR = {
	.name = "early_signal",
	.open = early_signal_open,
	.collect = early_signal_collect,
	.attend = early_signal_attend,
	.close = free,
	.fills = (const enum row_kind[]){ROW_signal_at, ROW_KINDS},
};
