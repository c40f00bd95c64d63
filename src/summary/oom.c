/* Finds kills for lack of memory in a recording. See oom.h. */
#include "summary/oom.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>

#include "base/cleanup.h"
#include "base/file_lock.h"
#include "metric/typed_rows.h"

/*
 * The last sample is usually taken some time before the kill. Memory this near to the limit, or memory that
 * would come this near by the next sample, is taken to have reached it. The rest is memory that the group of the limit
 * has besides: processes beside the job's, such as slurmstepd, and the kernel's.
 */
static const double AT_LIMIT_SHARE = 0.9, HALF = 0.5;

void oom_course_begin(struct oom_course *course)
{
	*course = (struct oom_course){
		.kills_first = no_count(ABSENT_NOT_COLLECTED),
		.kills_last = no_count(ABSENT_NOT_COLLECTED),
		.kill_elapsed_secs = NAN,
		.kill_limit_mib = NAN,
		.kill_peak_mib = NAN,
		.charged_mib = NAN,
		.growth_mib = NAN,
	};
}

void oom_course_want(struct metric_set *wanted)
{
	WANT(wanted, cgroup, oom_kills);
	WANT(wanted, cgroup, memory_peak_mib);
	WANT(wanted, cgroup, anon_mib);
	WANT(wanted, cgroup, shmem_mib);
	WANT(wanted, cgroup, kernel_mib);
	WANT(wanted, cgroup, file_mib);
}

/* Returns the memory that the kernel cannot reclaim. It drops the page cache when memory is short. */
static double charged_in_frame(const struct frame *frame)
{
	const struct cgroup_row *cgroup = FIRST(frame, cgroup);
	const struct tree_row *tree = FIRST(frame, tree);
	double charged = tree ? tree->process_memory_mib : NAN, kept;

	if (!cgroup)
		return charged;
	kept = cgroup->anon_mib + (isnan(cgroup->shmem_mib) ? 0 : cgroup->shmem_mib) +
	       (isnan(cgroup->kernel_mib) ? 0 : cgroup->kernel_mib);
	return fmax(charged, kept);
}

static void add_kills(struct oom_course *course, const struct frame *frame)
{
	const struct cgroup_row *cgroup = FIRST(frame, cgroup);
	const struct limits_row *limits = FIRST(frame, limits);

	if (!cgroup || count_absent(cgroup->oom_kills))
		return;
	if (!count_absent(course->kills_last) && cgroup->oom_kills > course->kills_last) {
		course->kill_elapsed_secs = frame->sample->elapsed_secs;
		course->kill_limit_mib = limits ? limits->memory_limit_mib : NAN;
		course->kill_peak_mib = cgroup->memory_peak_mib;
	}
	/* A counter that went down belongs to another cgroup. */
	if (count_absent(course->kills_first) || cgroup->oom_kills < course->kills_last)
		course->kills_first = cgroup->oom_kills;
	course->kills_last = cgroup->oom_kills;
}

void oom_course_add(struct oom_course *course, const struct frame *frame)
{
	double charged = charged_in_frame(frame);

	add_kills(course, frame);
	if (isnan(charged))
		return;
	course->growth_mib = charged - course->charged_mib;
	course->charged_mib = charged;
	course->charged_elapsed_secs = frame->sample->elapsed_secs;
}

void oom_course_end(struct oom_course *course, const char *path)
{
	CLEANUP_CLOSE int fd =
		strcmp(path, "-") == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	course->live = fd >= 0 && is_locked_by_writer(fd, LOCK_SH);
}

static double first_known(double value, double otherwise)
{
	return real_absent(value) ? otherwise : value;
}

static bool stopped_at_limit(const struct oom_course *course, double limit_mib)
{
	double growth = fmax(0, course->growth_mib);

	return !course->live && limit_mib > 0 && course->charged_mib >= HALF * limit_mib &&
	       course->charged_mib + growth >= AT_LIMIT_SHARE * limit_mib;
}

static enum oom_kind kind_of_end(const struct run_end_row *end, int64_t kills)
{
	const char *reason = end && !text_absent(end->reason) ? end->reason : "";

	if (strcmp(reason, "oom_kill_confirmed") == 0)
		return OOM_CONFIRMED;
	if (strncmp(reason, "oom_kill", 8) == 0)
		return OOM_SUSPECTED;
	return kills > 0 ? OOM_STEP : OOM_NONE;
}

/* Recordings of version 0.1 have the counter in their samples only. */
static int64_t kills_of(const struct oom_course *course, const struct run_end_row *end)
{
	if (end && !count_absent(end->oom_kills))
		return end->oom_kills;
	if (end && !count_absent(end->cgroup_oom_kills))
		return end->cgroup_oom_kills;
	return count_absent(course->kills_last) ? 0 : course->kills_last - course->kills_first;
}

struct oom_finding oom_find(const struct oom_course *course, const struct run_end_row *end, double limit_mib,
			    bool has_ends)
{
	struct oom_finding found = {
		.kills = kills_of(course, end),
		.elapsed_secs = course->kill_elapsed_secs,
		.limit_mib = course->kill_limit_mib,
		.peak_mib = course->kill_peak_mib,
	};

	found.kind = !end && has_ends && stopped_at_limit(course, limit_mib) ? OOM_STOPPED_AT_LIMIT
									     : kind_of_end(end, found.kills);
	found.shared = found.kills > 0 && (!end || count_absent(end->oom_kills));
	if (end) {
		found.elapsed_secs = first_known(end->oom_kill_elapsed_secs, found.elapsed_secs);
		found.limit_mib = first_known(end->oom_kill_limit_mib, found.limit_mib);
		found.peak_mib = first_known(end->oom_kill_peak_mib, found.peak_mib);
	}
	if (found.kind == OOM_STOPPED_AT_LIMIT) {
		found.elapsed_secs = course->charged_elapsed_secs;
		found.limit_mib = limit_mib;
		found.peak_mib = course->charged_mib;
	} else if (found.kind == OOM_SUSPECTED || found.kind == OOM_CONFIRMED) {
		found.limit_mib = first_known(found.limit_mib, limit_mib);
	}
	return found;
}

const char *oom_kind_name(enum oom_kind kind)
{
	static const char *const NAMES[] = {
		[OOM_STEP] = "step",
		[OOM_SUSPECTED] = "suspected",
		[OOM_CONFIRMED] = "confirmed",
		[OOM_STOPPED_AT_LIMIT] = "stopped_at_limit",
	};

	return NAMES[kind];
}
