/*
 * The job's cgroup: its limits (limits), its use (cgroup) and its waiting (pressure).
 *
 * A controller is either in its version 1 hierarchy or in the unified one. The collector reads the files of
 * the one that has them.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"
#include "collect/cgroup_place.h"
#include "collect/cgroup_tenants.h"
#include "collect/cgroup_throttling.h"
#include "collect/cgroup_usage.h"
#include "collect/collector.h"
#include "kernel/cgroup_v1.h"
#include "kernel/cgroup_v2.h"
#include "kernel/cpu_list.h"
#include "kernel/proc_pid_stat.h"
#include "kernel/proc_pid_status.h"
#include "kernel/proc_pressure.h"
#include "metric/typed_rows.h"

#define REFRESH_NS (10 * NSEC_PER_SEC)
/*
 * A job may be moved after its start (cgexec, a scheduler's step), and a move must be noticed early. This is
 * shorter than the usual intervals, so that a sample which comes a moment early still looks.
 */
#define LOOK_FOR_MOVE_NS (180 * NSEC_PER_MSEC)
/*
 * `docker update` or a resize in place changes limits of a job that runs. Their files stay open: a look takes one read each, some six in
 * all. A little less than a second, for samples that come a moment early. The last sample looks as well.
 */
#define LOOK_FOR_LIMITS_NS (950 * NSEC_PER_MSEC)
#define LAST_LOOK_NS (100 * NSEC_PER_MSEC)
#define MACHINE_PRESSURE 1

struct limits {
	double cpu_cores;    /* absent: none */
	double memory_bytes; /* absent: none */
	int64_t cpuset_cores;
};

struct cgroup_usage {
	struct cgroup_place place;
	int memory_folder; /* in the place. -1: no cgroup counts its memory */
	struct limits limits, first_limits;
	uint64_t first_hash; /* the place that has these first limits */
	bool limits_known, first_limits_known;
	int64_t kills_when_left; /* see struct memory_cgroup */
	int64_t next_refresh_ns;
	int64_t next_look_ns;
	int64_t limits_ns;  /* when the limits were read */
	uint64_t last_hash; /* the place whose counters are in the last frame */
	uint64_t
		last_pressure; /* source of the last stalls: such a hash, or MACHINE_PRESSURE, 0 for none yet */
	struct cgroup_throttling throttling;
	struct cgroup_tenants tenants;
	bool kills_are_local;         /* counted in that cgroup only, not below it */
	struct kept_file pressure[3]; /* of the host: cpu, memory, io */
	struct kept_files files;      /* in the place's own folders */
	struct kept_files limit_files;
};

static int cgroup_usage_open(struct collect_context *context, void **ret_state)
{
	static const char *const HOST_FILES[3] = {"proc/pressure/cpu", "proc/pressure/memory",
						  "proc/pressure/io"};
	struct cgroup_usage *state = calloc(1, sizeof *state);

	(void)context;
	if (!state)
		return -ENOMEM;
	state->place = CGROUP_PLACE;
	state->memory_folder = -1;
	state->kills_when_left = -1;
	kept_files_init(&state->files);
	kept_files_init(&state->limit_files);
	for (int i = 0; i < 3; i++)
		state->pressure[i] = KEPT_FILE(HOST_FILES[i]);
	*ret_state = state;
	return 0;
}

/* ---- limits ------------------------------------------------------------------------------------------- */

static void lower_limit(double *limit, double found)
{
	if (real_absent(*limit) || found < *limit)
		*limit = found;
}

static void lower_memory_limit(struct root *root, const struct cgroup_place *place, double *limit)
{
	const struct cgroup_chain *v1 = &place->chains[CGROUP_MEMORY], *v2 = &place->chains[CGROUP_UNIFIED];
	struct cgroup_v1_memory_stat stat;
	int64_t bytes;

	for (int i = 0; i < v1->depth; i++)
		if (read_cgroup_v1_limit(root, v1->folders[i], "memory.limit_in_bytes", &bytes) == 0 &&
		    bytes != CGROUP_NO_LIMIT)
			lower_limit(limit, (double)bytes);
	/* A container cannot see the ancestors, but the kernel reports the limit that results from them. */
	if (v1->depth && read_cgroup_v1_memory_stat(root, v1->folders[0], &stat) == 0 &&
	    stat.limit_bytes > 0 && stat.limit_bytes != CGROUP_NO_LIMIT)
		lower_limit(limit, (double)stat.limit_bytes);
	for (int i = 0; i < v2->depth; i++)
		if (read_cgroup_v2_limit(root, v2->folders[i], "memory.max", &bytes) == 0 &&
		    bytes != CGROUP_NO_LIMIT)
			lower_limit(limit, (double)bytes);
}

static void lower_count(int64_t *count, int64_t found)
{
	if (found > 0 && (count_absent(*count) || found < *count))
		*count = found;
}

/* The kernel's answer leaves out CPUs that are offline, which the text of a captured process cannot. */
static int64_t count_allowed_cpus(struct root *root, pid_t pid)
{
	struct proc_pid_status status;
	cpu_set_t allowed;

	if (root->live && sched_getaffinity(pid, sizeof(allowed), &allowed) == 0)
		return CPU_COUNT(&allowed);
	return read_proc_pid_status(root, pid, &status) == 0 ? status.allowed_cpu_count : -1;
}

static int64_t count_cpus(struct root *root, const struct cgroup_place *place, int64_t allowed)
{
	int64_t least = no_count(ABSENT_NO_CGROUP), found;
	int v1 = cgroup_place_own(place, CGROUP_CPUSET), v2 = cgroup_place_own(place, CGROUP_UNIFIED);

	lower_count(&least, allowed);
	if (v1 >= 0 && (read_cpu_list(root, v1, "cpuset.effective_cpus", &found) == 0 ||
			read_cpu_list(root, v1, "cpuset.cpus", &found) == 0))
		lower_count(&least, found);
	if (v2 >= 0 && read_cpu_list(root, v2, "cpuset.cpus.effective", &found) == 0)
		lower_count(&least, found);
	return least;
}

/*
 * Returns the folder that counts the job's memory, or -1. In version 2, a cgroup without the memory
 * controller (often one made for the job) is charged to its nearest ancestor that has the controller.
 */
static int find_memory_folder(const struct cgroup_place *place)
{
	const struct cgroup_chain *v2 = &place->chains[CGROUP_UNIFIED];

	if (place->chains[CGROUP_MEMORY].depth)
		return cgroup_place_own(place, CGROUP_MEMORY);
	for (int i = 0; i < v2->depth; i++)
		if (root_exists_at(v2->folders[i], "memory.current"))
			return v2->folders[i];
	return -1;
}

/*
 * A cgroup that is the root of its hierarchy describes the whole machine. If version 1 places a process in
 * such a root, and in another hierarchy below the root, only the latter is its cgroup.
 */
static bool is_other_group(const struct cgroup_place *place, enum cgroup_hierarchy hierarchy)
{
	bool is_placed = false;

	for (enum cgroup_hierarchy i = CGROUP_CPU; i <= CGROUP_MEMORY; i++)
		is_placed |= place->chains[i].depth && !cgroup_place_is_root(place, i);
	return is_placed && cgroup_place_is_root(place, hierarchy);
}

static int folder_in(const struct cgroup_place *place, enum cgroup_hierarchy hierarchy)
{
	return is_other_group(place, hierarchy) ? -1 : cgroup_place_own(place, hierarchy);
}

/* Returns the count, or -1 if it is unknown. *ret_local: counted in that cgroup, not in those below it. */
static int64_t read_kills(struct root *root, const struct cgroup_place *place, int folder, bool *ret_local)
{
	struct cgroup_v1_oom_control v1;
	struct cgroup_v2_memory_events v2;

	*ret_local = true;
	if (folder < 0)
		return -1;
	if (cgroup_place_own(place, CGROUP_MEMORY) >= 0)
		return read_cgroup_v1_oom_control(root, folder, &v1) == 0 ? v1.oom_kills : -1;
	/* memory.events also counts the cgroups below; memory.events.local only this cgroup. */
	*ret_local = read_cgroup_v2_memory_events(root, folder, "memory.events.local", &v2) == 0;
	if (*ret_local || read_cgroup_v2_memory_events(root, folder, "memory.events", &v2) == 0)
		return v2.oom_kill;
	return -1;
}

/* The kernel shows an exiting process in the root of each version 1 hierarchy, where it never was. */
static bool is_exiting(struct collect_context *context)
{
	struct proc_pid_stat stat;

	return context->tree && (read_proc_pid_stat(context->root, context->tree->root_pid, &stat) < 0 ||
				 proc_pid_stat_is_exiting(&stat));
}

/* Returns 0, 1 if the place is new, or a negative errno. */
static int find_cgroup_place(struct cgroup_usage *state, struct collect_context *context)
{
	struct cgroup_place place = {.memberships_hash = state->place.memberships_hash};
	int found = cgroup_place_find(&place, context->cgroup_mounts, context->root,
				      context->tree ? context->tree->root_pid : 0);
	bool local;

	if (found > 0 && state->place.memberships_hash && is_exiting(context)) {
		cgroup_place_close(&place);
		return 0;
	}
	if (found <= 0)
		return found;
	/* The job may have lost processes there until now: remember the count. */
	state->kills_when_left = read_kills(context->root, &state->place, state->memory_folder, &local);
	kept_files_close(&state->files);
	kept_files_close(&state->limit_files);
	cgroup_place_close(&state->place);
	state->place = place;
	state->memory_folder = find_memory_folder(&place);
	cgroup_throttling_begin(&state->throttling, context->root, &state->place);
	return found;
}

/* Where the folders are out of sight, so is a limit that may be set there. */
static int no_limit_reason(const struct cgroup_place *place, enum cgroup_hierarchy version_1)
{
	return place->chains[version_1].depth || place->chains[CGROUP_UNIFIED].depth ? ABSENT_NO_LIMIT
										     : ABSENT_NO_CGROUP;
}

/* A process that has gone keeps the CPUs that it had. */
static void read_limits(struct cgroup_usage *state, struct collect_context *context, pid_t pid)
{
	int64_t allowed = pid ? count_allowed_cpus(context->root, pid) : -1;

	context->root->keep_in = &state->limit_files;
	state->limits.memory_bytes = no_real(no_limit_reason(&state->place, CGROUP_MEMORY));
	state->limits.cpu_cores =
		cgroup_throttling_find_quota(&state->throttling, context->root, &state->place);
	if (real_absent(state->limits.cpu_cores))
		state->limits.cpu_cores = no_real(no_limit_reason(&state->place, CGROUP_CPU));
	lower_memory_limit(context->root, &state->place, &state->limits.memory_bytes);
	if (allowed > 0 || !context->tree || !state->limits_known)
		state->limits.cpuset_cores = count_cpus(context->root, &state->place, allowed);
	context->root->keep_in = NULL;
	state->limits_known = true;
	state->limits_ns = root_monotonic_ns(context->root);
}

static void refresh_groups(struct cgroup_usage *state, struct collect_context *context)
{
	pid_t pid = context->tree ? context->tree->root_pid : 0;
	int error = find_cgroup_place(state, context);

	/*
	 * The process has exited. Keep its place: the folders are open, and other processes may still be
	 * there.
	 */
	if (error < 0 && state->place.memberships_hash) {
		if (state->limits_known)
			return;
		error = 0;
		pid = 0;
	}
	if (error < 0) {
		state->limits_known = true;
		state->limits.cpu_cores = state->limits.memory_bytes = no_real(error);
		state->limits.cpuset_cores = no_count(error);
	} else {
		read_limits(state, context, pid);
	}
	if (!state->first_limits_known || state->first_hash != state->place.memberships_hash)
		state->first_limits = state->limits;
	state->first_limits_known = true;
	state->first_hash = state->place.memberships_hash;
}

static double group_mib_of(double bytes)
{
	return real_absent(bytes) ? bytes : bytes / 1048576;
}

/* ---- use ------------------------------------------------------------------------------------------------ */

static double mib_of_count(int64_t bytes)
{
	return bytes < 0 ? no_real(ABSENT_NO_SUCH_COUNTER) : (double)bytes / 1048576;
}

static void fill_cpu_v1(struct root *root, const struct cgroup_place *place, struct cgroup_row *row)
{
	int cpuacct = folder_in(place, CGROUP_CPUACCT);
	int64_t usage_ns;

	if (cpuacct >= 0 && read_cgroup_v1_cpuacct_usage(root, cpuacct, &usage_ns) == 0)
		row->cpu_usage_secs = ns_to_secs(usage_ns);
}

static void fill_cpu_v2(struct root *root, const struct cgroup_place *place, struct cgroup_row *row)
{
	int folder = cgroup_place_own(place, CGROUP_UNIFIED);
	struct cgroup_v2_cpu_stat stat;

	if (folder >= 0 && read_cgroup_v2_cpu_stat(root, folder, &stat) == 0 && stat.usage_usec >= 0)
		row->cpu_usage_secs = (double)stat.usage_usec / 1e6;
}

static void fill_throttling(struct cgroup_usage *state, struct root *root, struct cgroup_row *row)
{
	if (state->throttling.hierarchy == CGROUP_CPU && is_other_group(&state->place, CGROUP_CPU))
		return;
	cgroup_throttling_read(&state->throttling, root, &state->place);
	if (state->throttling.sum.periods >= 0)
		row->throttled_periods_total = state->throttling.sum.periods;
	if (state->throttling.sum.ns >= 0)
		row->throttled_total_secs = ns_to_secs(state->throttling.sum.ns);
}

static void set_refaults(const struct root *root, int64_t file_pages, int64_t anon_pages,
			 struct cgroup_row *row)
{
	if (file_pages >= 0 && file_pages <= INT64_MAX / root->page_bytes)
		row->cache_refault_total = file_pages * root->page_bytes;
	if (anon_pages >= 0 && anon_pages <= INT64_MAX / root->page_bytes)
		row->swap_refault_total = anon_pages * root->page_bytes;
}

static void fill_memory_v1(struct root *root, int folder, struct cgroup_row *row)
{
	struct cgroup_v1_memory_stat stat;
	int64_t bytes;

	if (read_cgroup_v1_limit(root, folder, "memory.usage_in_bytes", &bytes) == 0)
		row->memory_current_mib = mib_of_count(bytes);
	if (read_cgroup_v1_limit(root, folder, "memory.max_usage_in_bytes", &bytes) == 0)
		row->memory_peak_mib = mib_of_count(bytes);
	if (read_cgroup_v1_limit(root, folder, "memory.kmem.usage_in_bytes", &bytes) == 0)
		row->kernel_mib = mib_of_count(bytes);
	if (read_cgroup_v1_memory_stat(root, folder, &stat) == 0) {
		row->anon_mib = mib_of_count(stat.rss_bytes);
		row->file_mib = mib_of_count(stat.cache_bytes);
		set_refaults(root, stat.file_refaults, stat.anon_refaults, row);
		row->shmem_mib = mib_of_count(stat.shmem_bytes);
	}
}

static void fill_memory_v2(struct root *root, int folder, struct cgroup_row *row)
{
	struct cgroup_v2_memory_stat stat;
	int64_t bytes;

	if (read_cgroup_v2_limit(root, folder, "memory.current", &bytes) == 0)
		row->memory_current_mib = mib_of_count(bytes);
	if (read_cgroup_v2_limit(root, folder, "memory.peak", &bytes) == 0)
		row->memory_peak_mib = mib_of_count(bytes);
	if (read_cgroup_v2_memory_stat(root, folder, &stat) == 0) {
		row->anon_mib = mib_of_count(stat.anon_bytes);
		row->file_mib = mib_of_count(stat.file_bytes);
		set_refaults(root, stat.file_refaults, stat.anon_refaults, row);
		row->shmem_mib = mib_of_count(stat.shmem_bytes);
		row->kernel_mib = mib_of_count(cgroup_v2_kernel_bytes(&stat));
	}
}

static void fill_use(struct cgroup_usage *state, const struct collect_context *context, struct frame *frame)
{
	struct root *root = context->root;
	const struct cgroup_place *place = &state->place;
	struct cgroup_row *row = ADD_ROW(frame, cgroup, NULL);
	struct tree_row *tree = (struct tree_row *)(void *)frame->first[ROW_tree];
	bool has_v1 =
		cgroup_place_own(place, CGROUP_CPUACCT) >= 0 || cgroup_place_own(place, CGROUP_CPU) >= 0;

	int64_t kills;

	row_set_absent(&row->row, state->place.memberships_hash ? ABSENT_NO_SUCH_COUNTER : ABSENT_NO_CGROUP);
	if (has_v1)
		fill_cpu_v1(root, place, row);
	/* On a hybrid host, a cgroup made for the job is in the unified half, which counts its CPU time. */
	if (!has_v1 || (context->tree && context->tree->cgroup_folder >= 0))
		fill_cpu_v2(root, place, row);
	if (state->memory_folder >= 0 && !is_other_group(place, CGROUP_MEMORY)) {
		if (place->chains[CGROUP_MEMORY].depth)
			fill_memory_v1(root, state->memory_folder, row);
		else
			fill_memory_v2(root, state->memory_folder, row);
		kills = read_kills(root, place, state->memory_folder, &state->kills_are_local);
		if (kills >= 0)
			row->oom_kills = kills;
	}
	fill_throttling(state, root, row);
	if (tree)
		tree->cgroup_cpu_total_secs = row->cpu_usage_secs;
}

/* The job was moved since the last frame. The difference to another cgroup's counters has no meaning. */
static void forget_totals(struct frame *frame)
{
	struct cgroup_row *cgroup = SINGLE_ROW(frame, cgroup);
	struct tree_row *tree = (struct tree_row *)(void *)frame->first[ROW_tree];

	cgroup->throttled_periods_total = no_count(ABSENT_FIRST_SAMPLE);
	cgroup->throttled_total_secs = no_real(ABSENT_FIRST_SAMPLE);
	cgroup->cache_refault_total = no_count(ABSENT_FIRST_SAMPLE);
	cgroup->swap_refault_total = no_count(ABSENT_FIRST_SAMPLE);
	if (tree)
		tree->cgroup_cpu_total_secs = no_real(ABSENT_FIRST_SAMPLE);
}

/* ---- pressure ------------------------------------------------------------------------------------------- */

static void set_stall(struct pressure_row *row, int resource, const struct proc_pressure *found, bool of_host)
{
	double *const some[3] = {&row->cpu_some_total_secs, &row->memory_some_total_secs,
				 &row->io_some_total_secs};
	double *const full[3] = {&row->cpu_full_total_secs, &row->memory_full_total_secs,
				 &row->io_full_total_secs};

	if (found->some_usec >= 0)
		*some[resource] = (double)found->some_usec / 1e6;
	/* For the CPUs of the whole machine "full" has no meaning, although kernels print a number. */
	if (found->full_usec >= 0 && !(of_host && resource == 0))
		*full[resource] = (double)found->full_usec / 1e6;
}

static int fill_pressure_of_cgroup(int folder, struct root *root, struct pressure_row *row)
{
	static const char *const FILES[3] = {"cpu.pressure", "memory.pressure", "io.pressure"};
	struct proc_pressure found;
	int errors[3];

	for (int i = 0; i < 3; i++) {
		errors[i] = read_cgroup_pressure(root, folder, FILES[i], &found);
		if (!errors[i])
			set_stall(row, i, &found, false);
	}
	return errors[0];
}

static void set_stalls(struct pressure_row *row, double secs)
{
	row->cpu_some_total_secs = row->memory_some_total_secs = row->io_some_total_secs = secs;
	row->cpu_full_total_secs = row->memory_full_total_secs = row->io_full_total_secs = secs;
}

/* Returns the source of the stalls: the hash of the place, or MACHINE_PRESSURE. */
static uint64_t fill_pressure(struct cgroup_usage *state, struct collect_context *context,
			      struct frame *frame)
{
	struct pressure_row *row = ADD_ROW(frame, pressure, NULL);
	int folder = cgroup_place_own(&state->place, CGROUP_UNIFIED), error = -ENOENT;
	/* A job that is about to be started begins in this cgroup, so its baseline comes from here. */
	bool of_a_job = context->tree || context->facts->argc > 0;
	struct proc_pressure found;

	/* Stalls are parts of the time, however many CPUs there are. */
	row->row.cpus = 1;
	row_set_absent(&row->row, ABSENT_NO_SUCH_COUNTER);
	if (of_a_job && folder >= 0 && !cgroup_place_is_root(&state->place, CGROUP_UNIFIED) &&
	    fill_pressure_of_cgroup(folder, context->root, row) == 0) {
		row->source = "cgroup";
		return state->place.memberships_hash;
	}
	for (size_t i = 0; i < 3; i++) {
		int one = read_proc_pressure(context->root, &state->pressure[i], &found);

		if (!one)
			set_stall(row, (int)i, &found, true);
		error = i == 0 ? one : error;
	}
	if (error < 0 && error != -ENOENT)
		row_set_absent(&row->row, error);
	else if (!error)
		row->source = "host";
	return MACHINE_PRESSURE;
}

static void look_who_else(struct cgroup_usage *state, struct collect_context *context, bool now)
{
	struct tenants_viewer viewer = {context->tree, context->in_program};

	cgroup_tenants_look(&state->tenants, &viewer, state->memory_folder, now);
	context->memory_cgroup = (struct memory_cgroup){
		.id = state->tenants.id,
		.kills_when_left = state->kills_when_left,
		.only_tree = context->own_cgroup ||
			     (state->kills_are_local && cgroup_tenants_only_tree(&state->tenants)),
	};
}

/* Reads limits, which rarely change, and the place, from which a process is rarely moved. */
static void cgroup_usage_prepare(void *state_, struct collect_context *context)
{
	struct cgroup_usage *state = state_;

	refresh_groups(state, context);
	state->next_refresh_ns = root_monotonic_ns(context->root) + REFRESH_NS;
	state->next_look_ns = root_monotonic_ns(context->root) + LOOK_FOR_MOVE_NS;
	/* At the first sample, a stranger may have exited already. */
	look_who_else(state, context, true);
}

static void refresh_if_due(struct cgroup_usage *state, struct collect_context *context, int64_t now_ns)
{
	bool moved = false;

	if (now_ns >= state->next_look_ns) {
		moved = context->tree && find_cgroup_place(state, context) > 0;
		state->next_look_ns = now_ns + LOOK_FOR_MOVE_NS;
	}
	if (moved || now_ns >= state->next_refresh_ns)
		cgroup_usage_prepare(state, context);
	else if (state->place.memberships_hash &&
		 now_ns - state->limits_ns >= (context->ending->reason ? LAST_LOOK_NS : LOOK_FOR_LIMITS_NS))
		read_limits(state, context, context->tree ? context->tree->root_pid : 0);
}

void cgroup_usage_begin(struct frame *frame)
{
	struct cgroup_row *cgroup = (struct cgroup_row *)(void *)frame->first[ROW_cgroup];
	struct tree_row *tree = (struct tree_row *)(void *)frame->first[ROW_tree];
	struct pressure_row *pressure = (struct pressure_row *)(void *)frame->first[ROW_pressure];

	/* These were another cgroup's counters. */
	if (cgroup) {
		cgroup->throttled_periods_total = 0;
		cgroup->throttled_total_secs = 0;
	}
	if (tree)
		tree->cgroup_cpu_total_secs = 0;
	if (pressure)
		set_stalls(pressure, 0);
}

static void cgroup_usage_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct cgroup_usage *state = state_;
	struct limits_row *limits = ADD_ROW(frame, limits, NULL);
	uint64_t pressure;
	bool first_of_own;

	context->place = NULL;
	context->first_cpu_limit_cores = context->first_memory_limit_mib = no_real(ABSENT_NOT_YET);
	if (context->progress.baseline)
		(void)find_cgroup_place(state, context);
	else if (context->prepared || context->ending->killed)
		refresh_if_due(state, context, frame->monotonic_ns);
	if (!context->progress.baseline && !context->prepared && !context->ending->killed) {
		/* The job ended before its cgroup was looked at. */
		row_set_absent(&limits->row, ABSENT_NOT_YET);
		row_set_absent(frame_single(frame, ROW_cgroup), ABSENT_NOT_YET);
		row_set_absent(frame_single(frame, ROW_pressure), ABSENT_NOT_YET);
		return;
	}
	context->place = state->place.memberships_hash ? &state->place : NULL;
	context->memory_folder = state->memory_folder;
	limits->cpu_limit_cores = state->limits.cpu_cores;
	limits->memory_limit_mib = group_mib_of(state->limits.memory_bytes);
	limits->cpuset_cores = state->limits.cpuset_cores;
	context->first_cpu_limit_cores = state->first_limits.cpu_cores;
	context->first_memory_limit_mib = group_mib_of(state->first_limits.memory_bytes);
	if (limits->cpuset_cores > 0)
		frame->cpus = (int)limits->cpuset_cores;
	context->root->keep_in = &state->files;
	fill_use(state, context, frame);
	pressure = fill_pressure(state, context, frame);
	context->root->keep_in = NULL;
	/* The counters of a cgroup that was made for the job began with it. */
	first_of_own = context->progress.number == 0 && context->tree && context->tree->cgroup_folder >= 0;
	if (state->last_hash && state->last_hash != state->place.memberships_hash && !first_of_own)
		forget_totals(frame);
	if (first_of_own ? pressure == MACHINE_PRESSURE
			 : state->last_pressure && state->last_pressure != pressure)
		set_stalls(SINGLE_ROW(frame, pressure), no_real(ABSENT_FIRST_SAMPLE));
	state->last_hash = state->place.memberships_hash;
	state->last_pressure = pressure;
	look_who_else(state, context, context->ending->reason);
	/* Report a move once. */
	state->kills_when_left = -1;
}

static void cgroup_usage_close(void *state_)
{
	struct cgroup_usage *state = state_;

	kept_files_close(&state->files);
	kept_files_close(&state->limit_files);
	cgroup_place_close(&state->place);
	for (int i = 0; i < 3; i++)
		kept_file_close(&state->pressure[i]);
	free(state);
}

const struct collector CGROUP_USAGE_COLLECTOR = {
	.name = "cgroup_usage",
	.open = cgroup_usage_open,
	.collect = cgroup_usage_collect,
	.prepare = cgroup_usage_prepare,
	.close = cgroup_usage_close,
	.fills = (const enum row_kind[]){ROW_limits, ROW_cgroup, ROW_pressure, ROW_tree, ROW_job_disk,
					 ROW_numa, ROW_KINDS},
};
