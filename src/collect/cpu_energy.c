/*
 * Energy that the CPU sockets use: a row for each zone (energy), the machine's sum (cpu.energy_joules), and an estimate of
 * the job's part of it (cpu.process_cpu_energy_joules).
 *
 * The counters wrap (a package of 200 W after some minutes). Readings that are closer than that see each wrap.
 *
 * The kernel cannot tell which program a socket's energy was for. The estimate divides it by CPU time:
 *
 *	100 J in a sample, 1.5 s of CPU time on the machine, 0.9 s of it by the job: 60 J
 *
 * So the energy of idle cores is shared among those who used the others, and a job that did not run has none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/collector.h"
#include "kernel/sys_powercap.h"
#include "metric/typed_rows.h"

/* The machine's CPU time is counted in ticks. */
#define SHARE_NS (100 * NSEC_PER_MSEC)

/* A powered socket uses energy at every moment, and counts it each millisecond. Its memory may rest. */
#define STILL_NS (900 * NSEC_PER_MSEC)

struct zone {
	struct power_zone zone;
	int fd;      /* -1: it cannot be opened */
	bool counts; /* in the machine's sum: a socket or its memory */
	bool is_known;
	int absent; /* why the newest reading tells nothing. 0: it does */
	int64_t last_uj;
	int64_t moved_ns; /* when the counter was last seen to move */
	double joules;    /* since the first reading */
};

struct cpu_energy {
	struct zone *zones;
	int count;
	int error;         /* 0, or why nothing can be read: an errno or a reason of absent.h */
	int64_t shared_ns; /* when the job's part was last worked out */
	double shared_joules, tree_secs, busy_secs; /* at that time */
	double job_joules;
};

static bool energy_is_wanted(const struct selection *selection)
{
	return !selection || selection->kinds[ROW_energy] || IS_WANTED(selection, host_cpu, energy_joules) ||
	       IS_WANTED(selection, tree, process_cpu_energy_joules);
}

static int open_zones(struct cpu_energy *state, struct root *root)
{
	struct power_zone found[POWER_ZONES_MOST];
	int count = read_sys_powercap(root, found, POWER_ZONES_MOST), error = 0;
	bool any = false;

	if (count <= 0)
		return count == 0 || count == -ENOENT ? ABSENT_NO_SUCH_COUNTER : -count;
	count = count < POWER_ZONES_MOST ? count : POWER_ZONES_MOST;
	state->zones = calloc((size_t)count, sizeof *state->zones);
	if (!state->zones)
		return ENOMEM;
	for (int i = 0; i < count; i++) {
		int fd = open_power_counter(root, &found[i]);

		if (fd < 0)
			error = -fd;
		any |= fd >= 0;
		state->zones[state->count++] =
			(struct zone){.zone = found[i],
				      .fd = fd,
				      .absent = fd < 0 ? -fd : 0,
				      .counts = strncmp(found[i].name, "package", 7) == 0};
	}
	if (any)
		return 0;
	state->count = 0;
	return error;
}

static int cpu_energy_open(struct collect_context *context, void **ret_state)
{
	struct cpu_energy *state;

	if (!energy_is_wanted(context->selection))
		return -ENOTSUP;
	state = calloc(1, sizeof *state);
	if (!state)
		return -ENOMEM;
	state->error = open_zones(state, context->root);
	*ret_state = state;
	return 0;
}

static void read_zone(struct zone *zone, struct root *root, int64_t now_ns)
{
	int64_t now_uj, grown_uj;

	if (zone->fd < 0)
		return;
	zone->absent = -read_power_counter(root, zone->fd, &now_uj);
	if (zone->absent)
		return;
	grown_uj = now_uj - zone->last_uj;
	/*
	 * The counter began again: the rest up to its range, and what it shows now. If it was below half of that, it was reset,
	 * as it is by a suspend.
	 */
	if (grown_uj < 0 && zone->zone.range_uj > zone->last_uj && zone->zone.range_uj / 2 < zone->last_uj)
		grown_uj += zone->zone.range_uj;
	else if (grown_uj < 0)
		zone->absent = ABSENT_COUNTER_RESET;
	if (zone->is_known && !zone->absent)
		zone->joules += (double)grown_uj / 1e6;
	if (!zone->is_known || grown_uj)
		zone->moved_ns = now_ns;
	if (now_ns - zone->moved_ns > STILL_NS && !strchr(zone->zone.name, '/'))
		zone->absent = ABSENT_NOT_COUNTED;
	zone->last_uj = now_uj;
	zone->is_known = true;
}

static double joules_of(const struct zone *zone)
{
	return zone->absent ? no_real(zone->absent) : zone->joules;
}

/* Without one of the sockets, the sum is unknown. */
static double sum_of_sockets(const struct cpu_energy *state)
{
	double sum = no_real(ABSENT_NO_SUCH_COUNTER);

	for (int i = 0; i < state->count; i++) {
		double joules = joules_of(&state->zones[i]);

		if (!state->zones[i].counts)
			continue;
		if (real_absent(joules))
			return joules;
		sum = (real_absent(sum) ? 0 : sum) + joules;
	}
	return sum;
}

static double larger_energy(double a, double b)
{
	return a > b ? a : b;
}

static void share_with_job(struct cpu_energy *state, const struct collect_context *context,
			   const struct frame *frame, double joules)
{
	const struct host_cpu_row *cpu = (const void *)frame->first[ROW_host_cpu];
	const struct tree_row *tree = (const void *)frame->first[ROW_tree];
	bool begins = !state->shared_ns;
	double busy, job;

	if (!cpu || real_absent(cpu->busy_secs) || real_absent(joules))
		return;
	if (!begins && frame->monotonic_ns - state->shared_ns < SHARE_NS && !context->ending->reason)
		return;
	job = tree && !real_absent(tree->cpu_total_secs) ? tree->cpu_total_secs : 0;
	/* Idle time is counted exactly, but read a moment before or after the job's time. */
	busy = larger_energy(cpu->busy_secs - state->busy_secs, job - state->tree_secs);
	if (!begins && busy > 0)
		state->job_joules += (joules - state->shared_joules) * (job - state->tree_secs) / busy;
	state->shared_ns = frame->monotonic_ns;
	state->shared_joules = joules;
	state->busy_secs = cpu->busy_secs;
	state->tree_secs = job;
}

static void cpu_energy_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct cpu_energy *state = state_;
	struct tree_row *tree = (struct tree_row *)(void *)frame->first[ROW_tree];
	struct host_cpu_row *cpu = (struct host_cpu_row *)(void *)frame->first[ROW_host_cpu];
	double joules;

	for (int i = 0; i < state->count; i++) {
		struct zone *zone = &state->zones[i];
		struct energy_row *row = ADD_ROW(frame, energy, NULL);

		read_zone(zone, context->root, frame->monotonic_ns);
		row->zone = zone->zone.name;
		row->energy_total_joules = joules_of(zone);
	}
	if (state->error)
		frame_set_missing(frame, ROW_energy, state->error);
	joules = state->error ? no_real(state->error) : sum_of_sockets(state);
	share_with_job(state, context, frame, joules);
	if (cpu)
		cpu->energy_total_joules = joules;
	if (tree && (context->tree || context->progress.baseline))
		tree->cpu_energy_total_joules = real_absent(joules) ? joules
						: state->shared_ns  ? state->job_joules
								    : no_real(ABSENT_NO_ATTRIBUTION);
}

static void cpu_energy_close(void *state_)
{
	struct cpu_energy *state = state_;

	for (int i = 0; i < state->count; i++)
		if (state->zones[i].fd >= 0)
			close(state->zones[i].fd);
	free(state->zones);
	free(state);
}

const struct collector CPU_ENERGY_COLLECTOR = {
	.name = "cpu_energy",
	.open = cpu_energy_open,
	.collect = cpu_energy_collect,
	.close = cpu_energy_close,
	.fills = (const enum row_kind[]){ROW_energy, ROW_host_cpu, ROW_tree, ROW_KINDS},
};
