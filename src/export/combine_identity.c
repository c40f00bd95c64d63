/* Combines the start and the end of recordings; see combine.h. */
#include <math.h>
#include <string.h>

#include "export/combine.h"
#include "metric/typed_rows.h"
#include "resource_tracker.h"

/* Returns the CPUs or the memory of the part's machine. */
static double size_of_machine(const struct part *part, bool memory)
{
	const struct run_start_row *start = FIRST(record_identity(part->record), run_start);

	if (!start)
		return NAN;
	return memory                           ? start->memory_total_mib
	       : count_absent(start->cpu_count) ? (double)NAN
						: (double)start->cpu_count;
}

/* Machines whose recordings begin later count as well. */
static double sum_of_hosts(const struct combination *combination, bool memory)
{
	double sum = NAN;

	for (size_t i = 0; i < combination->count; i++) {
		double value = size_of_machine(&combination->parts[i], memory);

		for (size_t j = 0; j < i; j++)
			if (strcmp(combination->parts[i].host, combination->parts[j].host) == 0 &&
			    !isnan(size_of_machine(&combination->parts[j], memory)))
				value = NAN;
		if (!isnan(value))
			sum = isnan(sum) ? value : sum + value;
	}
	return sum;
}

static bool same_value(const struct row *one, const struct row *other, enum metric_type type, size_t index)
{
	size_t offset = metric_offset(index);

	if (field_absent(one, type, offset) || field_absent(other, type, offset))
		return false;
	if (type == TYPE_TEXT)
		return strcmp(*row_text(one, offset), *row_text(other, offset)) == 0;
	return type == TYPE_REAL ? *row_real(one, offset) == *row_real(other, offset)
				 : *row_count(one, offset) == *row_count(other, offset);
}

static void copy_value(struct row *to, const struct row *from, enum metric_type type, size_t index)
{
	size_t offset = metric_offset(index);

	if (type == TYPE_TEXT)
		*row_text(to, offset) = *row_text(from, offset);
	else if (type == TYPE_REAL)
		*row_real(to, offset) = *row_real(from, offset);
	else
		*row_count(to, offset) = *row_count(from, offset);
}

static const struct frame *identity_of(const struct combination *combination, size_t part)
{
	return record_identity(combination->parts[part].record);
}

/* Keeps the metadata that all parts share. Texts live as long as the parts' records. */
static void keep_equal(const struct combination *combination, struct run_start_row *start)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[ROW_run_start];
	const struct row *first = identity_of(combination, 0)->first[ROW_run_start];

	for (size_t index = 0; first && index < description->metric_count; index++) {
		enum metric_type type = description->metrics[index].type;
		bool same = !field_absent(first, type, metric_offset(index));

		for (size_t i = 1; i < combination->count && same; i++) {
			const struct row *other = identity_of(combination, i)->first[ROW_run_start];

			same = other && same_value(first, other, type, index);
		}
		if (same)
			copy_value((struct row *)(void *)start, first, type, index);
	}
}

/*
 * Tells whether a part has this name (metric 0) with this value (metric 1) among its tags or scheduler ids.
 */
static bool has_pair(const struct frame *identity, const struct row *pair)
{
	for (const struct row *row = identity->first[pair->kind]; row; row = row->next)
		if (same_value(row, pair, TYPE_TEXT, 0) && same_value(row, pair, TYPE_TEXT, 1))
			return true;
	return false;
}

static void keep_equal_pairs(const struct combination *combination, struct frame *frame, enum row_kind kind,
			     struct run_start_row *start)
{
	for (const struct row *row = identity_of(combination, 0)->first[kind]; row; row = row->next) {
		bool everywhere = true;
		struct row *copy;

		for (size_t i = 1; i < combination->count; i++)
			everywhere &= has_pair(identity_of(combination, i), row);
		if (!everywhere)
			continue;
		copy = frame_add(frame, kind, (struct row *)(void *)start);
		copy_value(copy, row, TYPE_TEXT, 0);
		copy_value(copy, row, TYPE_TEXT, 1);
	}
}

void combined_start(const struct combination *combination, struct frame *frame)
{
	struct run_start_row *start = ADD_ROW(frame, run_start, NULL);
	double cpus = sum_of_hosts(combination, false), memory = sum_of_hosts(combination, true);

	keep_equal(combination, start);
	start->schema_version = RT_SCHEMA_VERSION;
	start->interval_secs = combination->tick_secs;
	start->mode = "combined";
	if (!isnan(cpus))
		start->cpu_count = (int64_t)cpus;
	if (!isnan(memory))
		start->memory_total_mib = memory;
	keep_equal_pairs(combination, frame, ROW_run_start_tag, start);
	keep_equal_pairs(combination, frame, ROW_run_start_scheduler, start);
}

/* Ranks ends from bad to good: killed for lack of memory, killed, failed, ended. */
static int badness_of_end(const struct run_end_row *end)
{
	if (!text_absent(end->reason) && strncmp(end->reason, "oom_kill", 8) == 0)
		return 3;
	if (!count_absent(end->signal))
		return 2;
	return !count_absent(end->exit_code) && end->exit_code != 0;
}

static void add_real(double *sum, double value)
{
	if (!isnan(value))
		*sum = isnan(*sum) ? value : *sum + value;
}

static void add_identity_count(int64_t *sum, int64_t value)
{
	if (!count_absent(value))
		*sum = count_absent(*sum) ? value : *sum + value;
}

/* Parts may share a group and a machine, so their counts are not summed. */
static void raise_count(int64_t *most, int64_t value)
{
	if (!count_absent(value) && (count_absent(*most) || value > *most))
		*most = value;
}

const char *combined_net_source(const char *one, const char *other)
{
	if (!one || strcmp(one, other) == 0)
		return other;
	if ((strcmp(one, "sockets") == 0 || strcmp(one, "bound") == 0) &&
	    (strcmp(other, "sockets") == 0 || strcmp(other, "bound") == 0))
		return "bound";
	return "mixed";
}

static void add_network(struct run_end_row *all, const struct run_end_row *end)
{
	add_identity_count(&all->net_recv_bytes, end->net_recv_bytes);
	add_identity_count(&all->net_sent_bytes, end->net_sent_bytes);
	add_identity_count(&all->net_recv_bound_bytes, end->net_recv_bound_bytes);
	add_identity_count(&all->net_sent_bound_bytes, end->net_sent_bound_bytes);
	add_identity_count(&all->net_connections, end->net_connections);
	add_identity_count(&all->net_retransmits, end->net_retransmits);
	if (!text_absent(end->net_source))
		all->net_source = combined_net_source(text_absent(all->net_source) ? NULL : all->net_source,
						      end->net_source);
}

/* Peaks at different times cannot be added. The samples have the largest simultaneous sum. */
void combined_end(const struct combination *combination, struct frame *frame, double timestamp)
{
	const struct run_end_row *worst = NULL;
	struct run_end_row *all;

	for (size_t i = 0; i < combination->count; i++) {
		const struct run_end_row *end = FIRST(record_identity(combination->parts[i].record), run_end);

		/* A recording that was cut off has no known end. */
		if (!end)
			return;
		if (!worst || badness_of_end(end) > badness_of_end(worst))
			worst = end;
	}
	all = ADD_ROW(frame, run_end, NULL);
	all->reason = worst->reason;
	all->evidence = worst->evidence;
	all->process_limit = worst->process_limit;
	all->exit_code = worst->exit_code;
	all->signal = worst->signal;
	all->core_dumped = worst->core_dumped;
	all->oom_kill_elapsed_secs = worst->oom_kill_elapsed_secs;
	all->oom_kill_limit_mib = worst->oom_kill_limit_mib;
	all->oom_kill_peak_mib = worst->oom_kill_peak_mib;
	all->wall_secs = all->tree_wall_secs = timestamp - combination->started;
	all->samples = combination->samples + 1;
	for (size_t i = 0; i < combination->count; i++) {
		const struct run_end_row *end = FIRST(record_identity(combination->parts[i].record), run_end);

		add_real(&all->utime_secs, end->utime_secs);
		add_real(&all->stime_secs, end->stime_secs);
		add_real(&all->tree_utime_secs, end->tree_utime_secs);
		add_real(&all->tree_stime_secs, end->tree_stime_secs);
		add_identity_count(&all->oom_kills, end->oom_kills);
		add_network(all, end);
		add_identity_count(&all->descendants_running, end->descendants_running);
		add_identity_count(&all->missed_ticks, end->missed_ticks);
		add_identity_count(&all->dropped_samples, end->dropped_samples);
		raise_count(&all->cgroup_oom_kills, end->cgroup_oom_kills);
		raise_count(&all->machine_oom_kills, end->machine_oom_kills);
		raise_count(&all->sigchld_ignored, end->sigchld_ignored);
		raise_count(&all->tree_cpu_at_least, end->tree_cpu_at_least);
		if (isnan(all->largest_process_peak_mib) ||
		    end->largest_process_peak_mib > all->largest_process_peak_mib)
			all->largest_process_peak_mib = end->largest_process_peak_mib;
	}
}
