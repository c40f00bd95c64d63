/* Counts how often a CPU quota stopped the job. See cgroup_throttling.h. */
#include "collect/cgroup_throttling.h"

#include "base/clock.h"
#include "base/min_max.h"
#include "kernel/cgroup_v1.h"
#include "kernel/cgroup_v2.h"
#include "metric/absent.h"

static const struct throttling_count UNKNOWN = {-1, -1};

static enum cgroup_hierarchy hierarchy_of(const struct cgroup_place *place)
{
	return place->chains[CGROUP_CPU].depth ? CGROUP_CPU : CGROUP_UNIFIED;
}

static struct throttling_count read_count(struct root *root, enum cgroup_hierarchy hierarchy, int folder)
{
	struct cgroup_v1_cpu_stat v1;
	struct cgroup_v2_cpu_stat v2;

	if (hierarchy == CGROUP_CPU)
		return read_cgroup_v1_cpu_stat(root, folder, &v1) < 0
			       ? UNKNOWN
			       : (struct throttling_count){v1.throttled_count, v1.throttled_ns};
	if (read_cgroup_v2_cpu_stat(root, folder, &v2) < 0)
		return UNKNOWN;
	return (struct throttling_count){v2.throttled_count,
					 v2.throttled_usec < 0 ? -1 : v2.throttled_usec * NSEC_PER_USEC};
}

/* Returns the quota in cores. Absent: no quota. */
static double read_quota(struct root *root, enum cgroup_hierarchy hierarchy, int folder)
{
	int64_t quota_usec, period_usec;
	struct cgroup_v2_cpu_max max;

	if (hierarchy == CGROUP_CPU) {
		if (read_cgroup_v1_limit(root, folder, "cpu.cfs_quota_us", &quota_usec) < 0 ||
		    quota_usec == CGROUP_NO_LIMIT || !quota_usec ||
		    read_cgroup_v1_limit(root, folder, "cpu.cfs_period_us", &period_usec) < 0 ||
		    period_usec <= 0)
			return no_real(ABSENT_NO_LIMIT);
		return (double)quota_usec / (double)period_usec;
	}
	if (read_cgroup_v2_cpu_max(root, folder, &max) < 0 || max.quota_usec == CGROUP_NO_LIMIT ||
	    max.period_usec <= 0)
		return no_real(ABSENT_NO_LIMIT);
	return (double)max.quota_usec / (double)max.period_usec;
}

void cgroup_throttling_begin(struct cgroup_throttling *throttling, struct root *root,
			     const struct cgroup_place *place)
{
	enum cgroup_hierarchy hierarchy = hierarchy_of(place);
	const struct cgroup_chain *chain = &place->chains[hierarchy];

	throttling->hierarchy = hierarchy;
	throttling->binding = 0;
	for (int i = 0; i < chain->depth; i++)
		throttling->seen[i] = read_count(root, hierarchy, chain->folders[i]);
}

double cgroup_throttling_find_quota(struct cgroup_throttling *throttling, struct root *root,
				    const struct cgroup_place *place)
{
	const struct cgroup_chain *chain = &place->chains[throttling->hierarchy];
	double least = no_real(ABSENT_NO_LIMIT);

	for (int i = 0; i < chain->depth; i++) {
		double quota = read_quota(root, throttling->hierarchy, chain->folders[i]);

		if (real_absent(quota) || (!real_absent(least) && least <= quota))
			continue;
		least = quota;
		throttling->binding = i;
	}
	if (real_absent(least))
		throttling->binding = 0;
	return least;
}

static void add_difference(int64_t *sum, int64_t before, int64_t now)
{
	if (now < 0)
		*sum = -1;
	else
		/* A sum that falls, as its counter did, tells that the change is unknown. */
		*sum = wrapping_sum(max_i64(*sum, 0), before >= 0 ? now - before : 0);
}

void cgroup_throttling_read(struct cgroup_throttling *throttling, struct root *root,
			    const struct cgroup_place *place)
{
	const struct cgroup_chain *chain = &place->chains[throttling->hierarchy];
	struct throttling_count now = UNKNOWN, *seen = &throttling->seen[throttling->binding];

	if (throttling->binding < chain->depth && (throttling->binding || !chain->own_missing))
		now = read_count(root, throttling->hierarchy, chain->folders[throttling->binding]);
	add_difference(&throttling->sum.periods, seen->periods, now.periods);
	add_difference(&throttling->sum.ns, seen->ns, now.ns);
	*seen = now;
}
