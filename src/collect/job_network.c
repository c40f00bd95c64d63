/*
 * The traffic of the job alone: of its TCP connections (job/network/job_sockets.h), and of network namespaces of its own
 * (job_namespaces.h), which the tracker's table of sockets does not show.
 *
 * A connection must be seen while it is open, so the tracker looks between samples, too: every 0.1 s at first, later as
 * often as 0.1 ms of CPU time a second allows. While no member runs, or no socket of the machine comes or goes, it looks once
 * a second.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/min_max.h"
#include "collect/collector.h"
#include "collect/job_namespaces.h"
#include "job/network/job_sockets.h"
#include "job/network/network_tuning.h"
#include "job/pass.h"
#include "metric/typed_rows.h"

struct job_network {
	bool is_off;
	struct allowance for_looks;
	int64_t look_ns;  /* when to look next */
	int64_t pause_ns; /* before it */
	struct job_namespaces namespaces;
	struct job_sockets sockets;
};

static bool network_is_wanted(const struct selection *selection)
{
	return !selection || selection->kinds[ROW_run_end] ||
	       IS_WANTED(selection, tree, process_net_recv_bytes) ||
	       IS_WANTED(selection, tree, process_net_sent_bytes) ||
	       IS_WANTED(selection, tree, process_net_recv_bound_bytes) ||
	       IS_WANTED(selection, tree, process_net_sent_bound_bytes) ||
	       IS_WANTED(selection, tree, process_net_connections) ||
	       IS_WANTED(selection, tree, process_net_retransmits) ||
	       IS_WANTED(selection, tree, process_net_source);
}

static int job_network_open(struct collect_context *context, void **ret_state)
{
	struct job_network *state = calloc(1, sizeof *state);

	if (!state)
		return -ENOMEM;
	*ret_state = state;
	state->sockets = (struct job_sockets){.ask_fd = -1, .ended_fd = -1, .error = ABSENT_NOT_COLLECTED};
	state->sockets.changes.file = KEPT_FILE("proc/net/sockstat");
	/* A tracker of the machine alone has no tree. */
	state->is_off =
		context->no_process_network || !network_is_wanted(context->selection) || !context->facts;
	if (state->is_off || !context->root->live)
		return 0;
	job_namespaces_open(&state->namespaces, context->root);
	job_sockets_open(&state->sockets, context->root, context->tree);
	return 0;
}

static void ask_to_attend(struct job_network *state, struct collect_context *context)
{
	int64_t at_ns = job_sockets_attend(&state->sockets, root_monotonic_ns(context->root));

	if (!state->sockets.error)
		at_ns = min_i64(at_ns, state->look_ns);
	context->attend_ns = min_i64(context->attend_ns, at_ns);
}

/* Looks become rarer while no member runs, and while no socket of the machine comes or goes. */
static int64_t next_pause_ns(const struct job_network *state, bool any_ran)
{
	if (any_ran && !socket_changes_none(&state->sockets.changes))
		return LOOK_EVERY_NS;
	return min_i64(max_i64(2 * state->pause_ns, LOOK_EVERY_NS), LOOK_PAUSE_MOST_NS);
}

static void look_at_sockets(struct job_network *state, struct collect_context *context, int64_t now_ns)
{
	int64_t begun_ns = thread_cpu_now_ns(), pause_ns;
	bool any_ran = process_tree_look(context->tree);

	job_sockets_update(&state->sockets, context->tree, false);
	pause_ns = state->pause_ns = next_pause_ns(state, any_ran);
	allowance_earn(&state->for_looks, now_ns, LOOKS_EARN_NS, LOOKS_SAVED_NS);
	state->for_looks.left_ns -= thread_cpu_now_ns() - begun_ns;
	if (state->for_looks.left_ns < 0)
		pause_ns = max_i64(pause_ns, -state->for_looks.left_ns * LOOKS_EARN_NS);
	state->look_ns = now_ns + pause_ns;
}

static void job_network_attend(void *state_, struct collect_context *context)
{
	struct job_network *state = state_;
	int64_t now_ns = root_monotonic_ns(context->root);

	if (state->is_off || !context->tree)
		return;
	if (now_ns >= state->look_ns && !state->sockets.error)
		look_at_sockets(state, context, now_ns);
	ask_to_attend(state, context);
}

static void job_network_prepare(void *state_, struct collect_context *context)
{
	struct job_network *state = state_;

	if (state->is_off || !context->tree)
		return;
	(void)process_tree_look(context->tree);
	job_namespaces_look(&state->namespaces, context->tree);
	job_sockets_begin(&state->sockets, context->tree);
	state->look_ns = root_monotonic_ns(context->root) + FIRST_LOOK_NS;
	ask_to_attend(state, context);
}

static void set_network_absent(struct tree_row *row, int reason)
{
	row->net_received_total = row->net_sent_total = no_count(reason);
	row->net_received_bound_total = row->net_sent_bound_total = no_count(reason);
	row->net_retransmits_total = row->net_connections_total = no_count(reason);
	row->process_net_connections = no_count(reason);
	row->process_net_source = no_text(reason);
}

static const char *network_source_of(const struct job_network *state, const struct job_traffic *sockets,
				     const struct traffic *shared)
{
	bool is_exact = sockets->has_bound && !sockets->unattributed_count;

	if (!state->namespaces.seen)
		return is_exact ? "sockets" : "bound";
	if (shared->received || shared->sent)
		return "bound";
	return !sockets->reason && sockets->count ? "mixed" : "namespace";
}

static void fill_network_row(const struct job_network *state, struct tree_row *row)
{
	struct traffic spaces, shared;
	struct job_traffic sockets;
	bool by_sockets;

	job_namespaces_total(&state->namespaces, &spaces, &shared);
	job_sockets_total(&state->sockets, &sockets);
	by_sockets = !sockets.reason && (sockets.count || !state->namespaces.seen);
	if (sockets.reason && !state->namespaces.seen) {
		set_network_absent(row, sockets.reason);
		return;
	}
	row->process_net_source = network_source_of(state, &sockets, &shared);
	row->net_received_total = spaces.received + (by_sockets ? sockets.known.received : 0);
	row->net_sent_total = spaces.sent + (by_sockets ? sockets.known.sent : 0);
	row->net_received_bound_total = row->net_received_total + shared.received;
	row->net_sent_bound_total = row->net_sent_total + shared.sent;
	row->process_net_connections = by_sockets ? sockets.open_count : no_count(ABSENT_NO_ATTRIBUTION);
	row->net_connections_total = by_sockets ? sockets.count : no_count(ABSENT_NO_ATTRIBUTION);
	row->net_retransmits_total = by_sockets ? sockets.known.retransmits : no_count(ABSENT_NO_ATTRIBUTION);
	if (!by_sockets)
		return;
	row->net_received_bound_total += sockets.unattributed.received;
	row->net_sent_bound_total += sockets.unattributed.sent;
	if (!sockets.has_bound)
		row->net_received_bound_total = row->net_sent_bound_total = no_count(ABSENT_UNSEEN_ENDS);
}

static void job_network_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct job_network *state = state_;
	struct tree_row *row = (struct tree_row *)(void *)frame->first[ROW_tree];
	bool is_last = context->ending->reason;

	if (!row || !context->tree)
		return;
	if (state->is_off) {
		set_network_absent(row, ABSENT_NOT_WANTED);
		return;
	}
	job_namespaces_read(&state->namespaces, context->tree);
	/* After the job has ended, no more bytes can come. */
	if (!is_last)
		job_namespaces_look(&state->namespaces, context->tree);
	job_sockets_update(&state->sockets, context->tree, is_last);
	/* A sample is a look as well: samples of every second are enough for a job that sleeps. */
	state->pause_ns = next_pause_ns(state, process_tree_any_ran(context->tree));
	state->look_ns = max_i64(state->look_ns, root_monotonic_ns(context->root) + state->pause_ns);
	if (!is_last)
		ask_to_attend(state, context);
	fill_network_row(state, row);
}

static void job_network_close(void *state_)
{
	struct job_network *state = state_;

	job_namespaces_close(&state->namespaces);
	job_sockets_close(&state->sockets);
	free(state);
}

const struct collector JOB_NETWORK_COLLECTOR = {
	.name = "job_network",
	.open = job_network_open,
	.collect = job_network_collect,
	.prepare = job_network_prepare,
	.attend = job_network_attend,
	.close = job_network_close,
	.fills = (const enum row_kind[]){ROW_tree, ROW_KINDS},
};
