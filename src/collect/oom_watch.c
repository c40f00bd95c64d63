/* OOM kills during a run. See oom_watch.h. */
#include "collect/oom_watch.h"

#include <math.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/dev_kmsg.h"
#include "kernel/proc_vmstat.h"
#include "metric/typed_rows.h"

/*
 * A process with much memory takes a while to die, and with one sample a second the kill may lie another one
 * before.
 */
#define AT_THE_END_NS (3 * NSEC_PER_SEC)
#define NEAR_THE_END_NS (4 * NSEC_PER_SEC)
/* Reading /proc/vmstat sums over all CPUs: read it once a second, even if samples are more frequent. */
#define READ_MACHINE_NS (900 * NSEC_PER_MSEC)

static const struct oom_counter UNKNOWN = {.before = -1, .now = -1};

void oom_watch_open(struct oom_watch *watch)
{
	*watch = (struct oom_watch){
		.cgroup = UNKNOWN,
		.machine = UNKNOWN,
		.elapsed_secs = no_real(ABSENT_NOT_THIS_END),
		.limit_mib = no_real(ABSENT_NOT_THIS_END),
		.peak_mib = no_real(ABSENT_NOT_THIS_END),
		.log_fd = -1,
		.vmstat = KEPT_FILE("proc/vmstat"),
	};
}

void oom_watch_close(struct oom_watch *watch)
{
	if (watch->log_fd >= 0)
		close(watch->log_fd);
	watch->log_fd = -1;
	kept_file_close(&watch->vmstat);
}

/* Returns true if the counter has risen since its last reading. */
static bool take_reading(struct oom_counter *counter, int64_t value, int64_t now_ns)
{
	bool risen = value >= 0 && counter->now >= 0 && value > counter->now;

	if (value < 0)
		return false;
	if (counter->before < 0 || value < counter->before)
		counter->before = value;
	if (risen) {
		counter->rise_after_ns = counter->read_ns;
		counter->rise_seen_ns = now_ns;
	}
	counter->now = value;
	counter->read_ns = now_ns;
	return risen;
}

static int64_t rise_of(const struct oom_counter *counter)
{
	return counter->before < 0 ? -1 : counter->now - counter->before;
}

static void read_machine_kills(struct oom_watch *watch, struct root *root)
{
	struct proc_vmstat vmstat;

	if (read_proc_vmstat(root, &watch->vmstat, &vmstat) < 0)
		return;
	(void)take_reading(&watch->machine, vmstat.oom_kills, root_monotonic_ns(root));
	root->allocated_pages = proc_vmstat_allocated_pages(root);
}

void oom_watch_prepare(struct oom_watch *watch, struct root *root)
{
	read_machine_kills(watch, root);
	if (watch->log_fd < 0)
		(void)open_dev_kmsg(root, &watch->log_fd);
}

static int64_t kills_in(const struct frame *frame)
{
	const struct cgroup_row *cgroup = (const void *)frame->first[ROW_cgroup];

	return !cgroup || count_absent(cgroup->oom_kills) ? -1 : cgroup->oom_kills;
}

void oom_watch_baseline(struct oom_watch *watch, const struct collect_context *context,
			const struct frame *frame)
{
	watch->cgroup_id = context->memory_cgroup.id;
	(void)take_reading(&watch->cgroup, kills_in(frame), frame->monotonic_ns);
}

/*
 * Kills in the old cgroup before the move belong to the job. Earlier kills in the new cgroup may or may not.
 */
static void follow_move(struct oom_watch *watch, const struct collect_context *context,
			const struct frame *frame)
{
	int64_t left = context->memory_cgroup.kills_when_left, now = kills_in(frame);

	if (left >= 0)
		(void)take_reading(&watch->cgroup, left, frame->monotonic_ns);
	if (rise_of(&watch->cgroup) > 0)
		watch->in_cgroups_left += rise_of(&watch->cgroup);
	watch->cgroup.before = watch->cgroup.now = -1;
	watch->may_have_been_missed = now > 0 && watch->cgroup_id;
	(void)take_reading(&watch->cgroup, now, frame->monotonic_ns);
}

static void note_circumstances(struct oom_watch *watch, const struct frame *frame)
{
	const struct cgroup_row *cgroup = (const void *)frame->first[ROW_cgroup];
	const struct limits_row *limits = (const void *)frame->first[ROW_limits];

	watch->elapsed_secs = frame->sample->elapsed_secs;
	if (limits)
		watch->limit_mib = limits->memory_limit_mib;
	if (cgroup)
		watch->peak_mib = cgroup->memory_peak_mib;
}

void oom_watch_follow(struct oom_watch *watch, const struct collect_context *context,
		      const struct frame *frame)
{
	uint64_t id = context->memory_cgroup.id;

	/* A cgroup that was made for the job had no kills before it. */
	if (context->own_cgroup && watch->cgroup_id != id)
		watch->cgroup = (struct oom_counter){.read_ns = context->progress.started_ns};
	else if (id && id != watch->cgroup_id)
		follow_move(watch, context, frame);
	if (id)
		watch->cgroup_id = id;
	if (take_reading(&watch->cgroup, kills_in(frame), frame->monotonic_ns))
		note_circumstances(watch, frame);
	if (watch->machine.now >= 0 &&
	    (context->ending->reason || frame->monotonic_ns - watch->machine.read_ns >= READ_MACHINE_NS))
		read_machine_kills(watch, context->root);
}

/* ---- the end ---------------------------------------------------------------------------------------------- */

static bool was_within(const struct oom_counter *counter, int64_t ended_ns, int64_t before_ns)
{
	return counter->rise_seen_ns && ended_ns - counter->rise_after_ns <= before_ns;
}

/*
 * The rise was first seen at the last reading, so the kill may have been at the end, however old the reading
 * before is.
 */
static bool may_be_at_end(const struct oom_counter *counter, int64_t ended_ns)
{
	return counter->rise_seen_ns &&
	       (counter->rise_seen_ns >= ended_ns || was_within(counter, ended_ns, NEAR_THE_END_NS));
}

/* Reads the log to its end. The kernel logs a kill before its victim can be reaped, but only just before. */
static bool log_names(const struct oom_watch *watch, pid_t job, int64_t *ret_kills)
{
	bool named = false;
	pid_t pid, last = 0;

	*ret_kills = 0;
	while (watch->log_fd >= 0 && read_dev_kmsg_kill(watch->log_fd, &pid) > 0) {
		named |= pid == job;
		*ret_kills += pid != last;
		last = pid;
	}
	return named;
}

static enum oom_of_job judge_oom_kill(const struct oom_watch *watch, const struct oom_findings *found,
				      pid_t job, int64_t ended_ns)
{
	bool in_cgroup = may_be_at_end(&watch->cgroup, ended_ns);
	int64_t logged;

	if (log_names(watch, job, &logged))
		return OOM_JOB_NAMED;
	/* The log has every kill of this run, and the job's process is not among them. */
	if (logged > 0 && found->on_machine >= 0 && logged >= found->on_machine)
		return OOM_NOT_THE_JOB;
	if (in_cgroup && found->only_tree && was_within(&watch->cgroup, ended_ns, AT_THE_END_NS))
		return OOM_JOB_COUNTED;
	if (in_cgroup || may_be_at_end(&watch->machine, ended_ns) ||
	    (watch->may_have_been_missed && found->on_machine > 0))
		return OOM_JOB_SUSPECTED;
	return OOM_NOT_THE_JOB;
}

struct oom_findings oom_watch_end(struct oom_watch *watch, const struct collect_context *context,
				  int64_t ended_ns, bool died_of_sigkill)
{
	struct oom_findings found = {
		.in_cgroup = rise_of(&watch->cgroup),
		.on_machine = rise_of(&watch->machine),
		.only_tree = context->memory_cgroup.only_tree,
		.by_machine = !may_be_at_end(&watch->cgroup, ended_ns),
		.secs_before_end = NAN,
	};

	if (found.in_cgroup >= 0)
		found.in_cgroup += watch->in_cgroups_left;
	if (watch->cgroup.rise_seen_ns && watch->cgroup.rise_seen_ns < ended_ns - NSEC_PER_SEC)
		found.secs_before_end = ns_to_secs(ended_ns - watch->cgroup.rise_seen_ns);
	if (died_of_sigkill && context->tree)
		found.job = judge_oom_kill(watch, &found, context->tree->root_pid, ended_ns);
	return found;
}
