/* Bytes that a job received and sent; see summary.h. */
#include "summary/summary.h"

#include <math.h>
#include <string.h>

#include "base/scan.h"

void summary_add_network(struct rt_summary *summary, const struct tree_row *tree)
{
	struct scan source;

	if (!tree || text_absent(tree->process_net_source))
		return;
	source = scan_bytes(tree->process_net_source, strlen(tree->process_net_source));
	scan_copy(&source, summary->network_source, sizeof(summary->network_source));
}

/* The end has the totals of the run, also those that were unknown in some sample. */
static double told_or_summed(const struct run_end_row *end, int64_t told, const struct total *sum)
{
	return end && !count_absent(told) ? real_of_count(told) : total_of(sum);
}

struct network_use summary_network(const struct rt_summary *summary)
{
	const struct run_end_row *end = FIRST(record_identity(summary->record), run_end);
	struct network_use use = {
		.received = told_or_summed(end, end ? end->net_recv_bytes : 0, &summary->job_received_bytes),
		.sent = told_or_summed(end, end ? end->net_sent_bytes : 0, &summary->job_sent_bytes),
		.received_bound = told_or_summed(end, end ? end->net_recv_bound_bytes : 0,
						 &summary->job_received_bound_bytes),
		.sent_bound = told_or_summed(end, end ? end->net_sent_bound_bytes : 0,
					     &summary->job_sent_bound_bytes),
		.connections = end ? real_of_count(end->net_connections) : (double)NAN,
		.retransmits = told_or_summed(end, end ? end->net_retransmits : 0, &summary->job_retransmits),
	};

	if (isnan(use.received) || isnan(use.sent))
		return (struct network_use){NAN, NAN, NAN, NAN, NAN, NAN, NULL};
	use.source = summary->network_source;
	if (end && !text_absent(end->net_source))
		use.source = end->net_source;
	/* Recorders before 0.2 knew traffic of namespaces only. */
	if (!*use.source)
		use.source = "namespace";
	return use;
}

double network_certain(double known, double bound)
{
	/* NaN if the bound is unknown. */
	return bound - known <= fmax(0.01 * known, 1 << 20) ? known : (double)NAN;
}
