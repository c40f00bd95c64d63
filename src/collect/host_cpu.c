/*
 * CPUs of the machine: /proc/stat, /proc/loadavg, and the number of processes.
 *
 * Busy time is the wall-clock time of all CPUs minus idle and iowait. The kernel counts idle time exactly,
 * but user and system time by whole ticks. User time already includes guest time.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "collect/collector.h"
#include "collect/process_count.h"
#include "kernel/proc_loadavg.h"
#include "kernel/proc_stat.h"
#include "metric/typed_rows.h"

/* A longer reading was interrupted: an unknown time lies between the kernel's count and the clock. */
#define READING_NS (2 * NSEC_PER_MSEC)

enum { READINGS_MOST = 3 };

struct host_cpu {
	struct kept_file stat;
	struct kept_file loadavg;
	struct process_counter processes;
	int64_t last_ns; /* when `capacity_secs` last grew. 0: never */
	double capacity_secs;
};

static int host_cpu_open(struct collect_context *context, void **ret_state)
{
	struct host_cpu *state = calloc(1, sizeof *state);

	(void)context;
	if (!state)
		return -ENOMEM;
	state->stat = KEPT_FILE("proc/stat");
	state->loadavg = KEPT_FILE("proc/loadavg");
	process_counter_open(&state->processes);
	*ret_state = state;
	return 0;
}

static double ticks_or_zero(int64_t ticks)
{
	return ticks < 0 ? 0 : (double)ticks;
}

static double secs_of_ticks(const struct root *root, int64_t ticks)
{
	return ticks < 0 ? no_real(ABSENT_NO_SUCH_COUNTER) : (double)ticks / (double)root->clock_ticks;
}

/* All time that the kernel has counted. Without it, its counters cannot tell busy from idle. */
static double counted_secs(const struct root *root, const struct cpu_ticks *ticks)
{
	return (ticks_or_zero(ticks->user) + ticks_or_zero(ticks->nice) + ticks_or_zero(ticks->system) +
		ticks_or_zero(ticks->idle) + ticks_or_zero(ticks->iowait) + ticks_or_zero(ticks->irq) +
		ticks_or_zero(ticks->softirq) + ticks_or_zero(ticks->steal)) /
	       (double)root->clock_ticks;
}

static double idle_secs(const struct root *root, const struct cpu_ticks *ticks)
{
	return (ticks_or_zero(ticks->idle) + ticks_or_zero(ticks->iowait)) / (double)root->clock_ticks;
}

/* Counters and clock must be from the same moment. Returns 0 or a negative errno. */
static int read_counters(struct host_cpu *state, struct root *root, struct proc_stat *ret_stat,
			 int64_t *ret_ns)
{
	int error = 0;

	for (int i = 0; i < READINGS_MOST; i++) {
		int64_t before_ns = root_monotonic_ns(root);

		error = read_proc_stat(root, &state->stat, ret_stat);
		*ret_ns = root_monotonic_ns(root);
		if (error < 0 || *ret_ns - before_ns <= READING_NS)
			break;
	}
	return error;
}

/* Returns the number of online CPUs. */
static int64_t fill_cores(struct frame *frame, struct host_cpu_row *row, const struct root *root,
			  const struct proc_stat *stat, int64_t now_ns)
{
	struct scan cpus = stat->cpus;
	struct cpu_ticks ticks;
	int64_t online = 0;
	int id;

	while (proc_stat_next_cpu(&cpus, &id, &ticks)) {
		struct cpu_core_row *core = ADD_ROW(frame, cpu_core, &row->row);

		core->row.number = id;
		core->row.cpus = 1;
		core->row.read_ns = now_ns;
		core->row.counted_secs = counted_secs(root, &ticks);
		core->busy_percent_secs = core->row.counted_secs > 0 && ticks.idle >= 0
						  ? 100 * (ns_to_secs(now_ns) - idle_secs(root, &ticks))
						  : no_real(ABSENT_NOT_COUNTED);
		online++;
	}
	return online;
}

static void fill_times(struct host_cpu_row *row, const struct root *root, const struct cpu_ticks *total,
		       double capacity_secs)
{
	if (row->row.counted_secs <= 0) {
		row->busy_secs = row->utime_total_secs = row->stime_total_secs = no_real(ABSENT_NOT_COUNTED);
		row->iowait_total_secs = row->irq_total_secs = no_real(ABSENT_NOT_COUNTED);
		row->steal_total_secs = no_real(ABSENT_NOT_COUNTED);
		return;
	}
	if (total->idle >= 0)
		row->busy_secs = capacity_secs - idle_secs(root, total);
	if (total->user >= 0)
		row->utime_total_secs =
			(ticks_or_zero(total->user) + ticks_or_zero(total->nice)) / (double)root->clock_ticks;
	row->stime_total_secs = secs_of_ticks(root, total->system);
	row->iowait_total_secs = secs_of_ticks(root, total->iowait);
	if (total->irq >= 0)
		row->irq_total_secs = (ticks_or_zero(total->irq) + ticks_or_zero(total->softirq)) /
				      (double)root->clock_ticks;
	row->steal_total_secs = secs_of_ticks(root, total->steal);
}

static void fill_stat(struct host_cpu *state, struct host_cpu_row *row, struct collect_context *context,
		      struct frame *frame)
{
	const struct root *root = context->root;
	struct proc_stat stat;
	int64_t now_ns, online;
	int error = read_counters(state, context->root, &stat, &now_ns);

	if (error < 0) {
		row_set_absent(&row->row, error);
		frame_set_missing(frame, ROW_cpu_core, error);
		return;
	}
	row->row.read_ns = now_ns;
	online = fill_cores(frame, row, root, &stat, now_ns);
	row->row.cpus = (int)online;
	row->row.counted_secs = counted_secs(root, &stat.total);
	frame->cpus = row->row.cpus > frame->cpus ? row->row.cpus : frame->cpus;
	/* CPUs may come and go, so add up their time per tick instead of multiplying. */
	if (state->last_ns)
		state->capacity_secs += (double)online * ns_to_secs(now_ns - state->last_ns);
	state->last_ns = now_ns;
	fill_times(row, root, &stat.total, state->capacity_secs);
	if (stat.context_switches >= 0)
		row->context_switches_total =
			stat.context_switches ? stat.context_switches : no_count(ABSENT_NOT_COUNTED);
	row->blocked_count = stat.blocked_count < 0 ? no_count(ABSENT_NO_SUCH_COUNTER) : stat.blocked_count;
	/* At least the tracker runs. */
	if (stat.running_count >= 0)
		row->runnable_count = stat.running_count ? stat.running_count : no_count(ABSENT_NOT_COUNTED);
	if (!stat.running_count)
		row->blocked_count = no_count(ABSENT_NOT_COUNTED);
}

static void host_cpu_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct host_cpu *state = state_;
	struct host_cpu_row *row = SINGLE_ROW(frame, host_cpu);
	struct proc_loadavg loadavg;
	int error;

	fill_stat(state, row, context, frame);
	error = read_proc_loadavg(context->root, &state->loadavg, &loadavg);
	row->load_1m = error < 0 ? no_real(error) : loadavg.load_1m;
	/* A baseline needs counters only. Other readings would delay the job's start. */
	if (!context->progress.baseline)
		row->process_count = process_counter_read(&state->processes, context->root);
}

static void host_cpu_close(void *state_)
{
	struct host_cpu *state = state_;

	kept_file_close(&state->stat);
	kept_file_close(&state->loadavg);
	free(state);
}

const struct collector HOST_CPU_COLLECTOR = {
	.name = "host_cpu",
	.open = host_cpu_open,
	.collect = host_cpu_collect,
	.close = host_cpu_close,
	.fills = (const enum row_kind[]){ROW_host_cpu, ROW_cpu_core, ROW_KINDS},
	.describes_machine = true,
};
