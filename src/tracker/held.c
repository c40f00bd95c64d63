/* A tracker holds its lock for a call, and its sources until it lets them go. See tracker.h. */
#include <pthread.h>
#include <unistd.h>

#include "job/pass.h"
#include "tracker/tracker.h"

bool tracker_lock(struct rt_tracker *tracker)
{
	/* The command forks for its helpers and the job, which never call the tracker. Another process has the settings of an apart one. */
	if (!tracker || (!(tracker->config && tracker->config->own_process) && tracker->owner != getpid()))
		return false;
	if (pthread_mutex_trylock(&tracker->lock)) {
		tracker->callers++;
		pthread_mutex_lock(&tracker->lock);
		tracker->callers--;
	}
	return true;
}

void tracker_close_sources(struct rt_tracker *tracker)
{
	for (size_t i = 0; COLLECTORS[i]; i++) {
		if (tracker->runs[i] && COLLECTORS[i]->close)
			COLLECTORS[i]->close(tracker->states[i]);
		tracker->runs[i] = false;
	}
	process_tree_free(tracker->tree);
	tracker->tree = NULL;
	tracker->context.tree = NULL;
	if (tracker->own_cgroup.folder >= 0) {
		/* A run of a moment leaves the sweeping to a longer one. */
		bool sweeps = root_monotonic_ns(&tracker->root) >= tracker->prepare_ns;

		own_cgroup_remove(&tracker->own_cgroup, &tracker->root, sweeps);
	}
	cgroup_mounts_done(&tracker->cgroup_mounts);
	root_close(&tracker->root);
}

void tracker_let_go(struct rt_tracker *tracker)
{
	/* The command exits soon, and its followers count on the locks of its files until then. */
	if (!tracker->finished || tracker->config->own_process)
		return;
	/* The last sample can still be read. */
	if (tracker->previous)
		frame_own_texts(tracker->previous);
	tracker_close_sources(tracker);
	tracker_close_targets(tracker);
}
